"""Plots and equations as inline SVG, which takes the colours and the font of the page around it."""

import io
import re
from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
import xarray as xr
from arviz_plots import plot_dist, plot_trace
from arviz_plots.plot_collection import PlotCollection
from arviz_plots.visuals import ecdf_line
from arviz_stats.base.array import array_stats
from markupsafe import Markup
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextPath, text_to_path

# Of middle lightness, to be told apart on white and on black.
_COLOURS = ("#3f7fbf", "#d9822b", "#3c9a6a", "#9a6cc0", "#c25b5b", "#8a8a3c")

_INK, _LINE = "#010203", "#040506"  # stand for the page's own colours, which matplotlib cannot name
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none", "svg.hashsalt": "bnpzoo", "figure.facecolor": "none", "axes.facecolor": "none",
    "text.color": _INK, "axes.labelcolor": _INK, "xtick.labelcolor": _INK, "ytick.labelcolor": _INK,
    "axes.edgecolor": _LINE, "xtick.color": _LINE, "ytick.color": _LINE, "axes.linewidth": 0.8,
    "axes.spines.top": False, "axes.spines.right": False, "font.size": 8.0, "axes.labelsize": 8.0,
    "xtick.labelsize": 7.5, "ytick.labelsize": 7.5, "axes.formatter.useoffset": False,
}  # fmt: skip
FLAT: Any = {"color": _LINE, "linewidth": 0.9, "linestyle": (0, (3, 3)), "zorder": 1}
_WIDTH, _HEIGHT = 3.7, 1.9  # inches
_TRACE_POINTS, _RANK_POINTS, _HISTORY_POINTS, _BINS = 250, 1000, 400, 20


def equation(latex: str) -> Markup:
    """Typeset a formula as SVG that scales with the text; what mathtext cannot read is shown as it is.

    Parameters
    ----------
    latex : str
        In the subset of LaTeX that matplotlib's mathtext understands, without dollar signs.
    """
    latex = latex.replace(r"\frac", r"\dfrac")
    size = 10.0
    font = FontProperties(size=size, math_fontfamily="stix")
    try:
        width, height, depth = text_to_path.get_text_width_height_descent(f"${latex}$", font, ismath=True)
        outline = _path_data(TextPath((0, 0), f"${latex}$", prop=font))
    except ValueError:
        return Markup("<code>{}</code>").format(latex)
    return Markup(
        '<svg class="formula" role="img" aria-label="{}" viewBox="-0.3 {:.2f} {:.2f} {:.2f}"'
        ' style="width:{:.2f}em;height:{:.2f}em;vertical-align:{:.2f}em">'
        '<path fill="currentColor" transform="scale(1,-1)" d="{}"/></svg>'
    ).format(
        latex, depth - height - 0.3, width + 0.6, height + 0.6,
        (width + 0.6) / size, (height + 0.6) / size, -(depth + 0.3) / size, outline,
    )  # fmt: skip


def _path_data(path: Path) -> str:
    letters = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C", Path.CLOSEPOLY: "Z"}
    return "".join(
        letters[code] + ("" if code == Path.CLOSEPOLY else " ".join(f"{v:.2f}" for v in vertices))
        for vertices, code in path.iter_segments(simplify=False)
    )


def convergence_plots(fits: Sequence[np.ndarray]) -> dict[str, Markup]:
    """Draw trace, rank and ECDF-difference plots of one quantity.

    Several fits are ranked against each other, all chains of each taken together; the chains of a single
    fit are ranked against each other.

    Parameters
    ----------
    fits : sequence of array (chain, draw)
        Draws of the quantity; not all of them equal.

    Returns
    -------
    dict of str to Markup
        ``"trace"``, ``"rank"`` and ``"ecdf"``, as SVG without any text of the user's.
    """
    with matplotlib.rc_context(STYLE):
        ranks = _ranks(fits)
        return {"trace": _trace(fits), "rank": _rank_histogram(ranks), "ecdf": _ecdf_difference(ranks)}


def _trace(fits: Sequence[np.ndarray]) -> Markup:
    length = min(_TRACE_POINTS, *(x.shape[1] for x in fits))
    chains = np.concatenate([_thinned(x, length) for x in fits])
    colours = [colour(f if len(fits) > 1 else c) for f, x in enumerate(fits) for c in range(len(x))]
    data = _dataset(chains, np.linspace(0.0, 100.0, length))
    collection = plot_trace(
        xr.DataTree.from_dict({"posterior": data}),
        visuals={"title": False, "xlabel": False, "trace": {"width": 0.7, "alpha": 0.7}},
        **_layout(colours),
    )
    return _svg(collection, "draws kept, from first to last (%)")


def history_plot(chains: Sequence[np.ndarray], sweeps: np.ndarray, tune: int) -> Markup:
    """Draw one quantity of all chains from the start; the sweeps that are dropped are shaded.

    Parameters
    ----------
    chains : sequence of float (n,)
    sweeps : int (n,)
        When the quantity had these values.
    tune : int
        Sweeps that are dropped.
    """
    shown = np.unique(np.linspace(0, sweeps.size - 1, _HISTORY_POINTS).astype(int))
    with matplotlib.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(_WIDTH, _HEIGHT), layout="constrained")
        if tune > 0:
            axes.axvspan(0, tune, color=_LINE, alpha=0.2, linewidth=0, zorder=0)
        for c, values in enumerate(chains):
            axes.plot(sweeps[shown], values[shown], color=colour(c), linewidth=0.8, alpha=0.8)
        axes.set_xlabel("sweep")
        axes.margins(x=0.01)
        return svg_of(figure)


def _ranks(fits: Sequence[np.ndarray]) -> xr.Dataset:
    """Fractional ranks of each fit's (each chain's) draws among all, ties broken at random.

    All are thinned to the smallest effective sample size, so as to be as good as independent.
    """
    lanes = list(fits if len(fits) > 1 else fits[0][:, None])
    sizes = [_RANK_POINTS, *(x.size for x in lanes), *(array_stats.ess(x) for x in lanes)]
    length = int(max(_BINS, np.nanmin(sizes)))  # the ESS of fewer than four draws is NaN
    pooled = np.concatenate([_thinned(x.reshape(1, -1), length) for x in lanes])
    order = np.lexsort((np.random.default_rng(0).random(pooled.size), pooled.ravel()))
    rank = np.empty(pooled.size)
    rank[order] = (np.arange(pooled.size) + 0.5) / pooled.size
    return _dataset(rank.reshape(pooled.shape), np.arange(length))


def _rank_histogram(ranks: xr.Dataset) -> Markup:
    n_lanes = ranks.sizes["chain"]
    hidden = ("title", "credible_interval", "point_estimate", "point_estimate_text", "remove_axis")
    collection = plot_dist(
        xr.DataTree.from_dict({"posterior": ranks}),
        kind="hist",
        sample_dims=["draw"],
        stats={"dist": {"bins": np.tile(np.linspace(0.0, 1.0, _BINS + 1), (n_lanes, 1))}},
        visuals={"dist": {"width": 1.1}, **dict.fromkeys(hidden, False)},
        **_layout([colour(i) for i in range(n_lanes)]),
    )
    _axes(collection).axhline(1.0, **FLAT)
    _axes(collection).set_ylim(0.0)
    return _svg(collection, "fractional rank")


def _ecdf_difference(ranks: xr.Dataset) -> Markup:
    """Draw the curves of ArviZ's ``plot_rank`` with a band for independent draws.

    By the inequality of Dvoretzky, Kiefer and Wolfowitz, and Bonferroni's, all curves stay within the band
    in at least 95 of 100 cases.
    """
    n_lanes, length = ranks.sizes["chain"], ranks.sizes["draw"]
    band = np.sqrt(np.log(2.0 * n_lanes / 0.05) / (2.0 * length))
    collection = PlotCollection.wrap(ranks, **_layout([colour(i) for i in range(n_lanes)]))
    collection.map(ecdf_line, "ecdf", data=ranks.azstats.ecdf(dim="draw", pit=True, npoints=length))
    _axes(collection).axhspan(-band, band, color=_LINE, alpha=0.2, linewidth=0, zorder=0)
    _axes(collection).axhline(0.0, **FLAT)
    return _svg(collection, "fractional rank")


def _thinned(x: np.ndarray, length: int) -> np.ndarray:
    """`length` evenly spaced draws of each row."""
    return x[:, np.linspace(0, x.shape[1] - 1, length).astype(int)]


def _dataset(chains: np.ndarray, draw: np.ndarray) -> xr.Dataset:
    return xr.Dataset({"x": (("chain", "draw"), chains)}, {"chain": np.arange(len(chains)), "draw": draw})


def colour(index: int) -> str:
    """Colour of a fit, or of a chain where there is one fit."""
    return _COLOURS[index % len(_COLOURS)]


def _layout(colours: list[str]) -> dict[str, Any]:
    return {
        "backend": "matplotlib",
        "cols": ["__variable__"],
        "aes": {"color": ["chain"], "overlay": ["chain"]},
        "color": colours,
        "figure_kwargs": {"figsize": (_WIDTH, _HEIGHT)},
    }


def _axes(collection: PlotCollection) -> Axes:
    (axes,) = collection.viz["figure"].item().axes
    return axes


def _svg(collection: PlotCollection, xlabel: str) -> Markup:
    """Label the axis of `collection`, and take its figure as SVG."""
    figure = collection.viz["figure"].item()
    figure.set_layout_engine("constrained")
    _axes(collection).set_xlabel(xlabel)
    _axes(collection).margins(x=0.01)
    return svg_of(figure)


def svg_of(figure: Figure) -> Markup:
    """Take a figure that was drawn under `STYLE` as SVG without a fixed size, and close it."""
    buffer = io.StringIO()
    figure.savefig(
        buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
    )
    plt.close(figure)
    drawing = buffer.getvalue()
    # Names of groups are the same in every plot of the page and never used; those of clips and markers are.
    drawing = re.sub(r' id="[\w.]+_\d+"', "", drawing[drawing.index("<defs>") :])
    drawing = drawing.replace(_INK, "currentColor").replace(_LINE, "var(--line)")
    width, height = 72.0 * figure.get_size_inches()  # an SVG has 72 points an inch
    return Markup(f'<svg viewBox="0 0 {width:g} {height:g}" role="img">{drawing}')

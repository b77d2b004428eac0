"""A report of verdicts as one HTML file: what was judged, how it went, and the plots behind it."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import xarray as xr
from arviz_base import rc_context
from arviz_plots import plot_ecdf_pit
from markupsafe import Markup
from matplotlib.figure import Figure

from ..._version import __version__
from ..laboratory.archive import Record, kill_matrix
from ..laboratory.ladder import RUNG_TITLES, RUNGS
from ..laboratory.verdict import Verdict
from .fits import write_page
from .plots import FLAT, STYLE, colour, svg_of

_COLUMNS, _PANEL = 5, 1.75  # of a grid of plots; inches
_MOST_ROWS = 12


def write_validation_report(
    path: str | Path, verdicts: Sequence[Verdict], mutants: Sequence[Record] = ()
) -> None:
    """Write verdicts, the quantities behind each of them, and the fate of mutants.

    Parameters
    ----------
    path : path
        The HTML file; replaced where it exists.
    verdicts : sequence of Verdict
    mutants : sequence of Record
        Of the mutants' cases.
    """
    write_page(
        path,
        "validation.html",
        verdicts=[_described(verdict) for verdict in verdicts],
        rejected=[verdict for verdict in verdicts if not verdict.passed],
        matrix=kill_matrix(mutants),
        rungs=RUNGS,
        version=__version__,
    )


def _described(verdict: Verdict) -> dict[str, Any]:
    table = verdict.table
    columns = [str(name) for name in table.data_vars]
    order = np.arange(table.sizes.get("quantity", 0))
    if "p_value" in table:
        order = np.argsort(table["p_value"].values)
    elif "difference" in table:
        order = np.argsort(-table["difference"].values)
    return {
        "verdict": verdict,
        "title": RUNG_TITLES[verdict.rung],
        "columns": columns,
        "rows": [
            (str(table["quantity"].values[i]), [_number(table[name].values[i]) for name in columns])
            for i in order[:_MOST_ROWS]
        ],
        "n_rows": len(order),
        "figures": [(name, _number(value)) for name, value in verdict.figures.items()],
        "plot": _plot(verdict),
    }


def _number(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return "–" if math.isnan(value) else f"{value:.4g}".replace("-", "−")


def _plot(verdict: Verdict) -> Markup | None:
    with matplotlib.rc_context(STYLE):
        if "prior_sbc" in verdict.groups:
            return _ecdf_grid(verdict.groups["prior_sbc"])
        if "pp" in verdict.groups:
            return _pp_grid(verdict.groups["pp"])
    return None


def _ecdf_grid(ranks: xr.Dataset) -> Markup:
    """Difference of the ranks' distribution function from the uniform one, a panel a quantity."""
    n = sum(int(np.prod(v.shape[2:])) for v in ranks.data_vars.values())
    with rc_context({"plot.max_subplots": n}):  # forty by default
        collection = plot_ecdf_pit(
            xr.DataTree.from_dict({"prior_sbc": ranks}),
            backend="matplotlib",
            col_wrap=_COLUMNS,
            figure_kwargs={"figsize": (_COLUMNS * _PANEL, math.ceil(n / _COLUMNS) * _PANEL)},
            visuals={
                "xlabel": False,
                "ylabel": False,
                "title": {"size": 7},
                "p_value_text": False,
                "ecdf_lines": {"color": colour(0)},
            },
        )
    figure = collection.viz["figure"].item()
    figure.set_layout_engine("constrained")
    return svg_of(figure)


def _pp_grid(points: xr.Dataset) -> Markup:
    """Distribution function under one simulator against that under the other, a panel a quantity."""
    n_rows = math.ceil(points.sizes["quantity"] / _COLUMNS)
    figure = Figure(figsize=(_COLUMNS * _PANEL, n_rows * _PANEL), layout="constrained")
    panels = figure.subplots(n_rows, _COLUMNS, squeeze=False).ravel()
    for panel in panels:
        panel.set_axis_off()
    for panel, name in zip(panels, points["quantity"].values, strict=False):
        one = points.sel(quantity=name)
        panel.set_axis_on()
        panel.plot([0, 1], [0, 1], **FLAT)
        panel.plot(one["independent"], one["successive"], color=colour(0), linewidth=1.2)
        panel.set_title(str(name), fontsize=7)
        panel.set(xlim=(0, 1), ylim=(0, 1), xticks=[0, 1], yticks=[0, 1], aspect="equal")
    return svg_of(figure)

"""A page on which the layers of topics of a Dirichlet belief network can be explored."""

from pathlib import Path

import numpy as np
import xarray as xr

from ...zoo.inference.results import model_of
from ...zoo.wording import counted
from ..topics.hierarchy import Hierarchy, hierarchy_of
from .fits import check_page
from .pages import inert_json, rounded, write_scripted

_TOPICS = 60


def write_hierarchy(
    path: str | Path, fit: xr.DataTree, *, n_words: int = 12, chain: int = 0, least: float = 0.02
) -> None:
    """Write a page with the topics of all layers and the links between them, thicker where stronger.

    It is at most 500 kB and loads nothing.

    Parameters
    ----------
    path : path
        The HTML file; replaced where it exists.
    fit : DataTree
    n_words, chain, least
        See `hierarchy_of`.

    Raises
    ------
    ValueError
        As `hierarchy_of` does, or `path` is not the name of a page.
    """
    check_page(path)
    found, card = hierarchy_of(fit, n_words, chain, least), model_of(fit).card
    layers = len(found.layers)
    write_scripted(
        path,
        "hierarchy",
        fit,
        card,
        f"Topics and links are those of the last kept draw of chain {chain}.",
        lambda scale: _content(found, scale),
        styles=("report", "browser", "hierarchy"),
        heading=f"{counted(len(found.layers[0]), 'topic')} and what they have in common, in {layers} layers",
        facts={f"topics of layer {t + 1}": f"{len(own):,}" for t, own in enumerate(found.layers)},
        spreads=[spread_of(fit, t) for t in range(layers - 1)],
    )


def spread_of(fit: xr.DataTree, t: int) -> dict[str, str]:
    """Posterior of how many topics upper layer `t` needs and of its mass, over all draws, in words."""
    posterior, out = fit["posterior"].dataset, {"layer": str(t + 2)}
    for name in ("upper_topics", "layer_mass"):
        values = posterior[name].values[..., t] if name in posterior else np.empty(0)
        low, middle, high = np.quantile(values, [0.05, 0.5, 0.95]) if values.size else [np.nan] * 3
        out[name] = f"{middle:.3g} ({low:.3g} to {high:.3g})" if values.size else "fixed"
    return out


def _content(found: Hierarchy, scale: float) -> str:
    """JSON of the page's data: the largest topics of each layer, and links between these."""
    most = max(int(scale * _TOPICS), 1)
    words: dict[str, int] = {}
    layers = [
        [
            [topic.topic, rounded(topic.share), [words.setdefault(w, len(words)) for w in topic.words]]
            for topic in layer[:most]
        ]
        for layer in found.layers
    ]
    links = [
        [[link.lower, link.upper, rounded(link.share)] for link in own if max(link.lower, link.upper) < most]
        for own in found.links
    ]
    omitted = sum(len(layer) - len(shown) for layer, shown in zip(found.layers, layers, strict=True))
    return inert_json({"layers": layers, "links": links, "omitted": omitted, "words": list(words)})

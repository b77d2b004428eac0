"""Topics of topics: the layers of a Dirichlet belief network at one draw of a fit."""

from typing import NamedTuple

import numpy as np
import xarray as xr

from ...zoo.families.belief_network.network import linear, links_below, n_upper, token_shares
from ...zoo.inference.results import ResultsError, corpus_of, latents_of, model_of
from ..coherence import top_words


class LayerTopic(NamedTuple):
    """A topic of one layer.

    Attributes
    ----------
    topic : int
        As the draw numbers the topics of its layer.
    share : float
        Of all tokens: those that have the topic, or, above the first layer, are expected to come from it.
    words : tuple of str
        The most frequent ones; above the first layer the most probable ones.
    """

    topic: int
    share: float
    words: tuple[str, ...]


class Link(NamedTuple):
    """A link of a topic to one in the layer above.

    Attributes
    ----------
    lower, upper : int
        Places in the layers of `Hierarchy`.
    share : float
        Of the sum of the lower topic's links.
    """

    lower: int
    upper: int
    share: float


class Hierarchy(NamedTuple):
    """Layers of topics, and links between them.

    Attributes
    ----------
    layers : tuple of tuple of LayerTopic
        From the first up, the largest topics of each first; those without tokens, or expected to have less
        than one, are left out.
    links : tuple of tuple of Link
        Of each layer but the last to that above it, the strongest first.
    """

    layers: tuple[tuple[LayerTopic, ...], ...]
    links: tuple[tuple[Link, ...], ...]


def hierarchy_of(fit: xr.DataTree, n_words: int = 10, chain: int = 0, least: float = 0.02) -> Hierarchy:
    """Return the layers of topics at the last kept draw of one chain.

    One draw, not an average: topics of different draws and chains do not match up.

    Parameters
    ----------
    fit : DataTree
        As `sample` returns it, with group ``latents``.
    n_words : int
        Most words of each topic.
    chain : int
    least : float
        Least share of a link.

    Raises
    ------
    ResultsError
        The topics of the fit have no layers, or it has no kept draw of the chain.
    """
    draws = [latents for c, _, latents in latents_of(fit) if c == chain]
    if not draws:
        raise ResultsError(f"chain {chain}: expected a fit with a kept draw of it, found none")
    latents, corpus = draws[-1], corpus_of(fit)
    if n_upper(latents) == 0:
        found = model_of(fit).spelled()
        raise ResultsError(
            "expected a fit with topics of belief-network, of two layers or more; "
            f"found topics {found.get('topics', 'of its own kind')}"
        )
    z, n_topics = latents["z"], latents["log_links"].shape[1]
    counts = np.zeros((n_topics, corpus.n_words))
    np.add.at(counts, (z, corpus.words), 1)
    sizes = counts.sum(axis=1)
    weights = [counts, *np.exp(latents["log_upper_topics"])]
    shares = [sizes / sizes.sum(), *token_shares(latents, sizes)]
    layers, kept = [], []
    for of_layer, share in zip(weights, shares, strict=True):
        order = np.argsort(-share, kind="stable")
        order = order[share[order] * corpus.n_tokens >= 1.0 - 1e-9]
        top = top_words(of_layer[order], n_words)
        layers.append(
            tuple(
                LayerTopic(
                    int(k),
                    float(share[k]),
                    tuple(str(corpus.vocabulary[w]) for w in own if of_layer[k, w] > 0.0),
                )
                for k, own in zip(order, top, strict=True)
            )
        )
        kept.append(order)
    links = []
    for t in range(len(layers) - 1):
        weight = linear(links_below(latents, t))
        part = (weight / weight.sum(axis=0))[np.ix_(kept[t + 1], kept[t])]
        strong = [Link(int(j), int(k), float(part[k, j])) for k, j in np.argwhere(part >= least)]
        links.append(tuple(sorted(strong, key=lambda link: -link.share)))
    return Hierarchy(tuple(layers), tuple(links))

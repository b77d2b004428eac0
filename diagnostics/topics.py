"""What the topics of a fit are about."""

from typing import NamedTuple

import numpy as np
import xarray as xr

from ..zoo.inference.results import ResultsError, corpus_of, latents_of, model_of
from .coherence import top_words


class Topic(NamedTuple):
    """A topic at one posterior draw.

    Attributes
    ----------
    n_tokens : int
        Tokens that have the topic.
    share : float
        These, as a fraction of the corpus.
    words : tuple of str
        The most probable words, in falling order.
    word_ids : int (n_words,)
    """

    n_tokens: int
    share: float
    words: tuple[str, ...]
    word_ids: np.ndarray


def topics_of(tree: xr.DataTree, n_words: int = 10, chain: int = 0) -> list[Topic]:
    """Topics with tokens at the last kept draw of one chain, largest first.

    One draw, not an average: the topics of different draws and chains do not match up.

    Parameters
    ----------
    tree : DataTree
        As `sample` returns it, with group ``latents``.
    n_words : int
        Most words of each topic.
    chain : int

    Raises
    ------
    ResultsError
        If the fit has no kept draw of this chain.
    """
    draws = [latents for c, _, latents in latents_of(tree) if c == chain]
    if not draws:
        raise ResultsError(f"chain {chain}: expected a fit with a kept draw of it, found none")
    corpus = corpus_of(tree)
    sizes = np.bincount(draws[-1]["z"])
    top = top_words(model_of(tree).frozen_topics(draws[-1], corpus).words, n_words)
    largest_first = [k for k in np.argsort(-sizes, kind="stable") if sizes[k] > 0]
    return [
        Topic(
            int(sizes[k]),
            float(sizes[k] / corpus.n_tokens),
            tuple(corpus.vocabulary[top[k]].tolist()),
            top[k],
        )
        for k in largest_first
    ]

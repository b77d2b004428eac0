"""What the topics of a fit are about."""

from typing import NamedTuple

import numpy as np
import xarray as xr

from ...zoo.inference.results import ResultsError, corpus_of, latents_of
from ..coherence import top_words


class Topic(NamedTuple):
    """A topic at one posterior draw.

    Attributes
    ----------
    n_tokens : int
        Tokens that have the topic.
    share : float
        These, as a fraction of the corpus.
    words : tuple of str
        The words that the topic holds most often, in falling order.
    word_ids : int (n_words,)
        Their ids; filled up with words that it does not hold where it has fewer.
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
    draws = [latents["z"] for c, _, latents in latents_of(tree) if c == chain]
    if not draws:
        raise ResultsError(f"chain {chain}: expected a fit with a kept draw of it, found none")
    corpus, z = corpus_of(tree), draws[-1]
    counts = np.zeros((int(z.max(initial=-1)) + 1, corpus.n_words), np.int64)
    np.add.at(counts, (z, corpus.words), 1)
    sizes, top = counts.sum(axis=1), top_words(counts, n_words)
    return [
        Topic(
            n_tokens=int(sizes[k]),
            share=float(sizes[k] / z.size),
            words=tuple(corpus.vocabulary[top[k][counts[k, top[k]] > 0]].tolist()),
            word_ids=top[k],
        )
        for k in np.argsort(-sizes, kind="stable")
        if sizes[k] > 0
    ]

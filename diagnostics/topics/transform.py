"""Topic proportions of documents that a model was not fitted to."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import batched

import numpy as np
import xarray as xr

from ...zoo.contract import FrozenTopics
from ...zoo.corpus import Corpus
from ...zoo.toolbox.proportions import draw_proportions
from .documents import (
    BLOCK,
    document_names,
    joined,
    relabelled,
    summary_of_documents,
)
from .matching import MatchedTopics, match_topics
from .summaries import SAMPLES, Summary, tails


def transform(
    fit: xr.DataTree | MatchedTopics,
    corpus: Corpus,
    *,
    interval: float = 0.9,
    burn_in: int = 20,
    sweeps: int = 5,
    seed: int = 0,
) -> Summary:
    """Topic proportions of new documents.

    Under the frozen topics of each kept draw, topics of a document's tokens are drawn by Gibbs sampling that
    begins where a particle filter ends. The same document always gets the same proportions, whatever stands
    beside it.

    Parameters
    ----------
    fit : DataTree or MatchedTopics
    corpus : Corpus
        Words that the fit does not know are left out.
    interval : float
        Posterior probability of the intervals.
    burn_in, sweeps : int
        Gibbs sweeps for each document and draw: dropped, averaged.
    seed : int

    Returns
    -------
    Summary
        Documents by topics, as `documents` returns it. A document without known words has the prior's.

    Raises
    ------
    ValueError
        Groups of `corpus` that the fit does not know; `sweeps` or `burn_in` out of range.
    """
    options = {"interval": interval, "burn_in": burn_in, "sweeps": sweeps, "seed": seed}
    return joined(transform_blocks(fit, corpus, **options))


def transform_blocks(
    fit: xr.DataTree | MatchedTopics,
    corpus: Corpus,
    *,
    interval: float = 0.9,
    burn_in: int = 20,
    sweeps: int = 5,
    seed: int = 0,
) -> Iterator[Summary]:
    """Yield what `transform` returns, some documents at a time, so that no table of all need be held.

    Parameters
    ----------
    fit, corpus, interval, burn_in, sweeps, seed
        As for `transform`.
    """
    if sweeps < 1 or burn_in < 0:
        raise ValueError(f"expected sweeps >= 1 and burn_in >= 0, found {sweeps} and {burn_in}")
    matched = match_topics(fit)
    known = corpus.with_groups_of(matched.corpus).in_terms_of(matched.corpus.vocabulary)
    ends, names = tails(interval), document_names(corpus)
    if known.n_documents == 0:
        nothing = np.zeros((0, matched.n_topics))
        yield summary_of_documents(nothing, nothing, nothing, names)
    for start in range(0, known.n_documents, BLOCK):
        here = slice(start, start + BLOCK)
        mean, drawn = _fold_in(matched, known.take(here), burn_in, sweeps, seed)
        low, high = np.quantile(drawn, ends, axis=0)
        yield summary_of_documents(mean.mean(axis=0), low, high, names[here])


def _fold_in(
    matched: MatchedTopics, corpus: Corpus, burn_in: int, sweeps: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Mean proportions and proportions drawn, each float (draws, D, K)."""
    repeats = -(-SAMPLES // (sweeps * len(matched.labels)))

    def at(draw: tuple[int, tuple[np.ndarray, np.ndarray, FrozenTopics]]) -> list[np.ndarray]:
        number, (labels, _, frozen) = draw
        random_bits = np.random.PCG64(np.random.SeedSequence([seed, number]))
        both = _of_draw(frozen, corpus, burn_in, sweeps, repeats, random_bits)
        return [relabelled(theta, labels, matched.n_topics) for theta in both]

    workers = os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as pool:  # some draws at a time: topics take memory
        drawn = enumerate(matched.frozen())
        found = [both for some in batched(drawn, workers) for both in pool.map(at, some)]
    means, thetas = zip(*found, strict=True)
    return np.concatenate(means), np.concatenate(thetas)


def _of_draw(
    frozen: FrozenTopics, corpus: Corpus, burn_in: int, sweeps: int, repeats: int, bits: np.random.PCG64
) -> tuple[np.ndarray, np.ndarray]:
    """Mean proportions (sweeps, D, K) under frozen topics, and proportions drawn, `repeats` a sweep."""
    frozen.check(corpus)
    groups = range(1 if frozen.words.ndim == 2 else len(frozen.words))
    word_topics = [np.ascontiguousarray(frozen.words_of(g).T) for g in groups]
    n_topics = frozen.prior.shape[1]
    mean = np.empty((sweeps, corpus.n_documents, n_topics))
    drawn = np.empty((repeats * sweeps, corpus.n_documents, n_topics))
    rng, beginning = np.random.Generator(bits), bits.state
    for d, row in enumerate(frozen.rows_of(corpus)):
        bits.state = beginning  # of each document: so that it does not matter which others there are
        words = corpus.words[corpus.doc_ptr[d] : corpus.doc_ptr[d + 1]]
        topics = word_topics[row if len(groups) > 1 else 0]
        counts = frozen.draw_counts(words, int(row), topics, rng, burn_in=burn_in, sweeps=sweeps)
        weights = frozen.weights(counts, int(row))
        mean[:, d] = weights / weights.sum(axis=1, keepdims=True)
        drawn[:, d] = draw_proportions(frozen, np.tile(counts, (repeats, 1)), int(row), rng)
    return mean, drawn

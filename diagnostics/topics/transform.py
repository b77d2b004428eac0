"""Topic proportions of documents that a model was not fitted to."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import batched

import numpy as np
import xarray as xr

from ...zoo.corpus import Corpus
from ...zoo.predictive import NewProportions
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

    Under the topics of each kept draw, topics of a document's tokens are drawn by Gibbs sampling, which in
    most models begins where a particle filter ends. In models of sentences, such as `was`, they are drawn by
    a particle filter alone, and proportions are those of one more sentence, as `documents` has them. The same
    document always gets the same proportions, whatever stands beside it.

    Parameters
    ----------
    fit : DataTree or MatchedTopics
    corpus : Corpus
        Words that the fit does not know are left out.
    interval : float
        Posterior probability of the intervals.
    burn_in, sweeps : int
        Gibbs sweeps for each document and draw: dropped, averaged. Of models of sentences: as many particles
        as both together.
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
    each = [corpus.take(np.array([d])) for d in range(corpus.n_documents)]

    def at(draw: tuple[int, tuple[np.ndarray, NewProportions]]) -> list[np.ndarray]:
        number, (labels, law) = draw
        law.check(corpus)
        bits = np.random.PCG64(np.random.SeedSequence([seed, number]))
        rng, beginning, found = np.random.Generator(bits), bits.state, []
        for document in each:
            bits.state = beginning  # so that it does not matter which others there are
            found.append(law.draw_proportions(document, rng, burn_in=burn_in, sweeps=sweeps, repeats=repeats))
        both = (np.stack(theta, axis=1) for theta in zip(*found, strict=True))
        return [relabelled(theta, labels, matched.n_topics) for theta in both]

    workers = os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as pool:  # some draws at a time: topics take memory
        drawn = enumerate(matched.new_proportions())
        found = [both for some in batched(drawn, workers) for both in pool.map(at, some)]
    means, thetas = zip(*found, strict=True)
    return np.concatenate(means), np.concatenate(thetas)

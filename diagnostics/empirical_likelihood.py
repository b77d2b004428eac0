"""Probability of held-out documents by simulating topic proportions.

References
----------
.. [1] W. Li, A. McCallum (2006). Pachinko allocation: DAG-structured mixture models of topic correlations.
   International Conference on Machine Learning.
"""

from collections.abc import Callable, Iterable

import numpy as np
from scipy.sparse import csr_array
from scipy.special import gammaln

from ..zoo.contract import FrozenTopics
from ..zoo.corpus import Corpus
from .heldout import HeldOut, average_over_draws


def empirical_likelihood(
    topics: Iterable[FrozenTopics], test: Corpus, *, seed: int = 0, samples: int = 1000
) -> HeldOut:
    """Estimate the probability of whole test documents from simulated topic proportions.

    For each posterior draw, topic proportions θ are drawn from the prior of a new document. A document's
    probability is the mean over samples of ``prod_n sum_k θ_k φ_kw``, averaged over draws before the
    logarithm is taken. The mean is unbiased; with the length of a document its relative error grows fast,
    and its logarithm falls short.

    Where a document has some topics only, which of them is drawn too, and samples are weighted by the
    probability of the document's length: all is given the length.

    Parameters
    ----------
    topics : iterable of FrozenTopics
        One a posterior draw, as from `posterior_topics`; consumed one by one.
    test : Corpus
        Over the same vocabulary.
    seed : int
    samples : int
        Topic proportions for each draw and group; all documents of a group share them.

    Raises
    ------
    ValueError
        No token to score, no draw, or topics that do not fit the corpus.
    """
    if samples < 1:
        raise ValueError(f"expected at least 1 sample, found {samples}")
    counts = csr_array((np.ones(test.n_tokens), test.words, test.doc_ptr), (test.n_documents, test.n_words))

    def estimate(rng: np.random.Generator, frozen: FrozenTopics, group: np.ndarray) -> np.ndarray:
        log_p = np.zeros(test.n_documents)
        for g in np.unique(group):
            here = np.flatnonzero(group == g)
            theta, log_length = _new_documents(frozen, g, samples, rng)
            weights = np.array([log_length(n) for n in test.doc_lengths[here]])
            log_words = counts[here] @ np.log(theta @ frozen.words_of(g)).T
            log_joint, log_lengths = (np.logaddexp.reduce(x, axis=1) for x in (weights + log_words, weights))
            log_p[here] = log_joint - log_lengths
        return log_p

    log_p, n_draws = average_over_draws(estimate, topics, test, seed)
    return HeldOut("empirical likelihood", log_p, test.doc_lengths, n_draws)


def _new_documents(
    frozen: FrozenTopics, group: int, samples: int, rng: np.random.Generator
) -> tuple[np.ndarray, Callable[[int], np.ndarray]]:
    """Topic proportions of new documents (S, K), and the log weight (S,) that a length gives them."""
    prior = np.tile(frozen.prior[group], (samples, 1))
    if frozen.inclusion is None:
        return _proportions(prior, rng), lambda n: np.zeros(samples)
    prior *= rng.random(prior.shape) < frozen.inclusion[group]
    mass = prior.sum(axis=1)
    if not mass.any():
        raise ValueError(f"topics: expected some to be on in one of {samples} new documents, found none")
    positive = np.maximum(mass, np.finfo(float).tiny)

    def log_length(n: int) -> np.ndarray:
        weight = gammaln(positive + n) - gammaln(positive) - mass * np.log(2.0)
        return np.where((mass > 0) | (n == 0), weight, -np.inf)

    return _proportions(prior, rng), log_length


def _proportions(shapes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Dirichlet draws, one a row of `shapes`, in log space; a row of zeros gives equal proportions."""
    shapes = np.where(shapes > 0.0, np.maximum(shapes, 1e-300), 0.0)  # so that E / shape is finite
    with np.errstate(divide="ignore"):
        log_gamma = np.log(rng.gamma(shapes + 1.0)) - rng.standard_exponential(shapes.shape) / shapes
    log_gamma[~np.any(shapes > 0, axis=1)] = 0.0
    weights = np.exp(log_gamma - log_gamma.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)

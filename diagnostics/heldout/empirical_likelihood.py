"""Probability of held-out documents by simulating topic proportions.

References
----------
.. [1] W. Li, A. McCallum (2006). Pachinko allocation: DAG-structured mixture models of topic correlations.
   International Conference on Machine Learning.
"""

from collections.abc import Callable, Iterable

import numpy as np
from scipy.sparse import csr_array

from ...zoo.contract import FrozenTopics
from ...zoo.corpus import Corpus
from ...zoo.families.buffet.lengths import log_lengths
from ...zoo.toolbox.draws import draw_dirichlet
from .scores import HeldOut, average_over_draws


def empirical_likelihood(
    topics: Iterable[FrozenTopics], test: Corpus, *, seed: int = 0, samples: int = 1000
) -> HeldOut:
    """Estimate the probability of whole test documents from simulated topic proportions.

    For each posterior draw, topic proportions θ are drawn from the prior of a new document. A document's
    probability is the mean over samples of ``prod_n sum_k θ_k φ_kw``, averaged over draws before the
    logarithm is taken. The mean is unbiased; with the length of a document its relative error grows fast,
    and its logarithm falls short.

    Where a document has some topics only, which of them is drawn too. For each posterior draw, samples are
    weighted by the probability of the document's length n, so that the estimate is of
    ``p(words | n, draw)``, a ratio of means with a bias of order 1 / samples. Posterior draws count equally,
    whatever probability of n they have: the result is the mean over draws of ``p(words | n, draw)``, not
    ``p(words, n) / p(n)`` with both averaged over draws.

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
        No token to score, no draw, or topics that do not fit the corpus, such as none in a group.
    """
    if samples < 1:
        raise ValueError(f"expected at least 1 sample, found {samples}")

    def estimate(rng: np.random.Generator, frozen: FrozenTopics) -> np.ndarray:
        return log_probabilities(rng, frozen, test, samples)

    log_p, n_draws = average_over_draws(estimate, topics, test, seed)
    return HeldOut.of_documents("empirical likelihood", log_p, test.doc_lengths, n_draws)


def log_probabilities(
    rng: np.random.Generator, frozen: FrozenTopics, test: Corpus, samples: int
) -> np.ndarray:
    """Logarithms of such estimates under one posterior draw, float (D,); see `empirical_likelihood`."""
    counts = csr_array((np.ones(test.n_tokens), test.words, test.doc_ptr), (test.n_documents, test.n_words))
    group = frozen.rows_of(test)
    log_p = np.zeros(test.n_documents)
    for g in np.unique(group):
        here = np.flatnonzero(group == g)
        theta, log_length = _new_documents(frozen, g, samples, rng)
        weights = np.array([log_length(n) for n in test.doc_lengths[here]])
        log_words = counts[here] @ np.log(theta @ frozen.words_of(g)).T
        log_joint, log_of_lengths = (np.logaddexp.reduce(x, axis=1) for x in (weights + log_words, weights))
        log_p[here] = log_joint - log_of_lengths
    return log_p


def _new_documents(
    frozen: FrozenTopics, group: int, samples: int, rng: np.random.Generator
) -> tuple[np.ndarray, Callable[[int], np.ndarray]]:
    """Topic proportions of new documents (S, K), and the log weight (S,) that a length gives them.

    Documents without any topic are left out of the S.
    """
    prior = np.tile(frozen.prior[group], (samples, 1))
    if frozen.inclusion is None:
        return draw_dirichlet(prior, rng), lambda n: np.zeros(samples)
    prior *= rng.random(prior.shape) < frozen.inclusion[group]
    prior = prior[prior.any(axis=1)]  # a document without topics has no token
    if not prior.size:
        raise ValueError(f"topics: expected some to be on in one of {samples} new documents, found none")
    mass = prior.sum(axis=1)
    return draw_dirichlet(prior, rng), lambda n: log_lengths(mass, np.array([n]), "document")

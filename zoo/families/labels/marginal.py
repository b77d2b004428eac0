"""Probabilities of topics of micro corpora: authors summed out, coefficients integrated out by a lattice."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache, reduce
from itertools import product

import numpy as np
from scipy.special import gammaln, logsumexp, ndtri
from scipy.stats import qmc

from ...toolbox.enumeration import log_stirling
from ..hdp.sticks import log_root

POINTS_LOG2 = 17
"""Of the lattice, which is scrambled so that no point lies on an edge."""


@lru_cache(maxsize=4)
def law_of_topics(
    features: tuple[tuple[float, ...], ...], deviations: tuple[float, ...], n_topics: int
) -> Callable[[np.ndarray], float]:
    """Log probability of topics as a function of their counts by document, int (D, K).

    Parameters
    ----------
    features : D tuples of J + 1 numbers
    deviations : J + 1 numbers
        Standard deviation of each row of coefficients.
    n_topics : int
    """
    scale = np.array(deviations)[:, None]
    points = qmc.Sobol(scale.size * n_topics, rng=np.random.default_rng(0)).random_base2(POINTS_LOG2)
    coefficients = ndtri(points).reshape(-1, scale.size, n_topics) * scale
    alpha = np.exp(np.einsum("dj,njk->ndk", np.array(features), coefficients))
    mass = alpha.sum(axis=2)
    ways: dict[tuple[int, ...], np.ndarray] = {}

    def of_document(d: int, counts: tuple[int, ...]) -> np.ndarray:
        if (d, *counts) not in ways:
            found = gammaln(mass[:, d]) - gammaln(mass[:, d] + sum(counts))
            ways[d, *counts] = found + np.sum(gammaln(alpha[:, d] + counts) - gammaln(alpha[:, d]), axis=1)
        return ways[d, *counts]

    def log_probability(counts: np.ndarray) -> float:
        each = [of_document(d, tuple(map(int, row))) for d, row in enumerate(counts) if row.any()]
        return float(logsumexp(np.sum(each, axis=0)) - np.log(len(mass))) if each else 0.0

    return log_probability


def log_topics_of_authors(
    z: np.ndarray, authors: Sequence[np.ndarray], n_authors: int, n_topics: int, alpha: float
) -> float:
    """Log probability of topics, each token being by one of some authors: a sum over all that may have been.

    Parameters
    ----------
    z : int (N,)
    authors : N arrays of int
        Who may have written each token, all alike.
    n_authors, n_topics : int
    alpha : float
        Dirichlet parameter of an author, a topic.
    """
    states = {bytes(n_authors * n_topics): 1.0}
    for k, own in zip(z, authors, strict=True):
        after: dict[bytes, float] = defaultdict(float)
        for state, probability in states.items():
            counts = np.frombuffer(state, np.uint8).reshape(n_authors, n_topics)
            for a in own:
                moved = counts.copy()
                moved[a, k] += 1
                weight = float((counts[a, k] + alpha) / (counts[a].sum() + n_topics * alpha))
                after[moved.tobytes()] += probability * weight / len(own)
        states = after
    return float(np.log(sum(states.values())))


def log_topics_of_measures(
    counts: np.ndarray, labels: Sequence[np.ndarray], gamma: float, alpha: float, tau: float
) -> float:
    """Log probability of topics of mixed random measures: a sum over labels of topics and over tables.

    Parameters
    ----------
    counts : int (D, K)
        Tokens of each topic in a document; every topic has one.
    labels : D arrays of int
        Those that each document mixes.
    gamma, alpha, tau : float

    Notes
    -----
    Given tables m_dk and labels j(k) of topics: ``prod_d Γ(a)/Γ(a + n_d) prod_k |s(n_dk, m_dk)| a^m_dk``, the
    urn of the labels of each document's tables, and the Chinese restaurant of the tables of each label.
    """
    stirling = log_stirling(int(counts.max(initial=0)))
    lengths = counts.sum(axis=1)
    documents, topics = np.nonzero(counts)
    terms = []
    for tables in product(*(range(1, n + 1) for n in counts[documents, topics])):
        m = np.zeros_like(counts)
        m[documents, topics] = tables
        weight = sum(
            stirling[n, t] + t * np.log(alpha) for n, t in zip(counts[documents, topics], tables, strict=True)
        )
        own = [
            reduce(np.intersect1d, [labels[d] for d in np.flatnonzero(column).tolist()])
            for column in counts.T
        ]
        for label in product(*own):
            terms.append(weight + _log_labels(m, np.array(label, int), labels, gamma, tau))
    if not terms:
        return -np.inf
    return float(logsumexp(terms) + np.sum(gammaln(alpha) - gammaln(alpha + lengths)))


def _log_labels(
    m: np.ndarray, label: np.ndarray, labels: Sequence[np.ndarray], gamma: float, tau: float
) -> float:
    """Log probability of the labels and topics of tables (D, K)."""
    out = 0.0
    for row, own in zip(m, labels, strict=True):
        of_label = np.array([row[label == j].sum() for j in own])
        mass = own.size * tau
        out += float(
            gammaln(mass) - gammaln(mass + row.sum()) + np.sum(gammaln(tau + of_label) - gammaln(tau))
        )
    return out + sum(log_root(m[:, label == j].sum(axis=0), gamma) for j in np.unique(label))

"""Laws of topics with the weights integrated out: by sums over tables and one integral, or by simulation."""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from ...corpus import Corpus
from ...toolbox.enumeration import log_stirling
from ...toolbox.laws import doc_topic_counts
from .lengths import log_lengths, log_rising

LOG_MASS = np.linspace(-200.0, 60.0, 20_001)
"""Nodes of the trapezoidal rule, which is exact to rounding for such an integrand."""


@lru_cache(maxsize=4096)
def log_moments(gamma: float, c: float, doc_lengths: tuple[int, ...], shape: float) -> np.ndarray:
    """Log of E[R^m prod_d h(R) / (R)_{N_d}], R ~ Gamma(gamma, rate c), for m = 0..N, float (N + 1,).

    See `lengths` for h and the rising factorial.
    """
    mass, lengths = np.exp(LOG_MASS), np.array(doc_lengths, np.int64)
    log_f = gamma * (LOG_MASS + np.log(c)) - c * mass - gammaln(gamma)
    log_f += log_lengths(mass[:, None], lengths, shape).sum(axis=1)
    log_f -= log_rising(mass[:, None], lengths).sum(axis=1)
    terms = log_f + np.arange(lengths.sum() + 1)[:, None] * LOG_MASS
    return np.logaddexp.reduce(terms, axis=1) + np.log(LOG_MASS[1] - LOG_MASS[0])


def log_topics(
    z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray], n_fixed: int, shape: float
) -> float:
    """Log probability of topics and lengths, but for ``1 / N_d!``, in `pfa`; for few tokens.

    Parameters
    ----------
    z : int (N,)
    corpus : Corpus
    hyper : mapping of str to float
        ``gamma``, ``c``.
    n_fixed : int
        Number of topics; 0 for no limit, where `z` stands for its partition.
    shape : float

    Notes
    -----
    ``(r_k)_n = sum_m |s(n, m)| r_k^m``, so that what is left is the mean of a polynomial in the weights.
    Their sum R is independent of their shares, and these are Dirichlet, or those of a Dirichlet process.
    """
    gamma, c = float(hyper["gamma"]), float(hyper["c"])
    counts = doc_topic_counts(z, corpus, n_fixed or int(z.max(initial=-1)) + 1)
    stirling = np.exp(log_stirling(int(counts.max(initial=0))))
    weights = np.ones(1)  # of the number of tables of all topics so far
    for of_topic in counts[:, counts.any(axis=0)].T:
        tables = np.ones(1)
        for n in of_topic:
            tables = np.convolve(tables, stirling[n, : n + 1])
        m = np.arange(tables.size)
        if n_fixed:
            share = np.exp(gammaln(gamma / n_fixed + m) - gammaln(gamma / n_fixed))
        else:
            share = gamma * np.exp(gammaln(np.maximum(m, 1)))
        weights = np.convolve(weights, tables * share)
    m = np.arange(weights.size)
    of_mass = log_moments(gamma, c, tuple(map(int, corpus.doc_lengths)), shape)[m]
    with np.errstate(divide="ignore"):
        terms = np.log(weights) + of_mass + gammaln(gamma) - gammaln(gamma + m)
    return float(np.logaddexp.reduce(terms))


class SimulatedLaw:
    """Probability of topics of short documents, by a mean over simulated Dirichlet parameters.

    Parameters
    ----------
    alpha : float (n, D, K)
        Draws of the parameters of the documents.
    doc_lengths : int (D,)
    shape : float
        Of `lengths.log_lengths`.
    """

    def __init__(self, alpha: np.ndarray, doc_lengths: np.ndarray, shape: float):
        self.alpha = np.maximum(alpha, np.finfo(float).tiny)
        self.n_topics = alpha.shape[2]
        mass = self.alpha.sum(axis=2)
        self.of_lengths = log_lengths(mass, doc_lengths, shape) - log_rising(mass, doc_lengths)
        self._of_document: dict[tuple[int, ...], np.ndarray] = {}
        self._known: dict[bytes, float] = {}

    def __call__(self, z: np.ndarray, corpus: Corpus) -> float:
        """Log probability of `z` and of the lengths, but for ``1 / N_d!``."""
        counts = doc_topic_counts(z, corpus, self.n_topics)
        key = counts.tobytes()
        if key not in self._known:
            product = np.ones(len(self.alpha))
            for d, row in enumerate(counts):
                product *= self._probability(d, tuple(map(int, row)))
            self._known[key] = float(np.log(product.mean()))
        return self._known[key]

    def _probability(self, d: int, row: tuple[int, ...]) -> np.ndarray:
        key = (d, *row)
        if key not in self._of_document:
            of_topics = log_rising(self.alpha[:, d], np.array(row)).sum(axis=1)
            self._of_document[key] = np.exp(self.of_lengths[:, d] + of_topics)
        return self._of_document[key]

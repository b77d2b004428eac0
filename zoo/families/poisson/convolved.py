"""Documents whose topics have probabilities of their own: sums of negative binomial variables.

    n_dk ~ NB(r_k, p_k),   N_d = sum_k n_dk

With the generating function ``prod_k (1 - p_k t)^-r_k = sum_n a_n t^n`` a document of N tokens has the
probability ``a_N prod_k (1 - p_k)^r_k``, and topics in a given order that of

    prod_k (r_k)_{n_k} p_k^{n_k} / (N! a_N)

given its length, (x)_n a rising factorial. As elsewhere, the factor ``1 / N!`` of a length is left out.
"""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from scipy.special import betaln, gammaln, xlogy

from ...corpus import Corpus
from ...toolbox.laws import doc_topic_counts
from .lengths import log_rising

LOG_WEIGHT = np.linspace(-200.0, 60.0, 2601)
"""Nodes of the trapezoidal rule, which is exact to rounding for such an integrand."""


def log_p(log_odds: np.ndarray) -> np.ndarray:
    """Log p of log odds, of any shape."""
    return -np.logaddexp(0.0, -log_odds)


def log_coefficients(r: np.ndarray, log_odds: np.ndarray, most: int) -> np.ndarray:
    """Log of a_0 to a_most, float (most + 1,).

    Notes
    -----
    ``n a_n = sum_{m=1}^n s_m a_{n - m}`` with ``s_m = sum_k r_k p_k^m``: all terms are positive.
    """
    out = np.zeros(most + 1)
    m = np.arange(1, most + 1)
    with np.errstate(divide="ignore"):
        log_s = np.logaddexp.reduce(np.log(r) + m[:, None] * log_p(log_odds), axis=1)
    for n in m:
        out[n] = np.logaddexp.reduce(log_s[:n] + out[n - 1 :: -1]) - np.log(n)
    return out


def log_ways(r: np.ndarray, log_odds: np.ndarray, doc_lengths: np.ndarray) -> np.ndarray:
    """Log of N! a_N of documents, float (D,)."""
    coefficients = log_coefficients(r, log_odds, int(doc_lengths.max(initial=0)))
    return coefficients[doc_lengths] + gammaln(doc_lengths + 1.0)


def log_lengths(r: np.ndarray, log_odds: np.ndarray, doc_lengths: np.ndarray) -> float:
    """Log probability of the lengths, but for ``1 / N!``."""
    of_none = -float(r @ np.logaddexp(0.0, log_odds))
    return doc_lengths.size * of_none + float(log_ways(r, log_odds, doc_lengths).sum())


def highest_log_lengths(doc_lengths: np.ndarray) -> float:
    """Bound on `log_lengths` whatever the weights, close to the maximum over all mixtures of Poisson laws.

    A sum of negative binomial variables is such a mixture.
    """
    return _highest_log_lengths(tuple(map(int, doc_lengths)))


@lru_cache(maxsize=256)
def _highest_log_lengths(doc_lengths: tuple[int, ...]) -> float:
    """See `highest_log_lengths`.

    The log likelihood is concave in the mixture: it is nowhere further above that of some mixture than the
    largest derivative towards a single rate. Such a rate lies between the least and the largest length.
    """
    if not doc_lengths:
        return 0.0
    n = np.array(doc_lengths, float)[:, None]
    highest = xlogy(n, n) - n  # of a document: with it taken off, nothing overflows where documents are long
    # even in their square roots, in which all Poisson laws are about as wide
    coarse, fine = (np.linspace(0.0, np.sqrt(max(doc_lengths)), size) ** 2 for size in (201, 20_001))
    law, weights = np.exp(xlogy(n, coarse) - coarse - highest), np.full(coarse.size, 1.0 / coarse.size)
    for _ in range(300):  # steps of EM
        weights *= np.mean(law / (law @ weights)[:, None], axis=0)
    found = law @ weights
    slope = np.sum(np.exp(xlogy(n, fine) - fine - highest) / found[:, None], axis=0).max() - n.size
    return float(np.sum(np.log(found) + highest[:, 0]) + slope) + 1e-6


def draw_counts(
    r: np.ndarray, log_odds: np.ndarray, doc_lengths: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Draw how often each topic occurs in documents of some lengths, int (D, K): from the last topic on."""
    out = np.zeros((doc_lengths.size, r.size), np.int64)
    left, most = np.array(doc_lengths, np.int64), int(doc_lengths.max(initial=0))
    n = np.arange(most + 1)
    for k in range(r.size - 1, 0, -1):
        before = log_coefficients(r[:k], log_odds[:k], most)
        with np.errstate(divide="ignore"):
            own = log_rising(np.asarray(r[k]), n) - gammaln(n + 1.0) + n * log_p(log_odds[k])
        for d in np.flatnonzero(left):
            weights = own[: left[d] + 1] + before[left[d] :: -1]
            cumulative = np.cumsum(np.exp(weights - weights.max()))
            out[d, k] = np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right")
        left -= out[:, k]
    out[:, 0] = left
    return out


def log_topics(
    z: np.ndarray,
    corpus: Corpus,
    hyper: Mapping[str, np.ndarray],
    n_topics: int,
    p_shapes: tuple[float, float],
) -> float:
    """Log probability of topics and lengths, but for ``1 / N_d!``, weights and probabilities integrated out.

    Given gamma and c, topics are independent, and the probability of each goes into a beta function: what is
    left is an integral over its weight.
    """
    counts = doc_topic_counts(z, corpus, n_topics)
    shape, c = float(hyper["gamma"]) / n_topics, float(hyper["c"])
    return sum(_log_topic(tuple(sorted(map(int, n))), shape, c, p_shapes) for n in counts.T)


@lru_cache(maxsize=65536)
def _log_topic(counts: tuple[int, ...], shape: float, c: float, p_shapes: tuple[float, float]) -> float:
    """Log of ``E[(r)_{n_1} ... (r)_{n_D} p^n (1 - p)^{D r}]``, r ~ Gamma(shape, rate c), p beta."""
    r, (a, b) = np.exp(LOG_WEIGHT), p_shapes
    log_f = shape * (LOG_WEIGHT + np.log(c)) - c * r - gammaln(shape)
    log_f += betaln(a + sum(counts), b + len(counts) * r) - betaln(a, b)
    for n in counts:
        log_f += log_rising(r, np.array(n))
    return float(np.logaddexp.reduce(log_f) + np.log(LOG_WEIGHT[1] - LOG_WEIGHT[0]))

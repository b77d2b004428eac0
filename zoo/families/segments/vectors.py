"""Topics of dishes where there are as many as are needed: the generator, and the sum over tables.

A dish is a restaurant of concentration kappa, whose tables have topics; those of all dishes together are a
Chinese restaurant of concentration tau. Given the tables m of each topic, the weights of topics are
Dirichlet(m_1, ..., m_K, tau), the last one that of all others.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln

from ...toolbox.draws import draw_categorical, draw_dirichlet
from ...toolbox.enumeration import log_stirling
from ..hdp.sticks import log_root


def draw_topics(
    dish: np.ndarray, kappa: float, tau: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw the topics of tokens, one after the other, and the weights of these topics.

    Parameters
    ----------
    dish : int (N,)
        Numbered through the corpus.
    kappa, tau : float
    rng : numpy.random.Generator

    Returns
    -------
    int (N,), float (K + 1,)
        Topics are numbered by first appearance.
    """
    seated: dict[int, list[int]] = {}
    tables: list[float] = []
    z = np.zeros(dish.size, np.int64)
    for i, c in enumerate(dish.tolist()):
        here = seated.setdefault(c, [])
        if rng.random() * (len(here) + kappa) < len(here):
            z[i] = here[rng.integers(len(here))]
        else:
            z[i] = draw_categorical(np.array([[*tables, tau]]), rng)[0]
            if z[i] == len(tables):
                tables.append(0.0)
            tables[z[i]] += 1.0
        here.append(int(z[i]))
    return z, draw_dirichlet(np.array([*tables, tau]), rng)


def tables_of_document(
    dishes: np.ndarray, log_p: np.ndarray, z: Sequence[int], n_topics: int, kappa: float
) -> np.ndarray:
    """Probability of a document's topics and of how many tables each has, dishes summed out.

    Parameters
    ----------
    dishes : int (R, n)
        All dishes that the tokens can have.
    log_p : float (R,)
    z : sequence of int
        Topics of the tokens, from 0 to `n_topics` - 1.
    n_topics : int
    kappa : float

    Returns
    -------
    float (n_1 + 1, ..., n_K + 1)
        Entry (m_1, ..., m_K) for m_k tables of topic k, which has n_k tokens; without the probability of the
        tables' topics.
    """
    topic = np.asarray(z, np.int64)
    stirling = log_stirling(topic.size)
    out = np.zeros(np.bincount(topic, minlength=n_topics) + 1)
    for row, log_row in zip(dishes, log_p, strict=True):
        sizes = np.bincount(row)
        scale = np.exp(log_row + np.sum(gammaln(kappa) - gammaln(kappa + sizes)))
        of_row = np.array(scale)
        for k in range(n_topics):
            of_topic = np.ones(1)
            for n in np.bincount(row[topic == k]):
                of_topic = np.convolve(of_topic, np.exp(stirling[n, : n + 1]) * kappa ** np.arange(n + 1))
            of_row = np.multiply.outer(of_row, of_topic)
        out += of_row
    return out


def log_sum_over_tables(documents: Sequence[np.ndarray], tau: float) -> float:
    """Log probability of topics, given those of each document with tables as from `tables_of_document`."""
    total = np.ones((1,) * documents[0].ndim if documents else ())
    for of_document in documents:
        total = _convolved(total, of_document)
    terms = [
        np.log(weight) + log_root(np.array(tables), tau)
        for tables, weight in np.ndenumerate(total)
        if weight > 0.0
    ]
    return float(np.logaddexp.reduce(terms))


def _convolved(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    out = np.zeros(np.array(a.shape) + b.shape - 1)
    for at, weight in np.ndenumerate(b):
        if weight > 0.0:
            out[tuple(slice(start, start + n) for start, n in zip(at, a.shape, strict=True))] += weight * a
    return out

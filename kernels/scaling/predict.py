"""New documents under frozen topics, root and scales: integrals over u, and a particle filter over tokens.

With proportions integrated out, u_d = exp(t) has, after n tokens of which n_k have topic k, the density

    g(t) = exp(n t) prod_k (1 + exp(t) s_k)^-(a_k + n_k),    a_k = alpha root_k,

up to a constant, and the next token has topic k with probability proportional to

    (a_k + n_k) int sigma(t + log s_k) g(t) dt,    sigma(x) = 1 / (1 + exp(-x)).

The integrands are analytic, so that sums over equidistant nodes converge exponentially; beyond the last node
all sigma are one, and the sum goes on as a geometric series. One more token of topic k multiplies g by its
sigma, up to a constant.
"""

import math
from typing import NamedTuple

import numpy as np

from ..toolbox.jit import kernel
from ..toolbox.random import categorical

STEP = 0.75
"""Between nodes, at most; the error of a sum is near exp(-2 pi^2 / step), 4e-12, if no peak is narrower."""

NARROW = 0.6
"""Of a step, times the square root of the sum of a. At the top of g, n is the sum of (a_k + n_k) sigma_k, and
its curvature that of (a_k + n_k) sigma_k (1 - sigma_k): at most twice the sum of a, however large n is. The
error of a sum over a normal peak of variance v is near exp(-2 pi^2 v / step^2), 1e-12 at that curvature."""

FAR = 40.0
"""From which on a sigma is one, or from minus which on an integrand is nothing."""


class Nodes(NamedTuple):
    """Nodes of the integrals over t for documents of one row of labels.

    Attributes
    ----------
    sigma : float64 (K, Q)
        sigma(t + log s_k).
    density : float64 (Q,)
        g before the first token, times the weight of the node.
    """

    sigma: np.ndarray
    density: np.ndarray


def grid_of(mass: float, log_scale: np.ndarray) -> tuple[np.ndarray, float]:
    """Nodes t for parameters a of the sum `mass` and log scales, float (K,).

    Returns
    -------
    float (Q,), float
        The nodes, and what the integrand at the last is divided by, for all that follow it.
    """
    step = min(STEP, NARROW / math.sqrt(mass))
    t = np.arange(-FAR - log_scale.max(), FAR - log_scale.min() + step, step)
    return t, -math.expm1(-step * mass)


def nodes_of(shapes: np.ndarray, log_scale: np.ndarray) -> Nodes:
    """Nodes for documents of parameters a, float (K,), not all zero, and log scales, float (K,)."""
    t, tail = grid_of(shapes.sum(), log_scale)
    sigma = np.exp(-np.logaddexp(0.0, -t - log_scale[:, None]))
    density = np.exp(-np.sum(shapes[:, None] * np.logaddexp(0.0, t + log_scale[:, None]), axis=0))
    density[-1] /= tail
    return Nodes(sigma, density)


@kernel
def weigh_topics(shapes, counts, sigma, density, weights):
    """Fill `weights` with those of the topics for the next token; return their sum."""
    total = 0.0
    for k in range(shapes.size):
        integral = 0.0
        for q in range(density.size):
            integral += sigma[k, q] * density[q]
        weights[k] = (shapes[k] + counts[k]) * integral
        total += weights[k]
    return total


@kernel
def filter_document(rng, words, word_topics, shapes, nodes, particles, theta):
    """Estimate the probability of a document by a particle filter, each token drawn from its conditional.

    Parameters
    ----------
    rng : numpy.random.Generator
    words : int (n,)
    word_topics : float (V, K)
    shapes : float (K,)
        a.
    nodes : Nodes
    particles : int
    theta : float (K,)
        Filled with the mean proportions after all tokens: exact for an empty document.

    Returns
    -------
    float
        Logarithm of an unbiased estimate.
    """
    n_topics, n_nodes = nodes.sigma.shape
    counts, kept_counts = np.zeros((particles, n_topics)), np.empty((particles, n_topics))
    density, kept_density = np.empty((particles, n_nodes)), np.empty((particles, n_nodes))
    density[:] = nodes.density
    weights, likelihood = np.empty((particles, n_topics)), np.empty(particles)
    log_p = 0.0
    for word in words:
        for r in range(particles):
            total = weigh_topics(shapes, counts[r], nodes.sigma, density[r], weights[r])
            likelihood[r] = 0.0
            for k in range(n_topics):
                weights[r, k] *= word_topics[word, k] / total
                likelihood[r] += weights[r, k]
        mean = likelihood.mean()
        log_p += math.log(mean)
        kept_counts[:] = counts
        kept_density[:] = density
        height, reached, r = rng.random(), likelihood[0] / mean, 0
        for j in range(particles):  # systematic resampling: as many of each as its share, rounded at random
            while reached < height + j and r < particles - 1:
                r += 1
                reached += likelihood[r] / mean
            k = categorical(rng, weights[r], n_topics)
            counts[j] = kept_counts[r]
            counts[j, k] += 1.0
            most = 0.0
            for q in range(n_nodes):
                density[j, q] = kept_density[r, q] * nodes.sigma[k, q]
                most = max(most, density[j, q])
            density[j] /= most
    theta[:] = 0.0
    for r in range(particles):
        total = weigh_topics(shapes, counts[r], nodes.sigma, density[r], weights[r])
        for k in range(n_topics):
            theta[k] += weights[r, k] / (total * particles)
    return log_p

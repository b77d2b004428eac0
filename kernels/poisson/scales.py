"""Scale of a document's theta in a layer of a gamma belief network; the layers below follow.

Gamma variables of tiny shapes have logarithms as far below zero as their shapes are small. Conjugate steps
move both little by little, as each is drawn given counts and exposures that tell how large the other was.
Here the theta of one layer are multiplied by one factor, and those below, which may be written

    theta_k = g_k exp(-e_k / shape_k) / rate,     g_k ~ Gamma(shape_k + 1),   e_k ~ Exp(1),

keep their g and e while their shapes change. Given theta_k, g_k is ``rate theta_k`` plus a variable of
Exp(1). All is done with logarithms: theta of `weights.LEAST` stand for all that are smaller.
"""

import math
from typing import NamedTuple

import numpy as np

from ..toolbox.jit import kernel
from ..toolbox.random import LARGEST, MOST_LOG, log_density, slice_sample
from .weights import LEAST

LOG_OF_ZERO = -745.0
"""Numbers that underflow to zero have logarithms below this."""

FLOOR = LEAST * (1.0 + 1e-9)
"""Theta of which the largest is no more stand for smaller ones."""

PART = 0.25
"""Of the documents, those whose theta are scaled in a sweep."""

CANCELS = 1e9
"""Differences of log gamma functions of larger numbers are nothing but rounding."""


class OneDocument(NamedTuple):
    """Layers of one document.

    Attributes
    ----------
    log_theta, shapes, log_g, e : float64 (S - 1, K)
        Of layers 2 to S, as far as they have been looked at.
    rate : float64 (S - 1,)
    link : float64 (S - 1, K, K)
    counts : int64 (K,)
        Tokens of the topics.
    length, length_shape : float
    rate_prior : float64 (2,)
        Shape and rate.
    """

    log_theta: np.ndarray
    shapes: np.ndarray
    log_g: np.ndarray
    e: np.ndarray
    rate: np.ndarray
    link: np.ndarray
    counts: np.ndarray
    length: float
    length_shape: float
    rate_prior: np.ndarray


class LogFactor(NamedTuple):
    """Target of the logarithm of a factor of theta in a layer: their rate, p and lowest rates integrated out.

    Attributes
    ----------
    document : OneDocument
    layer : int
    high : float
        Logarithm of the largest theta of the layer.
    total : float
        Their sum, in units of the largest.
    mixed : float64 (K,)
        What they give to the layer below, in the same units.
    shapes, log_theta, weights : float64 (K,)
        Overwritten.
    """

    document: OneDocument
    layer: int
    high: float
    total: float
    mixed: np.ndarray
    shapes: np.ndarray
    log_theta: np.ndarray
    weights: np.ndarray


@kernel
def log_of(x):
    """Logarithm of x >= 0."""
    return math.log(x) if x > 0.0 else -math.inf


@kernel
def relative(log_weights, weights):
    """Fill `weights` (K,) with exponentials of which the largest is 1; return the logarithm of that one."""
    high = -math.inf
    for k in range(log_weights.size):
        high = max(high, log_weights[k])
    for k in range(log_weights.size):
        weights[k] = math.exp(log_weights[k] - high) if log_weights[k] > -math.inf else 0.0
    return high


@kernel
def log_sum(log_weights, weights):
    """Logarithm of the sum of exponentials; `weights` (K,) is overwritten."""
    high = relative(log_weights, weights)
    return high + log_of(weights.sum())


@kernel
def mix(theta, link, out):
    """Fill `out` (K,) with the shapes that `theta` (K,) gives to the layer below."""
    out[:] = 0.0
    for k in range(theta.size):
        if theta[k] > 0.0:
            out += theta[k] * link[k]


@kernel
def shapes_of(mixed, high, out):
    """Fill `out` (K,) with shapes, `LEAST` or more, given them in units of which `high` is the logarithm."""
    unit = math.exp(high)
    for k in range(mixed.size):
        out[k] = max(mixed[k] * unit, LEAST) if mixed[k] > 0.0 else 0.0


@kernel
def follow(document, layer, shapes, log_theta):
    """Fill `log_theta` (K,) with what g and e of a layer make of `shapes` (K,); return log density of g."""
    out, log_g, log_rate = 0.0, document.log_g[layer], math.log(document.rate[layer])
    for k in range(shapes.size):
        log_theta[k] = -math.inf
        if shapes[k] > 0.0:
            log_theta[k] = log_g[k] - document.e[layer, k] / shapes[k] - log_rate
            out += shapes[k] * log_g[k] - math.lgamma(shapes[k] + 1.0)
    return out


@kernel
def log_rising(log_x, n):
    """``log Γ(x + n) / Γ(x + 1)``, also of an x that is below the floats or far above one."""
    if log_x > math.log(CANCELS):
        return (n - 1.0) * (log_x + 0.5 * n * math.exp(-log_x))
    x = math.exp(log_x)
    return math.lgamma(x + n) - math.lgamma(x + 1.0)


@kernel
def log_tokens(document, high, total, mixed):
    """Log probability, up to a constant, of length and topics given the lowest theta, p integrated out.

    Theta sum to `total`, and mix to `mixed` (K,), in units of which `high` is the logarithm.
    """
    # B(a + n, a + m) prod_i Γ(m_i + n_i) / Γ(m_i), with m_i = (Phi theta)_i and m their sum. The unit may be
    # so far below the floats that all else is less than the rounding of its logarithm: it is kept apart,
    # and cancels where all tokens have one topic and a is zero.
    out, n_units = 0.0, 0.0
    if document.length_shape > 0.0:
        log_x = np.logaddexp(math.log(document.length_shape), high + math.log(total))
        out -= log_x + log_rising(log_x, document.length_shape + document.length)
    elif document.length > 0.0:
        out -= math.log(total) + log_rising(high + math.log(total), document.length)
        n_units -= 1.0
    for i in range(document.counts.size):
        if document.counts[i] > 0:
            log_share = log_of(mixed[i])
            out += log_share + log_rising(high + log_share, document.counts[i])
            n_units += 1.0
    return out + n_units * high


@log_density.implement(LogFactor)
def _log_density(target, x):
    document, layer, high, total, mixed, shapes, log_theta, weights = target
    high += x
    log_mass = high + math.log(total)
    if log_mass > MOST_LOG:
        return -math.inf
    # prod_k theta_k^shape_k (f + sum_k theta_k)^-(e + sum_k shape_k), with the Jacobian of the logarithms
    above = document.shapes[layer].sum()
    e, f = document.rate_prior[0], document.rate_prior[1]
    out = above * x - (above + e) * np.logaddexp(math.log(f), log_mass)
    for s in range(layer - 1, -1, -1):
        shapes_of(mixed, high, shapes)
        out += follow(document, s, shapes, log_theta)
        high = relative(log_theta, weights)
        total, mixed = weights.sum(), shapes
        mix(weights, document.link[s], mixed)
    return out + log_tokens(document, high, total, mixed)


@kernel
def draw_logarithms(rng, theta, shapes, further, log_theta):
    """Fill `log_theta` (K,); of theta (K,) that stand for all that are smaller, they are drawn.

    Below the floats the density of the scale of theta has a slope of the sum of the shapes and `further`.
    """
    for k in range(theta.size):
        log_theta[k] = log_of(theta[k])
        if theta[k] == 0.0 and shapes[k] > 0.0:
            log_theta[k] = LOG_OF_ZERO - rng.standard_exponential() / max(shapes[k], LEAST)
    if theta.max() <= FLOOR:
        log_theta -= rng.standard_exponential() / max(shapes.sum() + further, LEAST)


@kernel
def split(rng, document, layer):
    """Draw g and e of a layer given its theta and their shapes."""
    log_rate = math.log(document.rate[layer])
    for k in range(document.counts.size):
        shape, log_y = document.shapes[layer, k], log_rate + document.log_theta[layer, k]
        document.log_g[layer, k] = np.logaddexp(log_y, math.log(rng.standard_exponential()))
        document.e[layer, k] = shape * (document.log_g[layer, k] - log_y) if shape > 0.0 else 0.0


@kernel
def further_slope(document):
    """Slope of `log_tokens` below the floats."""
    given = document.length_shape == 0.0 and document.length > 0.0
    return float(np.sum(document.counts > 0)) - (1.0 if given else 0.0)


@kernel
def take_apart(rng, document, theta, layer, scratch):
    """Fill what is kept of `layer`, whose shapes are known, and of those below; theta are (S - 1, K)."""
    log_theta, shapes, mixed, weights = document.log_theta, document.shapes, scratch[0], scratch[1]
    for s in range(layer, -1, -1):
        further = further_slope(document) if s == 0 else 0.0
        draw_logarithms(rng, theta[s], shapes[s], further, log_theta[s])
        if s < layer:
            split(rng, document, s)
        if s > 0:
            high = relative(log_theta[s], weights)
            mix(weights, document.link[s], mixed)
            shapes_of(mixed, high, shapes[s - 1])


@kernel
def scale(rng, document, layer, scratch):
    """Multiply the theta of a layer by one factor, a slice move of its logarithm; those below follow."""
    log_theta, shapes, link, mixed, weights = (
        document.log_theta, document.shapes, document.link, scratch[0], scratch[1]
    )  # fmt: skip
    high, above = relative(log_theta[layer], weights), shapes[layer].sum()
    if above == 0.0 or high == -math.inf:
        return
    mix(weights, link[layer], mixed)
    target = LogFactor(document, layer, high, weights.sum(), mixed, scratch[2], scratch[3], weights)
    log_theta[layer] += slice_sample(rng, target, 0.0, 1.0 + 1.0 / max(above, LEAST))
    for s in range(layer - 1, -1, -1):
        high = relative(log_theta[s + 1], weights)
        mix(weights, link[s + 1], mixed)
        shapes_of(mixed, high, shapes[s])
        follow(document, s, shapes[s], log_theta[s])


@kernel
def draw_scales(rng, tokens, documents):
    """Scale the theta of some documents in one layer, both drawn at random. Rates and p are no longer theirs.

    Returns
    -------
    log_mass : float64 (D,)
        Logarithm of the sum of the theta of the second layer, which may be below the floats.
    """
    n_above, n_documents, n_topics = documents.theta.shape
    log_theta, shapes, log_g, e = np.empty((4, n_above, n_topics))
    scratch = np.empty((4, n_topics))
    log_mass = np.empty(n_documents)
    for d in range(n_documents):
        theta = documents.theta[:, d]
        moves = rng.random() < PART
        if not moves and theta[0].max() > FLOOR:
            log_mass[d] = math.log(theta[0].sum())
            continue
        document = OneDocument(
            log_theta,
            shapes,
            log_g,
            e,
            documents.rate[:, d],
            documents.link,
            documents.counts[0, d],
            float(tokens.doc_ptr[d + 1] - tokens.doc_ptr[d]),
            documents.length_shape[0],
            documents.rate_prior,
        )
        layer = int(n_above * rng.random()) if moves else 0
        if layer == n_above - 1:
            shapes[layer] = documents.r
        else:
            mix(theta[layer + 1], documents.link[layer + 1], shapes[layer])
        take_apart(rng, document, theta, layer, scratch)
        if moves:
            scale(rng, document, layer, scratch)
            for s in range(layer + 1):
                high = relative(log_theta[s], theta[s])
                theta[s] *= math.exp(max(high, math.log(LEAST)))
            mix(theta[0], documents.link[0], documents.prior[d])
        log_mass[d] = max(log_sum(log_theta[0], scratch[1]), -LARGEST)
    return log_mass

"""Parameters of the law of log scales, given the log scales of some topics.

In `hdsp`, with n log scales v, the posterior of shape a and rate b is their prior times

    (b^a / Gamma(a))^n exp(-a sum v - b sum exp(-v)).

Where b has a prior Gamma(c, d) as well, a is drawn with b integrated out,

    Gamma(a)^-n exp(-a sum v) Gamma(c + n a) / (d + sum exp(-v))^(c + n a),

and then b, conjugate. In `whdsp` the variance s has the likelihood s^(-n/2) exp(-sum v^2 / 2 s).
"""

import math
from typing import NamedTuple

import numpy as np

from ..toolbox.jit import kernel
from ..toolbox.random import gamma_variate, is_beyond, is_sampled, log_density, slice_sample
from .state import LOG_INVERSE_GAMMA

WIDTH = 1.0


class LogShape(NamedTuple):
    """Target of the logarithm of the shape of w.

    Attributes
    ----------
    prior : float64 (2,)
    rate : float
        b, where it is fixed.
    rate_prior : float64 (2,)
    n : float
    total, inverse : float
        Sums of v and of exp(-v).
    """

    prior: np.ndarray
    rate: float
    rate_prior: np.ndarray
    n: float
    total: float
    inverse: float


@log_density.implement(LogShape)
def _of_shape(target, x):
    a = math.exp(x)
    if is_beyond(a):
        return -math.inf
    out = target.prior[0] * x - target.prior[1] * a - a * target.total - target.n * math.lgamma(a)
    if is_sampled(target.rate_prior):
        shape = target.rate_prior[0] + target.n * a
        return out + math.lgamma(shape) - shape * math.log(target.rate_prior[1] + target.inverse)
    return out + target.n * a * math.log(target.rate)


class LogVariance(NamedTuple):
    """Target of the logarithm of the variance of log scales.

    Attributes
    ----------
    prior : float64 (2,)
    n : float
    squares : float
        Sum of v^2.
    """

    prior: np.ndarray
    n: float
    squares: float


@log_density.implement(LogVariance)
def _of_variance(target, x):
    variance = math.exp(x)
    if is_beyond(variance):
        return -math.inf
    out = (target.prior[0] - 0.5 * target.n) * x - target.prior[1] * variance
    return out - 0.5 * target.squares * math.exp(-x)


@kernel
def draw_law(rng, documents, topics):
    """Propose parameters of the law of log scales given those of `topics`; fixed ones stay.

    The step is reversible.
    """
    now, priors, proposed = documents.law_parameters, documents.law_priors, documents.next_law_parameters
    proposed[:] = now
    n, total, inverse, squares = 0.0, 0.0, 0.0, 0.0
    for j in range(documents.log_scale.shape[0]):
        for k in topics:
            v = documents.log_scale[j, k]
            n += 1.0
            total += v
            inverse += math.exp(-v)
            squares += v * v
    if documents.law[0] == LOG_INVERSE_GAMMA:
        if is_sampled(priors[0]):
            target = LogShape(priors[0], now[1], priors[1], n, total, inverse)
            proposed[0] = math.exp(slice_sample(rng, target, math.log(now[0]), WIDTH))
        if is_sampled(priors[1]):
            shape, rate = priors[1, 0] + n * proposed[0], priors[1, 1] + inverse
            proposed[1] = gamma_variate(rng, shape, rate)
    elif is_sampled(priors[0]):
        target_of_variance = LogVariance(priors[0], n, squares)
        proposed[0] = math.exp(slice_sample(rng, target_of_variance, math.log(now[0]), WIDTH))

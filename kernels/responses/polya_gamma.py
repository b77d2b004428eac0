r"""Polya-Gamma variates PG(1, z), exact: rejection by an alternating series.

The density of ``X = 4 PG(1, z)`` is a series whose partial sums bound it from above and below in turn
(Devroye 2009), so that a proposal is accepted or rejected after finitely many terms. Proposals come from an
exponential law to the right of `CUT`, and from an inverse Gaussian one to the left of it.

References
----------
.. [1] N. G. Polson, J. G. Scott, J. Windle (2013). Bayesian inference for logistic models using Polya-Gamma
   latent variables. Journal of the American Statistical Association 108(504), Section 4 and its supplement.
"""

import math

from ..toolbox.jit import kernel
from .inverse_gaussian import inverse_gaussian

CUT = 0.64
"""Where the proposals meet; any value between 0.4 and 1 or so is right, this one is the fastest."""


@kernel
def _term(n, x):
    """Term n of the series at x, relative to the first (Polson et al., Equation 12)."""
    rate = 0.5 * math.pi * math.pi * x if x > CUT else 2.0 / x
    return (2 * n + 1) * math.exp(-rate * n * (n + 1))


@kernel
def _log_normal_cdf(x):
    """Log of the standard normal distribution function, for x > -35."""
    return math.log(0.5 * math.erfc(-x / math.sqrt(2.0)))


@kernel
def _share_on_the_right(z):
    """Probability that a proposal comes from the exponential law to the right of the cut."""
    rate = 0.125 * math.pi * math.pi + 0.5 * z * z
    log_right = math.log(0.5 * math.pi / rate) - rate * CUT
    root = math.sqrt(1.0 / CUT)
    log_left = math.log(2.0) - z
    if z > 30.0:  # all of the inverse Gaussian law is to the left
        return 1.0 / (1.0 + math.exp(log_left - log_right)) if log_left - log_right < 700.0 else 0.0
    left = math.exp(_log_normal_cdf(root * (CUT * z - 1.0)))
    left += math.exp(2.0 * z + _log_normal_cdf(-root * (CUT * z + 1.0)))
    return 1.0 / (1.0 + math.exp(log_left + math.log(left) - log_right))


@kernel
def _inverse_gaussian_on_the_left(rng, z):
    """Draw from the inverse Gaussian law of mean 1 / z and shape 1, given that it is below the cut."""
    if z * CUT < 1.0:  # the mean is to the right: from the law of z = 0, tilted
        while True:
            e = rng.standard_exponential()
            while e * e > 2.0 * rng.standard_exponential() / CUT:
                e = rng.standard_exponential()
            x = CUT / ((1.0 + CUT * e) * (1.0 + CUT * e))
            if rng.random() < math.exp(-0.5 * z * z * x):
                return x
    while True:
        x = inverse_gaussian(rng, z)
        if x < CUT:
            return x


@kernel
def polya_gamma(rng, tilt):
    """Draw from PG(1, `tilt`).

    Parameters
    ----------
    tilt : float
        The linear predictor of a logit; its sign plays no part. NaN if its square is not finite, as the
        proposals would never be taken.
    """
    z = 0.5 * abs(tilt)
    if not z * z < math.inf:
        return math.nan
    rate = 0.125 * math.pi * math.pi + 0.5 * z * z
    right = _share_on_the_right(z)
    while True:
        if rng.random() < right:
            x = CUT + rng.standard_exponential() / rate
        else:
            x = _inverse_gaussian_on_the_left(rng, z)
        bound, height, n = 1.0, rng.random(), 0
        while True:
            n += 1
            if n % 2 == 1:
                bound -= _term(n, x)
                if height < bound:
                    return 0.25 * x
            else:
                bound += _term(n, x)
                if height >= bound:
                    break

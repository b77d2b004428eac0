"""Inverse Gaussian variates, of any mean up to infinity."""

import math

from ..toolbox.jit import kernel


@kernel
def inverse_gaussian(rng, rate):
    """Draw from the inverse Gaussian law of mean ``1 / rate`` and shape 1; at a rate of 0 that of Levy.

    With y the square of a normal variate, the two roots x of ``(rate x - 1)^2 / x = y`` have the product
    ``1 / rate^2``, and the smaller is taken with probability ``1 / (1 + rate x)`` (Michael, Schucany and Haas
    1976). It is written such that nothing cancels where the mean is large.
    """
    normal = rng.standard_normal()
    y = normal * normal
    small = 2.0 / (2.0 * rate + y + math.sqrt(y * (4.0 * rate + y)))
    if rng.random() * (1.0 + rate * small) <= 1.0:
        return small
    return 1.0 / (rate * rate * small)

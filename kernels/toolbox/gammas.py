"""Dirichlet variables of many words at once, from gamma variables whose shapes may be small.

Of small shapes these are no positive doubles. So they are drawn as logarithms, and those of a topic are taken
relative to its largest.
"""

import math

import numpy as np

from .jit import kernel
from .random import LEAST as LEAST
from .random import log_gamma_variate


@kernel
def log_gammas(rng, shapes):
    """Put logs of gamma variables in the place of their shapes (V, K); return the largest, (K,)."""
    high = np.full(shapes.shape[1], -np.inf)
    for w in range(shapes.shape[0]):
        for k in range(shapes.shape[1]):
            shapes[w, k] = log_gamma_variate(rng, max(shapes[w, k], LEAST))  # finite only from there on
            high[k] = max(high[k], shapes[w, k])
    return high


@kernel
def exponentials(logs, high, out):
    """Fill `out` (V, K), which may be `logs`, with exponentials relative to `high` (K,); return the sums."""
    mass = np.zeros(high.size)
    for w in range(logs.shape[0]):
        for k in range(high.size):
            out[w, k] = math.exp(logs[w, k] - high[k])
            mass[k] += out[w, k]
    return mass

"""Tables of restaurants whose customers are counted in a matrix."""

import numpy as np

from .jit import kernel
from .random import crt


@kernel
def count_tables(rng, counts, concentration):
    """Sum over rows of CRT(counts[d, k], concentration[k]), int64 (K,)."""
    out = np.zeros(concentration.size, np.int64)
    for d in range(counts.shape[0]):
        for k in range(concentration.size):
            out[k] += crt(rng, counts[d, k], concentration[k])
    return out

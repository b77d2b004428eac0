"""How long a document is, given the mass M of its topics: negative binomial, of a probability of its own.

    N_d ~ NB(M, p_d),   p_d ~ Beta(a, a)

Together with topics drawn given the length, p integrated out, a document enters the joint by
``h(M) prod_k (r_k)_{n_dk} / (M)_{N_d}``, (x)_n a rising factorial and

    h(M) = B(a + N, a + M) / B(a, a) · Γ(M + N) / Γ(M).

The factor ``1 / N!`` is left out. As a goes to zero, h is a constant: lengths are then given, and nothing is
learnt from them.
"""

from functools import lru_cache

import numpy as np
from scipy.special import betaln, gammaln

GRID = np.linspace(-40.0, 40.0, 8001)
"""Logarithms of masses among which `highest_log_lengths` looks."""


def log_lengths(mass: np.ndarray, doc_lengths: np.ndarray, shape: float) -> np.ndarray:
    """Log h of documents, float of the shape of `mass` and `doc_lengths` together.

    Parameters
    ----------
    mass : float (…)
    doc_lengths : int (…)
    shape : float
        a; 0 for lengths that are given.
    """
    mass, doc_lengths = np.broadcast_arrays(np.maximum(mass, np.finfo(float).tiny), doc_lengths)
    if shape == 0.0:
        return np.zeros(mass.shape)
    return betaln(shape + doc_lengths, shape + mass) - betaln(shape, shape) + log_rising(mass, doc_lengths)


def log_rising(x: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Log of the rising factorial (x)_n, also of an x whose log-gamma function has no digit left."""
    m = np.maximum(n, 1)
    return np.where(n > 0, gammaln(m) - betaln(x, m), 0.0)


@lru_cache(maxsize=256)
def highest_log_lengths(doc_lengths: tuple[int, ...], shape: float) -> float:
    """Return a bound on the sum of `log_lengths` over documents of one mass, hardly above the maximum.

    In log M the second derivative of a document's term is at most 2 N + 2 a + 4 in absolute value.
    """
    if shape == 0.0 or not doc_lengths:
        return 0.0
    found = log_lengths(np.exp(GRID)[:, None], np.array(doc_lengths), shape).sum(axis=1).max()
    bend = 2.0 * sum(doc_lengths) + (2.0 * shape + 4.0) * len(doc_lengths)
    return float(found) + bend * (GRID[1] - GRID[0]) ** 2 / 8.0


def draw_lengths(mass: np.ndarray, shape: float, rng: np.random.Generator) -> np.ndarray:
    """Draw lengths of documents of some masses, int (D,); where they are given, none can be drawn.

    Raises
    ------
    ValueError
        A document is too long to be made.
    """
    p = rng.beta(shape, shape, mass.size)
    with np.errstate(divide="ignore"):
        mean = rng.gamma(mass) * p / (1.0 - p)
    if not np.all(mean < LONGEST):
        raise ValueError(
            f"a document has more than {LONGEST:,.0f} tokens: length_shape: expected a larger one than "
            f"{shape}, under which lengths have no bounds to speak of, or documents of a length that is given"
        )
    return rng.poisson(mean)


LONGEST = 1e6
"""Tokens of a document that can be made."""

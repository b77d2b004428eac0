"""The Indian buffet process with masked-out features, in plain NumPy.

Rows are the customers (tasks), columns the features (topics). A feature has a stick pi, and a row takes it
with probability rho = epsilon pi; the sticks are a Poisson process of intensity alpha / pi on (0, 1), so
that the rho are one of intensity alpha / rho on (0, epsilon). With epsilon = 1 this is the process of
Griffiths and Ghahramani (2005).
"""

import numpy as np
from scipy.special import betaln, logsumexp


def log_reach(n_rows: int, epsilon: float) -> np.ndarray:
    """Log intensity, over alpha, of features that a given set of s rows takes and no other; float (C + 1,).

    Entry s is ``log int_0^epsilon rho^(s - 1) (1 - rho)^(C - s) d rho``, an incomplete beta integral; entry 0
    is inf, since infinitely many features are taken by no row. The regularised integral is a binomial tail,
    summed here in log space because it underflows for small epsilon.
    """
    from scipy.stats import binom  # takes half a second to import

    out = np.full(n_rows + 1, np.inf)
    for s in range(1, n_rows + 1):
        tail = logsumexp(binom.logpmf(np.arange(s, n_rows + 1), n_rows, epsilon))
        out[s] = tail + betaln(s, n_rows - s + 1)
    return out


def first_rows(n_rows: int, epsilon: float) -> np.ndarray:
    """Return how many features, over alpha, are expected to have each row as their first; float (C,).

    ``(1 - (1 - epsilon)^j) / j`` for the j-th row. The sum is the expected number of features for alpha = 1.
    """
    j = np.arange(1, n_rows + 1)
    return -np.expm1(j * np.log1p(-epsilon)) / j if epsilon < 1 else 1.0 / j


def draw_masks(
    n: int, n_rows: int, epsilon: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw the rows that take a feature, given that some row does, bool (n, C), and its stick, float (n,).

    Given its first row j the rho of a feature has density proportional to ``(1 - rho)^(j - 1)`` on
    (0, epsilon); each later row takes it with probability rho.
    """
    weights = first_rows(n_rows, epsilon)
    first = rng.choice(n_rows, n, p=weights / weights.sum())
    j = first + 1
    rho = 1.0 - (1.0 - rng.random(n) * (j * weights[first])) ** (1.0 / j)
    rows = np.arange(n_rows)
    later = rng.random((n, n_rows)) < rho[:, None]
    return (rows == first[:, None]) | ((rows > first[:, None]) & later), rho / epsilon

"""Ratios of generalised Stirling numbers, from which the Chinese restaurant of a Pitman-Yor process is drawn.

With discount a, S^0_0 = 1 and S^{n+1}_t = S^n_{t-1} + (n - t a) S^n_t is the weight of all ways in which n
customers occupy t tables. Steps of a sampler need ratios of neighbours only (Chen, Du and Buntine 2011):

    joins(n, t) = S^{n+1}_t / S^n_t          one more customer, at an occupied table
    opens(n, t) = S^{n+1}_{t+1} / S^n_t      one more customer, at a table of its own

Both follow from V^n_t = S^n_t / S^n_{t-1}, whose recursion has no subtractions that cancel, where the numbers
themselves would overflow for n of some hundreds.
"""

import numpy as np

from .jit import kernel

MOST_CUSTOMERS = 60_000
"""Of one dish in a restaurant; its table of ratios takes 7 GiB."""

MOST_IN_DOUBLE = 2_000
"""Most customers for which the table is kept in double precision; it takes 16 MiB."""


@kernel
def row_start(n):
    """Where the row of `n` customers starts: rows n = 2, 3, … hold t = 2..n."""
    return (n - 1) * (n - 2) // 2


@kernel
def fill_ratios(ratios, discount, n_max):
    """Fill the triangle of V^n_t for 2 <= t <= n <= `n_max`, in place.

    V^n_n = 2 / (n (n - 1) (1 - a)); for t < n, with m = n - 1,
    V^n_t = (1 + (m - t a) V^m_t) / (1 / V^m_{t-1} + m - (t - 1) a), the first term below only for t > 2.
    """
    row = np.empty(n_max + 1)
    for n in range(2, n_max + 1):
        m = n - 1.0
        before = 0.0  # V^m_{t-1}
        for t in range(2, n):
            here = row[t]
            below = m - (t - 1) * discount
            if t > 2:
                below += 1.0 / before
            row[t] = (1.0 + (m - t * discount) * here) / below
            before = here
        row[n] = 2.0 / (n * (n - 1.0) * (1.0 - discount))
        start = row_start(n)
        for t in range(2, n + 1):
            ratios[start + t - 2] = row[t]


@kernel
def ratio(ratios, n, t):
    """V^n_t = S^n_t / S^n_{t-1}, for 2 <= t <= n."""
    return float(ratios[row_start(n) + t - 2])


@kernel
def joins(ratios, discount, n, t):
    """S^{n+1}_t / S^n_t, for 1 <= t <= n."""
    if t == 1:
        return n - discount
    return n - t * discount + 1.0 / ratio(ratios, n, t)


@kernel
def opens(ratios, discount, n, t):
    """S^{n+1}_{t+1} / S^n_t, for 1 <= t <= n, and for n = t = 0."""
    if t == n:
        return 1.0
    return 1.0 + (n - (t + 1) * discount) * ratio(ratios, n, t + 1)


def stirling_ratios(n_max: int, discount: float) -> np.ndarray:
    """Triangle of V^n_t up to `n_max` customers.

    Parameters
    ----------
    n_max : int
        Most customers that a ratio is asked for.
    discount : float
        In [0, 1).

    Returns
    -------
    float64 or float32 (n_max (n_max - 1) / 2,)
        Up to `MOST_IN_DOUBLE` customers in double precision, ``4 n_max²`` bytes. Above that in single
        precision, ``2 n_max²`` bytes, by which the relative errors of `joins` and `opens` are about 6e-8.

    Raises
    ------
    ValueError
        The triangle would be too large.
    """
    if n_max > MOST_CUSTOMERS:
        raise ValueError(
            f"a word occurs {n_max} times in one group; expected at most {MOST_CUSTOMERS}, for which the "
            f"table of Stirling ratios takes {2 * MOST_CUSTOMERS**2 / 2**30:.0f} GiB"
        )
    size = max(n_max, 1) * (max(n_max, 1) - 1) // 2
    ratios = np.empty(size, np.float64 if n_max <= MOST_IN_DOUBLE else np.float32)
    fill_ratios(ratios, discount, n_max)
    return ratios

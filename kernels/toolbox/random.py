"""Random variates that numba's Generator lacks, and the slice sampler.

All of them draw from an explicit ``numpy.random.Generator``. Gamma and Dirichlet variates are made in log
space: with shapes below about 1e-3 the plain gamma underflows to zero, and a sampler that floors it does
not leave its target invariant.
"""

import math

from .jit import borrowing_kernel, chosen_by_type, kernel

LEAST, LARGEST = 1e-300, 1e300
"""Of a hyperparameter, so that its logarithm, and sums and ratios of some, are finite."""

SMALLEST = 2.0**-1022
"""What a product of probabilities, or a stick, that underflowed to zero stands for."""

MOST_LOG = 600.0
"""Largest logarithm of a Dirichlet parameter, up or down: it is cut off there, to stay a positive float."""

MOST_STEPS = 10_000
"""Of a slice move, outwards."""


@kernel
def categorical(rng, weights, n):
    """Index of one of the first `n` unnormalised, non-negative `weights`; the last where all are zero."""
    return categorical_or(rng, weights, n, n - 1)


@kernel
def categorical_or(rng, weights, n, otherwise):
    """Index of one of the first `n` unnormalised, non-negative `weights`; `otherwise` where all are zero."""
    total = 0.0
    for j in range(n):
        total += weights[j]
    u = rng.random() * total
    for j in range(n):
        u -= weights[j]
        if u < 0.0:
            return j
    # Rounding can leave u at zero after the last weight: fall back on the last possible outcome.
    for j in range(n - 1, -1, -1):
        if weights[j] > 0.0:
            return j
    return otherwise


@kernel
def log_gamma_variate(rng, shape):
    """Logarithm of a Gamma(`shape`, 1) variate, finite for every shape; those below `LEAST` count as that.

    For shape < 1 uses that ``G(a) = G(a + 1) U^(1/a)``.
    """
    if shape >= 1.0:
        return math.log(rng.standard_gamma(shape))
    return math.log(rng.standard_gamma(shape + 1.0)) - rng.standard_exponential() / max(shape, LEAST)


@kernel
def gamma_variate(rng, shape, rate):
    """Gamma(`shape`, `rate`) variate of a hyperparameter: rounded to `LEAST` or `LARGEST` beyond these."""
    return min(max(math.exp(log_gamma_variate(rng, shape)) / rate, LEAST), LARGEST)


@borrowing_kernel
def log_beta(a, b):
    """Logarithm of the beta function."""
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


@kernel
def log_beta_variate(rng, a, b):
    """Logarithms of ``X`` and ``1 - X`` for ``X ~ Beta(a, b)``; both shapes > 0."""
    x = log_gamma_variate(rng, a)
    y = log_gamma_variate(rng, b)
    high = max(x, y)
    total = high + math.log(math.exp(x - high) + math.exp(y - high))
    return x - total, y - total


@kernel
def dirichlet(rng, shapes, n, out):
    """Fill ``out[:n]`` with a draw from Dirichlet(``shapes[:n]``).

    A shape of zero gives a component of zero. `out` may be `shapes`.
    """
    high = -math.inf
    for j in range(n):
        out[j] = log_gamma_variate(rng, shapes[j]) if shapes[j] > 0.0 else -math.inf
        high = max(high, out[j])
    total = 0.0
    for j in range(n):
        out[j] = math.exp(out[j] - high)
        total += out[j]
    for j in range(n):
        out[j] /= total


@kernel
def crt_by_customers(rng, n, r):
    """CRT(n, r) as its definition: one Bernoulli a customer, O(n)."""
    tables = 1
    for j in range(1, n):
        if rng.random() * (r + j) < r:
            tables += 1
    return tables


@kernel
def _log_no_table(r, first, last):
    """Log probability that none of customers `first`..`last` (0-based, inclusive) opens a table."""
    return (
        math.lgamma(last + 1.0)
        - math.lgamma(float(first))
        + math.lgamma(r + first)
        - math.lgamma(r + last + 1.0)
    )


@kernel
def crt_by_jumps(rng, n, r):
    """CRT(n, r) by jumping from one opened table to the next, O(tables · log n).

    The number of customers until the next table is drawn by inverting its distribution function, whose
    logarithm is a difference of log-gamma functions.
    """
    tables = 1
    customer = 1  # the next customer that may open a table; customer 0 always does
    while customer < n:
        log_u = math.log(1.0 - rng.random())
        if _log_no_table(r, customer, n - 1) > log_u:
            break
        low, high = customer, customer  # gallop to the first customer m with P(none in customer..m) <= u
        step = 1
        while _log_no_table(r, customer, high) > log_u:
            low = high + 1
            high = min(n - 1, high + step)
            step *= 2
        while low < high:
            middle = (low + high) // 2
            if _log_no_table(r, customer, middle) > log_u:
                low = middle + 1
            else:
                high = middle
        tables += 1
        customer = low + 1
    return tables


@kernel
def crt(rng, n, r):
    """Draw the number of tables that `n` customers occupy in a Chinese restaurant of concentration `r`.

    Parameters
    ----------
    n : int
        Customers; 0 gives 0 tables. The first customer always opens a table, even where `r` underflows.
    r : float
        Concentration, >= 0.

    Notes
    -----
    The sum of independent Bernoulli(r / (r + j)), j = 0..n-1 (Antoniak 1974). Whichever of the two exact
    ways is cheaper is used: the jumps cost about 50 ns a table, the Bernoulli draws about 4 ns a customer.
    """
    if n <= 1:
        return n
    if n > 50.0 * (1.0 + r * math.log1p(n / max(r, 1e-300))):
        return crt_by_jumps(rng, n, r)
    return crt_by_customers(rng, n, r)


@kernel
def concentration(rng, current, prior, n_tables, n_customers, parts):
    """Draw a concentration given the table counts of restaurants that share it.

    Under a Gamma(``prior[0]``, rate ``prior[1]``) prior and the likelihood
    ``c^n_tables · prod_r Γ(parts c) / Γ(parts c + n_customers[r])`` (Teh et al. 2006, appendix A): with
    ``q_r ~ Beta(parts c, n_r)``, the conditional is
    ``Gamma(prior[0] + n_tables, prior[1] - parts sum_r log q_r)``. This is the augmentation of Teh et al.
    with the Beta(c + 1, n) variable and its binary companion replaced by one Beta(c, n) variable.

    Parameters
    ----------
    n_customers : int array
        Customers of each restaurant; empty restaurants carry no information and are passed over.
    parts : float
        How many times the concentration enters the total mass: 1 for a Dirichlet process, K for a
        K-dimensional symmetric Dirichlet with parameter c.
    """
    rate = prior[1]
    for n in n_customers:
        if n > 0:
            rate -= parts * log_beta_variate(rng, parts * current, float(n))[0]
    return gamma_variate(rng, prior[0] + n_tables, rate)


@kernel
def is_sampled(prior):
    """Whether a hyperparameter moves; a fixed one has the prior (0, 0)."""
    return prior[0] > 0.0


@kernel
def is_beyond(hyperparameter):
    """Whether a slice move is beyond the floats that a hyperparameter may be.

    Half of `LEAST` is not yet: exponentials of logarithms can be below what they were.
    """
    return not 0.5 * LEAST <= hyperparameter <= 2.0 * LARGEST


@chosen_by_type(0)
def log_density(target, x):
    """Unnormalised log density of `target`, a NamedTuple of its data, at `x`."""


@kernel
def slice_sample(rng, target, x, width):
    """One univariate slice-sampling update of `x` under ``log_density(target, ·)``.

    Stepping out and shrinkage (Neal 2003, Figures 3 and 5). `target` is a NamedTuple whose class has an
    implementation of `log_density`; a callable would keep numba from caching the caller.

    Stays at `x` where it or the density there is no number or infinite, and where the interval would take
    `MOST_STEPS`. How many it takes depends on the interval alone, not on which of its points the steps set
    out from: so what is given up from one of them is given up from all, and the move is reversible.
    """
    level = log_density(target, x) - rng.standard_exponential()
    left = x - width * rng.random()
    right = left + width
    steps_left = MOST_STEPS if level < math.inf and abs(x) < math.inf else 0
    while steps_left > 0 and log_density(target, left) > level:
        left -= width
        steps_left -= 1
    while steps_left > 0 and log_density(target, right) > level:
        right += width
        steps_left -= 1
    while steps_left > 0:
        proposal = left + (right - left) * rng.random()
        if log_density(target, proposal) >= level:
            return proposal
        if proposal < x:
            left = proposal
        else:
            right = proposal
    return x

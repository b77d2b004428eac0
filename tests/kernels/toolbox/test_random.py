"""The law of every variate of the toolbox against its exact law; and mistakes, each of which is noticed.

What one or a few uniform variates decide is read off without Monte Carlo error. All else is drawn in plain
Python, which makes the same draws as compiled code, and its p-value is compared with `FALSE_ALARM_RATE`.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, Change, load_room
from bnpzoo.diagnostics.laboratory.token_law import outcomes
from bnpzoo.kernels.toolbox import random as compiled
from bnpzoo.zoo.priors import LARGEST, LEAST
from bnpzoo.zoo.toolbox.enumeration import log_stirling
from scipy import stats
from scipy.special import betainc, betaln, gammainc, gammaln

FALSE_ALARM_RATE = 1e-5
"""Of each law, were its seed not fixed."""
DRAWS = 2000
ROUNDING = 1e-12

type Room = Callable[[Any], Any]

plain = load_room(PLAIN_PYTHON)
random = plain(compiled)


# Laws, exactly


def log_gamma_cdf(x, shape):
    """P(log G <= x) for G ~ Gamma(shape, 1); also where G itself is below the least float."""
    far = np.exp(shape * np.minimum(x, -40.0) - gammaln(shape + 1.0))
    return np.where(x < -40.0, far, gammainc(shape, np.exp(x)))


def log_beta_cdf(x, a, b):
    """P(log X <= x) for X ~ Beta(a, b); also where X itself is below the least float."""
    far = np.exp(a * np.minimum(x, -40.0) - math.log(a) - betaln(a, b))
    return np.where(x < -40.0, far, betainc(a, b, np.exp(np.minimum(x, 0.0))))


def log_antoniak(n, r):
    """Log probabilities of 0, …, n tables of n customers: ``|s(n, t)| r^t Γ(r) / Γ(r + n)``."""
    return log_stirling(n)[n] + np.arange(n + 1) * math.log(r) - np.sum(np.log(r + np.arange(n)))


def log_conditional(x, prior, n_tables, n_customers, parts):
    """Log density, up to a constant, of the logarithm `x` of a concentration; as `concentration` says it."""
    c = np.exp(x)
    out = (prior[0] + n_tables) * x - prior[1] * c
    return out + sum(gammaln(parts * c) - gammaln(parts * c + n) for n in n_customers if n > 0)


def cdf_on_grid(log_density, low, high):
    """Distribution function of a density on a line, by the trapezoidal rule on a fine grid."""
    grid = np.linspace(low, high, 200_001)
    logs = log_density(grid)
    cdf = np.cumsum(np.exp(logs - logs.max()))
    return grid, cdf / cdf[-1]


# P-values and errors of what a room draws, by the name of the law


def distance(draws, cdf):
    return stats.kstest(draws, cdf).pvalue


def frequencies(counts, law):
    """Chi-square test; what is expected fewer than 20 times is pooled."""
    expected = law / law.sum() * counts.sum()
    rare = expected < 20.0
    counts, expected = (np.append(x[~rare], x[rare].sum()) for x in (counts, expected))
    kept = expected > 0.0
    if np.any(counts[~kept]):
        return 0.0
    return stats.chisquare(counts[kept], expected[kept] * counts.sum() / expected[kept].sum()).pvalue


def smallest(p_values):
    """Bonferroni's correction."""
    return min(p_values) * len(p_values)


def as_p_value(error):
    """Of something that has no Monte Carlo error."""
    return float(error < ROUNDING)


def law_of(run):
    law: dict[Any, float] = {}
    for outcome, probability in outcomes(run, most=99):
        law[outcome] = law.get(outcome, 0.0) + probability
    return law


def categorical(room):
    weights = np.array([0.0, 0.3, 1.1, 0.0, 0.6, 0.0, 7.0])  # the last is beyond the first six
    law = law_of(lambda rng: room(compiled).categorical(rng, weights, 6))
    wanted = np.array([0.0, 0.15, 0.55, 0.0, 0.3, 0.0, 0.0])
    return as_p_value(max(abs(law.get(j, 0.0) - p) for j, p in enumerate(wanted)))


def log_gamma_variate(room):
    def p_value(shape):
        rng = np.random.default_rng(1)
        draws = [room(compiled).log_gamma_variate(rng, shape) for _ in range(DRAWS)]
        return distance(draws, lambda x: log_gamma_cdf(x, shape))

    return smallest([p_value(shape) for shape in (1e-9, 0.02, 0.7, 1.0, 2.5, 1e7)])


def log_beta_variate(room):
    def p_values(a, b):
        rng = np.random.default_rng(2)
        draws = np.array([room(compiled).log_beta_variate(rng, a, b) for _ in range(DRAWS)])
        if not np.allclose(np.exp(draws).sum(axis=1), 1.0, rtol=ROUNDING):
            return [0.0]
        if max(a, b) < 1e-3:  # one part is all
            return [frequencies(np.bincount(draws.argmax(axis=1), minlength=2), np.array([a, b]))]
        laws = [lambda x: log_beta_cdf(x, a, b), lambda x: log_beta_cdf(x, b, a)]
        is_seen = draws.max(axis=0) < 0.0  # beside a part below the least float, the other is 1
        return [distance(x, law) for x, law, seen in zip(draws.T, laws, is_seen, strict=True) if seen]

    shapes = [(1e-8, 3.0), (3.0, 1e-8), (1e-7, 2e-7), (0.5, 0.7), (1.0, 4.0), (20.0, 1.0), (3e6, 1e6)]
    return smallest([p for a, b in shapes for p in p_values(a, b)])


def dirichlet(room):
    """Marginals, and the share of the first in the first two, which is independent of the others."""
    p_values = []
    for shapes in ([0.3, 2.0, 0.0, 1.2], [1e-4, 2e-4, 0.0, 1e-4], [4e4, 1e4, 0.0, 2e4]):
        rng = np.random.default_rng(3)
        draws = np.empty((DRAWS, 5))
        for row in draws:
            row[:] = [*shapes, 7.0]
            room(compiled).dirichlet(rng, row, 4, row)
        if np.any(draws[:, 2] != 0.0) or np.any(draws[:, 4] != 7.0):
            return 0.0
        if not np.allclose(draws[:, :4].sum(axis=1), 1.0, rtol=ROUNDING):
            return 0.0
        a, total = np.array(shapes), sum(shapes)
        if total < 1.0:  # nearly all is in one component
            largest = np.bincount(draws[:, :4].argmax(axis=1), minlength=4)
            p_values.append(frequencies(largest, a))
            continue
        p_values += [distance(draws[:, j], stats.beta(a[j], total - a[j]).cdf) for j in (0, 1, 3)]
        share = draws[:, 0] / draws[:, [0, 1]].sum(axis=1)
        p_values.append(distance(share, stats.beta(a[0], a[1]).cdf))
    return smallest(p_values)


def crt_by_customers(room):
    errors = []
    for n, r in ((2, 0.3), (7, 1.7), (9, 1e-3), (6, 1e4)):
        law = law_of(lambda rng, n=n, r=r: room(compiled).crt_by_customers(rng, n, r))
        wanted = np.exp(log_antoniak(n, r))
        errors += [abs(law.get(t, 0.0) - wanted[t]) for t in range(n + 1)]
    return as_p_value(max(errors))


def crt(room):
    """On both sides of the border between the two ways; with many more customers than 50."""
    p_values = []
    for n, r in ((40, 0.8), (52, 1e-3), (70, 0.02), (400, 0.3), (400, 5.0), (60, 300.0)):
        rng, law = np.random.default_rng(4), np.exp(log_antoniak(n, r))
        for draw in (room(compiled).crt, room(compiled).crt_by_jumps):
            counts = np.bincount([draw(rng, n, r) for _ in range(DRAWS // 2)], minlength=n + 1)
            p_values.append(frequencies(counts, law))
    return smallest(p_values)


def probability_of_no_table(room):
    """Also where the first customer is far on, as only rare jumps are."""
    errors = []
    for r, first, last in ((0.3, 1, 1), (2.0, 1, 30), (1e-3, 7, 400), (50.0, 300, 301)):
        j = np.arange(first, last + 1)
        direct = float(np.sum(np.log(j / (r + j))))
        errors.append(abs(room(compiled)._log_no_table(r, first, last) / direct - 1.0))
    return as_p_value(1e-2 * max(errors))  # differences of log-gamma functions lose digits


class Told:
    """Uniform variates that are told; then zeros."""

    def __init__(self, *values):
        self.values = list(values)

    def random(self):
        return self.values.pop(0) if self.values else 0.0


def jumps(room):
    """Where a jump ends: at the first customer m for which nobody up to m opens a table with P <= 1 - u."""
    errors = 0
    for n, r in ((300, 0.7), (9, 0.5)):
        log_none = np.cumsum(np.log(np.arange(1, n) / (r + np.arange(1, n))))  # of customers 1..m
        for u in (np.arange(400) + 0.5) / 400:
            beyond = np.flatnonzero(log_none <= math.log(1.0 - u))
            # after the jump, a variate of zero opens a table for each customer
            tables = 1 + (n - 1 - beyond[0] if beyond.size else 0)
            errors += room(compiled).crt_by_jumps(Told(u), n, r) != tables
    return as_p_value(errors)


CONCENTRATIONS = [
    ((2.0, 1.0), 6, [5, 0, 1, 7, 2], 1.0),
    ((1.5, 0.5), 1, [1], 1.0),
    ((2.5, 0.2), 4, [1, 1, 1, 0], 3.0),
    ((0.8, 3.0), 40, [90, 0, 400, 20], 5.0),
    ((0.02, 0.02), 1, [30], 1.0),
]


def concentration(room):
    """One step from the conditional leads to the conditional, whatever is drawn on the way."""
    p_values = []
    for prior, n_tables, n_customers, parts in CONCENTRATIONS:
        rng = np.random.default_rng(5)
        grid, cdf = cdf_on_grid(
            lambda x, told=(prior, n_tables, n_customers, parts): log_conditional(x, *told), -60.0, 12.0
        )
        start = np.exp(np.interp(rng.random(2 * DRAWS), cdf, grid))
        customers = np.array(n_customers)
        end = [
            room(compiled).concentration(rng, c, np.array(prior), n_tables, customers, parts) for c in start
        ]
        if np.any(end == start):
            return 0.0
        p_values.append(distance(np.log(end), lambda x, told=(grid, cdf): np.interp(x, *told)))
    return smallest(p_values)


class LogGamma(NamedTuple):
    """Target of the logarithm of a gamma variate."""

    shape: float
    rate: float


def slice_sample(room):
    """A few steps from a law lead to that law, and away from where they began."""
    room(compiled).log_density.implement(LogGamma)(lambda at, x: at.shape * x - at.rate * math.exp(x))
    p_values = []
    for shape, rate, width in ((2.5, 1e-3, 1.0), (0.7, 2.0, 6.0), (0.02, 1.0, 40.0), (1e6, 4.0, 2e-3)):
        rng = np.random.default_rng(6)
        start = np.array([random.log_gamma_variate(rng, shape) for _ in range(2 * DRAWS)]) - math.log(rate)
        end = start
        for _ in range(3):
            end = np.array([room(compiled).slice_sample(rng, LogGamma(shape, rate), x, width) for x in end])
        if np.any(end == start):
            return 0.0
        p_values.append(distance(end + math.log(rate), lambda x, shape=shape: log_gamma_cdf(x, shape)))
    return smallest(p_values)


def slice_sample_in_few_steps(room):
    """The same where many intervals are given up."""
    module = room(compiled)
    module.log_density.implement(LogGamma)(lambda at, x: at.shape * x - at.rate * math.exp(x))
    most, module.MOST_STEPS = module.MOST_STEPS, 8
    try:
        rng = np.random.default_rng(8)
        start = np.array([random.log_gamma_variate(rng, 0.7) for _ in range(2 * DRAWS)])
        end = start
        for _ in range(3):
            end = np.array([module.slice_sample(rng, LogGamma(0.7, 1.0), x, 0.5) for x in end])
    finally:
        module.MOST_STEPS = most
    if not 0.1 < np.mean(end == start) < 0.5:
        return 0.0
    return distance(end, lambda x: log_gamma_cdf(x, 0.7))


LAWS: dict[str, Callable[[Room], float]] = {
    law.__name__: law
    for law in (
        categorical,
        log_gamma_variate,
        log_beta_variate,
        dirichlet,
        crt_by_customers,
        crt,
        probability_of_no_table,
        jumps,
        concentration,
        slice_sample,
        slice_sample_in_few_steps,
    )
}

MISTAKES = [
    ("categorical", "u = rng.random() * total", "u = rng.random()"),
    ("categorical", "u -= weights[j]", "u -= weights[0]"),
    ("log_gamma_variate", "rng.standard_gamma(shape + 1.0)", "rng.standard_gamma(shape)"),
    ("log_gamma_variate", "rng.standard_exponential() / max(shape, LEAST)", "rng.standard_exponential()"),
    ("log_gamma_variate", "if shape >= 1.0:", "if shape >= 0.0:"),
    ("log_beta_variate", "y = log_gamma_variate(rng, b)", "y = log_gamma_variate(rng, a)"),
    ("log_beta_variate", "return x - total, y - total", "return y - total, x - total"),
    ("log_beta_variate", "total = high + math.log", "total = math.log"),
    ("dirichlet", "out[j] = log_gamma_variate(rng, shapes[j])", "out[j] = log_gamma_variate(rng, shapes[0])"),
    ("dirichlet", "        total += out[j]", "        total = out[j]"),
    ("dirichlet", "if shapes[j] > 0.0 else -math.inf", "if shapes[j] > 0.0 else 0.0"),
    ("crt_by_customers", "rng.random() * (r + j) < r", "rng.random() * (r + j + 1) < r"),
    ("crt_by_customers", "for j in range(1, n):", "for j in range(n):"),
    ("crt", "        - math.lgamma(r + last + 1.0)", "        + math.lgamma(r + last + 1.0)"),
    ("probability_of_no_table", "- math.lgamma(float(first))", "- math.lgamma(first + 1.0)"),
    ("crt", "> log_u:\n            break", "> 2.0 * log_u:\n            break"),
    ("crt", "        step *= 2\n", "        step *= 2\n        low = high\n"),
    ("crt", "customer = low + 1", "customer = low + 2"),
    ("jumps", "                low = middle + 1\n", "                low = middle + 2\n"),
    ("jumps", "                high = middle\n", "                high = middle - 1\n"),
    ("jumps", "            low = high + 1\n", "            low = high + 2\n"),
    ("jumps", "customer, n - 1) > log_u", "customer, n - 2) > log_u"),
    ("concentration", "        if n > 0:\n            rate", "        if n > 1:\n            rate"),
    ("concentration", "rate -= parts * log_beta_variate", "rate -= log_beta_variate"),
    ("concentration", "parts * current, float(n)", "current, float(n)"),
    ("concentration", "parts * current, float(n)", "parts * current + 1.0, float(n)"),
    ("concentration", "prior[0] + n_tables, rate)", "prior[0] + n_tables - 1.0, rate)"),
    ("concentration", "rate = prior[1]", "rate = prior[0]"),
    ("slice_sample", "level = log_density(target, x) - rng", "level = log_density(target, x) + 0.0 * rng"),
    ("slice_sample", "log_density(target, left) > level", "False"),
    ("slice_sample", "log_density(target, right) > level", "False"),
    ("slice_sample", "proposal) >= level", "proposal) >= level - 1.0"),
    ("slice_sample_in_few_steps", "    while steps_left > 0:\n", "    while True:\n"),
]  # fmt: skip


@pytest.mark.parametrize("law", LAWS)
def test_law(law):
    assert LAWS[law](plain) > FALSE_ALARM_RATE


@pytest.mark.parametrize(("law", "find", "replace"), MISTAKES)
def test_mistakes_are_noticed(law, find, replace):
    room = load_room(PLAIN_PYTHON, Change("toolbox/random.py", find, replace))
    try:
        p_value = LAWS[law](room)
    except (ValueError, ZeroDivisionError, OverflowError):  # as of a logarithm of nothing
        return
    assert p_value <= FALSE_ALARM_RATE


def test_every_law_has_a_mistake():
    assert {law for law, _, _ in MISTAKES} == {*LAWS}


def test_restaurants_without_much_in_them():
    rng = np.random.default_rng(0)
    for r in (0.0, 1e-320, 3.0, 1e300):
        assert [compiled.crt(rng, n, r) for n in (0, 1)] == [0, 1]
    assert {compiled.crt(rng, 1000, 0.0) for _ in range(20)} == {1}
    assert compiled.crt(rng, 1000, 1e300) == 1000


def test_a_uniform_variate_that_rounding_takes_beyond_the_weights():
    class One:
        def random(self):
            return 1.0

    for n, expected in ((4, 2), (2, 1), (1, 0)):
        assert random.categorical(One(), np.array([0.1, 0.7, 0.2, 0.0]), n) == expected
    assert random.categorical(One(), np.array([0.7, 0.0, 0.0, 0.0]), 4) == 0
    assert random.categorical(One(), np.zeros(3), 3) == 2


class Slope(NamedTuple):
    """Target that is no law: a line, or nothing but NaN or infinity."""

    start: float
    slope: float


@pytest.mark.parametrize(
    ("target", "x"),
    [
        (Slope(0.0, 0.0), 0.3),
        (Slope(0.0, -1e-9), 0.3),
        (Slope(math.nan, 1.0), 0.3),
        (Slope(math.inf, 1.0), 0.3),
        (Slope(0.0, 0.0), math.inf),
        (Slope(0.0, 0.0), -math.inf),
    ],
)
def test_a_slice_move_ends_whatever_the_density(target, x):
    random.log_density.implement(Slope)(lambda at, x: at.start + (at.slope * x if at.slope else 0.0))
    assert random.slice_sample(np.random.default_rng(0), target, x, 1.0) == x


def test_variates_of_hyperparameters_are_positive_numbers():
    rng = np.random.default_rng(9)
    assert {compiled.gamma_variate(rng, 1e-12, 1.0) for _ in range(9)} == {LEAST}
    assert compiled.gamma_variate(rng, 5.0, 1e-300) == LARGEST
    prior, n_customers = np.array([1e-12, 1.0]), np.zeros(1, np.int64)
    assert compiled.concentration(rng, 1.0, prior, 0, n_customers, 1.0) == LEAST


def test_a_fixed_hyperparameter_has_no_prior():
    assert compiled.is_sampled(np.array([1e-300, 1.0]))
    assert not compiled.is_sampled(np.zeros(2))


@pytest.mark.compiled
def test_compiled_code_makes_the_same_draws():
    shapes = np.array([0.3, 1e-4, 2.0])

    def draws(module):
        rng = np.random.default_rng(7)
        for n, r in ((9, 0.4), (3000, 0.4)):
            yield module.crt(rng, n, r)
        yield module.log_gamma_variate(rng, 1e-5)
        yield from module.log_beta_variate(rng, 0.3, 1e-3)
        out = np.zeros(3)
        module.dirichlet(rng, shapes, 3, out)
        yield from out
        yield module.categorical(rng, shapes, 3)
        yield module.concentration(rng, 0.7, np.array([2.0, 1.0]), 3, np.array([4, 0, 1]), 2.0)

    np.testing.assert_allclose([*draws(random)], [*draws(compiled)], rtol=1e-13)

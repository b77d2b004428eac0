"""Chinese restaurants against their exact laws, and generalised Stirling numbers against fractions."""

from collections import Counter
from fractions import Fraction
from math import gamma, prod

import numpy as np
import pytest
from bnpzoo.zoo.families.pitman_yor.restaurants import Cells, draw_sizes, log_rising, seat
from bnpzoo.zoo.toolbox.enumeration import log_stirling, log_stirling_numbers, restricted_growth_strings
from scipy.stats import chisquare

FALSE_ALARM_RATE = 1e-5


def stirling(n, t, a):
    if n == 0 or t == 0 or t > n:
        return Fraction(int(n == t))
    return stirling(n - 1, t - 1, a) + (n - 1 - t * a) * stirling(n - 1, t, a)


@pytest.mark.parametrize("a", [Fraction(0), Fraction(1, 2), Fraction(19, 20)])
def test_stirling_numbers(a):
    n, t = (x.ravel() for x in np.indices((9, 9)))
    exact = np.array([float(stirling(i, j, a)) for i, j in zip(n.tolist(), t.tolist(), strict=True)])
    np.testing.assert_allclose(np.exp(log_stirling(8, float(a))).ravel(), exact, rtol=1e-12)
    np.testing.assert_allclose(np.exp(log_stirling_numbers(n, t, float(a))), exact, rtol=1e-12)


def sizes_by_appearance(partition):
    return tuple(np.bincount(partition))


def weight(sizes, a):
    """What the seating contributes to the probability of a partition, without its number of tables."""
    return prod(gamma(s - a) / gamma(1 - a) for s in sizes)


def agrees(observed, exact):
    """Whether draws have the law that `exact` is in proportion to, at the stated false-alarm rate."""
    assert set(observed) <= set(exact)
    n, total = sum(observed.values()), sum(exact.values())
    expected = np.array([n * exact[key] / total for key in exact])
    return chisquare([observed[key] for key in exact], expected).pvalue > FALSE_ALARM_RATE


@pytest.mark.parametrize(("a", "b"), [(0.6, 1.5), (0.6, -0.3), (0.0, 1.5), (0.5, 0.0)])
def test_seating(a, b):
    rng = np.random.default_rng(0)
    exact = {
        tuple(p): weight(np.bincount(p), a) * np.exp(log_rising(b, a, 4, max(p) + 1))
        for p in restricted_growth_strings(4)
    }
    assert sum(exact.values()) == pytest.approx(1.0)
    observed = Counter(tuple(seat(4, b, a, rng)) for _ in range(2_000))
    assert agrees(observed, exact)
    assert not agrees(Counter(tuple(seat(4, b + 1.0, a, rng)) for _ in range(2_000)), exact)


def test_sizes_given_the_number_of_tables():
    a, n, t = 0.6, 6, 3
    exact = Counter()
    for partition in restricted_growth_strings(n):
        if max(partition) + 1 == t:
            exact[sizes_by_appearance(partition)] += weight(np.bincount(partition), a)
    rng = np.random.default_rng(1)
    assert agrees(Counter(tuple(draw_sizes(n, t, a, rng)) for _ in range(2_000)), exact)
    assert not agrees(Counter(tuple(draw_sizes(n, t, 0.4, rng)) for _ in range(2_000)), exact)


def test_no_customers():
    assert log_rising(-0.5, 0.6, 0, 0) == 0.0
    assert seat(0, 1.0, 0.5, np.random.default_rng(0)).size == 0


def test_cells_count_customers_and_tables():
    restaurant, words = np.array([0, 0, 3, 0]), np.array([1, 1, 0, 2])
    cells = Cells.of(restaurant, words, np.array([True, False, True, True]), 3)
    assert [x.tolist() for x in cells] == [[0, 0, 3], [1, 2, 0], [2, 1, 1], [1, 1, 1]]
    customers, tables = cells.totals(4)
    assert customers.tolist() == [3, 0, 0, 1]
    assert tables.tolist() == [2, 0, 0, 1]

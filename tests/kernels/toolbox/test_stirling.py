"""Ratios of generalised Stirling numbers against the numbers themselves, in exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from bnpzoo.kernels.toolbox.stirling import fill_ratios, joins, opens, stirling_ratios


def stirling_numbers(n_max, discount):
    """S^n_t as a list of rows, from their definition."""
    rows = [[Fraction(1)]]
    for n in range(n_max):
        last = [*rows[-1], Fraction(0)]
        rows.append([Fraction(0)] + [last[t - 1] + (n - t * discount) * last[t] for t in range(1, n + 2)])
    return rows


@pytest.mark.parametrize("discount", [Fraction(0), Fraction(3, 10), Fraction(7, 10), Fraction(99, 100)])
def test_ratios_are_those_of_the_numbers(discount):
    n_max = 60
    exact = stirling_numbers(n_max + 1, discount)
    a = float(discount)
    double = np.empty(n_max * (n_max - 1) // 2)
    fill_ratios(double, a, n_max)
    np.testing.assert_array_equal(double, stirling_ratios(n_max, a))
    for ratios, tolerance in ((double, 1e-13), (double.astype(np.float32), 2e-7)):
        for n in range(1, n_max):
            for t in range(1, n + 1):
                join = float(exact[n + 1][t] / exact[n][t])
                assert joins(ratios, a, n, t) == pytest.approx(join, rel=tolerance)
                table = float(exact[n + 1][t + 1] / exact[n][t])
                assert opens(ratios, a, n, t) == pytest.approx(table, rel=tolerance)
    assert opens(double, a, 0, 0) == 1.0


def test_large_counts_stay_accurate():
    """In single precision; for two tables the ratio has a recursion of its own."""
    a, n_max = 0.7, 3000
    ratios = stirling_ratios(n_max, a)
    assert ratios.dtype == np.float32
    v = 1.0 / (1.0 - a)
    for n in range(3, n_max):
        v = (1.0 + (n - 1 - 2 * a) * v) / (n - 1 - a)
        assert joins(ratios, a, n, 2) == pytest.approx(n - 2 * a + 1.0 / v, rel=2e-7)


def test_too_many_customers():
    with pytest.raises(ValueError, match="a word occurs 100000 times in one group; expected at most"):
        stirling_ratios(100_000, 0.5)

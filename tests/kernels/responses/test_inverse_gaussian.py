"""Inverse Gaussian variates: distribution, the hinge as a mixture of normal densities, mutants."""

import math

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, Change, load_room
from bnpzoo.kernels.responses import inverse_gaussian as module
from scipy import integrate, stats

FALSE_ALARM_RATE = 1e-5
RATES = (0.0, 1e-9, 0.01, 0.3, 1.0, 7.0, 1e4)


def law(rate):
    """Inverse Gaussian law of mean 1 / rate and shape 1; scipy's has the mean in units of the shape."""
    return stats.invgauss(1.0 / rate) if rate > 0.0 else stats.levy


def draws(own, rate, n):
    rng = np.random.default_rng(int(1000 * rate))
    return np.array([own.inverse_gaussian(rng, rate) for _ in range(n)])


def p_value(own, rate, n):
    # at rates near 0 all but about one in 1 / rate is as at 0, where scipy's function loses its digits
    return stats.kstest(draws(own, rate, n), law(0.0 if rate < 1e-6 else rate).cdf).pvalue


@pytest.mark.parametrize("rate", RATES)
def test_distribution_function(rate):
    assert p_value(module, rate, 20_000) > FALSE_ALARM_RATE / len(RATES)


@pytest.mark.parametrize("rate", [0.3, 1.0, 7.0])
def test_moments(rate):
    found = draws(module, rate, 100_000)
    error = math.sqrt(rate**-3 / found.size)
    assert abs(found.mean() - 1.0 / rate) < stats.norm.isf(FALSE_ALARM_RATE / 6.0) * error
    assert found.var() == pytest.approx(rate**-3, rel=0.1)


@pytest.mark.parametrize("gap", [-2.0, -0.3, 0.4, 1.7])
def test_it_turns_a_hinge_into_a_normal_density(gap):
    """By quadrature over lambda, which is one over the variate given the gap."""
    cost = 0.8

    def joint(x):
        return np.exp(-((x + cost * gap) ** 2) / (2.0 * x)) / np.sqrt(2.0 * np.pi * x)

    total = integrate.quad(joint, 0.0, np.inf, limit=200)[0]
    assert total == pytest.approx(math.exp(-2.0 * cost * max(0.0, gap)), rel=1e-6)
    v = np.array([0.2, 0.9, 3.0])
    given = joint(1.0 / v) / v**2 / total
    np.testing.assert_allclose(given, law(cost * abs(gap)).pdf(v), rtol=1e-6)


def test_any_rate_has_a_variate():
    rng = np.random.default_rng(0)
    for rate in (0.0, 1e-300, 1e-30, 1e30, 1e150):
        found = np.array([module.inverse_gaussian(rng, rate) for _ in range(2000)])
        assert np.all(np.isfinite(found))
        assert np.all(found > 0.0)


FILE = "responses/inverse_gaussian.py"
MUTANTS = [
    Change(FILE, "if rng.random() * (1.0 + rate * small) <= 1.0:", "if rng.random() <= 1.0:"),
    Change(FILE, "4.0 * rate + y", "2.0 * rate + y"),
    Change(FILE, "2.0 / (2.0 * rate", "2.0 / (rate"),
    Change(FILE, "1.0 / (rate * rate * small)", "1.0 / (rate * small)"),
    Change(FILE, "y = normal * normal", "y = abs(normal)"),
]


@pytest.mark.parametrize("change", MUTANTS, ids=lambda change: change.find[:30])
def test_mutants_have_another_law(change):
    own = load_room(change, PLAIN_PYTHON)(module)
    assert min(p_value(own, rate, 5_000) for rate in (0.3, 7.0)) < FALSE_ALARM_RATE

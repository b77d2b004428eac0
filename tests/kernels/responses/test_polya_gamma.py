"""The law of Polya-Gamma variates: moments, transforms, distribution function, mutants."""

import math
from itertools import pairwise

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.mutants.responses import MUTANTS
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, Change, load_room
from bnpzoo.kernels.responses import polya_gamma as module
from scipy import integrate, stats

FALSE_ALARM_RATE = 1e-5
TILTS = (0.0, 1e-8, 0.4, 2.0, 3.2, 12.0, 60.0, 90.0)
"""On both sides of where proposals change, and where the terms of the inverse Gaussian law underflow."""


def density(x, tilt):
    """Density of PG(1, tilt): the alternating series (Polson, Scott and Windle 2013, Equation 5)."""
    n = np.arange(200)
    terms = (-1.0) ** n * (2 * n + 1) / np.sqrt(2.0 * np.pi * x**3) * np.exp(-((2 * n + 1) ** 2) / (8.0 * x))
    return math.cosh(0.5 * tilt) * np.exp(-0.5 * tilt**2 * x) * terms.sum()


def mean_and_variance(tilt):
    if tilt < 1e-4:
        return 0.25, 1.0 / 24.0
    mean = math.tanh(0.5 * tilt) / (2.0 * tilt)
    # (sinh z - z) / (4 z^3 cosh(z / 2)^2), without overflow
    variance = (math.tanh(0.5 * tilt) * 2.0 - tilt / math.cosh(min(0.5 * tilt, 300.0)) ** 2) / (4.0 * tilt**3)
    return mean, variance


def draws(own, tilt, n):
    rng = np.random.default_rng(int(1000 * tilt))
    return np.array([own.polya_gamma(rng, tilt) for _ in range(n)])


@pytest.mark.parametrize("tilt", TILTS)
def test_moments(tilt):
    mean, variance = mean_and_variance(tilt)
    found = draws(module, tilt, 100_000)
    bound = stats.norm.isf(FALSE_ALARM_RATE / 2.0 / len(TILTS) / 2.0)
    assert abs(found.mean() - mean) < bound * math.sqrt(variance / found.size)
    fourth = np.mean((found - mean) ** 4)
    assert abs(np.mean((found - mean) ** 2) - variance) < bound * math.sqrt(fourth / found.size)


@pytest.mark.parametrize("tilt", [0.0, 1.0, 4.0])
def test_distribution_function_is_that_of_the_series(tilt):
    def cdf(x):
        """At points in ascending order, which is how `kstest` asks: from each to the next."""
        pieces = [integrate.quad(density, *ends, args=(tilt,), limit=200)[0] for ends in pairwise([1e-4, *x])]
        return np.cumsum(pieces)

    found = draws(module, tilt, 2_000)
    assert cdf([4.0])[0] == pytest.approx(1.0, abs=1e-7)
    assert stats.kstest(found, cdf).pvalue > FALSE_ALARM_RATE / 3.0


@pytest.mark.parametrize("psi", [-3.0, 0.0, 0.7, 5.0])
def test_it_turns_a_logit_into_a_normal_density(psi):
    """``exp(psi) / (1 + exp(psi)) = E[exp(psi / 2 - w psi^2 / 2)] / 2`` (Theorem 1), by quadrature."""
    mean = integrate.quad(lambda w: density(w, 0.0) * np.exp(-0.5 * w * psi**2), 1e-4, 8.0, limit=200)[0]
    assert 0.5 * math.exp(0.5 * psi) * mean == pytest.approx(1.0 / (1.0 + math.exp(-psi)), abs=1e-8)


def test_the_sign_of_the_tilt_plays_no_part():
    one, other = np.random.default_rng(0), np.random.default_rng(0)
    assert [module.polya_gamma(one, 1.3) for _ in range(50)] == [
        module.polya_gamma(other, -1.3) for _ in range(50)
    ]


def test_any_tilt_has_a_variate():
    rng = np.random.default_rng(0)
    for tilt in (1e-300, 700.0, 1500.0, 1e5, 1e12):
        found = [module.polya_gamma(rng, tilt) for _ in range(200)]
        assert np.all(np.isfinite(found))
        assert np.all(np.array(found) > 0.0)
        assert np.mean(found) == pytest.approx(mean_and_variance(tilt)[0], rel=0.2 if tilt < 1.0 else 0.05)


@pytest.mark.parametrize("tilt", [math.nan, math.inf, -math.inf, 1e200])
def test_a_tilt_without_a_finite_square_has_none(tilt):
    assert math.isnan(module.polya_gamma(np.random.default_rng(0), tilt))


FILE = "responses/polya_gamma.py"
OWN_MUTANTS = [m.change for m in MUTANTS if m.change.file == FILE] + [
    Change(FILE, "math.exp(-0.5 * z * z * x)", "1.0"),
    Change(FILE, "log_left = math.log(2.0) - z", "log_left = math.log(2.0)"),
    Change(FILE, "e * e > 2.0 * rng", "e * e > rng"),
    Change(FILE, "0.5 * math.pi * math.pi * x if", "0.5 * x if"),
    Change(FILE, "0.5 * z * z\n    right", "0.25 * z * z\n    right"),
    Change(FILE, "root = math.sqrt(1.0 / CUT)", "root = math.sqrt(CUT)"),
]


@pytest.mark.parametrize("change", OWN_MUTANTS, ids=lambda change: change.find[:30])
def test_mutants_have_other_moments(change):
    own, worst = load_room(change, PLAIN_PYTHON)(module), 0.0
    for tilt in (0.0, 0.4, 3.0, 3.2, 12.0):
        mean, variance = mean_and_variance(tilt)
        found = draws(own, tilt, 50_000)
        worst = max(worst, abs(found.mean() - mean) / math.sqrt(variance / found.size))
    assert worst > stats.norm.isf(FALSE_ALARM_RATE)

"""Priors of hyperparameters: density, mean, quantiles and draws agree."""

import json
from fractions import Fraction

import numpy as np
import pytest
from bnpzoo.zoo.priors import PRIORS, Beta, Gamma
from scipy.integrate import quad
from scipy.stats import kstest


@pytest.mark.parametrize("prior", [Gamma(2.5, 3.0), Beta(2.5, 1.5)])
def test_density_mean_quantile_and_draws(prior):
    """No shape is 1 or 2, where the log of its gamma function is 0."""
    assert quad(prior.quantile, 0.0, 1.0)[0] == pytest.approx(prior.mean, rel=1e-6)
    probability = np.array([0.1, 0.5, 0.9])
    for p, x in zip(probability, prior.quantile(probability), strict=True):
        assert quad(lambda t: np.exp(prior.log_density(t)), 0.0, x)[0] == pytest.approx(p, abs=1e-8)
    draws = prior.draw(np.random.default_rng(0), 1000)

    grid = prior.quantile(np.linspace(0.0, 1.0, 1001)[:-1])
    assert kstest(np.searchsorted(grid, draws) / 1000.0, "uniform").pvalue > 1e-5
    assert PRIORS[type(prior).__name__](*prior.parameters) == prior


def test_a_prior_reads_as_it_is_written():
    assert str(Beta(2, 0.5)) == "Beta(2, 0.5)"
    assert str(Gamma(1.23456789, 12345678)) == "Gamma(1.23456789, 12345678)"


@pytest.mark.parametrize("prior", [Gamma(0.01, 1.0), Beta(0.01, 1.0), Beta(1.0, 0.01), Beta(0.01, 0.01)])
def test_draws_have_a_log_and_a_logit(prior):
    draws = prior.draw(np.random.default_rng(0), 10_000)
    assert np.isfinite(np.log(draws)).all()
    if isinstance(prior, Beta):
        logit = np.log(draws) - np.log1p(-draws)
        back = 1.0 / (1.0 + np.exp(-logit))
        assert np.all((back > 0.0) & (back < 1.0))
    assert prior.draw(np.random.default_rng(0)) == draws[0]


def test_wrong_parameters():
    with pytest.raises(ValueError, match=r"Beta: expected positive shapes \(.*\), found 0.0, 1.0"):
        Beta(0.0, 1.0)
    with pytest.raises(ValueError, match=r"Gamma: expected positive shape and rate \(.*\), found 1.0, inf"):
        Gamma(1.0, np.inf)
    for wrong in ("a", None, [1], True):
        with pytest.raises(ValueError, match="Gamma: expected positive shape and rate"):
            Gamma(wrong, 1.0)
    with pytest.raises(ValueError, match="Gamma: expected a mean of 1e-300 to 1e300, found inf"):
        Gamma(1e300, 1e-300)


@pytest.mark.parametrize("number", [np.int64(2), np.float32(2.0), Fraction(2)])
def test_parameters_are_numbers_of_python(number):
    assert json.dumps(Gamma(number, 1).parameters) == "[2.0, 1.0]"

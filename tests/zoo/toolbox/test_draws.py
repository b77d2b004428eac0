"""Draws that models share."""

import numpy as np
import pytest
from bnpzoo.zoo.toolbox.draws import draw_dirichlet, log_gamma
from scipy.stats import beta, kstest, loggamma

FALSE_ALARM_RATE = 1e-5


@pytest.mark.parametrize("shape", [0.05, 0.8, 30.0])
def test_log_gamma_has_the_density_of_scipy(shape):
    drawn = log_gamma(shape, (2000,), np.random.default_rng(0))
    assert kstest(drawn, loggamma(shape).cdf).pvalue > FALSE_ALARM_RATE
    assert kstest(drawn, loggamma(1.5 * shape).cdf).pvalue < FALSE_ALARM_RATE


def test_dirichlet_is_drawn_by_row():
    shapes = np.tile([0.2, 0.5, 0.3], (2000, 1))
    drawn = draw_dirichlet(shapes, np.random.default_rng(0))
    assert drawn.sum(axis=1) == pytest.approx(1.0)
    assert kstest(drawn[:, 1], beta(0.5, 0.5).cdf).pvalue > FALSE_ALARM_RATE
    assert kstest(drawn[:, 0], beta(0.5, 0.5).cdf).pvalue < FALSE_ALARM_RATE


def test_shapes_that_underflow_have_a_share_and_zero_has_none():
    drawn = draw_dirichlet(np.array([1e-320, 0.0, 1e-310]), np.random.default_rng(0))
    assert drawn[1] == 0.0
    assert sorted(drawn) == [0.0, 0.0, 1.0]
    assert draw_dirichlet(np.array([0.0, 1e-3]), np.random.default_rng(0)).tolist() == [0.0, 1.0]

"""Draws that models share."""

import numpy as np
import pytest
from bnpzoo.zoo.toolbox.draws import draw_categorical, draw_dirichlet, draw_words, log_gamma
from scipy.stats import beta, betabinom, chisquare, kstest, loggamma

FALSE_ALARM_RATE = 1e-5


@pytest.mark.parametrize("scale", [1.0, 5.0, 1e-9])
def test_categories_are_drawn_by_row_whatever_their_weights_sum_to(scale):
    weights = scale * np.tile([[0.2, 0.5, 0.3], [0.0, 0.9, 0.1]], (2000, 1))
    drawn = draw_categorical(weights, np.random.default_rng(0)).reshape(-1, 2)
    first, second = (np.bincount(column, minlength=3) for column in drawn.T)
    assert chisquare(first, [400, 1000, 600]).pvalue > FALSE_ALARM_RATE
    assert chisquare(first, [600, 800, 600]).pvalue < FALSE_ALARM_RATE
    assert second[0] == 0
    assert chisquare(second[1:], [1800, 200]).pvalue > FALSE_ALARM_RATE


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
    assert log_gamma(0.0, (2,), np.random.default_rng(0)).tolist() == [-np.inf, -np.inf]
    assert draw_dirichlet(np.array([0.0, 1e-3]), np.random.default_rng(0)).tolist() == [0.0, 1.0]
    beside_others = draw_dirichlet(np.array([[1e-320, 1e-310], [5.0, 5.0]]), np.random.default_rng(0))
    assert beside_others.sum(axis=1) == pytest.approx(1.0)


class AlmostOne:
    """Generator whose uniform variates are all the largest below one."""

    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __getattr__(self, name):
        return getattr(self.rng, name)

    def random(self, size):
        return np.full(size, np.nextafter(1.0, 0.0))


def test_there_is_a_word_and_a_column_where_probabilities_add_up_to_less_than_one():
    words = draw_words(np.arange(300), 300, 40, 0.5, AlmostOne())
    assert words.max() == 39
    weights = np.tile([0.1, 0.2, 0.7], (2, 1))
    assert draw_categorical(weights, AlmostOne()).tolist() == [2, 2]
    smallest = np.full((2, 3), 5e-324)  # of which "almost all" is rounded to all
    assert draw_categorical(smallest, AlmostOne()).tolist() == [2, 2]


def test_words_are_drawn_from_topics():
    """In one topic of two words, of ten tokens, the first has a Pólya law."""
    rng = np.random.default_rng(0)
    found = np.array([np.sum(draw_words(np.zeros(10, int), 1, 2, 0.5, rng) == 0) for _ in range(2000)])
    expected = betabinom(10, 0.5, 0.5).pmf(np.arange(11)) * found.size
    assert chisquare(np.bincount(found, minlength=11), expected).pvalue > FALSE_ALARM_RATE
    wrong = betabinom(10, 0.8, 0.8).pmf(np.arange(11)) * found.size
    assert chisquare(np.bincount(found, minlength=11), wrong).pvalue < FALSE_ALARM_RATE

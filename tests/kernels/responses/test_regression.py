"""Draws of coefficients where priors are vague beside the data: the same law to the last digits, or none."""

import math
from fractions import Fraction

import numpy as np
import pytest
from bnpzoo.kernels.responses import regression
from bnpzoo.kernels.responses.documents import NUMBER, make_responses

N_TOPICS = 3


def responses_of(precision, intercept_precision):
    """One number, of which `regression` reads no more than the precisions of coefficients."""
    return make_responses(
        np.zeros(1),
        np.zeros((1, N_TOPICS)),
        ([intercept_precision], [precision], [1.0]),
        np.zeros((3, 2)),
        [NUMBER],
        [[1.0, 1.0]],
        [1],
        np.zeros((1, 1)),
    )


def data(n=40):
    """Shares in eighths, which sum to one exactly, of which documents they are, weights and slopes."""
    rng = np.random.default_rng(3)
    counts = rng.multinomial(8, [0.5, 0.3, 0.2], n)
    start = np.concatenate([[0], np.cumsum(np.count_nonzero(counts, axis=1))])
    topic, share = np.nonzero(counts)[1].astype(np.int32), counts[counts > 0] / 8.0
    weight = np.full(n, 64.0)
    return (start, topic, share), np.arange(n), weight, weight * np.round(rng.normal(1e4, 1.0, n), 6)


def drawn(responses, noise_seed=5):
    matrix, linear = np.empty((N_TOPICS + 1, N_TOPICS + 1)), np.empty(N_TOPICS + 1)
    shares, owner, weight, slope = data()
    rng = np.random.default_rng(noise_seed)
    regression.draw_predictor(rng, responses, shares, owner, weight, slope, 0, 0, matrix, linear)
    return linear


def drawn_exactly(responses, noise_seed=5):
    """The same draw in fractions, by the factor that has ones in its diagonal."""
    (start, topic, share), owner, weight, slope = data()
    n = N_TOPICS + 1
    own = [float(responses.intercept_precision[0]), *[float(responses.precision[0])] * N_TOPICS]
    matrix = [[Fraction(own[i]) * (i == j) for j in range(n)] for i in range(n)]
    linear = [Fraction(0)] * n
    for d in owner:
        row = [Fraction(1)] + [Fraction(0)] * N_TOPICS
        for j in range(start[d], start[d + 1]):
            row[topic[j] + 1] = Fraction(float(share[j]))
        for i in range(n):
            linear[i] += row[i] * Fraction(float(slope[d]))
            for j in range(n):
                matrix[i][j] += Fraction(float(weight[d])) * row[i] * row[j]
    noise = np.random.default_rng(noise_seed).standard_normal(n)
    for j in range(n):
        for i in range(j + 1, n):
            factor = matrix[i][j] / matrix[j][j]
            matrix[i] = [a - factor * b for a, b in zip(matrix[i], matrix[j], strict=True)]
            linear[i] -= factor * linear[j]
    for j in reversed(range(n)):
        pivot = matrix[j][j]
        rest = sum(matrix[j][m] * linear[m] for m in range(j + 1, n))
        linear[j] = (linear[j] - rest) / pivot + Fraction(noise[j]) / Fraction(math.sqrt(pivot))
    return linear


@pytest.mark.parametrize(
    ("precision", "intercept_precision"),
    [(0.4, 0.9), (1e-4, 1e-5), (1e-12, 1e-12), (1e-18, 1e-21), (1e-16, 3.0)],
)
def test_draws_are_those_of_exact_arithmetic(precision, intercept_precision):
    """What priors alone tell, to a small part of its deviation, and predictors of documents of one topic."""
    responses = responses_of(precision, intercept_precision)
    found, exact = drawn(responses), drawn_exactly(responses)
    deviation = (intercept_precision + N_TOPICS * precision) ** -0.5
    assert float(found[0]) == pytest.approx(float(exact[0]), abs=1e-4 * deviation)
    size = np.abs(found).max()
    for k in range(1, N_TOPICS + 1):
        expected = float(exact[0] + exact[k])
        assert found[0] + found[k] == pytest.approx(expected, abs=1e-6 + 4e-16 * size)


def test_both_ways_have_the_same_factor():
    shares, owner, weight, slope = data()
    shape, responses = (N_TOPICS + 1, N_TOPICS + 1), responses_of(0.4, 0.9)
    matrix, linear = np.empty(shape), np.empty(N_TOPICS + 1)
    regression.factor_by_rows(responses, shares, owner, weight, slope, 0, matrix, linear)
    precision, term = np.tril(matrix @ matrix.T), matrix @ linear
    assert regression.eliminate(precision, term)
    np.testing.assert_allclose(np.tril(precision), np.tril(matrix), rtol=1e-9)
    np.testing.assert_allclose(term, linear, rtol=1e-9)


def test_what_is_lost_to_rounding_is_not_made_up():
    assert np.isnan(drawn(responses_of(1e-40, 1e-40))).all()
    assert np.isfinite(drawn(responses_of(1e-40, 1.0))).all()
    assert np.isnan(drawn(responses_of(math.nan, 1.0))).all()

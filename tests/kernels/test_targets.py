"""Targets of slice moves against densities written out; `test_hyper.py` has those of Pitman-Yor topics."""

import math

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, load_room
from bnpzoo.kernels.buffet import focused, weights
from bnpzoo.kernels.lda import parallel
from bnpzoo.kernels.toolbox import random, smoothing
from scipy import stats
from scipy.integrate import quad
from scipy.special import gammaln

focused, weights, parallel, random, smoothing = map(
    load_room(PLAIN_PYTHON), (focused, weights, parallel, random, smoothing)
)


def check(target, direct, at):
    """Log densities differ by a constant."""
    found = np.array([random.log_density(target, x) for x in at])
    expected = np.array([direct(x) for x in at])
    np.testing.assert_allclose(np.diff(found), np.diff(expected), rtol=1e-10, atol=1e-10)


def test_smoothing():
    counts, prior = np.array([[3, 0, 1, 1], [0, 0, 7, 0], [0, 0, 0, 0]]), np.array([1.5, 0.4])
    size, how_often = np.unique(counts[counts > 0], return_counts=True)
    target = smoothing.LogSmoothing(counts.sum(axis=1), size, how_often, 4.0, prior)

    def direct(x):
        eta = math.exp(x)
        out = stats.gamma.logpdf(eta, 1.5, scale=1 / 0.4) + x
        for row in counts:
            seen = np.zeros(4)
            for w in np.repeat(np.arange(4), row):
                out += math.log((eta + seen[w]) / (4 * eta + seen.sum()))
                seen[w] += 1
        return out

    check(target, direct, [-12.0, -3.0, 0.0, 2.5, 6.0])
    assert random.log_density(target, -800.0) == -math.inf  # eta underflows


def test_alpha_of_all_topics():
    counts, prior = np.array([[3, 0, 1], [0, 0, 7], [2, 2, 0], [0, 0, 0]]), np.array([1.5, 0.4])
    length, n_documents = np.unique(counts.sum(axis=1)[:3], return_counts=True)
    size, how_often = np.unique(counts[counts > 0], return_counts=True)
    target = parallel.LogAlpha(length, n_documents, size, how_often, 3.0, prior)

    def direct(x):
        alpha = math.exp(x)
        out = stats.gamma.logpdf(alpha, 1.5, scale=1 / 0.4) + x
        for row in counts:
            seen = np.zeros(3)
            for k in np.repeat(np.arange(3), row):
                out += math.log((alpha + seen[k]) / (3 * alpha + seen.sum()))
                seen[k] += 1
        return out

    check(target, direct, [-12.0, -3.0, 0.0, 2.5, 6.0])
    assert random.log_density(target, -800.0) == -math.inf  # alpha underflows


@pytest.mark.parametrize("rest", [0.0, 0.8])
def test_weight_of_a_topic_in_a_task(rest):
    counts = np.array([4, 1, 1])  # tokens of the topic in documents of 5, 1 and 3
    size, how_often = np.unique(counts, return_counts=True)
    offset, coefficient = np.array([1.0, 3.0, 5.0, 9.0]), np.array([-1.0, -1.0, -1.0, 1.0])
    log_rest = math.log(rest) if rest else -math.inf
    target = weights.LogTaskWeight(
        0.6, size.astype(float), how_often.astype(float), log_rest, math.log(2.0), offset, coefficient
    )

    def direct(x):
        phi = math.exp(x)
        mass = rest + phi
        out = stats.gamma.logpdf(phi, 0.6) + x + stats.nbinom(mass, 0.5).logpmf(9)
        for n, length in zip(counts, (5, 1, 3), strict=True):
            out += gammaln(phi + n) - gammaln(phi) - gammaln(mass + length) + gammaln(mass)
        return out

    check(target, direct, [-25.0, -5.0, 0.0, 1.5, 4.0])
    assert random.log_density(target, 700.0) == -math.inf
    # Far below the least float each document with the topic has a factor phi, and the lengths phi^-2 unless
    # other topics have mass.
    slope = random.log_density(target, -900.0) - random.log_density(target, -910.0)
    powers = 0.6 + (3.0 if rest else 1.0)
    assert slope == pytest.approx(10.0 * powers, rel=1e-9)


def test_shape_of_a_topic_of_tasks():
    log_weight = np.array([-3.0, 0.4, 1.1])
    target = weights.LogShape(2.0, 0.8, 3.0, float(log_weight.sum()))

    def direct(x):
        shape = math.exp(x)
        prior = stats.gamma.logpdf(shape, 2.0, scale=0.8) + x
        return prior + stats.gamma.logpdf(np.exp(log_weight), shape).sum()

    check(target, direct, [-9.0, -1.0, 0.3, 3.0])
    assert random.log_density(target, 700.0) == -math.inf


def test_shape_of_the_strengths():
    log_strength = np.array([-2.0, 0.3])
    target = focused.LogShape(log_strength, 3, 1.7, np.array([1.5, 0.4]))

    def direct(x):
        gamma = math.exp(x)
        some = [
            quad(lambda phi, j=j: stats.gamma.pdf(phi, gamma) * (1.0 - 2.0 ** (-j * phi)), 0.0, np.inf)[0] / j
            for j in (1, 2, 3)
        ]
        out = stats.gamma.logpdf(gamma, 1.5, scale=1 / 0.4) + x - 1.7 * sum(some)
        return out + stats.gamma.logpdf(np.exp(log_strength), gamma).sum()

    at = [0.1, 0.7, 1.5]
    found = [random.log_density(target, x) for x in at]
    assert np.diff(found) == pytest.approx(np.diff([direct(x) for x in at]), abs=1e-7)  # of the quadrature
    assert random.log_density(target, -800.0) == -math.inf

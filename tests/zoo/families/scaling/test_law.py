"""Laws of log scales against SciPy; their parameters against numerical integrals, and with a mistake."""

from types import SimpleNamespace

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.mutants.scaling import MUTANTS
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, load_room
from bnpzoo.kernels.scaling import law
from bnpzoo.kernels.scaling.state import LOG_INVERSE_GAMMA, NORMAL
from bnpzoo.zoo.families.scaling.laws import LogInverseGamma, Normal
from scipy.special import gammaln
from scipy.stats import invgamma, kstest, norm

TOLERANCE = 5.0
"""Standard errors: with the normal law, a false alarm in any of 16 comparisons has probability 9e-6."""

LOG_SCALE = np.array([[0.4, -0.3, 1.2, 9.0], [-0.8, 0.1, 0.7, -9.0]])
TOPICS = np.array([0, 1, 2])
"""The last topic is none of those that are looked at."""

CASES = {
    "shape and rate": (LOG_INVERSE_GAMMA, [1.0, 1.0], [[5.0, 3.0], [4.0, 5.0]]),
    "shape": (LOG_INVERSE_GAMMA, [1.0, 0.8], [[5.0, 3.0], [0.0, 0.0]]),
    "rate": (LOG_INVERSE_GAMMA, [1.7, 1.0], [[0.0, 0.0], [4.0, 5.0]]),
    "variance": (NORMAL, [1.0, 0.0], [[4.0, 3.0], [0.0, 0.0]]),
}

LAWS = {
    "inverse gamma": (LogInverseGamma(1.7, 0.6), invgamma(1.7, scale=0.6), np.exp),
    "normal": (Normal(0.4), norm(scale=np.sqrt(0.4)), lambda x: x),
}
FALSE_ALARM_RATE = 1e-5


@pytest.mark.parametrize("name", LAWS)
def test_density_slopes_and_draws_are_of_the_law(name):
    law_of_log, law_of_value, value = LAWS[name]
    x, step = np.array([[-0.8, 0.1], [0.7, 1.9]]), 1e-4

    def log_density(x):
        jacobian = x if value is np.exp else np.zeros_like(x)
        return law_of_value.logpdf(value(x)) + jacobian

    assert law_of_log.log_density(x) == pytest.approx(np.sum(log_density(x)), rel=1e-12)
    first, second = law_of_log.slopes(x)
    up, down = log_density(x + step), log_density(x - step)
    np.testing.assert_allclose(first, (up - down) / (2.0 * step), rtol=1e-6)
    np.testing.assert_allclose(second, -(up - 2.0 * log_density(x) + down) / step**2, rtol=1e-5)
    drawn = value(law_of_log.draw(np.random.default_rng(0), (40, 50)).ravel())
    assert kstest(drawn, law_of_value.cdf).pvalue > FALSE_ALARM_RATE
    assert kstest(1.3 * drawn, law_of_value.cdf).pvalue < FALSE_ALARM_RATE


def test_scales_of_the_smallest_shapes_are_finite():
    assert np.all(np.isfinite(LogInverseGamma(1e-200, 1.0).draw(np.random.default_rng(0), (3, 2))))


def exact(kind, now, priors):
    """Means of the logarithms of both parameters, by sums over a grid of them."""
    grid = np.linspace(-6.0, 5.0, 1101)
    axes = [
        grid if shape > 0.0 else np.log(np.maximum(x, 1e-9))[None]
        for x, (shape, _) in zip(now, priors, strict=True)
    ]
    x, y = np.meshgrid(*axes, indexing="ij")
    out = sum(p[0] * t - p[1] * np.exp(t) if p[0] > 0.0 else 0.0 for p, t in zip(priors, (x, y), strict=True))
    v = LOG_SCALE[:, TOPICS]
    if kind == LOG_INVERSE_GAMMA:
        a, b = np.exp(x), np.exp(y)
        out = out + v.size * (a * y - gammaln(a)) - a * v.sum() - b * np.exp(-v).sum()
    else:
        out = out - 0.5 * v.size * x - 0.5 * np.sum(v**2) * np.exp(-x)
    weights = np.exp(out - out.max())
    return np.array([np.sum(weights * t) for t in (x, y)]) / weights.sum()


def errors(case, *changes):
    """How many standard errors a chain is off."""
    kind, now, priors = CASES[case]
    draw = load_room(*changes, PLAIN_PYTHON)(law).draw_law
    documents = SimpleNamespace(
        law=np.array([kind]),
        law_parameters=np.array(now),
        law_priors=np.array(priors),
        next_law_parameters=np.zeros(2),
        log_scale=LOG_SCALE,
    )
    rng, path = np.random.default_rng(0), []
    for _ in range(8000):
        draw(rng, documents, TOPICS)
        documents.law_parameters[:] = documents.next_law_parameters
        path.append(np.log(np.maximum(documents.law_parameters, 1e-9)))
    blocks = np.array(path).reshape(40, -1, 2).mean(axis=1)
    error = np.maximum(blocks.std(axis=0, ddof=1) / np.sqrt(len(blocks)), 1e-9)
    return np.abs((blocks.mean(axis=0) - exact(kind, now, priors)) / error).max()


@pytest.mark.parametrize("case", CASES)
def test_draws_have_the_posterior_of_the_parameters(case):
    assert errors(case) < TOLERANCE


MISTAKES = {
    "scaling-shape-without-rate-of-rates": "shape and rate",
    "scaling-shape-without-jacobian": "shape",
    "scaling-rate-without-shape": "rate",
    "scaling-variance-of-one-square": "variance",
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_found(name):
    (mutant,) = (mutant for mutant in MUTANTS if mutant.id == name)
    assert errors(MISTAKES[name], mutant.change) > TOLERANCE

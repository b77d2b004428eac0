"""Evidence and posterior means of six tokens against values that were found apart from this package.

These come from importance sampling, 600,000 draws from the prior with all 64 topics of the tokens summed,
by a program that shares nothing with this one: PFA of two topics under a network of one to three layers, of
two topics each.
"""

from itertools import product

import numpy as np
import pytest
from bnpzoo.zoo.families.belief_network import network
from scipy.special import betaln, gammaln

WORDS, DOCUMENT = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 0, 0, 1, 1, 1])
TOPICS = np.array(list(product(range(2), repeat=6)))
WIDTH, DRAWS, BATCHES = 2, 20_000, 40

EVIDENCE = {1: -8.7761, 2: -9.3774, 3: -9.9204}
TOGETHER = [0.7429, 0.6224, 0.5412, 0.5106, 0.5106]
"""Of two layers: probabilities that the first token shares its topic with each of the others."""
MEANS = {"eta": 0.0209, "layer_mass": 1.3931, "link_rate": -0.2143}
"""Of two layers: posterior means of logarithms."""
ERROR = 0.003
"""Of these values, at most."""


def log_topics():
    """Log probability of each of `TOPICS` and of the lengths.

    ``r_k ~ Gamma(gamma / 2, c)``, ``gamma ~ Gamma(6, 1.5)``, ``c ~ Gamma(4, 4)``, ``p_d ~ Beta(2, 4)``; that
    of the lengths without ``1 / N!``.
    """
    rng, n = np.random.default_rng(0), 100_000
    gamma, c = rng.gamma(6.0, 1 / 1.5, n), rng.gamma(4.0, 1 / 4.0, n)
    r = np.maximum(rng.gamma(gamma[:, None] / 2, 1 / c[:, None], (n, 2)), 1e-300)
    lengths = 2 * (betaln(2.0 + 3, 4.0 + r.sum(axis=1)) - betaln(2.0, 4.0))
    out = []
    for z in TOPICS:
        counts = np.array([np.bincount(z[d == DOCUMENT], minlength=2) for d in (0, 1)])
        urns = sum(gammaln(r + of_document) - gammaln(r) for of_document in counts).sum(axis=1)
        out.append(np.log(np.mean(np.exp(lengths + urns))))
    return np.array(out)


def from_prior(layers, mass_scale=1.0):
    """Draw hyperparameters (n,) of the layer above the first, and parameters of topics (n, 2, 3)."""
    rng, n = np.random.default_rng(layers), layers - 1
    psi, found = np.empty((DRAWS, 2, 3)), {name: np.empty(DRAWS) for name in MEANS}
    for i in range(DRAWS):
        hyper = {
            "eta": rng.gamma(2.0, 1 / 2.0),
            "layer_mass": mass_scale * rng.gamma(6.0, 1 / 1.5, n),
            "layer_rate": rng.gamma(4.0, 1 / 4.0, n),
            "link_rate": rng.gamma(4.0, 1 / 4.0, n),
        }
        above = network.draw(hyper, layers, WIDTH, 2, 3, rng)
        psi[i] = hyper["eta"] if n == 0 else network.shapes(above["log_upper_topics"][0], above["log_links"])
        for name in MEANS:
            found[name][i] = hyper["eta"] if name == "eta" else hyper[name][0] if n else 1.0
    return found, psi


def weights(psi):
    """Probability of words, topics and lengths at each draw, float (n, 64)."""
    out = np.empty((len(psi), len(TOPICS)))
    for j, (z, log_p) in enumerate(zip(TOPICS, log_topics(), strict=True)):
        counts = np.array([np.bincount(WORDS[z == k], minlength=3) for k in (0, 1)])
        total = psi.sum(axis=2)
        log_words = np.sum(gammaln(psi + counts) - gammaln(psi), axis=(1, 2))
        log_words += np.sum(gammaln(total) - gammaln(total + counts.sum(axis=1)), axis=1)
        out[:, j] = np.exp(log_p + log_words)
    return out


def estimate(values, weight):
    """Ratio of means of `values` times `weight` to those of `weight`, and its standard error by batches."""
    share = weight.reshape(BATCHES, -1).mean(axis=1)
    above = (weight * values).reshape(BATCHES, -1).mean(axis=1)
    mean = above.mean() / share.mean()
    return mean, np.std(above - mean * share, ddof=1) / share.mean() / np.sqrt(BATCHES)


def assert_near(found, known):
    """Six standard errors by forty batches: a false alarm has probability 5e-7."""
    mean, error = found
    assert abs(mean - known) < 6.0 * np.hypot(error, ERROR), (mean, error, known)


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.slow
def test_evidence(layers):
    weight = weights(from_prior(layers)[1]).sum(axis=1)
    mean, error = estimate(weight, np.ones(DRAWS))
    assert_near((np.log(mean), error / mean), EVIDENCE[layers])


@pytest.mark.slow
def test_posterior_of_two_layers():
    hyper, psi = from_prior(2)
    weight = weights(psi)
    for other, known in enumerate(TOGETHER, start=1):
        shared = weight[:, TOPICS[:, 0] == TOPICS[:, other]].sum(axis=1) / weight.sum(axis=1)
        assert_near(estimate(shared, weight.sum(axis=1)), known)
    for name, known in MEANS.items():
        assert_near(estimate(np.log(hyper[name]), weight.sum(axis=1)), known)


@pytest.mark.slow
def test_another_mass_has_another_posterior():
    """With ``gamma_0`` in place of ``gamma_0 / 2`` for the shapes of popularity."""
    _, psi = from_prior(2, mass_scale=WIDTH)
    weight = weights(psi).sum(axis=1)
    mean, _ = estimate(weight, np.ones(DRAWS))
    assert abs(np.log(mean) - EVIDENCE[2]) > 0.05

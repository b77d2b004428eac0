"""Layers of gamma belief networks, three of them: what is drawn given the layers as they are."""

import numpy as np
import pytest
from bnpzoo import Corpus
from bnpzoo.kernels.poisson import layers
from bnpzoo.zoo.models import get
from scipy.stats import gamma, kstest

FALSE_ALARM_RATE = 1e-5
DRAWS = 2000
CORPUS = Corpus([0, 0, 1, 1, 2, 2, 0], [0, 3, 6, 7], n_words=3)


@pytest.fixture(scope="module")
def state():
    model, rng = get("gbn", n_topics=2, n_layers=3, rate_shape=2.7, rate_rate=1.9), np.random.default_rng(0)
    kernel = model.kernel("sparse")
    state = kernel.load(model.initial_latents(CORPUS, rng), CORPUS, model)
    for _ in range(3):
        state = kernel.step(rng, state)
    state.documents.theta[:] = rng.gamma(2.0, size=state.documents.theta.shape)
    return state


def test_rates_have_their_conditional_law(state):
    documents, rng = state.documents, np.random.default_rng(1)
    drawn = np.empty((DRAWS, *documents.rate.shape))
    for j in range(DRAWS):
        layers.draw_rates(rng, documents)
        drawn[j] = documents.rate
    of_layer = documents.theta.sum(axis=2)
    above = np.concatenate([of_layer[1:], np.full((1, of_layer.shape[1]), documents.r.sum())])
    for s, d in np.ndindex(*documents.rate.shape):
        law = gamma(2.7 + above[s, d], scale=1.0 / (1.9 + of_layer[s, d]))
        assert kstest(drawn[:, s, d], law.cdf).pvalue > FALSE_ALARM_RATE / documents.rate.size
        wrong = gamma(2.7 + above[s, d], scale=1.0 / (1.9 + of_layer[s - 1, d]))
        assert kstest(drawn[:, s, d], wrong.cdf).pvalue < FALSE_ALARM_RATE


def test_exposures_follow_from_those_below(state):
    documents = state.documents
    log_mass = np.log(documents.theta[0].sum(axis=1))
    layers.draw_exposures(np.random.default_rng(2), state.tokens, documents, log_mass)
    exposure = documents.exposure
    assert np.all(exposure[0] > 0.0)
    np.testing.assert_allclose(exposure[1:], np.log1p(exposure[:-1] / documents.rate), rtol=1e-12)

"""Chains are weighed by how well they predict together."""

import numpy as np
import pytest
from bnpzoo import get, sample
from bnpzoo.diagnostics.heldout import document_completion, posterior_predictives
from bnpzoo.diagnostics.heldout.stacking import stack_chains, stacking_weights
from bnpzoo.zoo.contract import Design


def log_score(weights, log_p):
    return np.sum(np.logaddexp.reduce(np.log(weights + 1e-300)[:, None] + log_p))


def test_weights_are_the_best():
    rng = np.random.default_rng(0)
    log_p = -1000.0 + rng.normal(size=(3, 200)) * 2.0
    weights = stacking_weights(log_p)
    assert weights.sum() == pytest.approx(1.0)
    best = log_score(weights, log_p)
    p = np.exp(log_p - log_p.max(axis=0))
    np.testing.assert_allclose(
        (p / (weights @ p)).mean(axis=1), 1.0, rtol=1e-6
    )  # none would gain by more weight
    for other in rng.dirichlet(np.ones(3), size=300):
        assert log_score(0.99 * weights + 0.01 * other, log_p) <= best + 1e-6


def test_a_component_that_is_worse_everywhere_has_no_weight():
    log_p = np.random.default_rng(1).normal(size=50) - [[0.0], [3.0]]
    np.testing.assert_allclose(stacking_weights(log_p), [1.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(stacking_weights(log_p[:1]), [1.0])


def test_chains_of_a_fit():
    model = get("hdp")
    corpus = model.simulate(Design(np.full(20, 8), 6), np.random.default_rng(2)).corpus
    train, test = corpus.take(slice(0, 12)), corpus.take(slice(12, 20))
    fit = sample(model, train, chains=3, tune=5, draws=6, keep=3)
    stacked = stack_chains(fit, test)
    assert len(stacked.chains) == stacked.weights.size == 3
    assert all(score.n_draws == 3 for score in stacked.chains)
    assert stacked.mixture.perplexity <= min(score.perplexity for score in stacked.chains) + 1e-6
    alone = document_completion(posterior_predictives(fit, test, 0), test)
    np.testing.assert_array_equal(alone.log_probability, stacked.chains[0].log_probability)
    equal = log_score(np.full(3, 1 / 3), np.array([score.log_p for score in stacked.chains]))
    together = document_completion(posterior_predictives(fit, test), test)
    assert np.exp(-equal / together.n_scored.sum()) == pytest.approx(together.perplexity, rel=0.02)
    assert stacked.mixture.log_p.sum() >= equal - 1e-6
    without = sample(model, train, chains=2, tune=5, draws=6, keep=0)
    with pytest.raises(ValueError, match="expected at least one posterior draw"):
        stack_chains(without, test)

"""Gamma belief networks: densities, lengths, limits, new documents, mutants."""

from dataclasses import replace

import numpy as np
import pytest
from bnpzoo import Corpus
from bnpzoo.diagnostics.laboratory.ladder import Case
from bnpzoo.diagnostics.laboratory.oracle import Oracle, agrees_with_oracle
from bnpzoo.diagnostics.laboratory.subject import ModelSubject
from bnpzoo.kernels.poisson.pruned import normalise
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.families.poisson import layered
from bnpzoo.zoo.families.poisson.lengths import log_lengths
from bnpzoo.zoo.models import get
from chains import chain
from new_documents import proportions_in_three_ways
from samplers import as_plain_python
from scipy.stats import dirichlet, gamma

TOLERANCE = 5.0
"""Standard errors: with the normal law, a false alarm in any of 12 comparisons has probability 7e-6."""

HYPER = {"gamma": 2.1, "c": 0.6, "eta": 0.5}
SMALL = {"link_eta": 0.8, "rate_shape": 2.7, "rate_rate": 1.9}
TWO = Corpus([0, 0, 1, 1, 2, 2], [0, 3, 6], n_words=3)


def test_density_of_the_layers_is_that_of_scipy():
    model = get("gbn", n_topics=2, n_layers=3, **HYPER, **SMALL)
    latents, _ = model.simulate(Design(np.array([2, 3]), 4), np.random.default_rng(0))
    theta, link, rate, r = (latents[name] for name in ("theta", "link", "rate", "r"))
    expected = gamma.logpdf(r, 2.1 / 2, scale=1 / 0.6).sum()
    expected += gamma.logpdf(rate, 2.7, scale=1 / 1.9).sum()
    expected += sum(dirichlet.logpdf(row, [0.8, 0.8]) for row in link.reshape(-1, 2))
    expected += gamma.logpdf(theta[1], r, scale=1 / rate[1][:, None]).sum()
    expected += gamma.logpdf(theta[0], theta[1] @ link[1], scale=1 / rate[0][:, None]).sum()
    assert model.log_sticks(latents) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n_layers", [2, 3])
@pytest.mark.slow
def test_posterior_given_lengths_is_that_of_simulated_layers(n_layers):
    model = get("gbn", n_topics=2, n_layers=n_layers, length_shape=0.9, **HYPER, **SMALL)
    subject = ModelSubject(model, Design.of(TWO))
    oracle = Oracle.of_model(model, TWO)
    verdict = agrees_with_oracle(subject, oracle, TWO, draws=8000, false_alarm_rate=1e-5)
    assert verdict.passed, verdict
    given = Oracle.of_model(model.replaced(length_shape=0.0), TWO)
    assert not np.allclose(given.same_topic.mean, oracle.same_topic.mean, atol=0.01)


@pytest.mark.parametrize(
    "options",
    [
        {"n_topics": 1},
        {"n_layers": 8},
        {"gamma": 1e-6},
        {"link_eta": 1e-6},
        {"rate_shape": 1e-3},
        {"length_shape": 0.0, "gamma": 1e-6, "c": 1e6},
    ],
)
def test_extremes_are_finite(options):
    model = get("gbn", **{"n_topics": 3} | options)
    corpus = Corpus([0, 1, 2, 2], [0, 1, 1, 4], n_words=3)
    for latents in chain(model, corpus, 60):
        assert np.isfinite(model.log_joint(latents, corpus))
        assert all(np.isfinite(x).all() for x in model.quantities(latents, corpus).values())
        assert latents["theta"][0].sum(axis=1).min() > 0.0


@pytest.mark.parametrize("value", [1, 0, 2.5, True])
def test_a_wrong_number_of_layers_is_named(value):
    with pytest.raises(ValueError, match="gbn: n_layers: expected a whole number, 2 or more"):
        get("gbn", n_layers=value)


@as_plain_python
@pytest.mark.parametrize("n_layers", [2, 3])
def test_what_is_pruned_never_comes_back(n_layers):
    model = get("gbn", n_topics=8, n_layers=n_layers, gamma=0.5, c=1.0, eta=0.5)
    words = np.random.default_rng(0).integers(4, size=60)
    corpus = Corpus(words, np.arange(0, 61, 6), n_words=4)
    kernel, rng = model.kernel("pruned"), np.random.default_rng(1)
    assert not kernel.exact
    assert all(k.exact for name, k in model.kernels.items() if name != "pruned")
    state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
    gone = np.zeros((n_layers, 8), bool)
    for sweep in range(80):
        state = kernel.step(rng, state)
        kernel.check(state)
        latents = kernel.snapshot(state)
        if sweep == 40:  # what is pruned is known from the latents
            state = kernel.load(latents, corpus, model)
        here = np.array([latents["link"][0].sum(axis=0) == 0.0, *(latents["theta"].sum(axis=1) == 0.0)])
        assert not np.any(gone & ~here)
        assert not np.any(here[0][latents["z"]])
        assert np.isfinite(model.log_joint(latents, corpus))
        gone = here
    assert np.all(gone.sum(axis=1) > 0)
    assert np.all(gone.sum(axis=1) < 8)
    assert np.array_equal(gone[-1], latents["r"] == 0.0)


def test_a_link_of_which_nothing_is_left_is_spread_over_what_is_kept():
    links = np.array([[0.0, 0.0, 0.0], [0.2, 0.6, 0.0], [0.0, 0.0, 0.3]])
    normalise(links, np.array([True, True, False]))
    np.testing.assert_allclose(links, [[0.5, 0.5, 0.0], [0.25, 0.75, 0.0], [0.0, 0.0, 1.0]], rtol=1e-15)


@pytest.mark.slow
def test_pruning_has_another_law_than_the_posterior():
    model = get("gbn", n_topics=2, length_shape=0.9, **HYPER, **SMALL)
    subject = ModelSubject(model, Design.of(TWO), "pruned")
    oracle = Oracle.of_model(model, TWO)
    assert not agrees_with_oracle(subject, oracle, TWO, draws=2000, false_alarm_rate=1e-5).passed


def test_pruning_leaves_a_corpus_without_tokens_alone():
    model = get("gbn", n_topics=3, gamma=1.0, c=1.0, length_shape=0.0)
    corpus, kernel, rng = Corpus([], [0, 0], n_words=3), model.kernel("pruned"), np.random.default_rng(0)
    state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
    for _ in range(5):
        state = kernel.step(rng, state)
        kernel.check(state)
    assert kernel.snapshot(state)["r"].sum() > 0.0


NEW = Corpus([0, 1, 2, 2, 2], [0, 2, 5], n_words=3)


def predictive_and_truth(length_shape, draws=200_000):
    """Predictive of a posterior draw, and by simulation: p(words | length), and E[theta | words] of NEW."""
    model = get("gbn", n_topics=2, n_layers=3, length_shape=length_shape, **HYPER, **SMALL)
    (*_, latents) = chain(model, TWO, 20)
    predictive = model.predictive(latents, TWO)
    rng = np.random.default_rng(0)
    theta = layered.draw_documents(model, latents["r"][None], latents["link"][None], draws, rng)["theta"]
    alpha = np.maximum(theta[0, 0] @ latents["link"][0], 1e-300)
    shares = rng.gamma(alpha + 1.0) * rng.random(alpha.shape) ** (1.0 / alpha)
    shares = np.maximum(shares, 1e-300)
    shares /= shares.sum(axis=1, keepdims=True)
    found = []
    for words in (NEW.words[:2], NEW.words[2:]):
        weight = np.exp(log_lengths(alpha.sum(axis=1), np.array(words.size), length_shape))
        likelihood = weight * np.prod(shares @ predictive.words[:, words], axis=1)
        mean = likelihood @ shares / likelihood.sum()
        spread = ((shares - mean) * likelihood[:, None]).std(axis=0) / np.sqrt(draws) / likelihood.mean()
        log_p = np.log(likelihood.mean() / weight.mean())
        error = (likelihood / likelihood.mean() - weight / weight.mean()).std() / np.sqrt(draws)
        found.append((log_p, error, mean, spread))
    return predictive, found


@pytest.mark.parametrize("length_shape", [0.0, 0.9])
def test_new_documents_are_as_likely_as_simulated_ones(length_shape):
    predictive, truth = predictive_and_truth(length_shape)
    rng = np.random.default_rng(1)
    repeats = np.array([predictive.log_documents(NEW, rng, particles=400) for _ in range(20)])
    thetas = [proportions_in_three_ways(predictive, NEW, rng) for _ in range(8)]
    for d, (log_p, error, mean, spread) in enumerate(truth):
        found = np.exp(repeats[:, d] - log_p)
        assert abs(found.mean() - 1.0) < TOLERANCE * np.hypot(error, found.std(ddof=1) / np.sqrt(20))
        for theta in np.swapaxes(thetas, 0, 1):
            allowed = np.hypot(spread, theta[:, d].std(axis=0, ddof=1) / np.sqrt(8))  # Student, 7 degrees
            assert np.all(np.abs(theta[:, d].mean(axis=0) - mean) < 2.0 * TOLERANCE * allowed)


def test_new_documents_of_other_words_are_refused():
    model = get("gbn", n_topics=2, **HYPER)
    (latents,) = chain(model, TWO, 1)
    with pytest.raises(ValueError, match="expected the 3 words of the training vocabulary, found 4"):
        model.predictive(latents, TWO).check(replace(NEW, n_words=4, vocabulary=None))


@pytest.mark.heavy
@pytest.mark.parametrize("mutant", ["tokens-for-tables", "rates-from-prior"])
def test_mutants_die(judged, mutant):
    verdict = judged(Case("gbn", "sparse", "sequential", mutant=f"poisson-{mutant}"))
    assert verdict.status != "passed", verdict


def test_documents_of_next_to_no_mass_need_the_dense_sweep(judged):
    """Over Pitman-Yor topics: Dirichlet ones add their mass up anew where little of it is left."""
    layers = '{"n_layers": 3}'
    case = Case("gbn", "forced", "joint", mutant="poisson-guard-dropped", topics="pitman-yor", options=layers)
    assert judged(case).status != "passed"
    assert judged(replace(case, mutant="")).status == "passed"
    assert judged(Case("gbn", "sparse", "joint", options=layers)).status == "passed"

"""Poisson factor analysis with a probability a topic: laws, lengths, limits, new documents, mutants."""

import itertools

import numpy as np
import pytest
from bnpzoo import Corpus
from bnpzoo.diagnostics.laboratory.ladder import Case
from bnpzoo.diagnostics.laboratory.oracle import Oracle, agrees_with_oracle
from bnpzoo.diagnostics.laboratory.subject import ModelSubject
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.families.poisson import convolved, family
from bnpzoo.zoo.models import get
from bnpzoo.zoo.priors import Gamma
from chains import chain
from new_documents import proportions_in_three_ways
from scipy.special import gammaln, xlogy
from scipy.stats import beta, chisquare, gamma, nbinom

TOLERANCE = 5.0
"""Standard errors: with the normal law, a false alarm in any of 12 comparisons has probability 7e-6."""

R, LOG_ODDS = np.array([0.7, 2.1, 0.2]), np.array([-0.3, 0.8, 1.9])
P = 1.0 / (1.0 + np.exp(-LOG_ODDS))
TWO = Corpus([0, 0, 1, 1, 2, 2], [0, 3, 6], n_words=3)
HYPER = {"gamma": 1.3, "c": 0.7}
SHAPES = {"p_mean": 0.4, "p_concentration": 2.5}


def of_one_document(most):
    """Probability of each length of a document up to `most`."""
    found = np.eye(1, most + 1)[0]
    for r, p in zip(R, P, strict=True):
        found = np.convolve(found, nbinom.pmf(np.arange(most + 1), r, 1.0 - p))[: most + 1]
    return found


def test_lengths_are_sums_of_negative_binomial_variables():
    lengths = np.array([0, 3, 7, 1, 12])
    expected = np.log(of_one_document(12)[lengths]) + gammaln(lengths + 1.0)
    assert convolved.log_lengths(R, LOG_ODDS, lengths) == pytest.approx(expected.sum(), rel=1e-12)


@pytest.mark.parametrize("lengths", [(0, 0), (5,), (4, 1, 0, 3, 2), (2, 2, 2, 9), (180,)])
def test_no_weights_make_lengths_likelier_than_the_bound(lengths):
    rng, lengths = np.random.default_rng(0), np.array(lengths)
    bound = convolved.highest_log_lengths(lengths)
    for _ in range(500):
        r, log_odds = np.exp(rng.uniform(-8.0, 8.0, 2)), rng.uniform(-12.0, 5.0, 2)
        assert convolved.log_lengths(r, log_odds, lengths) <= bound
    n = lengths[:, None]
    one_rate = np.linspace(0.0, lengths.max() + 1.0, 500)
    best = np.sum(xlogy(n, one_rate) - one_rate, axis=0).max()  # of a mixture that is no mixture
    assert -1e-3 <= bound - best < 3.0


@pytest.mark.parametrize("lengths", [(300, 2), (5000, 40, 1)])
def test_the_bound_is_close_where_lengths_are_far_apart(lengths):
    n = np.array(lengths)
    best = np.sum(xlogy(n, n) - n - np.log(n.size))  # a rate for each length, all as likely
    assert convolved.highest_log_lengths(n) == pytest.approx(best, abs=0.02)


def test_counts_given_a_length_are_those_whose_sum_it_is():
    n, draws = 3, 20_000
    found = convolved.draw_counts(R, LOG_ODDS, np.full(draws, n), np.random.default_rng(0))
    assert np.all(found.sum(axis=1) == n)
    every = [c for c in itertools.product(range(n + 1), repeat=3) if sum(c) == n]
    law = np.array([np.prod(nbinom.pmf(c, R, 1.0 - P)) for c in every])
    observed = [np.count_nonzero((found == c).all(axis=1)) for c in every]
    assert chisquare(observed, draws * law / law.sum()).pvalue > 1e-5


def test_law_of_topics_is_that_of_simulated_weights():
    model = get("bgg", n_topics=2, eta=0.5, **HYPER, **SHAPES)
    rng, n = np.random.default_rng(0), 200_000
    r = np.maximum(rng.gamma(HYPER["gamma"] / 2, size=(n, 2)), 1e-300) / HYPER["c"]
    p = rng.beta(*model.p_shapes, (n, 2))
    rising = gammaln(r[:, :, None] + np.arange(4)) - gammaln(r)[:, :, None]
    for z in itertools.product(range(2), repeat=6):
        log_p = 2.0 * np.sum(r * np.log1p(-p), axis=1) + sum(np.log(p[:, k]) for k in z)
        for words, k in itertools.product((z[:3], z[3:]), range(2)):
            log_p += rising[:, k, words.count(k)]
        mean, error = np.exp(log_p).mean(), np.exp(log_p).std() / np.sqrt(n)
        at = np.array(z)
        exact = np.exp(
            model.log_marginal(at, TWO, HYPER | {"eta": 0.5}) - model.log_words(at, TWO, {"eta": 0.5})
        )
        assert abs(mean - exact) < TOLERANCE * error, z


def test_densities_are_those_of_scipy():
    model = get("bgg", n_topics=3, eta=0.5, **HYPER, **SHAPES)
    latents = {"z": np.array([0, 1, 2, 1, 1, 0]), "r": R, "log_odds": LOG_ODDS, "gamma": 1.3, "c": 0.7}
    of_weights = gamma.logpdf(R, 1.3 / 3, scale=1 / 0.7).sum()
    of_weights += np.sum(beta.logpdf(P, *model.p_shapes) + np.log(P * (1.0 - P)))
    assert model.log_sticks(latents) == pytest.approx(of_weights, rel=1e-12)
    counts = np.array([[1, 1, 1], [1, 2, 0]])
    of_counts = nbinom.logpmf(counts, R, 1.0 - P).sum() + gammaln(counts + 1.0).sum()
    found = model.log_assignments(latents, TWO) + model.log_lengths(latents, TWO)
    assert found == pytest.approx(of_counts, rel=1e-12)


@pytest.mark.slow
def test_lengths_that_are_drawn_and_that_are_given_have_the_same_weights():
    model = get("bgg", n_topics=2, **HYPER, **SHAPES)
    rng, design = np.random.default_rng(0), Design(np.array([2, 1]), 1)
    given = [model.simulate(design, rng).latents["r"].sum() for _ in range(1000)]
    drawn = []
    while len(drawn) < 150:
        latents, corpus = model.simulate_lengths(design, rng)
        if corpus.doc_lengths.tolist() == [2, 1]:
            drawn.append(latents["r"].sum())
    error = np.hypot(np.std(given) / np.sqrt(len(given)), np.std(drawn) / np.sqrt(len(drawn)))
    assert abs(np.mean(given) - np.mean(drawn)) < TOLERANCE * error


@pytest.mark.heavy
def test_posterior_with_sampled_hyperparameters_is_the_enumerated_one():
    prior = {"gamma": Gamma(6.0, 1.5), "c": Gamma(4.0, 4.0), "eta": Gamma(2.0, 2.0)}
    model = get("bgg", n_topics=2, **SHAPES, **prior)
    oracle = Oracle.of_model(model, TWO, nodes=16)
    verdict = agrees_with_oracle(
        ModelSubject(model, Design.of(TWO)), oracle, TWO, draws=8000, false_alarm_rate=1e-5
    )
    assert verdict.passed, verdict


@pytest.mark.parametrize(
    "options",
    [
        {"n_topics": 1},
        {"gamma": 1e-6},
        {"gamma": 1e-6, "c": 1e6},
        {"p_mean": 1e-6, "p_concentration": 1e-3},
        {"p_mean": 1.0 - 1e-6, "p_concentration": 1e3},
        {"topics": "belief-network", "width": 30},
    ],
)
def test_extremes_are_finite(options):
    model = get("bgg", **{"n_topics": 3} | options)
    corpus = Corpus([0, 1, 2, 2], [0, 1, 1, 4], n_words=3)
    for latents in chain(model, corpus, 60):
        assert np.isfinite(model.log_joint(latents, corpus))
        assert all(np.isfinite(x).all() for x in model.quantities(latents, corpus).values())


NEW = Corpus([0, 1, 2, 2, 2], [0, 2, 5], n_words=3)


def test_new_documents_are_as_likely_as_simulated_ones():
    """All topics of their tokens summed out; proportions of rates by simulation given the topics."""
    model = get("bgg", n_topics=3, eta=0.5, **HYPER, **SHAPES)
    (*_, latents) = chain(model, TWO, 20)
    latents |= {"r": R, "log_odds": LOG_ODDS}
    predictive, rng = model.predictive(latents, TWO), np.random.default_rng(0)
    log_p = np.array([predictive.log_documents(NEW, rng, particles=400) for _ in range(20)])
    thetas = [proportions_in_three_ways(predictive, NEW, rng) for _ in range(12)]
    for d, words in enumerate((NEW.words[:2], NEW.words[2:])):
        total, mean = 0.0, np.zeros(3)
        for z in itertools.product(range(3), repeat=words.size):
            counts = np.bincount(z, minlength=3)
            ways = np.exp(np.sum(gammaln(counts + 1.0)) - gammaln(words.size + 1.0))
            weight = (
                ways * np.prod(nbinom.pmf(counts, R, 1.0 - P)) * np.prod(predictive.words[list(z), words])
            )
            rates = rng.gamma(R + counts, P, (20_000, 3))
            total += weight
            mean += weight * np.mean(rates / rates.sum(axis=1, keepdims=True), axis=0)
        expected = total / of_one_document(words.size)[-1]
        found = np.exp(log_p[:, d]) / expected
        assert abs(found.mean() - 1.0) < TOLERANCE * found.std(ddof=1) / np.sqrt(20)
        for theta in np.swapaxes(thetas, 0, 1):
            allowed = np.hypot(theta[:, d].std(axis=0, ddof=1) / np.sqrt(12), 0.5 / np.sqrt(20_000))
            assert np.all(np.abs(theta[:, d].mean(axis=0) - mean / total) < 2.0 * TOLERANCE * allowed)


def test_a_new_document_of_one_word_is_as_likely_under_frozen_topics():
    """Also where a topic is bursty: given the length its weight is p r, not p r / (1 - p)."""
    model, corpus = get("bgg", n_topics=3, eta=0.5), Corpus([0, 0, 1, 1, 2, 2], [0, 2, 4, 6], n_words=3)
    weights = {"r": np.array([0.3, 0.6, 0.9]), "log_odds": np.array([8.0, 0.0, -1.0])}
    latents = {"z": corpus.words.astype(int), "gamma": 3.0, "c": 1.0, "eta": 0.5} | weights
    one_word_each = Corpus([0, 1, 2], [0, 1, 2, 3], n_words=3)
    predictive, frozen = model.predictive(latents, corpus), model.frozen_topics(latents, corpus)
    log_p = predictive.log_documents(one_word_each, np.random.default_rng(0), particles=1)
    mass = weights["r"].sum()
    np.testing.assert_allclose(frozen.prior.sum(), mass, rtol=1e-12)
    np.testing.assert_allclose(frozen.prior[0] / mass @ frozen.words, np.exp(log_p), rtol=1e-10)


def test_completion_is_by_the_mean_proportions():
    model = get("bgg", n_topics=2, eta=0.5, **HYPER, **SHAPES)
    (*_, latents) = chain(model, TWO, 20)
    predictive = model.predictive(latents, TWO)
    found = predictive.log_completion(NEW, NEW, np.random.default_rng(3), burn_in=5, sweeps=10)
    theta = predictive.proportions(NEW, np.random.default_rng(3), burn_in=5, sweeps=10)
    np.testing.assert_allclose(
        found, np.log(np.sum(theta[NEW.doc_of] * predictive.words.T[NEW.words], axis=1))
    )


@pytest.mark.parametrize(("name", "value"), [("p_mean", 1.0), ("p_mean", 0.0), ("p_concentration", 0.0)])
def test_wrong_shapes_are_named(name, value):
    with pytest.raises(ValueError, match=f"bgg: {name}: expected a .*number"):
        get("bgg", **{name: value})


def test_pitman_yor_topics_are_refused():
    with pytest.raises(ValueError, match="bgg: topics: there are dirichlet, belief-network, found"):
        get("bgg", topics="pitman-yor")


def test_lengths_that_nobody_has_are_refused(monkeypatch):
    monkeypatch.setattr(family, "MOST_ATTEMPTS", 100)
    model = get("bgg", gamma=1e-3, c=1e4)
    with pytest.raises(ValueError, match=r"bgg: none of .* draws from the prior had .* simulate_lengths"):
        model.simulate(Design(np.array([90, 90, 90]), 2), np.random.default_rng(0))


def test_lengths_without_bounds_are_refused():
    model = get("bgg", gamma=1.0, c=1.0, p_mean=0.999, p_concentration=1e-3)
    with pytest.raises(ValueError, match="p_concentration: expected a larger one than"):
        model.simulate_lengths(Design(np.array([2, 2]), 2), np.random.default_rng(0))


@pytest.mark.heavy
@pytest.mark.parametrize("mutant", ["probability-forgotten", "gamma-of-all-topics"])
def test_mutants_die(judged, mutant):
    verdict = judged(Case("bgg", "parallel", "sequential", mutant=f"poisson-{mutant}"))
    assert verdict.status != "passed", verdict


@pytest.mark.heavy
def test_the_right_sampler_lives(judged):
    verdict = judged(Case("bgg", "parallel", "sequential"))
    assert verdict.status == "passed", verdict

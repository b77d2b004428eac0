"""Poisson factor analysis: laws by simulation and by hand, lengths, limits, mutants."""

import itertools
import json

import numpy as np
import pytest
from bnpzoo import Corpus
from bnpzoo.diagnostics.laboratory.ladder import Case
from bnpzoo.diagnostics.laboratory.mutants.poisson import MUTANTS
from bnpzoo.diagnostics.laboratory.oracle import Oracle, agrees_with_oracle
from bnpzoo.diagnostics.laboratory.subject import ModelSubject
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.families.poisson.lengths import draw_lengths, highest_log_lengths, log_lengths
from bnpzoo.zoo.models import get
from bnpzoo.zoo.priors import Gamma
from chains import chain
from samplers import on_rung
from scipy import integrate
from scipy.special import betaln, digamma, gammaln
from scipy.stats import gamma as gamma_law

TOLERANCE = 5.0
"""Standard errors: with the normal law, a false alarm in any of 12 comparisons has probability 7e-6."""

TWO = Corpus([0, 0, 1, 1, 2, 2], [0, 3, 6], n_words=3)
HYPER = {"gamma": 1.3, "c": 0.7}
SHAPE = 0.9


def simulated_law(n, n_topics, seed):
    """Probability of each assignment of TWO and of its lengths, from simulated weights; and its error."""
    rng = np.random.default_rng(seed)
    r = np.maximum(rng.gamma(HYPER["gamma"] / n_topics, size=(n, n_topics)), 1e-300) / HYPER["c"]
    lengths = 2 * (betaln(SHAPE + 3, SHAPE + r.sum(axis=1)) - betaln(SHAPE, SHAPE))
    rising = gammaln(r[:, :, None] + np.arange(4)) - gammaln(r)[:, :, None]
    for z in itertools.product(range(n_topics), repeat=6):
        log_p = lengths.copy()
        for words in (z[:3], z[3:]):
            for k in range(n_topics):
                log_p += rising[:, k, words.count(k)]
        yield np.array(z), np.exp(log_p).mean(), np.exp(log_p).std() / np.sqrt(n)


def test_law_of_topics_is_that_of_simulated_weights():
    model = get("pfa", n_topics=2, length_shape=SHAPE, eta=0.5, **HYPER)
    for z, mean, error in simulated_law(100_000, 2, 0):
        exact = np.exp(
            model.log_marginal(z, TWO, HYPER | {"eta": 0.5}) - model.log_words(z, TWO, {"eta": 0.5})
        )
        assert abs(mean - exact) < TOLERANCE * error, z


def test_lengths_that_are_given_leave_an_hdp_whose_alpha_is_the_mass():
    model, hdp = get("pfa", length_shape=0.0, **HYPER), get("hdp")
    for z in ([0, 0, 1, 1, 2, 0], [0, 0, 0, 0, 0, 0], [0, 1, 2, 3, 4, 5]):
        at = np.array(z)

        def density(x, at=at):
            hyper = {"gamma": HYPER["gamma"], "alpha": np.array(np.exp(x)), "eta": 0.5}
            of_alpha = gamma_law.pdf(np.exp(x), HYPER["gamma"], scale=1.0 / HYPER["c"]) * np.exp(x)
            return of_alpha * np.exp(hdp.log_marginal(at, TWO, hyper))

        expected = integrate.quad(density, -30.0, 8.0, limit=200)[0]
        assert np.exp(model.log_marginal(at, TWO, HYPER | {"eta": 0.5})) == pytest.approx(expected, rel=1e-6)


def test_many_topics_are_the_process():
    """Of K topics, the probability of a partition is that of all labels that say it, to order 1 / K."""
    process = get("pfa", length_shape=SHAPE, **HYPER)
    z, hyper = np.array([0, 0, 1, 1, 2, 0]), HYPER | {"eta": 0.5}
    exact = process.log_marginal(z, TWO, hyper)
    gaps = []
    for n_topics in (400, 800):
        finite = get("pfa", length_shape=SHAPE, n_topics=n_topics, **HYPER).log_marginal(z, TWO, hyper)
        labels = np.sum(np.log(n_topics - np.arange(3)))
        gaps.append(finite + labels - exact)
    assert abs(gaps[1]) < 2e-4
    assert gaps[0] / gaps[1] == pytest.approx(2.0, rel=0.1)


@pytest.mark.parametrize("n", [0, 1, 7])
def test_lengths_are_drawn_from_their_law(n):
    mass, shape, draws = 2.5, 3.0, 40_000
    p = np.exp(log_lengths(np.array(mass), np.array(n), shape) - gammaln(n + 1.0))
    found = np.mean(draw_lengths(np.full(draws, mass), shape, np.random.default_rng(n)) == n)
    assert abs(found - p) < TOLERANCE * np.sqrt(p * (1 - p) / draws)


@pytest.mark.parametrize("shape", [0.0, 0.01, SHAPE, 40.0])
@pytest.mark.parametrize("lengths", [(0, 0), (1,), (4, 1, 0, 3, 2), (1, 80)])
def test_no_mass_makes_lengths_likelier_than_the_bound(shape, lengths):
    bound = highest_log_lengths(lengths, shape)
    mass = np.exp(np.random.default_rng(0).uniform(-30.0, 30.0, 2000))
    found = log_lengths(mass[:, None], np.array(lengths), shape).sum(axis=1).max()
    assert found <= bound
    assert bound - found < 0.2 or found < -10.0 or shape == 0.01  # which is flat far beyond these masses


@pytest.mark.slow
def test_weights_given_lengths_are_those_whose_lengths_match():
    """Rejection on the probability of the lengths, against rejection on lengths that are drawn."""
    model = get("pfa", n_topics=2, length_shape=3.0, **HYPER)
    rng, design = np.random.default_rng(0), Design(np.array([2, 1]), 1)
    given = [model.simulate(design, rng).latents["r"].sum() for _ in range(3000)]
    drawn = []
    while len(drawn) < 300:
        latents, corpus = model.simulate_lengths(design, rng)
        if corpus.doc_lengths.tolist() == [2, 1]:
            drawn.append(latents["r"].sum())
    error = np.hypot(np.std(given) / np.sqrt(len(given)), np.std(drawn) / np.sqrt(len(drawn)))
    assert abs(np.mean(given) - np.mean(drawn)) < TOLERANCE * error


@pytest.mark.parametrize("n_topics", [0, 2])
@pytest.mark.slow
def test_posterior_with_sampled_hyperparameters_is_the_enumerated_one(n_topics):
    prior = {"gamma": Gamma(6.0, 1.5), "c": Gamma(4.0, 4.0), "eta": Gamma(2.0, 2.0)}
    model = get("pfa", n_topics=n_topics, length_shape=2.0, **prior)
    subject = ModelSubject(model, Design.of(TWO))
    oracle = Oracle.of_model(model, TWO, nodes=16)
    verdict = agrees_with_oracle(subject, oracle, TWO, draws=4000, false_alarm_rate=1e-5)
    assert verdict.passed, verdict


@pytest.mark.parametrize(
    "hyper", [{"gamma": 1e-6, "c": 1.0}, {"gamma": 1.0, "c": 1e6}, {"gamma": 0.01, "c": 1e-6}]
)
@pytest.mark.parametrize("n_topics", [0, 1, 4])
def test_extreme_weights_are_finite(hyper, n_topics):
    model = get("pfa", n_topics=n_topics, eta=0.5, **hyper)
    corpus = Corpus([0, 1, 2, 2], [0, 1, 1, 4], n_words=3)
    for latents in chain(model, corpus, 50):
        assert np.isfinite(model.log_joint(latents, corpus))
        assert all(np.isfinite(x).all() for x in model.quantities(latents, corpus).values())


def test_default_priors_start_and_stay_finite():
    corpus = Corpus(np.arange(40) % 5, np.arange(0, 41, 4), n_words=5)
    for n_topics in (0, 10):
        (*_, last) = chain(get("pfa", n_topics=n_topics), corpus, 100)
        assert last["gamma"] > 1e-3


def test_a_corpus_without_tokens_is_a_draw_from_the_prior():
    model = get("pfa", n_topics=3, length_shape=0.0, gamma=Gamma(3.0, 2.0), c=1.0)
    corpus = Corpus([], [0, 0, 0], n_words=2)
    drawn = [float(latents["gamma"]) for latents in chain(model, corpus, 2000)]
    # no token, no table: draws are independent
    assert abs(np.mean(drawn) - 1.5) < TOLERANCE * np.sqrt(0.75 / len(drawn))


def last_of(model, corpus, variant, n):
    """Latents after `n` sweeps of a variant, each state compared with a recount."""
    kernel, rng = model.kernel(variant), np.random.default_rng(0)
    started = model.initial_latents(corpus, np.random.default_rng(1)) | {"eta": np.array(0.3)}
    state = kernel.load(started, corpus, model)
    for _ in range(n):
        state = kernel.step(rng, state)
        kernel.check(state)
    return kernel.snapshot(state)


@pytest.mark.parametrize("n_topics", [0, 4])
def test_eta_of_mallet_is_the_most_likely_one_whatever_its_prior(n_topics):
    rng = np.random.default_rng(2)
    topic = rng.integers(4, size=600)
    words = (rng.dirichlet(np.full(30, 0.2), 4).cumsum(axis=1)[topic] < rng.random((600, 1))).sum(axis=1)
    corpus = Corpus(words, np.arange(0, 601, 20), n_words=30)
    found = [
        last_of(get("pfa", n_topics=n_topics, eta=prior), corpus, "mallet", 20)
        for prior in (Gamma(1.0, 10.0), Gamma(50.0, 1.0))
    ]
    for name, value in found[0].items():
        np.testing.assert_array_equal(value, found[1][name], err_msg=name)
    counts = np.zeros((30, found[0]["z"].max() + 1))
    np.add.at(counts, (words, found[0]["z"]), 1)
    eta = float(found[0]["eta"])

    def slope(eta):
        mass = 30 * eta
        of_words = np.sum(digamma(eta + counts) - digamma(eta))
        return of_words - 30 * np.sum(digamma(mass + counts.sum(axis=0)) - digamma(mass))

    assert slope(0.999 * eta) > 0.0 > slope(1.001 * eta)
    assert not get("pfa").kernels["mallet"].exact
    assert all(kernel.exact for name, kernel in get("pfa").kernels.items() if name != "mallet")


def test_mallet_has_another_law_than_the_posterior():
    model = get("pfa", n_topics=2, length_shape=2.0, eta=Gamma(2.0, 2.0), **HYPER)
    subject = ModelSubject(model, Design.of(TWO), "mallet")
    oracle = Oracle.of_model(model, TWO, nodes=16)
    assert not agrees_with_oracle(subject, oracle, TWO, draws=2000, false_alarm_rate=1e-5).passed


def test_eta_of_mallet_stays_where_it_is_fixed_and_is_finite_at_the_edges():
    one_each, alike = Corpus([0, 1, 2], [0, 1, 2, 3], n_words=3), Corpus([0, 0, 0], [0, 3], n_words=3)
    for corpus in (one_each, alike, Corpus([], [0, 0], n_words=3)):
        assert 0.0 < last_of(get("pfa", n_topics=2), corpus, "mallet", 60)["eta"] < np.inf
    assert last_of(get("pfa", n_topics=2, eta=0.3), one_each, "mallet", 3)["eta"] == 0.3


def test_mallet_is_for_dirichlet_topics():
    with pytest.raises(ValueError, match="no variant 'mallet'"):
        get("pfa", topics="belief-network").kernel("mallet")


@pytest.mark.parametrize("value", [-1, 2.5, True])
def test_a_wrong_number_of_topics_is_named(value):
    with pytest.raises(ValueError, match="pfa: n_topics: expected a whole number, 0 for no limit"):
        get("pfa", n_topics=value)


def test_lengths_that_nobody_has_are_refused():
    model = get("pfa", gamma=1e-3, c=1e4, length_shape=50.0)
    with pytest.raises(ValueError, match=r"pfa: none of .* draws from the prior had .* length_shape=0"):
        model.simulate(Design(np.array([90, 90, 90]), 2), np.random.default_rng(0))


def test_lengths_without_bounds_are_refused():
    with pytest.raises(ValueError, match="length_shape: expected a larger one than"):
        draw_lengths(np.ones(50), 0.001, np.random.default_rng(0))


DYING = [
    ("tables-of-all-topics", 3, "sequential"),
    ("share-of-all", 3, "sequential"),
    ("exposure-forgotten", 0, "sequential"),
    ("length-turned-around", 0, "geweke"),
    ("c-without-rest", 0, "geweke"),
    ("dropped-weight-lost", 0, "geweke"),
]


@pytest.mark.heavy
@pytest.mark.parametrize(("mutant", "n_topics", "rung"), DYING)
def test_mutants_die(judged, mutant, n_topics, rung):
    options = json.dumps({"n_topics": n_topics})
    verdict = judged(Case("pfa", "sparse", rung, mutant=f"poisson-{mutant}", options=options))
    assert verdict.status != "passed", verdict


@pytest.mark.parametrize("rung", [on_rung(rung) for rung in ("joint", "sequential")])
@pytest.mark.slow
def test_right_samplers_live(judged, rung):
    for n_topics in (0, 3):
        options = json.dumps({"n_topics": n_topics})
        verdict = judged(Case("pfa", "sparse", rung, options=options))
        assert verdict.status == "passed", verdict


def test_there_are_enough_mutants():
    for concerned in ("pfa", "bgg", "gbn", "metalda"):
        model = get(concerned)
        assert sum(isinstance(model, mutant.concerns) for mutant in MUTANTS) >= 6


def test_samplers_in_threads_open_no_topics():
    assert "parallel" in get("pfa", n_topics=3).kernels
    assert "parallel" not in get("pfa").kernels

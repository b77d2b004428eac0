"""As many topics as are needed, for all models of sentences: the law, the generator, and moves of tokens."""

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.mutants.registry import mutants_of
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, Change, load_room
from bnpzoo.diagnostics.laboratory.token_law import joint
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.families.hdp.sticks import log_gem
from bnpzoo.zoo.families.segments.order import Seating
from bnpzoo.zoo.families.segments.vectors import draw_topics
from bnpzoo.zoo.models import get
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp

MODELS = ("was", "sbp", "tjb_hdp", "mqr_hdp", "icd", "ordered_sbp")
CORPUS = Corpus([0, 1, 0, 1, 1], [0, 3, 5], n_words=2, segment_ptr=[0, 2, 3, 4, 5])
LITTLE_ROOM = Change("toolbox/sides.py", "ROOM = 64", "ROOM = 1")


def model_of(name, purpose="fixed", **arguments):
    return get(name, n_topics=0, **arguments).set_to(purpose)


def hyper_of(model):
    return {name: np.asarray(float(value)) for name, value in model.hyperparameters().items()}


@pytest.mark.parametrize("name", MODELS)
def test_probabilities_of_topics_sum_to_one(name):
    """Over all partitions of the tokens; those of `icd` to the probability of the lengths."""
    model = model_of(name)
    hyper, seats = hyper_of(model), model.seats(Design.of(CORPUS))
    found = [
        model.log_marginal(z, CORPUS, hyper) - model.log_likelihood({"z": z} | hyper, CORPUS)
        for z in model.assignments(CORPUS)
    ]
    assert len(found) == 52
    of_dishes = [
        logsumexp(model.dish_laws(Seating(*(x[own] for x in seats)), hyper)[1])
        for own in (slice(0, 3), slice(3, 5))
    ]
    assert logsumexp(found) == pytest.approx(sum(of_dishes), abs=1e-12)
    if name != "icd":
        assert sum(of_dishes) == pytest.approx(0.0, abs=1e-12)


def test_two_tokens_by_hand():
    """At one dish with probability 1 / (1 + b); then at one table of it, or at two that share their topic."""
    b, kappa, tau = 0.8, 0.6, 1.7
    model = get("ordered_sbp", n_topics=0, a=1.0, b=b, kappa=kappa, tau=tau, eta=0.5)
    corpus = Corpus([0, 0], [0, 2], n_words=1)
    at_one, of_two = 1.0 / (1.0 + b), 1.0 / (1.0 + tau)
    same = at_one * (1.0 + kappa * of_two) / (1.0 + kappa) + (1.0 - at_one) * of_two
    found = np.exp(model.log_marginal(np.array([0, 0]), corpus, hyper_of(model)))
    assert found == pytest.approx(same, abs=1e-14)


@pytest.mark.parametrize("name", MODELS)
def test_weights_of_topics_integrated_out_give_the_sum_over_tables(name):
    """Of one topic, and of two. At a tau of 2 the density is a polynomial, and Gauss' quadrature exact."""
    model = model_of(name).replaced(tau=2.0)
    corpus = Corpus([0, 1, 0], [0, 2, 3], n_words=2, segment_ptr=[0, 1, 2, 3])
    seats, hyper = model.seats(Design.of(corpus)), hyper_of(model)
    first, second = (
        model.dish_laws(Seating(*(x[own] for x in seats)), hyper) for own in (slice(2), slice(2, 3))
    )

    def density(z, *sticks):
        root = np.array([*sticks, 1.0 - sum(sticks)])
        at = hyper | {"z": z, "root": root}
        terms = [
            p + q + model.log_topics(at | {"dish": np.append(row, other)}, seats)
            for row, p in zip(*first, strict=True)
            for other, q in zip(*second, strict=True)
        ]
        return np.exp(logsumexp(terms) + log_gem(root, hyper["tau"]) + model.log_likelihood(at, corpus))

    x, w = np.polynomial.legendre.leggauss(8)
    x, w = (x + 1.0) / 2.0, w / 2.0
    one, two = np.array([0, 0, 0]), np.array([0, 1, 0])
    of_one = sum(v * density(one, y) for y, v in zip(x, w, strict=True))
    of_two = sum(
        v * u * (1.0 - y) * density(two, y, (1.0 - y) * t)
        for y, v in zip(x, w, strict=True)
        for t, u in zip(x, w, strict=True)
    )
    for z, found in ((one, of_one), (two, of_two)):
        assert np.log(found) == pytest.approx(model.log_marginal(z, corpus, hyper), abs=1e-11)


@pytest.mark.parametrize("name", MODELS)
def test_joint_density_has_that_of_the_weights(name):
    model = model_of(name, **({} if name == "ordered_sbp" else {"window": 2}))
    latents, corpus = model.simulate(Design(np.array([5, 0, 4]), 3), np.random.default_rng(0))
    seats = model.seats(Design.of(corpus))
    parts = (
        log_gem(latents["root"], float(latents["tau"])),
        model.log_dishes(latents, seats),
        model.log_topics(latents, seats),
        model.log_likelihood(latents, corpus),
    )
    assert model.log_joint(latents, corpus) == pytest.approx(sum(parts), abs=1e-10)


@pytest.mark.slow
def test_topics_are_drawn_from_their_law():
    """P(z_0 = z_1) at one dish, and at two; six standard errors, a false alarm in 5e8 each."""
    kappa, tau, n = 0.7, 1.3, 40_000
    rng = np.random.default_rng(0)
    for dish, share in (([0, 0], (1.0 + kappa / (1.0 + tau)) / (1.0 + kappa)), ([0, 1], 1.0 / (1.0 + tau))):
        drawn = [draw_topics(np.array(dish), kappa, tau, rng) for _ in range(n)]
        same = np.mean([z[0] == z[1] for z, _ in drawn])
        assert abs(same - share) < 6.0 * np.sqrt(share * (1.0 - share) / n)
        rest = np.array([root[-1] for _, root in drawn])  # of tau and one table, or two
        tables = np.where([z[0] == z[1] for z, _ in drawn], np.nan, 2.0)
        expected = tau / (tau + tables)
        kept = ~np.isnan(expected)
        assert abs((rest - expected)[kept].mean()) < 6.0 * rest[kept].std() / np.sqrt(kept.sum())


@pytest.mark.parametrize("name", MODELS)
def test_law_of_a_token(name):
    """That among topics in use; what opens a topic has a density of its own."""
    model = model_of(name, "prior", **({} if name == "ordered_sbp" else {"window": 2}))
    kernel = model.kernels_in(load_room(PLAIN_PYTHON))["blocked"]
    verdict = joint(name, kernel, model, Design(np.array([4, 0, 5, 3]), 4), states=15)
    assert verdict.passed, verdict


def test_a_weight_that_is_not_split_is_noticed():
    """What is left, and all topics together, have too much weight for the tokens that follow."""
    (mutant,) = (m for m in mutants_of(get("was", n_topics=0)) if m.id == "topics-rest-not-split")
    model = model_of("was", "prior", window=2)
    kernel = model.kernels_in(load_room(mutant.change, PLAIN_PYTHON))["blocked"]
    verdict = joint("was", kernel, model, Design(np.array([4, 0, 5, 3]), 4), states=60)
    assert verdict.status == "rejected", verdict


@pytest.mark.parametrize("name", MODELS)
def test_mutants_of_the_law_of_topics(name):
    with_number, without = (
        {m.id for m in mutants_of(get(name, **arguments)) if m.id.startswith("topics-")}
        for arguments in ({}, {"n_topics": 0})
    )
    assert not with_number
    assert len(without) >= 6


@pytest.mark.parametrize(
    ("name", "variant"),
    [(name, "blocked") for name in MODELS] + [("was", "past_only"), ("was", "as_if_last")],
)
def test_a_pass_that_runs_out_of_room_goes_on(name, variant):
    """With room for one more topic at first. A first pass has the bits that it has with room for many.

    Later, a document that is entered again has its dishes in another order; so have those of `past_only`.
    """
    model = model_of(name, "prior", **({} if name == "ordered_sbp" else {"window": 3})).replaced(tau=30.0)
    corpus = Corpus(np.arange(24) % 12, [0, 9, 9, 17, 24], n_words=12)
    chains = []
    for changes in ((), (LITTLE_ROOM,)):
        kernel = model.kernels_in(load_room(*changes, PLAIN_PYTHON))[variant]
        rng = np.random.default_rng(0)
        state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
        state = kernel.step(rng, state)
        chains.append(kernel.snapshot(state))
        for _ in range(4):
            kernel.check(state)
            state = kernel.step(rng, state)
        kernel.check(state)
    assert chains[0]["root"].size > 3
    if variant != "past_only":
        for key, value in chains[0].items():
            assert_array_equal(value, chains[1][key])


def test_weights_that_do_not_sum_to_one_are_noticed():
    model = model_of("was", window=2)
    latents, corpus = model.simulate(Design(np.array([6, 4]), 3), np.random.default_rng(0))
    kernel = model.kernels["blocked"]
    state = kernel.load(latents, corpus, model)
    kernel.check(state)
    assert_allclose(state.law.vectors.base, model.kappa * state.law.vectors.root)
    state.law.vectors.root[0] += 0.1
    with pytest.raises(AssertionError, match="weights of topics do not sum to one"):
        kernel.check(state)

"""Truncated sticks of sentences: the law by hand, exact moves, references, new documents."""

from itertools import product

import jax
import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.oracle import Oracle, agrees_with_oracle, invariance_residual
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, Change, load_room
from bnpzoo.diagnostics.laboratory.subject import ModelSubject
from bnpzoo.diagnostics.laboratory.token_law import outcomes
from bnpzoo.kernels.segments import truncated
from bnpzoo.kernels.segments.particles import Sticks
from bnpzoo.zoo.contract import Design, FrozenTopics, Probes
from bnpzoo.zoo.corpus import Corpus, CorpusError
from bnpzoo.zoo.families.segments.predictive import SegmentsPredictive
from bnpzoo.zoo.models import get
from bnpzoo.zoo.toolbox.laws import log_sequences
from numpy.testing import assert_allclose
from numpyro import handlers
from scipy.special import logsumexp

HYPER = {"a": 1.7, "b": 0.8, "kappa": 0.4, "eta": 0.5}
SENTENCES = Corpus([0, 0, 1, 2, 0], [0, 5], n_words=3, segment_ptr=[0, 2, 4, 5])


def log_law(sentences, dish, n_dishes, a, b):
    """Log probability of dishes, one token after the other."""
    out = 0.0
    for i, c in enumerate(dish):
        before = [dish[j] for j in range(i) if sentences[j] == sentences[i]]
        for stick in range(min(c + 1, n_dishes - 1)):
            here, later = before.count(stick), sum(other > stick for other in before)
            success = (a + here) / (a + b + here + later)
            out += np.log(success if stick == c else 1.0 - success)
    return out


def test_law_term_by_term_and_its_sum():
    model = get("sbp", n_dishes=3, n_topics=2, **HYPER)
    seats = model.seats(Design.of(SENTENCES))
    dishes, log_p = model.dish_laws(seats, HYPER)
    assert len(dishes) == 3**5
    assert np.exp(log_p).sum() == pytest.approx(1.0, abs=1e-12)
    for row, found in zip(dishes[::7], log_p[::7], strict=True):
        assert found == pytest.approx(log_law(seats.sentence, row.tolist(), 3, 1.7, 0.8), abs=1e-12)


def exchange_residual(*changes):
    """How far the exchange of dishes is from leaving the prior as it is; one topic, so no data."""
    room = load_room(*changes, PLAIN_PYTHON)
    corpus = Corpus([0, 0, 0], [0, 3], segment_ptr=[0, 2, 3])
    model = get("sbp", n_dishes=3, n_topics=1, **HYPER)
    kernel, seats = model.kernels_in(room)["blocked"], model.seats(Design.of(corpus))
    dishes, log_p = model.dish_laws(seats, HYPER)
    index = {tuple(row): i for i, row in enumerate(dishes)}
    hyper = model.draw_hyperparameters(Design.of(corpus), np.random.default_rng(0))
    matrix = np.zeros((len(dishes), len(dishes)))
    for dish, row in zip(dishes, matrix, strict=True):

        def run(generator, dish=dish):
            state = kernel.load({"z": np.zeros(3, int), "dish": dish} | hyper, corpus, model)
            room(truncated).exchange_dishes(generator, state)
            return index[tuple(state.tokens.dish)]

        for after, probability in outcomes(run, most=10):
            row[after] += probability
    assert_allclose(matrix.sum(axis=1), 1.0, rtol=1e-12)
    return invariance_residual(matrix, np.exp(log_p))


def test_exchanges_leave_the_prior_invariant():
    assert exchange_residual() < 1e-12
    forgotten = Change("segments/truncated.py", "if c + 2 < state.seats.size:", "if False:")
    assert exchange_residual(forgotten) > 1e-3


@pytest.mark.slow
def test_long_chains_against_enumeration():
    model = get("sbp", n_dishes=2, n_topics=2, a=1.0, b=1.0, kappa=0.3, eta=0.2)
    verdict = agrees_with_oracle(
        ModelSubject(model, Design.of(SENTENCES)), Oracle.of_model(model, SENTENCES), SENTENCES, draws=6000
    )
    assert verdict.passed, verdict


def test_new_documents_are_scored_without_bias():
    """Mean of estimates over exact probabilities; six standard errors, a false alarm in 5e8."""
    phi = np.random.default_rng(0).dirichlet(np.ones(3), 2)
    model = get("sbp", n_dishes=3, n_topics=2)
    seats = model.seats(Design.of(SENTENCES))
    law = Sticks(HYPER["a"], HYPER["b"], 0.0, np.full(2, HYPER["kappa"]), truncation=3)
    predictive = SegmentsPredictive(FrozenTopics(phi, np.ones((1, 2))), law, model.seats)
    dishes, log_p = model.dish_laws(seats, HYPER)
    exact = logsumexp(
        [
            p + np.log(phi[list(z), SENTENCES.words]).sum() + log_sequences(row, np.array(z), np.full(2, 0.4))
            for row, p in zip(dishes, log_p, strict=True)
            for z in product(range(2), repeat=5)
        ]
    )
    rng = np.random.default_rng(0)
    ratio = np.exp([predictive.log_documents(SENTENCES, rng, particles=4)[0] - exact for _ in range(4000)])
    assert abs(ratio.mean() - 1.0) < 6.0 * ratio.std() / np.sqrt(ratio.size)
    assert ratio.std() < 0.3
    nothing = SENTENCES.keep(np.zeros(5, bool))
    completed = predictive.log_completion(nothing, SENTENCES, rng, burn_in=0, sweeps=5)
    assert_allclose(completed, np.log(phi.mean(axis=0))[SENTENCES.words])


def test_predictive_is_a_ratio_of_the_joint():
    model = get("sbp", n_dishes=3, n_topics=2, **HYPER)
    latents = model.draw_hyperparameters(Design.of(SENTENCES), np.random.default_rng(0))
    latents |= {"z": np.array([0, 1, 1, 0, 0]), "dish": np.array([0, 1, 0, 0, 1])}
    now = model.log_joint(latents, SENTENCES)
    cells = Probes.of(SENTENCES).cells
    for (_, w), found in zip(cells, model.quantities(latents, SENTENCES)["predictive"], strict=True):
        longer = Corpus([*SENTENCES.words, w], [0, 6], n_words=3, segment_ptr=[0, 2, 4, 5, 6])
        ratio = sum(
            np.exp(
                model.log_joint(
                    latents | {"z": np.append(latents["z"], k), "dish": np.append(latents["dish"], c)}, longer
                )
                - now
            )
            for k, c in product(range(2), range(3))
        )
        assert found == pytest.approx(ratio, rel=1e-12)


@pytest.mark.slow
def test_reference_is_the_sum_over_dishes_and_topics():
    model = get("sbp", window=2).set_to("prior")
    corpus = model.simulate(Design(np.array([4, 0, 3]), 3), np.random.default_rng(0)).corpus
    with jax.enable_x64(True):
        program = handlers.seed(model.reference.numpyro(corpus, 0), jax.random.key(1))
        sites = handlers.trace(program).get_trace()
    values = {name: np.asarray(site["value"]) for name, site in sites.items() if site["type"] != "plate"}
    assert_allclose(values["theta"].sum(axis=1), 1.0, rtol=1e-12)
    seen = float(sites["counts"]["fn"].log_prob(sites["counts"]["value"]))
    seats, dishes = model.seats(Design.of(corpus)), values["dishes"].reshape(3, 3, 2)
    of_words = values["theta"][seats.sentence, None] @ dishes[seats.document] @ values["phi"]
    assert seen == pytest.approx(np.log(of_words[np.arange(7), 0, corpus.words]).sum(), abs=1e-10)
    latents = model.reference.latents(values, corpus, np.random.default_rng(0))
    assert np.isfinite(model.log_joint(latents, corpus))


def test_sentences_and_two_dishes_are_needed():
    with pytest.raises(CorpusError, match="sbp: expected sentences, found none"):
        get("sbp").initial_latents(Corpus([0], [0, 1]), np.random.default_rng(0))
    with pytest.raises(ValueError, match="sbp: n_dishes: expected a whole number, 2 or more, found 1"):
        get("sbp", n_dishes=1)

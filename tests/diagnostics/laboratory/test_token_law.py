"""Laws read off from kernels: against known ones, against log joint, against enumeration."""

import math

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.ladder import DESIGN, Case
from bnpzoo.diagnostics.laboratory.mutants.registry import MUTANTS
from bnpzoo.diagnostics.laboratory.oracle import invariance_residual
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, load_room
from bnpzoo.diagnostics.laboratory.token_law import joint, outcomes, sweep_matrix, token_law
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.models import MODELS, combinations, get
from numpy.testing import assert_allclose
from scipy.integrate import quad

MUTANT = {mutant.id: mutant for mutant in MUTANTS}
SAMPLERS = [
    Case(model, variant, "joint", topics=topics)
    for model, topics in combinations()
    for variant, kernel in get(model, topics=topics or None).kernels.items()
    if kernel.exact and kernel.token_step == "conditional"
]


def categorical(weights, u):
    for j, weight in enumerate(weights):
        if u < weight:
            return j
        u -= weight
    raise AssertionError("u is beyond the weights")


def law_of(run, **settings):
    law = {}
    for outcome, probability in outcomes(run, **settings):
        law[outcome] = law.get(outcome, 0.0) + probability
    return law


def test_law_of_one_draw():
    weights = [0.3, 1.1, 0.0, 0.6]
    law = law_of(lambda rng: categorical(weights, rng.random() * np.sum(weights)))
    assert law == pytest.approx({0: 0.15, 1: 0.55, 3: 0.3}, abs=1e-15)


def test_law_of_numpy_comparisons():
    levels = np.array([0.25, 0.5, 2.0])

    def run(rng):
        u = 2.0 * rng.random() + 0.0
        return sum(bool(level <= u) for level in levels), bool(levels[1] > u)

    assert law_of(run) == {(0, True): 0.125, (1, True): 0.125, (2, False): 0.75}


def test_law_of_draws_that_depend_on_each_other():
    def run(rng):
        first = rng.random() < 0.25
        return first, bool(rng.random() * 4.0 - 1.0 < (1.0 if first else 0.0))

    expected = {(True, True): 0.125, (True, False): 0.125, (False, True): 0.1875, (False, False): 0.5625}
    assert law_of(run, most=2) == pytest.approx(expected)


def test_other_uses_of_a_uniform_variate_are_refused():
    with pytest.raises(TypeError):
        list(outcomes(lambda rng: math.log(rng.random())))


@pytest.mark.parametrize("case", SAMPLERS, ids=lambda case: case.subject)
def test_right_kernels_pass(case):
    verdict = joint(case.subject, case.kernel, case.make_model(), DESIGN, states=60)
    assert verdict.passed, verdict
    assert verdict.figures["largest"] < 1e-9


@pytest.mark.compiled
def test_a_kernel_that_cannot_be_followed_is_called_broken():
    case = Case("lda", "sparse", "joint")
    kernel = MODELS["lda"]().kernels_in(load_room())["sparse"]  # compiled: takes no scripted generator
    verdict = joint("compiled", kernel, case.make_model(), DESIGN, states=1)
    assert verdict.status == "broken"
    assert "cannot be read off" in verdict.message


def plain(model, variant, *changes):
    return MODELS[model]().kernels_in(load_room(*changes, PLAIN_PYTHON))[variant]


def residual(variant, *changes):
    """How much a whole sweep moves the posterior of LDA, in total variation."""
    model = get("lda", n_topics=2, alpha=0.7, eta=0.4)
    corpus = Design(np.array([2, 2]), 2).corpus(np.array([0, 1, 0, 0]))
    latents = model.draw_hyperparameters(Design.of(corpus), np.random.default_rng(0))
    assignments = np.array(list(model.assignments(corpus)))
    matrix = sweep_matrix(plain("lda", variant, *changes), model, latents, corpus, assignments)
    assert_allclose(matrix.sum(axis=1), 1.0, rtol=1e-13)
    weights = np.exp([model.log_marginal(z, corpus, latents) for z in assignments])
    return invariance_residual(matrix, weights / weights.sum())


@pytest.mark.parametrize("variant", ["sparse", "dense"])
def test_a_sweep_leaves_the_posterior_invariant(variant):
    assert residual(variant) < 1e-13


def test_a_wrong_sweep_does_not():
    assert residual("sparse", MUTANT["own-count-kept"].change) > 1e-3
    assert residual("dense", MUTANT["document-count-kept"].change) > 1e-3


def new_topic_error(variant, *changes):
    """Largest error in the probability of a new topic of the HDP, its stick integrated by quadrature."""
    model = get("hdp", gamma=1.7, alpha=1.2, eta=0.5)
    kernel, rng, errors = plain("hdp", variant, *changes), np.random.default_rng(1), []
    for token in (0, 3, 8, 12):
        latents, corpus = model.simulate(DESIGN, rng)
        move = token_law(kernel, model, latents, corpus, token)
        root, z = move.before["root"], move.before["z"].copy()
        z[token] = root.size - 1

        def density(share, before=move.before, root=root, z=z, corpus=corpus):
            split = np.append(root[:-1], root[-1] * np.array([share, 1.0 - share]))
            return root[-1] * np.exp(model.log_joint(before | {"z": z, "root": split}, corpus))

        is_new = np.array([after["root"].size > root.size for after in move.after])
        seated = [
            np.exp(model.log_joint(move.before | {"z": after["z"]}, corpus))
            for after, new in zip(move.after, is_new, strict=True)
            if not new
        ]
        opened = quad(density, 0.0, 1.0, epsabs=0.0, epsrel=1e-10)[0]
        errors.append(abs(move.probability[is_new].sum() - opened / (opened + np.sum(seated))))
    return max(errors)


@pytest.mark.parametrize("variant", ["sparse", "dense"])
def test_probability_of_a_new_topic(variant):
    assert new_topic_error(variant) < 1e-9


def test_probability_of_a_new_topic_that_is_wrong():
    assert new_topic_error("sparse", MUTANT["new-topic-too-likely"].change) > 1e-3

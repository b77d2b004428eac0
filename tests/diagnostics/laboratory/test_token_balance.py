"""Detailed balance of token steps: right kernels have it, wrong ones do not."""

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.ladder import DESIGN, Case
from bnpzoo.diagnostics.laboratory.mutants.registry import mutant_by_id
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, load_room
from bnpzoo.diagnostics.laboratory.token_balance import balance, log_density, step_law, with_token_first
from bnpzoo.diagnostics.laboratory.validate import cases_of
from bnpzoo.zoo.contract import Simulation
from bnpzoo.zoo.models import MODELS, combinations, get

SAMPLERS = [
    (model, variant, topics)
    for model, topics in combinations()
    for variant, kernel in get(model, topics=topics or None).kernels.items()
    if kernel.token_step == "reversible"
]


def verdict_on(model, variant, mutant="", topics="", states=25):
    case = Case(model, variant, "joint", mutant=mutant, topics=topics)
    return balance(case.subject, case.kernel, case.make_model(), DESIGN, states)


@pytest.mark.parametrize(("model", "variant", "topics"), SAMPLERS)
def test_right_kernels_pass(model, variant, topics):
    verdict = verdict_on(model, variant, topics=topics, states=10)
    assert verdict.passed, verdict
    assert verdict.figures["largest"] < 1e-10


@pytest.mark.parametrize(
    ("model", "mutant"),
    [
        ("tpyp", "pyp-printed-weights"),
        ("tpyp", "pyp-factors-missing"),
        ("hpyp", "pyp-literal-stirling"),
        ("tpyp", "pyp-unlocked"),
        ("hpyp", "pyp-minus-one-printed"),
        ("tpyp", "pyp-no-table-beside"),
        ("tpyp", "pyp-order-without-association"),
        ("pyp", "pyp-all-bases-one"),
    ],
)
def test_wrong_kernels_fail(model, mutant):
    assert verdict_on(model, mutant_by_id(mutant).variant, mutant).status == "rejected"


@pytest.mark.compiled
def test_a_compiled_kernel_cannot_be_followed():
    kernel = MODELS["hpyp"]().kernels_in(load_room())["forced"]
    verdict = balance("compiled", kernel, Case("hpyp", "forced", "joint").make_model(), DESIGN, states=1)
    assert verdict.status == "broken"
    assert "cannot be read off" in verdict.message


def test_a_law_sums_to_one_whatever_the_number_of_variates():
    model = Case("tpyp", "forced", "joint").make_model()
    kernel = MODELS["tpyp"]().kernels_in(load_room(PLAIN_PYTHON))["forced"]
    rng = np.random.default_rng(0)
    for token in (0, 7, 12):
        latents, corpus = model.simulate(DESIGN, rng)
        move = step_law(kernel, model, latents, corpus, token, seed=1)
        assert move.probability.sum() == pytest.approx(1.0, abs=1e-14)
        assert np.array_equal(move.before["z"][token:], latents["z"][token:])
        for after in move.after:
            assert np.array_equal(np.delete(after["z"], token), np.delete(move.before["z"], token))


@pytest.mark.parametrize("token", [0, 4, 9, 17])
def test_order_does_not_change_the_density(token):
    model = Case("tpyp", "forced", "joint").make_model()
    at = model.simulate(DESIGN, np.random.default_rng(2))
    moved = with_token_first(at, model, token)
    assert moved.corpus.words[0] == at.corpus.words[token]
    assert moved.latents["z"][0] == at.latents["z"][token]
    assert moved.corpus.group_of_doc[0] == at.corpus.group_of_doc[at.corpus.doc_of[token]]
    assert log_density(model, moved) == pytest.approx(log_density(model, Simulation(*at)))


def test_a_step_given_other_variables_has_no_rung_joint():
    assert MODELS["tpyp"]().kernels["explicit"].token_step == "augmented"
    assert not cases_of("tpyp", ["joint"], "explicit")
    assert cases_of("tpyp", ["joint"], "lock")

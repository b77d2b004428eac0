"""Every mutant applies, and some of them die here; all of them do in `make validate`."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.definitions import PACKAGE
from bnpzoo.diagnostics.laboratory.ladder import DESIGN, Case
from bnpzoo.diagnostics.laboratory.mutants.registry import MUTANTS, mutants_of
from bnpzoo.diagnostics.laboratory.noticed import noticed_by, noticing_tests
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, Change, load_room, source_hash
from bnpzoo.zoo.models import MODELS, combinations
from samplers import is_of_a_family, on_rung

MODEL_CASES = [Case(model, "", "sequential", topics=topics) for model, topics in combinations()]
MODEL_CASES += [Case("lda", "", "sequential", options='{"symmetric": false}')]
SAMPLERS = [replace(case, variant=v) for case in MODEL_CASES for v in case.model_as_told().kernels]


def test_ids_are_unique():
    assert len({mutant.id for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("case", MODEL_CASES, ids=lambda case: case.name_of_model)
def test_six_mutants_a_model(case):
    model = case.model_as_told()
    assert len(mutants_of(model)) >= 6
    assert {mutant.variant for mutant in mutants_of(model)} <= {"", *model.kernels}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.id)
def test_every_mutant_applies(mutant):
    assert source_hash(mutant.change) != source_hash()


@pytest.mark.slow
def test_tests_that_notice_what_no_rung_notices_are_there():
    tests = noticing_tests()
    assert tests.keys() <= {mutant.id for mutant in MUTANTS}
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "", *set(tests.values())]
    found = subprocess.run(command, cwd=PACKAGE, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout
    assert f"{len(set(tests.values()))} tests collected" in found.stdout


def test_what_notices_a_mutant():
    matrix = [
        {"model": "a", "mutant": "stale-mass", "killed": False},
        {"model": "b", "mutant": "stale-mass", "killed": True},
        {"model": "b", "mutant": "own-total-kept", "killed": False},
    ]
    assert noticed_by("stale-mass", matrix) == "rungs of b"
    assert noticed_by("own-total-kept", matrix) == ""
    assert "test_sticks.py::test_a_new_topic" in noticed_by("scaling-new-scales-of-one", matrix)


@pytest.mark.parametrize(
    "change", [Change("toolbox/random.py", "no such text", ""), Change("nowhere.py", "x", "")]
)
def test_a_change_that_does_not_apply(change):
    with pytest.raises(ValueError, match="expected once, found 0 times"):
        load_room(change)


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case,
            id=case.subject,
            marks=pytest.mark.compiled
            if is_of_a_family(case.model, case.topics, case.variant) and not case.options
            else pytest.mark.heavy,
        )
        for case in SAMPLERS
    ],
)
@pytest.mark.slow
def test_plain_python_makes_the_same_draws(case):
    model = case.make_model()
    latents, corpus = model.simulate(DESIGN, np.random.default_rng(3))
    ends = []
    for room in (load_room(), load_room(PLAIN_PYTHON)):
        kernel = model.kernels_in(room)[case.variant]
        state, rng = kernel.load(latents, corpus, model), np.random.default_rng(4)
        for _ in range(20):
            state = kernel.step(rng, state)
        ends.append(kernel.snapshot(state))
    for name, value in ends[0].items():
        np.testing.assert_allclose(value, ends[1][name], rtol=1e-9, err_msg=name)


DYING = [
    ("lda", "normaliser-dropped", "joint"),
    ("lda", "document-count-kept", "joint"),
    ("lda", "parts-forgotten", "sequential"),
    ("lda", "blocked-total-of-next-block", "sequential"),
    ("hdp", "stale-mass", "joint"),
    on_rung("oracle", "hdp", "whole-tables-own-words-forgotten", "oracle"),
    ("hdp", "renumbered-too-late", "sequential"),
    ("mt_hdp", "stale-coefficient", "joint"),
    ("mt_hdp", "task-tables-not-drawn", "sequential"),
]


@pytest.mark.parametrize(("model", "mutant", "rung"), DYING)
@pytest.mark.slow
def test_mutants_die(judged, model, mutant, rung):
    (found,) = [m for m in MUTANTS if m.id == mutant]
    verdict = judged(Case(model, found.variant or "sparse", rung, mutant=mutant))
    assert verdict.status != "passed", verdict


@pytest.mark.parametrize(
    ("mutant", "rung"),
    [
        on_rung("oracle", "whole-rest-for-new", "oracle"),
        ("pyp-opened-without-discount", "joint"),
        on_rung("oracle", "pyp-new-topic-too-likely", "oracle"),
    ],
)
@pytest.mark.slow
def test_mutants_of_both_sides_die_in_a_combination(judged, mutant, rung):
    """Of the documents, of the topics, and of what the two do together."""
    verdict = judged(Case("hdp", "forced", rung, mutant=mutant, topics="pitman-yor"))
    assert verdict.status != "passed", verdict


@pytest.mark.parametrize(
    "mutant", ["own-total-kept", "seeded-total-of-corpus", "seeded-counted-once", "seeded-of-next-topic"]
)
def test_mutants_of_seeded_topics_die(judged, mutant):
    verdict = judged(Case("lda", "sparse", "joint", mutant=mutant, topics="seeded"))
    assert verdict.status != "passed", verdict


@pytest.mark.parametrize(
    ("mutant", "rung"),
    [
        on_rung(rung, mutant, rung)
        for mutant, rung in (
            ("belief-own-total-kept", "joint"),
            ("belief-stale-coefficient", "joint"),
            ("belief-printed-rate", "sequential"),
            ("belief-topics-not-redrawn", "sequential"),
            ("belief-companion-forgotten", "sequential"),
            ("belief-popularity-before-mass", "geweke"),
            ("belief-rate-before-links", "geweke"),
            ("belief-printed-order", "geweke"),
        )
    ],
)
def test_mutants_of_belief_networks_die(judged, mutant, rung):
    verdict = judged(Case("lda", "sparse", rung, mutant=mutant, topics="belief-network"))
    assert verdict.status == "rejected", verdict


@pytest.mark.heavy
def test_mutants_of_births_under_belief_networks_die(judged):
    """Few tokens say too little of the others, which `tests/kernels/belief_network/test_births.py` sees."""
    case = Case("hdp", "sparse", "sequential", mutant="belief-first-word-forgotten", topics="belief-network")
    verdict = judged(case)
    assert verdict.status == "rejected", verdict


@pytest.mark.parametrize(
    ("model", "rung"), [("lda", "sequential"), ("hdp", "oracle"), ("mt_hdp", "sequential")]
)
@pytest.mark.slow
def test_right_kernels_live(judged, model, rung):
    """Each is rejected with probability 1e-5 at most, were the seed not fixed."""
    verdict = judged(Case(model, "sparse", rung))
    assert verdict.status == "passed", verdict


def test_hyperparameters_move_before_most_rungs():
    for model_id in MODELS:
        case = Case(model_id, next(iter(MODELS[model_id]().kernels)), "sequential")
        model = case.make_model()
        assert set(model.sampled()) == set(model.hyperparameters())

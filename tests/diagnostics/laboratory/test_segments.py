"""Models of sentences before the ladder: samplers pass, also beside references, and mutants are rejected."""

import pytest
from bnpzoo.diagnostics.laboratory.ladder import Case, climb
from bnpzoo.diagnostics.laboratory.mutants.registry import mutants_of
from bnpzoo.zoo.families.segments.family import SegmentsFamily
from bnpzoo.zoo.models import MODELS, get
from samplers import is_of_a_family

NAMES = [name for name, cls in MODELS.items() if issubclass(cls, SegmentsFamily)]

SLOWLY = {  # mutants that other rungs than the first find
    "was-new-dishes-not-counted": "sequential",
    "was-stick-of-first-token": "sequential",
    "was-restaurant-without-b": "oracle",
    "sbp-stick-without-token": "sequential",
    "sbp-first-stick-forgotten": "sequential",
    "tjb_hdp-new-dish-of-table": "sequential",
    "tjb_hdp-gamma-by-dishes": "sequential",
    "tjb_hdp-alpha-by-tables": "sequential",
    "mqr_hdp-owner-without-others": "sequential",
    "mqr_hdp-epsilon-by-shared": "sequential",
    "mqr_hdp-alpha-by-shared": "sequential",
    "icd-alpha-of-one-document": "sequential",
}


def heavy_if(is_heavy, *values):
    return pytest.param(*values, marks=pytest.mark.heavy if is_heavy else ())


@pytest.mark.parametrize(
    ("name", "rung"),
    [
        heavy_if(rung in ("geweke", "sbc") or (rung != "joint" and not is_of_a_family(name)), name, rung)
        for name in NAMES
        for rung in ("joint", "oracle", "sequential", "geweke", "sbc")
    ],
)
@pytest.mark.slow
def test_it_climbs(name, rung):
    verdict = climb(Case(name, "blocked", rung))
    assert verdict.passed, verdict


@pytest.mark.heavy
@pytest.mark.stan
@pytest.mark.parametrize(("name", "options"), [*((name, "") for name in NAMES), ("was", '{"forward": true}')])
def test_it_agrees_with_its_references(name, options, tmp_path):
    verdict = climb(Case(name, "blocked", "reference", "full", options=options), tmp_path)
    assert verdict.passed, verdict


@pytest.mark.parametrize(
    ("name", "mutant"),
    [
        heavy_if(mutant.id in SLOWLY or not is_of_a_family(name), name, mutant.id)
        for name in NAMES
        for mutant in mutants_of(get(name))
    ],
)
@pytest.mark.slow
def test_mutants_are_rejected(name, mutant):
    verdict = climb(Case(name, "blocked", SLOWLY.get(mutant, "joint"), mutant=mutant))
    assert verdict.status in ("rejected", "broken"), verdict

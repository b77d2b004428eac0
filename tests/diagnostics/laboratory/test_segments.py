"""Models of sentences before the ladder: samplers pass, and mutants are rejected."""

import pytest
from bnpzoo.diagnostics.laboratory.ladder import Case
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
def test_it_climbs(judged, name, rung):
    verdict = judged(Case(name, "blocked", rung))
    assert verdict.status == "passed", verdict


@pytest.mark.parametrize(
    ("name", "mutant"),
    [
        heavy_if(mutant.id in SLOWLY or not is_of_a_family(name), name, mutant.id)
        for name in NAMES
        for mutant in mutants_of(get(name))
    ],
)
@pytest.mark.slow
def test_mutants_are_rejected(judged, name, mutant):
    verdict = judged(Case(name, "blocked", SLOWLY.get(mutant, "joint"), mutant=mutant))
    assert verdict.status in ("rejected", "broken"), verdict

"""Topics of groups: the density by hand, a sweep's exact transitions, the ladder, and its mutants.

What every model must satisfy is in `test_models.py` and `test_chains.py`; here is what is said of this one.
"""

from math import lgamma

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.ladder import Case, climb
from bnpzoo.diagnostics.laboratory.mutants.skeleton import MUTANTS
from bnpzoo.diagnostics.laboratory.oracle import invariance_residual
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, load_room
from bnpzoo.diagnostics.laboratory.token_law import sweep_matrix
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus import Corpus, CorpusError
from bnpzoo.zoo.models.skeleton import Skeleton

MODEL = Skeleton(n_topics=2, alpha=0.7, eta=0.5)
CORPUS = Corpus([0, 0, 1, 2], [0, 2, 3, 4], n_words=3, group=[0, 1, 0])
FIXED = MODEL.draw_hyperparameters(Design.of(CORPUS), np.random.default_rng(0))

FOUND_BY_JOINT = (
    "own-count-kept", "stale-total", "first-group-for-all", "normaliser-of-one-word", "parameters-swapped",
)  # fmt: skip
FOUND_BY_SEQUENTIAL = ("parts-forgotten", "counts-for-tables")


def log_dirichlet_multinomial(counts, parameter):
    """Log probability of a sequence with these counts, term by term."""
    total = parameter * len(counts)
    out = lgamma(total) - lgamma(total + sum(counts))
    return out + sum(lgamma(parameter + n) - lgamma(parameter) for n in counts)


def test_density_by_hand():
    z = np.array([0, 1, 1, 0])  # group 0 has topics 0, 1, 0; group 1 has topic 1
    expected = sum(log_dirichlet_multinomial(counts, 0.7) for counts in ([2, 1], [0, 1]))
    expected += sum(log_dirichlet_multinomial(counts, 0.5) for counts in ([1, 0, 1], [1, 1, 0]))
    assert MODEL.log_joint({"z": z, **FIXED}, CORPUS) == pytest.approx(expected, abs=1e-12)


def test_documents_of_a_group_are_as_one():
    together = Corpus([0, 0, 2, 1], [0, 3, 4], n_words=3, group=[0, 1])
    z = np.array([0, 1, 1, 0])
    apart = MODEL.log_joint({"z": z, **FIXED}, CORPUS)
    assert MODEL.log_joint({"z": z[[0, 1, 3, 2]], **FIXED}, together) == pytest.approx(apart, abs=1e-12)


def test_predictive_is_a_ratio_of_the_joint():
    z = np.array([0, 1, 1, 0])
    topics = MODEL.frozen_topics({"z": z, **FIXED}, CORPUS)
    theta = topics.prior / topics.prior.sum(axis=1, keepdims=True)
    log_now = MODEL.log_joint({"z": z, **FIXED}, CORPUS)
    for w in range(3):
        longer = Corpus([*CORPUS.words, w], [0, 2, 3, 5], n_words=3, group=[0, 1, 0])
        ratio = sum(
            np.exp(MODEL.log_joint({"z": np.append(z, k), **FIXED}, longer) - log_now) for k in range(2)
        )
        assert theta[0] @ topics.words[:, w] == pytest.approx(ratio, rel=1e-12)


def residual(*changes):
    """How far a sweep, as its exact transition matrix, is from leaving the posterior as it is."""
    kernel = MODEL.kernels_in(load_room(*changes, PLAIN_PYTHON))["dense"]
    states = np.array(list(MODEL.assignments(CORPUS)))
    law = np.exp([MODEL.log_marginal(z, CORPUS, FIXED) for z in states])
    matrix = sweep_matrix(kernel, MODEL, {"z": states[0], **FIXED}, CORPUS, states)
    return invariance_residual(matrix, law / law.sum())


def test_a_sweep_leaves_the_posterior_invariant():
    assert residual() < 1e-12


def test_a_wrong_sweep_does_not():
    (mutant,) = (m for m in MUTANTS if m.id == "skeleton-normaliser-of-one-word")
    assert residual(mutant.change) > 1e-3


@pytest.mark.parametrize(
    "rung", ["joint", "oracle", "sequential", "geweke", pytest.param("sbc", marks=pytest.mark.heavy)]
)
def test_it_climbs(rung):
    verdict = climb(Case("skeleton", "dense", rung))
    assert verdict.passed, verdict


@pytest.mark.heavy
@pytest.mark.stan
def test_it_agrees_with_its_references(tmp_path):
    verdict = climb(Case("skeleton", "dense", "reference", "full"), tmp_path)
    assert verdict.passed, verdict


def test_every_mutant_has_its_rung():
    assert {m.id for m in MUTANTS} == {f"skeleton-{name}" for name in FOUND_BY_JOINT + FOUND_BY_SEQUENTIAL}


@pytest.mark.parametrize(
    ("mutant", "rung"),
    [(name, "joint") for name in FOUND_BY_JOINT]
    + [pytest.param(name, "sequential", marks=pytest.mark.heavy) for name in FOUND_BY_SEQUENTIAL],
)
def test_mutants_are_rejected(mutant, rung):
    verdict = climb(Case("skeleton", "dense", rung, mutant=f"skeleton-{mutant}"))
    assert verdict.status == "rejected", verdict


def test_groups_and_topics_are_needed():
    with pytest.raises(CorpusError, match="skeleton: expected a corpus with groups, found none"):
        MODEL.kernel().load({"z": np.zeros(2), **FIXED}, Corpus([0, 1], [0, 2]), MODEL)
    with pytest.raises(ValueError, match="n_topics: expected a whole number, 1 or more, found 0"):
        Skeleton(n_topics=0)

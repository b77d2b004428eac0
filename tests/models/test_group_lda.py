"""LDA of each collection by itself: it is LDA, several times; its ladder and its mutants."""

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.ladder import Case
from bnpzoo.diagnostics.laboratory.oracle import invariance_residual
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, load_room
from bnpzoo.diagnostics.laboratory.token_law import sweep_matrix
from bnpzoo.zoo.corpus import Corpus, CorpusError
from bnpzoo.zoo.models import get
from bnpzoo.zoo.models.group_lda import GroupLda
from samplers import HEAVY_COMPILED, on_rung

MODEL = get("group_lda", n_topics=2, alpha=0.7, eta=0.5)
CORPUS = Corpus([0, 0, 1, 0, 1], [0, 2, 3, 5], n_words=3, group=[0, 1, 1])
FIXED = {"alpha": np.array([0.7, 0.7]), "eta": np.array(0.5)}


def test_it_is_lda_of_each_collection():
    lda = get("lda", n_topics=2, alpha=0.7, eta=0.5)
    z = np.array([0, 1, 1, 0, 1])
    parts = [(CORPUS.take(CORPUS.group == g), z[CORPUS.group[CORPUS.doc_of] == g]) for g in range(2)]
    expected = sum(lda.log_joint({"z": own, "alpha": 0.7, "eta": 0.5}, part) for part, own in parts)
    topics = z + 2 * CORPUS.group[CORPUS.doc_of]
    assert MODEL.log_joint({"z": topics, **FIXED}, CORPUS) == pytest.approx(expected, rel=1e-14)


def test_topics_of_other_collections_are_impossible():
    assert MODEL.log_joint({"z": np.array([2, 0, 2, 2, 2]), **FIXED}, CORPUS) == -np.inf
    assert len(list(MODEL.assignments(CORPUS))) == 2**5


@pytest.mark.parametrize("variant", ["sparse", "dense"])
def test_a_sweep_leaves_the_posterior_invariant(variant):
    kernel = GroupLda().kernels_in(load_room(PLAIN_PYTHON))[variant]
    states = np.array(list(MODEL.assignments(CORPUS)))
    law = np.exp([MODEL.log_joint({"z": z, **FIXED}, CORPUS) for z in states])
    matrix = sweep_matrix(kernel, MODEL, FIXED, CORPUS, states)
    assert invariance_residual(matrix, law / law.sum()) < 1e-12


@pytest.mark.parametrize("variant", ["sparse", pytest.param("dense", marks=HEAVY_COMPILED)])
def test_tokens_keep_to_topics_of_their_collection(variant):
    rng = np.random.default_rng(0)
    corpus = Corpus(rng.integers(50, size=3000), 30 * np.arange(101), n_words=50, group=np.arange(100) % 3)
    model = get("group_lda", n_topics=7)
    kernel = model.kernel(variant)
    state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
    for _ in range(30):
        state = kernel.step(rng, state)
        kernel.check(state)
    assert np.array_equal(kernel.snapshot(state)["z"] // 7, corpus.group[corpus.doc_of])


@pytest.mark.parametrize("rung", [on_rung(rung) for rung in ("joint", "sequential", "geweke")])
def test_it_climbs(judged, rung):
    verdict = judged(Case("group_lda", "sparse", rung))
    assert verdict.status == "passed", verdict


@pytest.mark.heavy
@pytest.mark.parametrize("mutant", ["lengths-of-all-collections", "topics-of-all-collections"])
def test_mutants_are_rejected(judged, mutant):
    verdict = judged(Case("group_lda", "sparse", "sequential", mutant=mutant))
    assert verdict.status == "rejected", verdict


def test_collections_are_needed():
    with pytest.raises(CorpusError, match="group_lda: expected a corpus with groups"):
        MODEL.reference.numpyro(Corpus([0, 1], [0, 2]), 4)

"""Cross-collection LDA: its density at the edges, exact transitions, its ladder and its mutants."""

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.ladder import Case
from bnpzoo.diagnostics.laboratory.mutants.lda import MUTANTS
from bnpzoo.diagnostics.laboratory.oracle import invariance_residual
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, load_room
from bnpzoo.diagnostics.laboratory.token_law import outcomes
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus import Corpus, CorpusError
from bnpzoo.zoo.models import get
from bnpzoo.zoo.models.cclda import Cclda
from samplers import on_rung

HYPER = {"alpha": 0.7, "eta": 0.5, "delta": 0.3, "gamma0": 1.5, "gamma1": 0.8}
MODEL = get("cclda", n_topics=2, **HYPER)
CORPUS = Corpus([0, 0, 1, 0, 2], [0, 2, 3, 5], n_words=3, group=[0, 1, 1])
FIXED = MODEL.draw_hyperparameters(Design.of(CORPUS), np.random.default_rng(0))

FOUND_BY_JOINT = (
    "own-count-kept", "shared-total-of-one", "origin-not-normalised", "origins-swapped", "own-words-of-eta",
    "shared-count-stale",
)  # fmt: skip
FOUND_BY_SEQUENTIAL = (
    "parts-forgotten", "counts-for-tables", "mass-of-one-origin", "delta-of-shared-words",
)  # fmt: skip


def origins(n):
    return ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(np.int64)


def random_z(seed, corpus=CORPUS):
    return np.random.default_rng(seed).integers(2, size=corpus.n_tokens)


@pytest.mark.parametrize("seed", range(4))
def test_origins_are_summed_out_of_the_marginal(seed):
    z = random_z(seed)
    terms = [MODEL.log_joint({"z": z, "own": own, **FIXED}, CORPUS) for own in origins(z.size)]
    assert MODEL.log_marginal(z, CORPUS, FIXED) == pytest.approx(np.logaddexp.reduce(terms), abs=1e-12)


def test_without_own_words_it_is_lda():
    hyper = FIXED | {"gamma1": np.array(1e-12)}
    lda = get("lda", n_topics=2, alpha=0.7, eta=0.5)
    z = random_z(1)
    expected = lda.log_joint({"z": z, "alpha": 0.7, "eta": 0.5}, CORPUS)
    assert MODEL.log_marginal(z, CORPUS, hyper) == pytest.approx(expected, abs=1e-9)


def test_without_shared_words_it_is_lda_of_each_collection():
    hyper = FIXED | {"gamma0": np.array(1e-12)}
    alone = get("group_lda", n_topics=2, alpha=0.7, eta=0.3)
    z = random_z(2)
    own_topics = z + 2 * CORPUS.group_of_doc[CORPUS.doc_of]
    expected = alone.log_joint({"z": own_topics, "alpha": FIXED["alpha"], "eta": 0.3}, CORPUS)
    assert MODEL.log_marginal(z, CORPUS, hyper) == pytest.approx(expected, abs=1e-9)


def test_word_probabilities_are_ratios_of_the_joint():
    """Of a further token: its topic is in proportion to what is weighed, its word as they say."""
    z, own = random_z(3), np.array([0, 1, 1, 0, 1])
    found = MODEL.word_probabilities({"z": z, "own": own, **FIXED}, CORPUS, np.arange(3))
    np.testing.assert_allclose(found.sum(axis=2), 1.0)
    for g, lengths in ((0, [3, 1, 2]), (1, [2, 1, 3])):
        at = int(np.cumsum(lengths)[0 if g == 0 else 2]) - 1
        for k in range(2):
            terms = np.zeros((3, 2))
            for w in range(3):
                words = np.insert(CORPUS.words, at, w)
                longer = Corpus(words, np.cumsum([0, *lengths]), n_words=3, group=[0, 1, 1])
                for s in (0, 1):
                    more = {"z": np.insert(z, at, k), "own": np.insert(own, at, s), **FIXED}
                    terms[w, s] = np.exp(MODEL.log_joint(more, longer))
            np.testing.assert_allclose(found[g, k], terms.sum(axis=1) / terms.sum(), rtol=1e-12)


def transition_residual(corpus, room):
    """Residual of the exact transition matrix of a sweep, over all topics and origins."""
    kernel = Cclda().kernels_in(room)["dense"]
    states = [(z, own) for z in MODEL.assignments(corpus) for own in origins(corpus.n_tokens)]
    index = {(*z, *own): a for a, (z, own) in enumerate(states)}
    law = np.exp([MODEL.log_joint({"z": z, "own": own, **FIXED}, corpus) for z, own in states])
    matrix = np.zeros((len(states), len(states)))

    def run(generator, z, own):
        state = kernel.step(generator, kernel.load({"z": z, "own": own, **FIXED}, corpus, MODEL))
        end = kernel.snapshot(state)
        return index[(*end["z"], *end["own"])]

    for (z, own), row in zip(states, matrix, strict=True):
        for a, probability in outcomes(lambda rng, z=z, own=own: run(rng, z, own), most=corpus.n_tokens):
            row[a] += probability
    return invariance_residual(matrix, law / law.sum())


def test_a_sweep_leaves_the_posterior_invariant():
    corpus = Corpus([0, 0, 1], [0, 2, 3], n_words=2, group=[0, 1])
    assert transition_residual(corpus, load_room(PLAIN_PYTHON)) < 1e-12


@pytest.mark.parametrize("name", ["origins-swapped", "shared-total-of-one"])
def test_wrong_sweeps_do_not(name):
    (mutant,) = [m for m in MUTANTS if m.id == f"cclda-{name}"]
    corpus = Corpus([0, 0, 1], [0, 2, 3], n_words=2, group=[0, 1])
    assert transition_residual(corpus, load_room(mutant.change, PLAIN_PYTHON)) > 1e-3


@pytest.mark.parametrize("rung", [on_rung(rung) for rung in ("joint", "sequential", "geweke")])
def test_it_climbs(judged, rung):
    verdict = judged(Case("cclda", "dense", rung))
    assert verdict.status == "passed", verdict


def test_every_mutant_has_its_rung():
    own = {m.id for m in MUTANTS if Cclda in m.concerns}
    assert own == {f"cclda-{name}" for name in FOUND_BY_JOINT + FOUND_BY_SEQUENTIAL}


@pytest.mark.parametrize(
    ("mutant", "rung"),
    [(name, "joint") for name in FOUND_BY_JOINT]
    + [on_rung("sequential", name, "sequential") for name in FOUND_BY_SEQUENTIAL],
)
def test_mutants_are_rejected(judged, mutant, rung):
    verdict = judged(Case("cclda", "dense", rung, mutant=f"cclda-{mutant}"))
    assert verdict.status == "rejected", verdict


def test_collections_are_needed():
    with pytest.raises(CorpusError, match=r"cclda: expected a corpus with groups \(one collection a group\)"):
        MODEL.kernel().load({"z": np.zeros(2), "own": np.zeros(2), **FIXED}, Corpus([0, 1], [0, 2]), MODEL)
    with pytest.raises(ValueError, match="n_topics: expected a whole number, 1 or more, found 0"):
        get("cclda", n_topics=0)

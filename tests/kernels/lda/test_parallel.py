"""What alpha and eta look at in sweeps in parts; `tests/kernels/toolbox/test_blocked.py` has the tokens."""

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, load_room
from bnpzoo.kernels.lda import parallel as compiled
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.models import get

N_TOPICS, N_WORDS = 4, 11
LENGTHS = [7, 0, 1, 30, 7, 2]
CUTS = [[0, 0, 1], [0, 0.5, 1], [0, 0.2, 0.2, 0.9, 1]]
"""Where documents, or words, are cut; parts may be empty."""


@pytest.fixture(params=[None, PLAIN_PYTHON], ids=["compiled", "plain"])
def room(request):
    return load_room(*filter(None, [request.param]))


def state_of(room, **options):
    model = get("lda", n_topics=N_TOPICS, **options)
    latents, corpus = model.simulate(Design(np.array(LENGTHS), N_WORDS), np.random.default_rng(5))
    return model.kernels_in(room)["parallel"].load(latents, corpus, model), corpus


def tally_of(counts):
    """Entry 0 is not looked at."""
    return np.bincount(counts[counts > 0])


@pytest.mark.parametrize("cuts", CUTS)
def test_tallies_are_those_of_all_counts(room, cuts):
    state, corpus = state_of(room)
    z, own = state.tokens.topic, room(compiled)
    in_documents, in_words = np.zeros((len(LENGTHS), N_TOPICS), int), np.zeros((N_WORDS, N_TOPICS), int)
    np.add.at(in_documents, (corpus.doc_of, z), 1)
    np.add.at(in_words, (corpus.words, z), 1)
    for n, tally, counts in (
        (len(LENGTHS), lambda *part: own.tally_documents(state.tokens, N_TOPICS, *part), in_documents),
        (N_WORDS, lambda *part: own.tally_words(state.topics, *part), in_words),
    ):
        found = own.tally_in_threads(tally, (np.array(cuts) * n).astype(int))
        expected = tally_of(counts)
        np.testing.assert_array_equal(found[: expected.size], expected)
        assert not found[expected.size :].any()


@pytest.mark.parametrize("fixed", [{}, {"alpha": 0.3}, {"eta": 0.2}, {"symmetric": False}])
def test_what_is_sampled_moves_and_what_is_fixed_stays(room, fixed):
    state, _ = state_of(room, **fixed)
    kept = [state.documents.prior.copy(), state.topics.eta.copy()]
    room(compiled).move_hyperparameters(np.random.default_rng(0), state)
    for before, after, name in zip(
        kept, (state.documents.prior, state.topics.eta), ("alpha", "eta"), strict=True
    ):
        assert np.array_equal(before, after) == (name in fixed)


def test_a_corpus_without_documents(room):
    model = get("lda", n_topics=3)
    corpus = Corpus([], [0], n_words=2)
    kernel, rng = model.kernels_in(room)["parallel"], np.random.default_rng(0)
    state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
    for _ in range(5):
        state = kernel.step(rng, state)
        kernel.check(state)

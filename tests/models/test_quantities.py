"""Test quantities and frozen topics of every model by value, against sums that are written out by hand.

A quantity is computed by the same code for every back end, so that no comparison of back ends sees a mistake
in it.
"""

from itertools import product

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.ladder import DESIGN
from bnpzoo.zoo.toolbox.proportions import NormalisedRates
from quantities import state_of
from quantities_state import PROBES
from quantities_topics import WORDS
from spelled_out import FORMS


@pytest.fixture(params=product(FORMS, (1, 2)), ids=lambda of: f"{of[0]}-{of[1]}")
def state(request):
    return state_of(*request.param)


def test_quantities_have_their_values(state):
    found = state.model.quantities(state.latents, state.corpus, PROBES)
    expected = state.quantities()
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], np.asarray(value, float), rtol=1e-9, atol=1e-12, err_msg=name)


def test_own_proportions_are_those_behind_the_predictive_probabilities(state):
    """Up to their sum: rates that are divided by it have another one under a single draw.

    Where proportions are rates divided by their sum, their means have tests of their own, by quadrature:
    predictive probabilities are those of expected rates, or given more of the latents.
    """
    model, latents, corpus = state.model, state.latents, state.corpus
    if isinstance(model.own_proportions(latents, corpus), NormalisedRates):
        pytest.skip("proportions are rates divided by their sum")
    filled = np.flatnonzero(corpus.doc_lengths)
    cells = np.array(list(product(filled, range(corpus.n_words))))
    predictive = model.quantities(latents, corpus, PROBES._replace(cells=cells))["predictive"]
    expected = predictive.reshape(filled.size, corpus.n_words)
    proportions = model.own_proportions(latents, corpus).mean(slice(0, corpus.n_documents))
    frozen = model.frozen_topics(latents, corpus)
    for d, row in zip(filled, expected, strict=True):
        group = 0 if frozen.words.ndim == 2 else corpus.group_of_doc[d]
        words = frozen.words_of(group)[: proportions.shape[1]]
        np.testing.assert_allclose(proportions[d] @ words, row / row.sum(), rtol=1e-9)


def test_frozen_topics_are_what_is_known_of_a_new_document(state):
    frozen = state.model.frozen_topics(state.latents, state.corpus)
    if state.id == "focused":
        np.testing.assert_allclose(frozen.inclusion[0, :-1], state.latents["inclusion"])
        assert frozen.inclusion[0, -1] == 1.0
    else:
        assert frozen.inclusion is None, "only topics of the focused model may be off"
    for g in range(DESIGN.n_groups):
        row = 0 if len(frozen.prior) == 1 else g
        prior, rest = state.prior_of_new(g)
        np.testing.assert_allclose(frozen.prior[row], [*prior, *([rest] if rest else [])], rtol=1e-9)
        for k, w in product(state.topics, WORDS):
            expected = state.topic_side.word(g, k, w)
            assert frozen.words_of(g)[k, w] == pytest.approx(expected, rel=1e-10)
        if rest:
            expected = [state.topic_side.new_word(g, w) for w in WORDS]
            np.testing.assert_allclose(frozen.words_of(g)[-1], expected)

"""Splits and merges of topics: their exact law, and customers of the root."""

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.mutants.registry import MUTANTS
from bnpzoo.diagnostics.laboratory.oracle import invariance_residual
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, load_room
from bnpzoo.diagnostics.laboratory.token_law import outcomes
from bnpzoo.kernels.hdp import customers, documents, topics
from bnpzoo.kernels.toolbox import dirichlet, sides
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.families.hdp.sticks import log_root
from bnpzoo.zoo.models import get
from bnpzoo.zoo.toolbox.enumeration import restricted_growth_strings
from bnpzoo.zoo.toolbox.laws import by_first_appearance, log_sequences
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import kstest

ALL_UNIFORMS = 1000
ETA, GAMMA, N_WORDS, CAPACITY = 0.3, 1.7, 4, 8
BAGS = ([0, 0, 1], [0], [1, 2], [3])
"""Words of the customers: some come twice, and to several of them, and one has none in common with others."""

WORDS = np.concatenate(BAGS)
OF_TOKEN = np.repeat(np.arange(len(BAGS)), [len(bag) for bag in BAGS])
CHANGE = {
    mutant.id.removeprefix("whole-topics-"): mutant.change
    for mutant in MUTANTS
    if mutant.id.startswith("whole-topics")
}
AT_ROOT = CHANGE.pop("tables-at-root")


def propose_once(room, rng, of_customer):
    """Topics of the customers after one proposal."""
    tokens = room(sides).tokens_of(WORDS, [0, WORDS.size], [0], of_customer[OF_TOKEN])
    n_topics = int(of_customer.max()) + 1
    hyper = {"alpha": [1.0], "alpha0": 0.0, "gamma": GAMMA}
    even = np.full(n_topics + 1, 1.0 / (n_topics + 1))
    side = room(documents).stick_documents(even, even[None], hyper, dict.fromkeys(hyper, (0.0, 0.0)), 2)
    counts = room(dirichlet).dirichlet_topics(tokens, N_WORDS, n_topics, CAPACITY, ETA)
    seated = room(customers).customers_of(tokens, OF_TOKEN, np.zeros(len(BAGS), np.int32), CAPACITY)
    proposal = room(topics).empty_proposal(tokens, counts, len(BAGS))
    room(topics).propose(rng, tokens, side, counts, seated, proposal)
    assert not proposal.count.any()
    assert_array_equal(seated.n_of_topic, np.bincount(tokens.topic[seated.first_token], minlength=CAPACITY))
    assert_array_equal(
        counts.total[: counts.n_topics[0]], np.bincount(tokens.topic, minlength=counts.n_topics[0])
    )
    return tokens.topic[[np.flatnonzero(c == OF_TOKEN)[0] for c in range(len(BAGS))]]


def transitions(*changes):
    """Exact law of a proposal between all partitions of the customers, and the law it leaves invariant."""
    room = load_room(*changes, PLAIN_PYTHON)
    partitions = np.array(list(restricted_growth_strings(len(BAGS))))
    index = {tuple(p): a for a, p in enumerate(partitions)}
    matrix = np.zeros((len(index), len(index)))
    for p, row in zip(partitions, matrix, strict=True):
        for after, probability in outcomes(lambda rng, p=p: propose_once(room, rng, p), most=ALL_UNIFORMS):
            row[index[tuple(by_first_appearance(after)[0])]] += probability
    assert_allclose(matrix.sum(axis=1), 1.0, rtol=1e-12)
    log_law = [
        log_root(np.bincount(p), GAMMA) + log_sequences(p[OF_TOKEN], WORDS, np.full(N_WORDS, ETA))
        for p in partitions
    ]
    law = np.exp(log_law - np.max(log_law))
    return matrix, law / law.sum()


def test_a_proposal_leaves_the_posterior_invariant():
    matrix, law = transitions()
    flow = law[:, None] * matrix
    assert_allclose(flow, flow.T, rtol=1e-9, atol=1e-16)
    assert invariance_residual(matrix, law) < 1e-12
    assert np.count_nonzero(matrix) > len(matrix) * 2


@pytest.mark.parametrize("mutant", CHANGE)
def test_wrong_proposals_do_not(mutant):
    assert invariance_residual(*transitions(CHANGE[mutant])) > 1e-4


def root_shares(*changes):
    """Share of one of two topics in the root after passes from one state, whose task has a table for each."""
    room, rng = load_room(*changes, PLAIN_PYTHON), np.random.default_rng(4)
    model = get("mt_hdp", gamma=1.0, alpha0=1e-9, alpha=50.0, eta=0.01)
    corpus = Design(np.full(2, 20), n_words=2, group=np.zeros(2, int)).corpus(np.repeat([0, 1], 20))
    sticks = np.array([0.5, 0.3, 0.2])
    latents = model.start_at(corpus.words, corpus, rng) | {"root": sticks, "tasks": sticks[None]}
    shares = []
    for _ in range(150):
        state = model.kernels_in(room)["whole-tables"].load(latents, corpus, model)
        assert room(topics).topic_pass(rng, *state)
        if state.topics.n_topics[0] == 2:
            shares.append(state.documents.root[0] / state.documents.root[:2].sum())
    assert len(shares) > 100
    return shares


def test_customers_of_the_root_are_tables_of_tasks():
    """One for each topic, however many tables documents have: their weights are even. Level 1e-5."""
    assert kstest(root_shares(), "uniform").pvalue > 1e-5
    assert kstest(root_shares(AT_ROOT), "uniform").pvalue < 1e-5

"""Moves of whole tables: their exact law, births and deaths of topics, growth, one stream of numbers."""

from itertools import pairwise, product

import numpy as np
import pytest
from bnpzoo import Corpus
from bnpzoo.diagnostics.laboratory.mutants.registry import MUTANTS
from bnpzoo.diagnostics.laboratory.oracle import invariance_residual
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, Change, load_room
from bnpzoo.diagnostics.laboratory.token_law import outcomes
from bnpzoo.kernels.hdp import sweeps, tables
from bnpzoo.kernels.lda import documents as finite
from bnpzoo.kernels.toolbox import dirichlet, sides
from bnpzoo.kernels.toolbox.sweeps import check, sparse_sweep, with_room
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.models import get
from bnpzoo.zoo.toolbox.laws import log_sequences
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import gammaln, log_softmax
from scipy.stats import beta

ETA = 0.4
ALL_UNIFORMS = 1000
CHANGE = {m.id.removeprefix("whole-tables-"): m.change for m in MUTANTS if m.variant == "whole-tables"}
CHANGE |= {  # errors too small for short chains to show
    "stale-mass": Change(
        "hdp/tables.py",
        "        mass += weigh(topics, scratch, weights, new, size)\n",
        "        weigh(topics, scratch, weights, new, size)\n",
    ),
    "repeats-independent": Change(
        "hdp/tables.py",
        "log_rising[n + c] - log_rising[n] - log_rising[c]",
        "c * (log_rising[n + 1] - log_rising[n] - log_rising[1])",
    ),
}


def run_pass(room, rng, state):
    """One pass, as a sweep calls it after that of the tokens."""
    tokens, *_, scratch = state
    scratch.next_document[0] = tokens.group.size
    assert room(tables).table_pass(rng, *state)


def finite_pass(room, rng, words, doc_ptr, z, prior):
    """Topics after a pass; documents have the weights `prior` (K,) and no topics to open."""
    n_topics = len(prior)
    tokens = room(sides).tokens_of(words, doc_ptr, np.zeros(len(doc_ptr) - 1), z)
    documents = room(finite).finite_documents(np.ones((1, n_topics)), [sum(prior)])
    documents = documents._replace(prior=np.array([prior]))
    topics = room(dirichlet).dirichlet_topics(tokens, max(words) + 1, n_topics, n_topics, ETA)
    run_pass(room, rng, (tokens, documents, topics, room(sides).scratch(n_topics)))
    return tokens.topic


def log_law(words, doc_ptr, z, prior):
    """Log probability of topics and words."""
    out = log_sequences(z, np.array(words), np.full(max(words) + 1, ETA))
    for begin, end in pairwise(doc_ptr):
        counts = np.bincount(z[begin:end], minlength=len(prior))
        out += np.sum(gammaln(np.add(prior, counts)) - gammaln(prior))
    return out


def residual(words, doc_ptr, prior, *changes):
    """How much a pass moves the posterior, all tables that it may draw summed over."""
    room = load_room(*changes, PLAIN_PYTHON)
    assignments = np.array(list(product(range(len(prior)), repeat=len(words))))
    index = {tuple(z): a for a, z in enumerate(assignments)}
    matrix = np.zeros((len(index), len(index)))
    for z, row in zip(assignments, matrix, strict=True):
        run = lambda rng, z=z: finite_pass(room, rng, words, doc_ptr, z, prior)  # noqa: E731
        for after, probability in outcomes(run, most=ALL_UNIFORMS):
            row[index[tuple(after)]] += probability
    assert_allclose(matrix.sum(axis=1), 1.0, rtol=1e-12)
    log_weights = np.array([log_law(words, doc_ptr, z, prior) for z in assignments])
    weights = np.exp(log_weights - log_weights.max())
    return invariance_residual(matrix, weights / weights.sum())


MICRO = [0, 0, 1, 0, 2], [0, 3, 3, 5], [0.5, 0.9]
"""A word comes twice to a table, and at another; a document is empty."""


def test_a_pass_leaves_the_posterior_invariant():
    assert residual(*MICRO) < 1e-12


@pytest.mark.parametrize(
    "mutant", ["seated-by-alpha", "repeats-independent", "own-words-forgotten", "stale-mass"]
)
def test_wrong_passes_do_not(mutant):
    assert residual(*MICRO, CHANGE[mutant]) > 1e-4


def test_law_of_a_large_table():
    """Of 90 tokens, for which the weights as such are no numbers of the machine."""
    rng, room, size, law = np.random.default_rng(0), load_room(PLAIN_PYTHON), 90, np.zeros(3)
    words, prior = rng.integers(12, size=size + 60), [1e-12, 0.3, 2e-9]
    doc_ptr = np.concatenate([[0], np.arange(size, words.size + 1)])
    z = np.where(np.arange(words.size) < size, 0, 1 + words // 6)

    def run(rng):  # the weight of topic 0 leaves no doubt that its tokens sit together
        return finite_pass(room, rng, words, doc_ptr, z, prior)[:size]

    for after, probability in outcomes(run, first=size - 1):
        assert np.ptp(after) == 0
        law[after[0]] += probability
    moved = [np.concatenate([np.full(size, k), z[size:]]) for k in range(3)]
    expected = [log_sequences(at, words, np.full(12, ETA)) for at in moved] + np.log(prior)
    assert_allclose(np.log(law), log_softmax(expected), rtol=1e-9)


def stick_law(room, model, latents, corpus):
    """Ends of a pass by their topics, each with its probability; the sticks of a new topic are drawn once."""
    kernel, law = model.kernels_in(room)["whole-tables"], {}

    def run(rng):
        state = kernel.load(latents, corpus, model)
        run_pass(room, rng, state)
        return kernel.snapshot(state)

    for after, probability in outcomes(run, most=ALL_UNIFORMS):
        law[tuple(after["z"])] = after, probability + law.get(tuple(after["z"]), (after, 0.0))[1]
    return law


PAIR = Design(np.array([2, 1, 1, 1]), n_words=3, group=np.array([1, 0, 1, 0])).corpus(
    np.array([2, 2, 0, 2, 1])
)
"""One document may have a table of two tokens, so that a pass is one reversible move."""


def log_imbalance(model, *changes):
    """Log of the flow from a state to one with a new topic for the pair, over that of the way back."""
    room, rng = load_room(*changes, PLAIN_PYTHON), np.random.default_rng(2)
    before = model.simulate(Design.of(PAIR), rng).latents
    n_topics = 2
    before |= {"z": np.array([0, 0, 0, 1, 0]), "root": np.array([0.5, 0.2, 0.3])}
    if "tasks" in before:
        before["tasks"] = np.array([[0.4, 0.3, 0.3], [0.6, 0.15, 0.25]])
    after, there = stick_law(room, model, before, PAIR)[2, 2, 0, 1, 0]
    _, back = stick_law(room, model, after, PAIR)[0, 0, 0, 1, 0]
    share = after["root"][n_topics] / before["root"][-1]
    log_density = beta.logpdf(share, 1.0, float(before["gamma"])) - np.log(before["root"][-1])
    if "tasks" in before:
        a, b = float(before["alpha0"]) * after["root"][n_topics:]
        for g, (task, rest) in enumerate(zip(after["tasks"], before["tasks"][:, -1], strict=True)):
            log_density += beta.logpdf(task[n_topics] / rest, a + (g == 1), b) - np.log(rest)
    flow = model.log_joint(before, PAIR) + np.log(there) + log_density
    return flow - model.log_joint(after, PAIR) - np.log(back)


@pytest.mark.parametrize("model_id", ["hdp", "mt_hdp"])
def test_births_and_deaths_of_topics_balance(model_id):
    """Each against the other, with the density of the sticks that a birth draws."""
    assert abs(log_imbalance(get(model_id).set_to("fixed"))) < 1e-10


@pytest.mark.parametrize(
    ("model_id", "mutant"), [("hdp", "new-topic-of-one-token"), ("mt_hdp", "own-total-kept")]
)
def test_wrong_births_and_deaths_do_not(model_id, mutant):
    assert abs(log_imbalance(get(model_id).set_to("fixed"), CHANGE[mutant])) > 1e-2


def growing_state(roomy):
    """Two groups of documents by turns, large concentrations, no token seated; `roomy`: with room for all."""
    model = get("mt_hdp", gamma=50.0, alpha0=9.0, alpha=20.0, eta=ETA)
    corpus = Design(np.full(30, 20), n_words=5, group=np.arange(30) % 2).corpus(np.arange(600) ** 2 % 5)
    latents = model.initial_latents(corpus, np.random.default_rng(0))
    state = model.kernels["whole-tables"].load(latents, corpus, model)
    return with_room(with_room(with_room(state))) if roomy else state


def test_growth_does_not_change_the_draws():
    ends, stops = [], []
    for state in (growing_state(roomy=False), growing_state(roomy=True)):
        rng, stopped = np.random.default_rng(6), []
        for _ in range(12):
            while not sweeps.sweep(rng, state):
                stopped.append(int(state.scratch.next_document[0]))
                state = with_room(state)
            check(state)
        ends.append(state)
        stops.append(stopped)
    assert max(stops[0]) >= ends[0].tokens.group.size  # while tables moved
    assert not stops[1]
    k = int(ends[0].topics.n_topics[0])
    assert k == ends[1].topics.n_topics[0]
    assert_array_equal(ends[0].tokens.topic, ends[1].tokens.topic)
    assert_array_equal(ends[0].documents.prior[:, :k], ends[1].documents.prior[:, :k])


@pytest.mark.parametrize("roomy", [True, False])
def test_once_tables_have_moved_only_tokens_are_left(roomy):
    """Where tokens of the first document wait for room, the sweep does not move the tables again."""
    state, plain = growing_state(roomy), growing_state(roomy=True)
    rng, plain_rng = np.random.default_rng(8), np.random.default_rng(8)
    state.scratch.next_document[0] = waiting = 4 * state.tokens.group.size
    if not roomy:
        state.topics.n_topics[0] = state.documents.prior.shape[1] - 1  # represented, and without tokens
        assert not sweeps.sweep(rng, state)
        assert state.scratch.next_document[0] == waiting
        state.topics.n_topics[0] = 0
        state = with_room(with_room(with_room(state)))
    assert sweeps.sweep(rng, state)
    assert sparse_sweep(plain_rng, plain)
    check(state)
    assert_array_equal(state.tokens.topic, plain.tokens.topic)
    assert_array_equal(state.documents.rest, plain.documents.rest)


def test_a_sweep_goes_on_at_the_document_where_it_stopped():
    """Its tables have moved already."""
    ends = []
    for go_on in (sweeps.sweep, sparse_sweep):
        state, rng = growing_state(roomy=True), np.random.default_rng(9)
        assert sparse_sweep(rng, state)
        state.scratch.next_document[0] = 7
        assert go_on(rng, state)
        ends.append(state.tokens.topic)
    assert_array_equal(*ends)


def test_no_token_is_asked_for_where_there_is_none():
    empty, model = Corpus([], [0, 0, 0], n_words=3), get("hdp").set_to("fixed")
    room, rng = load_room(PLAIN_PYTHON), np.random.default_rng(0)
    kernel = model.kernels_in(room)["whole-tables"]
    assert room(sweeps).sweep(rng, kernel.load(model.initial_latents(empty, rng), empty, model))


@pytest.mark.parametrize("seated", [True, False])
def test_tokens_wait_for_tables(seated):
    """Unless they have no topics yet. Tokens that moved first would take a topic a document apart."""
    first = "    n_documents, capacity = tokens.group.size, documents.prior.shape[1]\n    lengths"
    no_room = Change("hdp/tables.py", first, "    return False\n" + first)
    room, model = load_room(no_room, PLAIN_PYTHON), get("hdp").set_to("fixed")
    rng = np.random.default_rng(0)
    begin = model.start_at(PAIR.doc_of, PAIR, rng) if seated else model.initial_latents(PAIR, rng)
    state = model.kernels_in(room)["whole-tables"].load(begin, PAIR, model)
    assert room(sweeps).sweep(rng, state) != seated
    assert not seated or np.array_equal(state.tokens.topic, PAIR.doc_of)
    assert np.all(state.tokens.topic >= 0)

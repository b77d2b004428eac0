"""Sampler of the weight-agnostic process: exact laws of its moves, what is not exact, limits, large data."""

from itertools import product

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.oracle import invariance_residual
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, Change, load_room
from bnpzoo.diagnostics.laboratory.token_law import joint, outcomes, token_law
from bnpzoo.kernels.segments import documents, sweeps, tables, tokens, weights
from bnpzoo.kernels.segments.state import NEVER
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.families.segments.family import SegmentsFamily
from bnpzoo.zoo.models import MODELS, get
from numpy.testing import assert_allclose, assert_array_equal
from samplers import AS_PLAIN_PYTHON, HEAVY_COMPILED, is_of_a_family
from scipy.special import log_softmax

ALL_UNIFORMS = 1000
PLAIN = load_room(PLAIN_PYTHON)
OF_TABLES = {  # errors too small for short chains to show
    "offered-kept": Change(
        "segments/tables.py",
        "offered = document.table_offered[e] - (was_first and again == NEVER)",
        "offered = document.table_offered[e]",
    ),
    "repeats-independent": Change(
        "segments/tables.py",
        "product *= (weight + repeat) / (mass + n)",
        "product *= weight / mass",
    ),
    "future-forgotten": Change("segments/tables.py", "log_weight[other] = more", "log_weight[other] = 0.0"),
}


def document_of(lengths, words, **arguments):
    """Model with fixed hyperparameters and a corpus of one document, its sentences of given lengths."""
    hyper = {"a": 1.0, "b": 0.8, "zeta": 0.7, "kappa": 0.3, "eta": 0.2, "n_topics": 2} | arguments
    design = Design(
        np.array([sum(lengths)]), max(words) + 1, segment_ptr=np.concatenate([[0], np.cumsum(lengths)])
    )
    return get("was", **hyper), design.corpus(np.array(words))


def states_of(model, corpus):
    """All states, and the log joint density of each."""
    hyper = {name: np.asarray(float(value)) for name, value in model.hyperparameters().items()}
    seats = model.seats(Design.of(corpus))
    dishes, _ = model.dish_laws(seats, hyper)
    states = [{"z": z, "dish": dish} | hyper for dish, z in product(dishes, list(model.assignments(corpus)))]
    return states, np.array([model.log_joint(state, corpus) for state in states])


def residual(move, lengths, words, *changes, **arguments):
    """How far a move, as its exact transition matrix, is from leaving the posterior as it is."""
    room = load_room(*changes, PLAIN_PYTHON)
    model, corpus = document_of(lengths, words, **arguments)
    kernel = model.kernels_in(room)["blocked"]
    states, log_weights = states_of(model, corpus)
    index = {(*state["z"], *state["dish"]): i for i, state in enumerate(states)}
    matrix = np.zeros((len(index), len(index)))
    for latents, row in zip(states, matrix, strict=True):

        def run(generator, latents=latents):
            state = kernel.load(latents, corpus, model)
            move(room, generator, state)
            after = kernel.snapshot(state)
            return index[(*after["z"], *after["dish"])]

        for after, probability in outcomes(run, most=ALL_UNIFORMS):
            row[after] += probability
    assert_allclose(matrix.sum(axis=1), 1.0, rtol=1e-12)
    law = np.exp(log_weights - log_weights.max())
    return invariance_residual(matrix, law / law.sum())


def pass_tokens(room, rng, state):
    room(tokens).token_pass(rng, state, False)


def pass_tables(room, rng, state):
    room(tables).table_pass(rng, state, True)


def pass_as_if_last(room, rng, state):
    room(tokens).token_pass(rng, state, True)


def pass_given_past(room, rng, state):
    room(tokens).pass_given_past(rng, state)


NO_DATA = {"words": [0] * 4, "n_topics": 1}
"""One topic, of which the words say nothing; then dishes are all there is."""


@pytest.mark.slow
def test_a_pass_over_tokens_leaves_the_posterior_invariant():
    assert residual(pass_tokens, [2, 1], [0, 1, 0]) < 1e-12


FULL = "if is_full(vectors):\n                    leave_sentence"


def stops_at(token):
    """As if there were no room when a pass first comes to a token."""
    return Change(
        "segments/tokens.py", FULL, FULL.replace("is_full(vectors)", f"i == {token} != vectors.next_token[0]")
    )


def pass_tokens_with_stops(room, rng, state):
    assert not room(tokens).token_pass(rng, state, False)
    assert room(tokens).token_pass(rng, state, False)


@pytest.mark.parametrize("token", [1, 2])
@pytest.mark.slow
def test_a_stop_within_a_document_leaves_the_posterior_invariant(token):
    """The document is entered again, and its dishes are numbered anew."""
    assert residual(pass_tokens_with_stops, [2, 1], [0, 1, 0], stops_at(token)) < 1e-12


def test_a_sentence_that_is_not_left_at_a_stop_shows():
    last = "leave_document(document)\n                    vectors"
    forgotten = Change(
        "segments/tokens.py", f"leave_sentence(tokens, document, s)\n                    {last}", last
    )
    assert residual(pass_tokens_with_stops, [2, 1], [0, 1, 0], stops_at(1), forgotten) > 1e-6


@pytest.mark.parametrize("arguments", [{}, {"a": 1.7}, {"order": "reading"}], ids=str)
def test_a_pass_over_tokens_leaves_the_prior_invariant(arguments):
    assert residual(pass_tokens, [2, 2], **NO_DATA, **arguments) < 1e-12


@pytest.mark.parametrize("arguments", [{}, {"a": 1.7}, {"most_tables": 1}, {"most_dishes": 2}], ids=str)
@pytest.mark.slow
def test_a_pass_over_tables_leaves_the_posterior_invariant(arguments):
    assert residual(pass_tables, [2, 2], [0, 1, 1, 0], **arguments) < 1e-12


@pytest.mark.parametrize("mutant", OF_TABLES)
@pytest.mark.slow
def test_wrong_passes_over_tables_do_not(mutant):
    assert residual(pass_tables, [2, 2], [0, 0, 1, 0], OF_TABLES[mutant]) > 1e-4


def test_past_only_is_exact_without_data_alone():
    assert residual(pass_given_past, [2, 2], **NO_DATA) < 1e-12
    assert residual(pass_given_past, [2, 1], [0, 1, 0]) > 1e-3


def test_as_if_last_is_not_exact_even_without_data():
    assert residual(pass_as_if_last, [2, 2], **NO_DATA) > 1e-2


def test_what_as_if_last_samples_without_data():
    """Its exact law on three sentences of two tokens is 0.241 from the prior, and has too many dishes."""
    model, corpus = document_of([2, 2, 2], [0] * 6, n_topics=1, b=1.0, zeta=1.0)
    room_documents, room_tokens = PLAIN(documents), PLAIN(tokens)
    kernel, (states, log_p) = model.kernels_in(PLAIN)["as_if_last"], states_of(model, corpus)
    index = {tuple(state["dish"]): i for i, state in enumerate(states)}
    sweep = np.eye(len(states))
    for i in np.argsort(model.seats(Design.of(corpus)).time):
        move = np.zeros_like(sweep)
        for latents, row in zip(states, move, strict=True):

            def run(generator, latents=latents, i=i):
                state = kernel.load(latents, corpus, model)
                room_documents.enter_document(state, 0)
                room_documents.enter_sentence(state.tokens, state.document, state.tokens.sentence[i])
                room_documents.unseat(state.tokens, state.topics, state.document, i, 0)
                room_tokens.draw_seat(generator, state, i, 0, NEVER)
                return index[tuple(kernel.snapshot(state)["dish"])]

            for after, probability in outcomes(run):
                row[after] += probability
        sweep = sweep @ move
    law, sampled = np.exp(log_p), np.ones(len(states)) @ np.linalg.matrix_power(sweep, 200) / len(states)
    n_dishes = np.array([state["dish"].max() + 1 for state in states])
    law /= law.sum()
    assert np.abs(law - sampled).sum() / 2 == pytest.approx(0.241, abs=5e-4)
    assert (law @ n_dishes, sampled @ n_dishes) == pytest.approx((2.69, 2.98), abs=5e-3)


@pytest.mark.parametrize(("variant", "odds"), [("blocked", 2.0), ("as_if_last", 1.0)])
def test_odds_of_the_first_token(variant, odds):
    """Two tokens of a sentence and one of another, between them in time; the others have one dish."""
    model, corpus = document_of([2, 1], [0, 0, 0], n_topics=1, b=1.0, zeta=1.0)
    hyper = model.draw_hyperparameters(Design.of(corpus), np.random.default_rng(0))
    latents = {"z": np.zeros(3, int), "dish": np.zeros(3, int)} | hyper
    move = token_law(model.kernels_in(PLAIN)[variant], model, latents, corpus, 0)
    stays = [after["dish"][0] == after["dish"][1] for after in move.after]
    assert move.probability[stays] / move.probability[np.logical_not(stays)] == pytest.approx(odds)


@pytest.mark.parametrize(
    "arguments", [{}, {"order": "reading"}, {"most_tables": 2}, {"most_dishes": 3}], ids=str
)
def test_law_of_a_token_in_sentences_of_many_lengths(arguments):
    design = Design(
        np.array([4, 1, 0, 9, 2, 6]), 5, segment_ptr=np.array([0, 2, 4, 5, 9, 13, 14, 15, 16, 19, 22])
    )
    model = get("was", **arguments).set_to("prior").replaced(n_topics=3)
    verdict = joint("was", model.kernels_in(PLAIN)["blocked"], model, design, states=60)
    assert verdict.passed, verdict


@pytest.mark.parametrize("arguments", [{}, {"order": "reading"}, {"most_dishes": 3}], ids=str)
def test_law_of_a_table(arguments):
    """Every dish that a table may get against the joint density, at random states."""
    rng = np.random.default_rng(3)
    room_tables, room_documents = PLAIN(tables), PLAIN(documents)
    for _ in range(15):
        lengths = rng.integers(1, 5, size=4)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        model = get("was", **arguments).set_to("prior").replaced(n_topics=3)
        latents, corpus = model.simulate(Design(lengths.sum(keepdims=True), 3, segment_ptr=starts), rng)
        kernel, s = model.kernels_in(PLAIN)["blocked"], int(rng.integers(4))
        own = latents["dish"][starts[s] : starts[s + 1]]
        moved = int(rng.choice(own))

        def run(generator, latents=latents, corpus=corpus, model=model, kernel=kernel, s=s, moved=moved):
            state = kernel.load(latents | {"dish": latents["dish"]}, corpus, model)
            room_documents.enter_document(state, 0)
            token = int(np.flatnonzero(latents["dish"] == moved)[0])
            c = state.tokens.dish[token]
            room_documents.enter_sentence(state.tokens, state.document, s)
            room_tables.move_dish(generator, state.tokens, state.law, state.document, s, c, 0)
            return kernel.snapshot(state)

        found = {}
        for after, probability in outcomes(run):
            key = after["dish"].tobytes()
            found[key] = probability + found.get(key, 0.0)
        names = [c for c in range(latents["dish"].max() + 2) if c == moved or c not in own]
        expected = {}
        for c in names:
            at = latents["dish"].copy()
            at[starts[s] : starts[s + 1]][own == moved] = c
            state = kernel.load(latents | {"dish": at}, corpus, model)
            told = kernel.snapshot(state)
            expected[told["dish"].tobytes()] = model.log_joint(told, corpus)
        possible = {key: log_p for key, log_p in expected.items() if log_p > -np.inf}
        assert found.keys() == possible.keys()
        keys = list(found)
        assert_allclose(
            np.log([found[key] for key in keys]), log_softmax([possible[key] for key in keys]), atol=1e-10
        )


def test_the_restaurant_is_the_law_of_sticks_at_a_of_one():
    model, corpus = document_of([4, 3, 5], [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2], b=0.7)
    rng = np.random.default_rng(1)
    for _ in range(20):
        latents, _ = model.simulate(Design.of(corpus), rng)
        state = model.kernels_in(PLAIN)["blocked"].load(latents, corpus, model)
        room_documents, room_weights = PLAIN(documents), PLAIN(weights)
        room_documents.enter_document(state, 0)
        room_documents.enter_sentence(state.tokens, state.document, 1)
        token = int(rng.integers(4, 7))
        room_documents.unseat(state.tokens, state.topics, state.document, token, 0)
        before = room_weights.weigh_dishes(state.law, state.document, 1, state.tokens.time[token])
        n = state.document.sizes[0] + 1
        room_weights.weigh_seats(state.law, state.document, 1, before)
        restaurant = state.document.table_weight[:n].copy()
        room_weights.weigh_seats_of_sticks(state.law, state.document, 1, before)
        assert_allclose(state.document.table_weight[:n] / restaurant, 1.0 / (2 + 0.7), rtol=1e-12)


@pytest.mark.compiled
def test_compiled_and_plain_sweeps_draw_the_same():
    model = get("was").set_to("prior")
    latents, corpus = model.simulate(Design(np.array([5, 0, 9, 1]), 6), np.random.default_rng(0))
    ends = []
    for kernel in (model.kernel(), model.kernels_in(PLAIN)["blocked"]):
        state, rng = kernel.load(latents, corpus, model), np.random.default_rng(5)
        for _ in range(10):
            state = kernel.step(rng, state)
        ends.append(kernel.snapshot(state))
    for name, value in ends[0].items():
        assert_array_equal(value, ends[1][name], err_msg=name)


SHAPES = {
    "a sentence of 500": ([500], 500),
    "one sentence": ([7], 7),
    "sentences of one token": ([1] * 200, 1),
    "empty documents": ([0, 3, 0], 1),
    "10,000 documents": ([2] * 10_000, 1),
}
"""Lengths of documents and of sentences."""

NAMES = [name for name, cls in MODELS.items() if issubclass(cls, SegmentsFamily)]


LARGE = "a sentence of 500", "10,000 documents"
"""Shapes that take compiled code a second, and plain Python minutes."""


def of_shape(name, shape):
    """Parameters of a test on a model and a shape: every run compiles one model."""
    marks = HEAVY_COMPILED if shape in LARGE else AS_PLAIN_PYTHON
    return pytest.param(name, shape, marks=[] if is_of_a_family(name) else marks)


@pytest.mark.parametrize(("name", "shape"), [of_shape(name, shape) for name in NAMES for shape in SHAPES])
@pytest.mark.parametrize("n_topics", [3, 0])
def test_documents_of_all_shapes(name, n_topics, shape):
    lengths, window = SHAPES[shape]
    model, rng = get(name, n_topics=n_topics), np.random.default_rng(0)
    model = model.replaced(**{"window": window} if "window" in model.arguments() else {})
    corpus = Design(np.array(lengths), 4).corpus(rng.integers(4, size=sum(lengths)))
    kernel = model.kernel()
    state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
    for _ in range(3):
        state = kernel.step(rng, state)
        kernel.check(state)
    assert np.isfinite(model.log_joint(kernel.snapshot(state), corpus))


def bytes_of(state):
    """Of all arrays of a state."""
    return sum(bytes_of(x) if isinstance(x, tuple) else np.asarray(x).nbytes for x in state)


@pytest.mark.parametrize("name", NAMES)
def test_memory_grows_with_the_tokens(name):
    """Twice the documents, or documents of twice the length, take no more than twice the memory."""
    model, rng = get(name, n_topics=3), np.random.default_rng(0)
    model = model.replaced(**{"window": 20} if "window" in model.arguments() else {})
    sizes = []
    for lengths in ([200] * 20, [200] * 40, [400] * 20):
        corpus = Design(np.array(lengths), 4).corpus(rng.integers(4, size=sum(lengths)))
        kernel, latents = model.kernel(), model.initial_latents(corpus, rng)
        sizes.append(bytes_of(kernel.load(latents, corpus, model)))
    assert max(sizes[1:]) < 2.01 * sizes[0]
    assert sizes[0] < 300 * 4000  # bytes a token


def test_a_state_that_was_tampered_with_is_noticed():
    model = get("was", n_topics=2, window=2, most_dishes=3)
    corpus = Design(np.array([4, 3]), 3).corpus(np.array([0, 1, 2, 0, 1, 2, 0]))
    rng = np.random.default_rng(0)
    for break_it, message in (
        (lambda s: s.topics.total.__iadd__(1), "total differs"),
        (lambda s: s.tokens.topic.__setitem__(0, 2), "topic is outside"),
        (lambda s: s.tokens.dish.__setitem__(0, 4), "dish is outside"),
        (lambda s: s.tokens.dish.__setitem__(slice(0, 4), [0, 1, 2, 3]), "more tables or dishes"),
        (lambda s: s.document.own_count.__setitem__(0, 1), "dirty: own_count"),
        (lambda s: s.law.log_offer.__setitem__(0, 9.0), "log_offer"),
    ):
        state = model.kernel().load(model.initial_latents(corpus, rng), corpus, model)
        sweeps.blocked_sweep(rng, state)
        model.kernel().check(state)
        break_it(state)
        with pytest.raises(AssertionError, match=message):
            model.kernel().check(state)

"""Whole sweeps of the Pitman-Yor kernels: counts, one stream of numbers, explicit bases, bad input."""

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, load_room
from bnpzoo.kernels.lda import documents
from bnpzoo.kernels.pitman_yor import counts, explicit, topics
from bnpzoo.kernels.pitman_yor.counts import snapshot
from bnpzoo.kernels.pitman_yor.explicit import explicit_sweep
from bnpzoo.kernels.pitman_yor.seats import SCHEMES
from bnpzoo.kernels.toolbox import sides, sweeps
from bnpzoo.kernels.toolbox.sides import weigh_topic
from bnpzoo.kernels.toolbox.sweeps import check, sparse_sweep
from bnpzoo.kernels.toolbox.token_pass import sparse_block
from bnpzoo.zoo.priors import LEAST, MOST
from frozen import as_of_a_corpus
from restaurants import rows_of
from samplers import as_plain_python
from scipy import stats

FIXED = dict.fromkeys(("alpha", "b", "a", "eta"), (0.0, 0.0))
SAMPLED = {"alpha": (1.0, 1.0), "b": (1.0, 0.1), "a": (2.0, 1.5), "eta": (1.0, 2.0)}
FALSE_ALARM_RATE = 1e-5
ORIGINAL = load_room()


def make_state(
    words, doc_ptr, group, n_words, z, association, alpha, b, a, eta, priors, bases, room=ORIGINAL, **given
):
    """Documents of LDA over Pitman-Yor topics."""
    words, doc_ptr, group = as_of_a_corpus(words, doc_ptr, group)
    tokens = room(sides).tokens_of(words, doc_ptr, group, z)
    n_topics, latents = len(b), {"association": association, "b": b, "a": a, "eta": eta}
    words = room(topics).pitman_yor_topics(
        tokens, group, n_words, n_topics, n_topics, latents, priors, bases, **given
    )
    may_have = np.ones((len(alpha), n_topics))
    return room(sweeps).make_state(
        tokens, room(documents).finite_documents(may_have, alpha, priors["alpha"]), words
    )


def random_state(
    same_word,
    scheme="forced",
    seed=0,
    lengths=(7, 0, 12, 5, 9),
    n_words=4,
    n_topics=3,
    bases=(0, 0),
    priors=FIXED,
):
    """State of a corpus of random words, a group for each of the bases, not seated yet."""
    rng = np.random.default_rng(seed)
    n = sum(lengths)
    matrices = [rng.random((n_words, n_words)) * (rng.random((n_words, n_words)) < 0.5) for _ in bases]
    matrices = [(p + np.eye(n_words)) / (p + np.eye(n_words)).sum(axis=0) for p in matrices]
    group = np.sort(rng.integers(len(bases), size=len(lengths)))
    return make_state(
        np.minimum(rng.geometric(0.4, n) - 1, n_words - 1),
        np.concatenate([[0], np.cumsum(lengths)]),
        group,
        n_words,
        np.full(n, -1),
        np.full(n, -1),
        [0.3, 1.2],
        np.linspace(0.5, 3.0, n_topics),
        0.6,
        0.4,
        priors,
        bases,
        **({} if same_word else rows_of(matrices)),
        scheme=scheme,
    )


SHAPES = {
    "usual": {},
    "own_bases": {"bases": (0, 1)},
    "one_word": {"n_words": 1},
    "one_topic": {"n_topics": 1},
    "one_document": {"lengths": (30,)},
    "no_token": {"lengths": (0, 0)},
    "no_document": {"lengths": ()},
}


@as_plain_python
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("same_word", [True, False])
@pytest.mark.parametrize("sweep", [sparse_sweep, explicit_sweep])
def test_counts_stay_consistent(sweep, same_word, shape):
    for scheme in SCHEMES:
        state = random_state(same_word, scheme, priors=SAMPLED, **shape)
        rng = np.random.default_rng(1)
        for _ in range(5):
            sweep(rng, state)
            check(state)
            if not state.tokens.words.size:
                return


@pytest.mark.parametrize("same_word", [True, False])
@pytest.mark.slow
def test_check_notices(same_word):
    for name in ("listed_tables", "listed_customers", "customers", "tables", "b"):
        state = random_state(same_word)
        sparse_sweep(np.random.default_rng(0), state)
        getattr(state.topics.restaurants, name).ravel()[0] -= 5
        with pytest.raises(AssertionError):
            check(state)


def reloaded(state, room=ORIGINAL, priors=FIXED):
    """State made of what a snapshot tells."""
    tokens, document_side, side, _ = state
    found, dishes = snapshot(tokens, side), side.dishes
    given = {} if len(dishes) == 1 else {x: getattr(dishes, x) for x in ("row_ptr", "column", "weight")}
    return make_state(
        tokens.words, tokens.doc_ptr, side.group, int(side.restaurants.n_words[0]), tokens.topic,
        found["association"], document_side.alpha, found["b"], found["a"], found["eta"], priors,
        side.restaurants.base_of_group, room=room, **given,
    )  # fmt: skip


@pytest.mark.parametrize("same_word", [True, False])
def test_a_snapshot_tells_the_state(same_word):
    state = random_state(same_word)
    sparse_sweep(np.random.default_rng(0), state)
    again = reloaded(state)
    again.topics.heads_seed[:] = state.topics.heads_seed
    check(again)
    first, second = (snapshot(x.tokens, x.topics) for x in (state, again))
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])
    np.testing.assert_array_equal(state.topics.restaurants.tables, again.topics.restaurants.tables)


@pytest.mark.parametrize("seeds_change", [True, False])
def test_any_tokens_of_a_word_head_its_tables(seeds_change):
    """Were it always the same ones, words drawn anew given who heads tables would not be exchangeable."""
    rng, state = np.random.default_rng(7), random_state(True, n_words=1, n_topics=1, lengths=(10,))
    score, variance = 0.0, 0.0
    place = np.arange(10) - 4.5
    for _ in range(1_000):
        sparse_sweep(rng, state)
        state.topics.heads_seed[0] *= seeds_change
        is_head = snapshot(state.tokens, state.topics)["association"] >= 0
        score += place @ is_head
        share = is_head.mean()
        variance += share * (1.0 - share) * 10 / 9 * place @ place
    assert (2.0 * stats.norm.sf(abs(score) / np.sqrt(variance)) > FALSE_ALARM_RATE) == seeds_change


def test_each_seed_names_heads_of_its_own():
    """All digits of it count."""
    state, named = random_state(True, n_words=1, n_topics=1, lengths=(40,)), set()
    sparse_sweep(np.random.default_rng(0), state)
    for digit in range(8):
        state.topics.heads_seed[0] = 0.5 + digit * 2.0**-53
        named.add(tuple(snapshot(state.tokens, state.topics)["association"]))
    assert len(named) == 8


@pytest.mark.heavy
@pytest.mark.parametrize("same_word", [True, False])
@pytest.mark.parametrize(("module", "name"), [(sweeps, "sparse_sweep"), (explicit, "explicit_sweep")])
def test_plain_python_draws_the_same(module, name, same_word):
    start = random_state(same_word)
    sparse_sweep(np.random.default_rng(0), start)
    states = []
    for room in (ORIGINAL, load_room(PLAIN_PYTHON)):
        state = reloaded(start, room, SAMPLED)
        rng = np.random.default_rng(3)
        for _ in range(2):
            getattr(room(module), name)(rng, state)
        found = room(counts).snapshot(state.tokens, state.topics)
        states.append(found | {"z": state.tokens.topic, "alpha": state.documents.alpha, "next": rng.random()})
    for latent in states[0]:
        np.testing.assert_allclose(states[0][latent], states[1][latent], rtol=1e-9, err_msg=latent)


@pytest.mark.parametrize("same_word", [True, False])
def test_mass_equals_recount(same_word):
    """Over one block, thirty times as long as the pass would let it grow, so that errors add up."""
    state = random_state(same_word, lengths=(9, 0, 4, 50) * 30, bases=(0,))
    rng = np.random.default_rng(1)
    mass = sparse_block(rng, *state, 0, 120)
    kept, recounted = state.scratch.coefficient.copy(), 0.0
    for k in range(kept.size):
        state.scratch.coefficient[k] = 0.0
        recounted = weigh_topic(*state, 0, k, recounted)
    assert mass == pytest.approx(recounted, rel=1e-12)
    np.testing.assert_array_equal(kept, state.scratch.coefficient)


@pytest.mark.parametrize(("same_word", "exact"), [(True, 7.414953), (False, 7.115076731878)])
@pytest.mark.slow
def test_explicit_bases_give_the_expected_tables(same_word, exact):
    """Of a corpus all of whose states have been summed."""
    matrices = (
        np.array([[0.7, 0.2, 0.0], [0.3, 0.5, 0.4], [0.0, 0.3, 0.6]]),
        np.array([[0.5, 0.0, 0.1], [0.5, 0.6, 0.0], [0.0, 0.4, 0.9]]),
    )
    words, doc_ptr, group = [0, 0, 0, 1, 0, 0, 0, 2], [0, 2, 4, 6, 8], [0, 0, 1, 1]
    unseated = np.full(8, -1)
    state = make_state(
        words, doc_ptr, group, 3, unseated, unseated, [0.5, 0.5], [1.5, 1.5], 0.7, 0.4, FIXED, [0, 0],
        **({} if same_word else rows_of(matrices)),
    )  # fmt: skip
    rng = np.random.default_rng(5)
    n_tables = np.empty((100, 200))
    for i in range(n_tables.size):
        explicit_sweep(rng, state)
        n_tables.flat[i] = state.topics.restaurants.tables.sum()
    batches = n_tables.mean(axis=1)
    z = (batches.mean() - exact) / (batches.std(ddof=1) / 10.0)
    assert abs(z) < stats.t.isf(FALSE_ALARM_RATE / 2, 99)


@pytest.mark.parametrize(("a", "b"), [(0.0, 0.0), (0.7, -0.7), (0.5, np.nan)])
def test_a_concentration_below_minus_the_discount_is_refused(a, b):
    with pytest.raises(ValueError, match=r"b of topic 1 is .*; expected more than -a"):
        make_two_tokens(a=a, b=[1.0, b])


@pytest.mark.parametrize("a", [-0.1, 1.0, np.nan])
def test_a_discount_out_of_range_is_refused(a):
    with pytest.raises(ValueError, match=r"a is .*; expected a number in \[0, 1\)"):
        make_two_tokens(a=a)


def test_a_sampled_discount_is_not_zero():
    with pytest.raises(ValueError, match="a is 0; expected more, as it is sampled"):
        make_two_tokens(a=0.0, priors=SAMPLED)


@pytest.mark.parametrize("a", [LEAST, MOST])
def test_a_sampled_discount_moves_away_from_its_ends(a):
    state = make_two_tokens(a=a, priors=SAMPLED)
    rng = np.random.default_rng(0)
    for _ in range(20):
        sparse_sweep(rng, state)
    assert 1e-6 < state.topics.scheme.discount[0] < 1.0 - 1e-6


def test_a_word_without_source_is_refused():
    with pytest.raises(ValueError, match="word 1 occurs in group 0; expected an association"):
        make_two_tokens(row_ptr=[0, 2, 3], column=[0, 1, 1], weight=[1.0, 1.0, 0.0])


def make_two_tokens(a=0.5, b=(1.0, 1.0), priors=FIXED, **p):
    unseated = np.full(2, -1)
    return make_state([0, 1], [0, 2], [0], 2, unseated, unseated, [0.5], b, a, 0.4, priors, [0], **p)

"""Exchangeable laws of a document's dishes, by urns: what their samplers share.

An urn says how many seats each dish has for a token of a sentence, given those of all other tokens, and what
else is kept of a seat. A token's dish, seat and topic are drawn together, by one uniform variate.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..toolbox.jit import borrowing_kernel, chosen_by_type, kernel
from ..toolbox.sides import check_positive, longest_document
from .documents import SLOTS, count_dishes, count_topic, discount_topic, empty_slot, forget_dishes
from .hyper import update_smoothings
from .state import Tokens, Topics, check_tokens, count_topics, hyperparameters
from .tables import note_dishes
from .vectors import TopicVectors, check_vectors, is_full, make_vectors, n_represented, open_topic
from .weights import combine, draw_dish, draw_topic, weigh_word


class Smoothings(NamedTuple):
    """The law of topic vectors; Dirichlet parameter of topics, float64 (1,), and its prior, float64 (2,)."""

    vectors: TopicVectors
    eta: np.ndarray
    eta_prior: np.ndarray

    FIXED = ("eta_prior",)


class Dishes(NamedTuple):
    """Working memory: the dishes of the document that a sweep is in. Clean between documents.

    The fields are those of `state.Document` of the same names, but

    Attributes
    ----------
    log_weight : float64 (L + 1,)
        Becomes the weight of each slot; the last one in use is for a new dish.
    table_weight : float64 (L + 1,)
        How many seats each slot has for the token.
    name : int32 (L,)
        For `count_dishes`.
    """

    sizes: np.ndarray
    in_dish: np.ndarray
    dish_size: np.ndarray
    listed: np.ndarray
    n_listed: np.ndarray
    log_weight: np.ndarray
    table_weight: np.ndarray
    omega: np.ndarray
    block: np.ndarray
    block_topics: np.ndarray
    name: np.ndarray

    BY_TOPIC = ("in_dish", "listed", "omega", "block", "block_topics")


class DishTally(NamedTuple):
    """What a sweep notes of all dishes; the fields are those of `state.Tally`."""

    numbers: np.ndarray
    dish_size: np.ndarray
    in_dish: np.ndarray


class UrnState(NamedTuple):
    """State of a chain.

    Attributes
    ----------
    tokens : Tokens
    topics : Topics
    smoothings : Smoothings
    dishes : Dishes
    tally : DishTally
    urn : NamedTuple
        Its class says which law it is; see `franchise` and `mixture`.
    """

    tokens: Tokens
    topics: Topics
    smoothings: Smoothings
    dishes: Dishes
    tally: DishTally
    urn: Any


@chosen_by_type(0)
def enter_urn(urn, tokens, dishes, d):
    """Count what the urn keeps of document `d`, whose dishes are counted."""


@chosen_by_type(0)
def enter_sentence(urn, tokens, dishes, s):
    """Count what the urn keeps of sentence `s`, and make it the current one."""


@chosen_by_type(0)
def leave_sentence(urn, tokens, dishes, s):
    """Forget sentence `s`."""


@chosen_by_type(0)
def leave_urn(urn, dishes, d):
    """Note what the moves of hyperparameters ask for of document `d`, and forget it."""


@chosen_by_type(0, borrows=True)
def leave_seat(urn, tokens, dishes, i):
    """Count token `i` of the current sentence out of the urn."""


@chosen_by_type(0, borrows=True)
def weigh_seats(urn, dishes, s):
    """Fill how many seats the slots and a new dish have for a token of the current sentence, `s`."""


@chosen_by_type(0, borrows=True)
def choose_seat(urn, tokens, dishes, i, c, u):
    """Say which seat token `i` takes at slot `c`, at height `u` within its weight; return what is left of u.

    What is left is at the height in the whole weight of the slot that `u` has within its seat.
    """


@chosen_by_type(0, borrows=True)
def take_seat(urn, tokens, dishes, i):
    """Count token `i` of the current sentence into the urn; its dish and seat are known."""


@chosen_by_type(1)
def move_blocks(rng, urn, tokens, smoothings, dishes, d):
    """Move tokens of document `d` together, if the urn knows of a way."""


@chosen_by_type(1)
def update_urn(rng, urn):
    """Draw the urn's own hyperparameters given what was noted, unless they are fixed."""


@borrowing_kernel
def draw_seat(rng, state, i, s):
    """Give token `i` of sentence `s`, which is counted out, a dish, a seat and a topic."""
    tokens, topics, dishes, urn = state.tokens, state.topics, state.dishes, state.urn
    n_slots = dishes.sizes[SLOTS]
    for c in range(n_slots + 1):
        dishes.log_weight[c] = 0.0
    weigh_seats(urn, dishes, s)
    word_total = weigh_word(state.smoothings, topics, dishes, tokens.words[i])
    total = combine(state.smoothings, dishes, word_total)
    c, u = draw_dish(dishes, rng.random(), total)
    u = choose_seat(urn, tokens, dishes, i, c, u)
    k = draw_topic(state.smoothings, dishes, c, u)
    open_topic(rng, state.smoothings.vectors, k)
    if c == n_slots:
        c = empty_slot(dishes)
        dishes.sizes[SLOTS] = max(n_slots, c + 1)
    tokens.dish[i], tokens.topic[i] = c, k
    topics.counts[tokens.words[i], k] += 1
    topics.total[k] += 1
    count_topic(dishes, c, k)
    take_seat(urn, tokens, dishes, i)


@kernel
def token_pass(rng, state):
    """Draw every token anew, in the order of the corpus; see `tokens.token_pass`. Mutates `state`."""
    tokens, topics, dishes, urn = state.tokens, state.topics, state.dishes, state.urn
    vectors = state.smoothings.vectors
    begin = vectors.next_token[0]
    for d in range(tokens.doc_ptr.size - 1):
        if tokens.doc_ptr[d + 1] <= begin:
            continue
        count_dishes(tokens, dishes, dishes.name, d)
        enter_urn(urn, tokens, dishes, d)
        for s in range(tokens.doc_sentences[d], tokens.doc_sentences[d + 1]):
            enter_sentence(urn, tokens, dishes, s)
            for i in range(max(begin, tokens.sentence_ptr[s]), tokens.sentence_ptr[s + 1]):
                if is_full(vectors):
                    leave_sentence(urn, tokens, dishes, s)
                    leave_urn(urn, dishes, d)
                    forget_dishes(dishes)
                    vectors.next_token[0] = i
                    return False
                if tokens.dish[i] >= 0:
                    topics.counts[tokens.words[i], tokens.topic[i]] -= 1
                    topics.total[tokens.topic[i]] -= 1
                    discount_topic(dishes, tokens.dish[i], tokens.topic[i])
                    leave_seat(urn, tokens, dishes, i)
                draw_seat(rng, state, i, s)
            leave_sentence(urn, tokens, dishes, s)
        leave_urn(urn, dishes, d)
        forget_dishes(dishes)
    vectors.next_token[0] = 0
    return True


@kernel
def block_pass(rng, state):
    """Move blocks of tokens, and note all dishes and seats. Mutates `state`."""
    tokens, dishes, tally, urn = state.tokens, state.dishes, state.tally, state.urn
    tally.in_dish[:] = 0
    tally.numbers[:] = 0
    state.smoothings.vectors.tables[:] = 0
    for d in range(tokens.doc_ptr.size - 1):
        count_dishes(tokens, dishes, dishes.name, d)
        enter_urn(urn, tokens, dishes, d)
        move_blocks(rng, urn, tokens, state.smoothings, dishes, d)
        note_dishes(rng, state.smoothings.vectors, dishes, tally)
        leave_urn(urn, dishes, d)
        forget_dishes(dishes)


@kernel
def sweep(rng, state):
    """One sweep: tokens, blocks of them, hyperparameters; see `sweeps`. Mutates `state`."""
    if not token_pass(rng, state):
        return False
    block_pass(rng, state)
    update_urn(rng, state.urn)
    update_smoothings(rng, state.smoothings, state.tokens, state.topics, state.tally)
    return True


def make_state(
    tokens: Tokens,
    sizes: tuple[int, int],
    latents: Mapping[str, np.ndarray],
    priors: Mapping[str, tuple[float, float]],
    urn: Any,
) -> UrnState:
    """State that stands at the tokens' dishes and topics and at the hyperparameters among `latents`.

    Parameters
    ----------
    tokens : Tokens
    sizes : (K, V)
        As many topics as are needed where K is 0.
    latents : mapping of str to array
    priors : mapping of str to (shape, rate)
    urn : NamedTuple
    """
    (n_topics, n_words), longest = sizes, longest_document(tokens)
    vectors = make_vectors(latents, priors, n_topics)
    capacity = vectors.base.size

    def integers(*shape: int) -> np.ndarray:
        return np.zeros(shape, np.int32)

    dishes = Dishes(
        sizes=np.zeros(1, np.int64),
        in_dish=integers(longest + 1, capacity),
        dish_size=integers(longest + 1),
        listed=integers(longest, capacity),
        n_listed=integers(longest),
        log_weight=np.zeros(longest + 1),
        table_weight=np.zeros(longest + 1),
        omega=np.zeros(capacity),
        block=integers(capacity),
        block_topics=integers(capacity),
        name=integers(longest),
    )
    return UrnState(
        tokens,
        Topics(*count_topics(tokens, n_words, capacity)),
        Smoothings(vectors, **hyperparameters(latents, priors, ("eta",))),
        dishes,
        DishTally(
            np.zeros(3, np.int64), np.zeros(tokens.words.size, np.int64), np.zeros(longest + 1, np.int64)
        ),
        urn,
    )


def check(state: UrnState) -> None:
    """Recount the statistics of `state`; raise AssertionError where one differs."""
    tokens, dishes, urn = state.tokens, state.dishes, state.urn
    check_tokens(tokens, state.topics, n_represented(state.smoothings.vectors), len(dishes.listed))
    check_positive(eta=state.smoothings.eta)
    check_vectors(state.smoothings.vectors)
    for owner, names in ((dishes, ("sizes", "in_dish", "dish_size", "n_listed", "block")), (urn, urn.EMPTY)):
        for name in names:
            if np.any(getattr(owner, name)):
                raise AssertionError(f"working memory was left dirty: {name}")
    document = np.repeat(np.arange(tokens.doc_ptr.size - 1), np.diff(tokens.doc_ptr))
    n_dishes = np.bincount(np.unique(np.column_stack([document, tokens.dish]), axis=0)[:, 0])
    if urn.most_dishes and n_dishes.max(initial=0) > urn.most_dishes:
        raise AssertionError("there are more dishes than there may be")

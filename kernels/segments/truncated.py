"""Truncated stick-breaking for each sentence over the dishes of its document.

Sentence s has weights theta_sl = v_sl prod_{m<l} (1 - v_sm) over the T dishes, v ~ Beta(a, b), and the last
stick is all that is left. With sticks, topic vectors and topics integrated out, dish l has for a token weight

    (a + g_l) / (a + b + g_l + h_l) prod_{m<l} (b + h_m) / (a + b + g_m + h_m)

times that of its word; the last dish takes what is left. g_l are the sentence's tokens of dish l, h_l those
of later dishes.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..toolbox.jit import borrowing_kernel, kernel
from ..toolbox.random import crt, log_beta
from ..toolbox.sides import check_positive, longest_document
from .hyper import slice_sticks, update_eta
from .state import Tokens, Topics, check_tokens, count_topics, hyperparameters
from .vectors import (
    TopicVectors,
    check_vectors,
    is_full,
    is_unbounded,
    make_vectors,
    n_represented,
    open_topic,
    update_vectors,
)
from .weights import weigh_word


class TruncatedState(NamedTuple):
    """State of a chain.

    Sizes: T dishes, K topics and room for more, S sentences, D documents.

    Attributes
    ----------
    tokens : Tokens
    topics : Topics
    vectors : TopicVectors
    a, b, eta : float64 (1,)
    a_prior, b_prior, eta_prior : float64 (2,)
        Shape and rate, or zeros for a fixed value.
    in_dish : int64 (T, K)
        Tokens of the current document; zero between documents.
    dish_size : int64 (T,)
        The same.
    seats : int64 (T,)
        Tokens of the current sentence; zero between sentences.
    weights : float64 (T,)
    omega : float64 (K,)
        Weight of the current token's word in each topic.
    stick_size, stick_later : int64 (S, T - 1)
        One more than the tokens of a dish, and those of later ones, as a sweep noted them.
    dish_sizes : int64 (D, T)
    counts_of_dishes : int64 (longest + 1,)
        How many pairs of dish and topic have so many tokens.
    """

    tokens: Tokens
    topics: Topics
    vectors: TopicVectors
    a: np.ndarray
    b: np.ndarray
    eta: np.ndarray
    a_prior: np.ndarray
    b_prior: np.ndarray
    eta_prior: np.ndarray
    in_dish: np.ndarray
    dish_size: np.ndarray
    seats: np.ndarray
    weights: np.ndarray
    omega: np.ndarray
    stick_size: np.ndarray
    stick_later: np.ndarray
    dish_sizes: np.ndarray
    counts_of_dishes: np.ndarray

    FIXED = ("a_prior", "b_prior", "eta_prior")
    BY_TOPIC = ("in_dish", "omega")


@borrowing_kernel
def count_token(state, i, change):
    """Count token `i` into its document and its topic, or out where `change` is -1."""
    tokens, topics = state.tokens, state.topics
    c, k = tokens.dish[i], tokens.topic[i]
    state.in_dish[c, k] += change
    state.dish_size[c] += change
    topics.counts[tokens.words[i], k] += change
    topics.total[k] += change


@borrowing_kernel
def weigh(state, word):
    """Fill the weights of all dishes for a token of the current sentence, counted out; return their sum."""
    a, b, vectors = state.a[0], state.b[0], state.vectors
    n_dishes, n_topics = state.seats.size, vectors.n_topics[0]
    word_total = weigh_word(state, state.topics, state, word)
    later = state.seats.sum()
    passed, total = 1.0, 0.0
    for c in range(n_dishes):
        later -= state.seats[c]
        mass = a + b + state.seats[c] + later
        is_last = c == n_dishes - 1
        seat = passed if is_last else passed * (a + state.seats[c]) / mass
        passed *= (b + later) / mass
        of_word = word_total
        for k in range(n_topics):
            of_word += state.in_dish[c, k] * state.omega[k]
        state.weights[c] = seat * of_word / (state.dish_size[c] + vectors.mass[0])
        total += state.weights[c]
    return total


@borrowing_kernel
def draw(state, u):
    """Dish and topic at height `u` of the weights laid end to end."""
    n_dishes, n_topics = state.seats.size, state.vectors.n_topics[0]
    base, c = state.vectors.base, 0
    while c < n_dishes - 1 and u >= state.weights[c]:
        u = u - state.weights[c]
        c += 1
    mass = 0.0
    for k in range(n_topics):
        mass += (state.in_dish[c, k] + base[k]) * state.omega[k]
    u = u * (mass / state.weights[c])
    for k in range(n_topics):
        u = u - (state.in_dish[c, k] + base[k]) * state.omega[k]
        if u < 0.0:
            return c, k
    return c, n_topics - 1


@kernel
def token_pass(rng, state):
    """Draw dish and topic of every token anew, by one uniform variate each. Mutates `state`.

    See `tokens.token_pass`.
    """
    tokens, vectors = state.tokens, state.vectors
    begin = vectors.next_token[0]
    for d in range(tokens.doc_ptr.size - 1):
        if tokens.doc_ptr[d + 1] <= begin:
            continue
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            if tokens.dish[i] >= 0:
                state.in_dish[tokens.dish[i], tokens.topic[i]] += 1
                state.dish_size[tokens.dish[i]] += 1
        for s in range(tokens.doc_sentences[d], tokens.doc_sentences[d + 1]):
            seat_sentence(state, s)
            for i in range(max(begin, tokens.sentence_ptr[s]), tokens.sentence_ptr[s + 1]):
                if is_full(vectors):
                    forget_document(state)
                    vectors.next_token[0] = i
                    return False
                if tokens.dish[i] >= 0:
                    count_token(state, i, -1)
                    state.seats[tokens.dish[i]] -= 1
                total = weigh(state, tokens.words[i])
                tokens.dish[i], tokens.topic[i] = draw(state, rng.random() * total)
                open_topic(rng, vectors, tokens.topic[i])
                count_token(state, i, 1)
                state.seats[tokens.dish[i]] += 1
            state.seats[:] = 0
        forget_document(state)
    vectors.next_token[0] = 0
    return True


@borrowing_kernel
def forget_document(state):
    """Count all tokens out of the document and the sentence."""
    state.seats[:] = 0
    state.in_dish[:] = 0
    state.dish_size[:] = 0


@borrowing_kernel
def seat_sentence(state, s):
    """Count the tokens of each dish of sentence `s`."""
    tokens = state.tokens
    for i in range(tokens.sentence_ptr[s], tokens.sentence_ptr[s + 1]):
        if tokens.dish[i] >= 0:
            state.seats[tokens.dish[i]] += 1


@kernel
def log_ratio_of_exchange(state, d, c):
    """Log ratio of the law of document `d` with dishes c and c + 1 exchanged to that as it is."""
    tokens, a, b = state.tokens, state.a[0], state.b[0]
    out = 0.0
    for s in range(tokens.doc_sentences[d], tokens.doc_sentences[d + 1]):
        seat_sentence(state, s)
        first, second = state.seats[c], state.seats[c + 1]
        if first != second:
            after = state.seats[c + 2 :].sum()
            out += log_beta(a + second, b + first + after) - log_beta(a + first, b + second + after)
            if c + 2 < state.seats.size:
                out += log_beta(a + first, b + after) - log_beta(a + second, b + after)
        state.seats[:] = 0
    return out


@kernel
def exchange_dishes(rng, state):
    """Exchange neighbouring dishes of a document, where a Metropolis step accepts it. Mutates `state`.

    Tokens one by one hardly ever carry a dish from a stick that is long in all sentences to a shorter one.
    """
    tokens = state.tokens
    for d in range(tokens.doc_ptr.size - 1):
        for c in range(state.seats.size - 1):
            if rng.random() < math.exp(min(log_ratio_of_exchange(state, d, c), 0.0)):
                for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
                    if tokens.dish[i] == c:
                        tokens.dish[i] = c + 1
                    elif tokens.dish[i] == c + 1:
                        tokens.dish[i] = c


@kernel
def note_counts(rng, state):
    """Note what the moves of hyperparameters ask for. Mutates `state`."""
    tokens = state.tokens
    n_dishes, vectors = state.seats.size, state.vectors
    state.counts_of_dishes[:] = 0
    vectors.tables[:] = 0
    for d in range(tokens.doc_ptr.size - 1):
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            state.in_dish[tokens.dish[i], tokens.topic[i]] += 1
        for c in range(n_dishes):
            state.dish_sizes[d, c] = state.in_dish[c].sum()
            for k in range(vectors.n_topics[0]):
                state.counts_of_dishes[state.in_dish[c, k]] += 1
                if is_unbounded(vectors):
                    vectors.tables[k] += crt(rng, state.in_dish[c, k], vectors.base[k])
        state.in_dish[:] = 0
        for s in range(tokens.doc_sentences[d], tokens.doc_sentences[d + 1]):
            seat_sentence(state, s)
            later = 0
            for c in range(n_dishes - 1, -1, -1):
                if c < n_dishes - 1:
                    state.stick_size[s, c] = state.seats[c] + 1
                    state.stick_later[s, c] = later
                later += state.seats[c]
            state.seats[:] = 0
    state.counts_of_dishes[0] = 0


@kernel
def sweep(rng, state):
    """One sweep: tokens, neighbouring dishes, hyperparameters; see `sweeps`. Mutates `state`."""
    if not token_pass(rng, state):
        return False
    exchange_dishes(rng, state)
    note_counts(rng, state)
    slice_sticks(rng, state, state.stick_size.ravel(), state.stick_later.ravel())
    sizes = state.dish_sizes.ravel()
    update_vectors(rng, state.vectors, state.tokens, state.topics, sizes, state.counts_of_dishes)
    update_eta(rng, state.eta, state.eta_prior, state.topics)
    return True


def make_state(
    tokens: Tokens,
    sizes: tuple[int, int, int],
    latents: Mapping[str, np.ndarray],
    priors: Mapping[str, tuple[float, float]],
) -> TruncatedState:
    """State that stands at the tokens' dishes and topics and at the hyperparameters among `latents`.

    Parameters
    ----------
    tokens : Tokens
    sizes : (T, K, V)
        As many topics as are needed where K is 0.
    latents : mapping of str to array
    priors : mapping of str to (shape, rate)
    """
    n_dishes, n_topics, n_words = sizes
    n_documents, n_sentences = tokens.doc_ptr.size - 1, tokens.sentence_ptr.size - 1
    vectors = make_vectors(latents, priors, n_topics)
    capacity = vectors.base.size
    return TruncatedState(
        tokens=tokens,
        topics=Topics(*count_topics(tokens, n_words, capacity)),
        vectors=vectors,
        **hyperparameters(latents, priors, ("a", "b", "eta")),
        in_dish=np.zeros((n_dishes, capacity), np.int64),
        dish_size=np.zeros(n_dishes, np.int64),
        seats=np.zeros(n_dishes, np.int64),
        weights=np.zeros(n_dishes),
        omega=np.zeros(capacity),
        stick_size=np.zeros((n_sentences, n_dishes - 1), np.int64),
        stick_later=np.zeros((n_sentences, n_dishes - 1), np.int64),
        dish_sizes=np.zeros((n_documents, n_dishes), np.int64),
        counts_of_dishes=np.zeros(longest_document(tokens) + 1, np.int64),
    )


def check(state: TruncatedState) -> None:
    """Recount the statistics of `state`; raise AssertionError where one differs."""
    check_tokens(state.tokens, state.topics, n_represented(state.vectors), len(state.in_dish))
    check_positive(a=state.a, b=state.b, eta=state.eta)
    check_vectors(state.vectors)
    for name in ("in_dish", "dish_size", "seats"):
        if np.any(getattr(state, name)):
            raise AssertionError(f"working memory was left dirty: {name}")

"""The two sides of a topic model as flat arrays, the tokens between them, and what a side has to offer.

A token of word w in document d belongs to topic k with weight

    (prior[g, k] + n_dk) * p(w | k, all other tokens),        g = group of d,

or to a topic not represented yet with weight ``rest[g]`` times the probability of its word there. The first
factor is the *document side*, the second the *topic side*. Each side is a NamedTuple that holds its
hyperparameters and their priors; a prior is (shape, rate), or zeros for a fixed value.

A document side has the fields ``prior`` and ``rest``, and implements `open_topic` and `move_documents`. A
topic side has the field ``n_topics``, a one-element array: the number of represented topics, which are the
leading entries of all arrays over topics. These have room for more (``capacity``), so that sweeps can add
topics in place. A topic side implements the other functions that are declared here. Of each NamedTuple,
``FIXED`` names the fields that hold data and priors, which no sweep changes.
"""

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from .jit import borrowing_kernel, chosen_by_type, kernel
from .random import crt

ROOM = 64
"""For topics beyond those that a state begins with."""


class Tokens(NamedTuple):
    """Ragged tokens and their topics.

    Attributes
    ----------
    words : int32 (N,)
    doc_ptr : int64 (D + 1,)
        Document d holds tokens ``doc_ptr[d]:doc_ptr[d + 1]``.
    group : int32 (D,)
        Group (task) of each document on the document side: its row of the prior; zeros where there is one.
    topic : int32 (N,)
        Topic of each token, -1 while it has none. Sweeps change it.
    """

    words: np.ndarray
    doc_ptr: np.ndarray
    group: np.ndarray
    topic: np.ndarray

    FIXED = ("words", "doc_ptr", "group")


class Scratch(NamedTuple):
    """Working memory of a sweep, so that nothing is allocated a token. Holds nothing between documents.

    Attributes
    ----------
    doc_count : int64 (capacity,)
        n_dk of the current document; zero between documents.
    doc_topics : int32 (capacity,)
        Topics that tokens of the current document have, or had since the sweep came to it.
    is_doc_topic : bool (capacity,)
        Whether a topic is in `doc_topics`; False between documents.
    coefficient : float64 (capacity,)
        What the weight of a topic is a multiple of, whatever the word; see `weigh_topic`.
    weights : float64 (capacity + 1,)
    next_document : int64 (1,)
        Where a sweep that ran out of room for new topics goes on.
    """

    doc_count: np.ndarray
    doc_topics: np.ndarray
    is_doc_topic: np.ndarray
    coefficient: np.ndarray
    weights: np.ndarray
    next_document: np.ndarray


class State(NamedTuple):
    """State of a chain: tokens, any document side, any topic side, working memory."""

    tokens: Tokens
    documents: Any
    topics: Any
    scratch: Scratch


@chosen_by_type(1)
def open_topic(rng, documents, topic, group):
    """Split the prior weight of `topic` off the rest of `documents`, given that a token of `group` chose it.

    Called before the token is counted; `topic` is the number of topics represented so far.
    """


@chosen_by_type(2)
def move_documents(rng, tokens, documents, topics, scratch):
    """Move all of the document side given the tokens' topics; may renumber topics."""


@chosen_by_type(0)
def same_words(topics, d, other):
    """Whether the words of two documents come from the same topics."""


@chosen_by_type(3, borrows=True)
def dense_step(rng, tokens, documents, topics, scratch, d, i):
    """Resample the topic of token `i` of document `d`, whose topics are counted in the scratch."""


@chosen_by_type(3, borrows=True)
def sparse_step(rng, tokens, documents, topics, scratch, d, i, n_doc_topics, mass):
    """Do the same in time that grows with the non-zero counts, given the sum of all coefficients.

    Returns the number of topics in ``scratch.doc_topics``, and the sum of all coefficients.
    """


@chosen_by_type(2, borrows=True)
def weigh_topic(tokens, documents, topics, scratch, d, k, mass):
    """Bring the coefficient of topic `k` up to date; return `mass`, the sum of all, with this change."""


@chosen_by_type(1)
def finish_pass(rng, topics):
    """Move what goes with the tokens, where their steps leave it alone."""


@chosen_by_type(0)
def topic_sizes(topics):
    """Tokens of each represented topic."""


@chosen_by_type(0)
def rename_topics(topics, new_name, n_kept):
    """Renumber topics: `new_name` keeps their order, and is -1 for those without tokens."""


@chosen_by_type(1)
def move_topics(rng, topics):
    """Move the hyperparameters of the topic side."""


@singledispatch
def with_capacity(side, capacity: int) -> Any:
    """Copy of a side with room for `capacity` topics."""
    raise TypeError(f"{type(side).__name__}: expected a document side or a topic side")


@singledispatch
def check_side(side, tokens: Tokens, n_topics: int) -> None:
    """Compare a side with a recount from the tokens: the paranoid mode of the samplers.

    Raises
    ------
    AssertionError
        Names the statistic that differs from its recount.
    """
    raise TypeError(f"{type(side).__name__}: expected a document side or a topic side")


def check_topic_of_tokens(tokens: Tokens, n_topics: int) -> None:
    """Raise AssertionError unless every token has one of `n_topics` topics."""
    if tokens.topic.size and not 0 <= tokens.topic.min() <= tokens.topic.max() < n_topics:
        raise AssertionError(f"a token's topic is outside 0..{n_topics - 1}")


def check_number_of_topics(documents: Any, tokens: Tokens, n_topics: int) -> None:
    """Raise AssertionError unless there are as many topics as ever, and tokens have no others."""
    if n_topics != documents.prior.shape[1]:
        raise AssertionError("the number of topics has changed")
    check_topic_of_tokens(tokens, n_topics)


def check_positive(**parameters: np.ndarray) -> None:
    """Raise AssertionError unless all of them are positive numbers."""
    for name, values in parameters.items():
        if not np.all((values > 0.0) & np.isfinite(values)):
            raise AssertionError(f"{name} is not a positive number")


def check_scratch(scratch: Scratch) -> None:
    """Raise AssertionError where a sweep has left something that the next one would trip over."""
    if any(np.any(x) for x in (scratch.doc_count, scratch.is_doc_topic, scratch.next_document)):
        raise AssertionError("working memory was left dirty")


@kernel
def enter_document(tokens, scratch, d):
    """Count the topics of document `d` into the scratch; return how many there are."""
    n_doc_topics = 0
    for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
        k = tokens.topic[i]
        if k >= 0:
            if scratch.doc_count[k] == 0:
                scratch.doc_topics[n_doc_topics] = k
                n_doc_topics += 1
            scratch.doc_count[k] += 1
    return n_doc_topics


@kernel
def leave_document(tokens, scratch, d):
    """Zero the document's counts in the scratch."""
    for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
        scratch.doc_count[tokens.topic[i]] = 0


@borrowing_kernel
def join_document(scratch, topic, n_doc_topics):
    """Put `topic` among those of the current document; return how many there are."""
    if scratch.is_doc_topic[topic]:
        return n_doc_topics
    scratch.is_doc_topic[topic] = True
    scratch.doc_topics[n_doc_topics] = topic
    return n_doc_topics + 1


@kernel
def renumber(tokens, topics, new_name, n_kept):
    """Renumber topics, as `rename_topics` does, and those of tokens with them, unless all are kept."""
    if n_kept == topics.n_topics[0]:
        return
    for i in range(tokens.topic.size):
        tokens.topic[i] = new_name[tokens.topic[i]]
    rename_topics(topics, new_name, n_kept)


@kernel
def draw_tables(rng, tokens, documents, scratch, n_topics):
    """Tables of the documents' restaurants, by group and topic: sums of CRT(n_dk, prior[g, k])."""
    tables = np.zeros((documents.rest.size, n_topics), np.int64)
    count = scratch.doc_count
    for d in range(tokens.group.size):
        g = tokens.group[d]
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            count[tokens.topic[i]] += 1
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            k = tokens.topic[i]
            if count[k] > 0:
                tables[g, k] += crt(rng, count[k], documents.prior[g, k])
                count[k] = 0
    return tables


def tokens_of(words: np.ndarray, doc_ptr: np.ndarray, group: np.ndarray, topic: np.ndarray) -> Tokens:
    """Tokens in the types that the kernels are compiled for; `topic` is copied."""
    return Tokens(
        np.ascontiguousarray(words, np.int32),
        np.ascontiguousarray(doc_ptr, np.int64),
        np.ascontiguousarray(group, np.int32),
        np.array(topic, np.int32),
    )


def scratch(capacity: int) -> Scratch:
    """Fresh working memory for `capacity` topics."""
    return Scratch(
        doc_count=np.zeros(capacity, np.int64),
        doc_topics=np.zeros(capacity, np.int32),
        is_doc_topic=np.zeros(capacity, np.bool_),
        coefficient=np.zeros(capacity),
        weights=np.zeros(capacity + 1),
        next_document=np.zeros(1, np.int64),
    )


def longest_document(tokens: Any) -> int:
    """Tokens of the longest document."""
    return int(np.diff(tokens.doc_ptr).max(initial=0))


def widened(array: np.ndarray, capacity: int, fill: float = 0) -> np.ndarray:
    """Copy of an array over topics, its last axis, with `fill` up to `capacity`."""
    room = np.full((*array.shape[:-1], capacity), fill, array.dtype)
    room[..., : array.shape[-1]] = array
    return room

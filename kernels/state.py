"""The two sides of a topic model as flat arrays, and the tokens between them.

A token of word w in document d belongs to topic k with weight

    (prior[g, k] + n_dk) * (n_kw + eta) / (n_k + V eta),         g = group of d,

or to a topic not represented yet with weight ``rest[g] / V``. The first factor is the *document side*, the
second the *topic side*. A document side is any NamedTuple with the fields ``prior`` and ``rest``; what else
it holds, and how it opens a topic, is its own affair. The number of represented topics, ``n_topics``, is a
one-element array, and arrays over topics have room for more (``capacity``), so that sweeps can add topics
in place. Of each NamedTuple, ``FIXED`` names the fields that hold data and priors, which no sweep changes.
"""

from typing import NamedTuple

import numpy as np

from .jit import chosen_by_type, kernel


class Tokens(NamedTuple):
    """Ragged tokens and their topics.

    Attributes
    ----------
    words : int32 (N,)
    doc_ptr : int64 (D + 1,)
        Document d holds tokens ``doc_ptr[d]:doc_ptr[d + 1]``.
    group : int32 (D,)
        Group (task) of each document; zeros where the model has none.
    topic : int32 (N,)
        Topic of each token, -1 while it has none. Sweeps change it.
    """

    words: np.ndarray
    doc_ptr: np.ndarray
    group: np.ndarray
    topic: np.ndarray

    FIXED = ("words", "doc_ptr", "group")


class DirichletTopics(NamedTuple):
    """Topic side with a symmetric Dirichlet prior on words, integrated out.

    The counts n_kw are kept as one short list of (topic, count) a word. A word that occurs n times is in at
    most n topics, so the lists never need more room than there are tokens, whatever the number of topics.

    Attributes
    ----------
    total : int64 (capacity,)
        Tokens of each topic, n_k.
    word_ptr : int64 (V + 1,)
        Where the list of each word begins.
    n_listed : int32 (V,)
        Entries in use in the list of each word.
    listed_topic, listed_count : int32 (N,)
    eta : float64 (1,)
    n_topics : int64 (1,)
        Represented topics: the leading entries of all arrays over topics.
    """

    total: np.ndarray
    word_ptr: np.ndarray
    n_listed: np.ndarray
    listed_topic: np.ndarray
    listed_count: np.ndarray
    eta: np.ndarray
    n_topics: np.ndarray

    FIXED = ("word_ptr",)


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
        (prior_k + n_dk) / (n_k + V eta).
    weights : float64 (capacity,)
    next_document : int64 (1,)
        Where a sweep that ran out of room for new topics goes on.
    """

    doc_count: np.ndarray
    doc_topics: np.ndarray
    is_doc_topic: np.ndarray
    coefficient: np.ndarray
    weights: np.ndarray
    next_document: np.ndarray


@chosen_by_type(1)
def open_topic(rng, documents, topic, group):
    """Split the prior weight of `topic` off the rest of `documents`, given that a token of `group` chose it.

    Called before the token is counted; `topic` is the number of topics represented so far.
    """


@kernel
def list_token(topics, word, topic):
    """Count one token of `word` in `topic` into the lists and totals."""
    start = topics.word_ptr[word]
    end = start + topics.n_listed[word]
    topics.total[topic] += 1
    for j in range(start, end):
        if topics.listed_topic[j] == topic:
            topics.listed_count[j] += 1
            return
    topics.listed_topic[end] = topic
    topics.listed_count[end] = 1
    topics.n_listed[word] += 1


@kernel
def unlist_token(topics, word, topic):
    """Take one token of `word` in `topic` out of the lists and totals."""
    start = topics.word_ptr[word]
    last = start + topics.n_listed[word] - 1
    topics.total[topic] -= 1
    for j in range(start, last + 1):
        if topics.listed_topic[j] == topic:
            topics.listed_count[j] -= 1
            if topics.listed_count[j] == 0:
                topics.listed_topic[j] = topics.listed_topic[last]
                topics.listed_count[j] = topics.listed_count[last]
                topics.n_listed[word] -= 1
            return


@kernel
def seat_all(tokens, topics):
    """Recount totals and lists from the tokens' topics. Mutates `topics`."""
    topics.total[:] = 0
    topics.n_listed[:] = 0
    for i in range(tokens.words.size):
        if tokens.topic[i] >= 0:
            list_token(topics, tokens.words[i], tokens.topic[i])


def tokens_of(words: np.ndarray, doc_ptr: np.ndarray, group: np.ndarray, topic: np.ndarray) -> Tokens:
    """Tokens in the types that the kernels are compiled for; `topic` is copied."""
    return Tokens(
        np.ascontiguousarray(words, np.int32),
        np.ascontiguousarray(doc_ptr, np.int64),
        np.ascontiguousarray(group, np.int32),
        np.array(topic, np.int32),
    )


def dirichlet_topics(
    tokens: Tokens, n_words: int, n_topics: int, capacity: int, eta: float
) -> DirichletTopics:
    """Topic side with counts taken from `tokens`."""
    occurrences = np.bincount(tokens.words, minlength=n_words)
    topics = DirichletTopics(
        total=np.zeros(capacity, np.int64),
        word_ptr=np.concatenate([[0], np.cumsum(occurrences)]).astype(np.int64),
        n_listed=np.zeros(n_words, np.int32),
        listed_topic=np.zeros(tokens.words.size, np.int32),
        listed_count=np.zeros(tokens.words.size, np.int32),
        eta=np.array([eta]),
        n_topics=np.array([n_topics], np.int64),
    )
    seat_all(tokens, topics)
    return topics


def scratch(capacity: int) -> Scratch:
    """Fresh working memory for `capacity` topics."""
    return Scratch(
        doc_count=np.zeros(capacity, np.int64),
        doc_topics=np.zeros(capacity, np.int32),
        is_doc_topic=np.zeros(capacity, np.bool_),
        coefficient=np.zeros(capacity),
        weights=np.zeros(capacity),
        next_document=np.zeros(1, np.int64),
    )


def check_counts(tokens: Tokens, topics: DirichletTopics) -> None:
    """Recount everything from the tokens and compare: the paranoid mode of the samplers.

    Raises
    ------
    AssertionError
        Names the statistic that differs from its recount.
    """
    k = int(topics.n_topics[0])
    n_words = topics.n_listed.size
    if not 0 <= k <= topics.total.size:
        raise AssertionError(f"the number of topics is outside 0..{topics.total.size}")
    check_topic_of_tokens(tokens, k)
    if np.any(topics.total != np.bincount(tokens.topic, minlength=topics.total.size)):
        raise AssertionError("topic totals differ from a recount")
    recount = np.zeros((n_words, k), np.int64)
    np.add.at(recount, (tokens.words, tokens.topic), 1)
    if np.any(topics.n_listed != np.count_nonzero(recount, axis=1)):
        raise AssertionError("the list of a word has too many entries or too few")
    listed = np.zeros((n_words, k), np.int64)
    for word in range(n_words):
        at = slice(topics.word_ptr[word], topics.word_ptr[word] + topics.n_listed[word])
        if np.any((topics.listed_topic[at] < 0) | (topics.listed_topic[at] >= k)):
            raise AssertionError(f"the list of word {word} holds a topic outside 0..{k - 1}")
        if np.any(topics.listed_count[at] <= 0):
            raise AssertionError(f"the list of word {word} holds an empty entry")
        np.add.at(listed[word], topics.listed_topic[at], topics.listed_count[at])
    if np.any(listed != recount):
        raise AssertionError("word-topic counts differ from a recount")
    check_positive(eta=topics.eta)


def check_topic_of_tokens(tokens: Tokens, n_topics: int) -> None:
    """Raise AssertionError unless every token has one of `n_topics` topics."""
    if tokens.topic.size and not 0 <= tokens.topic.min() <= tokens.topic.max() < n_topics:
        raise AssertionError(f"a token's topic is outside 0..{n_topics - 1}")


def check_positive(**parameters: np.ndarray) -> None:
    """Raise AssertionError unless all of them are positive numbers."""
    for name, values in parameters.items():
        if not np.all((values > 0.0) & np.isfinite(values)):
            raise AssertionError(f"{name} is not a positive number")


def check_scratch(scratch: Scratch) -> None:
    """Raise AssertionError where a sweep has left something that the next one would trip over."""
    if any(np.any(x) for x in (scratch.doc_count, scratch.is_doc_topic, scratch.next_document)):
        raise AssertionError("working memory was left dirty")

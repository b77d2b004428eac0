"""State of a chain of the weight-agnostic stick-breaking process, and what is derived from it.

Kept from sweep to sweep are the dish and the topic of each token and the counts of topics. All that concerns
a document's tables is built anew when a sweep enters it; see `documents`.
"""

from collections.abc import Mapping
from math import log
from typing import NamedTuple

import numpy as np

from ..toolbox.jit import kernel
from ..toolbox.sides import check_positive, longest_document
from .vectors import TopicVectors, check_vectors, make_vectors, n_represented

NEVER = np.int32(2**31 - 1)
"""First time of a dish that nobody has."""


class Tokens(NamedTuple):
    """Tokens in the order of the corpus.

    Attributes
    ----------
    words : int32 (N,)
    doc_ptr : int64 (D + 1,)
    sentence_ptr : int64 (S + 1,)
    doc_sentences : int64 (D + 1,)
        Document d has sentences ``doc_sentences[d]:doc_sentences[d + 1]``.
    sentence : int32 (N,)
    time : int32 (N,)
        When the token takes its seat, 0 to n - 1 within its document.
    at_time : int64 (N,)
        Token of document d with time t is ``at_time[doc_ptr[d] + t]``.
    following : int64 (N,)
        Next token in time of the same sentence, -1 for the last.
    dish, topic : int32 (N,)
        -1 while a token has none. Dishes are numbered through each document, in any way.
    """

    words: np.ndarray
    doc_ptr: np.ndarray
    sentence_ptr: np.ndarray
    doc_sentences: np.ndarray
    sentence: np.ndarray
    time: np.ndarray
    at_time: np.ndarray
    following: np.ndarray
    dish: np.ndarray
    topic: np.ndarray

    FIXED = ("words", "doc_ptr", "sentence_ptr", "doc_sentences", "sentence", "time", "at_time", "following")


class Topics(NamedTuple):
    """Counts of topics.

    Attributes
    ----------
    counts : int64 (V, capacity)
    total : int64 (capacity,)
    """

    counts: np.ndarray
    total: np.ndarray

    BY_TOPIC = ("counts", "total")


class Law(NamedTuple):
    """Hyperparameters, each float64 (1,), their priors, float64 (2,) or zeros, and the limits.

    Attributes
    ----------
    vectors : TopicVectors
    most_tables, most_dishes : int
        Of a sentence and of a document; none at 0.
    log_offer : float64 (longest + 2,)
        ``log(K + zeta)`` for K = 0, 1, ….
    """

    a: np.ndarray
    b: np.ndarray
    zeta: np.ndarray
    vectors: TopicVectors
    eta: np.ndarray
    a_prior: np.ndarray
    b_prior: np.ndarray
    zeta_prior: np.ndarray
    eta_prior: np.ndarray
    most_tables: int
    most_dishes: int
    log_offer: np.ndarray

    FIXED = ("a_prior", "b_prior", "zeta_prior", "eta_prior", "most_tables", "most_dishes")


class Document(NamedTuple):
    """Working memory: the document that a sweep is in. Clean between documents: all counts are zero.

    Sizes: L slots for dishes, as many as the longest document has tokens, T; K topics, and room for more.

    Attributes
    ----------
    sizes : int64 (3,)
        Slots in use, some of which may be empty; tables; tables of the current sentence.
    in_dish : int32 (L + 1, K)
        Tokens of each dish and topic; a row more, so that a new dish is a slot without tokens.
    dish_size : int32 (L + 1,)
    listed : int32 (L, K)
        The topics that a dish has, in the first `n_listed` entries.
    n_listed : int32 (L,)
    first : int32 (L,)
        First time of a dish in the document.
    own_first, own_count : int32 (L,)
        First time of a dish in the current sentence, and its tokens there.
    table_time, table_sentence, table_dish, table_offered : int32 (T,)
        Tables in the order in which they are opened; `offered` is how many dishes of the document the
        sentence lacked.
    rank : int32 (T,)
        Working memory by sentence of the document; zero in between.
    own_tables : int32 (T,)
        Dishes of the current sentence's tables in order.
    prefix : float64 (T + 1,)
    log_weight, table_weight : float64 (L + 1,)
    omega : float64 (K,)
        Weight of the current token's word in each topic.
    block : int32 (K,)
        Tokens of each topic at a table that moves; zero in between.
    block_topics : int32 (K,)
        The topics that it has.
    """

    sizes: np.ndarray
    in_dish: np.ndarray
    dish_size: np.ndarray
    listed: np.ndarray
    n_listed: np.ndarray
    first: np.ndarray
    own_first: np.ndarray
    own_count: np.ndarray
    table_time: np.ndarray
    table_sentence: np.ndarray
    table_dish: np.ndarray
    table_offered: np.ndarray
    rank: np.ndarray
    own_tables: np.ndarray
    prefix: np.ndarray
    log_weight: np.ndarray
    table_weight: np.ndarray
    omega: np.ndarray
    block: np.ndarray
    block_topics: np.ndarray

    BY_TOPIC = ("in_dish", "listed", "omega", "block", "block_topics")


class Tally(NamedTuple):
    """What a sweep notes of all documents for the moves of hyperparameters.

    Attributes
    ----------
    offered : int64 (L + 2,)
        How many tables were opened with so many dishes on offer.
    numbers : int64 (3,)
        Tables and dishes noted, and new dishes.
    table_size, table_later : int64 (N,)
        Tokens at each table, and at later ones of its sentence.
    dish_size : int64 (N,)
    in_dish : int64 (L + 1,)
        How many pairs of dish and topic have so many tokens.
    """

    offered: np.ndarray
    numbers: np.ndarray
    table_size: np.ndarray
    table_later: np.ndarray
    dish_size: np.ndarray
    in_dish: np.ndarray


class SegmentsState(NamedTuple):
    """State of a chain."""

    tokens: Tokens
    topics: Topics
    law: Law
    document: Document
    tally: Tally


def make_tokens(
    words: np.ndarray,
    doc_ptr: np.ndarray,
    sentence_ptr: np.ndarray,
    time: np.ndarray,
    latents: Mapping[str, np.ndarray],
) -> Tokens:
    """Tokens of documents with sentences.

    Parameters
    ----------
    words : int (N,)
    doc_ptr : int (D + 1,)
    sentence_ptr : int (S + 1,)
    time : int (N,)
        0 to n - 1 within each document, in any order.
    latents : mapping of str to array
        ``dish`` and ``z``.
    """
    doc_ptr, sentence_ptr = np.asarray(doc_ptr, np.int64), np.asarray(sentence_ptr, np.int64)
    sentence = np.repeat(np.arange(sentence_ptr.size - 1), np.diff(sentence_ptr))
    at_time = np.empty(sentence.size, np.int64)
    at_time[np.repeat(doc_ptr[:-1], np.diff(doc_ptr)) + time] = np.arange(sentence.size)
    following = np.full(sentence.size, -1, np.int64)
    seated = np.lexsort((time, sentence))
    same = sentence[seated[1:]] == sentence[seated[:-1]]
    following[seated[:-1][same]] = seated[1:][same]
    return Tokens(
        words=np.ascontiguousarray(words, np.int32),
        doc_ptr=doc_ptr,
        sentence_ptr=sentence_ptr,
        doc_sentences=np.searchsorted(sentence_ptr, doc_ptr),
        sentence=sentence.astype(np.int32),
        time=np.ascontiguousarray(time, np.int32),
        at_time=at_time,
        following=following,
        dish=np.array(latents["dish"], np.int32),
        topic=np.array(latents["z"], np.int32),
    )


def make_state(
    tokens: Tokens,
    n_topics: int,
    n_words: int,
    latents: Mapping[str, np.ndarray],
    priors: Mapping[str, tuple[float, float]],
    most_tables: int = 0,
    most_dishes: int = 0,
) -> SegmentsState:
    """State that stands at the tokens' dishes and topics and at the hyperparameters among `latents`.

    Where `n_topics` is 0, there are as many as are needed.
    """
    longest = longest_document(tokens)
    vectors = make_vectors(latents, priors, n_topics)
    law = Law(
        vectors=vectors,
        **hyperparameters(latents, priors, ("a", "b", "zeta", "eta")),
        most_tables=most_tables,
        most_dishes=most_dishes,
        log_offer=_log_offer(longest, float(latents["zeta"])),
    )
    topics = Topics(*count_topics(tokens, n_words, vectors.base.size))
    tally = Tally(
        offered=np.zeros(longest + 2, np.int64),
        numbers=np.zeros(3, np.int64),
        table_size=np.zeros(tokens.words.size, np.int64),
        table_later=np.zeros(tokens.words.size, np.int64),
        dish_size=np.zeros(tokens.words.size, np.int64),
        in_dish=np.zeros(longest + 1, np.int64),
    )
    return SegmentsState(tokens, topics, law, _empty_document(longest, vectors.base.size), tally)


def hyperparameters(
    latents: Mapping[str, np.ndarray], priors: Mapping[str, tuple[float, float]], names: tuple[str, ...]
) -> dict[str, np.ndarray]:
    """Value and prior of some hyperparameters, as fields of a state."""
    return {name: np.array([latents[name]], float) for name in names} | {
        f"{name}_prior": np.array(priors[name], float) for name in names
    }


def _log_offer(longest: int, zeta: float) -> np.ndarray:
    return np.array([log(n + zeta) for n in range(longest + 2)])


def _empty_document(longest: int, capacity: int) -> Document:
    def integers(*shape: int) -> np.ndarray:
        return np.zeros(shape, np.int32)

    return Document(
        sizes=np.zeros(3, np.int64),
        in_dish=integers(longest + 1, capacity),
        dish_size=integers(longest + 1),
        listed=integers(longest, capacity),
        n_listed=integers(longest),
        first=np.full(longest, NEVER),
        own_first=np.full(longest, NEVER),
        own_count=integers(longest),
        table_time=integers(longest),
        table_sentence=integers(longest),
        table_dish=integers(longest),
        table_offered=integers(longest),
        rank=integers(longest),
        own_tables=integers(longest),
        prefix=np.zeros(longest + 1),
        log_weight=np.zeros(longest + 1),
        table_weight=np.zeros(longest + 1),
        omega=np.zeros(capacity),
        block=integers(capacity),
        block_topics=integers(capacity),
    )


def count_topics(tokens: Tokens, n_words: int, capacity: int) -> tuple[np.ndarray, np.ndarray]:
    """Fields of `Topics`, counted anew from the tokens that have a topic."""
    counts = np.zeros((n_words, capacity), np.int64)
    seated = tokens.topic >= 0
    np.add.at(counts, (tokens.words[seated], tokens.topic[seated]), 1)
    return counts, counts.sum(axis=0)


@kernel
def dishes_by_first_time(tokens):
    """Dishes of all documents numbered by first appearance in time, int64 (N,); -1 for tokens without one."""
    out = np.full(tokens.dish.size, -1, np.int64)
    name = np.full(tokens.dish.size + 1, -1, np.int64)
    for d in range(tokens.doc_ptr.size - 1):
        n = 0
        for place in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            i = tokens.at_time[place]
            if tokens.dish[i] >= 0:
                if name[tokens.dish[i]] < 0:
                    name[tokens.dish[i]] = n
                    n += 1
                out[i] = name[tokens.dish[i]]
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            name[tokens.dish[i]] = -1
    return out


def check_tokens(tokens: Tokens, topics: Topics, n_topics: int, n_dishes: int) -> None:
    """Raise AssertionError unless tokens have one of so many topics and dishes, and `topics` counts them."""
    for name, most in (("topic", n_topics), ("dish", n_dishes)):
        values = getattr(tokens, name)
        if values.size and not 0 <= values.min() <= values.max() < most:
            raise AssertionError(f"a token's {name} is outside 0..{most - 1}")
    for name, recounted in zip(Topics._fields, count_topics(tokens, *topics.counts.shape), strict=True):
        if np.any(getattr(topics, name) != recounted):
            raise AssertionError(f"{name} differs from a recount")


def check(state: SegmentsState) -> None:
    """Recount the statistics of `state`; raise AssertionError where one differs."""
    tokens, topics, law, document = state.tokens, state.topics, state.law, state.document
    longest = document.first.size
    check_tokens(tokens, topics, n_represented(law.vectors), longest)
    check_positive(a=law.a, b=law.b, zeta=law.zeta, eta=law.eta)
    check_vectors(law.vectors)
    if np.any(law.log_offer != _log_offer(longest, law.zeta[0])):
        raise AssertionError("log_offer is not that of zeta")
    for name in ("sizes", "in_dish", "dish_size", "n_listed", "own_count", "rank", "block"):
        if np.any(getattr(document, name)):
            raise AssertionError(f"working memory was left dirty: {name}")
    if np.any(document.first != NEVER) or np.any(document.own_first != NEVER):
        raise AssertionError("working memory was left dirty: first times")
    for limit, of in ((law.most_tables, tokens.sentence), (law.most_dishes, _documents(tokens))):
        pairs = np.unique(np.column_stack([of, tokens.dish]), axis=0)
        if limit and np.bincount(pairs[:, 0]).max(initial=0) > limit:
            raise AssertionError("there are more tables or dishes than there may be")


def _documents(tokens: Tokens) -> np.ndarray:
    return np.repeat(np.arange(tokens.doc_ptr.size - 1), np.diff(tokens.doc_ptr))

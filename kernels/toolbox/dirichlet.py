"""Topic side: symmetric Dirichlet topics, integrated out.

Topic k weighs ``c_k (n_kw + eta)`` for a token of word w, with the coefficient

    c_k = (prior_k + n_dk) / (n_k + V eta)

so that the weights of a token have the parts

    c_k n_kw    word part: the topics in the list of the word
    c_k eta     smooth part: all topics, those of the document first; rarely visited
    rest / V    a topic that is not represented yet

Both steps take a token's own count out of the weights before they draw.
"""

from typing import NamedTuple

import numpy as np

from .jit import borrowing_kernel, kernel
from .lists import entry_at, find_entry, move_in_list, weigh_others
from .random import categorical_or
from .sides import (
    Tokens,
    check_positive,
    check_side,
    check_topic_of_tokens,
    dense_step,
    finish_pass,
    join_document,
    move_topics,
    open_topic,
    rename_topics,
    same_words,
    sparse_step,
    topic_sizes,
    weigh_topic,
    widened,
    with_capacity,
)
from .smoothing import update_smoothing
from .token_pass import find_in_smooth_part, settled


class DirichletTopics(NamedTuple):
    """Topic side with a symmetric Dirichlet prior on words.

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
    eta_prior : float64 (2,)
    n_topics : int64 (1,)
        Represented topics: the leading entries of all arrays over topics.
    """

    total: np.ndarray
    word_ptr: np.ndarray
    n_listed: np.ndarray
    listed_topic: np.ndarray
    listed_count: np.ndarray
    eta: np.ndarray
    eta_prior: np.ndarray
    n_topics: np.ndarray

    FIXED = ("word_ptr", "eta_prior")


N_OF_COUNTS = len(DirichletTopics._fields)


@kernel
def counted(topics):
    """Return the counts alone of a side that begins with the fields of `DirichletTopics`."""
    return DirichletTopics(*topics[:N_OF_COUNTS])


@borrowing_kernel
def borrowed(topics):
    """Do the same for the parts of a sweep that are compiled as a `borrowing_kernel`."""
    return DirichletTopics(*topics[:N_OF_COUNTS])


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


@borrowing_kernel
def retopic(tokens, topics, first, next_token, new):
    """Give topic `new` to the tokens of a chain, which all have another: `first`, and the next of each."""
    i, old = first, tokens.topic[first]
    while i >= 0:
        unlist_token(topics, tokens.words[i], old)
        list_token(topics, tokens.words[i], new)
        tokens.topic[i] = new
        i = next_token[i]


@kernel
def seat_all(tokens, topics):
    """Recount totals and lists from the tokens' topics. Mutates `topics`."""
    topics.total[:] = 0
    topics.n_listed[:] = 0
    for i in range(tokens.words.size):
        if tokens.topic[i] >= 0:
            list_token(topics, tokens.words[i], tokens.topic[i])


@same_words.implement(DirichletTopics)
def _same_words(topics, d, other):
    return True


@dense_step.implement(DirichletTopics)
def _dense_step(rng, tokens, documents, topics, scratch, d, i):
    w, g = tokens.words[i], tokens.group[d]
    doc_count, coefficient, weights = scratch.doc_count, scratch.coefficient, scratch.weights
    n_topics, n_words, eta = topics.n_topics[0], topics.n_listed.size, topics.eta[0]
    old = tokens.topic[i]
    if old >= 0:
        unlist_token(topics, w, old)
        doc_count[old] -= 1
    for k in range(n_topics):
        coefficient[k] = (documents.prior[g, k] + doc_count[k]) / (topics.total[k] + n_words * eta)
        weights[k] = coefficient[k] * eta
    for j in range(topics.word_ptr[w], topics.word_ptr[w] + topics.n_listed[w]):
        k = topics.listed_topic[j]
        weights[k] += coefficient[k] * topics.listed_count[j]
    weights[n_topics] = documents.rest[g] / n_words
    new = categorical_or(rng, weights, n_topics + 1, max(0, old))  # none may be added where all underflow
    if new == n_topics:
        topics.n_topics[0] += 1
        open_topic(rng, documents, new, g)
    tokens.topic[i] = new
    list_token(topics, w, new)
    doc_count[new] += 1


@weigh_topic.implement(DirichletTopics)
def _weigh_topic(tokens, documents, topics, scratch, d, k, mass):
    smoothing = topics.n_listed.size * topics.eta[0]
    in_document = documents.prior[tokens.group[d], k] + scratch.doc_count[k]
    without = mass - scratch.coefficient[k]
    scratch.coefficient[k] = in_document / (topics.total[k] + smoothing)
    return settled(without + scratch.coefficient[k], mass, scratch.coefficient, topics.n_topics[0])


@sparse_step.implement(DirichletTopics)
def _sparse_step(rng, tokens, documents, topics, scratch, d, i, n_doc_topics, mass):
    total, doc_count, coefficient = topics.total, scratch.doc_count, scratch.coefficient
    listed_topic, listed_count, running = topics.listed_topic, topics.listed_count, scratch.weights
    w, g = tokens.words[i], tokens.group[d]
    old = tokens.topic[i]
    prior = documents.prior[g]
    eta = topics.eta[0]
    smoothing = topics.n_listed.size * eta
    rest = documents.rest[g] / topics.n_listed.size
    start, length = topics.word_ptr[w], topics.n_listed[w]

    # Take the token out of its topic's coefficient and of the mass.
    kept = 0.0
    mass_without = mass
    if old >= 0:
        kept = coefficient[old]
        coefficient[old] = (prior[old] + (doc_count[old] - 1)) / (total[old] - 1 + smoothing)
        mass_without += coefficient[old] - kept
        mass_without = settled(mass_without, mass, coefficient, topics.n_topics[0])

    old_entry = find_entry(listed_topic, start, length, old)
    word_mass = weigh_others(listed_topic, listed_count, start, length, old_entry, coefficient, running)

    u = rng.random() * (word_mass + eta * mass_without + rest)
    if u < word_mass:
        new_entry = entry_at(running, u)
        new = np.int64(listed_topic[start + new_entry])
    else:
        u -= word_mass
        if u < eta * mass_without or rest == 0.0:
            new = find_in_smooth_part(
                u / eta,
                coefficient,
                scratch.doc_topics,
                n_doc_topics,
                scratch.is_doc_topic,
                topics.n_topics[0],
            )
        else:
            new = topics.n_topics[0]
            topics.n_topics[0] += 1
            open_topic(rng, documents, new, g)
            coefficient[new] = 0.0
        new_entry = find_entry(listed_topic, start, length, new)

    if new == old:
        coefficient[old] = kept
        return n_doc_topics, mass
    tokens.topic[i] = new
    topics.n_listed[w] = move_in_list(listed_topic, listed_count, start, length, old_entry, new_entry, new)
    if old >= 0:
        total[old] -= 1
        doc_count[old] -= 1
    total[new] += 1
    doc_count[new] += 1
    kept = coefficient[new]
    coefficient[new] = (prior[new] + doc_count[new]) / (total[new] + smoothing)
    mass = settled(mass_without + (coefficient[new] - kept), mass_without, coefficient, topics.n_topics[0])
    return join_document(scratch, new, n_doc_topics), mass


@topic_sizes.implement(DirichletTopics)
def _topic_sizes(topics):
    return topics.total[: topics.n_topics[0]]


@rename_topics.implement(DirichletTopics)
def _rename_topics(topics, new_name, n_kept):
    for k in range(new_name.size):
        if new_name[k] >= 0:
            topics.total[new_name[k]] = topics.total[k]
    topics.total[n_kept:] = 0
    topics.n_topics[0] = n_kept
    for w in range(topics.n_listed.size):
        for j in range(topics.word_ptr[w], topics.word_ptr[w] + topics.n_listed[w]):
            topics.listed_topic[j] = new_name[topics.listed_topic[j]]


@finish_pass.implement(DirichletTopics)
def _finish_pass(rng, topics):
    pass


@move_topics.implement(DirichletTopics)
def _move_topics(rng, topics):
    update_smoothing(rng, topics, topics.n_listed.size)


@with_capacity.register
def _(side: DirichletTopics, capacity: int) -> DirichletTopics:
    return side._replace(total=widened(side.total, capacity))


def dirichlet_topics(
    tokens: Tokens, n_words: int, n_topics: int, capacity: int, eta: float, eta_prior=(0.0, 0.0)
) -> DirichletTopics:
    """Topic side with counts taken from `tokens`."""
    occurrences = np.bincount(tokens.words, minlength=n_words)
    topics = DirichletTopics(
        total=np.zeros(capacity, np.int64),
        word_ptr=np.concatenate([[0], np.cumsum(occurrences)]).astype(np.int64),
        n_listed=np.zeros(n_words, np.int32),
        listed_topic=np.zeros(tokens.words.size, np.int32),
        listed_count=np.zeros(tokens.words.size, np.int32),
        eta=np.array([float(eta)]),
        eta_prior=np.array(eta_prior, float),
        n_topics=np.array([n_topics], np.int64),
    )
    seat_all(tokens, topics)
    return topics


@check_side.register
def _(side: DirichletTopics, tokens: Tokens, n_topics: int) -> None:
    n_words = side.n_listed.size
    if np.any((side.n_listed < 0) | (side.n_listed > np.diff(side.word_ptr))):
        raise AssertionError("the list of a word is longer than its room")
    check_topic_of_tokens(tokens, n_topics)
    if np.any(side.total != np.bincount(tokens.topic, minlength=side.total.size)):
        raise AssertionError("topic totals differ from a recount")
    recount = np.zeros((n_words, n_topics), np.int64)
    np.add.at(recount, (tokens.words, tokens.topic), 1)
    if np.any(side.n_listed != np.count_nonzero(recount, axis=1)):
        raise AssertionError("the list of a word has too many entries or too few")
    listed = np.zeros((n_words, n_topics), np.int64)
    for word in range(n_words):
        at = slice(side.word_ptr[word], side.word_ptr[word] + side.n_listed[word])
        if np.any((side.listed_topic[at] < 0) | (side.listed_topic[at] >= n_topics)):
            raise AssertionError(f"the list of word {word} holds a topic outside 0..{n_topics - 1}")
        if np.any(side.listed_count[at] <= 0):
            raise AssertionError(f"the list of word {word} holds an empty entry")
        np.add.at(listed[word], side.listed_topic[at], side.listed_count[at])
    if np.any(listed != recount):
        raise AssertionError("word-topic counts differ from a recount")
    check_positive(eta=side.eta)

"""Topic side: Dirichlet topics of which some words are known beforehand.

The parameter of word w in topic k is ``eta + seed_tokens`` where w is a seed of k, and eta elsewhere. As
topics are integrated out, this is the law of symmetric topics in which each seed has occurred `seed_tokens`
times before the corpus: tokens that are counted as all others and never move. So the steps are those of
`dirichlet`, and only eta, whose likelihood is that of the corpus given these tokens, moves in another way.
"""

import math
from typing import NamedTuple

import numpy as np

from ..toolbox.dirichlet import borrowed, counted, list_token
from ..toolbox.jit import kernel
from ..toolbox.random import is_sampled, log_density, slice_sample
from ..toolbox.sides import (
    Tokens,
    check_side,
    dense_step,
    finish_pass,
    move_topics,
    rename_topics,
    same_words,
    sparse_step,
    topic_sizes,
    weigh_topic,
    widened,
    with_capacity,
)
from ..toolbox.smoothing import LogSmoothing
from ..toolbox.tally import counts_of_counts


class SeededTopics(NamedTuple):
    """Topic side with a Dirichlet prior on words that knows seeds.

    Attributes
    ----------
    total, word_ptr, n_listed, listed_topic, listed_count, eta, eta_prior, n_topics
        As in `DirichletTopics`, and in its order; the tokens of seeds are counted with those of the corpus.
    seed_topic, seed_word : int32 (S,)
    seed_tokens : int64 (1,)
        Tokens of each seed.
    """

    total: np.ndarray
    word_ptr: np.ndarray
    n_listed: np.ndarray
    listed_topic: np.ndarray
    listed_count: np.ndarray
    eta: np.ndarray
    eta_prior: np.ndarray
    n_topics: np.ndarray
    seed_topic: np.ndarray
    seed_word: np.ndarray
    seed_tokens: np.ndarray

    FIXED = ("word_ptr", "eta_prior", "seed_topic", "seed_word", "seed_tokens")


@same_words.implement(SeededTopics)
def _same_words(topics, d, other):
    return True


@dense_step.implement(SeededTopics)
def _dense_step(rng, tokens, documents, topics, scratch, d, i):
    dense_step(rng, tokens, documents, borrowed(topics), scratch, d, i)


@weigh_topic.implement(SeededTopics)
def _weigh_topic(tokens, documents, topics, scratch, d, k, mass):
    return weigh_topic(tokens, documents, borrowed(topics), scratch, d, k, mass)


@sparse_step.implement(SeededTopics)
def _sparse_step(rng, tokens, documents, topics, scratch, d, i, n_doc_topics, mass):
    return sparse_step(rng, tokens, documents, borrowed(topics), scratch, d, i, n_doc_topics, mass)


@topic_sizes.implement(SeededTopics)
def _topic_sizes(topics):
    return topic_sizes(counted(topics))


@rename_topics.implement(SeededTopics)
def _rename_topics(topics, new_name, n_kept):
    rename_topics(counted(topics), new_name, n_kept)


@finish_pass.implement(SeededTopics)
def _finish_pass(rng, topics):
    pass


class LogSmoothingGivenSeeds(NamedTuple):
    """Target of ``log eta`` given the tokens of the seeds.

    Attributes
    ----------
    all_tokens : LogSmoothing
        Target if these were data, too.
    totals : int64 (K,)
        Tokens of the seeds of each topic.
    n_seeds, seed_tokens : int
    """

    all_tokens: LogSmoothing
    totals: np.ndarray
    n_seeds: int
    seed_tokens: int


@log_density.implement(LogSmoothingGivenSeeds)
def _log_density(target, x):
    out = log_density(target.all_tokens, x)
    if out == -math.inf:
        return out
    eta = math.exp(x)
    mass = target.all_tokens.n_words * eta
    for n in target.totals:
        if n > 0:
            out -= math.lgamma(mass) - math.lgamma(mass + n)
    return out - target.n_seeds * (math.lgamma(eta + target.seed_tokens) - math.lgamma(eta))


@kernel
def seed_totals(topics):
    """Tokens of the seeds of each topic, int64 (capacity,)."""
    out = np.zeros(topics.total.size, np.int64)
    for k in topics.seed_topic:
        out[k] += topics.seed_tokens[0]
    return out


@move_topics.implement(SeededTopics)
def _move_topics(rng, topics):
    if not is_sampled(topics.eta_prior):
        return
    tally = counts_of_counts(topics)
    size = np.flatnonzero(tally)
    n_words = float(topics.n_listed.size)
    target = LogSmoothingGivenSeeds(
        LogSmoothing(topics.total, size, tally[size], n_words, topics.eta_prior),
        seed_totals(topics),
        topics.seed_word.size,
        topics.seed_tokens[0],
    )
    topics.eta[0] = math.exp(slice_sample(rng, target, math.log(topics.eta[0]), 1.0))


@with_capacity.register
def _(side: SeededTopics, capacity: int) -> SeededTopics:
    return side._replace(total=widened(side.total, capacity))


@kernel
def count_all(tokens, topics):
    """Recount totals and lists from the seeds and from the tokens' topics. Mutates `topics`."""
    topics.total[:] = 0
    topics.n_listed[:] = 0
    for s in range(topics.seed_word.size):
        w, k, more = topics.seed_word[s], topics.seed_topic[s], topics.seed_tokens[0] - 1
        list_token(counted(topics), w, k)
        topics.total[k] += more
        topics.listed_count[topics.word_ptr[w] + topics.n_listed[w] - 1] += more
    for i in range(tokens.words.size):
        if tokens.topic[i] >= 0:
            list_token(counted(topics), tokens.words[i], tokens.topic[i])


def seeded_topics(
    tokens: Tokens,
    n_words: int,
    n_topics: int,
    capacity: int,
    seeds: np.ndarray,
    seed_tokens: int,
    eta: float,
    eta_prior=(0.0, 0.0),
) -> SeededTopics:
    """Topic side with counts taken from `tokens` and from `seeds`, pairs of topic and word, int (S, 2)."""
    topic, word = np.array(seeds, np.int32).reshape(-1, 2).T.copy()
    entries = np.bincount(tokens.words, minlength=n_words) + np.bincount(word, minlength=n_words)
    topics = SeededTopics(
        total=np.zeros(capacity, np.int64),
        word_ptr=np.concatenate([[0], np.cumsum(entries)]).astype(np.int64),
        n_listed=np.zeros(n_words, np.int32),
        listed_topic=np.zeros(entries.sum(), np.int32),
        listed_count=np.zeros(entries.sum(), np.int32),
        eta=np.array([float(eta)]),
        eta_prior=np.array(eta_prior, float),
        n_topics=np.array([n_topics], np.int64),
        seed_topic=topic,
        seed_word=word,
        seed_tokens=np.array([seed_tokens], np.int64),
    )
    count_all(tokens, topics)
    return topics


@check_side.register
def _(side: SeededTopics, tokens: Tokens, n_topics: int) -> None:
    repeats = int(side.seed_tokens[0])
    of_seeds = tokens._replace(
        words=np.concatenate([tokens.words, np.repeat(side.seed_word, repeats)]),
        topic=np.concatenate([tokens.topic, np.repeat(side.seed_topic, repeats)]),
    )
    check_side(counted(side), of_seeds, n_topics)

"""What test quantities need: counts of words in topics, and laws of urns, each in one pass over them."""

import math
from typing import NamedTuple

import numpy as np

from .dirichlet import DirichletTopics, dirichlet_topics
from .jit import kernel
from .lists import tally_words
from .sides import tokens_of

_LEAST, _MOST = 1e-100, 1e100
"""Factors outside are not multiplied but taken the logarithm of, so that no product leaves the floats."""


class WordCounts(NamedTuple):
    """Counts n_kw as one short list of (topic, count) a word; see `DirichletTopics`, whose arrays these are.

    Attributes
    ----------
    total : int64 (K,)
    word_ptr : int64 (V + 1,)
    n_listed : int32 (V,)
    listed_topic, listed_count : int32 (N,)
    """

    total: np.ndarray
    word_ptr: np.ndarray
    n_listed: np.ndarray
    listed_topic: np.ndarray
    listed_count: np.ndarray


def counts_of(topics: DirichletTopics) -> WordCounts:
    """Return the counts that a sampler keeps; not copied, so that they are good until its next sweep."""
    total = topics.total[: topics.n_topics[0]]
    return WordCounts(total, topics.word_ptr, topics.n_listed, topics.listed_topic, topics.listed_count)


def recount(words: np.ndarray, topic: np.ndarray, n_words: int, n_topics: int) -> WordCounts:
    """Count tokens, whose words and topics are int (N,)."""
    no_documents = np.zeros(1, np.int64)
    tokens = tokens_of(words, no_documents, no_documents, topic)
    return counts_of(dirichlet_topics(tokens, n_words, n_topics, n_topics, eta=1.0))


@kernel
def counts_of_counts(counts):
    """How many pairs of a topic and a word have c tokens, int64 (largest count + 1,); none of zero."""
    return tally_words(counts, 0, counts.n_listed.size)


@kernel
def counts_of_words(counts, words):
    """Tokens that each topic has of some words, int64 (K, W)."""
    out = np.zeros((counts.total.size, words.size), np.int64)
    for i in range(words.size):
        w = words[i]
        for j in range(counts.word_ptr[w], counts.word_ptr[w] + counts.n_listed[w]):
            out[counts.listed_topic[j], i] = counts.listed_count[j]
    return out


@kernel
def log_urns(doc_ptr, row, topic, prior):
    """Log of the product, over tokens, of the weight of the token's topic in its document's Pólya urn.

    A document of row r starts with ``prior[r, k]`` of each topic k, and gets one more of it with each token.

    Parameters
    ----------
    doc_ptr : int64 (D + 1,)
    row : int (D,)
    topic : int (N,)
    prior : float64 (R, K)
    """
    count = np.zeros(prior.shape[1], np.int64)
    out, product = 0.0, 1.0
    for d in range(doc_ptr.size - 1):
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            weight = prior[row[d], topic[i]] + count[topic[i]]
            count[topic[i]] += 1
            if weight <= 0.0:
                return -math.inf
            if _LEAST < weight < _MOST:
                product *= weight
            else:
                out += math.log(weight)
            if not _LEAST < product < _MOST:
                out += math.log(product)
                product = 1.0
        for i in range(doc_ptr[d], doc_ptr[d + 1]):
            count[topic[i]] = 0
    return out + math.log(product)

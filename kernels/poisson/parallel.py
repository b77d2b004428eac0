"""A sweep whose documents are independent: topics' words are drawn, and documents shared out among threads.

    phi_k ~ Dir(psi_k + n_k)                        psi_k = eta, or a belief network's; given z
    p(z_i = k) ∝ factor_k (prior_dk + n_dk) phi_kw  one token of a document after the other

Gamma variables of small shapes are no positive doubles: those of a topic are taken relative to its largest.

What a document draws depends on phi and its prior, and on no other document: exact, however many threads
there are. Words and documents are cut into parts whose number depends on the corpus alone, each with a
generator of its own, so that the bits do not depend on the number of threads (``BNPZOO_THREADS``, 1 by
default) either.
"""

import math
from functools import singledispatch
from typing import Any

import numpy as np

from ..toolbox.jit import kernel
from ..toolbox.random import log_gamma_variate
from ..toolbox.shapes import prior_shapes
from ..toolbox.sweeps import finish_sweep
from ..toolbox.threads import in_threads, parts_of

MOST_PARTS, TOKENS_OF_PART = 16, 2048

LEAST = 1e-300
"""Least shape of a gamma variable: of smaller ones the logarithm is not finite."""


@singledispatch
def topic_factors(documents: Any) -> Any:
    """Return what multiplies the weights of topics in these documents, float (K,), or 1 for nothing."""
    return 1.0


@kernel
def draw_words(rng, topics, first, end, word_topics, high):
    """Fill rows `first` to `end` of `word_topics` (V, K) with logs of gamma variables; `high` is the largest.

    Parameters
    ----------
    rng : numpy.random.Generator
    topics : NamedTuple
        Topic side that begins as `DirichletTopics` does, and has `prior_shapes`.
    first, end : int
    word_topics : float64 (V, K)
    high : float64 (K,)
        Of each topic, raised to the largest of these logarithms.
    """
    for w in range(first, end):
        shapes = word_topics[w]
        prior_shapes(topics, w, shapes)
        for j in range(topics.word_ptr[w], topics.word_ptr[w] + topics.n_listed[w]):
            shapes[topics.listed_topic[j]] += topics.listed_count[j]
        for k in range(high.size):
            shapes[k] = log_gamma_variate(rng, max(shapes[k], LEAST))
            high[k] = max(high[k], shapes[k])


@kernel
def exponentiate(first, end, word_topics, high, mass):
    """Exponentials of these rows, relative to `high` (K,), in place; add them up in `mass` (K,)."""
    for w in range(first, end):
        for k in range(high.size):
            word_topics[w, k] = math.exp(word_topics[w, k] - high[k])
            mass[k] += word_topics[w, k]


@kernel
def draw_topics(rng, tokens, documents, first, end, word_topics, share):
    """Draw the topics of documents `first` to `end`; `share` (K,) is factor / mass of each topic."""
    n_topics = share.size
    count, running = np.zeros(n_topics, np.int64), np.empty(n_topics)
    for d in range(first, end):
        prior = documents.prior[tokens.group[d]]
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            if tokens.topic[i] >= 0:
                count[tokens.topic[i]] += 1
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            old, likelihood = tokens.topic[i], word_topics[tokens.words[i]]
            if old >= 0:
                count[old] -= 1
            total = 0.0
            for k in range(n_topics):
                total += (prior[k] + count[k]) * share[k] * likelihood[k]
                running[k] = total
            u, new = rng.random() * total, 0
            while new < n_topics - 1 and running[new] <= u:
                new += 1
            tokens.topic[i] = new
            count[new] += 1
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            count[tokens.topic[i]] = 0


@kernel
def list_words(tokens, topics, first, end):
    """Recount the lists of words `first` to `end` from the tokens' topics."""
    topics.n_listed[first:end] = 0
    for i in range(tokens.words.size):
        w = tokens.words[i]
        if first <= w < end:
            start, last = topics.word_ptr[w], topics.word_ptr[w] + topics.n_listed[w]
            j = start
            while j < last and topics.listed_topic[j] != tokens.topic[i]:
                j += 1
            if j == last:
                topics.listed_topic[j] = tokens.topic[i]
                topics.listed_count[j] = 0
                topics.n_listed[w] += 1
            topics.listed_count[j] += 1


def parallel_sweep(rng: np.random.Generator, state: Any) -> bool:
    """One sweep: topics' words, tokens, then the moves of both sides. Mutates `state`; gets through."""
    tokens, documents, topics, scratch = state
    n_topics = int(topics.n_topics[0])
    n_parts = min(MOST_PARTS, 1 + tokens.words.size // TOKENS_OF_PART)
    seeds = rng.integers(2**63, size=2 * n_parts)
    rngs = [np.random.Generator(np.random.PCG64(int(seed))) for seed in seeds]
    of_words, of_documents = parts_of(topics.word_ptr, n_parts), parts_of(tokens.doc_ptr, n_parts)
    word_topics, masses = np.empty((topics.n_listed.size, n_topics)), np.zeros((n_parts, n_topics))
    highs = np.full((n_parts, n_topics), -np.inf)

    def words(own: np.random.Generator, part: tuple[int, int], high: np.ndarray) -> None:
        draw_words(own, topics, *part, word_topics, high)

    in_threads(words, rngs[:n_parts], of_words, highs)
    high = highs.max(axis=0)
    in_threads(lambda part, mass: exponentiate(*part, word_topics, high, mass), of_words, masses)
    share = topic_factors(documents) / masses.sum(axis=0)

    def some(own: np.random.Generator, part: tuple[int, int]) -> None:
        draw_topics(own, tokens, documents, *part, word_topics, share)

    in_threads(some, rngs[n_parts:], of_documents)
    in_threads(lambda part: list_words(tokens, topics, *part), of_words)
    topics.total[:] = np.bincount(tokens.topic, minlength=topics.total.size)
    finish_sweep(rng, tokens, documents, topics, scratch)
    return True

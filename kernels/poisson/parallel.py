"""A sweep whose documents are independent: topics' words are drawn, and documents shared out among threads.

    phi_k ~ Dir(psi_k + n_k)                        psi_k = eta, or a belief network's; given z
    p(z_i = k) ∝ factor_k (prior_dk + n_dk) phi_kw  one token of a document after the other

Gamma variables of small shapes are no positive doubles: those of a topic are taken relative to its largest.

What a document draws depends on phi and its prior, and on no other document: exact, however many threads
there are. Words and documents are cut into parts whose number depends on the corpus alone, each with a
generator of its own, so that the bits do not depend on the number of threads (``BNPZOO_THREADS``, 1 by
default) either.
"""

from functools import singledispatch
from typing import Any

import numpy as np

from ..toolbox.gammas import exponentials, log_gammas
from ..toolbox.jit import kernel
from ..toolbox.parts import Part, cut, move_documents_in_parts, move_topics_in_parts
from ..toolbox.shapes import prior_shapes
from ..toolbox.threads import in_parts


@singledispatch
def topic_factors(documents: Any) -> Any:
    """Return what multiplies the weights of topics in these documents, float (K,), or 1 for nothing."""
    return 1.0


@kernel
def draw_words(rng, topics, first, end, word_topics):
    """Fill rows `first` to `end` of `word_topics` with logs of gamma variables; return the largest, (K,).

    Parameters
    ----------
    rng : numpy.random.Generator
    topics : NamedTuple
        Topic side that begins as `DirichletTopics` does, and has `prior_shapes`.
    first, end : int
    word_topics : float64 (V, K)
    """
    for w in range(first, end):
        shapes = word_topics[w]
        prior_shapes(topics, w, shapes)
        for j in range(topics.word_ptr[w], topics.word_ptr[w] + topics.n_listed[w]):
            shapes[topics.listed_topic[j]] += topics.listed_count[j]
    return log_gammas(rng, word_topics[first:end])


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
def gather_topics(tokens, topics):
    """Recount the sizes of topics, and put the topics of the tokens of a word where its list is to be."""
    topics.total[:] = 0
    next_of_word = topics.word_ptr[:-1].copy()
    for i in range(tokens.words.size):
        w, k = tokens.words[i], tokens.topic[i]
        topics.total[k] += 1
        topics.listed_topic[next_of_word[w]] = k
        next_of_word[w] += 1


@kernel
def list_words(topics, first, end):
    """Make the lists of words `first` to `end` of the topics that `gather_topics` left there."""
    for w in range(first, end):
        start = last = topics.word_ptr[w]
        for i in range(start, topics.word_ptr[w + 1]):  # a list is never longer than what it is made of
            k, j = topics.listed_topic[i], start
            while j < last and topics.listed_topic[j] != k:
                j += 1
            if j == last:
                topics.listed_topic[j] = k
                topics.listed_count[j] = 0
                last += 1
            topics.listed_count[j] += 1
        topics.n_listed[w] = last - start


def parallel_sweep(rng: np.random.Generator, state: Any) -> bool:
    """One sweep: topics' words, tokens, then the moves of both sides. Mutates `state`; gets through."""
    tokens, documents, topics, _ = state
    parts = cut(rng, tokens, topics.word_ptr, int(topics.n_topics[0]))
    word_topics = np.empty((topics.n_listed.size, topics.n_topics[0]))

    def words(part: Part) -> np.ndarray:
        return draw_words(part.rng, topics, part.first, part.end, word_topics)

    high = np.max(in_parts(words, parts.words), axis=0)

    def relative(part: Part) -> np.ndarray:
        return exponentials(word_topics[part.rows], high, word_topics[part.rows])

    share = topic_factors(documents) / sum(in_parts(relative, parts.words))

    def topics_of(part: Part) -> None:
        draw_topics(part.rng, tokens, documents, part.first, part.end, word_topics, share)

    in_parts(topics_of, parts.documents)
    gather_topics(tokens, topics)
    in_parts(lambda part: list_words(topics, part.first, part.end), parts.words)
    move_documents_in_parts(documents, rng, tokens, topics, parts.documents)
    move_topics_in_parts(topics, rng, parts.words)
    return True

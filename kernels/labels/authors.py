"""Documents of several authors: each token is by one of them, its topic from that author's proportions.

Author a and topic k together weigh ``r_a (n_ak + alpha) c_k (n_kw + eta)`` for a token of word w, all counts
without the token, where

    r_a = 1 / (n_a + K alpha),    c_k = 1 / (n_k + V eta).

As in `toolbox.dirichlet` the weights have a word part, over the topics in the list of the word, and a smooth
part, ``eta r_a mass_a`` of author a, whose *mass* is the sum of ``(n_ak + alpha) c_k`` over topics. It is
weighed anew where a document begins, and kept up to date while its tokens move.
"""

from typing import NamedTuple

import numpy as np

from ..toolbox.dirichlet import list_token, unlist_token
from ..toolbox.foldin import MOST_REDRAWN, token_to_redraw
from ..toolbox.jit import borrowing_kernel, kernel
from ..toolbox.lists import entry_at
from ..toolbox.random import categorical, concentration, crt, is_sampled
from ..toolbox.sides import (
    Tokens,
    check_number_of_topics,
    check_positive,
    check_side,
    move_documents,
)
from ..toolbox.sweeps import finish_sweep


class AuthorDocuments(NamedTuple):
    """Document side of authors with symmetric Dirichlet proportions.

    Attributes
    ----------
    prior : float64 (1, K)
        Alpha.
    rest : float64 (1,)
        Zero: no topic is left to open.
    alpha : float64 (1,)
    alpha_prior : float64 (2,)
    author_ptr : int64 (D + 1,)
        Document d has the authors ``authors[author_ptr[d]:author_ptr[d + 1]]``, one or more.
    authors : int32 (E,)
    of_token : int32 (N,)
        Author of each token, -1 while it has none.
    count : int32 (A, K)
        Tokens of each author with each topic, n_ak.
    total : int64 (A,)
        Tokens of each author, n_a.
    mass : float64 (most authors of a document,)
        Of the authors of the current document; working memory.
    """

    prior: np.ndarray
    rest: np.ndarray
    alpha: np.ndarray
    alpha_prior: np.ndarray
    author_ptr: np.ndarray
    authors: np.ndarray
    of_token: np.ndarray
    count: np.ndarray
    total: np.ndarray
    mass: np.ndarray

    FIXED = ("rest", "alpha_prior", "author_ptr", "authors")


@borrowing_kernel
def weigh_topic(documents, topics, scratch, own, k):
    """Bring c_k up to date, and with it the masses of the authors `own` of the current document."""
    before = scratch.coefficient[k]
    scratch.coefficient[k] = 1.0 / (topics.total[k] + topics.n_listed.size * topics.eta[0])
    change = scratch.coefficient[k] - before
    for s in range(own.size):
        documents.mass[s] += (documents.count[own[s], k] + documents.alpha[0]) * change


@borrowing_kernel
def weigh_authors(documents, scratch, own):
    """Sum up the masses of the authors `own` of a document."""
    for s in range(own.size):
        documents.mass[s] = 0.0
        for k in range(scratch.coefficient.size):
            documents.mass[s] += (documents.count[own[s], k] + documents.alpha[0]) * scratch.coefficient[k]


@borrowing_kernel
def count_token(tokens, documents, topics, scratch, own, i, step):
    """Count token `i` for its author and its topic (step 1), or take it out (step -1)."""
    author, k = documents.of_token[i], tokens.topic[i]
    documents.count[author, k] += step
    documents.total[author] += step
    for s in range(own.size):
        if own[s] == author:
            documents.mass[s] += step * scratch.coefficient[k]
    if step > 0:
        list_token(topics, tokens.words[i], k)
    else:
        unlist_token(topics, tokens.words[i], k)
    weigh_topic(documents, topics, scratch, own, k)


@borrowing_kernel
def weight_of_author(documents, author, k):
    """``r_a (n_ak + alpha)``."""
    alpha, n_topics = documents.alpha[0], documents.prior.shape[1]
    return (documents.count[author, k] + alpha) / (documents.total[author] + n_topics * alpha)


@borrowing_kernel
def draw_author_and_topic(rng, documents, topics, scratch, own, word):
    """Draw both for a token of `word` that is not counted, by one uniform variate."""
    start, length, eta = topics.word_ptr[word], topics.n_listed[word], topics.eta[0]
    alpha, n_topics = documents.alpha[0], documents.prior.shape[1]
    word_mass = 0.0
    for j in range(length):
        k = topics.listed_topic[start + j]
        weight = 0.0
        for s in range(own.size):
            weight += weight_of_author(documents, own[s], k)
        word_mass += weight * scratch.coefficient[k] * topics.listed_count[start + j]
        scratch.weights[j] = word_mass
    smooth_mass = 0.0
    for s in range(own.size):
        smooth_mass += eta * documents.mass[s] / (documents.total[own[s]] + n_topics * alpha)
    u = rng.random() * (word_mass + smooth_mass)
    author, k = own[0], np.int64(0)
    if u < word_mass:
        j = entry_at(scratch.weights, u)
        k = np.int64(topics.listed_topic[start + j])
        if j > 0:
            u -= scratch.weights[j - 1]
        factor = scratch.coefficient[k] * topics.listed_count[start + j]
        for s in range(own.size):
            author = own[s]
            u -= weight_of_author(documents, author, k) * factor
            if u < 0.0:
                break
        return author, k
    u -= word_mass
    for s in range(own.size):
        author = own[s]
        weight = eta * documents.mass[s] / (documents.total[author] + n_topics * alpha)
        if u < weight:
            break
        if s < own.size - 1:
            u -= weight
    for topic in range(n_topics):
        k = topic
        u -= eta * weight_of_author(documents, author, k) * scratch.coefficient[k]
        if u < 0.0:
            break
    return author, k


@kernel
def token_pass(rng, tokens, documents, topics, scratch):
    """Draw the author and the topic of every token anew, together. Mutates all arguments."""
    smoothing = topics.n_listed.size * topics.eta[0]
    for k in range(scratch.coefficient.size):
        scratch.coefficient[k] = 1.0 / (topics.total[k] + smoothing)
    for d in range(tokens.group.size):
        own = documents.authors[documents.author_ptr[d] : documents.author_ptr[d + 1]]
        weigh_authors(documents, scratch, own)
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            if tokens.topic[i] >= 0:
                count_token(tokens, documents, topics, scratch, own, i, -1)
            author, k = draw_author_and_topic(rng, documents, topics, scratch, own, tokens.words[i])
            documents.of_token[i] = author
            tokens.topic[i] = k
            count_token(tokens, documents, topics, scratch, own, i, 1)


@kernel
def sweep(rng, state):
    """One sweep: authors and topics of tokens, then alpha and the topic side. Mutates `state`."""
    tokens, documents, topics, scratch = state
    token_pass(rng, tokens, documents, topics, scratch)
    finish_sweep(rng, tokens, documents, topics, scratch)
    return True


@move_documents.implement(AuthorDocuments)
def _draw_alpha(rng, tokens, documents, topics, scratch):
    if not is_sampled(documents.alpha_prior):
        return
    alpha, n_tables = documents.alpha[0], 0
    n_authors, n_topics = documents.count.shape
    for a in range(n_authors):
        if documents.total[a] > 0:
            for k in range(n_topics):
                n_tables += crt(rng, documents.count[a, k], alpha)
    documents.alpha[0] = concentration(
        rng, alpha, documents.alpha_prior, n_tables, documents.total, float(n_topics)
    )
    documents.prior[:] = documents.alpha[0]


@kernel
def _draw_pair(rng, likelihood, seen, total, weights):
    """Weigh authors and topics of one token of a new document, and draw; return the pair and their sum."""
    n_authors, n_topics = seen.shape
    for s in range(n_authors):
        for k in range(n_topics):
            weights[s * n_topics + k] = seen[s, k] / total[s] * likelihood[k]
    return categorical(rng, weights, weights.size), weights.sum()


@kernel
def _count_pair(seen, total, pair, step):
    author, topic = pair // seen.shape[1], pair % seen.shape[1]
    seen[author, topic] += step
    total[author] += step


@kernel
def left_to_right(rng, words, word_topics, prior, log_conditionals):
    """Draw ``log p(w_n | authors and topics of the words before)`` along independent particles.

    As `foldin.left_to_right` does, for pairs of an author and a topic.

    Parameters
    ----------
    rng : numpy.random.Generator
    words : int (n,)
    word_topics : float (V, K)
    prior : float (S, K)
        Dirichlet parameters of the document's authors.
    log_conditionals : float (R, n)
        One row a particle; overwritten.
    """
    weights, pairs = np.zeros(prior.size), np.full(words.size, -1)
    for particle in range(log_conditionals.shape[0]):
        seen = prior.copy()
        total = np.sum(seen, axis=1)
        for n in range(words.size):
            for j in range(min(n, MOST_REDRAWN)):
                i = token_to_redraw(rng, j, n)
                _count_pair(seen, total, pairs[i], -1.0)
                pairs[i] = _draw_pair(rng, word_topics[words[i]], seen, total, weights)[0]
                _count_pair(seen, total, pairs[i], 1.0)
            pairs[n], mass = _draw_pair(rng, word_topics[words[n]], seen, total, weights)
            log_conditionals[particle, n] = np.log(mass / len(prior))
            _count_pair(seen, total, pairs[n], 1.0)


@kernel
def fold_in(rng, words, word_topics, prior, burn_in, sweeps):
    """Posterior mean topic proportions of a new document, float (K,), by Gibbs sweeps over its tokens.

    Parameters
    ----------
    rng : numpy.random.Generator
    words : int (n,)
    word_topics : float (V, K)
    prior : float (S, K)
        Dirichlet parameters of the document's authors.
    burn_in, sweeps : int
    """
    weights, pairs = np.zeros(prior.size), np.full(words.size, -1)
    seen = prior.copy()
    total, theta = np.sum(seen, axis=1), np.zeros(prior.shape[1])
    for done in range(-burn_in - 1, sweeps):  # the first seats the tokens
        for i in range(words.size):
            if pairs[i] >= 0:
                _count_pair(seen, total, pairs[i], -1.0)
            pairs[i] = _draw_pair(rng, word_topics[words[i]], seen, total, weights)[0]
            _count_pair(seen, total, pairs[i], 1.0)
        if done >= 0:
            for s in range(len(prior)):
                theta += seen[s] / total[s]
    return theta / (len(prior) * sweeps)


def author_documents(
    author_ptr, authors, of_token, topic, n_authors: int, n_topics: int, alpha, alpha_prior=(0.0, 0.0)
) -> AuthorDocuments:
    """Document side of the authors of documents, see `AuthorDocuments`.

    Tokens have the authors `of_token` (N,) and the topics `topic` (N,), both -1 for those that have none yet.
    """
    own, seated = np.array(of_token, np.int32), np.asarray(topic) >= 0
    count = np.zeros((n_authors, n_topics), np.int32)
    np.add.at(count, (own[seated], topic[seated]), 1)
    return AuthorDocuments(
        prior=np.full((1, n_topics), float(alpha)),
        rest=np.zeros(1),
        alpha=np.array([float(alpha)]),
        alpha_prior=np.array(alpha_prior, float),
        author_ptr=np.array(author_ptr, np.int64),
        authors=np.array(authors, np.int32),
        of_token=own,
        count=count,
        total=count.sum(axis=1, dtype=np.int64),
        mass=np.zeros(int(np.diff(author_ptr).max(initial=1))),
    )


@check_side.register
def _(side: AuthorDocuments, tokens: Tokens, n_topics: int) -> None:
    check_number_of_topics(side, tokens, n_topics)
    check_positive(alpha=side.alpha)
    if np.any(side.prior != side.alpha[0]):
        raise AssertionError("the document prior is not alpha")
    is_author = np.zeros((tokens.group.size, side.total.size), bool)
    is_author[np.repeat(np.arange(tokens.group.size), np.diff(side.author_ptr)), side.authors] = True
    document = np.repeat(np.arange(tokens.group.size), np.diff(tokens.doc_ptr))
    if np.any(side.of_token < 0) or not np.all(is_author[document, side.of_token]):
        raise AssertionError("a token is not by one of its document's authors")
    recount = np.zeros(side.count.shape, np.int64)
    np.add.at(recount, (side.of_token, tokens.topic), 1)
    if np.any(side.count != recount) or np.any(side.total != recount.sum(axis=1)):
        raise AssertionError("counts of authors differ from a recount")

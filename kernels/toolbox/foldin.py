"""New documents under frozen topics: fold-in Gibbs sampling and left-to-right likelihoods.

Given the topics' word probabilities, documents are independent and a document's topics follow

  p(z_i = k | z_-i, w) ∝ (n_k + prior_k) φ_{k, w_i},

where ``n_k`` counts the document's other tokens in topic k. `word_topics` is φ transposed, (V, K) for each
group, so that the weights of one token lie side by side in memory.

Where the prior is small, sweeps hardly ever leave the topics with which they begin: to exchange a topic for
another, a document would have both of them in between. So a particle filter finds these, not tokens that are
seated one after the other, each without a look at the words to come. It takes the tokens in a random order:
those of a word often stand together, and by the last of them few particles would have another topic.
"""

import math

import numpy as np

from .jit import kernel
from .random import categorical

MOST_REDRAWN = 64
"""Tokens to the left of one that `left_to_right` redraws before it scores that one.

Estimates from particles that redraw more are hardly less noisy, and with all of them the time grows with the
square of a document's length.
"""

PARTICLES = 20
"""Of the filter that seats the tokens: about as much work as so many sweeps."""


@kernel
def _weigh(likelihood, counts, prior, weights):
    """Fill `weights` with ``(counts + prior) · likelihood``; returns their sum."""
    total = 0.0
    for k in range(prior.size):
        weights[k] = (counts[k] + prior[k]) * likelihood[k]
        total += weights[k]
    return total


@kernel
def _seat(rng, likelihood, counts, prior, weights):
    """Draw the topic of one token given `counts`, and count it. Returns the topic."""
    _weigh(likelihood, counts, prior, weights)
    topic = categorical(rng, weights, prior.size)
    counts[topic] += 1.0
    return topic


@kernel
def _reseat(rng, words, z, i, word_topics, counts, prior, weights):
    """Redraw ``z[i]`` given the other tokens that have been counted. Mutates `z` and `counts`."""
    counts[z[i]] -= 1.0
    z[i] = _seat(rng, word_topics[words[i]], counts, prior, weights)


@kernel
def token_to_redraw(rng, j, n):
    """Pick the `j`-th of at most `MOST_REDRAWN` among `n` tokens: the `j`-th, or one at random of more."""
    return j if n <= MOST_REDRAWN else int(rng.random() * n)


@kernel
def _seat_all(rng, words, word_topics, prior, prior_if_absent, z, counts):
    """Draw the topics of all tokens by a particle filter, and count them; see `draw_counts`.

    Particles are resampled by how likely they make the next word, and draw its topic from the conditional.
    Overwrites `z`, int (n,), and `counts`, float (K,).
    """
    n_topics = prior.size
    own, before = np.zeros((PARTICLES, n_topics)), np.empty((PARTICLES, n_topics))
    weights, likelihood = np.empty((PARTICLES, n_topics)), np.empty(PARTICLES)
    topic = np.empty((words.size, PARTICLES), np.int32)
    parent = np.empty((words.size, PARTICLES), np.int32)
    order = np.arange(words.size)
    for i in range(words.size):
        other = i + int(rng.random() * (words.size - i))
        order[i], order[other] = order[other], order[i]
        of_word = word_topics[words[order[i]]]
        for p in range(PARTICLES):
            likelihood[p] = 0.0
            for k in range(n_topics):
                in_document = own[p, k] + prior[k] if own[p, k] > 0.0 else prior_if_absent[k]
                weights[p, k] = in_document * of_word[k]
                likelihood[p] += weights[p, k]
        before[:] = own
        mean, height, reached, p = likelihood.mean(), rng.random(), likelihood[0], 0
        for q in range(PARTICLES):  # systematic: of each its share, rounded at random
            while reached < (height + q) * mean and p < PARTICLES - 1:
                p += 1
                reached += likelihood[p]
            own[q] = before[p]
            parent[i, q] = p
            topic[i, q] = categorical(rng, weights[p], n_topics)
            own[q, topic[i, q]] += 1.0
    p = int(rng.random() * PARTICLES)
    counts[:] = own[p]
    for i in range(words.size - 1, -1, -1):
        z[order[i]] = topic[i, p]
        p = parent[i, p]


@kernel
def fold_in(rng, words, doc_ptr, group, word_topics, prior, burn_in, sweeps, theta):
    """Fill `theta` with the posterior mean topic proportions of new documents.

    Parameters
    ----------
    rng : numpy.random.Generator
    words : int (N,)
    doc_ptr : int (D + 1,)
    group : int (D,)
        Row of `prior` for each document.
    word_topics : float (1, V, K) or (G, V, K)
    prior : float (G, K)
    burn_in, sweeps : int
        Gibbs sweeps that are dropped, and those that are averaged.
    theta : float (D, K)
        Mean over sweeps of ``(n_k + prior_k) / (n + sum prior)``; the prior mean for an empty document.
    """
    n_topics = prior.shape[1]
    counts = np.zeros(n_topics)
    weights = np.zeros(n_topics)
    z = np.zeros(words.size, np.int64)
    for d in range(doc_ptr.size - 1):
        own = words[doc_ptr[d] : doc_ptr[d + 1]]
        own_prior = prior[group[d]]
        own_topics = word_topics[group[d] if len(word_topics) > 1 else 0]
        _seat_all(rng, own, own_topics, own_prior, own_prior, z, counts)
        theta[d] = 0.0
        for s in range(burn_in + sweeps):
            for i in range(own.size):
                _reseat(rng, own, z, i, own_topics, counts, own_prior, weights)
            if s >= burn_in:
                theta[d] += counts
        theta[d] = (theta[d] / sweeps + own_prior) / (own.size + own_prior.sum())


@kernel
def left_to_right(rng, words, word_topics, prior, log_conditionals):
    """Draw ``log p(w_n | z_<n)`` for each token of one document, along independent particles.

    Before token n is scored, Gibbs draws of the topics of tokens to its left leave ``p(z_<n | w_<n)``
    invariant; so the mean over particles of a row's product is ``p(w)`` (Wallach et al. 2009, Algorithm 3;
    Buntine 2009, Algorithm 2). There each of these tokens is redrawn; here at most `MOST_REDRAWN` are.

    Parameters
    ----------
    rng : numpy.random.Generator
    words : int (n,)
    word_topics : float (V, K)
    prior : float (K,)
    log_conditionals : float (R, n)
        One row a particle; overwritten.
    """
    counts = np.zeros(prior.size)
    weights = np.zeros(prior.size)
    z = np.zeros(words.size, np.int64)
    total_prior = prior.sum()
    for particle in range(log_conditionals.shape[0]):
        counts[:] = 0.0
        for n in range(words.size):
            for j in range(min(n, MOST_REDRAWN)):
                i = token_to_redraw(rng, j, n)
                _reseat(rng, words, z, i, word_topics, counts, prior, weights)
            likelihood = word_topics[words[n]]
            total = _weigh(likelihood, counts, prior, weights)
            log_conditionals[particle, n] = math.log(total / (n + total_prior))
            z[n] = _seat(rng, likelihood, counts, prior, weights)


@kernel
def draw_counts(rng, words, word_topics, prior, prior_if_absent, burn_in, counts):
    """Fill `counts` with the topic counts of one document after each of some Gibbs sweeps.

    A topic may be off in a document, where it then has no token, so that

      p(z_i = k | z_-i, w) ∝ (n_k + prior_k) φ_{k, w_i} if n_k > 0, else prior_if_absent_k φ_{k, w_i}.

    Parameters
    ----------
    rng : numpy.random.Generator
    words : int (n,)
    word_topics : float (V, K)
    prior, prior_if_absent : float (K,)
        The same where every topic is on.
    burn_in : int
        Sweeps that are dropped.
    counts : float (S, K)
        One row a sweep; overwritten.
    """
    n_topics = prior.size
    own = np.zeros(n_topics)
    weights = np.zeros(n_topics)
    z = np.empty(words.size, np.int64)
    _seat_all(rng, words, word_topics, prior, prior_if_absent, z, own)
    for sweep in range(-burn_in, counts.shape[0]):
        for i in range(words.size):
            own[z[i]] -= 1.0
            likelihood = word_topics[words[i]]
            for k in range(n_topics):
                weights[k] = (own[k] + prior[k] if own[k] > 0.0 else prior_if_absent[k]) * likelihood[k]
            z[i] = categorical(rng, weights, n_topics)
            own[z[i]] += 1.0
        if sweep >= 0:
            counts[sweep] = own

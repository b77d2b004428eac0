"""Sequential Monte Carlo over the tokens of a new document in the order in which they take their seats.

Topics stay as they are. Each particle draws the next token's dish and topic given those before it and its
word, and is weighed by the probability of the word (full adaptation): the product of the mean weights is an
unbiased estimate of the probability of the words (Del Moral 2004). Particles are drawn anew, by systematic
resampling, where fewer than half of them count.
"""

import math
from typing import NamedTuple

import numpy as np

from ..toolbox.jit import kernel
from ..toolbox.random import categorical


class Particles(NamedTuple):
    """Partly seated documents.

    Sizes: P particles, n tokens of the document, S sentences of it, K topics.

    Attributes
    ----------
    n_dishes : int32 (P,)
    n_tables : int32 (P, S)
    table_dish, table_size : int32 (P, n)
        Tables of sentence s from the entry of its first token on, in the order in which they are opened.
    in_dish : int32 (P, n, K)
    dish_size : int32 (P, n)
    log_weight : float64 (P,)
    """

    n_dishes: np.ndarray
    n_tables: np.ndarray
    table_dish: np.ndarray
    table_size: np.ndarray
    in_dish: np.ndarray
    dish_size: np.ndarray
    log_weight: np.ndarray


@kernel
def fresh_particles(n_particles, n_tokens, n_sentences, n_topics, truncation):
    """Particles that have no token yet; at a `truncation`, all their sentences have all dishes."""
    n_tables = max(n_tokens, n_sentences * truncation)
    n_dishes = max(n_tokens, truncation)
    particles = Particles(
        np.full(n_particles, truncation, np.int32),
        np.full((n_particles, n_sentences), truncation, np.int32),
        np.zeros((n_particles, n_tables), np.int32),
        np.zeros((n_particles, n_tables), np.int32),
        np.zeros((n_particles, n_dishes, n_topics), np.int32),
        np.zeros((n_particles, n_dishes), np.int32),
        np.zeros(n_particles),
    )
    for j in range(n_sentences * truncation):
        particles.table_dish[:, j] = j % truncation
    return particles


@kernel
def seat_next(rng, particles, p, s, start, likelihood, law, truncation, weights):
    """Seat the next token, of sentence `s`, in particle `p`; return the probability of its word.

    Parameters
    ----------
    particles : Particles
    p, s : int
    start : int
        Where the tables of the sentence begin.
    likelihood : float64 (K,)
        Of the word under each topic.
    law : float64 (4,)
        a, b, zeta and kappa.
    truncation : int
        Dishes that all sentences have from the start; 0 where tables are opened by their first tokens.
    weights : float64 (n + K + 1,)
        Working memory.
    """
    a, b, zeta, kappa = law[0], law[1], law[2], law[3]
    n_topics, n_dishes, n_tables = likelihood.size, particles.n_dishes[p], particles.n_tables[p, s]
    after = 0
    for j in range(start, start + n_tables):
        after += particles.table_size[p, j]
    for c in range(n_dishes):
        weights[c] = -1.0
    passed = 1.0
    opened = 0.0 if truncation else 1.0  # a token that opens a table is no success of its stick (Theorem 4)
    for j in range(start, start + n_tables):
        size = particles.table_size[p, j]
        after -= size
        mass = a + b + size - opened + after
        is_last = truncation > 0 and j == start + n_tables - 1  # takes all that is left
        seat = passed if is_last else passed * (a + size - opened) / mass
        weights[particles.table_dish[p, j]] = seat
        passed *= (b + after) / mass
    of_offered = 0.0 if truncation else passed / (n_dishes - n_tables + zeta)
    of_any = likelihood.sum()
    total = 0.0
    for c in range(n_dishes):
        of_word = kappa * of_any
        for k in range(n_topics):
            of_word += particles.in_dish[p, c, k] * likelihood[k]
        of_word /= particles.dish_size[p, c] + n_topics * kappa
        weights[c] = (weights[c] if weights[c] >= 0.0 else of_offered) * of_word
        total += weights[c]
    weights[n_dishes] = of_offered * zeta * of_any / n_topics
    total += weights[n_dishes]
    c = categorical(rng, weights, n_dishes + 1)
    for k in range(n_topics):
        weights[k] = (particles.in_dish[p, c, k] + kappa) * likelihood[k]
    k = categorical(rng, weights, n_topics)
    particles.in_dish[p, c, k] += 1
    particles.dish_size[p, c] += 1
    particles.n_dishes[p] = max(n_dishes, c + 1)
    j = start
    while j < start + n_tables and particles.table_dish[p, j] != c:
        j += 1
    if j == start + n_tables:
        particles.table_dish[p, j], particles.table_size[p, j] = c, 0
        particles.n_tables[p, s] += 1
    particles.table_size[p, j] += 1
    return total


@kernel
def copy_particle(source, p, target, q):
    """Write particle `p` of `source` over particle `q` of `target`."""
    for c in range(max(source.n_dishes[p], target.n_dishes[q])):
        target.in_dish[q, c] = source.in_dish[p, c]
        target.dish_size[q, c] = source.dish_size[p, c]
    target.n_dishes[q] = source.n_dishes[p]
    target.n_tables[q] = source.n_tables[p]
    target.table_dish[q] = source.table_dish[p]
    target.table_size[q] = source.table_size[p]


@kernel
def resample(rng, particles, spare):
    """Draw all particles anew into `spare`, in proportion to their weights; return the log of their mean."""
    n = particles.log_weight.size
    highest = particles.log_weight.max()
    share = np.exp(particles.log_weight - highest)
    total = share.sum()
    u, p = rng.random(), 0
    height = share[0] * n / total
    for q in range(n):
        while height <= u + q and p < n - 1:
            p += 1
            height += share[p] * n / total
        copy_particle(particles, p, spare, q)
    spare.log_weight[:] = 0.0
    return highest + math.log(total / n)


@kernel
def pass_document(rng, words, sentence, start, at_time, word_topics, law, truncation, n_particles):
    """Run particles through a document.

    Parameters
    ----------
    rng : numpy.random.Generator
    words, sentence, start : int (n,)
        Of each token, its sentence, numbered from 0, and the first token of that.
    at_time : int (n,)
        Tokens in the order in which they take their seats.
    word_topics : float64 (V, K)
    law : float64 (4,)
        a, b, zeta and kappa.
    truncation : int
        See `seat_next`.
    n_particles : int

    Returns
    -------
    Particles, float
        Particles that have all tokens, and the log of the product of the mean weights that are not theirs.
    """
    n, n_topics = words.size, word_topics.shape[1]
    n_sentences = sentence.max() + 1 if n else 0
    particles = fresh_particles(n_particles, n, n_sentences, n_topics, truncation)
    spare = fresh_particles(n_particles, n, n_sentences, n_topics, truncation)
    weights = np.zeros(n + truncation + n_topics + 1)
    log_p = 0.0
    for i in at_time:
        likelihood = word_topics[words[i]]
        for p in range(n_particles):
            s = sentence[i]
            begin = s * truncation if truncation else start[i]
            of_word = seat_next(rng, particles, p, s, begin, likelihood, law, truncation, weights)
            particles.log_weight[p] += math.log(of_word)
        share = np.exp(particles.log_weight - particles.log_weight.max())
        if share.sum() ** 2 < 0.5 * n_particles * (share**2).sum():
            log_p += resample(rng, particles, spare)
            particles, spare = spare, particles
    return particles, log_p


@kernel
def log_probability(rng, words, sentence, start, at_time, word_topics, law, truncation, n_particles):
    """Log of an unbiased estimate of the probability of a document's words; see `pass_document`."""
    particles, log_p = pass_document(
        rng, words, sentence, start, at_time, word_topics, law, truncation, n_particles
    )
    return log_p + mean_of_logs(particles.log_weight)


@kernel
def mean_of_logs(log_weight):
    """Log of the mean of weights."""
    highest = log_weight.max()
    return highest + math.log(np.exp(log_weight - highest).mean())


@kernel
def next_sentence(rng, words, sentence, start, at_time, word_topics, law, truncation, n_particles):
    """Mean topic proportions of the first token of one more sentence, given a document, float64 (K,)."""
    particles, _ = pass_document(
        rng, words, sentence, start, at_time, word_topics, law, truncation, n_particles
    )
    a, b, zeta, kappa, n_topics = law[0], law[1], law[2], law[3], word_topics.shape[1]
    share = np.exp(particles.log_weight - particles.log_weight.max())
    share /= share.sum()
    out = np.zeros(n_topics)
    for p in range(n_particles):
        n_dishes = particles.n_dishes[p]
        left = share[p]
        for c in range(n_dishes):
            if truncation == 0:
                weight = share[p] / (n_dishes + zeta)
            elif c < n_dishes - 1:
                weight = left * a / (a + b)
            else:
                weight = left
            left -= weight
            mass = particles.dish_size[p, c] + n_topics * kappa
            for k in range(n_topics):
                out[k] += weight * (particles.in_dish[p, c, k] + kappa) / mass
        if truncation == 0:
            out += share[p] * zeta / (n_dishes + zeta) / n_topics
    return out

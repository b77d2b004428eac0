"""Sequential Monte Carlo over the tokens of a new document in the order in which they take their seats.

Topics stay as they are. Each particle draws the next token's dish and topic given those before it and its
word, and is weighed by the probability of the word (full adaptation): the product of the mean weights is an
unbiased estimate of the probability of the words (Del Moral 2004). Particles are drawn anew, by systematic
resampling, where fewer than half of them count.
"""

import math
from typing import NamedTuple

import numpy as np

from ..toolbox.jit import chosen_by_type, kernel
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
    mark : int32 (P, n)
        What a law keeps of each dish.
    log_weight : float64 (P,)
    """

    n_dishes: np.ndarray
    n_tables: np.ndarray
    table_dish: np.ndarray
    table_size: np.ndarray
    in_dish: np.ndarray
    dish_size: np.ndarray
    mark: np.ndarray
    log_weight: np.ndarray


class Sticks(NamedTuple):
    """The law of sticks; at a `truncation`, all sentences have all dishes from the start.

    As in all laws, `kappa`, float64 (K,), are the Dirichlet parameters of a dish.
    """

    a: float
    b: float
    zeta: float
    kappa: np.ndarray
    truncation: int


class Restaurants(NamedTuple):
    """The law of a franchise; see `franchise`. The mark of a dish is how many tables have it."""

    alpha: float
    gamma: float
    kappa: np.ndarray
    truncation: int


class SharedAndOwn(NamedTuple):
    """The law of shared dishes and own ones; see `mixture`. A dish's mark is its sentence, or -1."""

    alpha: float
    epsilon: float
    kappa: np.ndarray
    truncation: int


@chosen_by_type(0)
def weigh_seats(law, particles, p, s, start, weights):
    """Fill the probabilities of the dishes for the next token of sentence `s`, the last one for a new dish.

    Parameters
    ----------
    law : NamedTuple
    particles : Particles
    p, s : int
        Particle and sentence.
    start : int
        Where the tables of the sentence begin.
    weights : float64 (n + K + 1,)
    """


@chosen_by_type(0)
def take_seat(law, rng, particles, p, s, start, c):
    """Seat a token of sentence `s` at dish `c`, which counts it already."""


@weigh_seats.implement(Sticks)
def _weigh_tables_of_sticks(law, particles, p, s, start, weights):
    n_dishes, n_tables = particles.n_dishes[p], particles.n_tables[p, s]
    after = 0
    for j in range(start, start + n_tables):
        after += particles.table_size[p, j]
    for c in range(n_dishes):
        weights[c] = -1.0
    passed = 1.0
    # A token that opens a table is no success of its stick (Theorem 4).
    opened = 0.0 if law.truncation else 1.0
    for j in range(start, start + n_tables):
        size = particles.table_size[p, j]
        after -= size
        mass = law.a + law.b + size - opened + after
        is_last = law.truncation > 0 and j == start + n_tables - 1  # takes all that is left
        seat = passed if is_last else passed * (law.a + size - opened) / mass
        weights[particles.table_dish[p, j]] = seat
        passed *= (law.b + after) / mass
    of_offered = 0.0 if law.truncation else passed / (n_dishes - n_tables + law.zeta)
    for c in range(n_dishes):
        if weights[c] < 0.0:
            weights[c] = of_offered
    weights[n_dishes] = of_offered * law.zeta


@kernel
def join_table(particles, p, s, j, c):
    """Seat a token at entry `j` of the tables, which is a new one of sentence `s` if it is empty."""
    if particles.table_size[p, j] == 0:
        particles.table_dish[p, j] = c
        particles.n_tables[p, s] += 1
    particles.table_size[p, j] += 1


@take_seat.implement(Sticks)
def _take_seat_at_table(law, rng, particles, p, s, start, c):
    j = start
    while j < start + particles.n_tables[p, s] and particles.table_dish[p, j] != c:
        j += 1
    if law.truncation:
        particles.table_size[p, j] += 1
    else:
        join_table(particles, p, s, j, c)


@weigh_seats.implement(Restaurants)
def _weigh_tables_of_restaurants(law, particles, p, s, start, weights):
    n_dishes, n_tables = particles.n_dishes[p], particles.n_tables[p, s]
    n_here, n_served = 0, 0
    for j in range(start, start + n_tables):
        n_here += particles.table_size[p, j]
    for c in range(n_dishes):
        n_served += particles.mark[p, c]
    of_table = law.gamma / (n_here + law.gamma) / (n_served + law.alpha)
    for c in range(n_dishes):
        weights[c] = particles.mark[p, c] * of_table
    weights[n_dishes] = law.alpha * of_table
    for j in range(start, start + n_tables):
        weights[particles.table_dish[p, j]] += particles.table_size[p, j] / (n_here + law.gamma)


@take_seat.implement(Restaurants)
def _take_seat_in_restaurant(law, rng, particles, p, s, start, c):
    n_tables, n_served, mass = particles.n_tables[p, s], 0, 0.0
    for other in range(particles.n_dishes[p]):
        n_served += particles.mark[p, other]
    for j in range(start, start + n_tables):
        if particles.table_dish[p, j] == c:
            mass += particles.table_size[p, j]
    u = rng.random() * (mass + law.gamma * particles.mark[p, c] / (n_served + law.alpha))
    j = start
    while j < start + n_tables:
        if particles.table_dish[p, j] == c:
            u -= particles.table_size[p, j]
            if u < 0.0:
                break
        j += 1
    particles.mark[p, c] += j == start + n_tables
    join_table(particles, p, s, j, c)


@weigh_seats.implement(SharedAndOwn)
def _weigh_shared_and_own(law, particles, p, s, start, weights):
    n_dishes, n_shared, n_own = particles.n_dishes[p], 0, 0
    for c in range(n_dishes):
        n_shared += particles.dish_size[p, c] if particles.mark[p, c] == -1 else 0
        n_own += particles.dish_size[p, c] if particles.mark[p, c] == s else 0
    shared, own = law.epsilon / (n_shared + law.alpha), (1.0 - law.epsilon) / (n_own + law.alpha)
    for c in range(n_dishes):
        weights[c] = 0.0
        if particles.mark[p, c] == -1:
            weights[c] = shared * particles.dish_size[p, c]
        elif particles.mark[p, c] == s:
            weights[c] = own * particles.dish_size[p, c]
    weights[n_dishes] = law.alpha * (shared + own)


@take_seat.implement(SharedAndOwn)
def _take_seat_shared_or_own(law, rng, particles, p, s, start, c):
    if particles.dish_size[p, c] > 1:
        return
    n_shared, n_own = 0, 0
    for other in range(particles.n_dishes[p]):
        if other != c:
            n_shared += particles.dish_size[p, other] if particles.mark[p, other] == -1 else 0
            n_own += particles.dish_size[p, other] if particles.mark[p, other] == s else 0
    shared, own = law.epsilon / (n_shared + law.alpha), (1.0 - law.epsilon) / (n_own + law.alpha)
    particles.mark[p, c] = -1 if rng.random() * (shared + own) < shared else s


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
        np.zeros((n_particles, n_dishes), np.int32),
        np.zeros(n_particles),
    )
    for j in range(n_sentences * truncation):
        particles.table_dish[:, j] = j % truncation
    return particles


@kernel
def seat_next(rng, particles, p, s, start, likelihood, law, weights):
    """Seat the next token, of sentence `s`, in particle `p`; return the probability of its word.

    Parameters
    ----------
    particles, p, s, start, law
        As in `weigh_seats`.
    likelihood : float64 (K,)
        Of the word under each topic.
    weights : float64 (n + K + 1,)
        Working memory.
    """
    n_topics, n_dishes, kappa = likelihood.size, particles.n_dishes[p], law.kappa
    weigh_seats(law, particles, p, s, start, weights)
    of_any, mass, total = 0.0, 0.0, 0.0
    for k in range(n_topics):
        of_any += kappa[k] * likelihood[k]
        mass += kappa[k]
    for c in range(n_dishes):
        of_word = of_any
        for k in range(n_topics):
            of_word += particles.in_dish[p, c, k] * likelihood[k]
        weights[c] *= of_word / (particles.dish_size[p, c] + mass)
        total += weights[c]
    weights[n_dishes] *= of_any / mass
    total += weights[n_dishes]
    c = categorical(rng, weights, n_dishes + 1)
    for k in range(n_topics):
        weights[k] = (particles.in_dish[p, c, k] + kappa[k]) * likelihood[k]
    k = categorical(rng, weights, n_topics)
    particles.in_dish[p, c, k] += 1
    particles.dish_size[p, c] += 1
    particles.n_dishes[p] = max(n_dishes, c + 1)
    take_seat(law, rng, particles, p, s, start, c)
    return total


@kernel
def copy_particle(source, p, target, q):
    """Write particle `p` of `source` over particle `q` of `target`."""
    for c in range(max(source.n_dishes[p], target.n_dishes[q])):
        target.in_dish[q, c] = source.in_dish[p, c]
        target.dish_size[q, c] = source.dish_size[p, c]
        target.mark[q, c] = source.mark[p, c]
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
def pass_document(rng, words, sentence, start, at_time, word_topics, law, n_particles):
    """Run particles through a document.

    Parameters
    ----------
    rng : numpy.random.Generator
    words, sentence, start : int (n,)
        Of each token, its sentence, numbered from 0, and the first token of that.
    at_time : int (n,)
        Tokens in the order in which they take their seats.
    word_topics : float64 (V, K)
    law : NamedTuple
    n_particles : int

    Returns
    -------
    Particles, float
        Particles that have all tokens, and the log of the product of the mean weights that are not theirs.
    """
    n, n_topics = words.size, word_topics.shape[1]
    n_sentences = sentence.max() + 2 if n else 1  # with one more
    particles = fresh_particles(n_particles, n, n_sentences, n_topics, law.truncation)
    spare = fresh_particles(n_particles, n, n_sentences, n_topics, law.truncation)
    weights = np.zeros(n + law.truncation + n_topics + 1)
    log_p = 0.0
    for i in at_time:
        likelihood = word_topics[words[i]]
        for p in range(n_particles):
            s = sentence[i]
            begin = s * law.truncation if law.truncation else start[i]
            of_word = seat_next(rng, particles, p, s, begin, likelihood, law, weights)
            particles.log_weight[p] += math.log(of_word)
        share = np.exp(particles.log_weight - particles.log_weight.max())
        if share.sum() ** 2 < 0.5 * n_particles * (share**2).sum():
            log_p += resample(rng, particles, spare)
            particles, spare = spare, particles
    return particles, log_p


@kernel
def log_probability(rng, words, sentence, start, at_time, word_topics, law, n_particles):
    """Log of an unbiased estimate of the probability of a document's words; see `pass_document`."""
    particles, log_p = pass_document(rng, words, sentence, start, at_time, word_topics, law, n_particles)
    return log_p + mean_of_logs(particles.log_weight)


@kernel
def mean_of_logs(log_weight):
    """Log of the mean of weights."""
    highest = log_weight.max()
    return highest + math.log(np.exp(log_weight - highest).mean())


@kernel
def next_seat(particles, law, n_tokens, goes_on):
    """Sentence of the next token, and where its tables begin."""
    s = 0 if goes_on else particles.n_tables.shape[1] - 1
    return s, s * law.truncation if law.truncation else 0 if goes_on else n_tokens


@kernel
def next_token(rng, words, sentence, start, at_time, word_topics, law, n_particles, goes_on):
    """Mean topic proportions of the next token, given a document, float64 (K,).

    It is the first of one more sentence or, where the document `goes_on`, one more of its first.
    """
    particles, _ = pass_document(rng, words, sentence, start, at_time, word_topics, law, n_particles)
    n_topics = word_topics.shape[1]
    share = np.exp(particles.log_weight - particles.log_weight.max())
    share /= share.sum()
    s, begin = next_seat(particles, law, words.size, goes_on)
    weights = np.zeros(words.size + law.truncation + 1)
    out, of_all = np.zeros(n_topics), law.kappa.sum()
    for p in range(n_particles):
        n_dishes = particles.n_dishes[p]
        weigh_seats(law, particles, p, s, begin, weights)
        for c in range(n_dishes):
            mass = particles.dish_size[p, c] + of_all
            for k in range(n_topics):
                out[k] += share[p] * weights[c] * (particles.in_dish[p, c, k] + law.kappa[k]) / mass
        out += share[p] * weights[n_dishes] * law.kappa / of_all
    return out


@kernel
def next_dishes(rng, words, sentence, start, at_time, word_topics, law, n_particles, goes_on, n_draws):
    """Dishes that the next token of a document may have, `n_draws` times; see `next_token`.

    Returns
    -------
    float64 (n_draws, L)
        Probability of each dish.
    float64 (n_draws, L, K)
        Dirichlet parameters of its topics.
    """
    particles, _ = pass_document(rng, words, sentence, start, at_time, word_topics, law, n_particles)
    s, begin = next_seat(particles, law, words.size, goes_on)
    weights = np.zeros((n_particles, words.size + law.truncation + 1))
    share = np.exp(particles.log_weight - particles.log_weight.max())
    for p in range(n_particles):
        weigh_seats(law, particles, p, s, begin, weights[p])
        share[p] *= weights[p, : particles.n_dishes[p] + 1].sum()  # 1, unless sentences have a law of lengths
    n_dishes = particles.n_dishes.max() + 1
    of_dishes = np.zeros((n_draws, n_dishes))
    topics = np.empty((n_draws, n_dishes, word_topics.shape[1]))
    topics[:] = law.kappa
    for i in range(n_draws):
        p = categorical(rng, share, n_particles)
        own = particles.n_dishes[p] + 1
        of_dishes[i, :own] = weights[p, :own] / weights[p, :own].sum()
        topics[i, : own - 1] += particles.in_dish[p, : own - 1]
    return of_dishes, topics

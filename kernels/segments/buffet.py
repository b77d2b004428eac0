"""An Indian buffet a document, from which its sentences take dishes (Williamson, Wang, Heller and Blei 2010).

    pi_l            Poisson process of intensity alpha / pi on (0, 1)
    g_l             ~ Gamma(gamma, 1)
    b_sl            ~ Bernoulli(pi_l)                       whether the dish is on in a sentence
    n_sl            ~ NegativeBinomial(b_sl g_l, 1/2)       tokens of the sentence that have the dish

This is the model of `buffet.focused` with a document for the corpus, sentences for documents and dishes for
topics; here all four are integrated out. With tables of (g)_n, where a dish is on in j of M sentences, its
strength is a gamma variable of rate x_j = 1 + j log 2, so that one that h sentences have, with m tables,
contributes

    alpha F(h, m),    F(h, m) = sum_{j=h}^M (M - h)! (j - 1)! / ((j - h)! M!) (gamma)_m x_j^-(gamma + m).

A token joins a table of n tokens with weight n, and opens one with weight F(h, m + 1) / F(h, m) where its
sentence has the dish, F(h + 1, m + 1) / F(h, m) where it lacks it, and alpha F(1, 1) for a new dish.
"""

import math
from typing import NamedTuple

import numpy as np

from ..buffet.focused import LOG2, expected_topics, mass_of_new
from ..toolbox.jit import borrowing_kernel, kernel
from ..toolbox.random import LEAST, gamma_variate, is_beyond, is_sampled, log_density, slice_sample
from ..toolbox.sides import check_positive, longest_document
from . import particles as smc
from . import restaurants, urns
from .documents import SLOTS
from .state import Tokens
from .tables import draw_block, lift_block, put_block

LARGE = 1e200
"""Sums are scaled down where a term is larger."""


@restaurants.with_tables
class Buffet(NamedTuple):
    """Tables of all tokens, hyperparameters, and counts of the document that a sweep is in.

    Sizes: N tokens, L slots for dishes, T tokens of the longest sentence, U different numbers of sentences.

    Attributes
    ----------
    alpha, gamma : float64 (1,)
    alpha_prior, gamma_prior : float64 (2,)
    most_dishes : int
        0: there is no limit.
    table : int32 (N,)
        Of each token, numbered through its sentence in any way; -1 while it has none.
    table_size, table_dish : int32 (T,)
        Of the current sentence.
    own_count : int32 (L + 1,)
        Tokens of the current sentence at each dish.
    served, having : int32 (L + 1,)
        Tables that have each dish, and sentences that do.
    again, first : float64 (L + 1,)
        Weight of one more table with each dish, where the sentence has the dish and where it lacks it.
    new : float64 (1,)
        Weight of a new dish.
    n_sentences : int64 (1,)
        Of the document.
    doc_ptr : int64 (D + 1,)
    served_noted, having_noted, sentences_noted : int32 (N,)
        `served`, `having` and `n_sentences` of all dishes: those of document d from entry ``doc_ptr[d]`` on.
    distinct, times : int64 (U,)
        Numbers of sentences, and how many documents have so many.
    """

    alpha: np.ndarray
    gamma: np.ndarray
    alpha_prior: np.ndarray
    gamma_prior: np.ndarray
    most_dishes: int
    table: np.ndarray
    table_size: np.ndarray
    table_dish: np.ndarray
    own_count: np.ndarray
    served: np.ndarray
    having: np.ndarray
    again: np.ndarray
    first: np.ndarray
    new: np.ndarray
    n_sentences: np.ndarray
    doc_ptr: np.ndarray
    served_noted: np.ndarray
    having_noted: np.ndarray
    sentences_noted: np.ndarray
    distinct: np.ndarray
    times: np.ndarray

    FIXED = ("alpha_prior", "gamma_prior", "most_dishes", "doc_ptr", "distinct", "times")
    EMPTY = ("table_size", "own_count", "served", "having", "n_sentences")


def make_buffet(tokens: Tokens, table: np.ndarray, most_dishes: int, **hyper: np.ndarray) -> Buffet:
    """Buffet of tokens at their tables; `hyper` as from `state.hyperparameters`."""
    longest, n_tokens = longest_document(tokens), tokens.words.size
    longest_sentence = np.diff(tokens.sentence_ptr).max(initial=0)
    distinct, times = np.unique(np.diff(tokens.doc_sentences), return_counts=True)
    return Buffet(
        **hyper,
        most_dishes=most_dishes,
        table=np.array(table, np.int32),
        table_size=np.zeros(longest_sentence, np.int32),
        table_dish=np.zeros(longest_sentence, np.int32),
        own_count=np.zeros(longest + 1, np.int32),
        served=np.zeros(longest + 1, np.int32),
        having=np.zeros(longest + 1, np.int32),
        again=np.zeros(longest + 1),
        first=np.zeros(longest + 1),
        new=np.zeros(1),
        n_sentences=np.zeros(1, np.int64),
        doc_ptr=tokens.doc_ptr,
        served_noted=np.zeros(n_tokens, np.int32),
        having_noted=np.zeros(n_tokens, np.int32),
        sentences_noted=np.zeros(n_tokens, np.int32),
        distinct=distinct,
        times=times,
    )


@borrowing_kernel
def weigh_next_table(gamma, served, having, n_sentences):
    """Weights of one more table with a dish: where the sentence has the dish, and where it lacks it.

    They are means of 1 / x_j and (j - h) / (M - h) / x_j over the sentences j in which the dish is on.
    """
    term, total, again, first = 1.0, 0.0, 0.0, 0.0
    for j in range(having, n_sentences + 1):
        x = 1.0 + j * LOG2
        total += term
        again += term / x
        first += term * (j - having) / x
        term *= j / (j + 1.0 - having) * math.exp((gamma + served) * math.log(x / (x + LOG2)))
        if term > LARGE:
            term, total, again, first = term / LARGE, total / LARGE, again / LARGE, first / LARGE
    per_table = (gamma + served) / total
    return per_table * again, per_table * first / max(n_sentences - having, 1)


@borrowing_kernel
def refresh_dish(urn, c):
    """Bring the weights of tables with dish `c` up to date."""
    if urn.served[c] > 0:
        urn.again[c], urn.first[c] = weigh_next_table(
            urn.gamma[0], urn.served[c], urn.having[c], urn.n_sentences[0]
        )


@urns.enter_urn.implement(Buffet)
def _enter_urn(urn, tokens, dishes, d):
    for s in range(tokens.doc_sentences[d], tokens.doc_sentences[d + 1]):
        for i in range(tokens.sentence_ptr[s], tokens.sentence_ptr[s + 1]):
            t, c = urn.table[i], tokens.dish[i]
            if t >= 0:
                urn.served[c] += urn.table_size[t] == 0
                urn.having[c] += urn.own_count[c] == 0
                urn.table_size[t] += 1
                urn.own_count[c] += 1
        urn.table_size[:] = 0
        urn.own_count[:] = 0
    urn.n_sentences[0] = tokens.doc_sentences[d + 1] - tokens.doc_sentences[d]
    if urn.n_sentences[0] > 0:
        urn.new[0] = max(LEAST, mass_of_new(urn.alpha[0], urn.gamma[0], urn.n_sentences[0]))
    for c in range(dishes.sizes[SLOTS]):
        refresh_dish(urn, c)


@urns.leave_urn.implement(Buffet)
def _leave_urn(urn, dishes, d):
    for c in range(urn.doc_ptr[d + 1] - urn.doc_ptr[d]):
        at = urn.doc_ptr[d] + c
        urn.served_noted[at] = urn.served[c]
        urn.having_noted[at] = urn.having[c]
        urn.sentences_noted[at] = urn.n_sentences[0]
    urn.served[:] = 0
    urn.having[:] = 0
    urn.n_sentences[0] = 0


@borrowing_kernel
def open_table(urn, c, n):
    """Count one more table with dish `c`, of `n` tokens of the current sentence."""
    urn.served[c] += 1
    urn.having[c] += urn.own_count[c] == 0
    urn.own_count[c] += n
    refresh_dish(urn, c)


@borrowing_kernel
def close_table(urn, c, n):
    """Count a table with dish `c` out, of `n` tokens of the current sentence."""
    urn.served[c] -= 1
    urn.own_count[c] -= n
    urn.having[c] -= urn.own_count[c] == 0
    refresh_dish(urn, c)


@urns.leave_seat.implement(Buffet)
def _leave_seat(urn, tokens, dishes, i):
    t, c = urn.table[i], tokens.dish[i]
    urn.table_size[t] -= 1
    if urn.table_size[t] == 0:
        close_table(urn, c, 1)
    else:
        urn.own_count[c] -= 1


@borrowing_kernel
def weight_of_table(urn, c):
    """Weight of one more table of the current sentence with dish `c`."""
    if urn.served[c] == 0:
        return 0.0
    return urn.again[c] if urn.own_count[c] > 0 else urn.first[c]


@urns.weigh_seats.implement(Buffet)
def _weigh_seats(urn, dishes, s):
    n_slots = dishes.sizes[SLOTS]
    for c in range(n_slots):
        dishes.table_weight[c] = urn.own_count[c] + weight_of_table(urn, c)
    dishes.table_weight[n_slots] = urn.new[0]


@urns.take_seat.implement(Buffet)
def _take_seat(urn, tokens, dishes, i):
    t, c = urn.table[i], tokens.dish[i]
    urn.table_size[t] += 1
    if urn.table_size[t] == 1:
        urn.table_dish[t] = c
        open_table(urn, c, 1)
    else:
        urn.own_count[c] += 1


@restaurants.move_table.implement(Buffet)
def _move_table(rng, urn, tokens, smoothings, dishes, s, t):
    c, n = urn.table_dish[t], urn.table_size[t]
    n_listed = lift_block(tokens, dishes, s, urn.table, t, c)
    close_table(urn, c, n)
    for slot in range(dishes.sizes[SLOTS]):
        weight = weight_of_table(urn, slot)
        dishes.log_weight[slot] = math.log(weight) if weight > 0.0 else -math.inf
    dishes.log_weight[dishes.sizes[SLOTS]] = math.log(urn.new[0])
    new = draw_block(rng, smoothings, dishes, n_listed)
    put_block(tokens, dishes, s, urn.table, t, new)
    open_table(urn, new, n)


@kernel
def draw_sentences_on(rng, gamma, served, having, n_sentences):
    """In how many sentences a dish is on, given in how many it has tokens."""
    total = 0.0
    kept = having
    term = 1.0
    for j in range(having, n_sentences + 1):
        total += term
        if rng.random() * total < term:  # of those so far, its share
            kept = j
        x = 1.0 + j * LOG2
        term *= j / (j + 1.0 - having) * math.exp((gamma + served) * math.log(x / (x + LOG2)))
        if term > LARGE:
            term, total = term / LARGE, total / LARGE
    return kept


class LogShape(NamedTuple):
    """Target of ``log gamma`` given in how many sentences dishes are on.

    Attributes
    ----------
    by_tables : int64 (most + 1,)
        How many dishes have so many tables.
    log_rates : float
        Sum of log x_j over the dishes.
    distinct, times : int64 (U,)
        As in `Buffet`.
    alpha : float
    prior : float64 (2,)
        Shape and rate.
    """

    by_tables: np.ndarray
    log_rates: float
    distinct: np.ndarray
    times: np.ndarray
    alpha: float
    prior: np.ndarray


@log_density.implement(LogShape)
def _log_density(target, x):
    # Gamma prior times Jacobian; prod_l (gamma)_m x_j^-gamma; and that no other dish has a token
    gamma = math.exp(x)
    if is_beyond(gamma):
        return -math.inf
    out = target.prior[0] * x - target.prior[1] * gamma - gamma * target.log_rates
    for m in range(1, target.by_tables.size):
        if target.by_tables[m] > 0:
            out += target.by_tables[m] * (math.lgamma(gamma + m) - math.lgamma(gamma))
    return out - target.alpha * expected_dishes(gamma, target.distinct, target.times)


@kernel
def expected_dishes(gamma, distinct, times):
    """Dishes that have a token, in all documents, in expectation, for alpha = 1."""
    out = 0.0
    for u in range(distinct.size):
        out += times[u] * expected_topics(gamma, distinct[u])
    return out


@urns.update_urn.implement(Buffet)
def _update_urn(rng, urn):
    if is_sampled(urn.alpha_prior):
        rate = urn.alpha_prior[1] + expected_dishes(urn.gamma[0], urn.distinct, urn.times)
        n_dishes = np.sum(urn.served_noted > 0)
        urn.alpha[0] = gamma_variate(rng, urn.alpha_prior[0] + n_dishes, rate)
    if is_sampled(urn.gamma_prior):
        by_tables, log_rates = np.zeros(urn.served.size, np.int64), 0.0
        for at in range(urn.served_noted.size):
            m = urn.served_noted[at]
            if m > 0:
                on = draw_sentences_on(rng, urn.gamma[0], m, urn.having_noted[at], urn.sentences_noted[at])
                log_rates += math.log1p(on * LOG2)
                by_tables[m] += 1
        target = LogShape(by_tables, log_rates, urn.distinct, urn.times, urn.alpha[0], urn.gamma_prior)
        urn.gamma[0] = math.exp(slice_sample(rng, target, math.log(urn.gamma[0]), 1.0))


def check(state: urns.UrnState) -> None:
    """See `restaurants.check`."""
    restaurants.check(state)
    check_positive(alpha=state.urn.alpha, gamma=state.urn.gamma)


class Sets(NamedTuple):
    """The law of a new document's dishes, for `particles`; the weights of seats do not sum to one.

    Their product over the tokens is the probability of dishes and lengths, but for a constant. The mark of a
    dish is ``m (M + 1) + h``, with m tables in h of the M sentences.
    """

    alpha: float
    gamma: float
    kappa: np.ndarray
    truncation: int
    n_sentences: int


@borrowing_kernel
def weight_of_particle_table(law, mark, is_here):
    """Weight of one more table with a dish of that mark."""
    base = law.n_sentences + 1
    if mark == 0:
        return mass_of_new(law.alpha, law.gamma, law.n_sentences)
    again, first = weigh_next_table(law.gamma, mark // base, mark % base, law.n_sentences)
    return again if is_here else first


@smc.weigh_seats.implement(Sets)
def _weigh_sets(law, particles, p, s, start, weights):
    n_dishes = particles.n_dishes[p]
    weights[: n_dishes + 1] = 0.0
    for j in range(start, start + particles.n_tables[p, s]):
        weights[particles.table_dish[p, j]] += particles.table_size[p, j]
    for c in range(n_dishes):
        weights[c] += weight_of_particle_table(law, particles.mark[p, c], weights[c] > 0.0)
    weights[n_dishes] = weight_of_particle_table(law, 0, False)


@smc.take_seat.implement(Sets)
def _take_seat_of_set(law, rng, particles, p, s, start, c):
    end, mark, here = start + particles.n_tables[p, s], particles.mark[p, c], 0.0
    for j in range(start, end):
        if particles.table_dish[p, j] == c:
            here += particles.table_size[p, j]
    u = rng.random() * (here + weight_of_particle_table(law, mark, here > 0.0))
    j = start
    while j < end:
        if particles.table_dish[p, j] == c:
            u -= particles.table_size[p, j]
            if u < 0.0:
                break
        j += 1
    if j == end:
        particles.mark[p, c] += law.n_sentences + 1 + (here == 0.0)
    smc.join_table(particles, p, s, j, c)

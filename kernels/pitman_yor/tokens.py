"""One Gibbs pass over the tokens under Pitman-Yor topics: topic, table or none, and what the table sends for.

Given the topics of all others, with m customers of the token's word at t tables in restaurant (g, k),

    joins a table   (alpha + n_dk) / (b + M)             S^{m+1}_t / S^m_t          stays(m, t)
    opens a table   (alpha + n_dk) (b + a T) / (b + M)   S^{m+1}_{t+1} / S^m_t  h   opens(m, t),

h = sum_v p_wv (gamma + q_kv) / (V gamma + Q_k) (`pitman_yor_seats` has the last factors). `dense_pass` is the
definition, O(K) a token. `sparse_pass` draws from the same conditionals in three parts. With the coefficient
``c_k = (alpha + n_dk) (b + a T) / ((b + M) (V gamma + Q_k))`` a topic without customers of the word weighs
the sum of

    c_k sum_v p_wv q_kv     if tables of the topic sent for a source of the word
    c_k gamma sum_v p_wv    for any topic, those of the document first; rarely visited

and those with customers, of which each word has a short list, are weighed in full.
"""

from typing import NamedTuple

import numpy as np

from ..toolbox.jit import borrowing_kernel, chosen_by_type
from ..toolbox.random import categorical
from ..toolbox.token_pass import (
    RECOUNT_AFTER,
    block_end,
    enter_document,
    find_in_smooth_part,
    leave_document,
)
from .seats import seat_weights, takes_head
from .state import (
    Associations,
    SameWord,
    count_order,
    discount_order,
    draw_order,
    drop_order,
    find_entry,
    keep_order,
    row_sum,
    seat,
    source,
    sources,
    unseat,
)


class PassScratch(NamedTuple):
    """Working memory of a sweep; see also `state.Scratch`. Holds nothing between documents.

    Attributes
    ----------
    doc_count : int64 (K,)
    doc_topics : int32 (K,)
    is_doc_topic : bool (K,)
    joining : float64 (K,)
        (alpha + n_dk) / (b + M).
    coefficient : float64 (K,)
        c_k.
    sent : float64 (K,)
        sum_v p_wv q_kv; zero between tokens.
    touched : int32 (K,)
        Topics where `sent` is not zero.
    kept : float64 (K,)
        Coefficients that are set aside.
    weights : float64 (2 K,)
    """

    doc_count: np.ndarray
    doc_topics: np.ndarray
    is_doc_topic: np.ndarray
    joining: np.ndarray
    coefficient: np.ndarray
    sent: np.ndarray
    touched: np.ndarray
    kept: np.ndarray
    weights: np.ndarray


def pass_scratch(n_topics: int) -> PassScratch:
    """Fresh working memory."""
    return PassScratch(
        doc_count=np.zeros(n_topics, np.int64),
        doc_topics=np.zeros(n_topics, np.int32),
        is_doc_topic=np.zeros(n_topics, np.bool_),
        joining=np.zeros(n_topics),
        coefficient=np.zeros(n_topics),
        sent=np.zeros(n_topics),
        touched=np.zeros(n_topics, np.int32),
        kept=np.zeros(n_topics),
        weights=np.zeros(2 * n_topics),
    )


@borrowing_kernel
def gather(orders, restaurants, group, cell, sent, touched):
    """Sum p_wv q_kv over v into `sent`, and list the topics where that is not zero; return how many."""
    base, n_words, n_topics = restaurants.base, restaurants.n_words[0], restaurants.b.size
    b = restaurants.base_of_group[group]
    n_touched = 0
    start, end = sources(orders, n_words, cell)
    for place in range(start, end):
        v, p = source(orders, place)
        first = base.word_ptr[b * n_words + v]
        for j in range(first, first + base.n_listed[b * n_words + v]):
            k = base.listed_topic[j] - b * n_topics
            if sent[k] == 0.0:
                touched[n_touched] = k
                n_touched += 1
            sent[k] += p * base.listed_count[j]
    return n_touched


@chosen_by_type(0)
def base_probabilities(orders, restaurants, group, cell, out):
    """Fill ``out[:K]`` with h, the probability of the cell's word under the base of each topic."""


@chosen_by_type(1)
def order(rng, orders, restaurants, group, cell, topic):
    """Draw the word that a new table sends for, count it at the base and remember it."""


@chosen_by_type(1)
def cancel(rng, orders, restaurants, group, cell, topic, n_tables):
    """Forget the order of one of the `n_tables` tables of `topic` in the cell, at random."""


@base_probabilities.implement(SameWord)
@base_probabilities.implement(Associations)
def _base_probabilities(orders, restaurants, group, cell, out):
    base, n_topics, n_words = restaurants.base, restaurants.b.size, restaurants.n_words[0]
    b, gamma = restaurants.base_of_group[group], restaurants.base.eta[0]
    for k in range(n_topics):
        out[k] = gamma * row_sum(orders, cell)
    start, end = sources(orders, n_words, cell)
    for place in range(start, end):
        v, p = source(orders, place)
        first = base.word_ptr[b * n_words + v]
        for j in range(first, first + base.n_listed[b * n_words + v]):
            out[base.listed_topic[j] - b * n_topics] += p * base.listed_count[j]
    for k in range(n_topics):
        out[k] /= n_words * gamma + base.total[b * n_topics + k]


@order.implement(SameWord)
@order.implement(Associations)
def _order(rng, orders, restaurants, group, cell, topic):
    v = draw_order(rng, orders, restaurants, group, cell, topic)
    count_order(restaurants, group, topic, v)
    keep_order(orders, restaurants, cell, topic, v)


@cancel.implement(SameWord)
@cancel.implement(Associations)
def _cancel(rng, orders, restaurants, group, cell, topic, n_tables):
    v = drop_order(rng, orders, restaurants, cell, topic, n_tables)
    discount_order(restaurants, group, topic, v)


@borrowing_kernel
def take_out(rng, tokens, restaurants, orders, scheme, group, cell, i):
    """Take token `i` out of its restaurant; False if it stays, as it heads the only table of several.

    Whatever else such a token could do has probability zero, as rho is not (Chen, Du and Buntine 2011).
    """
    topic = tokens.topic[i]
    place = find_entry(restaurants, cell, topic)
    m, t = restaurants.listed_customers[place], restaurants.listed_tables[place]
    heads = takes_head(rng, scheme, m, t)
    if heads and t == 1 and m > 1:
        return False
    if heads:
        cancel(rng, orders, restaurants, group, cell, topic, t)
    unseat(restaurants, group, cell, place, heads)
    return True


@borrowing_kernel
def put_in(rng, tokens, restaurants, orders, group, cell, i, topic, opens_table):
    """Seat token `i`; a new table draws what it sends for."""
    tokens.topic[i] = topic
    if opens_table:
        order(rng, orders, restaurants, group, cell, topic)
    seat(restaurants, group, cell, topic, opens_table)


@borrowing_kernel
def topic_weights(restaurants, discount, group, k):
    """``1 / (b + M)`` and ``(b + a T) / (b + M)``, which is 1 in an empty restaurant also where b <= 0."""
    b, n_customers = restaurants.b[k], restaurants.customers[group, k]
    if n_customers == 0:
        return 0.0, 1.0
    return 1.0 / (b + n_customers), (b + discount * restaurants.tables[group, k]) / (b + n_customers)


@borrowing_kernel
def dense_step(rng, tokens, documents, restaurants, orders, scheme, scratch, group, i):
    """Resample the topic and seat of token `i` of the document whose topics are counted in the scratch.

    The scratch's `sent` and `joining` are borrowed, for h and alpha + n_dk.
    """
    n_topics = restaurants.b.size
    weights, h, in_document = scratch.weights, scratch.sent, scratch.joining
    cell = group * restaurants.n_words[0] + tokens.words[i]
    old = tokens.topic[i]
    if old >= 0:
        if not take_out(rng, tokens, restaurants, orders, scheme, group, cell, i):
            return
        scratch.doc_count[old] -= 1
    base_probabilities(orders, restaurants, group, cell, h)
    for k in range(n_topics):
        _, opens = topic_weights(restaurants, scheme.discount[0], group, k)
        in_document[k] = documents.prior[group, k] + scratch.doc_count[k]
        weights[k] = 0.0
        weights[n_topics + k] = in_document[k] * opens * h[k]
    start = restaurants.cell_ptr[cell]
    for j in range(start, start + restaurants.n_listed[cell]):
        k = restaurants.listed_topic[j]
        joins, _ = topic_weights(restaurants, scheme.discount[0], group, k)
        at_table, alone = seat_weights(scheme, restaurants.listed_customers[j], restaurants.listed_tables[j])
        weights[k] = in_document[k] * joins * at_table
        weights[n_topics + k] *= alone
    chosen = categorical(rng, weights, 2 * n_topics)
    new = chosen % n_topics
    put_in(rng, tokens, restaurants, orders, group, cell, i, new, chosen >= n_topics)
    scratch.doc_count[new] += 1


@borrowing_kernel
def dense_pass(rng, tokens, documents, restaurants, orders, scheme, scratch):
    """Resample every token's topic and seat, O(K) a token. Mutates all arguments."""
    for d in range(tokens.group.size):
        enter_document(tokens, scratch, d)
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            dense_step(rng, tokens, documents, restaurants, orders, scheme, scratch, tokens.group[d], i)
        leave_document(tokens, scratch, d)
    scratch.sent[:] = 0.0


@borrowing_kernel
def weigh_topic(documents, restaurants, scheme, scratch, group, k):
    """Bring what the scratch has of topic `k` up to date; return by how much the coefficient grew."""
    joins, opens = topic_weights(restaurants, scheme.discount[0], group, k)
    base = restaurants.base
    at_base = restaurants.base_of_group[group] * restaurants.b.size + k
    in_document = documents.prior[group, k] + scratch.doc_count[k]
    before = scratch.coefficient[k]
    scratch.joining[k] = in_document * joins
    scratch.coefficient[k] = (
        in_document * opens / (restaurants.n_words[0] * base.eta[0] + base.total[at_base])
    )
    return scratch.coefficient[k] - before


@borrowing_kernel
def weigh_seats(restaurants, orders, scheme, scratch, group, cell):
    """Weigh topics with customers of the cell in full, and set their coefficients aside as zeros.

    Returns
    -------
    mass : float
        Of the weights; ``scratch.weights`` has their running sum: for each topic, an occupied table and a
        new one.
    aside : float
        Sum of the coefficients, which ``scratch.kept[:n]`` holds.
    """
    floor = restaurants.base.eta[0] * row_sum(orders, cell)
    start = restaurants.cell_ptr[cell]
    mass, aside = 0.0, 0.0
    for j in range(restaurants.n_listed[cell]):
        k = restaurants.listed_topic[start + j]
        coefficient = scratch.coefficient[k]
        at_table, alone = seat_weights(
            scheme, restaurants.listed_customers[start + j], restaurants.listed_tables[start + j]
        )
        mass += scratch.joining[k] * at_table
        scratch.weights[2 * j] = mass
        mass += coefficient * (floor + scratch.sent[k]) * alone
        scratch.weights[2 * j + 1] = mass
        scratch.kept[j] = coefficient
        scratch.coefficient[k] = 0.0
        aside += coefficient
    return mass, aside


@borrowing_kernel
def restore(restaurants, scratch, cell):
    """Undo what `weigh_seats` set aside."""
    start = restaurants.cell_ptr[cell]
    for j in range(restaurants.n_listed[cell]):
        scratch.coefficient[restaurants.listed_topic[start + j]] = scratch.kept[j]


@borrowing_kernel
def draw_seat(rng, restaurants, orders, scheme, scratch, group, cell, n_doc_topics, mass):
    """Draw a topic for a token of the cell, and whether it opens a table.

    `mass` is the sum of all coefficients.
    """
    coefficient, sent, touched = scratch.coefficient, scratch.sent, scratch.touched
    n_touched = gather(orders, restaurants, group, cell, sent, touched)
    seats, aside = weigh_seats(restaurants, orders, scheme, scratch, group, cell)
    ordered = 0.0
    for j in range(n_touched):
        ordered += coefficient[touched[j]] * sent[touched[j]]
    floor = restaurants.base.eta[0] * row_sum(orders, cell)
    u = rng.random() * (seats + ordered + floor * max(mass - aside, 0.0))
    topic, opens_table = 0, True
    if u < seats:
        j = 0
        while scratch.weights[j] <= u:
            j += 1
        topic = restaurants.listed_topic[restaurants.cell_ptr[cell] + j // 2]
        opens_table = j % 2 == 1
    elif u - seats < ordered:
        u -= seats
        for j in range(n_touched):
            if coefficient[touched[j]] > 0.0:
                topic = touched[j]
                u -= coefficient[topic] * sent[topic]
                if u < 0.0:
                    break
    else:
        u = (u - seats - ordered) / floor
        topic = find_in_smooth_part(
            u, coefficient, scratch.doc_topics, n_doc_topics, scratch.is_doc_topic, coefficient.size
        )
    for j in range(n_touched):
        sent[touched[j]] = 0.0
    restore(restaurants, scratch, cell)
    return topic, opens_table


@borrowing_kernel
def sparse_step(rng, tokens, documents, restaurants, orders, scheme, scratch, group, i, n_doc_topics, mass):
    """Resample the topic and seat of token `i`; return the document's number of topics, and the mass."""
    cell = group * restaurants.n_words[0] + tokens.words[i]
    old = tokens.topic[i]
    if old >= 0:
        if not take_out(rng, tokens, restaurants, orders, scheme, group, cell, i):
            return n_doc_topics, mass
        scratch.doc_count[old] -= 1
        mass += weigh_topic(documents, restaurants, scheme, scratch, group, old)
    new, opens_table = draw_seat(rng, restaurants, orders, scheme, scratch, group, cell, n_doc_topics, mass)
    put_in(rng, tokens, restaurants, orders, group, cell, i, new, opens_table)
    scratch.doc_count[new] += 1
    mass += weigh_topic(documents, restaurants, scheme, scratch, group, new)
    if not scratch.is_doc_topic[new]:
        scratch.is_doc_topic[new] = True
        scratch.doc_topics[n_doc_topics] = new
        n_doc_topics += 1
    return n_doc_topics, mass


@borrowing_kernel
def weigh_all(documents, restaurants, scheme, scratch, group):
    """Weigh all topics for documents of a group; return the mass, the sum of their coefficients."""
    scratch.coefficient[:] = 0.0
    mass = 0.0
    for k in range(scratch.coefficient.size):
        mass += weigh_topic(documents, restaurants, scheme, scratch, group, k)
    return mass


@borrowing_kernel
def sparse_block(rng, tokens, documents, restaurants, orders, scheme, scratch, first, end):
    """Resample the tokens of documents `first` to `end`, of one group; return the mass outside of them."""
    g = tokens.group[first]
    mass = weigh_all(documents, restaurants, scheme, scratch, g)
    for d in range(first, end):
        n_doc_topics = enter_document(tokens, scratch, d)
        for k in scratch.doc_topics[:n_doc_topics]:
            scratch.is_doc_topic[k] = True
            mass += weigh_topic(documents, restaurants, scheme, scratch, g, k)
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            n_doc_topics, mass = sparse_step(
                rng, tokens, documents, restaurants, orders, scheme, scratch, g, i, n_doc_topics, mass
            )
        for k in scratch.doc_topics[:n_doc_topics]:
            scratch.doc_count[k] = 0
            scratch.is_doc_topic[k] = False
            mass += weigh_topic(documents, restaurants, scheme, scratch, g, k)
    return mass


@borrowing_kernel
def sparse_pass(rng, tokens, documents, restaurants, orders, scheme, scratch):
    """Resample every token's topic and seat, in time that grows with the non-zero counts. Mutates all."""
    d = 0
    while d < tokens.group.size:
        end = block_end(tokens, d, max(RECOUNT_AFTER, scratch.doc_count.size))
        sparse_block(rng, tokens, documents, restaurants, orders, scheme, scratch, d, end)
        d = end

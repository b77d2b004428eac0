"""Moves of tables apart from tokens, and a pass over the tokens with the bases made explicit."""

import math
from typing import NamedTuple

import numpy as np

from ..toolbox.jit import borrowing_kernel, chosen_by_type, kernel
from ..toolbox.random import categorical, dirichlet
from ..toolbox.stirling import ratio
from .state import (
    Associations,
    SameWord,
    count_order,
    discount_order,
    draw_order,
    drop_order,
    keep_order,
    source,
    source_weight,
    sources,
)
from .tokens import base_probabilities, cancel, dense_pass, order


@borrowing_kernel
def redraw_tables(rng, restaurants, orders, scheme, group, cell, place, words, weights):
    """Draw how many tables the customers of one entry of a cell's list sit at, and what they send for.

    The law of t tables that sent for v_1, …, v_t in this order is f(t) times the product of the weights
    p_wv (gamma + q_kv) / (V gamma + Q_k), each with the tables before it counted. So orders go on being drawn
    up to m, and then t has the weight f(t) h_1 ⋯ h_t, where h_j is the sum of the weights of the j-th order.
    """
    topic = restaurants.listed_topic[place]
    m, t = restaurants.listed_customers[place], restaurants.listed_tables[place]
    for j in range(t):  # random ones, hence in random order
        words[j] = drop_order(rng, orders, restaurants, cell, topic, t - j)
        discount_order(restaurants, group, topic, words[j])
    n_others = restaurants.tables[group, topic] - t
    base, n_words = restaurants.base, restaurants.n_words[0]
    at_base = restaurants.base_of_group[group] * restaurants.b.size + topic
    start, end = sources(orders, n_words, cell)
    log_weight, highest = 0.0, 0.0
    weights[0] = 0.0
    for j in range(m):
        if j > 0:
            h = 0.0
            for source_place in range(start, end):
                h += source_weight(orders, restaurants, group, topic, source_place)
            h /= n_words * base.eta[0] + base.total[at_base]
            opens = restaurants.b[topic] + scheme.discount[0] * (n_others + j)
            log_weight += math.log(opens * ratio(scheme.ratios, m, j + 1) * h)
            weights[j] = log_weight
            highest = max(highest, log_weight)
        if j >= t:
            words[j] = draw_order(rng, orders, restaurants, group, cell, topic)
        count_order(restaurants, group, topic, words[j])
    for j in range(m):
        weights[j] = math.exp(weights[j] - highest)
    n_tables = categorical(rng, weights, m) + 1
    for j in range(m):
        if j < n_tables:
            keep_order(orders, restaurants, cell, topic, words[j])
        else:
            discount_order(restaurants, group, topic, words[j])
    restaurants.listed_tables[place] = n_tables
    restaurants.tables[group, topic] = n_others + n_tables


@kernel
def redraw_all_tables(rng, restaurants, orders, scheme):
    """Move the number of tables of each topic, word and group in turn."""
    n_words = restaurants.n_words[0]
    most = np.max(restaurants.cell_ptr[1:] - restaurants.cell_ptr[:-1])
    words, weights = np.empty(most, np.int64), np.empty(most)
    for cell in range(restaurants.n_listed.size):
        start = restaurants.cell_ptr[cell]
        for place in range(start, start + restaurants.n_listed[cell]):
            redraw_tables(rng, restaurants, orders, scheme, cell // n_words, cell, place, words, weights)


class KnownBase(NamedTuple):
    """Orders while the bases are known: the base does not count them, and each is drawn when it is wanted.

    Attributes
    ----------
    probability : float64 (B V, K)
        phi0.
    orders : SameWord or Associations
    """

    probability: np.ndarray
    orders: SameWord | Associations


@base_probabilities.implement(KnownBase)
def _known_probabilities(known, restaurants, group, cell, out):
    n_words = restaurants.n_words[0]
    first = restaurants.base_of_group[group] * n_words
    out[:] = 0.0
    start, end = sources(known.orders, n_words, cell)
    for place in range(start, end):
        v, p = source(known.orders, place)
        for k in range(restaurants.b.size):
            out[k] += p * known.probability[first + v, k]


@order.implement(KnownBase)
def _order_later(rng, known, restaurants, group, cell, topic):
    pass


@cancel.implement(KnownBase)
def _cancel_nothing(rng, known, restaurants, group, cell, topic, n_tables):
    pass


@kernel
def draw_base(rng, restaurants):
    """Draw phi0 given the orders, float (B V, K)."""
    base, n_words, n_topics = restaurants.base, restaurants.n_words[0], restaurants.b.size
    out = np.full((base.n_listed.size, n_topics), base.eta[0])
    for row in range(base.n_listed.size):
        for j in range(base.word_ptr[row], base.word_ptr[row] + base.n_listed[row]):
            out[row, base.listed_topic[j] % n_topics] += base.listed_count[j]
    shapes = np.empty(n_words)
    for first in range(0, base.n_listed.size, n_words):
        for k in range(n_topics):
            shapes[:] = out[first : first + n_words, k]
            dirichlet(rng, shapes, n_words, shapes)
            out[first : first + n_words, k] = shapes
    return out


@chosen_by_type(0)
def forget_orders(orders):
    """Forget what all tables sent for."""


@forget_orders.implement(SameWord)
def _forget_same(orders):
    pass


@forget_orders.implement(Associations)
def _forget_associated(orders):
    orders.n_orders[:] = 0


@kernel
def draw_known_order(rng, known, first, n_words, cell, topic):
    """Draw what a table sends for, given phi0 in the rows from `first` on."""
    start, end = sources(known.orders, n_words, cell)
    total = 0.0
    for place in range(start, end):
        v, p = source(known.orders, place)
        total += p * known.probability[first + v, topic]
    u = rng.random() * total
    chosen = 0
    for place in range(start, end):
        v, p = source(known.orders, place)
        if known.probability[first + v, topic] > 0.0:
            chosen = v
            u -= p * known.probability[first + v, topic]
            if u < 0.0:
                break
    return chosen


@kernel
def order_all(rng, restaurants, known):
    """Draw anew what all tables send for, given phi0, and count it at the base."""
    n_words = restaurants.n_words[0]
    restaurants.base.total[:] = 0
    restaurants.base.n_listed[:] = 0
    forget_orders(known.orders)
    for cell in range(restaurants.n_listed.size):
        group = cell // n_words
        first = restaurants.base_of_group[group] * n_words
        start = restaurants.cell_ptr[cell]
        for place in range(start, start + restaurants.n_listed[cell]):
            topic = restaurants.listed_topic[place]
            for _ in range(restaurants.listed_tables[place]):
                v = draw_known_order(rng, known, first, n_words, cell, topic)
                count_order(restaurants, group, topic, v)
                keep_order(known.orders, restaurants, cell, topic, v)


@kernel
def explicit_pass(rng, tokens, documents, restaurants, orders, scheme, scratch):
    """Draw phi0, then every token's topic and seat given phi0, and at the end all orders.

    Given phi0 the documents of different groups are independent.
    """
    known = KnownBase(draw_base(rng, restaurants), orders)
    dense_pass(rng, tokens, documents, restaurants, known, scheme, scratch)
    order_all(rng, restaurants, known)

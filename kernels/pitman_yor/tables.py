"""Moves of tables apart from tokens."""

import math

import numpy as np

from ..toolbox.jit import borrowing_kernel, kernel
from ..toolbox.random import categorical
from ..toolbox.stirling import ratio
from .state import (
    count_dish,
    draw_dish,
    drop_dish,
    keep_dish,
    source_weight,
    sources,
    uncount_dish,
)


@borrowing_kernel
def redraw_tables(rng, restaurants, dishes, scheme, cell, place, words, weights):
    """Draw how many tables the customers of one entry of a cell's list sit at, and what they send for.

    The law of t tables with the dishes v_1, …, v_t in this order is f(t) times the product of the weights
    p_wv (eta + q_kv) / (V eta + Q_k), each with the tables before it counted. So dishes go on being drawn
    up to m, and then t has the weight f(t) h_1 ⋯ h_t, where h_j is the sum of the weights of the j-th dish.
    """
    group, topic = cell // restaurants.n_words[0], restaurants.listed_topic[place]
    m, t = restaurants.listed_customers[place], restaurants.listed_tables[place]
    for j in range(t):  # random ones, hence in random order
        words[j] = drop_dish(rng, dishes, restaurants, cell, topic, t - j)
        uncount_dish(restaurants, group, topic, words[j])
    n_others = restaurants.tables[group, topic] - t
    base, n_words = restaurants.base, restaurants.n_words[0]
    at_base = restaurants.base_of_group[group] * restaurants.b.size + topic
    start, end = sources(dishes, n_words, cell)
    log_weight, highest = 0.0, 0.0
    weights[0] = 0.0
    for j in range(m):
        if j > 0:
            h = 0.0
            for source_place in range(start, end):
                h += source_weight(dishes, restaurants, group, topic, source_place)
            h /= n_words * base.eta[0] + base.total[at_base]
            opens = restaurants.b[topic] + scheme.discount[0] * (n_others + j)
            log_weight += math.log(opens * ratio(scheme.ratios, m, j + 1) * h)
            weights[j] = log_weight
            highest = max(highest, log_weight)
        if j >= t:
            words[j] = draw_dish(rng, dishes, restaurants, group, cell, topic)
        count_dish(restaurants, group, topic, words[j])
    for j in range(m):
        weights[j] = math.exp(weights[j] - highest)
    n_tables = categorical(rng, weights, m) + 1
    for j in range(m):
        if j < n_tables:
            keep_dish(dishes, restaurants, cell, topic, words[j])
        else:
            uncount_dish(restaurants, group, topic, words[j])
    restaurants.listed_tables[place] = n_tables
    restaurants.tables[group, topic] = n_others + n_tables


@kernel
def redraw_all_tables(rng, restaurants, dishes, scheme):
    """Move the number of tables of each topic, word and group in turn."""
    most = np.max(restaurants.cell_ptr[1:] - restaurants.cell_ptr[:-1])
    words, weights = np.empty(most, np.int64), np.empty(most)
    for cell in range(restaurants.n_listed.size):
        start = restaurants.cell_ptr[cell]
        for place in range(start, start + restaurants.n_listed[cell]):
            redraw_tables(rng, restaurants, dishes, scheme, cell, place, words, weights)

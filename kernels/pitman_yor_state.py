"""Topics that are Pitman-Yor processes, one a group, around a base that groups may share.

    phi0_bk ~ Dirichlet(gamma),   phi_gk ~ PYP(a, b_k, P_g phi0_bk),   b = base of group g

With phi and phi0 integrated out, the customers of restaurant (g, k) are the tokens of topic k in group g; a
table serves one word w, and sends for a word v of the base, with P_g[w, v] the probability that v becomes w.
Of the seating only counts are kept: m customers and t tables of each word, and which v the tables sent for.
"""

from typing import NamedTuple

import numpy as np

from .jit import chosen_by_type, kernel
from .state import Tokens


class Restaurants(NamedTuple):
    """Customers and tables, as one short list of (topic, customers, tables) for each word of each group.

    Attributes
    ----------
    cell_ptr : int64 (G V + 1,)
        Where the list of cell ``g V + w`` begins; it has room for all tokens of word w in group g.
    n_listed : int32 (G V,)
    listed_topic, listed_customers, listed_tables : int32 (N,)
    customers, tables : int64 (G, K)
        M and T.
    base_of_group : int64 (G,)
    shared : int32 (B, V, K)
        Tables that sent for word v, q.
    shared_total : int64 (B, K)
        Q.
    b : float64 (K,)
    gamma : float64 (1,)
    n_words : int64 (1,)
    """

    cell_ptr: np.ndarray
    n_listed: np.ndarray
    listed_topic: np.ndarray
    listed_customers: np.ndarray
    listed_tables: np.ndarray
    customers: np.ndarray
    tables: np.ndarray
    base_of_group: np.ndarray
    shared: np.ndarray
    shared_total: np.ndarray
    b: np.ndarray
    gamma: np.ndarray
    n_words: np.ndarray


class SameWord(NamedTuple):
    """P = I: a table sends for the word that it serves. `none` is empty."""

    none: np.ndarray


class Associations(NamedTuple):
    """Sparse P_g, and the words that the tables of each cell sent for.

    Attributes
    ----------
    row_ptr : int64 (G V + 1,)
    column : int32 (nnz,)
    weight : float64 (nnz,)
        Row ``g V + w`` holds the v with P_g[w, v] > 0, and these.
    n_orders : int32 (G V,)
        Tables of each cell; their places start at `cell_ptr`.
    order_topic, order_word : int32 (N,)
        Topic of each table, and the word that it sent for.
    """

    row_ptr: np.ndarray
    column: np.ndarray
    weight: np.ndarray
    n_orders: np.ndarray
    order_topic: np.ndarray
    order_word: np.ndarray


@chosen_by_type(0)
def base_weights(orders, restaurants, group, cell, out):
    """Fill ``out[:K]`` with the base probability of the cell's word under each topic; return K."""


@base_weights.implement(SameWord)
def _base_weights_of_same_word(orders, restaurants, group, cell, out):
    base, gamma = restaurants.base_of_group[group], restaurants.gamma[0]
    n_words = restaurants.n_words[0]
    w = cell - group * n_words
    n_topics = restaurants.b.size
    for k in range(n_topics):
        total = n_words * gamma + restaurants.shared_total[base, k]
        out[k] = (gamma + restaurants.shared[base, w, k]) / total
    return n_topics


@base_weights.implement(Associations)
def _base_weights_of_associations(orders, restaurants, group, cell, out):
    base, gamma = restaurants.base_of_group[group], restaurants.gamma[0]
    n_words = restaurants.n_words[0]
    n_topics = restaurants.b.size
    for k in range(n_topics):
        out[k] = 0.0
    for j in range(orders.row_ptr[cell], orders.row_ptr[cell + 1]):
        p = orders.weight[j]
        row = restaurants.shared[base, orders.column[j]]
        for k in range(n_topics):
            out[k] += p * (gamma + row[k])
    for k in range(n_topics):
        out[k] /= n_words * gamma + restaurants.shared_total[base, k]
    return n_topics


@chosen_by_type(1)
def send_order(rng, orders, restaurants, group, cell, topic):
    """Draw the word that a new table sends for, and keep it; returns the word."""


@send_order.implement(SameWord)
def _send_for_same_word(rng, orders, restaurants, group, cell, topic):
    return cell - group * restaurants.n_words[0]


@send_order.implement(Associations)
def _send_for_associated_word(rng, orders, restaurants, group, cell, topic):
    base, gamma = restaurants.base_of_group[group], restaurants.gamma[0]
    start, end = orders.row_ptr[cell], orders.row_ptr[cell + 1]
    total = 0.0
    for j in range(start, end):
        total += orders.weight[j] * (gamma + restaurants.shared[base, orders.column[j], topic])
    u = rng.random() * total
    chosen = start
    for j in range(start, end):
        p = orders.weight[j] * (gamma + restaurants.shared[base, orders.column[j], topic])
        if p > 0.0:
            chosen = j
            if u < p:
                break
            u -= p
    v = orders.column[chosen]
    place = restaurants.cell_ptr[cell] + orders.n_orders[cell]
    orders.order_topic[place] = topic
    orders.order_word[place] = v
    orders.n_orders[cell] += 1
    return v


@chosen_by_type(1)
def cancel_order(rng, orders, restaurants, group, cell, topic, n_tables):
    """Take away one of the `n_tables` tables of `topic` in the cell, at random; return what it sent for."""


@cancel_order.implement(SameWord)
def _cancel_same_word(rng, orders, restaurants, group, cell, topic, n_tables):
    return cell - group * restaurants.n_words[0]


@cancel_order.implement(Associations)
def _cancel_associated_word(rng, orders, restaurants, group, cell, topic, n_tables):
    start = restaurants.cell_ptr[cell]
    last = start + orders.n_orders[cell] - 1
    u = rng.random() * n_tables
    place = start
    for j in range(start, last + 1):
        if orders.order_topic[j] == topic:
            place = j
            if u < 1.0:
                break
            u -= 1.0
    v = orders.order_word[place]
    orders.order_topic[place] = orders.order_topic[last]
    orders.order_word[place] = orders.order_word[last]
    orders.n_orders[cell] -= 1
    return v


@kernel
def find_entry(restaurants, cell, topic):
    """Place of a topic in the list of a cell; the end of the list where it is not in it."""
    start = restaurants.cell_ptr[cell]
    for j in range(start, start + restaurants.n_listed[cell]):
        if restaurants.listed_topic[j] == topic:
            return j
    return start + restaurants.n_listed[cell]


@kernel
def change_table(restaurants, group, cell, topic, v, step):
    """Add (`step` 1) or take away (-1) a table that sent for `v`, in all counts but those of the cell."""
    base = restaurants.base_of_group[group]
    restaurants.tables[group, topic] += step
    restaurants.shared[base, v, topic] += step
    restaurants.shared_total[base, topic] += step


@kernel
def add_customer(restaurants, group, cell, topic, opens_table):
    """Count a customer in the list of the cell and in the totals; of tables only the cell's own count."""
    place = find_entry(restaurants, cell, topic)
    if place == restaurants.cell_ptr[cell] + restaurants.n_listed[cell]:
        restaurants.listed_topic[place] = topic
        restaurants.listed_customers[place] = 0
        restaurants.listed_tables[place] = 0
        restaurants.n_listed[cell] += 1
    restaurants.listed_customers[place] += 1
    if opens_table:
        restaurants.listed_tables[place] += 1
    restaurants.customers[group, topic] += 1


@kernel
def remove_customer(restaurants, group, cell, place, takes_table):
    """Take a customer out of the entry at `place` of the cell's list, and out of the totals."""
    restaurants.customers[group, restaurants.listed_topic[place]] -= 1
    restaurants.listed_customers[place] -= 1
    if takes_table:
        restaurants.listed_tables[place] -= 1
    if restaurants.listed_customers[place] == 0:
        last = restaurants.cell_ptr[cell] + restaurants.n_listed[cell] - 1
        restaurants.listed_topic[place] = restaurants.listed_topic[last]
        restaurants.listed_customers[place] = restaurants.listed_customers[last]
        restaurants.listed_tables[place] = restaurants.listed_tables[last]
        restaurants.n_listed[cell] -= 1


def empty_restaurants(
    tokens: Tokens, n_words: int, base_of_group: np.ndarray, b: np.ndarray, gamma: float
) -> Restaurants:
    """Restaurants without customers, with room for all tokens."""
    n_groups, n_topics = len(base_of_group), len(b)
    cells = np.repeat(tokens.group, np.diff(tokens.doc_ptr)).astype(np.int64) * n_words + tokens.words
    room = np.bincount(cells, minlength=n_groups * n_words)
    n_bases = int(np.max(base_of_group)) + 1
    n_tokens = tokens.words.size
    return Restaurants(
        cell_ptr=np.concatenate([[0], np.cumsum(room)]).astype(np.int64),
        n_listed=np.zeros(n_groups * n_words, np.int32),
        listed_topic=np.zeros(n_tokens, np.int32),
        listed_customers=np.zeros(n_tokens, np.int32),
        listed_tables=np.zeros(n_tokens, np.int32),
        customers=np.zeros((n_groups, n_topics), np.int64),
        tables=np.zeros((n_groups, n_topics), np.int64),
        base_of_group=np.ascontiguousarray(base_of_group, np.int64),
        shared=np.zeros((n_bases, n_words, n_topics), np.int32),
        shared_total=np.zeros((n_bases, n_topics), np.int64),
        b=np.array(b, float),
        gamma=np.array([gamma], float),
        n_words=np.array([n_words], np.int64),
    )


def seat_all(tokens: Tokens, restaurants: Restaurants, orders: SameWord | Associations, association) -> None:
    """Seat tokens whose topics and tables are given; ``association[i]`` is -1 unless token i heads a table."""
    n_words = int(restaurants.n_words[0])
    group_of = np.repeat(tokens.group, np.diff(tokens.doc_ptr))
    for i in np.flatnonzero(tokens.topic >= 0):
        group, topic, v = int(group_of[i]), int(tokens.topic[i]), int(association[i])
        cell = group * n_words + int(tokens.words[i])
        add_customer(restaurants, group, cell, topic, v >= 0)
        if v >= 0:
            change_table(restaurants, group, cell, topic, v, 1)
            if isinstance(orders, Associations):
                place = restaurants.cell_ptr[cell] + orders.n_orders[cell]
                orders.order_topic[place], orders.order_word[place] = topic, v
                orders.n_orders[cell] += 1

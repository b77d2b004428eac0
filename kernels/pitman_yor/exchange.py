"""Exchanges of the numbers of two topics within a group.

What ties topic k of one group to topic k of another is their base. Tokens that move one by one can leave two
topics crossed: what the other groups call j is k in this one. Each has a base of two minds then, and no token
mends that alone. A proposal gives all tokens of topic j in the group the number k, and the other way round;
their tables go along. Documents that find j and k as likely beforehand find both states as likely.

Let column c be restaurant (g, c) as it stands when the moves begin, with M customers at T tables, t_cv of
which have the dish v; and o_kv what the tables of the other groups have sent for to base k, O_k of them in
all. With column c in place k, the posterior has the factor

    W(k, c) = (b_k | a)_T / (b_k)_M  prod_v (eta + o_kv)^(t_cv) / (V eta + O_k)^(T),                     (1)

where x^(n) is the rising factorial. Two places, picked uniformly, exchange their columns by Metropolis.
"""

import math
from typing import NamedTuple

import numpy as np

from ..toolbox.jit import borrowing_kernel, chosen_by_type, kernel
from ..toolbox.random import SMALLEST
from .hyper import LARGE, log_steps
from .state import Associations, SameWord, count_dish, rename_dishes, uncount_dish


class Columns(NamedTuple):
    """What (1) is made of, by topic.

    Attributes
    ----------
    table_ptr : int64 (K + 1,)
    dish : int32 (tables of the group,)
        Dishes of the tables of each column: ``dish[table_ptr[c]:table_ptr[c + 1]]``.
    base_ptr : int64 (K + 1,)
    base_word, base_count : int32 (entries of the base,)
        Words that tables of any group have sent for to the base of each topic, and how many did.
    seen : int64 (V,)
        Working memory, zero between proposals.
    """

    table_ptr: np.ndarray
    dish: np.ndarray
    base_ptr: np.ndarray
    base_word: np.ndarray
    base_count: np.ndarray
    seen: np.ndarray


@chosen_by_type(0)
def list_dishes(dishes, restaurants, group, place, dish):
    """Write the dishes of each topic's tables in a group to ``dish[place[topic]:]``; advances `place`."""


@list_dishes.implement(SameWord)
def _list_same(dishes, restaurants, group, place, dish):
    n_words = restaurants.n_words[0]
    for w in range(n_words):
        start = restaurants.cell_ptr[group * n_words + w]
        for j in range(start, start + restaurants.n_listed[group * n_words + w]):
            k = restaurants.listed_topic[j]
            for _ in range(restaurants.listed_tables[j]):
                dish[place[k]] = w
                place[k] += 1


@list_dishes.implement(Associations)
def _list_associated(dishes, restaurants, group, place, dish):
    n_words = restaurants.n_words[0]
    for cell in range(group * n_words, (group + 1) * n_words):
        start = restaurants.cell_ptr[cell]
        for j in range(start, start + dishes.n_dishes[cell]):
            k = dishes.dish_topic[j]
            dish[place[k]] = dishes.dish_word[j]
            place[k] += 1


@kernel
def pointers(sizes):
    """Where lists of the given sizes begin, laid end to end."""
    out = np.zeros(sizes.size + 1, np.int64)
    for k in range(sizes.size):
        out[k + 1] = out[k] + sizes[k]
    return out


@kernel
def columns_of(restaurants, dishes, group, n_topics):
    """Gather the columns of a group, and the base that they send to."""
    base, n_words, b = restaurants.base, restaurants.n_words[0], restaurants.base_of_group[group]
    first_topic, rows = b * restaurants.b.size, range(b * n_words, (b + 1) * n_words)
    table_ptr = pointers(restaurants.tables[group, :n_topics])
    dish = np.empty(table_ptr[-1], np.int32)
    list_dishes(dishes, restaurants, group, table_ptr[:-1].copy(), dish)
    n_entries = np.zeros(n_topics, np.int64)
    for row in rows:
        for j in range(base.word_ptr[row], base.word_ptr[row] + base.n_listed[row]):
            n_entries[base.listed_topic[j] - first_topic] += 1
    base_ptr = pointers(n_entries)
    word, count = np.empty(base_ptr[-1], np.int32), np.empty(base_ptr[-1], np.int32)
    place = base_ptr[:-1].copy()
    for row in rows:
        for j in range(base.word_ptr[row], base.word_ptr[row] + base.n_listed[row]):
            k = base.listed_topic[j] - first_topic
            word[place[k]] = row - b * n_words
            count[place[k]] = base.listed_count[j]
            place[k] += 1
    return Columns(table_ptr, dish, base_ptr, word, count, np.zeros(n_words, np.int64))


@borrowing_kernel
def log_weight(restaurants, discount, columns, group, place, column):
    """Logarithm of (1)."""
    n_customers, n_tables = restaurants.customers[group, column], restaurants.tables[group, column]
    if n_customers == 0:
        return 0.0
    base, seen, dish, table_ptr = restaurants.base, columns.seen, columns.dish, columns.table_ptr
    eta, concentration = base.eta[0], restaurants.b[place]
    for j in range(columns.base_ptr[place], columns.base_ptr[place + 1]):
        seen[columns.base_word[j]] = columns.base_count[j]
    for j in range(table_ptr[place], table_ptr[place + 1]):
        seen[dish[j]] -= 1
    out, product = 0.0, 1.0
    for j in range(table_ptr[column], table_ptr[column + 1]):
        product *= eta + seen[dish[j]]
        seen[dish[j]] += 1
        if not 1.0 / LARGE < product < LARGE:
            out += math.log(max(product, SMALLEST))
            product = 1.0
    for j in range(table_ptr[column], table_ptr[column + 1]):
        seen[dish[j]] = 0
    for j in range(columns.base_ptr[place], columns.base_ptr[place + 1]):
        seen[columns.base_word[j]] = 0
    at_base = restaurants.base_of_group[group] * restaurants.b.size + place
    others = restaurants.n_words[0] * eta + (base.total[at_base] - restaurants.tables[group, place])
    out += math.log(product) - math.lgamma(others + n_tables) + math.lgamma(others)
    out += log_steps(concentration, discount, n_tables - 1)
    return out + math.lgamma(concentration + 1.0) - math.lgamma(concentration + n_customers)


@kernel
def rows_of(tokens, topics, group, n_rows):
    """Rows of the documents' prior that documents of a group have."""
    is_row = np.zeros(n_rows, np.bool_)
    for d in range(topics.group.size):
        if topics.group[d] == group:
            is_row[tokens.group[d]] = True
    return np.flatnonzero(is_row)


@borrowing_kernel
def equally_likely(prior, rows, one, other):
    """Whether all documents of the rows find two topics equally likely beforehand."""
    n_alike = 0
    while n_alike < rows.size and prior[rows[n_alike], one] == prior[rows[n_alike], other]:
        n_alike += 1
    return n_alike == rows.size


@kernel
def put_columns(tokens, topics, group, columns, new_name):
    """Renumber the topics of a group: column c becomes topic ``new_name[c]``."""
    restaurants, n_words = topics.restaurants, topics.restaurants.n_words[0]
    n_topics = new_name.size
    for c in range(n_topics):
        if new_name[c] != c:
            for j in range(columns.table_ptr[c], columns.table_ptr[c + 1]):
                uncount_dish(restaurants, group, c, columns.dish[j])
    for c in range(n_topics):
        if new_name[c] != c:
            for j in range(columns.table_ptr[c], columns.table_ptr[c + 1]):
                count_dish(restaurants, group, new_name[c], columns.dish[j])
    customers = restaurants.customers[group, :n_topics].copy()
    tables = restaurants.tables[group, :n_topics].copy()
    restaurants.customers[group, new_name] = customers
    restaurants.tables[group, new_name] = tables
    first_cell, end = group * n_words, (group + 1) * n_words
    for cell in range(first_cell, end):
        start = restaurants.cell_ptr[cell]
        for j in range(start, start + restaurants.n_listed[cell]):
            restaurants.listed_topic[j] = new_name[restaurants.listed_topic[j]]
    rename_dishes(topics.dishes, restaurants, first_cell, end, new_name)
    for d in range(topics.group.size):
        if topics.group[d] == group:
            for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
                tokens.topic[i] = new_name[tokens.topic[i]]


@kernel
def exchange_topics(rng, tokens, documents, topics, group):
    """Propose K - 1 exchanges in a group: as many can bring K topics into any order.

    Mutates all but documents.
    """
    restaurants, discount, n_topics = topics.restaurants, topics.scheme.discount[0], topics.n_topics[0]
    columns = columns_of(restaurants, topics.dishes, group, n_topics)
    rows = rows_of(tokens, topics, group, documents.rest.size)
    column, log_now = np.arange(n_topics), np.empty(n_topics)
    for k in range(n_topics):
        log_now[k] = log_weight(restaurants, discount, columns, group, k, k)
    for _ in range(n_topics - 1):
        j, k = int(rng.random() * n_topics), int(rng.random() * (n_topics - 1))
        if k >= j:
            k += 1
        if not equally_likely(documents.prior, rows, j, k):
            continue
        at_j = log_weight(restaurants, discount, columns, group, j, column[k])
        at_k = log_weight(restaurants, discount, columns, group, k, column[j])
        if rng.random() < math.exp(min(0.0, at_j + at_k - log_now[j] - log_now[k])):
            column[j], column[k] = column[k], column[j]
            log_now[j], log_now[k] = at_j, at_k
    new_name = np.empty(n_topics, np.int64)
    moved = False
    for k in range(n_topics):
        new_name[column[k]] = k
        moved = moved or column[k] != k
    if moved:
        put_columns(tokens, topics, group, columns, new_name)


@kernel
def exchange_pass(rng, tokens, documents, topics):
    """Exchange topics within one of the groups, drawn at random."""
    n_groups = topics.restaurants.customers.shape[0]
    if n_groups > 1 and topics.n_topics[0] > 1:
        exchange_topics(rng, tokens, documents, topics, int(rng.random() * n_groups))

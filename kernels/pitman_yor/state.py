"""Topics that are Pitman-Yor processes, one a group, around bases that groups may share.

    phi0_bk ~ Dirichlet(eta),   phi_gk ~ PYP(a, b_k, P_g phi0_bk),   b = base of group g

With phi and phi0 integrated out, the customers of restaurant (g, k) are the tokens of topic k in group g.
Each table seats tokens of one word w; its dish is a word v of the base, which P_g turns into w with
probability p_wv. Of the seating only counts are kept: for each word its customers m and tables t, and how
many tables have the dish v. The base sees tables as a Dirichlet topic sees tokens.
"""

from typing import Any, NamedTuple

import numpy as np

from ..toolbox.dirichlet import DirichletTopics, list_token, unlist_token
from ..toolbox.jit import borrowing_kernel, chosen_by_type
from .seats import Scheme


class Restaurants(NamedTuple):
    """Customers and tables, as one short list of (topic, customers, tables) for each word of each group.

    Attributes
    ----------
    cell_ptr : int64 (G V + 1,)
        Where the list of cell ``g V + w`` begins; it has room for all tokens of word w in group g.
    n_listed : int32 (G V,)
    listed_topic, listed_customers, listed_tables : int32 (N,)
    customers, tables : int64 (G, capacity)
        M and T.
    base : DirichletTopics
        Tables by their dish, q: word ``b V + v`` and topic ``b capacity + k``.
    base_of_group : int64 (G,)
    b : float64 (capacity,)
    n_words : int64 (1,)
    """

    cell_ptr: np.ndarray
    n_listed: np.ndarray
    listed_topic: np.ndarray
    listed_customers: np.ndarray
    listed_tables: np.ndarray
    customers: np.ndarray
    tables: np.ndarray
    base: DirichletTopics
    base_of_group: np.ndarray
    b: np.ndarray
    n_words: np.ndarray

    FIXED = ("cell_ptr", "base_of_group", "n_words")


class SameWord(NamedTuple):
    """P = I: the dish of a table is the word of its tokens. `nothing` is empty."""

    nothing: np.ndarray

    FIXED = ("nothing",)


class Associations(NamedTuple):
    """Sparse P_g, and the dishes of the tables of each cell.

    Attributes
    ----------
    row_ptr : int64 (G V + 1,)
    column : int32 (nnz,)
    weight : float64 (nnz,)
        Row ``g V + w`` holds the v with p_wv > 0, and these.
    row_sum : float64 (G V,)
    n_dishes : int32 (G V,)
        Tables of each cell; their places start at `Restaurants.cell_ptr`.
    dish_topic, dish_word : int32 (N,)
        Topic of each table, and its dish.
    """

    row_ptr: np.ndarray
    column: np.ndarray
    weight: np.ndarray
    row_sum: np.ndarray
    n_dishes: np.ndarray
    dish_topic: np.ndarray
    dish_word: np.ndarray

    FIXED = ("row_ptr", "column", "weight", "row_sum")


class SeatScratch(NamedTuple):
    """Working memory of a sweep beside that of all topic sides. Holds nothing between documents.

    Attributes
    ----------
    joining : float64 (capacity,)
        (prior + n_dk) / (b + M).
    dish_mass : float64 (capacity,)
        sum_v p_wv q_kv; zero between tokens.
    touched : int32 (capacity,)
        Topics where `dish_mass` is not zero.
    kept : float64 (capacity,)
        Coefficients that are set aside.
    weights : float64 (2 capacity + 1,)
    """

    joining: np.ndarray
    dish_mass: np.ndarray
    touched: np.ndarray
    kept: np.ndarray
    weights: np.ndarray


class PitmanYorTopics(NamedTuple):
    """Topic side.

    Of the tokens of a topic and cell any are as likely to head its tables. Sweeps only count them;
    `heads_seed`, which each sweep draws from [0, 1), decides which ones a snapshot names.

    Attributes
    ----------
    group : int32 (D,)
        Group of each document, whose restaurants its tokens go to.
    restaurants : Restaurants
    dishes : SameWord or Associations
    scheme : Scheme
    scratch : SeatScratch
    new_b : float64 (1,)
        The b of topics that open while it is fixed.
    b_prior : float64 (2,)
    a_prior : float64 (2,)
        Two shapes of a Beta; zeros for a fixed value.
    heads_seed : float64 (1,)
    n_topics : int64 (1,)
    """

    group: np.ndarray
    restaurants: Restaurants
    dishes: Any
    scheme: Scheme
    scratch: SeatScratch
    new_b: np.ndarray
    b_prior: np.ndarray
    a_prior: np.ndarray
    heads_seed: np.ndarray
    n_topics: np.ndarray

    FIXED = ("group", "new_b", "b_prior", "a_prior")


@chosen_by_type(0)
def sources(dishes, n_words, cell):
    """First place, and the one after the last, of the words that tables of the cell may send for."""


@chosen_by_type(0)
def source(dishes, place):
    """Word v at a place, and p_wv."""


@chosen_by_type(0)
def row_sum(dishes, cell):
    """Sum of p_wv over v."""


@chosen_by_type(0)
def keep_dish(dishes, restaurants, cell, topic, v):
    """Remember that a new table of the cell has the dish `v`."""


@chosen_by_type(1)
def drop_dish(rng, dishes, restaurants, cell, topic, n_tables):
    """Forget the dish of one of the `n_tables` tables of `topic` in the cell, at random; return it."""


@chosen_by_type(0)
def rename_dishes(dishes, restaurants, first_cell, end, new_name):
    """Renumber the topics of the dishes of some cells."""


@sources.implement(SameWord)
def _sources_same(dishes, n_words, cell):
    w = cell % n_words
    return w, w + 1


@source.implement(SameWord)
def _source_same(dishes, place):
    return place, 1.0


@row_sum.implement(SameWord)
def _row_sum_same(dishes, cell):
    return 1.0


@keep_dish.implement(SameWord)
def _keep_same(dishes, restaurants, cell, topic, v):
    pass


@drop_dish.implement(SameWord)
def _drop_same(rng, dishes, restaurants, cell, topic, n_tables):
    return cell % restaurants.n_words[0]


@rename_dishes.implement(SameWord)
def _rename_same(dishes, restaurants, first_cell, end, new_name):
    pass


@sources.implement(Associations)
def _sources_associated(dishes, n_words, cell):
    return dishes.row_ptr[cell], dishes.row_ptr[cell + 1]


@source.implement(Associations)
def _source_associated(dishes, place):
    return np.int64(dishes.column[place]), dishes.weight[place]


@row_sum.implement(Associations)
def _row_sum_associated(dishes, cell):
    return dishes.row_sum[cell]


@keep_dish.implement(Associations)
def _keep_associated(dishes, restaurants, cell, topic, v):
    place = restaurants.cell_ptr[cell] + dishes.n_dishes[cell]
    dishes.dish_topic[place] = topic
    dishes.dish_word[place] = v
    dishes.n_dishes[cell] += 1


@drop_dish.implement(Associations)
def _drop_associated(rng, dishes, restaurants, cell, topic, n_tables):
    u = rng.random() * n_tables
    start = restaurants.cell_ptr[cell]
    last = start + dishes.n_dishes[cell] - 1
    found = start
    for j in range(start, last + 1):
        if dishes.dish_topic[j] == topic:
            found = j
            u -= 1.0
            if u < 0.0:
                break
    v = dishes.dish_word[found]
    dishes.dish_topic[found] = dishes.dish_topic[last]
    dishes.dish_word[found] = dishes.dish_word[last]
    dishes.n_dishes[cell] -= 1
    return np.int64(v)


@rename_dishes.implement(Associations)
def _rename_associated(dishes, restaurants, first_cell, end, new_name):
    for cell in range(first_cell, end):
        start = restaurants.cell_ptr[cell]
        for j in range(start, start + dishes.n_dishes[cell]):
            dishes.dish_topic[j] = new_name[dishes.dish_topic[j]]


@borrowing_kernel
def count_at_base(base, word, topic):
    """Tables of `topic` whose dish is `word`; both as the base numbers them."""
    for j in range(base.word_ptr[word], base.word_ptr[word] + base.n_listed[word]):
        if base.listed_topic[j] == topic:
            return base.listed_count[j]
    return np.int32(0)


@borrowing_kernel
def source_weight(dishes, restaurants, group, topic, place):
    """``p_wv (eta + q_kv)`` of the word v at a place of `sources`."""
    base, b = restaurants.base, restaurants.base_of_group[group]
    v, p = source(dishes, place)
    count = count_at_base(base, b * restaurants.n_words[0] + v, b * restaurants.b.size + topic)
    return p * (base.eta[0] + count)


@borrowing_kernel
def draw_dish(rng, dishes, restaurants, group, cell, topic):
    """Draw the dish of a new table, with weights p_wv (eta + q_kv)."""
    start, end = sources(dishes, restaurants.n_words[0], cell)
    chosen = start
    if end > start + 1:
        total = 0.0
        for place in range(start, end):
            total += source_weight(dishes, restaurants, group, topic, place)
        u = rng.random() * total
        for place in range(start, end):
            chosen = place
            u -= source_weight(dishes, restaurants, group, topic, place)
            if u < 0.0:
                break
    return source(dishes, chosen)[0]


@borrowing_kernel
def count_dish(restaurants, group, topic, v):
    """Count at the base a table whose dish is `v`."""
    b = restaurants.base_of_group[group]
    list_token(restaurants.base, b * restaurants.n_words[0] + v, b * restaurants.b.size + topic)


@borrowing_kernel
def uncount_dish(restaurants, group, topic, v):
    """Undo `count_dish`."""
    b = restaurants.base_of_group[group]
    unlist_token(restaurants.base, b * restaurants.n_words[0] + v, b * restaurants.b.size + topic)


@borrowing_kernel
def find_entry(restaurants, cell, topic):
    """Place of a topic in the list of a cell; the end of the list where it is not in it."""
    start = restaurants.cell_ptr[cell]
    end = start + restaurants.n_listed[cell]
    for j in range(start, end):
        if restaurants.listed_topic[j] == topic:
            return j
    return end


@borrowing_kernel
def seat(restaurants, group, cell, topic, opens_table):
    """Count a customer, and the table if it opens one, everywhere but at the base."""
    place = find_entry(restaurants, cell, topic)
    if place == restaurants.cell_ptr[cell] + restaurants.n_listed[cell]:
        restaurants.listed_topic[place] = topic
        restaurants.listed_customers[place] = 0
        restaurants.listed_tables[place] = 0
        restaurants.n_listed[cell] += 1
    restaurants.listed_customers[place] += 1
    restaurants.customers[group, topic] += 1
    if opens_table:
        restaurants.listed_tables[place] += 1
        restaurants.tables[group, topic] += 1


@borrowing_kernel
def unseat(restaurants, group, cell, place, takes_table):
    """Take a customer out of the entry at `place`, with a table or not, everywhere but at the base."""
    topic = restaurants.listed_topic[place]
    restaurants.customers[group, topic] -= 1
    restaurants.listed_customers[place] -= 1
    if takes_table:
        restaurants.tables[group, topic] -= 1
        restaurants.listed_tables[place] -= 1
    if restaurants.listed_customers[place] == 0:
        last = restaurants.cell_ptr[cell] + restaurants.n_listed[cell] - 1
        restaurants.listed_topic[place] = restaurants.listed_topic[last]
        restaurants.listed_customers[place] = restaurants.listed_customers[last]
        restaurants.listed_tables[place] = restaurants.listed_tables[last]
        restaurants.n_listed[cell] -= 1


@borrowing_kernel
def seat_all(tokens, group_of_doc, restaurants, dishes, association):
    """Seat the tokens that have a topic; ``association[i]`` is -1 unless token i heads a table."""
    n_words = restaurants.n_words[0]
    for d in range(group_of_doc.size):
        group = group_of_doc[d]
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            topic = tokens.topic[i]
            if topic >= 0:
                cell = group * n_words + tokens.words[i]
                seat(restaurants, group, cell, topic, association[i] >= 0)
                if association[i] >= 0:
                    count_dish(restaurants, group, topic, association[i])
                    keep_dish(dishes, restaurants, cell, topic, association[i])

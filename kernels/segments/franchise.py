"""A Chinese restaurant franchise a document: a restaurant a sentence (Teh, Jordan, Beal and Blei 2006).

A token of sentence s sits at a table of n tokens with weight n, and at a new one with weight gamma. A new
table has dish l, which m_l tables of the document have, with probability m_l / (alpha + m), and a new dish
with probability alpha / (alpha + m). So dish l has as many seats as the sentence has tokens there, and
gamma m_l / (alpha + m) more.
"""

from typing import NamedTuple

import numpy as np

from ..toolbox.jit import borrowing_kernel
from ..toolbox.random import concentration, is_sampled
from ..toolbox.sides import check_positive, longest_document
from . import restaurants, urns
from .documents import SLOTS
from .state import Tokens
from .tables import draw_block, lift_block, put_block


@restaurants.with_tables
class Franchise(NamedTuple):
    """Tables of all tokens, hyperparameters, and counts of the document that a sweep is in.

    Sizes: N tokens, D documents, S sentences, L slots for dishes, T tokens of the longest sentence.

    Attributes
    ----------
    alpha, gamma : float64 (1,)
    alpha_prior, gamma_prior : float64 (2,)
    most_dishes : int
        Of a document; no limit at 0.
    table : int32 (N,)
        Of each token, numbered through its sentence in any way; -1 while it has none.
    table_size, table_dish : int32 (T,)
        Of the current sentence.
    own_count : int32 (L + 1,)
        Tokens of the current sentence at each dish.
    served : int32 (L + 1,)
        Tables of the document that have each dish.
    n_tables : int64 (1,)
        Tables of the document.
    tables_noted, dishes_noted : int64 (D,)
        Of each document.
    lengths : int64 (S,)
        Tokens of each sentence.
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
    n_tables: np.ndarray
    tables_noted: np.ndarray
    dishes_noted: np.ndarray
    lengths: np.ndarray

    FIXED = ("alpha_prior", "gamma_prior", "most_dishes", "lengths")
    EMPTY = ("table_size", "own_count", "served", "n_tables")


def make_franchise(tokens: Tokens, table: np.ndarray, most_dishes: int, **hyper: np.ndarray) -> Franchise:
    """Franchise of tokens at their tables; `hyper` as from `state.hyperparameters`."""
    longest, n_documents = longest_document(tokens), tokens.doc_ptr.size - 1
    lengths = np.diff(tokens.sentence_ptr)
    return Franchise(
        **hyper,
        most_dishes=most_dishes,
        table=np.array(table, np.int32),
        table_size=np.zeros(lengths.max(initial=0), np.int32),
        table_dish=np.zeros(lengths.max(initial=0), np.int32),
        own_count=np.zeros(longest + 1, np.int32),
        served=np.zeros(longest + 1, np.int32),
        n_tables=np.zeros(1, np.int64),
        tables_noted=np.zeros(n_documents, np.int64),
        dishes_noted=np.zeros(n_documents, np.int64),
        lengths=lengths,
    )


@urns.enter_urn.implement(Franchise)
def _enter_urn(urn, tokens, dishes, d):
    for s in range(tokens.doc_sentences[d], tokens.doc_sentences[d + 1]):
        for i in range(tokens.sentence_ptr[s], tokens.sentence_ptr[s + 1]):
            t = urn.table[i]
            if t >= 0:
                if urn.table_size[t] == 0:
                    urn.served[tokens.dish[i]] += 1
                    urn.n_tables[0] += 1
                urn.table_size[t] += 1
        urn.table_size[:] = 0


@urns.leave_urn.implement(Franchise)
def _leave_urn(urn, dishes, d):
    urn.tables_noted[d] = urn.n_tables[0]
    urn.dishes_noted[d] = count_served(urn, dishes)
    urn.served[:] = 0
    urn.n_tables[0] = 0


@borrowing_kernel
def count_served(urn, dishes):
    """Dishes that some table has."""
    n = 0
    for c in range(dishes.sizes[SLOTS]):
        n += urn.served[c] > 0
    return n


@borrowing_kernel
def may_serve_another(urn, dishes):
    """Whether the document may have one more dish."""
    return urn.most_dishes == 0 or count_served(urn, dishes) < urn.most_dishes


@urns.leave_seat.implement(Franchise)
def _leave_seat(urn, tokens, dishes, i):
    t, c = urn.table[i], tokens.dish[i]
    urn.own_count[c] -= 1
    urn.table_size[t] -= 1
    if urn.table_size[t] == 0:
        urn.served[c] -= 1
        urn.n_tables[0] -= 1


@urns.weigh_seats.implement(Franchise)
def _weigh_seats(urn, dishes, s):
    n_slots = dishes.sizes[SLOTS]
    per_table = urn.gamma[0] / (urn.alpha[0] + urn.n_tables[0])
    for c in range(n_slots):
        dishes.table_weight[c] = urn.own_count[c] + per_table * urn.served[c]
    another = may_serve_another(urn, dishes)
    dishes.table_weight[n_slots] = per_table * urn.alpha[0] if another else 0.0


@urns.take_seat.implement(Franchise)
def _take_seat(urn, tokens, dishes, i):
    t, c = urn.table[i], tokens.dish[i]
    if urn.table_size[t] == 0:
        urn.table_dish[t] = c
        urn.served[c] += 1
        urn.n_tables[0] += 1
    urn.table_size[t] += 1
    urn.own_count[c] += 1


@restaurants.move_table.implement(Franchise)
def _move_table(rng, urn, tokens, smoothings, dishes, s, t):
    """Draw the dish of table `t` of sentence `s`, the current one, with all its tokens."""
    c = urn.table_dish[t]
    n_listed = lift_block(tokens, dishes, s, urn.table, t, c)
    urn.served[c] -= 1
    for slot in range(dishes.sizes[SLOTS]):
        served = urn.served[slot]
        dishes.log_weight[slot] = np.log(served) if served > 0 else -np.inf
    another = may_serve_another(urn, dishes)
    dishes.log_weight[dishes.sizes[SLOTS]] = np.log(urn.alpha[0]) if another else -np.inf
    new = draw_block(rng, smoothings, dishes, n_listed)
    put_block(tokens, dishes, s, urn.table, t, new)
    urn.served[new] += 1


@urns.update_urn.implement(Franchise)
def _update_urn(rng, urn):
    if is_sampled(urn.alpha_prior):
        n_dishes = urn.dishes_noted.sum()
        urn.alpha[0] = concentration(rng, urn.alpha[0], urn.alpha_prior, n_dishes, urn.tables_noted, 1.0)
    if is_sampled(urn.gamma_prior):
        n_tables = urn.tables_noted.sum()
        urn.gamma[0] = concentration(rng, urn.gamma[0], urn.gamma_prior, n_tables, urn.lengths, 1.0)


def check(state: urns.UrnState) -> None:
    """See `restaurants.check`."""
    restaurants.check(state)
    check_positive(alpha=state.urn.alpha, gamma=state.urn.gamma)

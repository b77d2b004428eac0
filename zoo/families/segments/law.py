"""The law of tables and dishes, in plain NumPy.

A sentence's tokens sit at its tables, numbered by first appearance; each table serves a dish that no other
table of the sentence serves. Table j of sentence s fails to take a token with probability 1 - v_sj,
v_sj ~ Beta(a_j, b_j), so that a new one is a failure of all that there are and no success of its own
(Equation 14): with g_j tokens at table j and h_j at those after it,

    p(tables of s) = prod_j B(a_j + g_j - 1, b_j + h_j) / B(a_j, b_j).

A new table has each of the K dishes of the document that its sentence lacks with probability 1 / (K + zeta),
and a new one with probability zeta / (K + zeta) (Equation 11).
"""

from typing import NamedTuple

import numpy as np
from scipy.special import betaln

from ...toolbox.enumeration import restricted_growth_strings
from .order import Seating
from .reference import Listing, rising


class Tables(NamedTuple):
    """Tables of all sentences, in the order in which they are opened, document by document.

    Attributes
    ----------
    document, sentence : int (M,)
    dish : int (M,)
    rank : int (M,)
        How many tables the sentence had before, k_s.
    size : int (M,)
        Tokens, g_j.
    later : int (M,)
        Tokens at later tables of the sentence, h_j.
    offered : int (M,)
        Dishes of the document that the sentence lacked when the table was opened, K.
    is_new : bool (M,)
        Whether the document lacked its dish.
    """

    document: np.ndarray
    sentence: np.ndarray
    dish: np.ndarray
    rank: np.ndarray
    size: np.ndarray
    later: np.ndarray
    offered: np.ndarray
    is_new: np.ndarray


def tables_of(seats: Seating, dish: np.ndarray) -> Tables:
    """Tables that tokens sit at, given the dish of each, int (N,)."""
    order = np.lexsort((seats.time, seats.document))
    n_dishes = int(dish.max(initial=-1)) + 1
    of_table = (seats.sentence * n_dishes + dish)[order]
    _, first, size = np.unique(of_table, return_index=True, return_counts=True)
    opened = np.argsort(first)
    first, size = order[first[opened]], size[opened]
    document, sentence, served = seats.document[first], seats.sentence[first], dish[first]

    is_new = np.zeros(first.size, bool)
    is_new[np.unique(document * n_dishes + served, return_index=True)[1]] = True
    seen = np.cumsum(is_new) - is_new
    seen -= seen[_first_of(document)]

    by_sentence = np.argsort(sentence, kind="stable")
    rank, up_to = np.empty_like(first), np.empty_like(size)
    start = _first_of(sentence[by_sentence])
    rank[by_sentence] = np.arange(first.size) - start
    running = np.cumsum(size[by_sentence])
    up_to[by_sentence] = running - (running - size[by_sentence])[start]
    tokens = np.bincount(sentence, size, minlength=1)[sentence].astype(np.int64)
    return Tables(document, sentence, served, rank, size, tokens - up_to, seen - rank, is_new)


def _first_of(labels: np.ndarray) -> np.ndarray:
    """Index of the first entry of each run of equal labels, for every entry."""
    starts = np.flatnonzero(np.diff(labels, prepend=-1))
    return np.repeat(starts, np.diff(np.append(starts, labels.size)))


def log_tables(tables: Tables, a: float | np.ndarray, b: float | np.ndarray, zeta: float) -> np.ndarray:
    """Log probability of each table: its tokens, that it was opened and its dish, float (M,).

    Parameters
    ----------
    tables : Tables
    a, b : float or float (J,)
        One for all tables, or one for the j-th of every sentence.
    zeta : float
    """
    a_j, b_j = (x[tables.rank] if isinstance(x, np.ndarray) and x.ndim else x for x in (a, b))
    of_tokens = betaln(a_j + (tables.size - 1.0), b_j + tables.later) - betaln(a_j, b_j)
    return of_tokens + tables.is_new * np.log(zeta) - np.log(tables.offered + zeta)


class Partitions(NamedTuple):
    """All dishes that the tokens of a short document can have.

    Attributes
    ----------
    dish : int (R, n)
        In the order of the corpus; numbered by first appearance in the order of the process.
    tables : Tables
        Of all of them; ``document`` is the row.
    """

    dish: np.ndarray
    tables: Tables


def partitions(seats: Seating, most_tables: int = 0, most_dishes: int = 0) -> Partitions:
    """All dishes of one document; those with at most so many tables a sentence and dishes, unless 0.

    There are Bell(n) without limits: 203 for 6 tokens, 4,140 for 8.
    """
    n = seats.time.size
    in_time = np.stack(list(restricted_growth_strings(n, most_dishes or None)))
    dish = in_time[:, seats.time]
    if most_tables:
        dish = dish[_most_tables(_tables_of_rows(seats, dish), len(dish)) <= most_tables]
    return Partitions(dish, _tables_of_rows(seats, dish))


def _tables_of_rows(seats: Seating, dish: np.ndarray) -> Tables:
    rows, n = dish.shape
    sentence = seats.sentence - seats.sentence.min(initial=0)
    n_sentences = int(sentence.max(initial=0)) + 1
    row = np.repeat(np.arange(rows), n)
    as_documents = Seating(row, row * n_sentences + np.tile(sentence, rows), np.tile(seats.time, rows))
    return tables_of(as_documents, dish.ravel())


def _most_tables(tables: Tables, rows: int) -> np.ndarray:
    """Most tables of a sentence, by row."""
    out = np.zeros(rows, np.int64)
    np.maximum.at(out, tables.document, tables.rank + 1)
    return out


def listing(seats: Seating, most_dishes: int, most_tables: int = 0) -> Listing:
    """All dishes of one document for the references: powers of zeta, K + zeta, a + i, b + i and a + b + i."""
    found = partitions(seats, most_tables, most_dishes)
    tables, n_rows = found.tables, len(found.dish)

    def products(n: np.ndarray) -> np.ndarray:
        return rising(n, tables.document, n_rows)

    offered = np.zeros((n_rows, int(tables.offered.max(initial=0)) + 1), np.int64)
    np.add.at(offered, (tables.document, tables.offered), 1)
    powers = (
        products(tables.is_new.astype(int)),
        -offered,
        products(tables.size - 1),
        products(tables.later),
        -products(tables.size - 1 + tables.later),
    )
    return Listing({"dish": found.dish}, powers, np.zeros(n_rows))

"""The law of a Chinese restaurant franchise a document: a restaurant a sentence, whose tables have dishes.

With n_t tokens at table t, m_l tables that have dish l, m of them together, and L dishes in a document,

    p = prod_s [gamma^{m_s} Gamma(gamma) / Gamma(gamma + n_s) prod_t Gamma(n_t)]
        alpha^L Gamma(alpha) / Gamma(alpha + m) prod_l Gamma(m_l).
"""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from .order import Seating
from .reference import Listing, rising
from .urns import Seat, Seated, all_seated, counts_of


def log_law(seats: Seating, dish: np.ndarray, table: np.ndarray, alpha: float, gamma: float) -> float:
    """Log probability of the dishes and tables of all documents; -inf if a table has two dishes."""
    if not dish.size:
        return 0.0
    of_table, sentence = counts_of(seats.sentence, table)
    of_sentence, _ = counts_of(seats.sentence)
    tables = np.unique(np.column_stack([seats.document, dish, seats.sentence, table]), axis=0)
    if of_table.size < len(tables):
        return -np.inf
    of_dish, _ = counts_of(tables[:, 0], tables[:, 1])
    of_document, _ = counts_of(tables[:, 0])
    return float(
        sentence.size * np.log(gamma)
        + np.sum(gammaln(gamma) - gammaln(gamma + of_sentence))
        + np.sum(gammaln(of_table))
        + of_dish.size * np.log(alpha)
        + np.sum(gammaln(alpha) - gammaln(alpha + of_document))
        + np.sum(gammaln(of_dish))
    )


def open_seats(sentence: int, seated: Seated, hyper: Mapping[str, float]) -> list[Seat]:
    """Seats that the next token can take: a table of its sentence, or a new one; `mark` is the table."""
    alpha, gamma = hyper["alpha"], hyper["gamma"]
    own, served = seated.here[sentence], seated.places
    n, n_tables, n_dishes = own.total(), served.total(), len(served)
    new_table = gamma / (n + gamma)
    at_new = {dish: served[dish] for dish in range(n_dishes)} | {n_dishes: alpha}
    return [Seat(dish, table, size / (n + gamma)) for (dish, table), size in own.items()] + [
        Seat(dish, len(own), new_table * weight / (n_tables + alpha)) for dish, weight in at_new.items()
    ]


def listing(seats: Seating, most_dishes: int) -> Listing:
    """All dishes and tables of one document: powers of gamma, gamma + i, alpha and alpha + i."""
    return _listing(tuple(seats.sentence.tolist()), most_dishes)


@lru_cache(maxsize=64)
def _listing(sentences: tuple[int, ...], most_dishes: int) -> Listing:
    dish, table = all_seated(open_seats, {"alpha": 1.0, "gamma": 1.0}, sentences, most_dishes)
    n_rows, row = len(dish), np.indices(dish.shape)[0].ravel()
    sentence = np.tile(np.array(sentences, np.int64), n_rows)
    of_table, row_of_table = counts_of(row, sentence, table.ravel())
    of_sentence, row_of_sentence = counts_of(row, sentence)
    tables = np.unique(np.column_stack([row, dish.ravel(), sentence, table.ravel()]), axis=0)
    of_dish, row_of_dish = counts_of(tables[:, 0], tables[:, 1])
    of_row, row_of_row = counts_of(tables[:, 0])

    def ones(rows: np.ndarray) -> np.ndarray:
        return np.bincount(rows, minlength=n_rows)[:, None]

    powers = (
        ones(row_of_table),
        -rising(of_sentence, row_of_sentence, n_rows),
        ones(row_of_dish),
        -rising(of_row, row_of_row, n_rows),
    )
    log_constant = np.bincount(row_of_table, gammaln(of_table), n_rows)
    log_constant += np.bincount(row_of_dish, gammaln(of_dish), n_rows)
    return Listing({"dish": dish, "table": table}, powers, log_constant)

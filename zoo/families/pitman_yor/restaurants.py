"""Chinese restaurants of Pitman-Yor processes, in plain NumPy: who heads a table, and how probable that is.

A restaurant of discount a and concentration b seats customer n + 1 at a table of s customers with probability
(s - a) / (b + n), and at a table of its own with probability (b + a t) / (b + n), t being the tables so far.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from ...toolbox.enumeration import log_stirling, log_stirling_numbers


class Cells(NamedTuple):
    """Customers and tables of each word under each topic of each group, where there are customers.

    Attributes
    ----------
    restaurant : int (C,)
        ``group * n_topics + topic``.
    word : int (C,)
    customers, tables : int (C,)
        m and t.
    """

    restaurant: np.ndarray
    word: np.ndarray
    customers: np.ndarray
    tables: np.ndarray

    @classmethod
    def of(cls, restaurant: np.ndarray, words: np.ndarray, is_head: np.ndarray, n_words: int) -> "Cells":
        """Count tokens, which are customers, by restaurant and word."""
        keys, place = np.unique(restaurant * n_words + words, return_inverse=True)
        customers = np.bincount(place, minlength=keys.size)
        tables = np.bincount(place[is_head], minlength=keys.size)
        return cls(keys // n_words, keys % n_words, customers, tables)

    def totals(self, n_restaurants: int) -> tuple[np.ndarray, np.ndarray]:
        """M and T, customers and tables of each restaurant, int (R,)."""
        return tuple(
            np.bincount(self.restaurant, weights=counts, minlength=n_restaurants).astype(np.int64)
            for counts in (self.customers, self.tables)
        )  # type: ignore[return-value]

    def log_seatings(self, discount: float) -> float:
        """Log of all ways to seat the customers of each cell, ``S^m_t``, over the choices of heads."""
        m, t = self.customers, self.tables
        choices = gammaln(m + 1) - gammaln(t + 1) - gammaln(m - t + 1)
        return float(np.sum(log_stirling_numbers(m, t, discount) - choices))


def log_rising(concentration: float, discount: float, customers: int, tables: int) -> float:
    """``log (b|a)_T / (b)_M``; the factor b, which may be 0 or negative, cancels. Zero without customers."""
    if customers == 0:
        return 0.0
    opened = np.sum(np.log(concentration + discount * np.arange(1, tables)))
    return float(opened + gammaln(concentration + 1.0) - gammaln(concentration + customers))


def seat(n: int, concentration: float, discount: float, rng: np.random.Generator) -> np.ndarray:
    """Seat `n` customers one after the other; table of each, numbered as they are opened, int (n,)."""
    table = np.zeros(n, np.int64)
    sizes: list[int] = []
    for customer in range(n):
        opening = concentration + discount * len(sizes)
        if customer == 0 or rng.random() * (concentration + customer) < opening:
            sizes.append(0)
            table[customer] = len(sizes) - 1
        else:
            table[customer] = _join(sizes, discount, rng)
        sizes[table[customer]] += 1
    return table


def _join(sizes: list[int], discount: float, rng: np.random.Generator) -> int:
    """Draw a table with probabilities in proportion to the sizes less the discount."""
    cumulative = np.cumsum(np.array(sizes) - discount)
    return min(int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right")), len(sizes) - 1)


def draw_sizes(n: int, n_tables: int, discount: float, rng: np.random.Generator) -> np.ndarray:
    """Sizes of `n_tables` tables that `n` customers sit at, in the order in which they are opened.

    Whatever the concentration, customer c is the first of table t with probability
    ``S^{c-1}_{t-1} / S^c_t``, given that so many are seated at so many tables; others join tables of size s
    with probabilities in proportion to s - a.
    """
    log_s = log_stirling(n, discount)[:, : n_tables + 1]
    opens = np.zeros(n, bool)
    t = n_tables
    for c in range(n, 0, -1):
        opens[c - 1] = rng.random() < np.exp(log_s[c - 1, t - 1] - log_s[c, t])
        t -= int(opens[c - 1])
    sizes: list[int] = []
    for opened in opens:
        if opened:
            sizes.append(1)
        else:
            sizes[_join(sizes, discount, rng)] += 1
    return np.array(sizes, np.int64)

"""Sums over all tables of micro corpora whose topics are Pitman-Yor processes, for exact answers."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations_with_replacement
from math import factorial, prod
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from ...toolbox.enumeration import log_stirling
from .restaurants import log_rising


class Cell(NamedTuple):
    """Customers of one word in one restaurant.

    Attributes
    ----------
    group : int
    becomes : float (V,)
        Probability that each word of the base becomes the word.
    customers : int
    """

    group: int
    becomes: np.ndarray
    customers: int

    def dishes(self) -> Iterator[tuple[int, ...]]:
        """All dishes that the tables of the cell may have: a word each, without their order."""
        sources = np.flatnonzero(self.becomes).tolist()
        for t in range(1, self.customers + 1):
            yield from combinations_with_replacement(sources, t)


def log_sum_over_tables(cells: Iterable[Cell], eta: float, b: float, a: float) -> float:
    """Log probability of the words of one topic in all groups that share a base, all tables summed out.

    Sums ``prod_g (b|a)_T / (b)_M · prod_w S^m_t t! prod_v p_wv^q / q!`` times the probability that a
    Dirichlet topic gives to the dishes of tables, cell by cell: all that goes on from one to the
    next is T of each group, and q.

    Parameters
    ----------
    cells : iterable of Cell
    eta : float
        Dirichlet parameter of the base, a word.
    b, a : float
        Concentration and discount of the groups.
    """
    cells = list(cells)
    if not cells:
        return 0.0
    n_words, n_groups = cells[0].becomes.size, max(cell.group for cell in cells) + 1
    stirling = np.exp(log_stirling(max(cell.customers for cell in cells), a))
    sums = {((0,) * n_groups, (0,) * n_words): 1.0}
    for group, becomes, m in cells:
        longer = defaultdict(float)
        for dishes in Cell(group, becomes, m).dishes():
            weight = stirling[m, len(dishes)] * n_orders(dishes) * prod(becomes[v] for v in dishes)
            for (tables, q), before in sums.items():
                longer[_added(tables, [group] * len(dishes)), _added(q, dishes)] += before * weight
        sums = longer
    customers = np.bincount(
        [cell.group for cell in cells], weights=[cell.customers for cell in cells], minlength=n_groups
    ).astype(int)
    terms = [
        np.log(weight)
        + sum(log_rising(b, a, m, t) for m, t in zip(customers, tables, strict=True))
        + _log_dirichlet_multinomial(np.array(q), eta)
        for (tables, q), weight in sums.items()
    ]
    return float(np.logaddexp.reduce(terms))


def n_orders(dishes: tuple[int, ...]) -> int:
    """In how many orders tables can have the given dishes, ``t! / prod q!``."""
    return factorial(len(dishes)) // prod(map(factorial, Counter(dishes).values()))


def _added(counts: tuple[int, ...], items: Iterable[int]) -> tuple[int, ...]:
    out = list(counts)
    for item in items:
        out[item] += 1
    return tuple(out)


def _log_dirichlet_multinomial(counts: np.ndarray, shape: float) -> float:
    total = shape * counts.size
    return float(
        gammaln(total) - gammaln(total + counts.sum()) + np.sum(gammaln(shape + counts) - gammaln(shape))
    )

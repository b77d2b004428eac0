"""All values of discrete latent variables of micro corpora, for exact answers."""

from collections.abc import Iterator

import numpy as np


def restricted_growth_strings(n: int, most_blocks: int | None = None) -> Iterator[np.ndarray]:
    """Every partition of `n` items once, as labels numbered by first appearance.

    Parameters
    ----------
    n : int
        Items. There are Bell(n) partitions: 203 for 6 items, 4,140 for 8.
    most_blocks : int, optional
        Leave out partitions into more blocks than this.

    Yields
    ------
    int array (n,)
        A fresh array each time.
    """
    limit = n if most_blocks is None else most_blocks
    labels = np.zeros(n, np.int64)

    def extend(i: int, n_blocks: int) -> Iterator[np.ndarray]:
        if i == n:
            yield labels.copy()
            return
        for label in range(min(n_blocks + 1, limit)):
            labels[i] = label
            yield from extend(i + 1, max(n_blocks, label + 1))

    yield from extend(0, 0)


def log_stirling(n: int, discount: float = 0.0) -> np.ndarray:
    """Logarithms of the generalised Stirling numbers S^m_t up to m = `n`, float (n + 1, n + 1).

    Recurrence ``S^{m+1}_t = S^m_{t-1} + (m - t a) S^m_t`` from S^0_0 = 1, a being the discount in [0, 1);
    -inf where the number is 0. Without a discount they are unsigned Stirling numbers of the first kind.
    """
    table = np.full((n + 1, n + 1), -np.inf)
    table[0, 0] = 0.0
    for m in range(n):
        table[m + 1] = _next_row(table[m], m, discount)
    return table


def log_stirling_numbers(n: np.ndarray, t: np.ndarray, discount: float) -> np.ndarray:
    """Log S^n_t of arrays `n` and `t` of one dimension, without keeping a table; see `log_stirling`."""
    out = np.full(n.size, -np.inf)
    row = np.full(int(t.max(initial=0)) + 1, -np.inf)
    row[0] = 0.0
    order = np.argsort(n, kind="stable")
    ends = np.searchsorted(n[order], np.arange(int(n.max(initial=0)) + 1), side="right")
    start = 0
    for m, end in enumerate(ends):
        here = order[start:end]
        out[here] = row[t[here]]
        row, start = _next_row(row, m, discount), end
    return out


def _next_row(row: np.ndarray, m: int, discount: float) -> np.ndarray:
    """Row of m + 1 customers from that of `m`, in logarithms."""
    joins = m - discount * np.arange(row.size)
    joins[0] = 0.0  # no table to join
    with np.errstate(divide="ignore", invalid="ignore"):
        joined = np.where(joins > 0.0, np.log(joins) + row, -np.inf)
    return np.logaddexp(np.concatenate([[-np.inf], row[:-1]]), joined)

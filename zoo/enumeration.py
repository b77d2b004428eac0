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


def log_stirling(n: int) -> np.ndarray:
    """Logarithms of the unsigned Stirling numbers of the first kind up to `n`, float (n + 1, n + 1).

    Entry (m, t) is log |s(m, t)|; -inf where the number is 0. Recurrence
    ``|s(m + 1, t)| = |s(m, t - 1)| + m |s(m, t)|``.
    """
    table = np.full((n + 1, n + 1), -np.inf)
    table[0, 0] = 0.0
    for m in range(n):
        kept = table[m] + (np.log(m) if m else -np.inf)
        table[m + 1] = np.logaddexp(np.concatenate([[-np.inf], table[m, :-1]]), kept)
    return table

"""Parts of a sweep that share nothing, in threads: as many as the environment variable BNPZOO_THREADS says.

How a sweep is cut into parts depends on the corpus alone, and each part has a generator of its own, so that
the bits do not depend on the number of threads.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np


def parts_of(ptr: np.ndarray, n_parts: int) -> list[tuple[int, int]]:
    """Cut rows into parts, first and end of each; a row costs as much as a token."""
    cost = ptr + np.arange(ptr.size)
    cuts = np.searchsorted(cost, np.linspace(0, cost[-1], n_parts + 1)).clip(0, ptr.size - 1).tolist()
    return list(pairwise(cuts))


def in_threads(function: Callable[..., Any], *parts: Any) -> None:
    """Call a function that holds no lock on the arguments of each part."""
    n_threads = int(os.environ.get("BNPZOO_THREADS", "1"))
    if n_threads == 1 or len(parts[0]) == 1:
        for arguments in zip(*parts, strict=True):
            function(*arguments)
        return
    with ThreadPoolExecutor(n_threads) as threads:
        list(threads.map(function, *parts))


@contextmanager
def threads_a_sweep(n_threads: int | None) -> Iterator[None]:
    """Let sweeps have so many threads meanwhile; None leaves it at what the environment says."""
    before = os.environ.get("BNPZOO_THREADS")
    if n_threads is not None:
        os.environ["BNPZOO_THREADS"] = str(n_threads)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("BNPZOO_THREADS", None)
        else:
            os.environ["BNPZOO_THREADS"] = before

"""Parts of a sweep that share nothing, in threads: as many as the environment variable BNPZOO_THREADS says.

How a sweep is cut into parts depends on the corpus alone, and each part has a generator of its own, so that
the bits do not depend on the number of threads.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np

_helped = threading.local()
"""``seconds``: of processors, that other threads have spent for this one."""


def processor_seconds() -> float:
    """Seconds of a processor that the calling thread has had, and those that worked for it `in_parts`."""
    return time.thread_time() + getattr(_helped, "seconds", 0.0)


def parts_of(ptr: np.ndarray, n_parts: int) -> list[tuple[int, int]]:
    """Cut rows into parts, first and end of each; a row costs as much as a token."""
    cost = ptr + np.arange(ptr.size)
    cuts = np.searchsorted(cost, np.linspace(0, cost[-1], n_parts + 1)).clip(0, ptr.size - 1).tolist()
    return list(pairwise(cuts))


def in_parts[T](function: Callable[..., T], *parts: Iterable[Any]) -> list[T]:
    """Call a function that holds no lock on the arguments of each part; results in the order of the parts.

    The calling thread does its share, so that one more is started for two, and none for one. Each takes the
    next part when it is done with its last.
    """
    waiting = deque(enumerate(zip(*parts, strict=True)))
    found: dict[int, T] = {}

    def work() -> None:
        while True:
            try:
                i, arguments = waiting.popleft()
            except IndexError:
                return
            found[i] = function(*arguments)

    def help_out() -> float:
        started = time.thread_time()
        work()
        return time.thread_time() - started

    n_others = min(int(os.environ.get("BNPZOO_THREADS", "1")), len(waiting)) - 1
    if n_others <= 0:
        work()
    else:
        with ThreadPoolExecutor(n_others) as threads:
            others = [threads.submit(help_out) for _ in range(n_others)]
            work()
            spent = sum(other.result() for other in others)
        _helped.seconds = getattr(_helped, "seconds", 0.0) + spent
    return [found[i] for i in sorted(found)]


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

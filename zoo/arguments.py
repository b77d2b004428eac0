"""Whole numbers that functions are given."""

import math
from numbers import Integral
from typing import Any

MOST_SEED = 2**63 - 1
"""So that a fit can hold it as a number."""


def whole_number(name: str, value: Any, least: int, most: float = math.inf, bounds: str = "") -> int:
    """Return a whole number as Python has it, which JSON knows, and not NumPy's.

    Parameters
    ----------
    name : str
        Of the argument.
    value : object
    least, most : int
    bounds : str
        How the error says what is allowed, where there is more to say than `least` and `most` do.

    Raises
    ------
    ValueError
        It is no whole number, or out of bounds.
    """
    number = int(value) if isinstance(value, Integral) and not isinstance(value, bool) else least - 1
    if not least <= number <= most:
        bounds = bounds or (f"{least} or more" if most == math.inf else f"{least} to {most:,}")
        raise ValueError(f"{name}: expected a whole number, {bounds}, found {value!r}")
    return number


def checked_seed(seed: Any) -> int:
    """Return a seed that a fit can hold; ValueError where it is another."""
    return whole_number("seed", seed, 0, MOST_SEED)


def checked_workers(workers: Any) -> int | None:
    """Return how many threads there may be, or None for as many as there are cores."""
    return None if workers is None else whole_number("workers", workers, 1)

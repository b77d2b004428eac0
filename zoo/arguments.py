"""Whole numbers that functions are given."""

from numbers import Integral
from typing import Any

MOST_SEED = 2**63 - 1
"""So that a fit can hold it as a number."""


def whole_number(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Return a whole number as Python has it.

    Raises
    ------
    ValueError
        The argument `name` is no whole number, or out of bounds.
    """
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise ValueError(f"{name}: expected a whole number, found {value!r}")
    number = int(value)
    if number < least:
        raise ValueError(f"{name}: expected at least {least}, found {number}")
    if most is not None and number > most:
        raise ValueError(f"{name}: expected at most {most}, found {number}")
    return number


def checked_seed(seed: Any) -> int:
    """Return a seed that a fit can hold; ValueError where it is another."""
    return whole_number("seed", seed, 0, MOST_SEED)


def checked_workers(workers: Any) -> int | None:
    """Return how many threads there may be, or None for as many as there are cores."""
    return None if workers is None else whole_number("workers", workers, 1)

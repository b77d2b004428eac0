"""Numbers and paths that functions are given."""

import math
from numbers import Integral, Real
from os import PathLike
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


def number_above(name: str, value: Any, least: float) -> float:
    """Return a finite number above `least` as Python has it; ValueError where it is none."""
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    if not least < number < math.inf:
        raise ValueError(f"{name}: expected a number above {least:g}, found {value!r}")
    return number


def check_folder(name: str, value: Any) -> None:
    """Raise ValueError unless `value` can be the name of a folder, or is None."""
    if value is None:
        return
    if not isinstance(value, str | PathLike):
        raise ValueError(f"{name}: expected the name of a folder, found {value!r}")
    if not str(value):
        raise ValueError(f"{name}: expected the name of a folder, found an empty one")

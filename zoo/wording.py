"""How messages and reports say numbers of things, and which names there are."""

from collections.abc import Iterable
from difflib import get_close_matches


def counted(n: int, noun: str, plural: str = "") -> str:
    """Return how many of a thing there are; `plural` where it is more than the noun with an s."""
    return f"{n:,} {noun if n == 1 else plural or f'{noun}s'}"


def not_among(what: str, name: str, there: Iterable[str]) -> str:
    """Say that nothing has this name, which has, and which of these may have been meant."""
    names = list(there)
    near = get_close_matches(name, names, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return f"no {what} {name!r}{hint}; there are {', '.join(names)}"

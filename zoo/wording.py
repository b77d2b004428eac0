"""How messages and reports say numbers of things, and which names there are, and show what a corpus says."""

from collections.abc import Iterable
from difflib import get_close_matches


def counted(n: int, noun: str, plural: str = "") -> str:
    """Return how many of a thing there are; `plural` where it is more than the noun with an s."""
    return f"{n:,} {noun if n == 1 else plural or f'{noun}s'}"


def printable(text: str) -> str:
    """Return a text with U+FFFD in the place of control characters.

    A terminal obeys them, and SVG may not hold them; tabs and line feeds stay.
    """
    return text.translate(_CONTROLS)


_CONTROLS = {
    code: "\N{REPLACEMENT CHARACTER}"
    for code in (*range(32), *range(0x7F, 0xA0), 0xFFFE, 0xFFFF)
    if chr(code) not in "\t\n"
}


def not_among(what: str, name: str, there: Iterable[str]) -> str:
    """Say that nothing has this name, which has, and which of these may have been meant."""
    names = list(there)
    near = get_close_matches(str(name), names, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return f"no {what} {name!r}{hint}; there are {', '.join(names)}"


def shortest(number: float) -> str:
    """Shortest text that comes back as the same number; of a whole one without ``.0``."""
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)

r"""Combining marks in regular expressions: ``\p{M}``, which Python's do not have."""

import unicodedata
from functools import cache
from itertools import chain

JOINERS = (0x200C, 0x200D)
"""What joins letters, or keeps them apart, within a word: Unicode's UTS #18 counts it as a part of words."""

PLACES = (range(0x300, 0x20000), range(0xE0100, 0xE01F0))
"""Where in Unicode marks stand."""


def with_marks(pattern: str) -> str:
    r"""Regular expression in which ``\p{M}`` matches a combining mark, or a joiner; not within brackets."""
    return pattern.replace(r"\p{M}", _mark()) if r"\p{M}" in pattern else pattern


@cache
def _mark() -> str:
    """Regular expression of a mark, which passes over letters that need none without a look at all ranges."""
    return rf"(?:(?![\x00-\u02ff])[{''.join(f'{chr(first)}-{chr(last)}' for first, last in _ranges())}])"


def _ranges() -> list[tuple[int, int]]:
    """First and last code points of all runs of marks."""
    ranges: list[tuple[int, int]] = []
    for code in chain(*PLACES):
        if code in JOINERS or unicodedata.category(chr(code)).startswith("M"):
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1] = (ranges[-1][0], code)
            else:
                ranges.append((code, code))
    return ranges

"""Pages to explore: one HTML file each, which loads nothing and runs no script but its own."""

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import xarray as xr
from markupsafe import Markup

from ...zoo.contract import Card
from ..topics import MatchedTopics
from .fits import TEMPLATES, write_page

LARGEST = 500_000
"""Bytes of a page, at most: an e-mail takes it, and a phone opens it at once."""

_REST = 8_000
"""Bytes of a page beside its script, style and data, at most."""


class WordNumbers:
    """Numbers of the words that a page mentions, in the order in which it does."""

    def __init__(self):
        self._number: dict[int, int] = {}

    def __getitem__(self, word: int) -> int:
        return self._number.setdefault(int(word), len(self._number))

    @property
    def ids(self) -> list[int]:
        """Id of each word that was mentioned."""
        return list(self._number)


def write_explorer(
    path: str | Path,
    name: str,
    matched: MatchedTopics,
    content: Callable[[float], str],
    *,
    styles: Sequence[str] = ("report", "browser"),
    **values: Any,
) -> None:
    """Write a page of at most 500 kB from the template `name` and the script of that name.

    Its content security policy names script and style by their hashes, so that no text of the corpus can
    become another.

    Parameters
    ----------
    path : path
    name : str
    matched : MatchedTopics
        Topics of the fit that the page is about.
    content : (scale) -> str
        JSON of the page's data, as `inert_json` makes it, of a size that goes with the scale, from 1 down.
    styles : sequence of str
    **values
        For the template.
    """
    how = "Topics are matched over the kept draws of all chains."
    write_scripted(path, name, matched.fit, matched.model.card, how, content, styles=styles, **values)


def write_scripted(
    path: str | Path,
    name: str,
    fit: xr.DataTree,
    card: Card,
    how: str,
    content: Callable[[float], str],
    *,
    styles: Sequence[str],
    **values: Any,
) -> None:
    """Do the same for what is no matched topics of a fit; `how` says in a sentence what it is."""
    script = _template("page.js") + _template(f"{name}.js")
    style = "".join(_template(f"{each}.css") for each in styles)
    attrs = fit.attrs
    write_page(
        path,
        f"{name}.html",
        card=card,
        how=f"{how} {attrs['model']}, seed {attrs['seed']}, corpus SHA-256 {attrs['corpus_sha256'][:16]}.",
        version=attrs["bnpzoo_version"],
        data=fitting(content, LARGEST - len(script) - len(style) - _REST),
        script=Markup(script),
        style=Markup(style),
        hashes={"script": _source(script), "style": _source(style)},
        **values,
    )


def fitting(content: Callable[[float], str], room: int) -> Markup:
    """Return a page's data in as much detail as there is room for, in bytes."""
    scale = 1.0
    while len((data := content(scale)).encode()) > room and scale > 1e-3:
        scale *= 0.7
    return Markup(data)


def inert_json(content: dict[str, Any]) -> str:
    """JSON that cannot end the element around it: it has no angle bracket and no ampersand."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return "".join(_INERT.get(letter, letter) for letter in text)


_INERT = {letter: f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}


def rounded(values: Any) -> Any:
    """Numbers to three significant digits, which is what a picture can show."""
    if isinstance(values, Iterable):
        return [rounded(value) for value in values]
    return float(f"{values:.3g}")


def _template(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _source(text: str) -> str:
    """Source expression by which a content security policy allows this text alone."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

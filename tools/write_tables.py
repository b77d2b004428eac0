"""Write the lists of models in README.md and docs/api/zoo.md, as the registry has them.

    python tools/write_tables.py

A test fails where they differ.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from bnpzoo.zoo.families.two_sided import TwoSidedModel
from bnpzoo.zoo.models import MODELS, list_models

ROOT = Path(__file__).parents[1]


def models_of_readme() -> Iterable[str]:
    """One row a model."""
    yield "| name | model | in short | topics | source |"
    yield "|---|---|---|---|---|"
    for card in list_models():
        cls = MODELS[card.id]
        sides = cls.topic_sides if issubclass(cls, TwoSidedModel) else ()
        topics = ", ".join(f"`{name}`" for name in sides) or "its own"
        yield f"| `{card.id}` | {card.title} | {card.summary} | {topics} | {card.source} |"


def models_of_api() -> Iterable[str]:
    """One directive a model."""
    yield "```{eval-rst}"
    for cls in MODELS.values():
        yield f".. autoclass:: {cls.__module__}.{cls.__name__}"
    yield "```"


LISTS = {ROOT / "README.md": models_of_readme, ROOT / "docs" / "api" / "zoo.md": models_of_api}


def written(path: Path) -> str:
    """Text of a file with its list of models, which stands between two comments, written anew."""
    begin, end = "<!-- models, by tools/write_tables.py -->", "<!-- end of models -->"
    body = "\n".join(LISTS[path]())
    text, n = re.subn(
        f"{begin}.*?{end}", lambda _: f"{begin}\n{body}\n{end}", path.read_text("utf-8"), flags=re.S
    )
    if n != 1:
        raise ValueError(f"{path}: expected one list between {begin} and {end}, found {n}")
    return text


if __name__ == "__main__":
    for path in LISTS:
        path.write_text(written(path), encoding="utf-8")

"""``bnpzoo list``: the models there are."""

from typing import Any

from .console import print_json, print_table
from .options import Json
from .remembered import remembered


def list_models(as_json: Json = False) -> None:
    """List the models of the zoo."""
    cards = remembered("list", _cards)
    if as_json:
        print_json(cards)
    else:
        rows = [(card["id"], card["title"], card["summary"]) for card in cards]
        print_table("Models", ["name", "model", "in short"], rows)


def _cards() -> list[dict[str, Any]]:
    from ..zoo import models

    return [
        {"id": card.id, "title": card.title, "summary": card.summary, "tags": card.tags}
        for card in models.list_models()
    ]

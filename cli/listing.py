"""``bnpzoo list``: the models there are."""

from .console import print_json, print_table
from .inputs import Json


def list_models(as_json: Json = False) -> None:
    """List the models of the zoo."""
    from ..zoo import models

    cards = models.list_models()
    if as_json:
        print_json(
            [
                {"id": card.id, "title": card.title, "summary": card.summary, "tags": card.tags}
                for card in cards
            ]
        )
    else:
        print_table(
            "Models", ["name", "model", "in short"], [(card.id, card.title, card.summary) for card in cards]
        )

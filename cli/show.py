"""``bnpzoo show``: the card of one model."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING

from .console import print_json, say
from .equations import readable
from .inputs import Json, ModelName, Topics, make_model

if TYPE_CHECKING:
    from ..diagnostics.laboratory.archive import Record
    from ..zoo.contract import Model


def show(name: ModelName, topics: Topics = None, as_json: Json = False) -> None:
    """Show a model: its equations, hyperparameters, topics, samplers, errata and evidence."""
    model = make_model(name, topics=topics)
    if as_json:
        print_json(
            asdict(model.card)
            | {
                "hyperparameters": {key: str(value) for key, value in model.spelled().items()},
                "variants": {
                    key: {"exact": kernel.exact, "about": kernel.about}
                    for key, kernel in model.kernels.items()
                },
                "verdicts": [
                    {
                        "variant": r.case.variant,
                        "rung": r.case.rung,
                        "budget": r.case.budget,
                        "status": r.status,
                        "message": r.message,
                        "date": r.date,
                    }
                    for r in _records_of(model, topics)
                ],
            }
        )
    else:
        _print_card(model)
        _section("Verdicts on its samplers (`bnpzoo validate`)", _verdicts_on(model, topics))


def _print_card(model: "Model") -> None:
    card = model.card
    say(f"{card.id} · {card.title}", "bold")
    say(card.summary)
    _section("Source", [card.citation])
    _section("Equations", [f"{e.where}: {readable(e.latex)}   ({e.meaning})" for e in card.equations])
    _section(
        "Hyperparameters (default; a prior means that it is sampled)",
        [f"{name} = {value}" for name, value in model.spelled().items()],
    )
    _section("Topics that it takes (--topics)", _topics_of(model))
    _section(
        "Samplers",
        [f"{name} ({'exact' if k.exact else 'not exact'}): {k.about}" for name, k in model.kernels.items()],
    )
    _section("Where the package differs from the source", card.errata)


def _records_of(model: "Model", topics: str | None) -> "list[Record]":
    """Verdicts in the package's books that are as the code is today."""
    from ..diagnostics.laboratory.archive import Books, strongest
    from ..diagnostics.laboratory.ladder import Case

    name = Case(model.card.id, "", "", topics=topics or "").name_of_model
    found = strongest(Books().records(model.card.id))
    return [record for (of_model, _, _), record in found.items() if of_model == name]


def _verdicts_on(model: "Model", topics: str | None) -> list[str]:
    """One line a sampler: its rungs, from cheap to dear."""
    from ..diagnostics.laboratory.ladder import RUNGS

    records = sorted(_records_of(model, topics), key=lambda record: RUNGS.index(record.case.rung))
    lines = []
    for variant in model.kernels:
        own = [record for record in records if record.case.variant == variant]
        told = [f"{r.case.rung} {r.status} ({r.case.budget}, {r.date[:10]})" for r in own]
        lines.append(f"{variant}: {', '.join(told) or 'none that is current'}")
    return lines


def _topics_of(model: "Model") -> list[str]:
    """One line for each topic side that the model takes; or why it takes but its own."""
    from ..zoo.families.two_sided import TwoSidedModel

    if not isinstance(model, TwoSidedModel):
        return ["its own alone"]
    lines = [
        f"{name}: {side.about}" + (" (here)" if name == model.topics.name else "")
        for name, side in model.topic_sides.items()
    ]
    return [*lines, *([f"no others: {model.why_only}"] if model.why_only else [])]


def _section(title: str, lines: Iterable[str]) -> None:
    for position, line in enumerate(lines):
        if position == 0:
            say(f"\n{title}", "bold")
        say(f"  {line}")

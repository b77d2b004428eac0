"""``bnpzoo show``: the card of one model."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from .console import print_json, say
from .equations import readable
from .options import Json, ModelName, Topics
from .remembered import remembered
from .settings import make_model, options_of, with_layers

if TYPE_CHECKING:
    from ..diagnostics.laboratory.archive import Record
    from ..zoo.contract import Model


def show(name: ModelName, topics: Topics = None, as_json: Json = False) -> None:
    """Show a model: its equations, hyperparameters, topics, samplers, errata and evidence."""
    told = remembered(f"show {name} {topics}", lambda: _told(name, topics))
    if as_json:
        print_json({key: value for key, value in told.items() if key not in ("topics_taken", "other_topics")})
    else:
        _print(told)


def _told(name: str, topics: str | None) -> dict[str, Any]:
    model = make_model(name, topics=topics)
    return asdict(model.card) | {
        "hyperparameters": {key: str(value) for key, value in model.spelled().items()},
        "topics_taken": _topics_of(model),
        "other_topics": _other_topics(model),
        "variants": {
            key: {"exact": kernel.exact, "about": kernel.about} for key, kernel in model.kernels.items()
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


def _print(told: dict[str, Any]) -> None:
    say(f"{told['id']} · {told['title']}", "bold")
    say(told["summary"])
    _section("Source", [told["citation"]])
    _section(
        "Equations",
        [f"{e['where']}: {readable(e['latex'])}   ({e['meaning']})" for e in told["equations"]]
        + told["other_topics"],
    )
    _section(
        "Hyperparameters (default; a prior means that it is sampled)",
        [f"{name} = {value}" for name, value in told["hyperparameters"].items()],
    )
    _section("Topics that it takes (--topics)", told["topics_taken"])
    _section(
        "Samplers",
        [
            f"{name} ({'exact' if kernel['exact'] else 'not exact'}): {kernel['about']}"
            for name, kernel in told["variants"].items()
        ],
    )
    _section("Where the package differs from the source", told["errata"])
    _section("Verdicts on its samplers (`bnpzoo validate`)", _verdicts(told))


def _records_of(model: "Model", topics: str | None) -> "list[Record]":
    """Verdicts in the package's books that are as the code is today, from cheap rungs to costly ones."""
    from ..diagnostics.laboratory.archive import Books, strongest
    from ..diagnostics.laboratory.ladder import RUNGS, Case

    side, layers = with_layers(topics, ())
    options = options_of(model.card.id, layers, side)
    name = Case(model.card.id, "", "", topics=side or "", options=options).name_of_model
    found = strongest(Books().records(model.card.id))
    own = [record for (of_model, _, _), record in found.items() if of_model == name]
    return sorted(own, key=lambda record: RUNGS.index(record.case.rung))


def _verdicts(told: dict[str, Any]) -> list[str]:
    """One line a sampler."""
    lines = []
    for variant, kernel in told["variants"].items():
        own = [r for r in told["verdicts"] if r["variant"] == variant]
        of_rungs = [f"{r['rung']} {r['status']} ({r['budget']}, {r['date'][:10]})" for r in own]
        none = "none that is current" if kernel["exact"] else "not judged: it does not claim to be exact"
        lines.append(f"{variant}: {', '.join(of_rungs) or none}")
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


def _other_topics(model: "Model") -> list[str]:
    """Say that topics are not those of the equations, where they are not."""
    from ..zoo.families.two_sided import TwoSidedModel

    if not isinstance(model, TwoSidedModel) or model.topics.name == next(iter(model.topic_sides)):
        return []
    return [f"but here topics are {model.topics.name}: {model.topics.about}"]


def _section(title: str, lines: Iterable[str]) -> None:
    for position, line in enumerate(lines):
        if position == 0:
            say(f"\n{title}", "bold")
        say(f"  {line}")

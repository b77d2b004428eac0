"""The evidence page: a matrix of all samplers and rungs, and the fate of all mutants.

``python -m bnpzoo.diagnostics.reports.evidence`` enters what `bnpzoo validate --all` has found in the books
of the package, and writes the page from these alone.
"""

import argparse
import json
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from ...zoo.files import replace_on_success
from ..laboratory.archive import AUDIT, Archive, Books, Record, kill_matrix, strongest
from ..laboratory.blind.audit import Audit
from ..laboratory.blind.targets import reasons_of_equivalents
from ..laboratory.forms import forms
from ..laboratory.ladder import BUDGETS, RUNG_TITLES, RUNGS, Case
from ..laboratory.noticed import noticed_by
from ..laboratory.validate import STORE, applies
from ..laboratory.verdict import FALSE_ALARM_RATE
from .fits import rendered

HEAVY = "heavy.*.xml"
"""What pytest tells of the heavy tests, a room a file, in the folder of results."""

BRIDGE = "bridge.json"
"""What the books keep of it: how far the two programs of a reference are from each other."""

PAGE = Path("docs/evidence.md")

INTRODUCTION = """\
# Evidence

This page is written from the package's books, the stored verdicts of `bnpzoo validate --all`; no verdict and no figure
is typed by hand. A verdict holds until something changes that it depends on: the model, its kernel, its references or the
rung. Where such a change has no part in its figures, it may be kept without judging again, as CONTRIBUTING.md says.
The sequential test rejects a right sampler with a probability of at most {rate:g}; oracle, Geweke and SBC are set
to {rate:g}, over all their quantities together, and keep it approximately; joint has no randomness in its verdict;
reference allows 4 standard errors for each difference, and so rejects a right sampler in up to about 2% of runs.
Choose a mark for its figures.
"""  # noqa: E501

MUTANTS = """\
## Mutants

Deliberately wrong samplers before the rungs at budget `ci`. A rung that none of them can fail is no evidence. † is
killed, – has passed, ○ was judged before a change of what the verdict depends on, and an empty cell was not run. {summary}
"""  # noqa: E501

BLIND = """\
## Blind mutants

Changes of single points of a model's programs, drawn at random by `bnpzoo validate MODEL --blind 40`: of kernel, adapter,
generator, density, references and Stan program, a file after the other. They meet tests and rungs from cheap to costly.
Each audit stands as it was drawn; tests that were added for what survived change nothing here. The share is of those
that run, killed or survived, with its exact 95% interval; in both all files count alike, however long.
"""  # noqa: E501

TWINS = """\
## Twins

The NumPyro and the Stan program of a model at the same unconstrained points, of two corpora, with all hyperparameters
sampled, fixed, and some of them fixed: the largest difference of log densities (which may differ by a constant), of
their gradients, and of what a draw saves, all relative to one plus the number's size. `make validate` compares them
again where one of the programs has changed since.
"""  # noqa: E501

COSTS = """\
## What it costs

Seconds of one core for the verdicts in the books, all samplers together.
"""

FIGURES = {
    "joint": "{conditionals:.0f} conditionals, within {largest:.1g}",
    "oracle": "{chains:.0f} chains of {draws:,.0f} draws",
    "sequential": "{samples:,.0f} draws in round {rounds:.0f}",
    "geweke": "{chains:.0f} chains of {transitions:.0f} steps",
    "sbc": "{replications:.0f} replications of {draws:.0f} draws",
    "reference": "{fits:.0f} fits, differences of {largest_difference:.1f} MCSE at most",
}
"""What is told of each rung, from the figures of its verdict."""


DIFFERENCES = ("density", "gradient", "saved")
"""What is told of the twins."""

type Twins = Mapping[str, Any]
"""Their largest differences, by `DIFFERENCES`; the number of points; fingerprint of what these depend on."""

type Bridge = Mapping[str, Twins]
"""The twins of each program."""


def evidence_page(
    records: Iterable[Record], audits: Sequence[Audit] = (), bridge: Bridge | None = None
) -> str:
    """Write the page, in Markdown, from records of verdicts, from blind audits and from figures of twins.

    Of verdicts at several budgets that at the largest counts.
    """
    records = list(records)
    mutants = [record for record in records if record.case.mutant and record.is_current]
    matrix = kill_matrix(mutants)
    before = _judged_before(records, matrix)
    parts = [
        INTRODUCTION.format(rate=FALSE_ALARM_RATE),
        "\n".join(f"- **{rung}**: {RUNG_TITLES[rung]}" for rung in RUNGS),
        "## Samplers",
        _html("evidence.html", rungs=RUNGS, rows=_rows(records, matrix)),
        MUTANTS.format(summary=_summary(mutants, before)),
        "\n".join(_noticed_elsewhere(matrix)),
        _html("mutants.html", rungs=list(BUDGETS["ci"]), models=_by_model(matrix, before)),
        BLIND,
        "\n".join(_blind(audits)),
        TWINS,
        "\n".join(_twins(bridge or {})),
        COSTS,
        "\n".join(_costs([record for record in records if record.is_current])),
    ]
    return "\n".join(f"{part.strip()}\n" for part in parts)


def _html(template: str, **values: Any) -> str:
    """Return HTML without blank lines and indentation, where Markdown would begin again."""
    return "\n".join(line.strip() for line in rendered(template, **values).splitlines() if line.strip())


def _rows(records: Sequence[Record], matrix: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    current = strongest(records)
    old = {(r.case.name_of_model, r.case.variant, r.case.rung): r for r in records if not r.case.mutant}
    rows = []
    for name_of_model, topics, options in forms():
        form = Case(name_of_model, "", "", topics=topics, options=options)
        model = form.model_as_told()
        for variant, kernel in model.kernels.items():
            name = form.name_of_model
            own = [row for row in matrix if (row["model"], row["variant"]) == (name, variant)]
            cells = []
            for rung in RUNGS:
                key = (name, variant, rung)
                if key in current:
                    cells.append(_judged(current[key], kernel.exact))
                elif key in old:
                    cells.append(_cell(old[key], "○", "old", f"{old[key].status} before a change"))
                elif applies(model, variant, rung):
                    cells.append({"mark": "·", "tone": "open", "label": f"{rung}: not run", "text": ""})
                else:
                    cells.append({"mark": "", "text": ""})
            killed = sum(row["killed"] for row in own)
            mutants = f"{killed}/{len(own)}" if own else ""
            waiting = sum(map(_is_open, own))
            rows.append(
                {"model": name, "variant": variant, "cells": cells, "mutants": mutants, "waiting": waiting}
            )
    return rows


def _is_open(row: Mapping[str, Any]) -> bool:
    """Whether a mutant is alive that has not met every rung yet."""
    every_rung = BUDGETS["ci"].keys() - {"joint"}  # which does not apply to all
    return not row["killed"] and not row["status"].keys() >= every_rung


def _judged(record: Record, claims_to_be_exact: bool) -> dict[str, str]:
    if record.status == "passed":
        return _cell(record, "✓", "passed", "passed")
    if claims_to_be_exact:
        return _cell(record, "✗", record.status, record.status)
    return _cell(record, "≠", "expected", f"{record.status}; it claims no more")


def _cell(record: Record, mark: str, tone: str, status: str) -> dict[str, str]:
    case = record.case
    figures = "" if record.status == "broken" else f" {FIGURES[case.rung].format(**record.figures)}."
    return {
        "id": case.stem.replace(".", "-").replace("_", "-"),
        "mark": mark,
        "tone": tone,
        "label": f"{case.subject} · {case.rung}: {status}",
        "text": (
            f"{record.message}{figures} Budget {case.budget}, {record.date[:10]}, {record.seconds:.0f} s, "
            f"version {record.version}."
        ),
    }


def _judged_before(records: Sequence[Record], current: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of mutants that have no current verdict, of what was found before a change."""
    judged = {(row["model"], row["mutant"]) for row in current}
    rows = kill_matrix([record for record in records if record.case.mutant and not record.is_current])
    return [row for row in rows if (row["model"], row["mutant"]) not in judged]


def _by_model(
    current: Sequence[dict[str, Any]], before: Sequence[dict[str, Any]]
) -> dict[str, list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = [row | {"is_current": True} for row in current]
    rows += [row | {"is_current": False} for row in before]
    rows.sort(key=lambda row: row["model"])
    return {model: list(own) for model, own in groupby(rows, key=lambda row: row["model"])}


def _summary(mutants: Sequence[Record], before: Sequence[Mapping[str, Any]]) -> str:
    killed = sum(row["killed"] for row in before)
    stale = (
        f" Of {len(before)} others {killed} were killed before a change, by rungs that they met."
        if before
        else ""
    )
    rows = kill_matrix(mutants)
    if not rows:
        return f"None has a current verdict.{stale}" if stale else "None was run."
    dates = sorted(record.date[:10] for record in mutants)
    passing = [row for row in rows if not row["killed"]]
    n_open, alive = sum(map(_is_open, passing)), _alive(rows)
    told = f"{len(rows) - len(passing)} of {len(rows)} are killed on at least one rung"
    if n_open:
        passed = "has passed those that it has met" if n_open == 1 else "have passed those that they have met"
        told += f", {n_open} {passed}, and not met all"
    if alive:
        unseen = [row for row in alive if not noticed_by(row["mutant"], rows)]
        names = ", ".join(f"{row['mutant']} ({row['model']})" for row in unseen) or "none"
        told += f"; {len(alive)} passed all; of these, noticed by nothing else: {names}"
    return f"{told}. Dates: {dates[0]} to {dates[-1]}.{stale}"


def _alive(matrix: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mutants that have met every rung, and passed."""
    return [row for row in matrix if not row["killed"] and not _is_open(row)]


def _noticed_elsewhere(matrix: Sequence[dict[str, Any]]) -> list[str]:
    """Say which mutants pass all rungs of some model, and what notices them."""
    models: dict[str, list[str]] = {}
    for row in _alive(matrix):
        models.setdefault(row["mutant"], []).append(row["model"])
    return _folded(
        "Mutants that pass all rungs of a model, and what notices them",
        [
            f"**{mutant}** ({', '.join(own)}): {noticed_by(mutant, matrix) or 'nothing'}"
            for mutant, own in models.items()
        ],
    )


def _blind(audits: Sequence[Audit]) -> list[str]:
    if not audits:
        return ["None was drawn."]
    dates = sorted(audit.date for audit in audits)
    together = replace(
        audits[0], target="all", outcomes=[outcome for audit in audits for outcome in audit.outcomes]
    )
    rows = [*([*_fates(audit), str(audit.seed)] for audit in audits), [*_fates(together), ""]]
    columns = ["model", "crashed", "killed", "survived", "share killed", "equivalent", "seed"]
    reasons = reasons_of_equivalents()

    def survivors(told: Callable[[str], str]) -> list[str]:
        lines = ((audit.target, [told(one.mutation.key) for one in audit.of("survived")]) for audit in audits)
        return [f"**{name}**: {'; '.join(filter(None, texts))}" for name, texts in lines if any(texts)]

    left_out = {name for audit in audits for name in audit.left_out}
    return [
        f"Drawn from {dates[0]} to {dates[-1]}.",
        "",
        *_table(columns, rows),
        *_folded("What survived", survivors(lambda key: "" if key in reasons else f"`` {key} ``")),
        *_folded(
            "What survived and is argued to change no law, and why",
            survivors(lambda key: f"`` {key} ``: {reasons[key]}" if key in reasons else ""),
        ),
        *_folded(
            "Trials left out of an audit, as they take too long or do not run",
            [f"`{name}`" for name in sorted(left_out)],
        ),
    ]


def _fates(audit: Audit) -> list[str]:
    n = {status: str(len(audit.of(status))) for status in ("crashed", "killed", "survived", "equivalent")}
    low, high = audit.interval
    share = f"{audit.score_of_running:.0%}\N{NO-BREAK SPACE}({100 * low:.0f}–{high:.0%})"
    return [audit.target, n["crashed"], n["killed"], n["survived"], share, n["equivalent"]]


def _folded(title: str, items: Sequence[str]) -> list[str]:
    if not items:
        return []
    lines = [f"- {item}" for item in items]
    return ["", "<details>", f"<summary>{title}</summary>", "", *lines, "", "</details>"]


def bridge_of(report: Path) -> dict[str, Twins | None]:
    """Read figures of the twins from pytest's report; None for a program whose test has failed.

    Raises
    ------
    ValueError
        The file is something else.
    """
    try:
        cases = ElementTree.parse(report).iter("testcase")
    except ElementTree.ParseError as error:
        raise ValueError(f"{report}: expected a report of tests in XML: {error}") from None
    found: dict[str, Twins | None] = {}
    for case in cases:
        told = {one.get("name", ""): one.get("value", "") for one in case.iter("property")}
        if "program" in told:
            found[told["program"]] = _figures(told) if case.find("failure") is None else None
    return found


def _figures(told: Mapping[str, str]) -> Twins:
    figures = {name: float(told[name]) for name in (*DIFFERENCES, "points")}
    return figures | {"fingerprint": told["fingerprint"]}


def bridge_in(books: Books) -> dict[str, Twins]:
    """Read the figures of the twins that the books keep, by program."""
    kept = books.folder / BRIDGE
    return json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}


def _twins(bridge: Bridge) -> list[str]:
    rows = [
        [
            program,
            f"{figures['points']:.0f}",
            *(f"{figures[name]:.0e}" for name in DIFFERENCES),
        ]
        for program, figures in sorted(bridge.items())
    ]
    return _table(["program", "points", *DIFFERENCES], rows) if rows else ["None was run."]


def _costs(records: Sequence[Record]) -> list[str]:
    right = [(rung, [r for r in records if r.case.rung == rung and not r.case.mutant]) for rung in RUNGS]
    rows = []
    for name, own in [*right, ("mutants", [record for record in records if record.case.mutant])]:
        seconds = [record.seconds for record in own]
        rows.append([name, str(len(own)), f"{sum(seconds):,.0f}", f"{max(seconds, default=0.0):,.0f}"])
    return _table(["rung", "verdicts", "seconds", "the dearest"], rows)


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return ["| " + " | ".join(cells) + " |" for cells in (columns, ["---"] * len(columns), *rows)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Enter the records of a folder in the books, and write the page."""
    parser = argparse.ArgumentParser(
        prog="python -m bnpzoo.diagnostics.reports.evidence", description=__doc__
    )
    parser.add_argument("--store", type=Path, default=STORE, metavar="DIR")
    parser.add_argument("--page", type=Path, default=PAGE, metavar="FILE")
    options = parser.parse_args(arguments)
    books = Books()
    books.enter(record for record in Archive(options.store).records() if record.is_current)
    for path in (options.store / "blind").glob(f"*{AUDIT}"):
        Audit.read(path).save(books.folder / path.name)
    audits = [Audit.read(path) for path in sorted(books.folder.glob(f"*{AUDIT}"))]
    bridge: dict[str, Twins | None] = {**bridge_in(books)}
    for path in options.store.glob(HEAVY):
        bridge |= bridge_of(path)
    stand = {program: twins for program, twins in bridge.items() if twins is not None}
    if bridge:
        with replace_on_success(books.folder / BRIDGE) as temporary:
            temporary.write_text(json.dumps(stand, indent=1), encoding="utf-8")
    with replace_on_success(options.page) as temporary:
        temporary.write_text(evidence_page(books.records(), audits, stand), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

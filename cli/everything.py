"""``bnpzoo validate --all``: every model, every mutant, as far as time goes."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .console import ExitCode, err, print_json, print_table, resumable, say

if TYPE_CHECKING:
    from ..diagnostics.laboratory.archive import Record
    from ..diagnostics.laboratory.ladder import Case


def validate_everything(
    budget: str, minutes: float | None, jobs: int | None, out: Path, as_json: bool, dask: str | None = None
) -> ExitCode:
    """Judge all that has no current verdict in the folder or in the package's books; say what it cost."""
    from ..diagnostics.laboratory.archive import Books, kill_matrix
    from ..diagnostics.laboratory.noticed import noticed_by
    from ..diagnostics.laboratory.validate import judge_all, known_of, round_of, still_open

    cases = round_of(budget)
    known = known_of(cases, out)
    waiting = still_open(cases, known.values())
    judged: list[Record] = []

    def report(record: "Record") -> None:
        judged.append(record)
        told = f"{len(judged)}/{len(waiting)} {record.case.subject} · {record.case.rung}: {record.status}"
        say(f"{told} ({record.seconds:.0f} s)", console=err)

    with resumable(out):
        judge_all(waiting, out, jobs, report, minutes, dask)
    records = [*known.values(), *judged]
    left = still_open(cases, records)
    rejected = [record for record in records if not record.case.mutant and record.status != "passed"]
    matrix = kill_matrix([record for record in records if record.case.mutant])
    passing = [row for row in matrix if not row["killed"] and not any(_is_of(case, row) for case in left)]
    alive = [row for row in passing if not noticed_by(row["mutant"], matrix)]
    if as_json:
        print_json(
            {
                "passed": not (rejected or alive or left),
                "judged": len(judged),
                "known": len(known),
                "rejected": [record.case.subject for record in rejected],
                "survivors": [f"{row['model']}: {row['mutant']}" for row in alive],
                "left": [_command(case) for case in left if not case.mutant],
                "seconds": {rung: sum(r.seconds for r in found) for rung, found in _by_rung(records).items()},
            }
        )
    else:
        _print_costs(records, judged)
        for record in rejected:
            say(f"{record.case.subject} · {record.case.rung}: {record.message}", "red")
        for row in alive:
            say(f"Nothing notices the mutant {row['mutant']} of {row['model']}.", "red")
        if n_elsewhere := len(passing) - len(alive):
            say(
                f"Mutants that pass all rungs of a model, and that those of another, or a test of their own, "
                f"notice: {n_elsewhere}"
            )
        before = {record.case: record for record in Books().records()}
        for case in left:
            if not case.mutant:
                say(f"Left for another time: {_command(case)}{_told(before.get(case))}")
        n_mutants = sum(1 for case in left if case.mutant)
        if n_mutants:
            say(f"Left for another time: {n_mutants:,} tests of mutants")
    return ExitCode.DISAGREEMENT if rejected or alive else ExitCode.OK


def _is_of(case: "Case", row: dict[str, str]) -> bool:
    return (case.name_of_model, case.mutant) == (row["model"], row["mutant"])


def _command(case: "Case") -> str:
    """Return the command that judges a case."""
    words = ["bnpzoo validate", case.model, *(["--topics", case.topics] if case.topics else [])]
    words += [f"--set {name}={str(value).lower()}" for name, value in case.told_options().items()]
    return " ".join([*words, f"--rung {case.rung} --variant {case.variant} --budget {case.budget}"])


def _told(record: "Record | None") -> str:
    """Return what is known of a case from before a change."""
    if record is None:
        return ""
    return f" ({record.status} on {record.date[:10]}, before a change; {record.seconds:.0f} s)"


def _by_rung(records: "Sequence[Record]") -> "dict[str, list[Record]]":
    from ..diagnostics.laboratory.ladder import RUNGS

    found = {rung: [r for r in records if r.case.rung == rung and not r.case.mutant] for rung in RUNGS}
    return {rung: own for rung, own in found.items() if own} | {
        "mutants": [record for record in records if record.case.mutant]
    }


def _print_costs(records: "Sequence[Record]", judged: "Sequence[Record]") -> None:
    print_table(
        "Verdicts, and what they cost",
        ["rung", "verdicts", "judged now", "minutes of one core", "dearest"],
        [
            [
                rung,
                len(own),
                sum(1 for record in own if record in judged),
                round(sum(record.seconds for record in own) / 60, 1),
                _dearest(own),
            ]
            for rung, own in _by_rung(records).items()
        ],
    )


def _dearest(records: "Sequence[Record]") -> str:
    if not records:
        return ""
    record = max(records, key=lambda record: record.seconds)
    return f"{record.case.subject}, {record.seconds:.0f} s"

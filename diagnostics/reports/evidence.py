"""The evidence page: the whole ladder for all models and variants, and every mutant before every rung.

``python -m bnpzoo.diagnostics.reports.evidence`` judges what has not been judged, and writes the page from
the stored results alone. It may be interrupted; the next run takes up where it was left.
"""

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ...zoo.files import replace_on_success
from ...zoo.models import combinations
from ..laboratory.archive import Archive, Record, kill_matrix
from ..laboratory.ladder import BUDGETS, RUNG_TITLES, RUNGS, Case
from ..laboratory.validate import STORE, cases_of, judge_all, mutant_cases
from ..laboratory.verdict import FALSE_ALARM_RATE

PAGE = Path("docs/evidence.md")

INTRODUCTION = """\
# Evidence

This page is made by `make validate` from stored results; nothing in it is typed by hand. Every test is set
to reject a right sampler with a probability of {rate:g}, over all its quantities together; the joint rung has no
randomness in its verdict. Budget `ci` takes seconds a test, `full` a minute or two."""  # noqa: E501

MUTANTS_TEXT = """\
Deliberately wrong samplers before the rungs at budget `ci`. A rung that none of them can fail is no evidence. A dash: the
mutant passed; “not run”: it was not tried on that rung."""  # noqa: E501

FIGURES = {
    "joint": "{conditionals:.0f} conditionals, within {largest:.1g}",
    "oracle": "{chains:.0f} chains of {draws:,.0f} draws",
    "sequential": "{samples:,.0f} draws in round {rounds:.0f}",
    "geweke": "{chains:.0f} chains of {transitions:.0f} steps",
    "sbc": "{replications:.0f} replications of {draws:.0f} draws",
    "reference": "{fits:.0f} fits, differences of {largest_difference:.1f} MCSE at most",
}
"""What is told of each rung, from the figures of its verdict."""


def round_of(budget: str) -> list[Case]:
    """All cases of a full round: right samplers at `budget`, then all mutants, cheap rungs first."""
    pairs = combinations()
    right = [case for model, topics in pairs for case in cases_of(model, budget=budget, topics=topics)]
    wrong = [case for model, topics in pairs for case in mutant_cases(model, topics=topics)]
    return right + sorted(wrong, key=lambda case: RUNGS.index(case.rung))


def evidence_page(records: Iterable[Record]) -> str:
    """Write the page, in Markdown, from records of verdicts.

    A verdict that was reached by other code than today's is left out. Of several budgets the largest counts.
    """
    current = [record for record in records if record.is_current]
    right = [record for record in current if not record.case.mutant]
    largest = {
        (record.case.name_of_model, record.case.variant, record.case.rung): record
        for record in sorted(right, key=lambda record: [*BUDGETS].index(record.case.budget))
    }
    mutants = [record for record in current if record.case.mutant]
    parts = [
        [INTRODUCTION.format(rate=FALSE_ALARM_RATE)],
        [f"- **{rung}**: {RUNG_TITLES[rung]}" for rung in RUNGS],
        ["## Samplers"],
        _samplers(largest),
        ["## Mutants"],
        [MUTANTS_TEXT],
        *_kill_matrix(mutants),
        ["## Verdicts in full"],
        _verdicts(largest.values()),
    ]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _samplers(records: Mapping[tuple[str, str, str], Record]) -> list[str]:
    return _table(
        ["model", "variant", *RUNGS],
        [
            [case.name_of_model, variant]
            + [_cell(records.get((case.name_of_model, variant, rung))) for rung in RUNGS]
            for case in (Case(model, "", "", topics=topics) for model, topics in combinations())
            for variant in case.model_as_told().kernels
        ],
    )


def _verdicts(records: Iterable[Record]) -> list[str]:
    return _table(
        ["sampler", "rung", "budget", "verdict", "seconds", "version"],
        [
            [r.case.subject, r.case.rung, r.case.budget, r.message, f"{r.seconds:.0f}", r.version]
            for r in sorted(records, key=lambda r: (r.case.subject, RUNGS.index(r.case.rung)))
        ],
    )


def _cell(record: Record | None) -> str:
    if record is None:
        return "not run"
    if record.status == "broken":
        return f"**broken**<br>{record.date[:10]}"
    status = record.status if record.status == "passed" else f"**{record.status}**"
    figures = FIGURES[record.case.rung].format(**record.figures)
    return f"{status} ({record.case.budget})<br>{figures}<br>{record.date[:10]}"


def _kill_matrix(records: Sequence[Record]) -> list[list[str]]:
    word = {"passed": "–", "rejected": "killed", "broken": "killed"}
    rows = kill_matrix(records)
    if not rows:
        return [["Not run."]]
    dates = sorted(record.date[:10] for record in records)
    alive = [f"{row['mutant']} ({row['model']})" for row in rows if not row["killed"]]
    summary = f"{len(rows) - len(alive)} of {len(rows)} are killed on at least one rung"
    if alive:
        summary += f"; not {', '.join(alive)}"
    table = _table(
        ["model", "mutant", "what is wrong", *BUDGETS["ci"]],
        [
            [
                f"{row['model']}/{row['variant']}",
                row["mutant"],
                row["about"],
                *(word.get(row["status"].get(rung, ""), "not run") for rung in BUDGETS["ci"]),
            ]
            for row in rows
        ],
    )
    return [[f"{summary}. Dates: {dates[0]} to {dates[-1]}."], table]


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    cells = [columns, ["---"] * len(columns), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what has not been run, write the page; 1 if a right sampler is rejected or a mutant is not."""
    parser = argparse.ArgumentParser(
        prog="python -m bnpzoo.diagnostics.reports.evidence", description=__doc__
    )
    parser.add_argument("--budget", choices=[*BUDGETS], default="full")
    parser.add_argument("--store", type=Path, default=STORE, metavar="DIR")
    parser.add_argument("--page", type=Path, default=PAGE, metavar="FILE")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    cases = round_of(options.budget)
    done: list[Record] = []

    def report(record: Record) -> None:
        done.append(record)
        case = record.case
        print(f"{len(done)}/{len(cases)} {case.subject} · {case.rung}: {record.status}", file=sys.stderr)

    judge_all(cases, options.store, options.jobs, report)
    with replace_on_success(options.page) as temporary:
        temporary.write_text(evidence_page(Archive(options.store).records()), encoding="utf-8")
    rejected = [r for r in done if not r.case.mutant and r.status != "passed"]
    alive = [row for row in kill_matrix([r for r in done if r.case.mutant]) if not row["killed"]]
    return 1 if rejected or alive else 0


if __name__ == "__main__":
    sys.exit(main())

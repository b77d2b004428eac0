"""``bnpzoo validate``: whether a sampler is right, and whether the tests would notice if it were not."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .blind import validate_all_blindly, validate_blindly
from .console import ExitCode, one_bar, print_json, print_table, resumable, say
from .everything import validate_everything
from .options import Dask, Json, Seed, Settings, Topics
from .settings import options_of, with_layers

if TYPE_CHECKING:
    from ..diagnostics.laboratory.archive import Record
    from ..diagnostics.laboratory.ladder import Case


class Rung(StrEnum):
    """Choices of ``--rung``."""

    JOINT = "joint"
    SEQUENTIAL = "sequential"
    ORACLE = "oracle"
    GEWEKE = "geweke"
    SBC = "sbc"
    REFERENCE = "reference"
    ALL = "all"


USED = {
    "MODEL": ("--topics", "--set", "--rung", "--variant", "--budget", "--mutants"),
    "MODEL --blind": ("--topics", "--set", "--jobs"),
    "FILE.py:NAME --blind": ("--jobs",),
    "--all": ("--budget", "--mutants", "--minutes", "--jobs", "--dask"),
    "--all --blind": ("--jobs",),
}
"""Options that change something, by form of the command; --seed, --out and --json go with all of them."""


class Budget(StrEnum):
    """Choices of ``--budget``."""

    CI = "ci"
    FULL = "full"
    LONG = "long"


def validate(
    name: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A model's name; `bnpzoo list` shows them. With --blind also a sampler of your own, as "
            "FILE.py:NAME; what it imports from other *.py files of the same folder is changed, too, and its "
            "trials have copies of these files.",
            show_default=False,
        ),
    ] = "",
    topics: Topics = None,
    settings: Settings = [],  # noqa: B006 (typer copies it)
    rung: Annotated[
        list[Rung],
        typer.Option(
            help="Which test, from cheap to costly; `reference` needs --budget full or long. Repeat for more."
        ),
    ] = [Rung.ALL],  # noqa: B006 (typer copies it)
    variant: Annotated[
        str | None, typer.Option(help="Which kernel; all of them unless given.", show_default=False)
    ] = None,
    budget: Annotated[
        Budget,
        typer.Option(
            help="ci: seconds a test, minutes for sbc; full: minutes, up to an hour; "
            "long: `reference` alone, if NUTS mixes slowly."
        ),
    ] = Budget.CI,
    mutants: Annotated[
        bool,
        typer.Option(
            "--mutants",
            help="Also test deliberately wrong samplers. Budget ci: each until a test "
            "rejects it; full: all tests of each.",
        ),
    ] = False,
    blind: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Change N places of the program at random, one at a time, and see which tests notice.",
            show_default=False,
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All models, and all mutants; what has a verdict is not done again.")
    ] = False,
    minutes: Annotated[
        float | None,
        typer.Option(help="With --all: begin no test after so many minutes.", show_default=False),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1, help="With --blind or --all: processes; one a core unless given.", show_default=False
        ),
    ] = None,
    dask: Dask = None,
    seed: Seed = 0,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder of results; what it holds already is not done again.")
    ] = Path("out/validation"),
    as_json: Json = False,
) -> None:
    """Test whether a model's samplers leave its posterior invariant, and whether the tests would notice.

    A right sampler is rejected with probability 1e-5 at most by sequential, about 1e-5 by oracle, geweke and
    sbc, and up to 2% by reference. Results go to the folder as netCDF, with all draws and ranks, and as one
    HTML page. Exit code 1: a sampler is rejected, or a mutant is not; with --all, a mutant that neither the
    rungs of another model nor a test of its own notice.
    """
    given = {
        "--topics": topics is not None,
        "--set": bool(settings),
        "--rung": rung != [Rung.ALL],
        "--variant": variant is not None,
        "--budget": budget is not Budget.CI,
        "--mutants": mutants,
        "--minutes": minutes is not None,
        "--jobs": jobs is not None,
        "--dask": dask is not None,
    }
    own = ":" in name or name.endswith(".py")
    if own and not everything and not (blind and ":" in name):
        raise typer.BadParameter(
            f"{name}: a sampler of your own is told as FILE.py:NAME, and needs --blind N; single verdicts "
            "are had in Python, as the tutorial on testing your own sampler shows"
        )
    what = "--all" if everything else "FILE.py:NAME" if own else "MODEL"
    _check_used([option for option, is_given in given.items() if is_given], what + " --blind" * bool(blind))
    if everything:
        if name:
            raise typer.BadParameter("--all takes no model")
        if blind:
            raise typer.Exit(validate_all_blindly(blind, seed, jobs, out, as_json))
        raise typer.Exit(validate_everything(str(budget), minutes, jobs, out, as_json, dask))
    if not name:
        raise typer.BadParameter("expected the name of a model, or --all")
    if Rung.REFERENCE in rung and budget is Budget.CI:
        raise ValueError("--rung reference: expected --budget full or long, as it takes minutes")
    topics, settings = with_layers(topics, settings)
    if blind:
        options = "" if own else options_of(name, settings, topics)
        (code, found) = validate_blindly(name, topics or "", options, blind, seed, jobs, out, as_json)
        if as_json:
            print_json(found)
        raise typer.Exit(code)
    from ..diagnostics.laboratory.archive import Archive
    from ..diagnostics.laboratory.validate import cases_of, judge_case, mutant_cases, survivors, until_killed
    from ..diagnostics.reports.validation import write_validation_report

    rungs = None if Rung.ALL in rung else [str(one) for one in rung]
    form = {"topics": topics or "", "options": options_of(name, settings, topics)}
    cases = cases_of(name, rungs, variant, str(budget), seed, **form)
    wrong = mutant_cases(name, rungs, variant, seed, **form) if mutants else []
    archive = Archive(out)
    with resumable(out), one_bar(starts_anew=True) as move:

        def progress(case: "Case", done: int, total: int) -> None:
            move(done, total, f"{case.subject} · {case.rung}")

        records = [judge_case(case, archive, progress) for case in cases]
        if budget is Budget.CI:
            killed = list(until_killed(wrong, archive, progress))
        else:
            killed = [judge_case(case, archive, progress) for case in wrong]
    page = out / f"{'.'.join(filter(None, (name, topics)))}.html"
    write_validation_report(page, [archive.verdict(record.case) for record in records], killed)
    rejected = [record for record in records if record.status != "passed"]
    alive = survivors(killed)
    if as_json:
        print_json(
            {
                "passed": not rejected and not alive,
                "verdicts": [_plain(record) for record in records],
                "mutants": [_plain(record) for record in killed],
                "survivors": alive,
                "report": page,
            }
        )
    else:
        print_verdicts(records)
        if killed:
            print_kill_matrix(killed)
        for mutant in alive:
            say(f"The mutant {mutant} was not noticed by the rungs that were run.", "red")
        say(f"Report: {page}")
    raise typer.Exit(ExitCode.DISAGREEMENT if rejected or alive else ExitCode.OK)


def _check_used(options: list[str], form: str) -> None:
    """Raise BadParameter for an option that would change nothing in a form of the command."""
    for option in options:
        if option not in USED[form]:
            forms = ", ".join(other for other, used in USED.items() if option in used)
            raise typer.BadParameter(f"{option} is for {forms}, and not for {form}")


def print_verdicts(records: "list[Record]") -> None:
    """Print one row a test."""
    print_table(
        "Tests of the samplers",
        ["sampler", "rung", "verdict", "why", "seconds"],
        [[r.case.subject, r.case.rung, r.status, r.message, r.seconds] for r in records],
    )


def print_kill_matrix(records: "list[Record]") -> None:
    """Print one row a mutant and one column a rung."""
    from ..diagnostics.laboratory.archive import kill_matrix
    from ..diagnostics.reports.validation import RUNGS

    rungs = [rung for rung in RUNGS if any(record.case.rung == rung for record in records)]
    word = {"passed": "not noticed", "rejected": "killed", "broken": "killed"}
    print_table(
        "Mutants",
        ["mutant", "variant", *rungs, "what is wrong"],
        [
            [
                row["mutant"],
                row["variant"],
                *(word.get(row["status"].get(rung), "") for rung in rungs),
                row["about"],
            ]
            for row in kill_matrix(records)
        ],
    )


def _plain(record: "Record") -> dict[str, Any]:
    case = record.case
    return {
        "model": case.model, "topics": case.topics, "options": case.told_options(), "variant": case.variant,
        "mutant": case.mutant, "rung": case.rung,
        "budget": case.budget, "seed": case.seed, "status": record.status, "message": record.message,
        "figures": record.figures, "date": record.date, "version": record.version, "seconds": record.seconds,
    }  # fmt: skip

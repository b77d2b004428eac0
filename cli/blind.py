"""``bnpzoo validate --blind``: mutants that nobody chose."""

import hashlib
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .console import ExitCode, err, one_bar, print_json, print_table, resumable, say

if TYPE_CHECKING:
    from ..diagnostics.laboratory.blind.audit import Audit


def validate_blindly(
    name: str, topics: str, options: str, n: int, seed: int, jobs: int | None, out: Path, as_json: bool
) -> tuple[ExitCode, dict[str, Any]]:
    """Audit a model, or a sampler that is ``FILE:NAME``; return and, unless as JSON, print what was found."""
    from ..diagnostics.laboratory.archive import AUDIT
    from ..diagnostics.laboratory.blind.audit import audit
    from ..diagnostics.laboratory.blind.right_program import RejectedError
    from ..diagnostics.laboratory.blind.targets import OwnSampler, PackageModel
    from ..diagnostics.reports.blind import summary_of, told_of, write_blind_report

    own = ":" in name
    target = OwnSampler(name) if own else PackageModel(name, topics, options)
    try:
        with resumable(out), one_bar("mutants") as move:
            found = audit(target, n, seed, out / "blind", jobs, lambda what, *told: move(*told, what))
    except RejectedError as rejected:
        say(str(rejected), "red", err)
        raise typer.Exit(ExitCode.DISAGREEMENT) from None
    stem = target.stem if isinstance(target, PackageModel) else _stem(name)
    if not own:
        found.save(out / "blind" / f"{stem}{AUDIT}")
    page = out / f"{stem}.blind.html"
    write_blind_report(page, found)
    if not as_json:
        print_table(f"What noticed mutants of {name}", ["test", "mutants"], list(found.killers.items()))
        for outcome in found.of("survived"):
            say(f"Nothing noticed {told_of(outcome)}", "red")
        say(summary_of(found))
        say(f"Report: {page}")
    code = ExitCode.DISAGREEMENT if found.of("survived") else ExitCode.OK
    return code, _plain(found) | {"report": page}


def _stem(target: str) -> str:
    """Begin the name of the report on a sampler, which is no model's, and no other file's of this name."""
    file, _, name = target.rpartition(":")
    folder = hashlib.sha256(str(Path(file).resolve().parent).encode()).hexdigest()[:8]
    return f"{Path(file).stem}.{name}.{folder}"


def validate_all_blindly(n: int, seed: int, jobs: int | None, out: Path, as_json: bool) -> ExitCode:
    """Audit every model and each of its topic sides, one after the other."""
    from ..zoo.models import combinations

    found = [
        validate_blindly(name, topics, "", n, seed, jobs, out, as_json) for name, topics in combinations()
    ]
    if as_json:
        print_json([plain for _, plain in found])
    return max(code for code, _ in found)


def _plain(found: "Audit") -> dict[str, Any]:
    return {
        "target": found.target,
        "seed": found.seed,
        "sites": found.sites,
        "score": found.score,
        "score_of_running": found.score_of_running,
        "interval": found.interval,
        "killers": found.killers,
        "left_out": found.left_out,
        "untried": [mutation._asdict() for mutation in found.untried],
        "mutants": [asdict(outcome) | {"mutation": outcome.mutation._asdict()} for outcome in found.outcomes],
    }

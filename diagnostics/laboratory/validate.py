"""Climb the ladder of evidence with a model of the zoo, and with its mutants."""

import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from joblib import delayed, parallel_config

from ...zoo.contract import Model
from ...zoo.models import MODELS
from ...zoo.wording import not_among
from ..engine import unordered
from .archive import Archive, Books, Record
from .forms import Form, forms
from .ladder import BUDGETS, RUNGS, Case, climb, rungs_of
from .mutants.registry import MUTANTS, mutants_of
from .verdict import Verdict

if TYPE_CHECKING:
    from distributed import Client

type Progress = Callable[[Case, int, int], None]

LONG_REFERENCES = ("hpyp",)
"""Models on whose references NUTS needs the budget ``long``: at ``full`` chains of hpyp have not met."""

STORE = Path("out/validation")
"""Default folder of results."""


def cases_of(
    model_id: str,
    rungs: Sequence[str] | None = None,
    variant: str | None = None,
    budget: str = "ci",
    seed: int = 0,
    *,
    topics: str = "",
    options: str = "",
) -> list[Case]:
    """Cases of a model: its variants, each on the given rungs.

    Parameters
    ----------
    model_id : str
    rungs : sequence of str, optional
        All that the budget has and that apply, unless given; see `applies`.
    variant : str, optional
        All that are exact, unless given.
    budget : str
    seed : int
    topics, options : str
        See `Case`.

    Raises
    ------
    ValueError
        There is no such model, rung, variant or budget, or the model does not take such topics or options.
    """
    _check("model", model_id, MODELS)
    _check("budget", budget, BUDGETS)
    given = Case(model_id, "", "", budget, seed, topics=topics, options=options)
    model = given.model_as_told()
    climbed = [rung for rung in rungs_of(model) if rung in BUDGETS[budget]]
    for rung in rungs or ():
        _check("rung", rung, RUNGS)
        _check(f"rung of {model_id} at budget {budget}", rung, climbed)
    variants = model.kernels
    if variant is not None:
        _check(f"variant of {model_id}", variant, variants)
    return [
        replace(given, variant=name, rung=rung)
        for name in ([variant] if variant else [v for v, kernel in variants.items() if kernel.exact])
        for rung in climbed
        if rung in (rungs or climbed) and applies(model, name, rung)
    ]


def applies(model: Model, variant: str, rung: str) -> bool:
    """Whether a rung has something to say of a variant.

    The references judge the first variant only: they say nothing of one kernel that another rung does not say
    sooner. One whose tokens move given more than the latents, or after it, has no rung ``joint``.
    """
    if rung == "reference":
        return rung in rungs_of(model) and variant == next(iter(model.kernels))
    return rung != "joint" or model.kernels[variant].token_step != "augmented"


def mutant_cases(
    model_id: str,
    rungs: Sequence[str] | None = None,
    variant: str | None = None,
    seed: int = 0,
    *,
    topics: str = "",
    options: str = "",
) -> list[Case]:
    """Cases of the mutants of a model, each as its own variant; at budget ``ci``, where they must die.

    They are those of its documents and those of its topics.
    """
    cases = cases_of(model_id, rungs, variant, "ci", seed, topics=topics, options=options)
    if not cases:
        return []
    model = cases[0].model_as_told()
    default = next(iter(model.kernels))
    return [
        replace(case, mutant=mutant.id)
        for mutant in mutants_of(model)
        for case in cases
        if case.variant == (mutant.variant or default)
    ]


def _check(what: str, found: str, known: Iterable[str]) -> None:
    if found not in known:
        raise ValueError(not_among(what, found, known))


def judge_case(case: Case, archive: Archive, progress: Progress | None = None) -> Record:
    """Record of a case: the archive's, or a new one that is put there."""
    record = archive.find(case)
    if record is None:
        start = _processor_seconds()
        report = None if progress is None else lambda done, total: progress(case, done, total)
        verdict = climb(case, archive.unfinished(case), report)
        if case.mutant:
            verdict = replace(verdict, groups={})  # nobody looks at the draws of so many
        record = archive.put(case, verdict, _processor_seconds() - start)
    return record


def _processor_seconds() -> float:
    """Seconds of one core that this process and those that it has ended have had."""
    return sum(os.times()[:4])


def validate(cases: Sequence[Case], store: Path = STORE, progress: Progress | None = None) -> list[Verdict]:
    """Judge samplers of the zoo.

    Parameters
    ----------
    cases : sequence of Case
        As `cases_of` makes them.
    store : Path
        Folder of results. A case that has been judged before, by the same code and settings, is read.
    progress : (case, done, total) -> None, optional
        Called as each rung goes on.

    Returns
    -------
    list of Verdict
        One a case.
    """
    archive = Archive(store)
    for case in cases:
        judge_case(case, archive, progress)
    return [archive.verdict(case) for case in cases]


def until_killed(
    cases: Iterable[Case], archive: Archive, progress: Progress | None = None
) -> Iterator[Record]:
    """Judge mutants, each of them until a rung rejects it."""
    for _, of_mutant in groupby(cases, key=lambda case: (case.name_of_model, case.mutant)):
        for case in of_mutant:
            record = judge_case(case, archive, progress)
            yield record
            if record.status != "passed":
                break


def _of_reference(model: str) -> str:
    return "long" if model in LONG_REFERENCES else "full"


def round_of(budget: str) -> list[Case]:
    """All cases of a full round, from cheap to dear: right samplers, all mutants, and the references."""
    right = [
        case
        for model, topics, options in forms()
        for case in cases_of(model, budget=budget, topics=topics, options=options)
    ]
    wrong = [case for form in forms() for case in _own_mutants(form)]
    dear = [
        case
        for model, topics, options in forms()
        for case in cases_of(model, budget=_of_reference(model), topics=topics, options=options)
        if case.rung == "reference"
    ]
    order = {rung: position for position, rung in enumerate(RUNGS)}
    cheap = [case for case in right if case.rung != "reference"]
    return [
        *sorted(cheap, key=lambda case: order[case.rung]),
        *sorted(wrong, key=lambda case: order[case.rung]),
        *dear,
    ]


def _own_mutants(form: Form) -> list[Case]:
    """Cases of the mutants of a form; with options, only of those that the model does not have without."""
    cases = mutant_cases(form.model, topics=form.topics, options=form.options)
    plain = mutants_of(Case(form.model, "", "", topics=form.topics).model_as_told()) if form.options else []
    known = {mutant.id for mutant in plain}
    return [case for case in cases if case.mutant not in known]


def known_of(cases: Iterable[Case], store: Path) -> dict[Case, Record]:
    """Find current records of cases, in the folder `store` or else in the package's books."""
    archive = Archive(store)
    kept = {record.case: record for record in Books().records()}
    known = {}
    for case in cases:
        record = archive.find(case) or kept.get(case)
        if record is not None and record.is_current:
            known[case] = record
    return known


def still_open(cases: Iterable[Case], records: Iterable[Record]) -> list[Case]:
    """Find the cases without a record, but not those of mutants that a record has rejected."""
    records = list(records)
    judged = {record.case for record in records}
    dead = {_mutant_of(record.case) for record in records if _is_killed(record)}
    return [case for case in cases if case not in judged and _mutant_of(case) not in dead]


def _mutant_of(case: Case) -> tuple[str, str]:
    return case.name_of_model, case.mutant


def _is_killed(record: Record) -> bool:
    return bool(record.case.mutant) and record.status != "passed"


def judge_all(
    cases: Sequence[Case],
    store: Path,
    n_jobs: int | None,
    done: Callable[[Record], None],
    minutes: float | None = None,
    cluster: "str | Client | None" = None,
) -> None:
    """Judge cases in parallel processes; `done` is called with each record as it comes.

    A mutant that has been rejected meets no further rung.

    Parameters
    ----------
    cases : sequence of Case
    store : Path
        Folder of results.
    n_jobs : int, optional
        Processes; one a core unless given.
    done : (record) -> None
    minutes : float, optional
        After which no further case is begun.
    cluster : str or distributed.Client, optional
        Of Dask, as for `sample`: judges in place of processes. `store` need not be there.

    Raises
    ------
    ValueError
        `store` holds a file that is no record.
    """
    archive = Archive(store)
    end = time.monotonic() + 60.0 * (math.inf if minutes is None else minutes)
    dead: set[tuple[str, str]] = set()

    def begun() -> Iterator[Case]:
        for case in cases:
            if time.monotonic() >= end:
                return
            if _mutant_of(case) not in dead:
                yield case

    tasks = (delayed(_judged)(case, archive if cluster is None else None) for case in begun())
    for record, files in unordered(tasks, n_jobs or -1, cluster, "n_jobs"):
        archive.take_in(files)
        if _is_killed(record):
            dead.add(_mutant_of(record.case))
        done(record)


def _judged(case: Case, archive: Archive | None) -> tuple[Record, dict[str, bytes]]:
    """Record of a case; where the archive is out of reach, also the files that belong there."""
    if archive is not None:
        return judge_case(case, archive), {}
    with TemporaryDirectory() as folder, parallel_config("sequential"):
        record = judge_case(case, Archive(Path(folder)))
        return record, {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.is_file()}


def survivors(records: Iterable[Record]) -> list[str]:
    """Mutants that no rung has rejected."""
    killed: dict[str, bool] = {}
    for record in records:
        name = record.case.mutant
        killed[name] = killed.get(name, False) or record.status != "passed"
    order = [mutant.id for mutant in MUTANTS]
    return sorted((name for name in killed if not killed[name]), key=order.index)

"""A blind audit: mutants drawn at random, put before tests and rungs from cheap to dear, until one notices.

What a mutant is put before are trials, each in a process of its own with a copy of the program in which the
change stands. The kernels run as plain Python, which starts at once and minds bounds. First the right program
goes through all trials: so it is known that they pass, what they cost and in which order to take them.
"""

import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import beta

from ....zoo.files import replace_on_success
from ....zoo.inference import interrupted_by_any
from .changes import Mutation, Site
from .running import STOPPED, Runner
from .targets import Target
from .trial import BROKEN, IMPORTED, PASSED, REJECTED, Trial

NO_TESTS = 5
"""Exit code of pytest."""

ASSERTION = re.compile(r"^FAILED .* - (AssertionError|assert)")
"""How pytest tells of a test that failed, and did not crash."""

FOLDERS = re.compile(r"(?<![\w.])/(?:[^\s/'\",:\[\]]+/)+")
"""Folders of absolute paths, which say where an audit was made; what it leaves behind is read elsewhere."""

DEAREST, LONGEST = 240.0, 900.0
"""Files of tests, and rungs, that take more seconds of one core with the right program are left out."""


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant.

    Attributes
    ----------
    mutation : Mutation
    status : {"killed", "crashed", "survived", "equivalent", "untried"}
        ``crashed``: it does not run, or not to its end. ``untried``: no trial looked at it.
    killer : str
        Name of the rung or of the tests that noticed.
    how : str
        The last line that it printed, or that it was stopped; the reason, for an equivalent.
    passed : list of str
        Trials that did not notice.
    seconds : float
        Of one core.
    """

    mutation: Mutation
    status: str
    killer: str
    how: str
    passed: list[str]
    seconds: float


class RejectedError(ValueError):
    """A verdict on the right program is not that it passed."""


type Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Audit:
    """Result of a blind audit.

    Attributes
    ----------
    target : str
    law : str
        Hash of the program; see `Target.law`.
    seed : int
    sites : int
        Places that could be changed.
    date : str
        ISO 8601.
    outcomes : list of Outcome
        Of the mutants that some trial looked at, or that are equivalent.
    left_out : list of str
        Names of the trials that took too long with the right program, or cannot run.
    untried : list of Mutation
        Those that only such trials could have looked at, of which nothing is known.
    """

    target: str
    law: str
    seed: int
    sites: int
    date: str
    outcomes: list[Outcome]
    left_out: list[str] = field(default_factory=list)
    untried: list[Mutation] = field(default_factory=list)

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        with replace_on_success(path) as temporary:
            temporary.write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> "Audit":
        """Read what `save` wrote; ValueError where a file is something else."""
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            outcomes = [_read_outcome(one) for one in found["outcomes"]]
            untried = [Mutation(*one) for one in found.get("untried", [])]
            return cls(**found | {"outcomes": outcomes, "untried": untried})
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path}: expected a blind audit: {error}") from None

    def of(self, status: str) -> list[Outcome]:
        """Outcomes of one status."""
        return [outcome for outcome in self.outcomes if outcome.status == status]

    @property
    def score(self) -> float:
        """Share of mutants that were noticed, of those that are not equivalent; nan if there is none."""
        return self._share(len(self.of("killed")) + len(self.of("crashed")))

    @property
    def score_of_running(self) -> float:
        """The same of those that run."""
        return self._share(len(self.of("killed")))

    def _share(self, noticed: int) -> float:
        n = noticed + len(self.of("survived"))
        return noticed / n if n else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """Exact 95 % interval of `score_of_running` over all that could be drawn (Clopper and Pearson)."""
        killed, alive = len(self.of("killed")), len(self.of("survived"))
        low = beta.ppf(0.025, killed, alive + 1) if killed else 0.0
        high = beta.ppf(0.975, killed + 1, alive) if alive else 1.0
        return float(low), float(high)

    @property
    def killers(self) -> dict[str, int]:
        """How many each trial killed."""
        names = [outcome.killer for outcome in (*self.of("killed"), *self.of("crashed"))]
        return {name: names.count(name) for name in sorted(set(names), key=names.count, reverse=True)}


def draw(sites: Sequence[Site], n: int, seed: int) -> list[Mutation]:
    """Draw mutations: a file after the other, in random order, then one of its sites and one of its changes.

    The first of many are those of a few.
    """
    rng = np.random.default_rng(seed)
    strata: dict[str, list[Site]] = {}
    for site in sites:
        strata.setdefault(site[0].file, []).append(site)
    drawn: list[Mutation] = []
    while len(drawn) < n and any(strata.values()):
        for file in rng.permutation(sorted(strata)):
            if strata[file] and len(drawn) < n:
                site = strata[file].pop(int(rng.integers(len(strata[file]))))
                drawn.append(site[int(rng.integers(len(site)))])
    return drawn


def audit(
    target: Target,
    n: int,
    seed: int = 0,
    store: Path | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Draw mutants of a program, and put each before trials until one notices.

    Parameters
    ----------
    target : Target
    n : int
        Mutants; fewer where there are not so many sites.
    seed : int
    store : Path, optional
        Folder that keeps each outcome, so that an audit that is stopped goes on where it was.
    jobs : int, optional
        Trials at once; as many as there are cores unless given.
    progress : (what, done, total) -> None, optional
        Called after each trial of the right program, and then after each mutant.

    Raises
    ------
    RejectedError
        A verdict on the right program is not that it passed.
    ValueError
        There is nothing to change, the right program does not run, or no verdict on it comes in time.
    """
    drawn = draw(target.sites, n, seed)
    if not drawn:
        raise ValueError(f"{target.name}: there is nothing that could be changed")
    shelf, runner = _Shelf(store, target.digest), Runner()
    report: Progress = progress or (lambda what, done, total: None)
    with interrupted_by_any(), ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        try:
            trials, left_out = _costed(target, drawn, _Shelf(store, target.whole), runner, pool, report)
            if not trials:
                raise ValueError(
                    f"{target.name}: expected verdicts on the right program within {LONGEST:.0f} s of one "
                    f"core, found none; left out: {', '.join(left_out) or 'nothing'}"
                )
            waiting = [pool.submit(_outcome, target, trials, mutation, shelf, runner) for mutation in drawn]
            for done, future in enumerate(as_completed(waiting), start=1):
                outcome = future.result()
                place = f"{outcome.mutation.file}:{outcome.mutation.line}"
                report(f"{outcome.status}: {place}", done, len(drawn))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            runner.stop()
            raise
    found = [future.result() for future in waiting]
    outcomes = [outcome for outcome in found if outcome.status != "untried"]
    untried = [outcome.mutation for outcome in found if outcome.status == "untried"]
    today = date.today().isoformat()
    return Audit(target.name, target.law, seed, len(target.sites), today, outcomes, left_out, untried)


def _read_outcome(known: dict[str, Any]) -> Outcome:
    values: dict[str, Any] = known | {"mutation": Mutation(*known["mutation"])}
    return Outcome(**values)


class _Shelf:
    """Keeps what is known, by name, as JSON; nothing without a folder, or without a digest."""

    def __init__(self, folder: Path | None, digest: str | None):
        self.folder, self.digest = (None if digest is None else folder), digest

    def _path(self, name: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{hashlib.sha256(f'{self.digest} {name}'.encode()).hexdigest()[:16]}.json"

    def find(self, name: str) -> Any:
        if self.folder is None or not self._path(name).exists():
            return None
        return json.loads(self._path(name).read_text(encoding="utf-8"))

    def put(self, name: str, known: Any) -> None:
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            with replace_on_success(self._path(name)) as temporary:
                temporary.write_text(json.dumps(known), encoding="utf-8")


def _costed(
    target: Target,
    drawn: Sequence[Mutation],
    shelf: _Shelf,
    runner: Runner,
    pool: ThreadPoolExecutor,
    report: Progress,
) -> tuple[list[Trial], list[str]]:
    """Put the right program before all trials that some mutation needs; return them from cheap to dear.

    Tests that the right program fails are left out, as they mind whether kernels are compiled. So are trials
    that take too long, or that cannot run: their names are returned beside the others.
    """

    def tried(trial: Trial) -> Trial | None:
        key = f"right {trial.key}"
        known = shelf.find(key)
        if known is None:
            limit = DEAREST if trial.is_pytest else LONGEST
            known = runner.run(target, replace(trial, arguments=_without_x(trial)), None, limit)
        code, said, seconds = known
        failing = failed_tests(said)
        if code not in (PASSED, STOPPED) and not trial.is_pytest:
            error = RejectedError if code in (REJECTED, BROKEN) else ValueError
            why = "".join(said[-1:])
            raise error(f"{target.name}: the right program does not pass {trial.name}: {why}")
        if code in (PASSED, STOPPED, NO_TESTS) or failing:  # not a failed start, which can be mended
            shelf.put(key, known)
        if code == NO_TESTS:
            return None
        if code != PASSED and not failing:
            return replace(trial, seconds=math.inf)
        deselected = tuple(word for test in failing for word in ("--deselect", test))
        imported = "".join(line for line in said if line.startswith(IMPORTED))
        return replace(
            trial,
            seconds=seconds,
            arguments=trial.arguments + deselected,
            tests=trial.tests + imported,
        )

    needed = [trial for trial in target.trials() if any(trial.sees(mutation) for mutation in drawn)]
    found: list[Trial] = []
    for done, (trial, costed) in enumerate(zip(needed, pool.map(tried, needed), strict=True), start=1):
        report(f"the right program: {trial.name}", done, len(needed))
        if costed is not None:
            found.append(costed)
    left_out = [trial.name for trial in found if math.isinf(trial.seconds)]
    kept = [trial for trial in found if math.isfinite(trial.seconds)]
    return sorted(kept, key=lambda trial: trial.seconds), left_out


def failed_tests(said: Sequence[str]) -> list[str]:
    """Names of the tests that pytest says have failed; there may be spaces in them."""
    return [name for line in said for name in re.findall(r"^FAILED (.+?)(?: - |$)", line)]


def _without_x(trial: Trial) -> tuple[str, ...]:
    return tuple(word for word in trial.arguments if word != "-x")


def _outcome(
    target: Target, trials: Sequence[Trial], mutation: Mutation, shelf: _Shelf, runner: Runner
) -> Outcome:
    reason = target.equivalent.get(mutation.key)
    if reason is not None:
        return Outcome(mutation, "equivalent", "", reason, [], 0.0)
    status, killer, how, passed, seconds = "untried", "", "", [], 0.0
    for trial in trials:
        if not trial.sees(mutation):
            continue
        key = f"{mutation!r} {trial.key}"
        ended = shelf.find(key) or runner.run(target, trial, mutation, trial.limit)
        shelf.put(key, ended)
        code, said, spent = ended
        seconds += spent
        if code not in (PASSED, NO_TESTS):
            how = next((line for line in said if line.startswith(("FAILED", "ERROR"))), (said or [""])[-1])
            is_judged = bool(ASSERTION.search(how)) if trial.is_pytest else code in (REJECTED, STOPPED)
            rung, is_verdict, _ = how.partition(" · ")
            status, killer = ("killed" if is_judged else "crashed"), (rung if is_verdict else trial.name)
            break
        if code == PASSED:
            status = "survived"
            passed.append(trial.name)
    return Outcome(mutation, status, killer, without_folders(how), passed, round(seconds, 1))


def without_folders(line: str) -> str:
    """Return a line with the last name of each absolute path that is in it."""
    return FOLDERS.sub("", line)

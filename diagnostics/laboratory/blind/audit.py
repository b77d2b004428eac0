"""A blind audit: mutants drawn at random, put before tests and rungs from cheap to dear, until one notices.

What a mutant is put before are trials, each in a process of its own with a copy of the program in which the
change stands. The kernels run as plain Python, which starts at once and minds bounds. Where a mutant does not
pass, the right program goes through the trial too, unless it has: so it is known that it passes, but for
tests that are left out then, and how long a mutant may take. What trials took before says in which order to
take them; those in reserve come last.
"""

import json
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
from .right_program import DEAREST, LONGEST, RightProgram
from .running import STOPPED, Ended, Runner
from .shelf import Shelf
from .targets import Target
from .trial import NO_TESTS, PASSED, REJECTED, SLACK, Trial

ASSERTION = re.compile(r"^FAILED .* - (AssertionError|assert)")
"""How pytest tells of a test that failed, and did not crash."""

UNKNOWN = 30.0
"""Seconds that a trial is taken to need where no earlier audit came to it."""

FOLDERS = re.compile(r"(?<![\w.])/(?:[^\s/'\",:\[\]]+/)+")
"""Folders of absolute paths, which say where an audit was made; what it leaves behind is read elsewhere."""


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
    costs : dict of str to float
        Seconds of one core of each trial, with the right program or a mutant that passed, by name.
    """

    target: str
    law: str
    seed: int
    sites: int
    date: str
    outcomes: list[Outcome]
    left_out: list[str] = field(default_factory=list)
    untried: list[Mutation] = field(default_factory=list)
    costs: dict[str, float] = field(default_factory=dict)

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
        """Exact 95 % interval of `score_of_running` over all that could be drawn (Clopper and Pearson).

        As `draw` does it, that is: all files count alike, however many places they have.
        """
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
        Called before each trial of the right program, and after each mutant, with the number of mutants.

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
    runner = Runner()
    report: Progress = progress or (lambda what, done, total: None)
    done = 0
    right = RightProgram(
        target,
        Shelf(store, target.whole),
        runner,
        lambda name: report(f"the right program: {name}", done, len(drawn)),
    )
    tries = _Tries(target, Shelf(store, target.digest), runner, right)
    with interrupted_by_any(), ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        try:
            waiting = [pool.submit(tries.outcome_of, mutation) for mutation in drawn]
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
    today, left_out = date.today().isoformat(), sorted(right.left_out)
    if not outcomes:
        raise ValueError(
            f"{target.name}: expected verdicts on the right program within {LONGEST:.0f} s of one "
            f"core, found none; left out: {', '.join(left_out) or 'nothing'}"
        )
    return Audit(
        target.name, target.law, seed, len(target.sites), today, outcomes, left_out, untried, right.costs
    )


class _Tries:
    """Puts mutants before trials, and asks the right program where one does not pass."""

    def __init__(self, target: Target, shelf: Shelf, runner: Runner, right: RightProgram):
        self._target, self._shelf, self._runner, self._right = target, shelf, runner, right
        self._trials, self._costs = target.trials(), target.costs()

    def outcome_of(self, mutation: Mutation) -> Outcome:
        reason = self._target.equivalent.get(mutation.key)
        if reason is not None:
            return Outcome(mutation, "equivalent", "", reason, [], 0.0)
        status, killer, how, passed, total = "untried", "", "", [], 0.0
        for trial in self._seeing(mutation):
            ended = self._ended(mutation, trial)
            if ended is None:
                continue
            code, said, seconds = ended
            total += seconds
            if code not in (PASSED, NO_TESTS):
                told = (line for line in said if line.startswith(("FAILED", "ERROR")))
                how = next(told, (said or [""])[-1])
                is_judged = bool(ASSERTION.search(how)) if trial.is_pytest else code in (REJECTED, STOPPED)
                rung, is_verdict, _ = how.partition(" · ")
                status, killer = ("killed" if is_judged else "crashed"), (rung if is_verdict else trial.name)
                break
            if code == PASSED:
                status = "survived"
                passed.append(trial.name)
        return Outcome(mutation, status, killer, without_folders(how), passed, round(total, 1))

    def _seeing(self, mutation: Mutation) -> list[Trial]:
        """Trials of a mutant from cheap to dear, as far as is known; those in reserve come last."""
        costs = self._costs | self._right.costs
        seeing = (trial for trial in self._trials if trial.sees(mutation))
        return sorted(seeing, key=lambda trial: (trial.in_reserve, costs.get(trial.name, UNKNOWN)))

    def _ended(self, mutation: Mutation, trial: Trial) -> Ended | None:
        """How a trial of a mutant ends; None if it says nothing, as the right program ends so too."""
        is_known = self._target.whole is None or self._right.has_tried(trial)
        asked = self._right.costed(trial) if is_known else self._as_expected(trial)
        if asked is None:
            return None
        key = f"{mutation!r} {asked.key}"
        known = self._shelf.find(key)
        if known is not None:
            return Ended(*known)
        ended = self._runner.run(self._target, asked, mutation, asked.limit)
        if ended.code == PASSED:
            self._right.costs.setdefault(trial.name, round(ended.seconds, 1))
        elif not is_known:
            right = self._right.costed(trial)
            was_cut_short = right is not None and ended.code == STOPPED and right.limit > asked.limit
            if right is None or right.arguments != asked.arguments or was_cut_short:
                return self._ended(mutation, trial)
        self._shelf.put(key, ended)
        return ended

    def _as_expected(self, trial: Trial) -> Trial:
        """Return a trial with what it cost in earlier audits, or the most that it may."""
        most = (DEAREST if trial.is_pytest else LONGEST) / SLACK
        return replace(trial, seconds=self._costs.get(trial.name, most))


def _read_outcome(known: dict[str, Any]) -> Outcome:
    values: dict[str, Any] = known | {"mutation": Mutation(*known["mutation"])}
    return Outcome(**values)


def without_folders(line: str) -> str:
    """Return a line with the last name of each absolute path that is in it."""
    return FOLDERS.sub("", line)

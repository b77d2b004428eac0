"""A blind audit: mutants drawn at random, put before tests and rungs from cheap to dear, until one notices.

What a mutant is put before are trials, each in a process of its own with a copy of the program in which the
change stands. The kernels run as plain Python, which starts at once and minds bounds. First the right program
goes through all trials: so it is known that they pass, what they cost and in which order to take them.
"""

import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import beta

from ....zoo.files import replace_on_success
from ....zoo.models import MODELS
from .. import closure
from ..ladder import Case
from ..validate import cases_of
from .changes import Mutation, Site, python_sites, stan_sites
from .trial import PASSED, REJECTED

NO_TESTS, STOPPED = 5, -1

EQUIVALENT = Path(__file__).with_name("equivalent.toml")
"""Mutants of the package that are argued to change no law, with a line of reason each."""

RUNGS = ("joint", "oracle", "sequential", "geweke")
"""What mutants of a model climb, at budget ``ci``; calibration and references are too dear."""

LAW = ("kernels/", "zoo/models/", "zoo/families/", "zoo/toolbox/", "zoo/priors.py", "stan/")
NO_LAW = ("kernels/toolbox/jit.py", "zoo/models/__init__.py")
"""Where the law of a model is written, and where not; checks and sizes of memory say nothing of it either."""

ASIDE = ("check", "_check", "memory_of")

OUTSIDE = ("tests/golden", "tests/fuzz", "tests/cli", "tests/test_", "tests/models", "tests/diagnostics")
"""Tests that say nothing of the law of a model, or not of this one; golden draws notice any change at all."""

OF_REFERENCES = re.compile("stan|bridge|references")
"""Names of the files with tests of all references."""

DEAREST = 150.0
"""Tests that take more seconds with the right program are left out."""

SLACK, LEAST_LIMIT = 6.0, 30.0
"""A trial may take so many times what it takes with the right program, and at least so many seconds."""


@dataclass(frozen=True)
class Trial:
    """One test of a program.

    Attributes
    ----------
    name : str
    arguments : tuple of str
        Of Python.
    sees : (mutation) -> bool
        Whether the outcome can depend on a change.
    seconds : float
        That it takes with the right program.
    """

    name: str
    arguments: tuple[str, ...]
    sees: Callable[[Mutation], bool] = lambda mutation: True
    seconds: float = 0.0

    @property
    def is_pytest(self) -> bool:
        """Whether it is a file of tests."""
        return self.arguments[1] == "pytest"

    @property
    def limit(self) -> float:
        """Seconds after which it is stopped."""
        return max(LEAST_LIMIT, SLACK * self.seconds)


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant.

    Attributes
    ----------
    mutation : Mutation
    status : {"killed", "crashed", "survived", "equivalent"}
        ``crashed``: it does not run, or not to its end.
    killer : str
        Name of the trial that noticed.
    how : str
        The last line that it printed, or that it was stopped; the reason, for an equivalent.
    passed : list of str
        Trials that did not notice.
    seconds : float
    """

    mutation: Mutation
    status: str
    killer: str
    how: str
    passed: list[str]
    seconds: float


type Progress = Callable[[Outcome, int, int], None]


@dataclass(frozen=True)
class Audit:
    """Result of a blind audit.

    Attributes
    ----------
    target : str
    seed : int
    sites : int
        Places that could be changed.
    outcomes : list of Outcome
    """

    target: str
    seed: int
    sites: int
    outcomes: list[Outcome]

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


class Target(ABC):
    """A program that is audited.

    Attributes
    ----------
    name : str
    equivalent : mapping of str to str
        Reasons by `Mutation.key`.
    """

    name: str
    equivalent: dict[str, str] = {}  # noqa: RUF012 (never changed)

    @cached_property
    @abstractmethod
    def sites(self) -> list[Site]:
        """All places that can be changed."""

    @abstractmethod
    def copy(self, folder: Path) -> Path:
        """Write a copy of the program into a folder; return where mutations' paths start."""

    @abstractmethod
    def trials(self) -> list[Trial]:
        """Return what mutants are put before."""

    def environment(self, folder: Path) -> dict[str, str]:
        """Return variables of the environment of a trial in a copy."""
        quiet = {"OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
        return os.environ | quiet | {"NUMBA_DISABLE_JIT": "1", "NUMBA_CACHE_DIR": str(folder / ".cache")}

    @property
    def digest(self) -> str:
        """Hash of what outcomes depend on, beside the mutation."""
        told = repr([site[0] for site in self.sites]) + repr([trial.arguments for trial in self.trials()])
        return hashlib.sha256(told.encode()).hexdigest()[:16]


class OwnSampler(Target):
    """Somebody's own sampler, in one Python file: what is named, and all in the file that it names in turn.

    Parameters
    ----------
    target : str
        ``FILE:NAME``; see `trial`.

    Raises
    ------
    ValueError
        There is no such file.
    """

    def __init__(self, target: str):
        self.name = target
        self.file = Path(target.rpartition(":")[0]).resolve()
        self.attribute = target.rpartition(":")[2]
        if self.file.suffix != ".py" or not self.file.is_file():
            raise ValueError(f"{self.file}: expected a Python file")

    @cached_property
    def sites(self) -> list[Site]:
        """All places of the sampler; what only judges it is left as it is."""
        source = self.file.read_bytes()
        used = _used_by(self.attribute, ast.parse(source))
        return python_sites(self.file.name, source, lambda name: name.partition(".")[0] in used)

    def copy(self, folder: Path) -> Path:
        """Copy the Python files beside it, too, which it may import."""
        for path in self.file.parent.glob("*.py"):
            shutil.copy(path, folder)
        return folder

    def trials(self) -> list[Trial]:
        """One trial: whatever the target has to say."""
        module = f"{__package__}.trial"
        return [Trial("verdicts", ("-m", module, f"{self.file.name}:{self.attribute}"))]


def _used_by(name: str, module: ast.Module) -> set[str]:
    """Names of the definitions of a module that one of them needs, itself among them."""
    definitions: dict[str, ast.stmt] = {}
    for statement in module.body:
        match statement:
            case ast.FunctionDef(name=own) | ast.ClassDef(name=own):
                definitions[own] = statement
            case ast.Assign(targets=[ast.Name(id=own)]):
                definitions[own] = statement
    used, waiting = set(), {name} & definitions.keys()
    while waiting:
        used |= waiting
        nodes = [node for own in waiting for node in ast.walk(definitions[own])]
        waiting = {node.id for node in nodes if isinstance(node, ast.Name)} & definitions.keys() - used
    return used


class PackageModel(Target):
    """A model of the package: kernel, adapter, generator, density, references and Stan program.

    Parameters
    ----------
    model_id : str
    topics, options : str
        See `Case`.
    """

    def __init__(self, model_id: str, topics: str = "", options: str = ""):
        self.cases = [
            case for case in cases_of(model_id, topics=topics, options=options) if case.rung in RUNGS
        ]
        self.full = cases_of(model_id, budget="full", topics=topics, options=options)
        self.name = self.cases[0].name_of_model
        self.equivalent = {
            f"{where}: {change}": reason
            for where, changes in tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).items()
            for change, reason in changes.items()
        }

    @cached_property
    def definitions(self) -> frozenset[closure.Name]:
        """All that any verdict on the model depends on."""
        return frozenset().union(*(case.definitions for case in self.full))

    @cached_property
    def sites(self) -> list[Site]:
        """All places where its law is written."""
        names: dict[str, set[str]] = {}
        for name in self.definitions:
            names.setdefault(closure.path_of(name.module), set()).add(name.name)
        found: list[Site] = []
        for file in sorted(names):
            if file.startswith(LAW) and file not in NO_LAW:
                wanted = {name for name in names[file] if not name.rpartition(".")[2].startswith(ASIDE)}
                found += python_sites(file, (closure.PACKAGE / file).read_bytes(), wanted.__contains__)
        for file in self.stan_files():
            found += stan_sites(file, (closure.PACKAGE / file).read_bytes())
        return found

    def stan_files(self) -> list[str]:
        """Return the Stan program and what it includes."""
        reference = self.cases[0].model_as_told().reference
        if reference is None:
            return []
        waiting, found = [f"{reference.stan_program}.stan"], []
        folders = ("", *(f"{folder}/" for folder in reference.stan_includes))
        while waiting:
            path = waiting.pop()
            file = next(f"stan/{f}{path}" for f in folders if (closure.PACKAGE / f"stan/{f}{path}").is_file())
            if file not in found:
                found.append(file)
                text = (closure.PACKAGE / file).read_text(encoding="utf-8")
                waiting += re.findall(r"^ *#include (\S+)", text, flags=re.MULTILINE)
        return sorted(found)

    def copy(self, folder: Path) -> Path:
        """Copy the package, and its tests where they are."""
        package = folder / "bnpzoo"
        for path in closure.PACKAGE.iterdir():
            if path.name in ("kernels", "zoo", "diagnostics", "stan", "cli", "tests"):
                shutil.copytree(path, package / path.name)
            elif path.is_file() and path.suffix in (".py", ".toml", ".typed", ""):
                package.mkdir(exist_ok=True)
                shutil.copy2(path, package)
        return package

    def environment(self, folder: Path) -> dict[str, str]:
        """Put the copy in the place of the package."""
        return super().environment(folder) | {"PYTHONPATH": str(folder)}

    def trials(self) -> list[Trial]:
        """Rungs of all variants, and tests: those that name the module, and those of the model."""
        module = f"{__package__}.trial"
        rungs = [
            Trial(
                f"{case.rung} ({case.variant})",
                ("-m", module, json.dumps(asdict(case))),
                lambda mutation, case=case: _is_of(mutation, case),
            )
            for case in self.cases
        ]
        return rungs + self._tests()

    def _tests(self) -> list[Trial]:
        """Return tests of the model, of its references, and those that name the module that is changed."""
        folder = closure.PACKAGE / "tests"
        own = self.cases[0].model
        others = [f"not {name}" for name in MODELS if own in name and name != own]
        chosen = " and ".join([own, *others])
        found = []
        for path in sorted(folder.rglob("test_*.py")):
            file = path.relative_to(closure.PACKAGE).as_posix()
            if file == f"tests/models/test_{own}.py":
                found.append(_pytest(file, "", _is_python))
            elif file == "tests/models/test_models.py":
                found.append(_pytest(file, chosen, _is_python))
            elif OF_REFERENCES.search(path.name):
                found.append(_pytest(file, f"{chosen} and not pystan", _is_of_references))
            elif not file.startswith(OUTSIDE):
                named = _imported(path.read_text(encoding="utf-8"))
                found.append(_pytest(file, "", lambda m, named=named: _module(m) in named))
        return found


def _pytest(file: str, chosen: str, sees: Callable[[Mutation], bool]) -> Trial:
    options = ("-x", "-q", "-p", "no:cacheprovider", "-W", "ignore", "--tb", "no")
    return Trial(file, ("-m", "pytest", *options, file, *(("-k", chosen) if chosen else ())), sees)


def _module(mutation: Mutation) -> str:
    return mutation.file.removesuffix(".py").replace("/", ".")


def _imported(text: str) -> set[str]:
    """Modules of the package that a test imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bnpzoo."):
            base = (node.module or "").removeprefix("bnpzoo.")
            found |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return found


def _is_of(mutation: Mutation, case: Case) -> bool:
    owner = mutation.definition.rpartition(".")[0]
    names = {closure.Name(_module(mutation), name) for name in (mutation.definition, owner)}
    return bool(names & case.definitions)


def _is_python(mutation: Mutation) -> bool:
    return mutation.file.endswith(".py")


def _is_of_references(mutation: Mutation) -> bool:
    return not mutation.file.startswith("kernels/")


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
    progress : (outcome, done, total) -> None, optional

    Raises
    ------
    ValueError
        There is nothing to change, or the right program does not pass.
    """
    drawn = draw(target.sites, n, seed)
    if not drawn:
        raise ValueError(f"{target.name}: there is nothing that could be changed")
    shelf = _Shelf(store, target.digest)
    with ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        trials = _costed(target, drawn, shelf, pool)
        waiting = [pool.submit(_outcome, target, trials, mutation, shelf) for mutation in drawn]
        try:
            for done, future in enumerate(as_completed(waiting), start=1):
                if progress is not None:
                    progress(future.result(), done, len(drawn))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return Audit(target.name, seed, len(target.sites), [future.result() for future in waiting])


class _Shelf:
    """Keeps what is known, by name, as JSON."""

    def __init__(self, folder: Path | None, digest: str):
        self.folder, self.digest = folder, digest

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
    target: Target, drawn: Sequence[Mutation], shelf: _Shelf, pool: ThreadPoolExecutor
) -> list[Trial]:
    """Put the right program before all trials that some mutation needs; return them from cheap to dear.

    Tests that the right program fails, as they mind whether kernels are compiled, are left out.
    """

    def tried(trial: Trial) -> Trial | None:
        known = shelf.find(f"right {trial.name}")
        if known is None:
            start = time.perf_counter()
            code, said = _run(target, replace(trial, arguments=_without_x(trial)), None, DEAREST)
            known = [time.perf_counter() - start, code, said]
            shelf.put(f"right {trial.name}", known)
        seconds, code, said = known
        failing = [found for line in said for found in re.findall(r"^FAILED (\S+)", line)]
        if code != PASSED and not trial.is_pytest:
            raise ValueError(f"{target.name}: the right program does not pass {trial.name}: {said[-1:]}")
        if code != PASSED and not failing:
            return None
        deselected = tuple(word for test in failing for word in ("--deselect", test))
        return replace(trial, seconds=seconds, arguments=trial.arguments + deselected)

    needed = [trial for trial in target.trials() if any(trial.sees(mutation) for mutation in drawn)]
    found = [trial for trial in pool.map(tried, needed) if trial is not None]
    return sorted(found, key=lambda trial: trial.seconds)


def _without_x(trial: Trial) -> tuple[str, ...]:
    return tuple(word for word in trial.arguments if word != "-x")


def _outcome(target: Target, trials: Sequence[Trial], mutation: Mutation, shelf: _Shelf) -> Outcome:
    reason = target.equivalent.get(mutation.key)
    if reason is not None:
        return Outcome(mutation, "equivalent", "", reason, [], 0.0)
    known = shelf.find(repr(mutation))
    if known is not None:
        return Outcome(**known | {"mutation": Mutation(*known["mutation"])})
    start = time.perf_counter()
    status, killer, how, passed = "survived", "", "", []
    for trial in trials:
        if not trial.sees(mutation):
            continue
        code, said = _run(target, trial, mutation, trial.limit)
        if code not in (PASSED, NO_TESTS):
            how = next((line for line in said if line.startswith(("FAILED", "ERROR"))), (said or [""])[-1])
            is_judged = "ssert" in how if trial.is_pytest else code in (REJECTED, STOPPED)
            status, killer = ("killed" if is_judged else "crashed"), trial.name
            break
        passed.append(trial.name)
    seconds = round(time.perf_counter() - start, 1)
    outcome = Outcome(mutation, status, killer, how, passed, seconds)
    shelf.put(repr(mutation), asdict(outcome))
    return outcome


def _run(target: Target, trial: Trial, mutation: Mutation | None, limit: float) -> tuple[int, list[str]]:
    """Exit code of a trial, and the last lines that it printed."""
    with tempfile.TemporaryDirectory(prefix="bnpzoo-blind-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary)
        root = target.copy(folder)
        environment = target.environment(folder)
        if mutation is not None:
            file = root / mutation.file
            file.write_bytes(mutation.apply(file.read_bytes()))
            shutil.rmtree(file.parent / "__pycache__", ignore_errors=True)
            if file.suffix == ".stan":  # the cache of compiled programs is not for mutants
                environment["XDG_CACHE_HOME"] = str(folder / ".cache")
        try:
            done = subprocess.run(
                [sys.executable, *trial.arguments],
                cwd=root,
                env=environment,
                capture_output=True,
                text=True,
                timeout=limit,
            )
        except subprocess.TimeoutExpired:
            return STOPPED, [f"stopped after {limit:.0f} s"]
    said = [line[:300] for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return done.returncode, said[-20:]

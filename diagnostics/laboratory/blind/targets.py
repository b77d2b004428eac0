"""What a blind audit takes apart: a model of the package, or somebody's own sampler."""

import ast
import hashlib
import json
import os
import re
import shutil
import symtable
import tomllib
from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property
from importlib.util import decode_source
from pathlib import Path
from tokenize import detect_encoding

import numpy as np

from ...._version import __version__
from ....zoo.inference.stan_engines import engines
from ..archive import AUDIT, BOOKS
from ..closure import closure, digest
from ..definitions import PACKAGE, Name, path_of
from ..ladder import DESIGN, JUDGES, NOT_FOLLOWED, Case, climb, stan_tokens
from ..validate import cases_of
from .changes import Site, python_sites
from .needed import imported_by, needed_but_for, needed_by
from .stan_changes import called_functions, stan_sites
from .trial import Trial
from .trials_of_models import cousins_of, rungs_of, tests_of
from .unreached import classes_in, is_of_other_parts, is_of_other_states, is_overridden

EQUIVALENT = Path(__file__).with_name("equivalent.toml")
"""Mutants of the package that are argued to change no law, with a line of reason each."""

LAW = ("kernels/", "zoo/models/", "zoo/families/", "zoo/toolbox/", "zoo/priors.py", "stan/")
NO_LAW = ("kernels/toolbox/jit.py", "kernels/toolbox/compilers.py", "zoo/models/__init__.py")
"""Where the law of a model is written, and where not."""

ASIDE = ("check", "_check", "memory_of", "BYTES", "FEWEST", "LARGEST", "LEAST", "MOST", "POSITIVE", "Range")
"""Beginnings of the names of what says nothing of it: checks of arguments and sizes of memory."""


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
        quiet = {"OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore", "COLUMNS": "300"}
        return os.environ | quiet | {"NUMBA_DISABLE_JIT": "1", "NUMBA_CACHE_DIR": str(folder / ".cache")}

    @property
    @abstractmethod
    def law(self) -> str:
        """Hash of the program, whatever is written beside it."""

    @property
    def digest(self) -> str:
        """Hash of what outcomes depend on beside mutation and trial: the program, and what tests share."""
        told = [repr([site[0] for site in self.sites]), self.law, *self.shared()]
        return hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]

    def shared(self) -> list[str]:
        """Return the source of what several files of tests use."""
        return []

    def costs(self) -> dict[str, float]:
        """Return seconds of one core that trials took in earlier audits, by name, as far as is known."""
        return {}

    @property
    def whole(self) -> str | None:
        """Hash of what outcomes of the right program depend on beside the trial.

        None where nobody knows all of it, so that every audit begins with the right program.
        """
        return None


class OwnSampler(Target):
    """Somebody's own sampler: what is named in a Python file, and all that it names in turn.

    That may lie in the same file, or in others beside it that are imported from there.

    What a stored audit knows of a mutant holds as long as these stay the same: Python files beside the file,
    modules that the right program imports, and this package; but not the installed packages, nor files of
    data.

    Parameters
    ----------
    target : str
        ``FILE:NAME``; see `trial`.

    Raises
    ------
    ValueError
        There is no such file, or no such name in it; it is defined elsewhere; the file is no UTF-8.
    """

    def __init__(self, target: str):
        self.name = target
        self.file = Path(target.rpartition(":")[0]).resolve()
        self.attribute = target.rpartition(":")[2]
        if self.file.suffix != ".py" or not self.file.is_file():
            raise ValueError(f"{self.file}: expected a Python file")
        _check_encoding(self.file)
        named = self._names().get(self.attribute)
        if named is None:
            raise ValueError(f"{self.file}: expected {self.attribute!r} in it, a subject or its class")
        if not named.is_assigned():
            raise ValueError(
                f"{self.file}: {self.attribute} is imported from {self._origin()}; "
                "name the file that defines it"
            )

    def _names(self) -> dict[str, symtable.Symbol]:
        """Names that the file gives to something, or imports."""
        try:
            table = symtable.symtable(decode_source(self.file.read_bytes()), self.file.name, "exec")
        except SyntaxError as error:
            raise ValueError(f"{self.file}:{error.lineno}: {error.msg}") from None
        names = (name for name in table.get_symbols() if name.is_assigned() or name.is_imported())
        return {name.get_name(): name for name in names}

    def _origin(self) -> str:
        """Find the module from which the file imports the sampler."""
        for node in ast.walk(ast.parse(self.file.read_bytes())):
            match node:
                case ast.ImportFrom(module=module, names=names, level=level):
                    origins = {one.asname or one.name: "." * level + (module or "") for one in names}
                case ast.Import(names=names):
                    origins = {one.asname or one.name.partition(".")[0]: one.name for one in names}
                case _:
                    continue
            if self.attribute in origins:
                return origins[self.attribute]
        return "elsewhere"

    @cached_property
    def sites(self) -> list[Site]:
        """All places of the sampler; what only judges it is left as it is.

        So are test quantities where the file has no ``verdicts``: `sequential` and `geweke` compare any
        function of latents and data with itself, and cannot notice that it is another one.
        """
        found: list[Site] = []
        for file, needed in self._needed().items():
            found += python_sites(file.name, file.read_bytes(), needed.__contains__)
        return found

    def _needed(self) -> dict[Path, set[str]]:
        """Names of the definitions that may be changed, methods as ``Class.method`` among them, by file."""
        has_verdicts = "verdicts" in self._names()
        found: dict[Path, set[str]] = {}
        waiting = [(self.file, {self.attribute})]
        while waiting:
            file, names = waiting.pop()
            module = _parsed(file)
            wanted = _wanted(names, module, has_verdicts)
            if wanted <= found.setdefault(file, set()):
                continue
            found[file] |= wanted
            beside = {file.with_name(f"{m}.py"): own for m, own in imported_by(wanted, module).items()}
            waiting += [(path, own) for path, own in beside.items() if path.is_file()]
        return found

    @property
    def law(self) -> str:
        """See `Target.law`; with the Python files beside it."""
        files = sorted(self.file.parent.glob("*.py"))
        return hashlib.sha256(b"\n".join(path.read_bytes() for path in files)).hexdigest()[:16]

    def shared(self) -> list[str]:
        """Return the sources of the laboratory, which judges mutants, and the version of the package."""
        files = sorted((PACKAGE / "diagnostics" / "laboratory").rglob("*.py"))
        return [__version__, *(path.read_text(encoding="utf-8") for path in files)]

    def copy(self, folder: Path) -> Path:
        """Copy the Python files beside it, too, which it may import."""
        for path in self.file.parent.glob("*.py"):
            shutil.copy(path, folder)
        return folder

    def trials(self) -> list[Trial]:
        """One trial: whatever the target has to say."""
        module = f"{__package__}.trial"
        return [Trial("verdicts", ("-m", module, f"{self.file.name}:{self.attribute}"))]


def _check_encoding(file: Path) -> None:
    with file.open("rb") as lines:
        encoding, _ = detect_encoding(lines.readline)
    if encoding != "utf-8":
        raise ValueError(f"{file}: expected UTF-8 without a byte order mark, found {encoding}")


def _parsed(file: Path) -> ast.Module:
    _check_encoding(file)
    try:
        return ast.parse(file.read_bytes())
    except SyntaxError as error:
        raise ValueError(f"{file}:{error.lineno}: {error.msg}") from None


def _wanted(names: set[str], module: ast.Module, has_verdicts: bool) -> set[str]:
    """Return what some names need in their module; test quantities only where own verdicts may notice."""
    needed = needed_by(names, module)
    judged = needed_but_for("" if has_verdicts else "quantities", names, module)
    return {name for name in judged if name.partition(".")[0] in needed}


def reasons_of_equivalents() -> dict[str, str]:
    """Return why mutants of the package are argued to change no law, by `Mutation.key`."""
    return {
        f"{where}: {change}": reason
        for where, changes in tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).items()
        for change, reason in changes.items()
    }


class PackageModel(Target):
    """A model of the package: kernel, adapter, generator, density, references and Stan program.

    Parameters
    ----------
    model_id : str
    topics, options : str
        See `Case`.
    """

    def __init__(self, model_id: str, topics: str = "", options: str = ""):
        self.cases = cases_of(model_id, topics=topics, options=options)
        self.full = cases_of(model_id, budget="full", topics=topics, options=options)
        self.name = self.cases[0].name_of_model
        self.equivalent = reasons_of_equivalents()

    @property
    def stem(self) -> str:
        """Begin the names of files on it."""
        return ".".join(filter(None, (self.cases[0].model, self.cases[0].topics)))

    @cached_property
    def definitions(self) -> frozenset[Name]:
        """All that any verdict on the model depends on, but what never runs for it."""
        found = frozenset().union(*(case.definitions for case in self.full))
        parts = [type(part) for part in self.cases[0].model_as_told().parts()]
        classes = self.classes_of_states()
        never = [name for name in found if is_overridden(name, parts) or is_of_other_parts(name, parts)]
        without = (*NOT_FOLLOWED, *sorted(never))
        reached = found & closure((climb, Case, *JUDGES.values(), *parts), without=without)
        return frozenset(name for name in reached if not is_of_other_states(name, classes))

    def classes_of_states(self) -> set[str]:
        """Names of the classes in the states of all samplers."""
        found: set[str] = set()
        for case in {replace(case, rung="joint") for case in self.cases}:  # whose kernels are plain Python
            model = case.make_model()
            latents, corpus = model.simulate(DESIGN, np.random.default_rng(0))
            found |= set(classes_in(case.kernel.load(latents, corpus, model)))
        return found

    @cached_property
    def sites(self) -> list[Site]:
        """All places where its law is written."""
        names: dict[str, set[str]] = {}
        for name in self.definitions:
            names.setdefault(path_of(name.module), set()).add(name.name)
        found: list[Site] = []
        for file in sorted(names):
            if file.startswith(LAW) and file not in NO_LAW:
                wanted = {name for name in names[file] if not name.rpartition(".")[2].startswith(ASIDE)}
                found += python_sites(file, (PACKAGE / file).read_bytes(), wanted.__contains__)
        sources = {file: (PACKAGE / file).read_bytes() for file in self.stan_files()}
        called = called_functions(source.decode() for source in sources.values())
        for file, source in sources.items():
            found += stan_sites(file, source, called.__contains__)
        return found

    @property
    def law(self) -> str:
        """See `Target.law`."""
        reference = self.cases[0].model_as_told().reference
        stan = "" if reference is None else stan_tokens(reference)
        told = digest(self.definitions) + stan
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    def stan_files(self) -> list[str]:
        """Return the Stan program and what it includes; nothing where there is no Stan to run it."""
        reference = self.cases[0].model_as_told().reference
        if reference is None or not engines():
            return []
        waiting, found = [f"{reference.stan_program}.stan"], []
        folders = ("", *(f"{folder}/" for folder in reference.stan_includes))
        while waiting:
            path = waiting.pop()
            file = next(f"stan/{f}{path}" for f in folders if (PACKAGE / f"stan/{f}{path}").is_file())
            if file not in found:
                found.append(file)
                text = (PACKAGE / file).read_text(encoding="utf-8")
                waiting += re.findall(r"^ *#include (\S+)", text, flags=re.MULTILINE)
        return sorted(found)

    def copy(self, folder: Path) -> Path:
        """Copy the package, and its tests where they are."""
        package = folder / "bnpzoo"
        for path in PACKAGE.iterdir():
            if path.name in ("kernels", "zoo", "diagnostics", "estimators", "stan", "cli", "tests"):
                shutil.copytree(path, package / path.name)
            elif path.is_file() and path.suffix in (".py", ".toml", ".typed", ""):
                package.mkdir(exist_ok=True)
                shutil.copy2(path, package)
        return package

    def environment(self, folder: Path) -> dict[str, str]:
        """Put the copy in the place of the package; tests of all copies share one header of Stan's."""
        header = PACKAGE / ".pytest_cache" / "stan-header"
        return super().environment(folder) | {"PYTHONPATH": str(folder), "STAN_HEADER_IN": str(header)}

    def shared(self) -> list[str]:
        """See `Target.shared`."""
        folder = PACKAGE / "tests"
        files = [folder / "conftest.py", *sorted((folder / "helpers").glob("*.py"))]
        return [path.read_text(encoding="utf-8") for path in files]

    def costs(self) -> dict[str, float]:
        """See `Target.costs`; what the books say of this model goes before what they say of others."""
        known: dict[str, float] = {}
        for path in sorted(BOOKS.glob(f"*{AUDIT}"), key=lambda path: (path.stem == self.stem, path.stem)):
            known |= json.loads(path.read_text(encoding="utf-8")).get("costs", {})
        return known

    @property
    def whole(self) -> str:
        """See `Target.whole`; of all the package, so that models share outcomes of common tests."""
        rooms = [PACKAGE / room for room in ("kernels", "zoo", "diagnostics", "stan")]
        files = sorted(path for room in rooms for path in room.rglob("*") if path.suffix in (".py", ".stan"))
        told = [path.read_text(encoding="utf-8") for path in files]
        return hashlib.sha256("\n".join([*told, *self.shared()]).encode()).hexdigest()[:16]

    def trials(self) -> list[Trial]:
        """Rungs of all variants, and tests: those that name the module, of its folder, and of the model."""
        return [*rungs_of(self.cases), *cousins_of(self.cases[0]), *tests_of(self.cases[0])]

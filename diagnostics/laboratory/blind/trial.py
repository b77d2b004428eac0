"""One trial: a program before some tests, in a process of its own, whose exit code is the answer.

``python -m bnpzoo.diagnostics.laboratory.blind.trial TARGET...``, where TARGET is a case of the ladder as
JSON, or ``FILE:NAME``, a subject. Where the file has a function ``verdicts``, this judges the subject.
"""

import hashlib
import importlib.util
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

from ..own_files import is_own
from .changes import Mutation

PASSED, REJECTED, BROKEN = 0, 3, 4
NO_TESTS = 5
"""Exit code of pytest."""

IMPORTED = "imported: "
"""Begins the line that tells of the modules which somebody's own sampler imports."""

SLACK, LEAST_LIMIT = 6.0, 60.0
"""A trial may take so many times what the right program takes, and at least so many seconds of one core."""


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
    tests : str
        Source of the file, if it is one of tests; for somebody's own sampler, a hash of what it imports.
    seconds : float
        That it takes with the right program.
    in_reserve : bool
        Whether it waits for a mutant that has passed all others, as it is dear and seldom tells.
    """

    name: str
    arguments: tuple[str, ...]
    sees: Callable[[Mutation], bool] = lambda mutation: True
    tests: str = ""
    seconds: float = 0.0
    in_reserve: bool = False

    @property
    def key(self) -> str:
        """What its outcome depends on beside the program."""
        return repr((self.arguments, self.tests))

    @property
    def is_pytest(self) -> bool:
        """Whether it is a file of tests."""
        return self.arguments[1] == "pytest"

    @property
    def limit(self) -> float:
        """Seconds after which it is stopped."""
        return max(LEAST_LIMIT, SLACK * self.seconds)


def verdicts_of(target: str) -> Iterable[Any]:
    """Verdicts on a target, one after the other."""
    if target.startswith("{"):
        from ..ladder import Case, climb

        return [climb(Case(**json.loads(target)))]
    return verdicts_on_own(*named(target))


def named(target: str) -> tuple[ModuleType, Any]:
    """Return the module of a target ``FILE:NAME``, and what is named.

    Raises
    ------
    ValueError
        There is no such name in the file.
    """
    file, _, name = target.rpartition(":")
    path = Path(file)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    if not hasattr(module, name):
        raise ValueError(f"{file}: expected {name!r} in it, a subject or its class")
    return module, getattr(module, name)


def verdicts_on_own(module: ModuleType, thing: Any) -> Iterator[Any]:
    """Verdicts on somebody's own subject: those of its file, or of the rungs that any can climb."""
    subject = thing() if isinstance(thing, type) else thing
    if hasattr(module, "verdicts"):
        yield from module.verdicts(subject)
        return
    from ..geweke import geweke
    from ..sequential import sequential

    yield sequential(subject, samples=300)
    yield geweke(subject, draws=1000, chains=40, transitions=50)


def hash_of_imports() -> str:
    """Hash of the sources of all modules that are imported, but for installed packages and Python's own."""
    known = list(sys.modules.values())  # some import others as soon as they are looked at
    modules = [vars(module) for module in known if isinstance(module, ModuleType)]
    files = {Path(module["__file__"]) for module in modules if module.get("__file__")}
    own = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files if file.is_file() and is_own(file)]
    return hashlib.sha256("\n".join(sorted(own)).encode()).hexdigest()[:16]  # folders of copies differ


def main(targets: Sequence[str]) -> int:
    """Print verdicts until one decides.

    Raises
    ------
    ValueError
        There is none.
    """
    verdict = None
    for verdict in chain.from_iterable(map(verdicts_of, targets)):
        print(verdict, flush=True)
        if not verdict.passed:
            return REJECTED if verdict.status == "rejected" else BROKEN
    if verdict is None:
        raise ValueError(f"{', '.join(targets)}: gave no verdict")
    if not targets[0].startswith("{"):
        print(f"{IMPORTED}{hash_of_imports()}", flush=True)
    return PASSED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

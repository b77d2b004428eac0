"""One trial: a program before one test, in a process of its own, whose exit code is the answer.

``python -m bnpzoo.diagnostics.laboratory.blind.trial TARGET``, where TARGET is a case of the ladder as JSON,
or ``FILE:NAME``: a subject, or a function that yields verdicts.
"""

import importlib.util
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

PASSED, REJECTED, BROKEN = 0, 3, 4


def verdicts_of(target: str) -> Iterable[Any]:
    """Verdicts on a target, one after the other."""
    if target.startswith("{"):
        from ..ladder import Case, climb

        return [climb(Case(**json.loads(target)))]
    return verdicts_on_own(named(target))


def named(target: str) -> Any:
    """Return what a target ``FILE:NAME`` names.

    Raises
    ------
    ValueError
        There is no such file or name.
    """
    file, _, name = target.rpartition(":")
    path = Path(file)
    if path.suffix != ".py" or not path.is_file():
        raise ValueError(f"{file}: expected a Python file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    if not hasattr(module, name):
        raise ValueError(f"{file}: expected {name!r} in it, a subject or a function that yields verdicts")
    return getattr(module, name)


def verdicts_on_own(thing: Any) -> Iterator[Any]:
    """Verdicts on somebody's own sampler: those that its function yields, or of rungs that any can climb."""
    if callable(thing) and not isinstance(thing, type) and not hasattr(thing, "transition"):
        yield from thing()
        return
    from ..geweke import geweke
    from ..sequential import sequential

    subject = thing() if isinstance(thing, type) else thing
    yield sequential(subject, samples=300)
    yield geweke(subject, draws=1000, chains=40, transitions=50)


def main(target: str) -> int:
    """Print the verdict that decides."""
    for verdict in verdicts_of(target):
        print(verdict)
        if not verdict.passed:
            return REJECTED if verdict.status == "rejected" else BROKEN
    return PASSED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

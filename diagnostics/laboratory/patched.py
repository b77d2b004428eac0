"""Copies of the kernels with changes in their source: what mutants, and what plain Python, are made of."""

import hashlib
import importlib.util
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from ... import kernels
from ...kernels.toolbox.jit import CACHE_DIRECTORY
from ...zoo.contract import Room, original
from ...zoo.settings import HasSettings

SOURCE = Path(kernels.__file__).parent


@dataclass(frozen=True)
class Change:
    """A replacement in one file of the kernels.

    Attributes
    ----------
    file : str
        Path in the room ``kernels``.
    find, replace : str
        `find` occurs exactly once in the file.
    """

    file: str
    find: str
    replace: str


PLAIN_PYTHON = Change("toolbox/jit.py", "return whole", "return function")
"""Leaves the kernels uncompiled: slower, but any object with the methods of a generator will do."""


def load_room(*changes: Change) -> Room:
    """Return the room ``kernels`` with `changes` in it; without any, the room itself.

    The copy lies in a stable place that depends on its content, so that numba finds what it compiled
    before. A whole copy differs from the original in nothing but the changes.

    Raises
    ------
    ValueError
        The text of a change does not occur exactly once.
    """
    if not changes:
        return original
    name = f"bnpzoo_kernels_{source_hash(*changes)}"
    if name not in sys.modules:
        folder = _written(CACHE_DIRECTORY.parent / "copies" / name, sources_with(*changes))
        spec = importlib.util.spec_from_file_location(
            name, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)

    def room[M](module: M, /) -> M:
        assert isinstance(module, ModuleType)
        return cast("M", import_module(name + module.__name__.removeprefix(kernels.__name__)))

    return room


def source_hash(*changes: Change) -> str:
    """Hash of the kernels' source with `changes` in it."""
    digest = hashlib.sha256()
    for name, text in sources_with(*changes).items():
        digest.update(name.encode())
        digest.update(text.encode())
    return digest.hexdigest()[:16]


@cache
def _sources() -> dict[str, str]:
    return {
        path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(SOURCE.rglob("*.py"))
    }


def sources_with(*changes: Change) -> dict[str, str]:
    """Source of each file of the kernels, by its path in the room, with `changes` in it.

    Raises
    ------
    ValueError
        The text of a change does not occur exactly once.
    """
    sources = dict(_sources())
    for change in changes:
        found = sources.get(change.file, "").count(change.find)
        if found != 1:
            raise ValueError(f"{change.file}: expected once, found {found} times: {change.find!r}")
        sources[change.file] = sources[change.file].replace(change.find, change.replace)
    return sources


def _written(folder: Path, sources: Mapping[str, str]) -> Path:
    """Write a folder that is there in full or not at all, whoever else may be writing it."""
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(dir=folder.parent))
        for name, text in sources.items():
            (beside / name).parent.mkdir(parents=True, exist_ok=True)
            (beside / name).write_text(text, encoding="utf-8")
        try:
            beside.rename(folder)
        except OSError:  # another process was first
            shutil.rmtree(beside)
    return folder


@dataclass(frozen=True)
class Mutant:
    """A wrong kernel.

    Attributes
    ----------
    id : str
    concerns : tuple of type
        Classes of models, or of sides that models hold, whose samplers it makes wrong.
    change : Change
    about : str
        What is wrong.
    variant : str
        Of the sampler, others may be right; the default one unless given.
    requires : mapping of str to object
        Arguments with which a model's samplers are wrong, beside its class.
    spares : tuple of type
        Of these classes, those whose samplers stay right.
    """

    id: str
    concerns: tuple[type[HasSettings], ...]
    change: Change
    about: str
    variant: str = ""
    requires: Mapping[str, Any] = field(default_factory=dict)
    spares: tuple[type[HasSettings], ...] = ()

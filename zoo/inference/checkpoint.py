"""A chain on disk: everything that its next sweep depends on, and what it has recorded. No pickles."""

import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from ..files import replace_on_success


class CheckpointError(ValueError):
    """A checkpoint cannot be used; the message says why."""


def flatten(state: Any, prefix: str = "state") -> dict[str, np.ndarray]:
    """Arrays of a NamedTuple of arrays and NamedTuples, by dotted path."""
    if isinstance(state, np.ndarray):
        return {prefix: state}
    out: dict[str, np.ndarray] = {}
    for name, value in state._asdict().items():
        out |= flatten(value, f"{prefix}.{name}")
    return out


def unflatten(template: Any, arrays: dict[str, np.ndarray], prefix: str = "state") -> Any:
    """State of the form of `template` with the arrays that `flatten` took out of it."""
    if isinstance(template, np.ndarray):
        return arrays[prefix]
    return type(template)(
        *(unflatten(value, arrays, f"{prefix}.{name}") for name, value in template._asdict().items())
    )


def write_run(directory: Path, run: dict[str, Any], resume: bool) -> None:
    """Note in `directory` which run its checkpoints belong to, or see that they belong to this one.

    Raises
    ------
    CheckpointError
        If the directory holds a run and `resume` is false, or holds a different run.
    """
    path = directory / "run.json"
    if not path.exists():
        directory.mkdir(parents=True, exist_ok=True)
        with replace_on_success(path) as temporary:
            temporary.write_text(json.dumps(run, indent=1))
        return
    if not resume:
        raise CheckpointError(
            f"{directory}: holds the checkpoints of a run; resume it or name another directory"
        )
    try:
        before = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path}: expected the JSON of a run: {error}") from None
    for name in run:
        if run[name] != before.get(name):
            raise CheckpointError(
                f"{path}: was made with {name} = {before.get(name)!r}, this run has {run[name]!r}"
            )


def save_chain(path: Path, rng: np.random.Generator, arrays: dict[str, np.ndarray]) -> None:
    """Write `arrays` and the state of `rng`; a reader never sees half a file."""
    generator = np.array(json.dumps(rng.bit_generator.state))
    with replace_on_success(path) as temporary, temporary.open("wb") as file:
        np.savez(file, rng=generator, **arrays)  # type: ignore[arg-type]


def load_chain(path: Path, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Read what `save_chain` wrote and put `rng` where it stood."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        rng.bit_generator.state = json.loads(str(arrays.pop("rng")))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise CheckpointError(f"{path}: cannot be read as a checkpoint: {error}") from None
    return arrays

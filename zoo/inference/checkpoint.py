"""A chain on disk: everything that its next sweep depends on, and what it has recorded. No pickles."""

import fcntl
import hashlib
import json
import math
import operator
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..contract import Kernel
from ..files import read_object, remove_leftovers, replace_on_success
from ..formats.archive import DAMAGE

type Arrays = dict[str, np.ndarray]


class CheckpointError(ValueError):
    """A checkpoint cannot be used; the message says why."""


def flatten(state: Any, prefix: str = "state") -> Arrays:
    """Arrays by dotted path that sweeps change, of a NamedTuple of arrays, NamedTuples and numbers."""
    if isinstance(state, np.ndarray):
        return {prefix: state}
    out: Arrays = {}
    for name in _changing(state):
        out |= flatten(getattr(state, name), f"{prefix}.{name}")
    return out


def unflatten(template: Any, arrays: Mapping[str, np.ndarray], prefix: str = "state") -> Any:
    """State of the form of `template` with the arrays that `flatten` took out of it; the rest is its own."""
    if isinstance(template, np.ndarray):
        return arrays[prefix]
    changed = {
        name: unflatten(getattr(template, name), arrays, f"{prefix}.{name}") for name in _changing(template)
    }
    return template._replace(**changed)


def _changing(state: Any) -> list[str]:
    return [name for name in state._fields if name not in getattr(state, "FIXED", ())]


def restore(kernel: Kernel, fresh: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """State of a chain from its checkpoint.

    Parameters
    ----------
    kernel : Kernel
    fresh : State
        One of the same model and corpus, which says what arrays there are, of what types and shapes.
    arrays : mapping of str to array
        By dotted path. Arrays over topics may be wider than in `fresh`, as `_grown` says, and after that all
        by the same number of places.

    Raises
    ------
    ValueError, AssertionError
        Something does not fit.
    """
    if arrays.keys() != flatten(fresh).keys():
        raise ValueError(f"expected arrays {', '.join(flatten(fresh))}; found {', '.join(arrays) or 'none'}")
    fresh, roomy = _grown(kernel, fresh, arrays)
    wanted, wider = flatten(fresh), flatten(roomy)
    growth = set()
    for name, array in wanted.items():
        found = arrays[name]
        if found.dtype != array.dtype or found.ndim != array.ndim:
            raise ValueError(
                f"{name}: expected {array.ndim} axes of {array.dtype}, found {found.ndim} of {found.dtype}"
            )
        grows = np.greater(wider[name].shape, array.shape)
        more = np.subtract(found.shape, array.shape)
        growth |= set(more[grows].tolist())
        if np.any(more[~grows]) or len(growth) > 1 or min(growth, default=0) < 0:
            raise ValueError(f"{name}: expected shape {array.shape} or room for more, found {found.shape}")
    state = unflatten(fresh, arrays)
    with np.errstate(all="ignore"):
        kernel.check(state)
    return state


def refill(kernel: Kernel, fresh: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """State of a chain from arrays that `flatten` took out of one of the same run; nothing is checked."""
    return unflatten(_grown(kernel, fresh, arrays)[0], arrays)


def _grown(kernel: Kernel, fresh: Any, arrays: Mapping[str, np.ndarray]) -> tuple[Any, Any]:
    """Widen `fresh` as the chain did, as far as it fits into `arrays`; return it, and the next wider one.

    A chain widens its arrays over topics again and again, each time by a rule that depends on their size.
    """
    if kernel.with_room is None:
        return fresh, fresh
    roomy = kernel.with_room(fresh)
    while all(
        arrays[name].ndim == x.ndim and np.all(np.less_equal(x.shape, arrays[name].shape))
        for name, x in flatten(roomy).items()
    ):
        fresh, roomy = roomy, kernel.with_room(roomy)
    return fresh, roomy


@contextmanager
def claimed(directory: Path | None) -> Iterator[None]:
    """Make the folder if there is none, and keep other processes from it; with the process its claim ends.

    Raises
    ------
    CheckpointError
        It is no folder, or another process keeps its checkpoints there.
    """
    if directory is None:
        yield
        return
    if directory.exists() and not directory.is_dir():
        raise CheckpointError(f"{directory}: expected a folder for checkpoints, found a file")
    directory.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CheckpointError(f"{directory}: another run keeps its checkpoints there now") from None
        except OSError:
            pass  # a file system without locks keeps nobody out
        yield
    finally:
        os.close(descriptor)


def write_run(directory: Path, run: dict[str, Any], resume: bool) -> None:
    """Note in `directory` which run its checkpoints belong to, or see that they belong to this one.

    Raises
    ------
    CheckpointError
        If the directory holds a run and `resume` is false, or holds a different run.
    """
    path = directory / "run.json"
    remove_leftovers(directory)
    if not path.exists():
        if any(directory.glob("chain-*.npz")):
            raise CheckpointError(f"{directory}: holds checkpoints, but no run.json that says of which run")
        with replace_on_success(path) as temporary:
            temporary.write_text(json.dumps(run, indent=1, default=operator.index), encoding="utf-8")
        return
    if not resume:
        raise CheckpointError(
            f"{directory}: holds the checkpoints of a run; resume it or name another directory"
        )
    try:
        before = read_object(path)
    except ValueError as error:
        raise CheckpointError(str(error)) from None
    for name in run:
        if run[name] != before.get(name):
            raise CheckpointError(
                f"{path}: was made with {name} = {before.get(name)!r}, this run has {run[name]!r}"
            )


def save_chain(path: Path, number: int, rng: np.random.Generator, arrays: Arrays) -> None:
    """Write `arrays` of chain `number` and the state of `rng`; a reader never sees half a file."""
    arrays = arrays | {"chain": np.array(number), "rng": np.array(json.dumps(rng.bit_generator.state))}
    arrays["sha256"] = np.array(digest_of(arrays))
    with replace_on_success(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def load_chain(path: Path, number: int, rng: np.random.Generator) -> Arrays:
    """Read what `save_chain` wrote and put `rng`, which stands where the chain began, where it stood.

    Raises
    ------
    CheckpointError
        The file is damaged, or of another chain.
    """
    try:
        arrays = _read_arrays(path)
        found = arrays.pop("sha256")
        if str(found) != digest_of(arrays):
            raise ValueError("its arrays differ from those that were written")
        chain, generator = arrays.pop("chain"), json.loads(str(arrays.pop("rng")))
        if chain != number:
            raise ValueError(f"expected chain {number}, found chain {chain}")
        if generator["state"]["inc"] != rng.bit_generator.state["state"]["inc"]:
            raise ValueError("expected the random numbers of this chain, found those of another")
        rng.bit_generator.state = generator
    except (OSError, *DAMAGE) as error:
        raise CheckpointError(f"{path}: cannot be read as a checkpoint: {_reason(error)}") from None
    return arrays


def _reason(error: Exception) -> str:
    missing = f"{error} is missing" if isinstance(error, KeyError) else str(error)
    return missing.partition("\n")[0] or type(error).__name__


def digest_of(arrays: Arrays) -> str:
    """Hash names, types, shapes and values."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(json.dumps([name, arrays[name].dtype.str, arrays[name].shape]).encode())
        digest.update(arrays[name].tobytes())
    return digest.hexdigest()


def _read_arrays(path: Path) -> Arrays:
    """Arrays of an archive as `numpy.savez` writes it; nothing larger than the file is allocated."""
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
            raise ValueError("expected arrays without compression")
        arrays = {}
        for entry in entries:
            with archive.open(entry) as file:
                arrays[entry.filename.removesuffix(".npy")] = _read_array(file, path.stat().st_size)
    return arrays


def _read_array(file: IO[bytes], most: int) -> np.ndarray:
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("expected arrays in format 1.0")
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(file)
    if dtype.hasobject or min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize > most:
        raise ValueError(f"expected an array of numbers or text, found {dtype} {shape}")
    data = bytearray(file.read())
    return np.ndarray(shape, dtype, data, order="F" if by_columns else "C").copy(order="C")

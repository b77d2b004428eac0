"""Draws in a folder of Zarr, by the conventions of ArviZ, written as they come.

Each chunk has a checksum, by which Zarr tells damage as it reads. A chunk that is lost reads as the fill
value of its array, which no draw has.
"""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from itertools import product
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from ..contract import Latents, Model, Quantities
from .record import stacked
from .results import CHANGING, DIMENSIONS, with_entries
from .schedule import Schedule

if TYPE_CHECKING:
    import zarr

DRAWS_AT_ONCE = 128
"""Draws of a chain that are held before they are written, and that a chunk has."""

TOKENS_AT_ONCE = 2**22
"""Tokens that a chunk of latents has, at most."""


class Store:
    """Draws as arrays of Zarr, by the conventions of ArviZ; chains write to it at the same time.

    Parameters
    ----------
    path : Path
        A folder, made when there is something to write; what is in it is gone on with.
    model : Model
    chains : int
    schedule : Schedule
    """

    def __init__(self, path: Path, model: Model, chains: int, schedule: Schedule):
        self._path, self._lock = path, Lock()
        self._dimensions = {**DIMENSIONS, **model.dimensions}
        self._chains, self._schedule = chains, schedule

    @cached_property
    def _root(self) -> "zarr.Group":
        return zarr_library().open_group(self._path, mode="a")

    def write(
        self, chain: int, first: int, quantities: Mapping[str, np.ndarray], seconds: list[float]
    ) -> None:
        """Write the quantities of draws of a chain, each (n, …), from draw `first` on."""
        here = slice(first, first + len(seconds))
        with self._lock, told_where(self._path):
            for path, values in _arrays(quantities, seconds).items():
                shape = (self._chains, self._schedule.draws, *values.shape[1:])
                chunks = (1, min(DRAWS_AT_ONCE, self._schedule.draws), *values.shape[1:])
                self._array(path, "draw", shape, chunks, values.dtype)[chain, here] = values

    def check(self, chain: int, n_draws: int, quantities: Quantities, latents: Latents) -> None:
        """Read the first draws of a chain.

        Parameters
        ----------
        chain, n_draws : int
        quantities, latents : dict
            Of some draw: what there should be.

        Raises
        ------
        ValueError
            Some of it is lost or damaged; the message says what.
        """
        n_draws_of = dict.fromkeys(_arrays(stacked([quantities]), [0.0]), n_draws)
        n_draws_of |= dict.fromkeys((f"latents/{name}" for name in latents), self._schedule.place(n_draws))
        for path, n in n_draws_of.items():
            if n > 0 and path not in self._root:
                raise ValueError(f"{path} is lost")
            if n > 0:
                _check(self._root[path], chain, n)  # type: ignore[arg-type]

    def keep(self, chain: int, place: int, latents: Latents) -> None:
        """Write the latents of a draw, the `place`-th that is kept of a chain."""
        n_kept = len(self._schedule.kept(self._schedule.draws))
        with self._lock, told_where(self._path):
            for name, value in latents.items():
                values = np.asarray(value, np.int32 if value.dtype.kind == "i" else np.float64)
                shape = (self._chains, n_kept, *values.shape)
                chunks = (1, 1, *(min(size, TOKENS_AT_ONCE) for size in values.shape))
                array = self._array(f"latents/{name}", "kept", shape, chunks, values.dtype)
                if np.any(np.less(array.shape, shape)):  # more topics than any draw before has had
                    array.resize(tuple(np.maximum(array.shape, shape).tolist()))
                array[(chain, place, *(slice(size) for size in values.shape))] = values

    def _array(
        self, path: str, draw: str, shape: tuple[int, ...], chunks: tuple[int, ...], dtype: np.dtype
    ) -> "zarr.Array":
        if path not in self._root:
            name = path.rpartition("/")[2]
            self._root.create_array(
                path,
                shape=shape,
                chunks=tuple(max(size, 1) for size in chunks),
                dtype=dtype,
                fill_value=_fill(dtype),
                compressors=_codecs(),
                dimension_names=["chain", draw, *self._dimensions.get(name, ())[: len(shape) - 2]],
            )
        return self._root[path]  # type: ignore[return-value]


def _arrays(quantities: Mapping[str, np.ndarray], seconds: list[float]) -> dict[str, np.ndarray]:
    """Arrays of draws (n, …), by their paths."""
    stats = {
        "seconds": np.array(seconds),
        "log_joint": quantities["log_joint"],
        "occupied_topics": quantities["n_topics"],
    }
    groups = {"posterior": with_entries(quantities), "sample_stats": stats}
    return {f"{group}/{name}": values for group, of in groups.items() for name, values in of.items()}


def _fill(dtype: np.dtype) -> Any:
    """Return what no draw is, whether of floating point or whole numbers."""
    return np.nan if dtype.kind == "f" else np.iinfo(dtype).min


def _codecs() -> tuple[Any, ...]:
    """How chunks are compressed; the checksum is of what is then on disk."""
    codecs = zarr_library().codecs
    return codecs.ZstdCodec(), codecs.Crc32cCodec()


def _check(array: "zarr.Array", chain: int, n_draws: int) -> None:
    """Raise ValueError unless all chunks with the first draws of a chain are there and whole."""
    at_once = array.chunks[1]
    is_padded = bool(CHANGING & {*array.metadata.dimension_names})  # type: ignore[union-attr, misc]
    for place in product(*map(range, (-(-n_draws // at_once), *array.cdata_shape[2:]))):
        if is_padded and place[-1] > 0:
            continue  # which may be past the last topic of a draw, where there is NaN
        try:
            values = np.asarray(array.blocks[(chain, *place)])[:, : n_draws - place[0] * at_once]
        except Exception as error:  # there is no telling what the library raises on other bytes
            raise ValueError(f"{array.path} is damaged: {error}") from None
        values = values[..., :1] if is_padded else values
        if np.any(np.isnan(values) if values.dtype.kind == "f" else values == _fill(values.dtype)):
            raise ValueError(f"{array.path} has lost some of them")


@contextmanager
def told_where(path: Path) -> Iterator[None]:
    """Name the folder where an error of the disk, such as that it is full, does not."""
    try:
        yield
    except OSError as error:
        raise OSError(f"{path}: draws cannot be written: {error.strerror or str(error)[:300]}") from None


def cut(folder: Path, chains: list[int], n_draws: int, n_kept: int) -> None:
    """Cut the arrays of a store to these chains and as many draws, and number both."""
    n_chains, root = len(chains), zarr_library().open_group(folder, mode="a")
    axes = {"posterior": ("draw", n_draws), "sample_stats": ("draw", n_draws), "latents": ("kept", n_kept)}
    for group, (draw, n) in axes.items():
        if group not in root:
            continue
        for _, array in root[group].arrays():
            for place, chain in enumerate(chains):
                for first in range(0, n if chain > place else 0, array.chunks[1]):
                    here = slice(first, first + array.chunks[1])
                    array[place, here] = array[chain, here]
            array.resize((n_chains, n, *array.shape[2:]))
        sizes = {"chain": n_chains, draw: n}
        if draw == "draw":  # as `assemble` has it
            for _, array in root[group].arrays():
                sizes |= dict(zip(array.metadata.dimension_names, array.shape, strict=True))
        for name, size in sizes.items():
            numbers = root.create_array(
                f"{group}/{name}",
                shape=(size,),
                dtype=np.int64,
                fill_value=_fill(np.dtype(np.int64)),
                compressors=_codecs(),
                dimension_names=[name],
            )
            numbers[:] = np.arange(size)


def complete(folder: Path, groups: Mapping[str, xr.Dataset], attributes: Mapping[str, Any]) -> None:
    """Write the groups that hold no draws and, last of all, the attributes, without which it is no fit."""
    with warnings.catch_warnings(action="ignore"):  # that text is not yet in the specification of Zarr 3
        for group, dataset in groups.items():
            encoding = {name: _encoding(values.dtype) for name, values in dataset.variables.items()}
            dataset.to_zarr(folder, group=group, mode="a", consolidated=False, encoding=encoding)
    zarr_library().open_group(folder, mode="a").attrs.update(attributes)


def _encoding(dtype: np.dtype) -> dict[str, Any]:
    """How xarray is to write an array."""
    fill = {"fill_value": _fill(dtype)} if dtype.kind in "if" else {}
    return {"compressors": _codecs(), **fill}


def zarr_library() -> Any:
    """Return the library, which is optional."""
    try:
        import zarr
    except ImportError:
        message = "a fit in a folder *.zarr needs the library zarr: pip install 'bnpzoo[zarr]'"
        raise ImportError(message) from None
    return zarr

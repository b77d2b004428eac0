"""Draws in a folder of Zarr, by the conventions of ArviZ, written as they come."""

import warnings
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from ..contract import Latents, Model
from .results import DIMENSIONS, with_entries
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
        stats = {
            "seconds": np.array(seconds),
            "log_joint": quantities["log_joint"],
            "occupied_topics": quantities["n_topics"],
        }
        here = slice(first, first + len(seconds))
        with self._lock:
            for group, arrays in (("posterior", with_entries(quantities)), ("sample_stats", stats)):
                for name, values in arrays.items():
                    shape = (self._chains, self._schedule.draws, *values.shape[1:])
                    chunks = (1, min(DRAWS_AT_ONCE, self._schedule.draws), *values.shape[1:])
                    self._array(group, name, "draw", shape, chunks, values.dtype)[chain, here] = values

    def holds(self, chain: int, n_draws: int) -> bool:
        """Whether it has the first draws of a chain."""
        if "sample_stats/seconds" not in self._root:
            return n_draws == 0
        seconds = self._root["sample_stats/seconds"]
        return bool(np.isfinite(seconds[chain, :n_draws]).all())  # type: ignore[index]

    def keep(self, chain: int, place: int, latents: Latents) -> None:
        """Write the latents of a draw, the `place`-th that is kept of a chain."""
        n_kept = len(self._schedule.kept(self._schedule.draws))
        with self._lock:
            for name, value in latents.items():
                values = np.asarray(value, np.int32 if value.dtype.kind == "i" else np.float64)
                shape = (self._chains, n_kept, *values.shape)
                chunks = (1, 1, *(min(size, TOKENS_AT_ONCE) for size in values.shape))
                array = self._array("latents", name, "kept", shape, chunks, values.dtype)
                if np.any(np.less(array.shape, shape)):  # more topics than any draw before has had
                    array.resize(tuple(np.maximum(array.shape, shape).tolist()))
                array[(chain, place, *(slice(size) for size in values.shape))] = values

    def _array(
        self, group: str, name: str, draw: str, shape: tuple[int, ...], chunks: tuple[int, ...], dtype: Any
    ) -> "zarr.Array":
        path = f"{group}/{name}"
        if path not in self._root:
            names = ["chain", draw, *self._dimensions.get(name, ())[: len(shape) - 2]]
            fill = np.nan if np.dtype(dtype).kind == "f" else 0
            self._root.create_array(
                path,
                shape=shape,
                chunks=tuple(max(size, 1) for size in chunks),
                dtype=dtype,
                fill_value=fill,
                dimension_names=names,
            )
        return self._root[path]  # type: ignore[return-value]


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
            shape, path = (size,), f"{group}/{name}"
            numbers = root.create_array(path, shape=shape, dtype=np.int64, dimension_names=[name])
            numbers[:] = np.arange(size)


def complete(folder: Path, groups: Mapping[str, xr.Dataset], attributes: Mapping[str, Any]) -> None:
    """Write the groups that hold no draws and, last of all, the attributes, without which it is no fit."""
    with warnings.catch_warnings(action="ignore"):  # that text is not yet in the specification of Zarr 3
        for group, dataset in groups.items():
            dataset.to_zarr(folder, group=group, mode="a", consolidated=False)
    zarr_library().open_group(folder, mode="a").attrs.update(attributes)


def zarr_library() -> Any:
    """Return the library, which is optional."""
    try:
        import zarr
    except ImportError:
        message = "a fit in a folder *.zarr needs the library zarr: pip install 'bnpzoo[zarr]'"
        raise ImportError(message) from None
    return zarr

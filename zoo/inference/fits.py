"""Fits on disk, in which damage is told from a fit: netCDF, with a seal after it, and folders of Zarr.

A folder has a checksum in each chunk, and no chunk that can be lost unnoticed, as `store` says.
"""

import hashlib
import io
import os
import sys
import tempfile
import warnings
from contextlib import AbstractContextManager, nullcontext
from os import PathLike
from pathlib import Path
from typing import Any

import h5py
import xarray as xr

from ..corpus import Corpus
from ..files import replace_on_success
from ..memory import TooLarge, require_memory
from .results import ResultsError
from .schema import check_fit
from .store import zarr_library

SEAL = b"\nbnpzoo sha256 "
"""Stands after the last byte of HDF5, which does not look there, and before the digest of all these bytes."""

SUFFIXES = (".nc", ".zarr")
"""Of the names of fits, where a name can be that of something else."""

_NETCDF: dict[str, Any] = {"engine": "h5netcdf"}
_ZARR: dict[str, Any] = {"engine": "zarr", "consolidated": False}
_SEAL_SIZE = len(SEAL) + 64 + 1
_CHUNK = 2**20


def save(tree: xr.DataTree, path: str | PathLike[str]) -> None:
    """Write `tree` as netCDF (HDF5), whole or not at all.

    It is put together in memory, where it takes less room than `tree`: HDF5 does not outlive a disk that is
    full, and would take the process with it, and the draws, at the next file.
    """
    compressed = {"zlib": True, "complevel": 4}
    encoding = {
        f"/{group}": {
            name: compressed for name, v in node.data_vars.items() if v.dtype.kind in "fi" and v.ndim
        }
        for group, node in tree.children.items()
    }
    with replace_on_success(_as_path(path)) as temporary:
        content = io.BytesIO()
        with _without_cluster():
            tree.to_netcdf(content, engine="h5netcdf", encoding=encoding)
        digest = hashlib.sha256(content.getbuffer()).hexdigest().encode()
        with temporary.open("wb") as file:
            file.write(content.getbuffer())
            file.write(SEAL + digest + b"\n")


def _without_cluster() -> AbstractContextManager[Any]:
    """Keep xarray from asking a cluster, of which this may be a worker, for a lock on what is in memory."""
    dask = sys.modules.get("dask")
    return nullcontext() if dask is None else dask.config.set(scheduler="synchronous")


def rescue(tree: xr.DataTree) -> Path:
    """Write draws, which could not be written where they belong, to the first place where they can be.

    Returns
    -------
    Path
        In the current folder, that of temporary files or the user's own.

    Raises
    ------
    OSError
        There is no such place.
    """
    for folder in (Path.cwd(), Path(tempfile.gettempdir()), Path.home()):
        path = folder / f"bnpzoo-rescued-{os.getpid()}.nc"
        try:
            save(tree, path)
        except OSError:
            continue
        return path
    raise OSError("the draws cannot be written anywhere")


def expected_size(corpus: Corpus, chains: int, draws: int, keep: int = 10) -> int:
    """Bytes that draws take on disk before they are compressed, to within a factor of two or three."""
    quantities = 100 * chains * draws
    latents = 2 * corpus.n_tokens * chains * min(keep, draws)
    return 8 * (quantities + latents + 2 * corpus.n_tokens + corpus.n_words)


def load(path: str | PathLike[str]) -> xr.DataTree:
    """Read a fit into memory: what `save` wrote, or a folder that `bnpzoo.zoo.inference.stream` wrote.

    Damage is told by checksums, that of the file or those of the chunks of a folder, and chunks that are lost
    are missed; attributes of a folder have none. A fit that another program has written again may have no
    checksum, as folders of old have none; what it holds is checked all the same.

    Raises
    ------
    ImportError
        Zarr is not installed, which a folder needs.
    ResultsError
        There is nothing there, it is damaged, holds no fit of a bnpzoo model, or does not fit into memory.
    """
    path = _as_path(path)
    try:
        if not path.is_dir():
            _check_seal(path)
        tree = _read(path)
        check_fit(tree)
    except (ResultsError, TooLarge) as error:
        raise ResultsError(f"{path}: {_one_line(error)}") from None
    except FileNotFoundError:
        raise ResultsError(f"{path}: there is no such file") from None
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror or _one_line(error)}") from None
    return tree


def _read(path: Path) -> xr.DataTree:
    form, how = ("Zarr", _ZARR) if path.is_dir() else ("netCDF", _NETCDF)
    if how is _ZARR:
        zarr_library()  # raises where it is missing
    try:
        if how is _NETCDF:
            if not h5py.is_hdf5(path):
                raise ResultsError("it is another kind of file")
            with h5py.File(path) as file:  # where this fails, h5netcdf leaves a half-made object behind
                file.attrs.get("_nc3_strict")
        with warnings.catch_warnings(action="ignore"), xr.open_datatree(path, **how) as tree:
            require_memory(sum(node.dataset.nbytes for node in tree.subtree), "the arrays of this fit")
            return tree.load()
    except TooLarge:
        raise
    except Exception as error:  # there is no telling what the libraries raise on bytes that are no fit
        found = "none" if how is _NETCDF else "none or a damaged one"  # Zarr checks sums as it reads
        raise ResultsError(f"expected a fit as {form}, found {found}: {_one_line(error)}") from None


def _check_seal(path: Path) -> None:
    """Raise where a file has a seal and other bytes before it than when it was sealed."""
    size = os.path.getsize(path)
    with path.open("rb") as file:
        file.seek(max(0, size - _SEAL_SIZE))
        seal = file.read()
    is_sealed = len(seal) == _SEAL_SIZE and seal.startswith(SEAL)
    if is_sealed and seal[len(SEAL) : -1] != _digest(path, size - _SEAL_SIZE):
        raise ResultsError("expected the fit that was written, found a damaged one: its checksum differs")


def _digest(path: Path, size: int) -> bytes:
    """SHA-256 of the first `size` bytes of a file, in hexadecimal."""
    sha = hashlib.sha256()
    with path.open("rb") as file:
        while size > 0 and (chunk := file.read(min(size, _CHUNK))):
            sha.update(chunk)
            size -= len(chunk)
    return sha.hexdigest().encode()


def _as_path(path: str | PathLike[str]) -> Path:
    if not os.fspath(path):
        raise ResultsError("path: expected the name of a fit, found an empty one")
    return Path(path)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__

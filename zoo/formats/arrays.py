"""A folder of arrays, one a file, of which a corpus maps the long ones into memory: ``words.npy`` and so on.

Its arrays have the names that they have in an archive of `archive`. Plain ``.npy`` files need no library
beside NumPy, and any program can map them; Zarr would add packages for chunks and compression, which cannot
be mapped.
"""

import errno
import os
from pathlib import Path
from urllib.parse import unquote

import numpy as np

from ..corpus import Corpus, CorpusError
from ..corpus.mapped import mapped_corpus
from ..folders import new_folder
from .archive import DAMAGE, REQUIRED, arrays_of, fields_of, reason

MAPPED = ("words", "doc_ptr", "segment_ptr")
"""Arrays that are not read but mapped."""


def file_of(folder: Path, name: str) -> Path:
    """File of an array."""
    return folder / f"{name}.npy"


def is_folder_of_arrays(path: Path) -> bool:
    """Whether a folder holds a corpus as arrays."""
    return file_of(path, "words").is_file()


def read_arrays(path: Path) -> Corpus:
    """Read a corpus whose words and pointers are memory maps."""
    arrays = {}
    for file in sorted(path.glob("*.npy")):
        name = unquote(file.name.removesuffix(".npy"))  # a covariate's own name may have % codes
        try:
            arrays[name] = _mapped(file) if name in MAPPED else np.load(file, allow_pickle=False)
        except DAMAGE as error:
            raise CorpusError(f"{file.name}: expected an array of numbers or text: {reason(error)}") from None
    for name in REQUIRED:
        if name not in arrays:
            files = ", ".join(f"{required}.npy" for required in REQUIRED)
            raise CorpusError(f"expected files {files}; {name}.npy is missing")
    return mapped_corpus(**fields_of(arrays))


def _mapped(file: Path) -> np.ndarray:
    """Map an array, as a plain one, so that compiled code takes it for what it is."""
    return np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))


def save_array(file: Path, array: np.ndarray) -> None:
    """Write an array, or raise OSError: `numpy.save` does not hear of it if its last bytes find no room."""
    with file.open("wb") as opened:
        np.lib.format.write_array(opened, array, allow_pickle=False)
        end = opened.tell()
    if file.stat().st_size < end:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), os.fspath(file))


def write_arrays(corpus: Corpus, path: Path) -> None:
    """Write all of a corpus to a new folder."""
    with new_folder(path) as folder:
        for name, array in arrays_of(corpus).items():
            save_array(file_of(folder, name), array)


class LongArray:
    """A new array in a file, of which only the part at hand is mapped into memory.

    Parameters
    ----------
    file : Path
    dtype : type
    size : int
    """

    def __init__(self, file: Path, dtype: type, size: int):
        self._file, self._dtype, self._offset = file, np.dtype(dtype), 0
        if size == 0:
            save_array(file, np.zeros(0, dtype))
        else:
            self._offset = np.lib.format.open_memmap(file, "w+", dtype, (size,)).offset
            _reserve(file)

    def part(self, start: int, stop: int) -> np.ndarray:
        """Return entries from `start` to before `stop`; what is written to them is written to the file."""
        if start == stop:
            return np.zeros(0, self._dtype)
        at = self._offset + int(start) * self._dtype.itemsize
        return np.memmap(self._file, self._dtype, "r+", at, (int(stop) - int(start),))


def _reserve(file: Path) -> None:
    """Take all the room that a file says it has: to write to a map of one on a full disk ends the process."""
    if hasattr(os, "posix_fallocate"):
        with file.open("r+b") as opened:
            os.posix_fallocate(opened.fileno(), 0, file.stat().st_size)

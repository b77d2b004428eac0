"""Where compiled kernels go if they cannot be kept.

Numba refuses to compile a kernel that has no place on disk, and in many a container neither the home nor the
package can be written.
"""

import atexit
import os
import shutil
import warnings
from pathlib import Path
from tempfile import TemporaryFile, mkdtemp

from . import jit


def find_place() -> None:
    """Keep compiled kernels in a temporary folder until this process ends, if they cannot be kept for good.

    Processes that this one starts find the folder as well, in their environment.
    """
    usual = jit.CACHE_DIRECTORY
    if _can_be_written(usual):
        return
    folder = mkdtemp(prefix="bnpzoo-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = folder
    jit.CACHE_DIRECTORY = jit._cache_root() / usual.name
    warnings.warn(
        f"{usual.parent}: cannot be written, so every start compiles again; NUMBA_CACHE_DIR says where else "
        "compiled kernels can be kept",
        RuntimeWarning,
        stacklevel=2,
    )


def _can_be_written(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            return True
    except OSError:
        return False

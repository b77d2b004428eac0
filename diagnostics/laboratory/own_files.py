"""Which files are somebody's own: neither Python's, nor of an installed package."""

import sysconfig
from pathlib import Path

INSTALLED = ("site-packages", "dist-packages")
"""Folders of packages that somebody else maintains."""


def is_own(file: Path) -> bool:
    """Whether a file is of no installed package, nor of Python."""
    of_python = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib")]
    is_of_python = any(file.is_relative_to(folder) for folder in of_python)
    return not is_of_python and not set(INSTALLED) & set(file.parts)

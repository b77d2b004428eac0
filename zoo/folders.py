"""Folders that are whole or absent."""

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from .files import WRITER, is_gone, require_room, writer

_UNFINISHED = re.compile(rf"\.(?P<name>.*)\.unfinished-{WRITER}")


@contextmanager
def new_folder(path: str | PathLike[str]) -> Iterator[Path]:
    """Yield a temporary folder, which becomes `path` if the block succeeds.

    A reader finds all of it or nothing. If the block fails or is interrupted, the temporary folder is
    removed; where the process is killed, the next one that makes `path` removes it.

    Raises
    ------
    OSError
        There is something at `path`, which is never replaced, or there is no folder that it can be in. What
        came there while the block ran is not replaced either: the new folder then has another name.
    """
    target = checked_new(path)
    _remove_leftovers(target)
    temporary = target.with_name(f".{target.name}.unfinished-{writer()}")
    temporary.mkdir()
    try:
        yield temporary
        _move(temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _move(temporary: Path, target: Path) -> None:
    """Rename the temporary folder; a file or an empty folder at `target` counts as something there."""
    other = target.with_name(f"{target.stem}-{secrets.token_hex(4)}{target.suffix}")
    if os.path.lexists(target):
        temporary.rename(other)
        raise FileExistsError(f"{target}: something has come there meanwhile; what was made is in {other}")
    temporary.rename(target)


def checked_new(path: str | PathLike[str], size: int = 0) -> Path:
    """Return where a new folder can be made.

    Parameters
    ----------
    path : path
    size : int
        Bytes that there should be room for.

    Raises
    ------
    OSError
        As `new_folder` does, or there is too little room.
    """
    if not os.fspath(path):
        raise FileNotFoundError("expected the name of a folder, found an empty one")
    target = Path(os.path.abspath(path))
    if os.path.lexists(target):
        raise FileExistsError(f"{path}: expected the name of a new folder, found something there")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path}: expected the folder {target.parent} to exist")
    require_room(path, target.parent, size)
    return target


def _remove_leftovers(target: Path) -> None:
    """Remove what processes of this host, which are no more, have left of `target`."""
    for leftover in target.parent.iterdir():
        match = _UNFINISHED.fullmatch(leftover.name)
        if match and match["name"] == target.name and is_gone(match):
            shutil.rmtree(leftover, ignore_errors=True)

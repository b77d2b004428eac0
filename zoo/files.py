"""Files that are whole or absent."""

import json
import os
import re
import secrets
import shutil
import socket
import stat
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

WRITER = r"(?P<host>[0-9a-f]{8})-(?P<process>\d{1,9})-[0-9a-f]{8}"
"""Pattern of `writer`, for names of files and folders that are being written."""

_TEMPORARY = re.compile(rf"\..*\.{WRITER}(\.[^.]*)?", re.DOTALL)
_HOST = f"{zlib.crc32(socket.gethostname().encode()):08x}"


@contextmanager
def replace_on_success(path: str | PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path, whose file takes the place of `path` if the block succeeds.

    A reader finds the old file or the new one, never half of it. If the block fails or is interrupted, the
    temporary file is removed and `path` stays as it was; where the process is killed, the next one that
    writes `path` removes it. The temporary path has the suffix of `path`, because some writers append one
    that they miss. Where `path` is a link, the file that it leads to is replaced; what is no regular file,
    such as a device or a FIFO, is not replaced but written to.

    Raises
    ------
    OSError
        `path` cannot be a file: its folder does not exist, it is a folder itself, or its links lead nowhere.
    """
    target = _target(path)
    if _is_special(target):
        with tempfile.TemporaryDirectory(prefix="bnpzoo-") as folder:
            temporary = Path(folder) / f"written{target.suffix}"
            yield temporary
            with temporary.open("rb") as source, target.open("wb") as destination:
                shutil.copyfileobj(source, destination)
        return
    remove_leftovers(target.parent, target)
    temporary = _temporary(target)
    try:
        yield temporary
        temporary.replace(target)
    except OSError as error:
        if error.errno is not None and error.filename is None:  # as where the disk is full
            error.filename = os.fspath(path)
        raise
    finally:
        temporary.unlink(missing_ok=True)


def check_writable(path: str | PathLike[str], size: int = 0) -> None:
    """See that `path` can be written as `replace_on_success` does, before the work whose result it will hold.

    Parameters
    ----------
    path : path
    size : int
        Bytes that there should be room for.

    Raises
    ------
    OSError
        One line: it cannot be a file, its folder cannot be written to, or there is too little room.
    """
    target = _target(path)
    if _is_special(target):
        if not os.access(target, os.W_OK):
            raise PermissionError(f"{path}: expected to be allowed to write to it")
        return
    remove_leftovers(target.parent, target)
    probe = _temporary(target)
    try:
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise OSError(f"{path}: cannot be written: {error.strerror}") from None
    require_room(path, target.parent, size)


def require_room(path: str | PathLike[str], folder: Path, size: int) -> None:
    """Raise OSError unless the disk of `folder`, in which `path` will be, has room for `size` bytes."""
    free = shutil.disk_usage(folder).free
    if free < size:
        raise OSError(f"{path}: expected room for about {size:,} bytes, found {free:,}")


def _target(path: str | PathLike[str]) -> Path:
    """Where the links at `path` lead, which is a file, or may become one."""
    if not os.fspath(path):
        raise FileNotFoundError("expected the name of a file, found an empty one")
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(f"{path}: expected a file, found links that lead nowhere")
    if target.is_dir():
        raise IsADirectoryError(f"{path}: expected a file, found a folder")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path}: expected the folder {target.parent} to exist")
    return target


def _is_special(path: Path) -> bool:
    """Whether there is something that is no regular file, such as a device."""
    return path.exists() and not stat.S_ISREG(path.stat().st_mode)


def _prefix(path: Path) -> str:
    """How the names of the temporary files of `path` begin; names of files have a limit."""
    return f".{path.stem[:40]}."


def _temporary(path: Path) -> Path:
    """Name beside `path` that tells which process is writing."""
    return path.with_name(f"{_prefix(path)}{writer()}{path.suffix}")


def writer() -> str:
    """Name of this process among all hosts, another one at each call."""
    return f"{_HOST}-{os.getpid()}-{secrets.token_hex(4)}"


def remove_leftovers(folder: Path, path: Path | None = None) -> None:
    """Remove temporary files, of `path` or all in `folder`, of processes of this host that are no more."""
    for leftover in folder.iterdir():
        match = _TEMPORARY.fullmatch(leftover.name)
        if match is None or (path is not None and not leftover.name.startswith(_prefix(path))):
            continue
        if is_gone(match):
            leftover.unlink(missing_ok=True)


def is_gone(name: re.Match[str]) -> bool:
    """Whether a name, which matched `WRITER`, is of a process of this host that is no more."""
    return name["host"] == _HOST and not _runs(int(name["process"]))


def _runs(process: int) -> bool:
    """Whether there is a process of this number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def read_object(path: Path) -> dict[str, Any]:
    """Read an object of JSON.

    Raises
    ------
    ValueError
        The file holds none.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{path}: expected an object of JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"{path}: expected an object of JSON, found {type(found).__name__}")
    return found


def claim(folder: Path, identity: Mapping[str, Any]) -> None:
    """Write to `folder`, in ``run.json``, whose results it holds, or check that they are the same run's.

    What the file says beyond `identity` does not matter.

    Raises
    ------
    ValueError
        It holds the results of another run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path, text = folder / "run.json", json.dumps(identity, indent=1)
    if not path.exists():
        with replace_on_success(path) as temporary:
            temporary.write_text(text)
        return
    found, wanted = read_object(path), json.loads(text)
    differs = sorted(key for key in wanted if key not in found or found[key] != wanted[key])
    if differs:
        raise ValueError(
            f"{folder}: holds the results of another run, which differs in {', '.join(differs)}; "
            "expected an empty folder or the same run"
        )

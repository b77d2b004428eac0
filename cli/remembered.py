"""What the package says of itself, kept between calls: nobody waits for heavy packages to hear it again."""

import hashlib
import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from .._version import __version__
from .console import as_json_text

PACKAGE = Path(__file__).parents[1]
ROOMS = ("kernels", "stan", "zoo", "diagnostics", "cli")


def remembered(what: str, tell: Callable[[], Any]) -> Any:
    """Return what `tell` returned when the package was last as it is now, in the types of JSON.

    Parameters
    ----------
    what : str
        Names it.
    tell : () -> value
        Called where nobody has asked before; what it returns depends on the package alone.
    """
    path = _folder() / f"{hashlib.sha256(f'{what}\n{_state()}'.encode()).hexdigest()[:32]}.json"
    with suppress(OSError, ValueError):  # not there, or damaged
        return json.loads(path.read_text(encoding="utf-8"))
    text = as_json_text(tell())
    with suppress(OSError):  # a cache that cannot be written is none
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_suffix(f".{os.getpid()}")
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    return json.loads(text)


def _folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bnpzoo" / "remembered"


def _state() -> str:
    """Tell one state of the package's files from another, by their sizes and times."""
    seen = [__version__]
    for room in ROOMS:
        for folder, inner, files in os.walk(PACKAGE / room):
            inner[:] = sorted(name for name in inner if name != "__pycache__")
            for name in sorted(files):
                known = os.stat(os.path.join(folder, name))
                seen.append(f"{folder}/{name} {known.st_size} {known.st_mtime_ns}")
    return "\n".join(seen)

"""Files that are whole or absent."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path


@contextmanager
def replace_on_success(path: str | PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`, which takes its place if the block succeeds.

    A reader finds the old file or the new one, never half of it. If the block fails or is interrupted, the
    temporary file is removed and `path` stays as it was. The temporary path has the suffix of `path`, because
    some writers append one that they miss.

    Raises
    ------
    FileNotFoundError
        If the folder of `path` does not exist.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"expected the folder {path.parent} to exist")
    temporary = path.with_name(f".{path.stem}.{secrets.token_hex(4)}{path.suffix}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)

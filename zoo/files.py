"""Files that are whole or absent."""

import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any


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
    found, wanted = json.loads(path.read_text()), json.loads(text)
    differs = sorted(key for key in wanted if key not in found or found[key] != wanted[key])
    if differs:
        raise ValueError(
            f"{folder}: holds the results of another run, which differs in {', '.join(differs)}; "
            "expected an empty folder or the same run"
        )

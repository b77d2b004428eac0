"""Keeps what is known of trials, so that an audit that is stopped goes on where it was."""

import hashlib
import json
from pathlib import Path
from typing import Any

from ....zoo.files import replace_on_success


class Shelf:
    """Keeps what is known, by name, as JSON; nothing without a folder, or without a digest.

    Parameters
    ----------
    folder : Path or None
    digest : str or None
        Of what all of it depends on.
    """

    def __init__(self, folder: Path | None, digest: str | None):
        self.folder, self.digest = (None if digest is None else folder), digest

    def _path(self, name: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{hashlib.sha256(f'{self.digest} {name}'.encode()).hexdigest()[:16]}.json"

    def find(self, name: str) -> Any:
        """Return what was put under a name, or None."""
        if self.folder is None or not self._path(name).exists():
            return None
        return json.loads(self._path(name).read_text(encoding="utf-8"))

    def put(self, name: str, known: Any) -> None:
        """Keep something under a name."""
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            with replace_on_success(self._path(name)) as temporary:
                temporary.write_text(json.dumps(known), encoding="utf-8")

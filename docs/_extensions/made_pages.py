"""Pages that are made when the documentation is built."""

from pathlib import Path


def write_where_new(path: Path, text: str) -> None:
    """Write a page; one that is as it was keeps its date, so that Sphinx does not read it again."""
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, encoding="utf-8")

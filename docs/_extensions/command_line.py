"""The page of the command line, as Typer writes it when the documentation is built."""

import subprocess
import sys
from pathlib import Path
from typing import Any

from made_pages import write_where_new
from sphinx.application import Sphinx

PAGE = Path("guide", "command_line.md")


def write_page(app: Sphinx, _: Any) -> None:
    """Write the page where it is not yet, or is another."""
    command = [sys.executable, "-m", "typer", "bnpzoo.cli.app", "utils", "docs", "--name", "bnpzoo"]
    text = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    write_where_new(Path(app.confdir) / PAGE, text.replace("# `bnpzoo`", "# Command line", 1))


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the page before Sphinx looks for pages."""
    app.connect("config-inited", write_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

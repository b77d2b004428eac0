"""``bnpzoo report``: fits as one HTML page."""

import os
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer

from .console import say
from .inputs import read_fits
from .options import FitFiles


def report(
    fits: FitFiles,
    out_file: Annotated[Path, typer.Option("--out", help="Where to write the page (.html).")] = Path(
        "report.html"
    ),
    browser_file: Annotated[
        Path | None,
        typer.Option("--browser", help="Also write the topic browser of the first fit here, and link to it."),
    ] = None,
) -> None:
    """Write a self-contained HTML report on one or more fits of one model to one corpus.

    It holds the topics, the verdict on each test quantity, trace and rank plots and the model's card, and
    opens without network.
    """
    from ..diagnostics.reports.browser import write_browser
    from ..diagnostics.reports.fits import check_page, write_report

    trees, link = read_fits(fits), ""
    for page in (out_file, browser_file or out_file):
        check_page(page)
    if browser_file is not None:
        write_browser(browser_file, next(iter(trees.values())))
        say(f"Wrote {browser_file}")
        link = quote(Path(os.path.relpath(browser_file, out_file.parent)).as_posix())
    write_report(out_file, trees, browser=link)
    say(f"Wrote {out_file}")

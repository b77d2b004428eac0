"""``bnpzoo report``: fits as one HTML page."""

from pathlib import Path
from typing import Annotated

import typer

from .console import say
from .inputs import FitFiles, read_fits


def report(
    fits: FitFiles,
    out_file: Annotated[Path, typer.Option("--out", help="Where to write the page (.html).")] = Path(
        "report.html"
    ),
) -> None:
    """Write a self-contained HTML report on one or more fits of one model to one corpus.

    It holds the verdict on each test quantity, trace and rank plots, top words and the model's card, and
    opens without network.
    """
    from ..diagnostics.reports.fits import check_page, write_report

    check_page(out_file)
    write_report(out_file, read_fits(fits))
    say(f"Wrote {out_file}")

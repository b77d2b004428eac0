"""``bnpzoo browse``: the topics of a fit as one page to explore."""

from pathlib import Path
from typing import Annotated

import typer

from .console import say
from .options import FitFile


def browse(
    fit: FitFile,
    out_file: Annotated[Path, typer.Option("--out", help="Where to write the page (.html).")] = Path(
        "topics.html"
    ),
    interval: Annotated[
        float, typer.Option(min=0.01, max=0.99, help="Posterior probability of the intervals.")
    ] = 0.9,
) -> None:
    """Write a topic browser: one HTML file of at most 500 kB, which opens without network.

    Topics as a map and a list, their words by relevance, documents coloured by topic, groups side by side;
    and first, as in a report, whether the chains agree.
    """
    from ..diagnostics.reports.browser import check_page, write_browser
    from ..zoo.inference import load

    check_page(out_file)
    write_browser(out_file, load(fit), interval=interval)
    say(f"Wrote {out_file}")

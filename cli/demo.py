"""``bnpzoo demo``: three back ends on one posterior, in some minutes."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .announce import announce
from .compare import exit_code, print_comparison
from .console import err, say
from .options import Seed

# Small enough for NUTS to mix well in a minute or two.
DOCUMENTS, LENGTH, WORDS = 8, 12, 8
RUNS: dict[str, dict[str, Any]] = {
    "kernel": {"tune": 500, "draws": 1000, "thin": 20},
    "numpyro": {"tune": 300, "draws": 500, "truncation": 8},
    "stan": {"tune": 300, "draws": 500, "truncation": 8},
}


def demo(
    out_file: Annotated[Path, typer.Option("--out", help="Where to write the report.")] = Path(
        "out/demo-report.html"
    ),
    seed: Seed = 1,
) -> None:
    """Sample one posterior with a kernel, NumPyro and Stan, and see whether they agree.

    Draws a small corpus from a hierarchical Dirichlet process, fits it three ways, compares the fits and
    writes a report. Takes some minutes, most of them to compile.
    """
    import numpy as np

    from ..diagnostics.compare import compare, labelled
    from ..diagnostics.reports.fits import write_report
    from ..zoo import models
    from ..zoo.contract import Design, Gamma
    from ..zoo.inference import sample

    design = Design(np.full(DOCUMENTS, LENGTH), WORDS)
    truth = models.get("hdp", gamma=1.0, alpha=1.0, eta=0.2)
    _, corpus = truth.simulate(design, np.random.default_rng(seed))
    model = models.get("hdp", gamma=1.0, alpha=Gamma(2.0, 2.0), eta=0.2)
    announce(model, corpus)
    fits = []
    for backend, run in RUNS.items():
        err.rule(backend)
        fits.append(sample(model, corpus, backend, chains=4, seed=seed, progress=True, partial=False, **run))
    comparison = compare(labelled(fits))
    print_comparison(comparison)
    out_file.parent.mkdir(parents=True, exist_ok=True)
    write_report(out_file, labelled(fits), comparison)
    say(f"Report: {out_file}")
    raise typer.Exit(exit_code(comparison))

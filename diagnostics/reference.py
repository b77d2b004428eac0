"""Reference agreement: a kernel, NumPyro and Stan on one corpus, at two levels of truncation."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import xarray as xr

from ..zoo.contract import Model
from ..zoo.corpus import Corpus
from ..zoo.inference import sample
from .compare import compare, labelled
from .verdict import Verdict, table_of

THRESHOLD = 4.0
"""Largest difference of two means that counts as agreement, in combined MCSE."""


def agrees_with_references(
    subject: str,
    model: Model,
    corpus: Corpus,
    variant: str,
    *,
    truncations: Sequence[int],
    backends: Sequence[str] = ("numpyro", "stan"),
    draws: int = 1500,
    thin: int = 10,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Verdict:
    """Compare a kernel with the reference programs on every test quantity.

    Parameters
    ----------
    subject : str
        Name for the verdict.
    model : Model
    corpus : Corpus
        Small: NUTS samples the topic proportions of every document.
    variant : str
        Of the kernel.
    truncations : sequence of int
        Sticks of the references; the error of truncation should be far below the Monte Carlo error.
    backends : sequence of str
    draws : int
        Of each of four chains, after as many halves of tuning.
    thin : int
        Sweeps of the kernel for each draw.
    seed : int
    progress : (done, total) -> None, optional

    Returns
    -------
    Verdict
        ``rejected`` where two means differ by more than 4 MCSE, ``broken`` where chains mix too badly to
        tell. With n quantities of f fits a right kernel is rejected with probability of at most
        ``6e-5 n f (f - 1) / 2``, as far as means over chains are normal.
    """
    runs = [(backend, truncation) for backend in backends for truncation in truncations]
    tune = draws // 2
    whole = partial(sample, model, corpus, tune=tune, draws=draws, seed=seed, partial=False)
    fits = [whole(variant=variant, thin=thin)]
    for done, (backend, truncation) in enumerate(runs, start=1):
        if progress is not None:
            progress(done, len(runs) + 1)
        fits.append(whole(backend, truncation=truncation))
    comparison = compare(labelled(fits), THRESHOLD)
    status = {"agree": "passed", "disagree": "rejected", "inconclusive": "broken"}[comparison.verdict]
    table = table_of(
        [row.quantity for row in comparison.rows],
        largest_difference=np.array([row.largest_difference for row in comparison.rows]),
        rhat=np.array([row.rhat for row in comparison.rows]),
    )
    pairs = len(fits) * (len(fits) - 1) / 2
    moving = [row for row in comparison.rows if row.verdict != "constant"]
    figures = {
        "fits": float(len(fits)),
        "draws": float(draws),
        "largest_difference": max((row.largest_difference for row in moving), default=0.0),
        "divergences": float(sum(_divergences(fit) for fit in fits)),
        "seed": float(seed),
    }
    return Verdict(
        "reference",
        subject,
        status,  # type: ignore[arg-type]
        comparison.headline(),
        6.3e-5 * len(moving) * pairs,
        table,
        figures,
        {label: fit["posterior"].to_dataset() for label, fit in labelled(fits).items()},
    )


def _divergences(fit: xr.DataTree) -> int:
    stats = fit["sample_stats"].to_dataset()
    return int(stats["diverging"].sum()) if "diverging" in stats else 0

"""Reference agreement: a kernel, NumPyro and Stan on one corpus, at two levels of truncation."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from ...zoo.contract import Model
from ...zoo.corpus import Corpus
from ...zoo.files import claim
from ...zoo.inference import BACKENDS, load, sample, save
from ...zoo.inference.results import describe
from ..compare import Trouble, compare, labelled
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
    backends: Sequence[str] = tuple(name for name, one in BACKENDS.items() if one.load_run is not None),
    draws: int = 1500,
    thin: int = 10,
    seed: int = 0,
    store: Path | None = None,
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
        Sticks of the references; the error of truncation should be far below the Monte Carlo error. Unused
        where the model cuts nothing off.
    backends : sequence of str
    draws : int
        Of each of four chains, after as many halves of tuning.
    thin : int
        Sweeps of the kernel for each draw.
    seed : int
    store : Path, optional
        Folder to keep each fit in as it ends, so that a run that is stopped goes on where it was.
    progress : (done, total) -> None, optional

    Returns
    -------
    Verdict
        ``rejected`` where two means differ by more than 4 MCSE, ``broken`` where chains mix too badly to
        tell. With n quantities of f fits a right kernel is rejected with probability of at most
        ``6e-5 n f (f - 1) / 2``, as far as means over chains are normal.

    Raises
    ------
    ValueError
        `store` holds another run.
    """
    levels = truncations if model.require_reference().needs_truncation else (None,)
    common = {"tune": draws // 2, "draws": draws, "seed": seed}
    runs: list[dict[str, Any]] = [{"backend": "kernel", "variant": variant, "thin": thin, "start": "seated"}]
    runs += [{"backend": backend, "truncation": level} for backend in backends for level in levels]
    if store is not None:
        corpus_of_run = {"model": model.card.id, "corpus_sha256": corpus.digest()}
        claim(store, {**corpus_of_run, "hyperparameters": describe(model), "runs": runs, **common})
    fits = []
    for done, run in enumerate(runs):
        if progress is not None:
            progress(done, len(runs))
        fits.append(_fit(model, corpus, run | common, None if store is None else store / f"fit-{done}.nc"))
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
        "divergences": float(sum(Trouble.of(fit).diverging for fit in fits)),
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


def _fit(model: Model, corpus: Corpus, settings: dict[str, Any], kept: Path | None) -> xr.DataTree:
    """Fit a model, unless a fit that ran to its end is kept already."""
    if kept is not None and kept.exists():
        return load(kept)
    fit = sample(model, corpus, **settings, partial=False)
    if kept is not None:
        save(fit, kept)
    return fit

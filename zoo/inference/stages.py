"""Burn-in in stages: each is a fit of its own, from where the one before it ended."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from ..contract import Model
from ..corpus import Corpus
from .interrupt import held_signals, stopped
from .progress import Report, told
from .sampling import sample
from .starts import Start


class Stage(NamedTuple):
    """One stage of a burn-in.

    Attributes
    ----------
    name : str
        Of the folder of its checkpoints.
    key : tuple of int
        Tells its random numbers from those of other stages.
    about : str
        What is said of it when it begins.
    model : Model
    corpus : Corpus
    sweeps : int
    """

    name: str
    key: tuple[int, ...]
    about: str
    model: Model
    corpus: Corpus
    sweeps: int


def through(
    stages: Iterable[Stage],
    *,
    seed: int,
    start: Start | Sequence[Start] | None,
    progress: bool | Report,
    checkpoint: str | Path | None,
    is_last: Callable[[xr.DataTree], bool] = lambda fit: False,
    **options: Any,
) -> xr.DataTree:
    """Go through stages, and return the fit of the last one: one draw a chain.

    Parameters
    ----------
    stages : iterable of Stage
        One at least.
    start : Start or sequence of Start, optional
        Of the first stage; also the attribute ``start`` of what is returned.
    checkpoint : path, optional
        Folder in which the chains of each stage are saved, in a folder of their own.
    is_last : (fit) -> bool
        Whether those stages that remain are left out after a fit.
    **options
        Others of `sample`.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C or SIGTERM.
    """
    fit, starts = None, ""
    with held_signals() as stop:
        for stage in stages:
            told(progress, f"{stage.about}, {stage.sweeps:,} sweeps")
            try:
                fit = sample(
                    stage.model, stage.corpus, tune=0, draws=1, thin=stage.sweeps, keep=1, partial=False,
                    seed=_seed_of(seed, stage.key), start=start if fit is None else fit, progress=progress,
                    checkpoint=None if checkpoint is None else Path(checkpoint) / stage.name, **options,
                )  # fmt: skip
            except KeyboardInterrupt:
                raise stopped(checkpoint, has_draws=False) from None
            if stop.asked:  # while the last sweep was made
                raise stopped(checkpoint, has_draws=False)
            starts = starts or fit.attrs["start"]
            if is_last(fit):
                break
    assert fit is not None
    fit.attrs["start"] = starts
    return fit


def _seed_of(seed: int, key: tuple[int, ...]) -> int:
    """Seed of a stage, so that its chains do not see the random numbers of another's."""
    return int(np.random.SeedSequence([seed, *key]).generate_state(1)[0])

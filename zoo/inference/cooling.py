"""Burn-in that cools: eta is held at a large value first, at smaller ones after it, and is free only then.

Under a large eta topics are broad and few, and chains find them from wherever they start; as eta falls, they
part. An eta that is free at once falls within some sweeps, as it follows how special the first topics are,
and what two chains have formed by then is too special to merge.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from ..arguments import checked_seed, number_above, whole_number
from ..contract import Model
from ..corpus import Corpus
from ..families.topics import Dirichlet
from ..priors import Prior
from .progress import Report
from .results import latents_of
from .stages import Stage, through
from .starts import Start

if TYPE_CHECKING:
    from distributed import Client

SHARE = 2 / 3
"""What is left of eta from one stage to the next."""

HOTTEST = 0.2
"""Least value of eta to begin with."""

TIMES = 16
"""So many times the eta of the model is where it begins, if that is fixed and this is more."""

COLDEST = 1e-6
"""Eta below which no stage goes, where eta is sampled: far less than real corpora ask for."""


def cool(
    model: Model,
    corpus: Corpus | Any,
    sweeps: int = 25,
    *,
    hottest: float | None = None,
    variant: str | None = None,
    chains: int = 4,
    seed: int = 0,
    start: Start | Sequence[Start] | None = None,
    workers: int | None = None,
    cluster: "str | Client | None" = None,
    progress: bool | Report = False,
    checkpoint: str | Path | None = None,
    resume: bool = False,
) -> xr.DataTree:
    """Fit a corpus with eta fixed at ever smaller values, each from where the one before ended: a start.

    Where the model has eta fixed, the values go down to it. Where it samples eta, they go down as long as the
    next one has, on the average of the chains, the larger joint density at the topics that there are.

    Parameters
    ----------
    model : Model
        One with symmetric Dirichlet topics, whose chains can start at given topics.
    corpus : Corpus, document-word matrix, or sequence of str or of lists of str
        As for `sample`.
    sweeps : int
        At each value.
    hottest : float, optional
        The first value; the others are each two thirds of the one before. Unless given, 0.2, or 16 times the
        eta of the model if that is fixed and this is more.
    variant, chains, seed, start, workers, cluster, progress
        As for `sample`; `start` is that under the first value.
    checkpoint : path, optional
        Folder in which the chains under each value are saved, in a folder of their own.
    resume : bool
        As for `sample`.

    Returns
    -------
    xarray.DataTree
        The fit under the last value, one draw a chain, for ``sample(…, start=…)``; its attribute ``start``
        is that under the first.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C or SIGTERM.
    ValueError
        The topics are others, eta is fixed at `hottest` or more, or `sweeps` is below 1; or as `sample` does.
    """
    corpus = Corpus.of(corpus)
    check_cooling(model, hottest)
    seed, sweeps = checked_seed(seed), whole_number("sweeps", sweeps, 1)
    own = model.hyperparameters()["eta"]
    is_sampled = isinstance(own, Prior)
    values = list(_values(hottest or _hottest(own), COLDEST if is_sampled else own))
    following = dict(pairwise(values))

    def stages() -> Iterator[Stage]:
        for number, eta in enumerate(values, start=1):
            yield Stage(f"eta-{number}", (number,), f"eta {eta:.2g}", model.replaced(eta=eta), corpus, sweeps)

    def is_cold(fit: xr.DataTree) -> bool:
        if not is_sampled:
            return False
        states = [latents for _, _, latents in latents_of(fit)]
        eta = float(states[0]["eta"])
        colder = {"eta": np.array(following.get(eta, eta))}
        gains = [
            model.log_joint(latents | colder, corpus) - model.log_joint(latents, corpus) for latents in states
        ]
        return sum(gains) <= 0.0

    return through(
        stages(), seed=seed, start=start, progress=progress, checkpoint=checkpoint, is_last=is_cold,
        variant=variant, chains=chains, workers=workers, cluster=cluster, resume=resume,
    )  # fmt: skip


def check_cooling(model: Model, hottest: float | None = None) -> None:
    """Raise the ValueError with which `cool` would refuse these arguments, without sampling."""
    topics = getattr(model, "topics", None)
    if not isinstance(topics, Dirichlet):
        kind = "others" if topics is None else topics.name
        raise ValueError(f"cool: expected symmetric Dirichlet topics, found {kind} in {model.card.id}")
    if hottest is not None:
        hottest = number_above("hottest", hottest, COLDEST)
        if not isinstance(topics.eta, Prior) and topics.eta >= hottest:
            raise ValueError(f"cool: expected eta below {hottest:g}, where it begins, found {topics.eta:g}")
    model.check_start()


def _hottest(own: float | Prior) -> float:
    return HOTTEST if isinstance(own, Prior) else max(HOTTEST, TIMES * own)


def _values(hottest: float, end: float) -> Iterator[float]:
    """Values of eta, from the largest down, above `end`."""
    value = float(hottest)
    while value > end:
        yield value
        value *= SHARE

"""Burn-in on a corpus that grows: first few of its documents, then twice as many, and so on.

A sweep of few documents takes little time, and what is slow about a start, such as a topic of common words
that nearly all tokens have, is over after as many sweeps of few documents as of many. Few documents have more
topics each than they would have among many, so that chains come to the whole from above.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from ..arguments import checked_seed, whole_number
from ..contract import Model
from ..corpus import Corpus
from .progress import Report
from .stages import Stage, through
from .starts import Start

if TYPE_CHECKING:
    from distributed import Client


def grow(
    model: Model,
    corpus: Corpus | Any,
    parts: int = 16,
    *,
    sweeps: int = 500,
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
    """Fit ever larger parts of a corpus, each from where the one before it ended: a start for the whole.

    Parameters
    ----------
    model : Model
        One whose chains can start at given topics.
    corpus : Corpus, document-word matrix, or sequence of str or of lists of str
        As for `sample`.
    parts : int
        The first part is one in so many documents, at random; each has twice as many as the one before it,
        and the last one is not the whole.
    sweeps : int
        The work in all: as many tokens as so many sweeps of the whole have, the same number in each part.
    variant, chains, seed, start, workers, cluster, progress
        As for `sample`; `start` is that of the first part.
    checkpoint : path, optional
        Folder in which the chains of each part are saved, in a folder of their own.
    resume : bool
        As for `sample`.

    Returns
    -------
    xarray.DataTree
        The fit of the last part, one draw a chain, for ``sample(…, start=…)``; its attribute ``start`` is
        that of the first part.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C or SIGTERM.
    ValueError
        `parts` is below 2 or more than there are documents with tokens, or `sweeps` below 1; or as `sample`
        does.
    """
    corpus = Corpus.of(corpus)
    check_growth(model, corpus, parts)
    seed, sweeps = checked_seed(seed), whole_number("sweeps", sweeps, 1)
    filled = np.flatnonzero(corpus.doc_lengths)
    shuffled = np.random.default_rng([seed, parts]).permutation(filled)
    shares = _shares(parts)

    def stages() -> Iterator[Stage]:
        for share in shares:
            part = corpus.take(np.sort(shuffled[: round(filled.size * share)]))
            n_sweeps = max(1, round(sweeps * corpus.n_tokens / (len(shares) * part.n_tokens)))
            yield Stage(
                f"{share.numerator}-in-{share.denominator}",
                (share.numerator, share.denominator),
                f"{share} of the documents: {part.n_tokens:,} tokens",
                model,
                part,
                n_sweeps,
            )

    return through(
        stages(), seed=seed, start=start, progress=progress, checkpoint=checkpoint, variant=variant,
        chains=chains, workers=workers, cluster=cluster, resume=resume,
    )  # fmt: skip


def check_growth(model: Model, corpus: Corpus, parts: int) -> None:
    """Raise the ValueError with which `grow` would refuse these arguments, without sampling."""
    n_filled = np.count_nonzero(corpus.doc_lengths)
    if not 2 <= parts <= n_filled:
        raise ValueError(f"grow: expected 2 to {n_filled:,}, the documents with tokens, found {parts}")
    model.check_start()


def _shares(parts: int) -> list[Fraction]:
    """Shares of the documents: one in `parts`, then twice as many, below all."""
    return [Fraction(1 << j, parts) for j in range((parts - 1).bit_length())]

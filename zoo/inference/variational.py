"""The back end of variational inference: draws from a law that is near the posterior, and simpler."""

import time
from typing import NamedTuple

import numpy as np
import scipy

from ..contract import Iteration, Model, Probes
from ..corpus import Corpus
from .backends import check_variant
from .interrupt import Stop
from .progress import Report
from .record import Record
from .schedule import Schedule

ENOUGH = 1e-6
"""A chain has converged where an iteration changes its objective by less than this share of it."""


class End(NamedTuple):
    """Where a chain ended.

    Attributes
    ----------
    bound : float
        Its objective, a lower bound on the log density of the words and of what the law has as points.
    iterations : int
        After how many.
    converged : bool
        Else there were no more iterations, or the run was stopped.
    """

    bound: float
    iterations: int
    converged: bool


class Fitted(NamedTuple):
    """What the chains, each an iteration from a start of its own, come to.

    Attributes
    ----------
    records : list of Record
    stats : dict of array (chain, draw)
        The fields of `End`.
    variant, version : str
    left_out : list of int
        Chains that had not begun when the run was stopped.
    interrupted : bool
        Whether it was stopped before the last chain had ended.
    """

    records: list[Record]
    stats: dict[str, np.ndarray]
    variant: str
    version: str
    left_out: list[int]
    interrupted: bool


def run(
    model: Model,
    corpus: Corpus,
    probes: Probes,
    schedule: Schedule,
    variant: str | None,
    chains: int,
    seed: int,
    truncation: int,
    stop: Stop,
    progress: Report,
) -> Fitted:
    """Iterate from so many starts; draw from where each ends.

    The tuning of `schedule` is how many iterations there are at most. Draws are independent, so that it makes
    no difference how thin they are. When it is asked to `stop`, what a chain has come to is drawn from, and
    no further one begins.

    Raises
    ------
    ValueError
        There is to be no iteration, and so no law to draw from.
    """
    if schedule.tune < 1:
        raise ValueError("tune: backend 'vi' needs at least one iteration, found 0")
    approximation = model.require_variational()
    variant = check_variant(approximation, model, variant)
    records: list[Record] = []
    ends: list[End] = []
    for number, child in enumerate(np.random.SeedSequence(seed).spawn(chains)):
        if stop.asked:
            break
        rng, started = np.random.Generator(np.random.PCG64(child)), time.thread_time()
        progress(number, 0, schedule.tune, "starting")
        iteration = approximation.begin(corpus, truncation, rng, variant)
        end = _iterate(iteration, number, schedule.tune, stop, progress)
        if not end.iterations:  # a start is no law yet
            break
        progress(number, schedule.tune, schedule.tune)
        ends.append(end)
        records.append(_draws(model, corpus, probes, schedule, iteration, rng, started))
    of_chains = {name: np.array([getattr(end, name) for end in ends]) for name in End._fields}
    stats = {name: np.repeat(values[:, None], schedule.draws, axis=1) for name, values in of_chains.items()}
    left_out = list(range(len(ends), chains))
    is_cut = any(not end.converged and end.iterations < schedule.tune for end in ends)
    return Fitted(records, stats, variant, f"scipy {scipy.__version__}", left_out, is_cut or bool(left_out))


def _iterate(iteration: Iteration, number: int, most: int, stop: Stop, progress: Report) -> End:
    """Iterate until the objective stays, at `most` so many times, or until it is asked to `stop`."""
    bound, done, converged = -np.inf, 0, False
    while done < most and not converged and not stop.asked:
        before, bound = bound, iteration.advance()
        done += 1
        converged = abs(bound - before) < ENOUGH * abs(bound)
        progress(number, done, most)
    return End(bound, done, converged)


def _draws(
    model: Model,
    corpus: Corpus,
    probes: Probes,
    schedule: Schedule,
    iteration: Iteration,
    rng: np.random.Generator,
    started: float,
) -> Record:
    record = Record()
    for _ in range(schedule.draws):
        latents = iteration.draw(rng)
        if schedule.keeps(len(record.seconds)):
            record.kept.append((len(record.seconds), latents))
        record.quantities.append(model.quantities(latents, corpus, probes))
        now = time.thread_time()
        record.seconds.append(now - started)
        started = now
    return record

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
"""Iterations end where one raises the bound by less than this share of it."""


class Fitted(NamedTuple):
    """What the chains, each an iteration from a start of its own, come to.

    Attributes
    ----------
    records : list of Record
    stats : dict of float (chain, draw)
        ``bound``, on the log evidence, where a chain ended; and ``iterations``, after how many.
    variant, version : str
    """

    records: list[Record]
    stats: dict[str, np.ndarray]
    variant: str
    version: str


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
    """
    approximation = model.require_variational()
    variant = check_variant(approximation, model, variant)
    records, ends = [], []
    for number, child in enumerate(np.random.SeedSequence(seed).spawn(chains)):
        if stop.asked:
            break
        rng, started = np.random.Generator(np.random.PCG64(child)), time.thread_time()
        progress(number, 0, schedule.tune, "starting")
        iteration = approximation.begin(corpus, truncation, rng, variant)
        bound, done = -np.inf, 0
        while done < schedule.tune and not stop.asked:
            before, bound = bound, iteration.advance()
            done += 1
            progress(number, done, schedule.tune)
            if abs(bound - before) < ENOUGH * abs(bound):
                break
        progress(number, schedule.tune, schedule.tune)
        ends.append((bound, done))
        records.append(_draws(model, corpus, probes, schedule, iteration, rng, started))
    of_draws = np.repeat(np.array(ends, float).reshape(-1, 1, 2), schedule.draws, axis=1)
    stats = {"bound": of_draws[..., 0], "iterations": of_draws[..., 1]}
    return Fitted(records, stats, variant, f"scipy {scipy.__version__}")


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

"""Chains of a kernel, side by side: what tells their run from others, and the threads that they run in."""

import hashlib
import json
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import asdict, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numba
import numpy as np

from ..contract import Model, Probes
from ..corpus import Corpus
from .chain import Chain
from .checkpoint import claimed, write_run
from .cluster import software
from .interrupt import Stop, held_signals
from .progress import Report, compiling, displayed
from .results import describe
from .rounds import Halt, Target, run_rounds
from .schedule import Schedule
from .starts import Start, starting_points


def run_chains(
    model: Model,
    corpus: Corpus,
    probes: Probes,
    schedule: Schedule,
    target: Target,
    *,
    variant: str | None,
    chains: int,
    seed: int,
    start: Start | Sequence[Start] | None,
    workers: int | None,
    progress: bool | Report,
    checkpoint: str | PathLike[str] | None,
    resume: bool,
    make: Callable[..., Chain] = Chain,
    streamed: bool = False,
) -> tuple[list[Chain], dict[str, Any], bool]:
    """Run chains, fresh or from their checkpoints, until they have met the target or the user stops them.

    Parameters
    ----------
    variant, chains, seed, start, workers, progress, checkpoint, resume
        As for `sample`.
    make : callable
        Makes a chain of what `Chain` takes.
    streamed : bool
        Whether draws are not in the checkpoints, which are then of no use to chains that hold them.

    Returns
    -------
    chains : list of Chain
    attributes : dict
        Of the root of a fit: ``variant``, ``backend_version``, ``start`` and ``compile_seconds``.
    is_stopped : bool
        Whether the user has asked to stop.
    """
    variant = variant or next(iter(model.kernels))
    points = starting_points(start, model, corpus)
    starts = [point.name for point in points]
    directory = None if checkpoint is None else Path(checkpoint)
    with compiling(progress):
        compile_seconds = _compile(model, corpus, variant)
    with held_signals() as stop, claimed(directory):
        if directory is not None:
            identity = {
                **software(),
                "model": model.card.id,
                "hyperparameters": describe(model),
                "variant": variant,
                "corpus_sha256": corpus.digest(),
                "groups": corpus.n_groups,
                "names of labels": _digest_of_names(corpus),
                "seed": seed,
                "chains": chains,
                "start": starts,
                "schedule": asdict(schedule),
                "streamed": streamed,
            }
            write_run(directory, identity, resume)
        runners = [
            make(
                number, model, corpus, model.kernel(variant), probes, schedule,
                np.random.Generator(np.random.PCG64(child)), points[number % len(points)],
                None if directory is None else directory / f"chain-{number}.npz",
            )
            for number, child in enumerate(np.random.SeedSequence(seed).spawn(chains))
        ]  # fmt: skip
        n_threads, halt = min(chains, workers or os.cpu_count() or 1), Halt(stop, target.within)
        with displayed(progress, chains) as report:
            run_rounds(
                runners, schedule, target, halt, report,
                lambda noted, goal: _in_threads(runners, n_threads, stop, halt, noted, goal),
            )  # fmt: skip
    attributes = {
        "variant": variant,
        "backend_version": f"numba {numba.__version__}",
        "start": ",".join(starts),
        "compile_seconds": compile_seconds,
    }
    return runners, attributes, stop.asked


def _digest_of_names(corpus: Corpus) -> str:
    """Hash of what the codes of covariates stand for, which `Corpus.digest` leaves out."""
    names = {name: list(map(str, of)) for name, of in sorted(corpus.covariate_names.items())}
    return hashlib.sha256(json.dumps(names).encode()).hexdigest()


def _compile(model: Model, corpus: Corpus, variant: str) -> float:
    """Sweep one document, so that no chain's time has the compiling of its kernel in it; return seconds.

    Several times, as some kernels sweep in one way or another by chance, and in one alone while they seat
    tokens. The others stay, without their tokens: what models take from labels is of all documents.
    """
    started = time.perf_counter()
    kernel, rng = model.kernel(variant), np.random.Generator(np.random.PCG64(0))
    one = _first_document(corpus)
    state = kernel.load(model.initial_latents(one, rng), one, model)
    for _ in range(8):
        state = kernel.step(rng, state)
    return time.perf_counter() - started


def _first_document(corpus: Corpus) -> Corpus:
    """Corpus of the tokens of one document; `Corpus.keep` would look at all that there are."""
    d = np.argmax(corpus.doc_lengths > 0)
    start, end = corpus.doc_ptr[d], corpus.doc_ptr[d + 1]

    def within(pointers: np.ndarray) -> np.ndarray:
        return np.clip(pointers, start, end) - start

    return replace(
        corpus,
        words=corpus.words[start:end],
        doc_ptr=within(corpus.doc_ptr),
        segment_ptr=None if corpus.segment_ptr is None else np.unique(within(corpus.segment_ptr)),
    )


def _in_threads(chains: list[Chain], workers: int, stop: Stop, halt: Halt, report: Report, goal: int) -> None:
    """Run `chains` to a goal; where it is time to stop, or one of them fails, let each finish its sweep."""
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(chain.run, halt, report, goal) for chain in chains]
        # Signals are heard between two waits; one without a timeout would not end on every platform.
        while wait(futures, timeout=0.2, return_when=FIRST_EXCEPTION).not_done:
            if any(future.done() and future.exception() for future in futures):
                stop.asked = True
    for future in futures:
        future.result()

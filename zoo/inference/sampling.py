"""`sample`: one entry to all back ends."""

import os
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numba
import numpy as np
import xarray as xr

from ..._version import __version__
from ..contract import Model, Probes
from ..corpus import Corpus, CorpusError
from . import variational
from .backends import Backend, Run, backend_by_name
from .chain import Chain
from .checkpoint import write_run
from .interrupt import Stop, held_signals
from .needs import check_memory
from .progress import Report, bars, compiling, silent
from .record import Record
from .results import assemble, describe
from .rounds import Halt, Target, common_draws, run_rounds
from .schedule import Schedule
from .starts import Start, StartingPoint, starting_points

LARGEST_TREE = 2**10 - 1
"""Steps of a trajectory of NUTS that its largest tree cuts off, in both reference back ends."""


def sample(
    model: Model,
    corpus: Corpus | Any,
    backend: str = "kernel",
    *,
    variant: str | None = None,
    chains: int = 4,
    tune: int = 500,
    draws: int = 500,
    thin: int = 1,
    seed: int = 0,
    start: Start | Sequence[Start] | None = None,
    until: float | None = None,
    within: float | None = None,
    truncation: int | None = None,
    keep: int = 10,
    workers: int | None = None,
    progress: bool | Report = False,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    paranoid: bool = False,
    partial: bool = True,
) -> xr.DataTree:
    """Draw from the posterior of `model` given `corpus`.

    Parameters
    ----------
    model : Model
    corpus : Corpus, document-word matrix, or sequence of str or of lists of str
        All but a corpus become one by `Corpus.of`.
    backend : {"kernel", "numpyro", "stan", "vi"}
        The handwritten sampler, or a finite-truncation reference under NUTS; or draws from what variational
        inference comes to, where a model has that: an approximation, whose chains are starts.
    variant : str, optional
        Which of the model's kernels, or of its variational inferences; the first by default.
    chains : int
        Each has its own generator, spawned from `seed`.
    tune, draws, thin : int
        Sweeps (NUTS iterations) before the first draw; draws a chain; sweeps a draw. Of variational
        inference, whose draws are independent, `tune` is how many iterations there are at most.
    seed : int
        The same seed and number of chains give the same draws to the last bit.
    start : str, path, DataTree or sequence of them, optional
        Where chains start, taken in turn; a text may name several, with commas between them. ``"seated"``:
        tokens take topics one after the other, each given those before it. ``"one"``: all have one topic.
        ``"documents"``: a topic a document (of more than 2,000, neighbours share one). ``"random:K"``: K
        topics at random. A fit of this corpus, or its file, or one of a corpus that has grown since. Where
        the number of topics is free, ``"seated,documents"`` is the default: from few topics, and from many.
    until : float, optional
        Go on until R-hat of all global quantities (all but those that look at single tokens, documents or
        words) is at most this, and their effective sample sizes are at least 100, as seen at certain sweeps.
        `tune` and `draws` are then the least. The share of sweeps that is dropped stays that of `tune`, and
        `thin` doubles with the length of the chains, so that there are from `draws` to twice as many draws.
        They are, to the last bit, those of a plain run with the `tune` and `thin` of the result.
    within : float, optional
        Seconds after which to stop, whether or not chains have met. Without `until` all are used.
    truncation : int, optional
        Sticks of the reference programs, and of variational inference; needed by nonparametric models.
    keep : int
        Draws a chain whose latent variables are kept, evenly spread.
    workers : int, optional
        Threads that kernels' chains run in; as many as cores by default. Does not change the draws.
    progress : bool or callable
        True draws bars on standard error; a callable is called as `Report` says.
    checkpoint : path, optional
        Directory that the kernels' chains are saved to every half minute, at the end and on Ctrl-C.
    resume : bool
        Go on from the checkpoints in `checkpoint`; the draws are those of a run that was never stopped.
    paranoid : bool
        Recount every statistic of the kernels after every sweep.
    partial : bool
        Whether to return what was drawn, rather than to raise KeyboardInterrupt, when the run is stopped.

    Returns
    -------
    xarray.DataTree
        Groups ``posterior`` (test quantities), ``sample_stats``, ``latents``, ``observed_data`` and
        ``constant_data``. After Ctrl-C or SIGTERM, which chains take note of between two sweeps, it holds the
        chains that have draws, cut to the shortest, and its attribute ``interrupted`` is 1.

        The statistic ``seconds`` is the CPU time that led to each draw, tuning included. The attributes
        ``wall_seconds`` and ``compile_seconds`` are wall time, of the run without compiling and of that.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C or SIGTERM before the first draw, or unless `partial`; says what was kept.
    ValueError
        For an argument out of range; `CorpusError` for a corpus without tokens; `CheckpointError` for
        checkpoints of another run.
    """
    corpus = Corpus.of(corpus)
    given = {"variant": variant, "truncation": truncation, "checkpoint": checkpoint, "start": start}
    engine = _checked(model, corpus, backend, given | {"until": until, "within": within}, resume)
    if chains < 1:
        raise ValueError(f"chains: expected at least 1, found {chains}")
    target = Target(until, within)
    schedule = Schedule(tune, draws, thin, keep, target.is_open)
    check_memory(model, corpus, backend, variant, truncation, chains, schedule)
    probes = Probes.of(corpus)
    started = time.perf_counter()
    display = bars(chains) if progress is True else nullcontext(progress or silent)
    if engine.is_approximate:
        with held_signals() as stop, display as report:
            records, stats, variant, version = variational.run(
                model, corpus, probes, schedule, variant, chains, seed, truncation or 0, stop, report
            )
        compile_seconds, started_at = 0.0, ""
        interrupted = stop.asked
    elif engine.load_run is None:
        variant = variant or next(iter(model.kernels))
        directory = None if checkpoint is None else Path(checkpoint)
        points = starting_points(start, model, corpus)
        with compiling() if progress is True else nullcontext():
            compile_seconds = _compile(model, corpus, variant)
        with held_signals() as stop:
            runners = _chains(
                model, corpus, probes, schedule, variant, chains, seed, points, directory, resume, paranoid
            )
            n_threads = min(chains, workers or os.cpu_count() or 1)
            with display as report:
                halt = Halt(stop, within)
                run_rounds(
                    runners, schedule, target, halt, report,
                    lambda noted, goal: _in_threads(runners, n_threads, stop, halt, noted, goal),
                )  # fmt: skip
        records, tune, thin = common_draws(runners, schedule)
        started_at = ",".join(point.name for point in points)
        interrupted = stop.asked if schedule.is_open else _is_short(records, chains, draws)
        stats: dict[str, np.ndarray] = {}
        version = f"numba {numba.__version__}"
    else:
        with held_signals(), display as report:
            records, stats, version, compile_seconds = _reference(
                model, corpus, probes, schedule, engine.load_run(), chains, seed, truncation or 0, report
            )
        records = [record for record in records if record.seconds]
        interrupted, started_at = _is_short(records, chains, draws), ""
    if not records or (interrupted and not partial):
        raise KeyboardInterrupt(_stopped(checkpoint, records))
    attributes = {
        "variant": variant,
        "backend": backend,
        "backend_version": version,
        "bnpzoo_version": __version__,
        "seed": seed,
        "tune": tune,
        "thin": thin,
        "truncation": truncation,
        "interrupted": int(interrupted),
        "start": started_at,
        "until": until,
        "within": within,
        "wall_seconds": time.perf_counter() - started - compile_seconds,
        "compile_seconds": compile_seconds,
    }
    return assemble(model, corpus, probes, records, stats, attributes)


def check(
    model: Model,
    corpus: Corpus,
    backend: str = "kernel",
    *,
    variant: str | None = None,
    truncation: int | None = None,
    start: Start | Sequence[Start] | None = None,
    until: float | None = None,
    within: float | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = False,
) -> None:
    """Raise the ValueError with which `sample` would refuse these arguments, without sampling."""
    given = {"variant": variant, "truncation": truncation, "checkpoint": checkpoint, "start": start}
    engine = _checked(model, corpus, backend, given | {"until": until, "within": within}, resume)
    Target(until, within)
    if engine.is_approximate:
        model.require_variational()
    elif engine.load_run is None:
        for point in starting_points(start, model, corpus):
            model.kernel(variant).load(point.latents(np.random.default_rng(0), 0), corpus, model)
    else:
        model.require_reference().numpyro(corpus, truncation or 0)


def _checked(
    model: Model,
    corpus: Corpus,
    backend: str,
    given: dict[str, Any],
    resume: bool,
) -> Backend:
    """Check what does not depend on the model's own code; return the back end.

    Parameters
    ----------
    given : dict
        Arguments of `sample` that some back ends take; None for those that are not given.
    """
    engine, checkpoint = backend_by_name(backend), given["checkpoint"]
    if corpus.n_tokens == 0:
        raise CorpusError("expected a corpus with at least one token, found none")
    if checkpoint is not None and not os.fspath(checkpoint):
        raise ValueError("checkpoint: expected the name of a folder, found an empty one")
    if resume and checkpoint is None:
        raise ValueError("resume: expected a checkpoint to go on from")
    check_memory(model, corpus, backend, given["variant"], given["truncation"])
    engine.check(model, given)
    return engine


def _compile(model: Model, corpus: Corpus, variant: str) -> float:
    """Sweep one document, so that no chain's time has the compiling of its kernel in it; return seconds."""
    started = time.perf_counter()
    kernel, rng = model.kernel(variant), np.random.Generator(np.random.PCG64(0))
    document = corpus.take([np.argmax(corpus.doc_lengths > 0)])
    kernel.step(rng, kernel.load(model.initial_latents(document, rng), document, model))
    return time.perf_counter() - started


def _chains(
    model: Model,
    corpus: Corpus,
    probes: Probes,
    schedule: Schedule,
    variant: str,
    chains: int,
    seed: int,
    points: list[StartingPoint],
    directory: Path | None,
    resume: bool,
    paranoid: bool,
) -> list[Chain]:
    """Chains of a kernel, fresh or from their checkpoints in `directory`."""
    kernel = model.kernel(variant)
    if directory is not None:
        run = {
            "bnpzoo": __version__,
            "model": model.card.id,
            "hyperparameters": describe(model),
            "variant": variant,
            "corpus_sha256": corpus.digest(),
            "seed": seed,
            "chains": chains,
            "start": [point.name for point in points],
            "schedule": asdict(schedule),
        }
        write_run(directory, run, resume)
    return [
        Chain(
            number, model, corpus, kernel, probes, schedule, np.random.Generator(np.random.PCG64(child)),
            points[number % len(points)],
            None if directory is None else directory / f"chain-{number}.npz", paranoid,
        )
        for number, child in enumerate(np.random.SeedSequence(seed).spawn(chains))
    ]  # fmt: skip


def _is_short(records: list[Record], chains: int, draws: int) -> bool:
    """Whether chains or draws are missing."""
    return len(records) < chains or any(len(record.seconds) < draws for record in records)


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


def _stopped(checkpoint: str | Path | None, records: list[Record]) -> str:
    """Say what is left of a run that was stopped and returns no draws."""
    when = "before the last draw" if records else "before the first draw"
    kept = "nothing was kept" if checkpoint is None else f"the chains can be resumed from {checkpoint}"
    return f"stopped {when}; {kept}"


def _reference(
    model: Model,
    corpus: Corpus,
    probes: Probes,
    schedule: Schedule,
    run: Run,
    chains: int,
    seed: int,
    truncation: int,
    report: Report,
) -> tuple[list[Record], dict[str, np.ndarray], str, float]:
    """Run a reference program; draw topics given its parameters, so that all back ends share quantities.

    A run that was stopped has fewer chains or draws.

    Returns
    -------
    records : list of Record
    stats : dict of array (chain, draw)
    version : str
    compile_seconds : float
    """
    try:
        result = run(
            model, corpus, truncation, chains, schedule.tune, schedule.draws * schedule.thin, seed, report
        )
    except KeyboardInterrupt:  # before the first draw
        return [], {}, "", 0.0
    reference = model.require_reference()
    records = []
    for c, child in enumerate(np.random.SeedSequence([seed, 1]).spawn(len(result["seconds"]))):
        rng = np.random.Generator(np.random.PCG64(child))
        record = Record()
        iterations = range(schedule.thin - 1, result["stats"]["diverging"].shape[1], schedule.thin)
        for j in iterations:
            draw = {name: values[c, j] for name, values in result["draws"].items()}
            latents = reference.latents(draw, corpus, rng)
            if schedule.keeps(len(record.seconds), schedule.draws):
                record.kept.append((len(record.seconds), latents))
            record.quantities.append(model.quantities(latents, corpus, probes))
            record.seconds.append(float(result["seconds"][c]) / len(iterations))
        records.append(record)
    stats = {name: values[:, schedule.thin - 1 :: schedule.thin] for name, values in result["stats"].items()}
    stats["reached_max_treedepth"] = stats["n_steps"] >= LARGEST_TREE
    return records, stats, result["backend_version"], result["compile_seconds"]

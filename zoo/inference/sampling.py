"""`sample`: one entry to the three back ends."""

import os
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from threading import Event
from typing import Any

import numba
import numpy as np
import xarray as xr

from ..._version import __version__
from ..contract import Model, Probes
from ..corpus import Corpus, CorpusError
from .chain import Chain, Record, Schedule
from .checkpoint import write_run
from .needs import check_memory
from .progress import Report, bars, silent
from .results import assemble, describe

BACKENDS = ("kernel", "numpyro", "stan")


def sample(
    model: Model,
    corpus: Corpus,
    backend: str = "kernel",
    *,
    variant: str | None = None,
    chains: int = 4,
    tune: int = 500,
    draws: int = 500,
    thin: int = 1,
    seed: int = 0,
    truncation: int | None = None,
    keep: int = 10,
    workers: int | None = None,
    progress: bool | Report = False,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    paranoid: bool = False,
) -> xr.DataTree:
    """Draw from the posterior of `model` given `corpus`.

    Parameters
    ----------
    model : Model
    corpus : Corpus
    backend : {"kernel", "numpyro", "stan"}
        The handwritten sampler, or a finite-truncation reference under NUTS.
    variant : str, optional
        Which of the model's kernels; the first by default.
    chains : int
        Each has its own generator, spawned from `seed`.
    tune, draws, thin : int
        Sweeps (NUTS iterations) before the first draw; draws a chain; sweeps a draw.
    seed : int
        The same seed and number of chains give the same draws to the last bit.
    truncation : int, optional
        Sticks of the reference programs; needed by those of nonparametric models.
    keep : int
        Draws a chain whose latent variables are kept, evenly spread.
    workers : int, optional
        Threads that kernels' chains run in; as many as cores by default. Does not change the draws.
    progress : bool or callable
        True draws bars on standard error; a callable is called as `Report` says.
    checkpoint : path, optional
        Directory that the kernels' chains are saved to every half minute, at the end and on Ctrl-C.
    resume : bool
        Go on from the checkpoints; the draws are those of a run that was never stopped.
    paranoid : bool
        Recount every statistic of the kernels after every sweep.

    Returns
    -------
    xarray.DataTree
        Groups ``posterior`` (test quantities), ``sample_stats``, ``latents``, ``observed_data`` and
        ``constant_data``. After Ctrl-C it holds the chains that have draws, cut to the shortest, and its
        attribute ``interrupted`` is 1; where there are none, KeyboardInterrupt goes on.

    Raises
    ------
    ValueError
        For an argument out of range; `CorpusError` for a corpus without tokens; `CheckpointError` for
        checkpoints of another run.
    """
    _check_arguments(model, corpus, backend, variant, truncation, checkpoint)
    if chains < 1:
        raise ValueError(f"chains: expected at least 1, found {chains}")
    schedule = Schedule(tune, draws, thin, keep)
    check_memory(model, corpus, backend, variant, truncation, chains, schedule)
    probes = Probes.of(corpus)
    display = bars(chains) if progress is True else nullcontext(progress or silent)
    if backend == "kernel":
        variant = variant or next(iter(model.kernels))
        directory = None if checkpoint is None else Path(checkpoint)
        runners = _chains(model, corpus, probes, schedule, variant, chains, seed, directory, resume, paranoid)
        with display as report:
            records, interrupted = _in_threads(runners, min(chains, workers or os.cpu_count() or 1), report)
        stats: dict[str, np.ndarray] = {}
        version = f"numba {numba.__version__}"
    else:
        with display as report:
            records, stats, version = _reference(
                model, corpus, probes, schedule, backend, chains, seed, truncation or 0, report
            )
        interrupted = False
    records = [record for record in records if record.seconds]
    if not records:
        raise KeyboardInterrupt
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
    }
    return assemble(model, corpus, probes, records, stats, attributes)


def check(
    model: Model,
    corpus: Corpus,
    backend: str = "kernel",
    *,
    variant: str | None = None,
    truncation: int | None = None,
    checkpoint: str | Path | None = None,
) -> None:
    """Raise the ValueError with which `sample` would refuse these arguments, without sampling."""
    _check_arguments(model, corpus, backend, variant, truncation, checkpoint)
    if backend == "kernel":
        start = model.initial_latents(corpus, np.random.default_rng(0))
        model.kernel(variant).load(start, corpus, model)
    else:
        model.numpyro(corpus, truncation or 0)


def _check_arguments(
    model: Model,
    corpus: Corpus,
    backend: str,
    variant: str | None,
    truncation: int | None,
    checkpoint: str | Path | None,
) -> None:
    """Check what does not depend on the model's own code."""
    if backend not in BACKENDS:
        raise ValueError(f"backend: expected one of {', '.join(BACKENDS)}, found {backend!r}")
    if corpus.n_tokens == 0:
        raise CorpusError("expected a corpus with at least one token, found none")
    check_memory(model, corpus, backend, variant, truncation)
    if backend == "kernel":
        if truncation is not None:
            raise ValueError("truncation: kernels have none; it is for the numpyro and stan back ends")
        return
    if checkpoint is not None or variant is not None:
        raise ValueError(f"checkpoint and variant are for kernels, not for backend {backend!r}")
    most = model.largest_truncation
    expected = "at least 2" if most is None else f"2 to {most}"
    if truncation is None and "nonparametric" in model.card.tags:
        raise ValueError(
            f"truncation: backend {backend!r} needs one for the nonparametric {model.card.id}, {expected}"
        )
    if truncation is not None and truncation < 2:
        raise ValueError(f"truncation: expected {expected}, found {truncation}")


def _chains(
    model: Model,
    corpus: Corpus,
    probes: Probes,
    schedule: Schedule,
    variant: str,
    chains: int,
    seed: int,
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
            "schedule": asdict(schedule),
        }
        write_run(directory, run, resume)
    return [
        Chain(
            number, model, corpus, kernel, probes, schedule, np.random.Generator(np.random.PCG64(child)),
            None if directory is None else directory / f"chain-{number}.npz", paranoid,
        )
        for number, child in enumerate(np.random.SeedSequence(seed).spawn(chains))
    ]  # fmt: skip


def _in_threads(chains: list[Chain], workers: int, report: Report) -> tuple[list[Record], bool]:
    """Run `chains`; on Ctrl-C let each finish its sweep, and say that it happened."""
    stop = Event()
    interrupted = False
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(chain.run, stop, report) for chain in chains]
        try:
            # A wait without a timeout would not be woken by Ctrl-C on every platform.
            while wait(futures, timeout=0.2, return_when=FIRST_EXCEPTION).not_done:
                if any(future.done() and future.exception() for future in futures):
                    break
        except KeyboardInterrupt:
            interrupted = True
        finally:
            if interrupted or any(future.done() and future.exception() for future in futures):
                stop.set()
    return [future.result() for future in futures], interrupted


def _reference(
    model: Model,
    corpus: Corpus,
    probes: Probes,
    schedule: Schedule,
    backend: str,
    chains: int,
    seed: int,
    truncation: int,
    report: Report,
) -> tuple[list[Record], dict[str, np.ndarray], str]:
    """Run a reference program; draw topics given its parameters, so that all back ends share quantities."""
    result = _program(backend)(
        model, corpus, truncation, chains, schedule.tune, schedule.draws * schedule.thin, seed, report
    )
    records = []
    for c, child in enumerate(np.random.SeedSequence([seed, 1]).spawn(chains)):
        rng = np.random.Generator(np.random.PCG64(child))
        record = Record()
        for j in range(schedule.thin - 1, schedule.draws * schedule.thin, schedule.thin):
            draw = {name: values[c, j] for name, values in result["draws"].items()}
            latents = model.reference_latents(draw, corpus, rng)
            if schedule.keeps(len(record.seconds)):
                record.kept.append((len(record.seconds), latents))
            record.quantities.append(model.quantities(latents, corpus, probes))
            record.seconds.append(float(result["seconds"][c]) / schedule.draws)
        records.append(record)
    stats = {name: values[:, schedule.thin - 1 :: schedule.thin] for name, values in result["stats"].items()}
    return records, stats, result["backend_version"]


def _program(backend: str) -> Callable[..., dict[str, Any]]:
    """Import a reference back end only when it is used: JAX and Stan are slow to load."""
    if backend == "numpyro":
        from . import nuts

        return nuts.run
    from . import stan

    return stan.run

"""`sample`: one entry to all back ends."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from ..arguments import checked_seed, checked_workers
from ..contract import Model, Probes
from ..corpus import Corpus
from . import variational
from .backends import Run, checked_backend
from .chain import Chain
from .interrupt import held_signals, how_on, stopped
from .kernel_chains import run_chains
from .needs import check_memory
from .progress import Report, displayed
from .record import Record
from .remote import RemoteChain, made_by
from .results import assemble
from .rounds import Target, common_draws, most_draws
from .schedule import Schedule
from .starts import Start, starting_points

if TYPE_CHECKING:
    from distributed import Client

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
    cluster: "str | Client | None" = None,
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
        inference, whose draws are independent, `tune` is how many iterations there are at most, 1 or more;
        the statistic ``converged`` tells which chains needed no more.
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
        words) is at most this, and their effective sample sizes are at least 100, as seen at certain sweeps;
        as many draws must be asked of all chains. `tune` and `draws` are then the least. The share of sweeps
        that is dropped stays that of `tune`, and `thin` doubles with the length of the chains, so that there
        are from `draws` to twice as many draws. They are, to the last bit, those of a plain run with the
        `tune` and `thin` of the result.
    within : float, optional
        Seconds after which to stop, whether or not chains have met. Without `until` all are used.
    truncation : int, optional
        Sticks of the reference programs, and of variational inference; needed by nonparametric models.
    keep : int
        Draws a chain whose latent variables are kept, evenly spread; of a run whose length is not fixed up
        to about twice as many.
    workers : int, optional
        Threads that kernels' chains run in; as many as cores by default. Does not change the draws.
    cluster : str or distributed.Client, optional
        Of Dask, which kernels' chains run on instead, to the same draws: ``tcp://HOST:PORT`` of a scheduler,
        or the file that it has written; or ``local:N``: a cluster of N processes on this machine, by default
        one a core, which is closed at the end. A chain runs in pieces of some seconds, each made by whichever
        worker is free; when one is lost, another makes its piece. Checkpoints are written here. In a script
        a local cluster needs ``if __name__ == "__main__":``, as all that starts processes in Python does.
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
        ``constant_data``. After Ctrl-C or SIGTERM, which chains take note of between two sweeps, its
        attribute ``interrupted`` is 1, and it holds those chains that have most draws together, cut to the
        shortest of them; with `until` or `within`, all that have draws. Of variational inference it holds
        those that had begun, drawn from where they were. Where chains are left out, also since time was up
        before they had a draw, the attribute ``left_out`` has their numbers, with commas between them.

        The statistic ``seconds`` is the CPU time that led to each draw, tuning included. The attributes
        ``wall_seconds`` and ``compile_seconds`` are wall time, of the run without compiling and of that.

    Raises
    ------
    ClusterError
        There is no such cluster, or it has no workers or other software, or is lost.
    ImportError
        A library is not installed that a back end or a cluster needs.
    KeyboardInterrupt
        After Ctrl-C or SIGTERM before the first draw, or unless `partial`; says what was kept.
    NotFiniteError
        A quantity of a draw, or of the tuning, of a kernel is not finite.
    TimeoutError
        Time was up before the first draw.
    ValueError
        For an argument out of range; `CorpusError` for a corpus without tokens; `CheckpointError` for
        checkpoints of another run.
    """
    corpus = Corpus.of(corpus)
    given = {"variant": variant, "truncation": truncation, "checkpoint": checkpoint, "start": start}
    given |= {"until": until, "within": within, "cluster": cluster}
    engine = checked_backend(model, corpus, backend, given, chains=chains, draws=draws, resume=resume)
    seed, workers = checked_seed(seed), checked_workers(workers)
    target = Target(until, within)
    schedule = Schedule(tune, draws, thin, keep, target.is_open)
    tune, thin = schedule.tune, schedule.thin
    check_memory(model, corpus, backend, variant, truncation, chains, schedule)
    probes = Probes.of(corpus)
    started = time.perf_counter()
    stats: dict[str, np.ndarray] = {}
    left_out: list[int] = []
    if engine.is_approximate:
        with held_signals() as stop, displayed(progress, chains) as report:
            records, stats, variant, version, left_out, interrupted = variational.run(
                model, corpus, probes, schedule, variant, chains, seed, truncation or 0, stop, report
            )
        of_run = {"variant": variant, "backend_version": version, "compile_seconds": 0.0}
    elif engine.load_run is None:
        with (
            held_signals(),
            made_by(cluster, Chain, RemoteChain, model, corpus, probes, schedule, variant, paranoid) as make,
        ):
            runners, of_run, is_stopped = run_chains(
                model, corpus, probes, schedule, target, variant=variant, chains=chains, seed=seed,
                start=start, workers=workers if cluster is None else chains, progress=progress,
                checkpoint=checkpoint, resume=resume, make=make,
            )  # fmt: skip
        records, left_out, tune, thin = common_draws(runners, schedule)
        if not records and not is_stopped:
            raise TimeoutError(f"within: time was up before the first draw{how_on(checkpoint)}")
        interrupted = is_stopped if schedule.is_open else _is_short(records, chains, draws)
    else:
        with held_signals(), displayed(progress, chains) as report:
            records, stats, left_out, of_run = _reference(
                model, corpus, probes, schedule, engine.load_run(), chains, seed, truncation or 0, report
            )
        interrupted = _is_short(records, chains, draws)
    if not records or (interrupted and not partial):
        raise stopped(checkpoint, bool(records))
    attributes = of_run | {
        "backend": backend,
        "seed": seed,
        "tune": tune,
        "thin": thin,
        "truncation": truncation,
        "interrupted": int(interrupted),
        "until": until,
        "within": within,
        "wall_seconds": time.perf_counter() - started - of_run["compile_seconds"],
    }
    if left_out:
        attributes["left_out"] = ",".join(map(str, left_out))
    return assemble(model, corpus, probes, records, stats, attributes)


def check(
    model: Model,
    corpus: Corpus,
    backend: str = "kernel",
    *,
    variant: str | None = None,
    truncation: int | None = None,
    chains: int = 4,
    draws: int = 500,
    start: Start | Sequence[Start] | None = None,
    until: float | None = None,
    within: float | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = False,
) -> None:
    """Raise the ValueError with which `sample` would refuse these arguments, without sampling."""
    given = {"variant": variant, "truncation": truncation, "checkpoint": checkpoint, "start": start}
    given |= {"until": until, "within": within}
    engine = checked_backend(model, corpus, backend, given, chains=chains, draws=draws, resume=resume)
    Target(until, within)
    if engine.is_approximate:
        model.require_variational()
    elif engine.load_run is None:
        for point in starting_points(start, model, corpus):
            model.kernel(variant).load(point.latents(np.random.default_rng(0), 0), corpus, model)
    else:
        model.require_reference().numpyro(corpus, truncation or 0)


def _is_short(records: list[Record], chains: int, draws: int) -> bool:
    """Whether chains or draws are missing."""
    return len(records) < chains or any(len(record.seconds) < draws for record in records)


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
) -> tuple[list[Record], dict[str, np.ndarray], list[int], dict[str, Any]]:
    """Run a reference program; draw topics given its parameters, so that all back ends share quantities.

    Of a run that was stopped there are the chains that have most draws together, cut to the shortest.

    Returns
    -------
    records : list of Record
    stats : dict of array (chain, draw)
    left_out : list of int
        Numbers of chains.
    attributes : dict
        Of the root, that the program alone knows.
    """
    try:
        result = run(
            model, corpus, truncation, chains, schedule.tune, schedule.draws * schedule.thin, seed, report
        )
    except KeyboardInterrupt:  # before the first draw
        return [], {}, [], {}
    reference = model.require_reference()
    records = []
    lengths = [length // schedule.thin for length in result["lengths"]]
    used = most_draws(lengths)
    shortest = min((lengths[c] for c in used), default=0)
    iterations = range(schedule.thin - 1, shortest * schedule.thin, schedule.thin)
    schedule = replace(schedule, draws=max(1, shortest))  # fewer where the run was stopped
    children = np.random.SeedSequence([seed, 1]).spawn(chains)
    for c in used:
        rng = np.random.Generator(np.random.PCG64(children[c]))
        record = Record()
        for j in iterations:
            draw = {name: values[c, j] for name, values in result["draws"].items()}
            latents = reference.latents(draw, corpus, rng)
            if schedule.keeps(len(record.seconds)):
                record.kept.append((len(record.seconds), latents))
            record.quantities.append(model.quantities(latents, corpus, probes))
            record.seconds.append(float(result["seconds"][c]) / lengths[c])
        records.append(record)
    stats = {name: values[used][:, iterations] for name, values in result["stats"].items()}
    stats["reached_max_treedepth"] = stats["n_steps"] >= LARGEST_TREE
    left_out = sorted({*range(chains)} - {*used})
    return records, stats, left_out, {name: result[name] for name in ("backend_version", "compile_seconds")}

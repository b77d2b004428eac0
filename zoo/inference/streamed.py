"""Chains whose draws go to disk as they come: memory does not grow with their number."""

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import checked_seed, checked_workers
from ..contract import Latents, Model, Probes, Quantities
from ..corpus import Corpus
from ..folders import new_folder
from .backends import checked_backend
from .chain import Chain, Stoppable
from .checkpoint import restore
from .interrupt import held_signals, stopped
from .kernel_chains import run_chains
from .needs import check_memory
from .progress import Report
from .record import Record, stacked
from .remote import RemoteChain, made_by
from .results import attributes_of, groups_of, warmup_of
from .rounds import Target, most_draws
from .schedule import Schedule
from .starts import Start
from .store import DRAWS_AT_ONCE, Store, complete, cut, told_where, zarr_library

if TYPE_CHECKING:
    from distributed import Client

DRAWS = "draws.zarr"
"""Where draws are, among checkpoints, until a run ends."""


@dataclass(kw_only=True)
class StreamedChain(Chain):
    """A chain that holds no more than `DRAWS_AT_ONCE` draws, and whose checkpoints have none.

    A checkpoint is written after the draws that it counts. Those after it are drawn again, to the same bits.
    Where the disk takes no draws the chain ends, unlike one that holds them and can do without a checkpoint.
    """

    store: Store

    def __post_init__(self):
        self.n_draws = 0
        super().__post_init__()

    def _restore(self, arrays: dict[str, np.ndarray]) -> None:
        sweep, pending = arrays.pop("sweep"), arrays.pop("pending_seconds")
        self.sweep, self.pending_seconds = int(sweep), float(pending)
        if not 1 <= self.sweep <= self.schedule.sweeps or len(arrays["seconds"]):
            raise ValueError(f"expected 1 to {self.schedule.sweeps} sweeps and no draws, found {sweep}")
        state = {name: arrays.pop(name) for name in list(arrays) if name.startswith("state.")}
        self.state = restore(self.kernel, self.state, state)
        latents = self.kernel.snapshot(self.state)
        traced = self.schedule.traced(self.sweep)
        quantities = self._quantities(latents)
        self.record = Record.from_arrays(arrays, quantities, latents, [], traced)
        self.n_draws = self.schedule.draws_after(self.sweep)
        try:
            self.store.check(self.number, self.n_draws, quantities, latents)
        except ValueError as error:
            raise ValueError(f"expected its {self.n_draws} draws in {DRAWS} beside it, but {error}") from None

    def _record(self) -> None:
        latents = self.kernel.snapshot(self.state)
        self.note(self._quantities(latents), self.pending_seconds, latents)
        self.pending_seconds = 0.0

    def note(self, quantities: Quantities, seconds: float, latents: Latents | None) -> None:
        """Record a draw, with its latents if the plan keeps them: a place on disk is for one draw."""
        self.record.quantities.append(quantities)
        self.record.seconds.append(seconds)
        if latents is not None and self.schedule.keeps(self.n_draws):
            self.store.keep(self.number, self.schedule.place(self.n_draws), latents)
        self.n_draws += 1
        if self.n_draws % DRAWS_AT_ONCE == 0:
            self.flush()

    def flush(self) -> None:
        """Write the draws that are held."""
        record, n = self.record, len(self.record.seconds)
        if n:
            self.store.write(self.number, self.n_draws - n, stacked(record.quantities), record.seconds)
            record.quantities, record.seconds = [], []

    def run(self, stop: Stoppable, report: Report, goal: int) -> None:
        """Run as any chain does; then no draws are held."""
        super().run(stop, report, goal)
        self.flush()

    def save(self) -> None:
        """Write the draws that are held, and then the checkpoint."""
        self.flush()
        super().save()


@dataclass(kw_only=True)
class StreamedRemoteChain(StreamedChain, RemoteChain):
    """A chain whose sweeps are made on a cluster, and whose draws go to disk here."""


def stream(
    path: str | PathLike[str],
    model: Model,
    corpus: Corpus | Any,
    *,
    variant: str | None = None,
    chains: int = 4,
    tune: int = 500,
    draws: int = 500,
    thin: int = 1,
    seed: int = 0,
    start: Start | Sequence[Start] | None = None,
    keep: int = 10,
    workers: int | None = None,
    progress: bool | Report = False,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    notes: Mapping[str, Any] | None = None,
    cluster: "str | Client | None" = None,
) -> bool:
    """Draw as `sample` does by a kernel, the same draws to the last bit, into a new folder of Zarr.

    Parameters
    ----------
    path : path
        The folder. It has another name until it is whole.
    model, corpus, variant, chains, tune, draws, thin, seed, start, keep, workers, progress
        As for `sample`.
    checkpoint : path, optional
        Folder that chains are saved to every half minute, at the end and on Ctrl-C; draws are there as well
        until the run ends. What was drawn after the last checkpoint of a killed run is drawn again.
    resume : bool
        As for `sample`.
    notes : mapping of str to str or int, optional
        Further attributes of the root.
    cluster : str or distributed.Client, optional
        Of Dask, as for `sample`.

    Returns
    -------
    bool
        Whether all draws are there; after Ctrl-C or SIGTERM there are those that `sample` returns.

    Raises
    ------
    ImportError
        Zarr is not installed.
    KeyboardInterrupt
        After Ctrl-C or SIGTERM before the first draw.
    OSError, ValueError
        There is something at `path`; or as `sample` does.
    """
    zarr_library()
    corpus = Corpus.of(corpus)
    given = {"variant": variant, "checkpoint": checkpoint, "start": start}
    checked_backend(model, corpus, "kernel", given, chains=chains, resume=resume)
    check_memory(model, corpus, "kernel", variant, None, chains)
    seed, workers = checked_seed(seed), checked_workers(workers)
    schedule, probes = Schedule(tune, draws, thin, keep), Probes.of(corpus)
    started = time.perf_counter()
    with (
        new_folder(path) as folder,
        held_signals(),
        made_by(
            cluster, StreamedChain, StreamedRemoteChain, model, corpus, probes, schedule, variant
        ) as make,
    ):
        place = folder if checkpoint is None else Path(checkpoint) / DRAWS
        runners, attributes, _ = run_chains(
            model, corpus, probes, schedule, Target(), variant=variant, chains=chains, seed=seed,
            start=start, workers=workers if cluster is None else chains, progress=progress,
            checkpoint=checkpoint, resume=resume,
            make=partial(make, store=Store(place, model, chains, schedule)), streamed=True,
        )  # fmt: skip
        lengths = [schedule.draws_after(runner.sweep) for runner in runners]
        used = most_draws(lengths)
        if not used:
            raise stopped(checkpoint, has_draws=False)
        n_draws = min(lengths[chain] for chain in used)
        left_out = sorted({*range(chains)} - {*used})
        is_whole = n_draws == draws and not left_out
        with told_where(Path(path)):
            if place != folder:
                shutil.copytree(place, folder, dirs_exist_ok=True)
            cut(folder, used, n_draws, schedule.place(n_draws))
        attributes |= {
            "backend": "kernel",
            "seed": seed,
            "tune": schedule.tune,
            "thin": schedule.thin,
            "interrupted": int(not is_whole),
            "wall_seconds": time.perf_counter() - started - attributes["compile_seconds"],
        }
        if left_out:
            attributes["left_out"] = ",".join(map(str, left_out))
        with told_where(Path(path)):
            complete(
                folder,
                warmup_of([runners[chain].record for chain in used], model) | groups_of(corpus, probes),
                attributes_of(model, corpus, attributes) | dict(notes or {}),
            )
    return is_whole

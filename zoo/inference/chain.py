"""One chain of a kernel: sweeps, what is recorded of them, and its checkpoints."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np

from ..contract import Kernel, Latents, Model, Probes
from ..corpus import Corpus
from .checkpoint import flatten, load_chain, save_chain, unflatten
from .progress import Report

CHECKPOINT_SECONDS = 30.0


@dataclass(frozen=True)
class Schedule:
    """How long a chain runs and what is kept of it.

    Parameters
    ----------
    tune : int
        Sweeps before the first draw.
    draws : int
        Draws whose test quantities are recorded, one every `thin` sweeps.
    thin : int
    keep : int
        Draws whose latents are kept, evenly spread.
    """

    tune: int
    draws: int
    thin: int
    keep: int

    def __post_init__(self):
        for name, least in (("tune", 0), ("draws", 1), ("thin", 1), ("keep", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name}: expected at least {least}, found {getattr(self, name)}")

    @property
    def sweeps(self) -> int:
        """Sweeps in all."""
        return self.tune + self.draws * self.thin

    def keeps(self, draw: int) -> bool:
        """Whether the latents of draw number `draw` are kept."""
        if self.keep == 0:
            return False
        every = max(1, self.draws // self.keep)
        return (draw + 1) % every == 0 and (draw + 1) // every <= self.keep


@dataclass
class Record:
    """What has been recorded of a chain.

    Attributes
    ----------
    quantities : list of dict
        Test quantities of each draw.
    seconds : list of float
        CPU seconds of the sweeps that led to each draw; the first includes the tuning.
    kept : list of (int, Latents)
        Draw numbers and latents.
    """

    quantities: list[dict[str, np.ndarray]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    kept: list[tuple[int, Latents]] = field(default_factory=list)

    def stacked(self) -> dict[str, np.ndarray]:
        """Quantities by name, each (draws, …)."""
        return {name: np.stack([q[name] for q in self.quantities]) for name in (self.quantities or [{}])[0]}

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Flat form for a checkpoint."""
        out = {f"quantity.{name}": values for name, values in self.stacked().items()}
        out["seconds"] = np.array(self.seconds)
        for draw, latents in self.kept:
            out |= {f"kept.{draw}.{name}": value for name, value in latents.items()}
        return out

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> "Record":
        """Inverse of `to_arrays`."""
        record = cls(seconds=arrays["seconds"].tolist())
        names = [name.removeprefix("quantity.") for name in arrays if name.startswith("quantity.")]
        record.quantities = [
            {name: arrays[f"quantity.{name}"][i] for name in names} for i in range(len(record.seconds))
        ]
        kept: dict[int, Latents] = {}
        for path, value in arrays.items():
            if path.startswith("kept."):
                _, draw, name = path.split(".", 2)
                kept.setdefault(int(draw), {})[name] = value
        record.kept = sorted(kept.items())
        return record


@dataclass
class Chain:
    """One chain, ready to run.

    Parameters
    ----------
    number : int
    rng : numpy.random.Generator
        The chain's own.
    checkpoint : Path or None
        File to continue from if it exists, and to write to.
    paranoid : bool
        Recount every statistic after every sweep.
    """

    number: int
    model: Model
    corpus: Corpus
    kernel: Kernel
    probes: Probes
    schedule: Schedule
    rng: np.random.Generator
    checkpoint: Path | None = None
    paranoid: bool = False

    def __post_init__(self):
        self.record = Record()
        self.sweep = 0
        latents = self.model.initial_latents(self.corpus, self.rng)
        self.state: Any = self.kernel.load(latents, self.corpus, self.model)
        if self.checkpoint is not None and self.checkpoint.exists():
            arrays = load_chain(self.checkpoint, self.rng)
            self.state = unflatten(self.state, arrays)
            self.sweep = int(arrays["sweep"])
            self.record = Record.from_arrays(arrays)
            self.pending_seconds = float(arrays["pending_seconds"])
        else:
            self.pending_seconds = 0.0

    def run(self, stop: Event, report: Report) -> Record:
        """Sweep until the schedule is through or `stop` is set."""
        schedule = self.schedule
        saved_at = time.monotonic()
        while self.sweep < schedule.sweeps and not stop.is_set():
            started = time.thread_time()
            self.state = self.kernel.step(self.rng, self.state)
            self.pending_seconds += time.thread_time() - started
            if self.paranoid:
                self.kernel.check(self.state)
            self.sweep += 1
            after_tuning = self.sweep - schedule.tune
            if after_tuning > 0 and after_tuning % schedule.thin == 0:
                self._record()
            report(self.number, self.sweep, schedule.sweeps, "" if after_tuning > 0 else "tuning")
            if self.checkpoint is not None and time.monotonic() - saved_at > CHECKPOINT_SECONDS:
                self.save()
                saved_at = time.monotonic()
        if self.checkpoint is not None:
            self.save()
        return self.record

    def _record(self) -> None:
        latents = self.kernel.snapshot(self.state)
        draw = len(self.record.seconds)
        self.record.quantities.append(self.model.quantities(latents, self.corpus, self.probes))
        self.record.seconds.append(self.pending_seconds)
        self.pending_seconds = 0.0
        if self.schedule.keeps(draw):
            self.record.kept.append((draw, latents))

    def save(self) -> None:
        """Write the checkpoint."""
        assert self.checkpoint is not None
        arrays = flatten(self.state) | self.record.to_arrays()
        arrays["sweep"] = np.array(self.sweep)
        arrays["pending_seconds"] = np.array(self.pending_seconds)
        save_chain(self.checkpoint, self.rng, arrays)

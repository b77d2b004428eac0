"""One chain of a kernel: sweeps, what is recorded of them, and its checkpoints."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..contract import Kernel, Latents, Model, Probes, Quantities
from ..corpus import Corpus
from .checkpoint import CheckpointError, flatten, load_chain, restore, save_chain
from .interrupt import Stop
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

    def draws_after(self, sweep: int) -> int:
        """Draws that have been recorded after as many sweeps."""
        return max(0, sweep - self.tune) // self.thin

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
    def from_arrays(
        cls, arrays: Mapping[str, np.ndarray], quantities: Quantities, latents: Latents, kept: list[int]
    ) -> "Record":
        """Inverse of `to_arrays`.

        Parameters
        ----------
        arrays : mapping of str to array
        quantities, latents : dict
            Of some draw: what there is, of what types and shapes.
        kept : list of int
            Draws whose latents there should be.

        Raises
        ------
        ValueError
            Something does not fit.
        """
        seconds = arrays["seconds"]
        n = len(seconds)
        of_draws = {f"quantity.{name}": value for name, value in quantities.items()} if n else {}
        of_kept = {f"kept.{draw}.{name}": value for draw in kept for name, value in latents.items()}
        if arrays.keys() != {"seconds"} | of_draws.keys() | of_kept.keys():
            raise ValueError(f"expected the record of {n} draws and the latents of {len(kept)}")
        _check_like(seconds, np.zeros(n), "seconds", (n,))
        for name, value in of_draws.items():
            _check_like(arrays[name], value, name, (n, *np.shape(value)))
        for name, value in of_kept.items():
            integers = value.dtype.kind == "i"  # of tokens, whose number does not change
            _check_like(arrays[name], value, name, value.shape if integers else None)
        return cls(
            [{name: arrays[f"quantity.{name}"][i] for name in quantities} for i in range(n)],
            seconds.tolist(),
            [(draw, {name: arrays[f"kept.{draw}.{name}"] for name in latents}) for draw in kept],
        )


def _check_like(array: np.ndarray, value: Any, name: str, shape: tuple[int, ...] | None) -> None:
    """Raise ValueError unless `array` has the type and number of axes of `value`, and `shape` if given."""
    value = np.asarray(value)
    if array.dtype != value.dtype or (array.ndim != value.ndim if shape is None else array.shape != shape):
        raise ValueError(f"{name}: expected {value.dtype} {shape or ''}, found {array.dtype} {array.shape}")


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
        self.pending_seconds = 0.0
        latents = self.model.initial_latents(self.corpus, self.rng)
        self.state: Any = self.kernel.load(latents, self.corpus, self.model)
        if self.checkpoint is not None and self.checkpoint.exists():
            arrays = load_chain(self.checkpoint, self.number, self.rng)
            try:
                self._restore(arrays)
            except Exception as error:
                reason = f"{type(error).__name__}: {error}".partition("\n")[0]
                raise CheckpointError(
                    f"{self.checkpoint}: expected this chain of this model and corpus; {reason}"
                ) from None

    def _restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Go where the checkpoint was; raise an error of any kind where it cannot be this chain's."""
        sweep, pending = arrays.pop("sweep"), arrays.pop("pending_seconds")
        _check_like(sweep, 0, "sweep", ())
        _check_like(pending, 0.0, "pending_seconds", ())
        self.sweep, self.pending_seconds = int(sweep), float(pending)
        n = self.schedule.draws_after(self.sweep)
        if not 1 <= self.sweep <= self.schedule.sweeps or len(arrays["seconds"]) != n:
            raise ValueError(f"expected 1 to {self.schedule.sweeps} sweeps and their draws, found {sweep}")
        state = {name: arrays.pop(name) for name in list(arrays) if name.startswith("state.")}
        self.state = restore(self.kernel, self.state, state)
        latents = self.kernel.snapshot(self.state)
        quantities = self.model.quantities(latents, self.corpus, self.probes)
        kept = [draw for draw in range(n) if self.schedule.keeps(draw)]
        self.record = Record.from_arrays(arrays, quantities, latents, kept)

    def run(self, stop: Stop, report: Report) -> Record:
        """Sweep until the schedule is through or the user asks to stop."""
        schedule = self.schedule
        saved_at = time.monotonic()
        while self.sweep < schedule.sweeps and not stop.asked:
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
        if self.checkpoint is not None and self.sweep > 0:
            self.save()
        return self.record

    def _record(self) -> None:
        latents = self.kernel.snapshot(self.state)
        draw = len(self.record.seconds)
        counts = self.kernel.counted(self.state)
        self.record.quantities.append(self.model.quantities(latents, self.corpus, self.probes, counts))
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
        save_chain(self.checkpoint, self.number, self.rng, arrays)

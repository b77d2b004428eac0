"""One chain of a kernel: sweeps, what is recorded of them, and its checkpoints."""

import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ...kernels.toolbox.threads import processor_seconds
from ..contract import Kernel, Latents, Model, Probes, Quantities
from ..corpus import Corpus
from .checkpoint import CheckpointError, flatten, load_chain, restore, save_chain
from .progress import Report
from .record import Record, check_like, global_of
from .schedule import Schedule
from .starts import StartingPoint

CHECKPOINT_SECONDS = 30.0


class NotFiniteError(ValueError):
    """A chain has left the numbers that a computer has."""


class Stoppable(Protocol):
    """What says whether a chain is to stop after its next sweep."""

    @property
    def asked(self) -> bool:
        """Whether it is time to stop."""
        ...


@dataclass
class Chain:
    """One chain, ready to run.

    Parameters
    ----------
    number : int
    rng : numpy.random.Generator
        The chain's own.
    start : StartingPoint
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
    start: StartingPoint
    checkpoint: Path | None = None
    paranoid: bool = False

    def __post_init__(self):
        self.record = Record()
        self.sweep = 0
        self.pending_seconds = 0.0
        self._is_warned = False
        latents = self.start.latents(self.rng, self.number)
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
        check_like(sweep, 0, "sweep", ())
        check_like(pending, 0.0, "pending_seconds", ())
        self.sweep, self.pending_seconds = int(sweep), float(pending)
        schedule = self.schedule
        n, most = schedule.draws_after(self.sweep), np.inf if schedule.is_open else schedule.sweeps
        if not 1 <= self.sweep <= most or len(arrays["seconds"]) != n:
            raise ValueError(f"expected 1 to {most} sweeps and their draws, found {sweep}")
        state = {name: arrays.pop(name) for name in list(arrays) if name.startswith("state.")}
        self.state = restore(self.kernel, self.state, state)
        latents = self.kernel.snapshot(self.state)
        quantities = self.model.quantities(latents, self.corpus, self.probes)
        self.record = Record.from_arrays(
            arrays, quantities, latents, schedule.held(n), schedule.traced(self.sweep)
        )

    def run(self, stop: Stoppable, report: Report, goal: int) -> None:
        """Sweep until there are `goal` sweeps or it is time to stop.

        Raises
        ------
        NotFiniteError
            What was to be recorded is not finite.
        """
        schedule = self.schedule
        saved_at = time.monotonic()
        while self.sweep < goal and not stop.asked:
            started = processor_seconds()
            self.state = self.kernel.step(self.rng, self.state)
            self.pending_seconds += processor_seconds() - started
            if self.paranoid:
                self.kernel.check(self.state)
            self.sweep += 1
            if schedule.thin_at(self.sweep) > schedule.thin_at(self.sweep - 1):
                self.pending_seconds += self.record.forget_every_other()
                self._forget_latents()
            if schedule.is_draw(self.sweep):
                self._record()
            elif schedule.is_traced(self.sweep):
                self.record.trace.append(global_of(self._quantities(self.kernel.snapshot(self.state))))
                self.record.traced.append(self.sweep)
            is_tuning = not schedule.is_open and self.sweep <= schedule.tune
            report(self.number, self.sweep, goal, "tuning" if is_tuning else "")
            if self.checkpoint is not None and time.monotonic() - saved_at > CHECKPOINT_SECONDS:
                self.save()
                saved_at = time.monotonic()
        if self.checkpoint is not None and self.sweep > 0:
            self.save()

    def _record(self) -> None:
        latents = self.kernel.snapshot(self.state)
        self.record.quantities.append(self._quantities(latents))
        self.record.seconds.append(self.pending_seconds)
        self.pending_seconds = 0.0
        self.record.kept.append((len(self.record.seconds) - 1, latents))
        self._forget_latents()

    def _forget_latents(self) -> None:
        """Forget those that the schedule does not hold."""
        n, holds = len(self.record.seconds), self.schedule.holds
        self.record.kept = [(draw, latents) for draw, latents in self.record.kept if holds(draw, n)]

    def _quantities(self, latents: Latents) -> Quantities:
        counts = self.kernel.counted(self.state)
        with np.errstate(over="ignore", invalid="ignore"):  # what comes of it is told below
            quantities = self.model.quantities(latents, self.corpus, self.probes, counts)
        for name, value in quantities.items():
            is_finite = np.isfinite(value)
            if not is_finite.all():
                found = np.ravel(value)[~np.ravel(is_finite)][0]
                raise NotFiniteError(
                    f"{self.model.label}: chain {self.number}, sweep {self.sweep}: {name}: expected a finite "
                    f"number, found {found}; try less extreme hyperparameters or smaller responses"
                )
        return quantities

    def save(self) -> None:
        """Write the checkpoint; where the disk does not let it, warn once: the chain itself is in memory."""
        assert self.checkpoint is not None
        arrays = flatten(self.state) | self.record.to_arrays()
        arrays["sweep"] = np.array(self.sweep)
        arrays["pending_seconds"] = np.array(self.pending_seconds)
        try:
            save_chain(self.checkpoint, self.number, self.rng, arrays)
        except OSError as error:
            if not self._is_warned:  # the same words for all chains, which Python then says once
                what = f"checkpoints cannot be written: {error.strerror or error}; the run goes on without"
                warnings.warn(f"{self.checkpoint.parent}: {what}", RuntimeWarning, stacklevel=2)
            self._is_warned = True

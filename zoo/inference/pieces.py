"""A piece of a chain, as a worker runs it: from the state that it is given, as far as time goes.

A piece depends on nothing but what it is given, so that the same draws come of it wherever it runs, and when
it runs again since its worker was lost.
"""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np

from ..contract import Latents, Model, Probes
from ..corpus import Corpus
from .chain import Chain
from .checkpoint import Arrays, flatten, refill
from .cluster import check_software, software
from .kernel_chains import _compile
from .progress import silent
from .record import Record
from .schedule import Schedule
from .starts import StartingPoint

_compiling = Lock()
_compiled: set[str] = set()


@dataclass(frozen=True)
class Job:
    """What all chains of a run share.

    Attributes
    ----------
    token : str
        Tells runs apart.
    software : mapping
        Where the run was begun.
    threads : str, optional
        Within a sweep, as the environment variable BNPZOO_THREADS says.
    """

    token: str
    model: Model
    corpus: Corpus
    probes: Probes
    schedule: Schedule
    variant: str
    paranoid: bool
    software: Mapping[str, str]
    threads: str | None


@dataclass(frozen=True)
class Position:
    """Where a chain is.

    Attributes
    ----------
    number : int
        The chain's.
    sweep : int
    state : dict of str to array
        As `flatten` makes it.
    rng : dict
        State of the bit generator.
    """

    number: int
    sweep: int
    state: Arrays
    rng: dict[str, Any]


@dataclass(frozen=True)
class Template:
    """A state of a chain: its form, and what no sweep changes."""

    state: Any


@dataclass(frozen=True)
class Piece:
    """What came of a piece.

    Attributes
    ----------
    end : Position
    record : Record
        What the piece recorded; draws whose latents are kept are numbered within the piece.
    pending_seconds : float
        CPU seconds since the last draw, or since the beginning.
    overhead : float
        Seconds that it took to get ready.
    """

    end: Position
    record: Record
    pending_seconds: float
    overhead: float


@dataclass(kw_only=True)
class _Stretch(Chain):
    """A chain that stands where another one was, and knows nothing of what that one has recorded."""

    position: Position
    template: Template
    start: StartingPoint = field(init=False)

    def __post_init__(self):
        self.record, self.pending_seconds = Record(), 0.0
        self.sweep = self.position.sweep
        # what has come over the network may be read-only
        arrays = {name: np.array(array) for name, array in self.position.state.items()}
        self.state = refill(self.kernel, self.template.state, arrays)
        self.rng.bit_generator.state = self.position.rng

    def _record(self) -> None:
        super()._record()
        draws = self.schedule.draws_after(self.sweep)
        if not self.schedule.holds(draws - 1, draws):
            self.record.kept.pop()

    def _forget_latents(self) -> None:
        """Leave that to the chain itself, which numbers its draws from the beginning."""


class _Time:
    """Asks a chain to stop when time is up, but not before its next sweep."""

    def __init__(self, chain: Chain, seconds: float):
        self._chain, self._first = chain, chain.sweep
        self._end = time.monotonic() + seconds

    @property
    def asked(self) -> bool:
        """Whether it is time to stop."""
        return self._chain.sweep > self._first and time.monotonic() >= self._end


def run_piece(job: Job, template: Template, position: Position, goal: int, seconds: float) -> Piece:
    """Go on from `position` for some seconds, or until there are `goal` sweeps.

    The chain must not thin its draws on the way, but at its first sweep.
    """
    _prepare(job)
    started = time.perf_counter()
    chain = _Stretch(
        number=position.number,
        model=job.model,
        corpus=job.corpus,
        kernel=job.model.kernel(job.variant),
        probes=job.probes,
        schedule=job.schedule,
        rng=np.random.Generator(np.random.PCG64()),
        paranoid=job.paranoid,
        position=position,
        template=template,
    )
    overhead = time.perf_counter() - started
    chain.run(_Time(chain, seconds), silent, goal)
    end = Position(chain.number, chain.sweep, flatten(chain.state), dict(chain.rng.bit_generator.state))
    return Piece(end, chain.record, chain.pending_seconds, overhead)


def _prepare(job: Job) -> None:
    """See that this is the software that the run was begun with, and compile the kernel."""
    check_software(software(), job.software, f"process {os.getpid()}")
    if job.threads is not None:
        os.environ["BNPZOO_THREADS"] = job.threads
    with _compiling:
        if job.token not in _compiled:
            _compile(job.model, job.corpus, job.variant)
            _compiled.add(job.token)


def as_draws(piece: Piece) -> list[tuple[dict[str, np.ndarray], float, Latents | None]]:
    """Quantities, seconds and, where they are kept, latents of each draw of a piece."""
    kept, record = dict(piece.record.kept), piece.record
    return [
        (quantities, seconds, kept.get(i))
        for i, (quantities, seconds) in enumerate(zip(record.quantities, record.seconds, strict=True))
    ]

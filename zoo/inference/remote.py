"""Chains whose sweeps are made on a cluster of Dask, piece after piece; the same bits as in threads.

A chain's state and record stay here; a worker gets the state and gives it back some seconds later. So what is
lost with a worker is the piece that it was at, and any worker can make the next one.
"""

import functools
import os
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from ..contract import Latents, Model, Probes, Quantities
from ..corpus import Corpus
from .chain import CHECKPOINT_SECONDS, Chain, Stoppable
from .checkpoint import flatten, refill
from .cluster import ClusterError, cluster_at, dask_library, software
from .pieces import Job, Piece, Position, Template, as_draws, run_piece
from .progress import Report
from .rounds import Halt
from .schedule import Schedule

if TYPE_CHECKING:
    from distributed import Client, Future

PIECE_SECONDS = 5.0
"""Work that is lost with a worker, where it takes no time to send a state to and fro."""

WORK_TO_OVERHEAD = 10.0
"""Pieces are longer where it takes time, by as many times."""

LOOK_SECONDS = 0.05
"""How often to look whether a piece is done."""

TELL_SECONDS = 2.0
"""How often to see, and to say, whether any worker can begin anything."""


class Held:
    """Something that workers are sent once, and again where it was lost with one.

    Parameters
    ----------
    client : distributed.Client
    value : () -> object
    """

    def __init__(self, client: "Client", value: Callable[[], Any]):
        self._client, self._value = client, value
        self._lock = Lock()
        self._sent: Any = None

    def sent(self) -> "Future":
        """Return it as the workers know it."""
        with self._lock:
            if self._sent is None:  # to one worker; others take it from each other when they need it
                self._sent = self._client.scatter(self._value(), hash=False, timeout=TELL_SECONDS)
            return self._sent

    def is_lost(self, sent: "Future") -> None:
        """Send it anew next time, unless that has been done since `sent`."""
        with self._lock:
            if self._sent is sent:
                self._sent = None


class Pieces:
    """Makes pieces of the chains of one run.

    Parameters
    ----------
    client : distributed.Client
    job : Job
    """

    def __init__(self, client: "Client", job: Job):
        self._client, self._job = client, Held(client, lambda: job)

    def template_of(self, chain: Chain) -> Held:
        """Return the state of a chain, for what no sweep changes of it."""
        return Held(self._client, lambda: Template(chain.state))

    def make(
        self, template: Held, position: Position, goal: int, seconds: float, wait: "Wait"
    ) -> tuple[Piece, float] | None:
        """Have a piece made, and again where it or what it needs was lost; None where `wait` gives up.

        Returns
        -------
        Piece
        float
            Seconds that went into sending.

        Raises
        ------
        ClusterError
            The scheduler is lost, or workers die of this piece.
        """
        while not wait.is_over():
            started = time.perf_counter()
            needs: dict[Held, Future] = {}
            try:
                for held in (self._job, template, Held(self._client, lambda: position)):
                    needs[held] = held.sent()
                sending = time.perf_counter() - started
                future = self._client.submit(run_piece, *needs.values(), goal, seconds, pure=False)
                while future.status == "pending":
                    if wait.is_over():
                        future.cancel()
                        return None
                    wait.look(self._client)
                if future.status != "error":
                    started = time.perf_counter()
                    piece = future.result()
                    return piece, sending + time.perf_counter() - started + piece.overhead
                error: Any = future.exception()
            except (CancelledError, OSError):  # something was lost on the way
                if self._client.status != "running":
                    raise ClusterError("dask: the scheduler is lost") from None
                for held, sent in needs.items():
                    held.is_lost(sent)
                wait.look(self._client)
            else:
                if isinstance(error, dask_library().KilledWorker):
                    raise ClusterError("dask: a piece of a chain has ended several workers; out of memory?")
                raise error
        return None


class Wait:
    """How long a chain waits for a piece: to the end, but not much longer than a piece if it is to stop.

    Parameters
    ----------
    stop : Stoppable
    patience : float
        Seconds, once it is to stop.
    say : (note) -> None
        Called now and then with what keeps the chain waiting, or with an empty text.
    """

    def __init__(self, stop: Stoppable, patience: float, say: Callable[[str], None]):
        self._stop, self._patience, self._say = stop, patience, say
        self._end: float | None = None
        self._next = time.monotonic() + TELL_SECONDS

    def is_over(self) -> bool:
        """Whether to give the piece up."""
        if self._end is None and self._stop.asked:
            self._end = time.monotonic() + self._patience
        return self._end is not None and time.monotonic() >= self._end

    def look(self, client: "Client") -> None:
        """Let some time pass, and see from time to time whether there are workers at all."""
        time.sleep(LOOK_SECONDS)
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + TELL_SECONDS
            with suppress(OSError):  # which whoever needs an answer will meet as well
                self._say(_what_is_missing(client))


def _what_is_missing(client: "Client") -> str:
    """Why no worker can begin anything; empty where one can."""
    found = {worker["status"] for worker in client.scheduler_info()["workers"].values()}
    if "running" in found:
        return ""
    return "all workers are paused; out of memory?" if "paused" in found else "waiting for a worker"


@dataclass(kw_only=True)
class RemoteChain(Chain):
    """A chain that is here, and whose sweeps are made elsewhere.

    Parameters
    ----------
    pieces : Pieces
    """

    pieces: Pieces

    def __post_init__(self):
        super().__post_init__()
        self._template = self.pieces.template_of(self)
        self._seconds = min(1.0, PIECE_SECONDS)

    def run(self, stop: Stoppable, report: Report, goal: int) -> None:
        """Have sweeps made until there are `goal` or it is time to stop."""
        saved_at = time.monotonic()

        def say(note: str) -> None:
            is_tuning = not self.schedule.is_open and self.sweep <= self.schedule.tune
            report(self.number, self.sweep, goal, note or ("tuning" if is_tuning else ""))

        while self.sweep < goal and not stop.asked:
            wait = Wait(stop, self._seconds + 1.0, say)
            rng = dict(self.rng.bit_generator.state)
            here = Position(self.number, self.sweep, flatten(self.state), rng)
            last = min(goal, _before_thinning(self.schedule, self.sweep))
            try:
                made = self.pieces.make(self._template, here, last, self._seconds_of_piece(stop), wait)
            except ClusterError:
                if self.checkpoint is not None and self.sweep > 0:
                    self.save()
                raise
            if made is None:
                break
            piece, overhead = made
            self._seconds = max(PIECE_SECONDS, WORK_TO_OVERHEAD * overhead)
            self._take(piece)
            say("")
            if self.checkpoint is not None and time.monotonic() - saved_at > CHECKPOINT_SECONDS:
                self.save()
                saved_at = time.monotonic()
        if self.checkpoint is not None and self.sweep > 0:
            self.save()

    def _seconds_of_piece(self, stop: Stoppable) -> float:
        left = stop.seconds_left if isinstance(stop, Halt) else np.inf
        return max(0.0, min(self._seconds, left))

    def _take(self, piece: Piece) -> None:
        """Go where the piece has ended, and record what a chain would have recorded on the way."""
        schedule, record = self.schedule, self.record
        if schedule.thin_at(self.sweep + 1) > schedule.thin_at(self.sweep):
            self.pending_seconds += record.forget_every_other()
            self._forget_latents()
        record.trace += piece.record.trace
        record.traced += piece.record.traced
        for quantities, seconds, latents in as_draws(piece):
            self.note(quantities, self.pending_seconds + seconds, latents)
            self.pending_seconds = 0.0
        self.pending_seconds += piece.pending_seconds
        self.sweep = piece.end.sweep
        self.state = refill(self.kernel, self.state, piece.end.state)
        self.rng.bit_generator.state = piece.end.rng

    def note(self, quantities: Quantities, seconds: float, latents: Latents | None) -> None:
        """Record a draw, with its latents if they are kept."""
        self.record.quantities.append(quantities)
        self.record.seconds.append(seconds)
        if latents is not None:
            self.record.kept.append((len(self.record.seconds) - 1, latents))
        self._forget_latents()


def _before_thinning(schedule: Schedule, sweep: int) -> int:
    """Last sweep that a piece from `sweep` on may reach: a chain may thin its draws at its first one only."""
    if not schedule.is_open:
        return schedule.sweeps
    end = 2 * schedule.sweeps
    while end <= sweep + 1:
        end *= 2
    return end - 1


@contextmanager
def made_by(
    cluster: "str | Client | None",
    here: Callable[..., Chain],
    there: Callable[..., Chain],
    model: Model,
    corpus: Corpus,
    probes: Probes,
    schedule: Schedule,
    variant: str | None,
    paranoid: bool = False,
) -> Iterator[Callable[..., Chain]]:
    """Yield what makes the chains of a run, for `run_chains`: `here` or, on a cluster, `there`.

    Parameters
    ----------
    cluster : str, distributed.Client or None
        As for `sample`.
    here, there : type of chain
        The second a `RemoteChain`.
    model, corpus, probes, schedule, variant, paranoid
        As for `run_chains` and `Chain`.
    """
    if cluster is None:
        yield functools.partial(here, paranoid=paranoid)
        return
    with cluster_at(cluster) as client:
        job = Job(
            token=uuid.uuid4().hex,
            model=model,
            corpus=corpus,
            probes=probes,
            schedule=schedule,
            variant=variant or next(iter(model.kernels)),
            paranoid=paranoid,
            software=software(),
            threads=os.environ.get("BNPZOO_THREADS"),
        )
        yield functools.partial(there, pieces=Pieces(client, job), paranoid=paranoid)

"""Chains that go on, round after round, until they have met or time is up."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..arguments import number_above
from .chain import Chain
from .convergence import RHAT_LIMIT, Worst, worst_of
from .interrupt import Stop
from .progress import Report
from .record import Record, stacked
from .schedule import Schedule


@dataclass(frozen=True)
class Target:
    """When chains may stop.

    Parameters
    ----------
    until : float, optional
        R-hat of every global quantity, at most.
    within : float, optional
        Seconds.
    """

    until: float | None = None
    within: float | None = None

    def __post_init__(self):
        for name, least in (("until", 1.0), ("within", 0.0)):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, number_above(name, value, least))

    @property
    def is_open(self) -> bool:
        """Whether the number of sweeps is not known beforehand."""
        return self.until is not None or self.within is not None


class Halt:
    """Whether chains are to stop after their next sweep: the user asks for it, or time is up.

    Parameters
    ----------
    stop : Stop
    within : float, optional
        Seconds from now.
    """

    def __init__(self, stop: Stop, within: float | None):
        self._stop = stop
        self._deadline = math.inf if within is None else time.monotonic() + within

    @property
    def asked(self) -> bool:
        """Whether it is time to stop."""
        return self._stop.asked or self.seconds_left <= 0.0

    @property
    def seconds_left(self) -> float:
        """Until time is up; infinite where it is not limited."""
        return self._deadline - time.monotonic()


def run_rounds(
    chains: Sequence[Chain],
    schedule: Schedule,
    target: Target,
    halt: Halt,
    report: Report,
    run: Callable[[Report, int], None],
) -> None:
    """Run all chains to one goal after the other, and look whether they have met.

    Parameters
    ----------
    run : (report, goal) -> None
        Runs the chains until they have as many sweeps, or until `halt` asks to stop.
    """
    before = worst = None

    def with_status(chain: int, done: int, total: int, note: str = "") -> None:
        report(chain, done, total, note or (_status(before, worst, halt) if chain == 0 else ""))

    for goal in schedule.goals(max(chain.sweep for chain in chains)):
        run(with_status if schedule.is_open else report, goal)
        if halt.asked or not schedule.is_open:
            return
        recorded = schedule.draws_after(goal)
        first = schedule.dropped(recorded)
        if recorded - first >= 4 and len(chains) > 1:  # of one there is no R-hat
            before = worst
            limit = RHAT_LIMIT if target.until is None else target.until
            worst = worst_of([stacked(chain.record.quantities[first:]) for chain in chains], limit)
            if target.until is not None and goal >= schedule.sweeps and worst.meets(target.until):
                return


def _status(before: Worst | None, worst: Worst | None, halt: Halt) -> str:
    parts = []
    if worst is not None:
        trend = "" if before is None else " ↓" if worst.rhat < before.rhat else " ↑"
        parts.append(f"{worst}{trend}")
    if halt.seconds_left < math.inf:
        minutes, seconds = divmod(max(0, round(halt.seconds_left)), 60)
        parts.append(f"{minutes}:{seconds:02} left")
    return ", ".join(parts)


def most_draws(lengths: Sequence[int]) -> list[int]:
    """Find the chains that have most draws together when they are cut to the shortest; none without draws.

    Parameters
    ----------
    lengths : sequence of int
        Draws of each chain.
    """

    def together(least: int) -> tuple[int, int]:
        chains = sum(length >= least for length in lengths)
        return least * chains, chains

    least = max({*lengths} - {0}, key=together, default=math.inf)
    return [chain for chain, length in enumerate(lengths) if length >= least]


def common_draws(chains: Sequence[Chain], schedule: Schedule) -> tuple[list[Record], list[int], int, int]:
    """Cut the records of chains to what they have in common, as of a plain run.

    Chains without draws are left out and, where each ran to the end before the next began, those that would
    have others cut so short that there were fewer draws in all.

    Returns
    -------
    records : list of Record
    left_out : list of int
        Numbers of chains.
    tune, thin : int
        Of that run.
    """
    lengths = [len(chain.record.seconds) for chain in chains]
    with_draws = [number for number, length in enumerate(lengths) if length]
    found = with_draws if schedule.is_open else most_draws(lengths)
    used = [chains[number] for number in found]
    left_out = sorted({*range(len(chains))} - {*found})
    if not used:
        return [], left_out, schedule.tune, schedule.thin
    thin = max(schedule.thin_at(chain.sweep) for chain in used)
    for chain in used:
        for _ in range((thin // schedule.thin_at(chain.sweep)).bit_length() - 1):
            chain.record.forget_every_other()
    draws = min(len(chain.record.seconds) for chain in used)
    kept, dropped = set(schedule.kept(draws)), schedule.dropped(draws)
    records = [
        replace(chain.record, kept=[(draw, latents) for draw, latents in chain.record.kept if draw in kept])
        for chain in used
    ]
    if not schedule.is_open:
        return records, left_out, schedule.tune, thin
    records = [record.without_first(dropped, draws, thin) for record in records]
    return records, left_out, dropped * thin, thin

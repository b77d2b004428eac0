"""When a chain draws, and what is kept: by a plan that is fixed, or in rounds until it is enough."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from ..arguments import whole_number

TRACED = 100
"""Sweeps of the tuning, at most, whose global quantities are recorded."""


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
        Draws whose latents are kept, evenly spread up to the last.
    is_open : bool
        Whether the chain goes on after these sweeps. However long it gets, the same share of it is dropped,
        that of `tune`. Whenever it is twice as long again, every other draw is forgotten, and `thin` doubles:
        so there are from `draws` to twice as many. They are those of a plain run with as many sweeps of
        tuning as were dropped. However few they are, their latents are kept at equal distances, those of all
        or of at least `keep`.
    """

    tune: int
    draws: int
    thin: int
    keep: int
    is_open: bool = False

    def __post_init__(self):
        for name, least in (("tune", 0), ("draws", 1), ("thin", 1), ("keep", 0)):
            object.__setattr__(self, name, whole_number(name, getattr(self, name), least))

    @property
    def sweeps(self) -> int:
        """Sweeps in all; the least of them where there is no end."""
        return self.tune + self.draws * self.thin

    @property
    def most_recorded(self) -> int:
        """Draws whose quantities are held at once, at most."""
        return 2 * self.sweeps // self.thin if self.is_open else self.draws

    @property
    def most_kept(self) -> int:
        """Draws whose latents are held at once, at most."""
        if self.keep == 0 or not self.is_open:
            return min(self.keep, self.draws)
        draws = min(2 * self._held_at_least - 1, self.most_recorded)
        return draws - self.dropped(_least_of_others(draws))

    def goals(self, done: int) -> Iterator[int]:
        """Sweeps that all chains reach before any goes on, from `done` on; the last is the end, if any.

        They are a quarter apart at most, so that all chains are nearly as long when time is short.
        """
        if not self.is_open:
            yield self.sweeps
            return
        least, halvings = max(done, self.thin), self.sweeps.bit_length()
        for doublings in count():
            for quarters in (4, 5, 6, 7):
                goal = (self.sweeps * quarters << doublings) >> (halvings + 2)
                if goal >= least:
                    yield goal
                    least = goal + 1

    def thin_at(self, sweep: int) -> int:
        """Sweeps from draw to draw, when a chain is as long."""
        doublings = (sweep // self.sweeps).bit_length() - 1 if self.is_open else 0
        return self.thin << max(0, doublings)

    def draws_after(self, sweep: int) -> int:
        """Draws that are recorded after as many sweeps; of an open chain, with those that are dropped."""
        return max(0, sweep - (0 if self.is_open else self.tune)) // self.thin_at(sweep)

    def is_draw(self, sweep: int) -> bool:
        """Whether the state after as many sweeps is a draw."""
        since = sweep if self.is_open else sweep - self.tune
        return since > 0 and since % self.thin_at(sweep) == 0

    def dropped(self, draws: int) -> int:
        """How many of the first of so many recorded draws are dropped."""
        return self.tune * draws // self.sweeps if self.is_open else 0

    def is_traced(self, sweep: int) -> bool:
        """Whether global quantities are recorded after a sweep of the tuning."""
        return not self.is_open and sweep <= self.tune and sweep % self._trace_every == 0

    def traced(self, sweep: int) -> list[int]:
        """Sweeps after which they have been, when a chain is as long."""
        every = self._trace_every
        return [] if self.is_open else list(range(every, min(sweep, self.tune) + 1, every))

    @property
    def _trace_every(self) -> int:
        return max(1, -(-self.tune // TRACED))

    def holds(self, draw: int, draws: int) -> bool:
        """Whether a chain with so many draws holds the latents of draw number `draw`.

        An open chain holds those that it may come to keep, however much shorter the others are when they end.
        """
        if not self.is_open:  # the first one is for a run that is stopped before any other is kept
            return self.keeps(draw) or (self.keep > 0 and draw == 0 and draws < self.draws)
        first = self.dropped(_least_of_others(draws))
        return self.keep > 0 and draw in _spread(first, draws, self._held_at_least)

    def held(self, draws: int) -> list[int]:
        """Draws whose latents a chain with so many draws holds."""
        return [draw for draw in range(draws) if self.holds(draw, draws)]

    def keeps(self, draw: int) -> bool:
        """Whether the latents of draw number `draw` of a chain that ends by plan are kept."""
        return (draw + 1) * self.keep // self.draws > draw * self.keep // self.draws

    def place(self, draw: int) -> int:
        """How many draws before number `draw` of such a chain are kept."""
        return draw * min(self.keep, self.draws) // self.draws

    def kept(self, draws: int) -> Sequence[int]:
        """Draws whose latents are kept when all chains have so many draws."""
        if self.is_open:
            return _spread(self.dropped(draws), draws, self._kept_at_least) if self.keep else []
        by_plan = [draw for draw in range(draws) if self.keeps(draw)]
        return by_plan or list(range(min(1, draws, self.keep)))

    @property
    def _kept_at_least(self) -> int:
        """Draws that leave `keep` when a share is dropped, however this is rounded."""
        return -(-(self.keep * self.sweeps + self.tune) // (self.sweeps - self.tune))

    @property
    def _held_at_least(self) -> int:
        """Draws of a chain when all others have at least as many as leave `keep`."""
        return -(-5 * self._kept_at_least // 4)


def _least_of_others(draws: int) -> int:
    """Draws that each chain has when one of them has so many: goals are a quarter apart at most."""
    return 4 * draws // 5


def _spread(first: int, draws: int, least: int) -> range:
    """Draws from `first` on at equal distances, which double whenever there are twice as many as `least`."""
    every = 1 << max(0, (draws // least).bit_length() - 1)
    return range(first + -(first + 1) % every, draws, every)

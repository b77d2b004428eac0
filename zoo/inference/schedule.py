"""When a chain draws, and what is kept: by a plan that is fixed, or in rounds until it is enough."""

from collections.abc import Iterator
from dataclasses import dataclass

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
        so there are from `draws` to twice as many, and at least `keep` latents, at equal distances. They are
        those of a plain run with as many sweeps of tuning as were dropped.
    """

    tune: int
    draws: int
    thin: int
    keep: int
    is_open: bool = False

    def __post_init__(self):
        for name, least in (("tune", 0), ("draws", 1), ("thin", 1), ("keep", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name}: expected at least {least}, found {getattr(self, name)}")

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
        return 2 * self.draws // self._keep_every + 1

    def goals(self, done: int) -> Iterator[int]:
        """Sweeps that all chains reach before any goes on, from `done` on; the last is the end, if any.

        Below the least number they double, so that all chains are there when time is short.
        """
        if not self.is_open:
            yield self.sweeps
            return
        for halvings in range(self.sweeps.bit_length() - 1, 0, -1):
            if self.sweeps >> halvings >= max(done, self.thin):
                yield self.sweeps >> halvings
        quarters, stretch = 4, 1
        while True:
            if self.sweeps * stretch * quarters // 4 >= done:
                yield self.sweeps * stretch * quarters // 4
            quarters += 1
            if quarters == 8:
                quarters, stretch = 4, 2 * stretch

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

    @property
    def _keep_every(self) -> int:
        """Of how many draws an open chain keeps one; the same however many are forgotten."""
        return max(1, self.draws // self.keep)

    def keeps(self, draw: int, draws: int) -> bool:
        """Whether the latents of draw number `draw` are held when there are so many draws."""
        if self.keep == 0:
            return False
        if self.is_open:
            return self.dropped(draws) <= draw and (draw + 1) % self._keep_every == 0
        return (draw + 1) * self.keep // self.draws > draw * self.keep // self.draws

    def kept(self, draws: int) -> list[int]:
        """Draws whose latents are held, when there are so many draws."""
        return [draw for draw in range(draws) if self.keeps(draw, draws)]

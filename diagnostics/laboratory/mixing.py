"""How long chains take to the posterior, judged by one that is there from its first sweep.

Latents and data that are drawn together from the joint are a draw from the posterior and its data. So a chain
that starts at the latents which made a corpus is stationary at once, however badly it mixes, and the band in
which it moves is where all chains must come to: no convergence needs to be judged. A chain from below, with
all tokens in one topic, and one from above, with a topic a document, say how long that takes.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from ...zoo.arguments import whole_number
from ...zoo.contract import Design, Latents, Model, Probes
from ...zoo.corpus import Corpus
from ...zoo.inference.convergence import LOCAL
from ...zoo.inference.starts import StartingPoint, starting_points

TRUTH = "truth"
"""The start at the latents that made the corpus."""

WIDTH = 4.0
"""Half the width of a band, in standard deviations of the true chain."""

SHARE = 0.9
"""Of what is left of a chain, to be in the band from where it enters."""

NO_PROBES = Probes(np.zeros((0, 2), np.int64), np.zeros(0, np.int64), np.zeros((0, 2), np.int64))


class History(NamedTuple):
    """What a chain did.

    Attributes
    ----------
    quantities : mapping of str to float (sweeps,)
        Scalar global test quantities after each sweep, without those of a burn-in of its own.
    seconds : float (sweeps,)
        CPU seconds of the sweeps so far, with those of a burn-in of its own.
    """

    quantities: Mapping[str, np.ndarray]
    seconds: np.ndarray


@dataclass(frozen=True)
class Mixing:
    """Chains from several starts on a corpus whose latents are known.

    Attributes
    ----------
    corpus : Corpus
    histories : mapping of str to History
        By start; `TRUTH` is one of them.
    """

    corpus: Corpus
    histories: Mapping[str, History]

    @property
    def starts(self) -> list[str]:
        """All starts but the truth."""
        return [start for start in self.histories if start != TRUTH]

    @property
    def names(self) -> list[str]:
        """Quantities that are not the same in all chains at all times."""
        together = {
            name: np.concatenate([history.quantities[name] for history in self.histories.values()])
            for name in self.histories[TRUTH].quantities
        }
        return [name for name, values in together.items() if np.ptp(values) > 0.0]

    def band(self, name: str) -> tuple[float, float]:
        """Where the true chain is: its mean, `WIDTH` standard deviations to either side, and its range."""
        values = self.histories[TRUTH].quantities[name]
        mean, half = float(values.mean()), WIDTH * float(values.std())
        return min(mean - half, float(values.min())), max(mean + half, float(values.max()))

    def entry(self, start: str, name: str) -> int | None:
        """Sweep after which a chain is in the band, and stays there most of the time; None if it never is."""
        low, high = self.band(name)
        values = self.histories[start].quantities[name]
        inside = (values >= low) & (values <= high)
        share = np.cumsum(inside[::-1])[::-1] / np.arange(inside.size, 0, -1)
        found = np.flatnonzero(inside & (share >= SHARE))
        return int(found[0]) + 1 if found.size else None

    def records(self) -> list[dict[str, str | float | None]]:
        """One dictionary a start and quantity: the band, where the chain ended, and when it entered."""
        out: list[dict[str, str | float | None]] = []
        for start in self.starts:
            for name in self.names:
                (low, high), sweep = self.band(name), self.entry(start, name)
                history = self.histories[start]
                out.append(
                    {
                        "start": start,
                        "quantity": name,
                        "low": low,
                        "high": high,
                        "end": float(history.quantities[name][-1]),
                        "sweeps": sweep,
                        "seconds": None if sweep is None else float(history.seconds[sweep - 1]),
                    }
                )
        return out

    def headline(self) -> str:
        """Say in a sentence when the chains are there, by their slowest quantities."""
        parts = []
        for start in self.starts:
            entries = {name: self.entry(start, name) for name in self.names}
            outside = [name for name, sweep in entries.items() if sweep is None]
            seconds = self.histories[start].seconds
            if outside:
                parts.append(
                    f"from {start}, {', '.join(outside)} did not enter the band in {seconds.size:,} sweeps "
                    f"({seconds[-1]:.1f} CPU-seconds)"
                )
            else:
                last = max((sweep for sweep in entries.values() if sweep is not None), default=1)
                parts.append(
                    f"from {start}, all quantities are in the band after {last:,} sweeps "
                    f"({seconds[last - 1]:.1f} CPU-seconds)"
                )
        return f"{'; '.join(parts)}."


def mixing(
    model: Model,
    design: Design,
    *,
    variant: str | None = None,
    starts: Sequence[str] = ("one", "documents"),
    sweeps: int = 300,
    seed: int = 0,
    burn_in: Callable[..., xr.DataTree] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Mixing:
    """Simulate a corpus, and run chains on it from its true latents and from elsewhere.

    Parameters
    ----------
    model : Model
        Hyperparameters that are sampled are drawn from their priors, which suits narrow ones; fix the others.
    design : Design
        Of the corpus. Where the model has a law of the documents' lengths, they are drawn.
    variant : str, optional
        Of the kernel.
    starts : sequence of str
        See `zoo.inference.sample`.
    sweeps : int
        Of each chain; at least 10.
    seed : int
    burn_in : callable, optional
        What chains do first that do not start at the truth: `bnpzoo.cool` or `bnpzoo.grow`, or
        ``functools.partial`` of it.
    progress : (start, done, total) -> None, optional

    Returns
    -------
    Mixing

    Raises
    ------
    ValueError
        An argument is out of range, the kernel is not exact, or the corpus has no tokens.
    """
    whole_number("sweeps", sweeps, 10)
    kernel = model.kernel(variant)
    if not kernel.exact:
        raise ValueError(f"{model.card.id}: expected an exact kernel, found {variant}, which has no band")
    children = np.random.SeedSequence(seed).spawn(2 + len(starts))
    latents, corpus = model.simulate_lengths(design, np.random.default_rng(children[0]))
    if corpus.n_tokens == 0:
        raise ValueError("design: expected a corpus with at least one token, found none")
    truth = StartingPoint(TRUTH, lambda rng, chain: latents)
    points = [truth, *(point for start in starts for point in starting_points(start, model, corpus))]
    histories = {}
    for point, child in zip(points, children[1:], strict=True):
        name, rng, spent = point.name, np.random.default_rng(child), 0.0
        if burn_in is not None and point is not truth:
            own = {"variant": variant, "start": name, "seed": int(child.generate_state(1)[0])}
            point, spent = _burnt_in(burn_in, model, corpus, **own)
        begin = point.latents(rng, 0)
        report = None if progress is None else lambda done, name=name: progress(name, done, sweeps)
        histories[name] = _history(model, corpus, variant, begin, sweeps, rng, spent, report)
    return Mixing(corpus, histories)


def _burnt_in(
    burn_in: Callable[..., xr.DataTree], model: Model, corpus: Corpus, **own: Any
) -> tuple[StartingPoint, float]:
    """Where a burn-in of one chain ends, and the CPU seconds that it takes."""
    started = time.process_time()
    fit = burn_in(model, corpus, chains=1, workers=1, **own)
    (point,) = starting_points(fit, model, corpus)
    return point, time.process_time() - started


def _history(
    model: Model,
    corpus: Corpus,
    variant: str | None,
    latents: Latents,
    sweeps: int,
    rng: np.random.Generator,
    spent: float,
    report: Callable[[int], None] | None,
) -> History:
    kernel = model.kernel(variant)
    state = kernel.load(latents, corpus, model)
    found, seconds = [], np.zeros(sweeps)
    for i in range(sweeps):
        started = time.thread_time()
        state = kernel.step(rng, state)
        seconds[i] = time.thread_time() - started
        now = model.quantities(kernel.snapshot(state), corpus, NO_PROBES, kernel.counted(state))
        found.append({name: float(x) for name, x in now.items() if name not in LOCAL and np.ndim(x) == 0})
        if report is not None:
            report(i + 1)
    return History(
        {name: np.array([one[name] for one in found]) for name in found[0]}, spent + np.cumsum(seconds)
    )

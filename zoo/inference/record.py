"""What is recorded of a chain."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..contract import Latents, Quantities
from .convergence import LOCAL


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
    trace : list of dict
        Global test quantities in the tuning.
    traced : list of int
        The sweeps that they are of.
    """

    quantities: list[Quantities] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    kept: list[tuple[int, Latents]] = field(default_factory=list)
    trace: list[Quantities] = field(default_factory=list)
    traced: list[int] = field(default_factory=list)

    def forget_every_other(self) -> float:
        """Keep draws 1, 3, …, each with the seconds of the one before; return the seconds since the last."""
        n = len(self.seconds) // 2
        after = sum(self.seconds[2 * n :])
        self.quantities = self.quantities[1 : 2 * n : 2]
        self.seconds = [sum(self.seconds[2 * i : 2 * i + 2]) for i in range(n)]
        self.kept = [(draw // 2, latents) for draw, latents in self.kept if draw % 2]
        return after

    def without_first(self, dropped: int, draws: int, thin: int) -> "Record":
        """Record of the draws from `dropped` to `draws`, the others before them taken as tuning."""
        first = sum(self.seconds[: dropped + 1])
        return Record(
            self.quantities[dropped:draws],
            [first, *self.seconds[dropped + 1 : draws]],
            [(draw - dropped, latents) for draw, latents in self.kept if dropped <= draw < draws],
            [global_of(quantities) for quantities in self.quantities[:dropped]],
            [thin * (i + 1) for i in range(dropped)],
        )

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Flat form for a checkpoint."""
        out = {f"quantity.{name}": values for name, values in stacked(self.quantities).items()}
        out |= {f"trace.{name}": values for name, values in stacked(self.trace).items()}
        out["seconds"] = np.array(self.seconds)
        for draw, latents in self.kept:
            out |= {f"kept.{draw}.{name}": value for name, value in latents.items()}
        return out

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, np.ndarray],
        quantities: Quantities,
        latents: Latents,
        kept: list[int],
        traced: list[int],
    ) -> "Record":
        """Inverse of `to_arrays`.

        Parameters
        ----------
        arrays : mapping of str to array
        quantities, latents : dict
            Of some draw: what there is, of what types and shapes.
        kept : list of int
            Draws whose latents there should be.
        traced : list of int
            Sweeps whose global quantities there should be.

        Raises
        ------
        ValueError
            Something does not fit.
        """
        seconds = arrays["seconds"]
        n = len(seconds)
        of_draws = {f"quantity.{name}": value for name, value in quantities.items()} if n else {}
        of_trace = {f"trace.{name}": value for name, value in global_of(quantities).items()} if traced else {}
        of_kept = {f"kept.{draw}.{name}": value for draw in kept for name, value in latents.items()}
        if arrays.keys() != {"seconds"} | of_draws.keys() | of_trace.keys() | of_kept.keys():
            raise ValueError(f"expected the record of {n} draws and the latents of {len(kept)}")
        check_like(seconds, np.zeros(n), "seconds", (n,))
        for name, value in of_draws.items():
            check_like(arrays[name], value, name, (n, *np.shape(value)))
        for name, value in of_trace.items():
            check_like(arrays[name], value, name, (len(traced), *np.shape(value)))
        for name, value in of_kept.items():
            integers = value.dtype.kind == "i"  # of tokens, whose number does not change
            check_like(arrays[name], value, name, value.shape if integers else None)
        return cls(
            [{name: arrays[f"quantity.{name}"][i] for name in quantities} for i in range(n)],
            seconds.tolist(),
            [(draw, {name: arrays[f"kept.{draw}.{name}"] for name in latents}) for draw in kept],
            [{name.removeprefix("trace."): arrays[name][i] for name in of_trace} for i in range(len(traced))],
            traced,
        )


def stacked(quantities: list[Quantities]) -> dict[str, np.ndarray]:
    """Quantities by name, each (draws, …)."""
    return {name: np.stack([one[name] for one in quantities]) for name in (quantities or [{}])[0]}


def global_of(quantities: Quantities) -> Quantities:
    """Those that do not look at single places of the corpus."""
    return {name: value for name, value in quantities.items() if name not in LOCAL}


def check_like(array: np.ndarray, value: Any, name: str, shape: tuple[int, ...] | None) -> None:
    """Raise ValueError unless `array` has the type and number of axes of `value`, and `shape` if given."""
    value = np.asarray(value)
    if array.dtype != value.dtype or (array.ndim != value.ndim if shape is None else array.shape != shape):
        raise ValueError(f"{name}: expected {value.dtype} {shape or ''}, found {array.dtype} {array.shape}")

"""The back ends behind `sample`, and which arguments each of them takes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..contract import Model

type Run = Callable[..., dict[str, Any]]
"""Runs a model's reference program; see `nuts.run`."""


@dataclass(frozen=True)
class Backend:
    """A way to draw from posteriors.

    Attributes
    ----------
    name : str
    about : str
        One line for the user.
    takes : frozenset of str
        Of the arguments of `sample` that some back ends have no use for, those that it takes.
    load_run : () -> Run, optional
        Imports what runs reference programs; None for a back end of kernels.
    """

    name: str
    about: str
    takes: frozenset[str]
    load_run: Callable[[], Run] | None = None

    def check(self, model: Model, arguments: Mapping[str, Any]) -> None:
        """Raise the ValueError with which `sample` would refuse `arguments`, None for those not given."""
        for name, value in arguments.items():
            if value is not None and name not in self.takes:
                others = " or ".join(other.name for other in BACKENDS.values() if name in other.takes)
                raise ValueError(f"{name}: backend {self.name!r} takes none; it is for backend {others}")
        if self.load_run is not None:
            _check_truncation(self.name, model, arguments.get("truncation"))


def _check_truncation(backend: str, model: Model, truncation: int | None) -> None:
    reference = model.require_reference()
    most = reference.largest_truncation
    expected = "at least 2" if most is None else f"2 to {most}"
    if truncation is None and reference.needs_truncation:
        raise ValueError(f"truncation: {model.card.id} under backend {backend!r} needs one, {expected}")
    if truncation is not None and not reference.needs_truncation:
        raise ValueError(f"truncation: {model.card.id} cuts nothing off; expected none, found {truncation}")
    if truncation is not None and truncation < 2:
        raise ValueError(f"truncation: expected {expected}, found {truncation}")


def _load_nuts() -> Run:
    from . import nuts

    return nuts.run


def _load_stan() -> Run:
    from . import stan

    return stan.run


KERNEL_ARGUMENTS = frozenset({"variant", "checkpoint", "start", "until", "within"})

# JAX and Stan are slow to load: only when they are used.
BACKENDS: dict[str, Backend] = {
    backend.name: backend
    for backend in (
        Backend("kernel", "the handwritten samplers, fast", KERNEL_ARGUMENTS),
        Backend("numpyro", "NUTS on the NumPyro program", frozenset({"truncation"}), _load_nuts),
        Backend("stan", "NUTS on the Stan program", frozenset({"truncation"}), _load_stan),
    )
}


def backend_by_name(name: str) -> Backend:
    """Find a back end; ValueError lists those there are."""
    if name not in BACKENDS:
        raise ValueError(f"backend: expected one of {', '.join(BACKENDS)}, found {name!r}")
    return BACKENDS[name]

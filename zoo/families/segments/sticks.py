"""What the processes share whose tokens pass the tables of a sentence, stick by stick (Equation 9)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, override

import numpy as np

from ....kernels.segments.particles import Sticks
from ...contract import Design, Gamma, Hyperparameter, Latents, Reference
from ...corpus import Corpus
from ...settings import setting
from . import forward, generator
from .enumerated import EnumeratedFamily
from .lattice import Lattice, lattice_of
from .law import listing, log_tables, partitions, tables_of
from .order import Seating
from .reference import Listing

INERT = {"zeta": 1.0}
"""Where a document is one sentence, zeta cancels: every dish that it lacks is new."""


@dataclass(frozen=True)
class SticksFamily(EnumeratedFamily):
    """Base of the processes; a subclass says in which order tokens take their seats.

    Latents: those of `SegmentsFamily`; dishes are numbered by first appearance in that order.
    """

    a: Hyperparameter = setting(1.0, fixed=1.0, prior=Gamma(3.0, 2.0), benchmark=1.0)
    b: Hyperparameter = setting(1.0, fixed=1.5, prior=Gamma(2.0, 2.0), benchmark=1.0)
    forward: bool = False

    def __post_init__(self):
        self.check_truth("forward")
        super().__post_init__()

    @override
    def draw_dishes(
        self, seats: Seating, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        return {"dish": generator.draw_dishes(seats, *_sticks(hyper), rng)}

    @override
    def log_dishes(self, latents: Latents, seats: Seating) -> float:
        if not self.is_within_limits(latents, seats):
            return -np.inf
        return float(log_tables(tables_of(seats, latents["dish"]), *_sticks(latents)).sum())

    @override
    def dish_laws(self, seats: Seating, hyper: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        rows = partitions(seats, **self.limits)
        of_tables = log_tables(rows.tables, *_sticks(hyper))
        return rows.dish, np.bincount(rows.tables.document, of_tables, minlength=len(rows.dish))

    @override
    def law_of_new(self, latents: Latents) -> Sticks:
        return Sticks(*_sticks(latents), self.topic_parameters(latents), truncation=0)

    @property
    @override
    def listing(self) -> Callable[..., Listing]:
        return listing

    @property
    @override
    def program(self) -> Reference:
        """See `SegmentsFamily.program`; of dishes, or, where `forward`, of sticks with dishes summed out."""
        if not self.forward:
            return replace(super().program, stan_program="was")
        return Reference(
            parameters=("sticks", "dishes", "phi", *self.hyperparameters()),
            numpyro=self._forward_numpyro,
            stan_program="was_forward",
            stan_data=self._forward_stan_data,
            latents=self._forward_latents,
            needs_truncation=not self.most_dishes,
        )

    def _lattice(self, corpus: Corpus, truncation: int) -> Lattice:
        return lattice_of(
            corpus, self.seats(Design.of(corpus)), **self.limits_at(truncation), label=self.label
        )

    def _forward_numpyro(self, corpus: Corpus, truncation: int) -> Callable[[], None]:
        lattice = self._lattice(corpus, truncation)
        return forward.program(lattice, corpus, self.n_topics, INERT | self.hyperparameters())

    def _forward_stan_data(self, corpus: Corpus, truncation: int) -> dict[str, Any]:
        data = forward.stan_data(self._lattice(corpus, truncation), corpus)
        return data | {"K": self.n_topics} | self.stan_hyperparameters()

    def _forward_latents(
        self, draw: Mapping[str, np.ndarray], corpus: Corpus, rng: np.random.Generator
    ) -> Latents:
        lattice = self._lattice(corpus, len(draw["dishes"]) // corpus.n_documents)
        hyper = {name: np.asarray(draw[name]) for name in self.hyperparameters()}
        return forward.latents_at(draw, lattice, corpus, _sticks(hyper)[-1], rng) | hyper

    @override
    def stan_hyperparameters(self) -> dict[str, Any]:
        return {"zeta_is_random": 0, "zeta_given": [INERT["zeta"]]} | super().stan_hyperparameters()

    @override
    def starts(self, hyper: Mapping[str, Any]) -> tuple[Any, ...]:
        a, b, zeta = hyper["a"], hyper["b"], hyper.get("zeta", INERT["zeta"])
        return zeta, zeta, a, b, a + b


def _sticks(hyper: Mapping[str, np.ndarray]) -> tuple[float, float, float]:
    """Values of a, b and zeta."""
    return float(hyper["a"]), float(hyper["b"]), float(hyper.get("zeta", INERT["zeta"]))

"""What models share whose references enumerate the dishes of each document, and so need a limit on them."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, override

import numpy as np

from ....kernels.segments.particles import Restaurants, SharedAndOwn, Sticks
from ...contract import Design, Latents, Reference
from ...corpus import Corpus
from ...settings import Purpose
from ...toolbox.stan_data import stan_priors
from . import reference
from .family import SegmentsFamily
from .order import Seating
from .predictive import SegmentsPredictive
from .reference import Listing, Rows


@dataclass(frozen=True)
class EnumeratedFamily(SegmentsFamily):
    """Base of the models whose dishes are without number, unless there is a limit.

    A limit is a condition on all variables together: a reference and a kernel with the same one have one law.
    """

    few_dishes: ClassVar[int] = 2
    """Limit before references."""

    most_dishes: int = 0

    def __post_init__(self):
        self.check_whole("most_dishes", 0)
        super().__post_init__()

    @property
    @override
    def limits(self) -> Mapping[str, int]:
        return {"most_dishes": self.most_dishes}

    @override
    def is_within_limits(self, latents: Latents, seats: Seating) -> bool:
        most = self.most_dishes or latents["dish"].size
        return bool(latents["dish"].max(initial=-1) < most)

    @property
    @abstractmethod
    def listing(self) -> Callable[..., Listing]:
        """All dishes of one document; see `reference.rows_of`."""

    @abstractmethod
    def starts(self, hyper: Mapping[str, Any]) -> Sequence[Any]:
        """Numbers that the law of dishes has products of; see `reference.Rows`."""

    @abstractmethod
    def law_of_new(self, latents: Latents) -> Sticks | Restaurants | SharedAndOwn:
        """Law of the dishes of new documents."""

    @override
    def predictive(self, latents: Latents, corpus: Corpus) -> SegmentsPredictive:
        """See `Model.predictive`.

        Raises
        ------
        ValueError
            There are limits: what they say of new documents depends on these.
        """
        if any(self.limits.values()):
            raise ValueError(
                f"{self.label}: new documents are scored without limits; expected no "
                + ", no ".join(self.limits)
            )
        return SegmentsPredictive(self.frozen_topics(latents, corpus), self.law_of_new(latents), self.seats)

    @override
    def set_to(self, purpose: Purpose) -> Self:
        """See `HasSettings.set_to`; before references there are few dishes, as all are enumerated."""
        made = super().set_to(purpose)
        return (
            replace(made, most_dishes=made.most_dishes or self.few_dishes) if purpose == "reference" else made
        )

    @property
    @override
    def program(self) -> Reference:
        """See `SegmentsFamily.program`; without `most_dishes`, the truncation is the limit."""
        return Reference(
            parameters=("dishes", "phi", *self.hyperparameters()),
            numpyro=self._numpyro,
            stan_program=self.card.id,
            stan_data=self._stan_data,
            latents=self._latents_at,
            needs_truncation=not self.most_dishes,
        )

    def limits_at(self, truncation: int) -> dict[str, int]:
        """Limits of a reference: the truncation is one on dishes, unless there is another."""
        return {**self.limits, "most_dishes": self.most_dishes or truncation}

    def _rows(self, corpus: Corpus, truncation: int) -> Rows:
        limits = tuple(self.limits_at(truncation).values())
        return reference.rows_of(corpus, self.seats(Design.of(corpus)), self.listing, limits, self.label)

    def _numpyro(self, corpus: Corpus, truncation: int) -> Callable[[], None]:
        rows = self._rows(corpus, truncation)
        return reference.program(rows, corpus.n_words, self.n_topics, self.hyperparameters(), self.starts)

    def _stan_data(self, corpus: Corpus, truncation: int) -> dict[str, Any]:
        rows = reference.stan_rows(self._rows(corpus, truncation), corpus.n_words)
        return rows | {"K": self.n_topics} | self.stan_hyperparameters()

    def stan_hyperparameters(self) -> dict[str, Any]:
        """Return what Stan programs are told of hyperparameters."""
        return stan_priors(self)

    def _latents_at(
        self, draw: Mapping[str, np.ndarray], corpus: Corpus, rng: np.random.Generator
    ) -> Latents:
        rows = self._rows(corpus, len(draw["dishes"]) // corpus.n_documents)
        return reference.latents_at(draw, rows, corpus, self.hyperparameters(), self.starts, rng)

    @override
    def memory_of_reference(self, corpus: Corpus, truncation: int) -> int:
        n_dishes = (self.most_dishes or truncation) * corpus.n_documents
        return 8 * self.n_topics * (n_dishes + corpus.n_words)

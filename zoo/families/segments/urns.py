"""What models share whose dishes come from urns: tokens are exchangeable, and something is kept of a seat.

A model says what its samplers ask for, and the law: which seats there are for a token, given the dishes and
seats of those before it. Their product is the law of all dishes and seats, and following them enumerates it.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self, override

import numpy as np

from ....kernels.segments.particles import Restaurants, SharedAndOwn
from ...contract import Design, Latents, Reference
from ...corpus import Corpus
from ...settings import Purpose, option
from ...toolbox.stan_data import stan_priors
from . import reference
from .family import SegmentsFamily
from .order import Seating
from .predictive import SegmentsPredictive
from .reference import Listing, Rows


class Seat(NamedTuple):
    """A seat that a token can take: its dish, what is kept of it, and its probability."""

    dish: int
    mark: int
    weight: float


class Seated(NamedTuple):
    """Tokens of a document that have a seat: sentence, dish, and what is kept of the seat."""

    sentence: list[int]
    dish: list[int]
    mark: list[int]

    def add(self, sentence: int, seat: Seat) -> None:
        """Seat one more."""
        self.sentence.append(sentence)
        self.dish.append(seat.dish)
        self.mark.append(seat.mark)

    def and_one(self, sentence: int, seat: Seat) -> "Seated":
        """Those and one more, these being left as they are."""
        more = Seated(list(self.sentence), list(self.dish), list(self.mark))
        more.add(sentence, seat)
        return more


@dataclass(frozen=True)
class UrnFamily(SegmentsFamily):
    """Base of the models whose dishes come from urns.

    Latents: those of `SegmentsFamily`, and what is kept of each token's seat, `mark`.
    """

    mark: ClassVar[str]

    window: int = option(0, small=3, benchmark=20)
    most_dishes: int = 0

    def __post_init__(self):
        self.check_whole("most_dishes", 0)
        super().__post_init__()

    @property
    @override
    def dimensions(self) -> Mapping[str, tuple[str, ...]]:
        return {"dish": ("token",), self.mark: ("token",)}

    @property
    @override
    def limits(self) -> Mapping[str, int]:
        return {"most_dishes": self.most_dishes}

    @override
    def is_within_limits(self, latents: Latents, seats: Seating) -> bool:
        most = self.most_dishes or latents["dish"].size
        return bool(latents["dish"].max(initial=-1) < most)

    @abstractmethod
    def open_seats(self, sentence: int, seated: Seated, hyper: Mapping[str, float]) -> list[Seat]:
        """Seats that the next token can take; the weights sum to one."""

    @property
    @abstractmethod
    def listing(self) -> Callable[[Seating, int], Listing]:
        """All dishes of one document; see `reference.rows_of`."""

    @abstractmethod
    def starts(self, hyper: Mapping[str, Any]) -> Sequence[Any]:
        """Numbers that the law of dishes has products of; see `reference.Rows`."""

    @override
    def draw_dishes(
        self, seats: Seating, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        dish, mark = np.zeros((2, seats.sentence.size), np.int64)
        at = _numbers(hyper)
        for own in documents(seats):
            seated = Seated([], [], [])
            for s in seats.sentence[own].tolist():
                found = self.open_seats(s, seated, at)
                u = rng.random()
                for seat in found:
                    u -= seat.weight
                    if u < 0.0:
                        break
                seated.add(s, seat)
            dish[own], mark[own] = seated.dish, seated.mark
        return {"dish": dish, self.mark: mark}

    @override
    def dish_laws(self, seats: Seating, hyper: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """See `SegmentsFamily.dish_laws`; what is kept of seats is summed out."""
        found = self.listing(seats, self.most_dishes)
        starts = self.starts(_numbers(hyper))
        log_p = found.log_constant + sum(
            power @ np.log(np.arange(power.shape[1]) + x)
            for power, x in zip(found.powers, starts, strict=True)
        )
        dishes, row = np.unique(found.tokens["dish"], axis=0, return_inverse=True)
        out = np.full(len(dishes), -np.inf)
        np.logaddexp.at(out, row.ravel(), log_p)
        return dishes, out

    @override
    def new_sentence(self, latents: Latents, seats: Seating) -> np.ndarray:
        of_tokens = (seats.sentence, latents["dish"], latents[self.mark])
        seated = Seated(*(list(map(int, values)) for values in of_tokens))
        another = int(seats.sentence.max(initial=-1)) + 1
        out = np.zeros(int(latents["dish"].max(initial=-1)) + 2)
        for seat in self.open_seats(another, seated, _numbers(latents)):
            out[seat.dish] += seat.weight
        return out

    @abstractmethod
    def law_of_new(self, latents: Latents) -> Restaurants | SharedAndOwn:
        """Law of the dishes of new documents."""

    @override
    def predictive(self, latents: Latents, corpus: Corpus) -> SegmentsPredictive:
        """See `Model.predictive`.

        Raises
        ------
        ValueError
            There is a limit: what it says of new documents depends on these.
        """
        if self.most_dishes:
            raise ValueError(
                f"{self.label}: new documents are scored without limits; expected no most_dishes"
            )
        return SegmentsPredictive(self.frozen_topics(latents, corpus), self.law_of_new(latents), self.seats)

    @override
    def set_to(self, purpose: Purpose) -> Self:
        """See `HasSettings.set_to`; before references there are few dishes, as all are enumerated."""
        made = super().set_to(purpose)
        return replace(made, most_dishes=made.most_dishes or 2) if purpose == "reference" else made

    @property
    @override
    def reference(self) -> Reference:
        """See `Model.reference`; without `most_dishes`, the truncation is the limit."""
        return Reference(
            parameters=("dishes", "phi", *self.hyperparameters()),
            numpyro=self._numpyro,
            stan_program=self.card.id,
            stan_data=self._stan_data,
            latents=self._latents_at,
            needs_truncation=not self.most_dishes,
        )

    def _rows(self, corpus: Corpus, truncation: int) -> Rows:
        seats, limits = self.seats(Design.of(corpus)), (self.most_dishes or truncation,)
        return reference.rows_of(corpus, seats, self.listing, limits, self.label)

    def _numpyro(self, corpus: Corpus, truncation: int) -> Callable[[], None]:
        rows = self._rows(corpus, truncation)
        return reference.program(rows, corpus.n_words, self.n_topics, self.hyperparameters(), self.starts)

    def _stan_data(self, corpus: Corpus, truncation: int) -> dict[str, Any]:
        rows = reference.stan_rows(self._rows(corpus, truncation), corpus.n_words)
        return rows | {"K": self.n_topics} | stan_priors(self)

    def _latents_at(
        self, draw: Mapping[str, np.ndarray], corpus: Corpus, rng: np.random.Generator
    ) -> Latents:
        rows = self._rows(corpus, len(draw["dishes"]) // corpus.n_documents)
        return reference.latents_at(draw, rows, corpus, self.hyperparameters(), self.starts, rng)

    @override
    def range_of_tokens(self, name: str, corpus: Corpus) -> tuple[int, int]:
        return super().range_of_tokens("dish" if name == self.mark else name, corpus)

    @override
    def memory_of_reference(self, corpus: Corpus, truncation: int) -> int:
        n_dishes = (self.most_dishes or truncation) * corpus.n_documents
        return 8 * self.n_topics * (n_dishes + corpus.n_words)

    @override
    def memory_of_chain(self, corpus: Corpus, variant: str | None = None) -> dict[str, int]:
        longest = int(corpus.doc_lengths.max(initial=0))
        return {
            "counts of topics": 8 * self.n_topics * corpus.n_words,
            "dishes of the longest document": 8 * self.n_topics * longest,
        }


def all_seated(
    open_seats: Callable[[int, Seated, Mapping[str, float]], list[Seat]],
    hyper: Mapping[str, float],
    sentences: Sequence[int],
    most_dishes: int,
) -> tuple[np.ndarray, np.ndarray]:
    """All dishes and seats of the tokens of one document, each int (R, n).

    Parameters
    ----------
    open_seats : (sentence, seated, hyper) -> list of Seat
    hyper : mapping of str to float
        Plays no part: it does not say which seats there are.
    sentences : sequence of int
        Of the tokens.
    most_dishes : int
        No limit at 0.
    """
    found = [Seated([], [], [])]
    for s in sentences:
        found = [
            seated.and_one(s, seat)
            for seated in found
            for seat in open_seats(s, seated, hyper)
            if not most_dishes or seat.dish < most_dishes
        ]
    shape = (len(found), len(sentences))
    dishes, marks = ([seated[field] for seated in found] for field in (1, 2))
    return np.array(dishes, np.int64).reshape(shape), np.array(marks, np.int64).reshape(shape)


def counts_of(*labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Size of each group of equal labels, and the first label of each; `labels` are int (N,)."""
    groups, sizes = np.unique(np.column_stack(labels), axis=0, return_counts=True)
    return sizes, groups[:, 0]


def _numbers(hyper: Mapping[str, np.ndarray]) -> dict[str, float]:
    return {name: float(value) for name, value in hyper.items() if np.ndim(value) == 0}


def documents(seats: Seating) -> list[slice]:
    """Tokens of each document that has some."""
    starts = np.flatnonzero(np.diff(seats.document, prepend=-1))
    ends = np.append(starts[1:], seats.document.size)
    return [slice(start, end) for start, end in zip(starts, ends, strict=True)]

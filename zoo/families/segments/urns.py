"""What models share whose dishes come from urns: tokens are exchangeable, and something is kept of a seat.

A model says what its samplers ask for, and the law: which seats there are for a token, given the dishes and
seats of those before it. Their product is the law of all dishes and seats, and following them enumerates it.
"""

from abc import abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, override

import numpy as np

from ...contract import Latents
from ...settings import option
from .enumerated import EnumeratedFamily
from .family import SentencesFamily
from .order import Seating


class Seat(NamedTuple):
    """A seat that a token can take: its dish, what is kept of it, and its probability."""

    dish: int
    mark: int
    weight: float


@dataclass
class Seated:
    """Tokens of a document that have a seat.

    Attributes
    ----------
    dish, mark : list of int
        Of each token.
    here : dict of Counter
        For each sentence, how many tokens have a dish and a mark.
    everywhere : Counter
        The same of all sentences.
    places : Counter
        For each dish, how many pairs of a sentence and a mark have it.
    """

    dish: list[int] = field(default_factory=list)
    mark: list[int] = field(default_factory=list)
    here: dict[int, Counter[tuple[int, int]]] = field(default_factory=lambda: defaultdict(Counter))
    everywhere: Counter[tuple[int, int]] = field(default_factory=Counter)
    places: Counter[int] = field(default_factory=Counter)

    def add(self, sentence: int, dish: int, mark: int) -> None:
        """Seat one more."""
        self.dish.append(dish)
        self.mark.append(mark)
        self.places[dish] += (dish, mark) not in self.here[sentence]
        self.here[sentence][dish, mark] += 1
        self.everywhere[dish, mark] += 1

    def and_one(self, sentence: int, dish: int, mark: int) -> "Seated":
        """Those and one more, these being left as they are."""
        here = defaultdict(Counter, self.here)
        here[sentence] = Counter(here[sentence])
        more = Seated([*self.dish], [*self.mark], here, Counter(self.everywhere), Counter(self.places))
        more.add(sentence, dish, mark)
        return more


@dataclass(frozen=True)
class UrnFamily(EnumeratedFamily, SentencesFamily):
    """Base of the models whose dishes come from urns.

    Latents: those of `SegmentsFamily`, and what is kept of each token's seat, `mark`.
    """

    mark: ClassVar[str]

    window: int = option(0, small=3, benchmark=20)

    @property
    @override
    def of_tokens(self) -> tuple[str, ...]:
        return ("dish", self.mark)

    @abstractmethod
    def open_seats(self, sentence: int, seated: Seated, hyper: Mapping[str, float]) -> list[Seat]:
        """Seats that the next token can take; the weights sum to one."""

    @override
    def draw_dishes(
        self, seats: Seating, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        dish, mark = np.zeros((2, seats.sentence.size), np.int64)
        at = _numbers(hyper)
        for own in documents(seats):
            seated = Seated()
            for s in seats.sentence[own].tolist():
                found = self.open_seats(s, seated, at)
                u = rng.random()
                for seat in found:
                    u -= seat.weight
                    if u < 0.0:
                        break
                seated.add(s, seat.dish, seat.mark)
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
        seated = Seated()
        for of_token in zip(seats.sentence, latents["dish"], latents[self.mark], strict=True):
            seated.add(*map(int, of_token))
        another = int(seats.sentence.max(initial=-1)) + 1
        out = np.zeros(int(latents["dish"].max(initial=-1)) + 2)
        for seat in self.open_seats(another, seated, _numbers(latents)):
            out[seat.dish] += seat.weight
        return out


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
    found = [Seated()]
    for s in sentences:
        found = [
            seated.and_one(s, seat.dish, seat.mark)
            for seated in found
            for seat in open_seats(s, seated, hyper)
            if not most_dishes or seat.dish < most_dishes
        ]
    shape = (len(found), len(sentences))
    dishes, marks = [seated.dish for seated in found], [seated.mark for seated in found]
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

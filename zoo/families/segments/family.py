"""What models of sentences share: topics, dishes, and all but the law by which tokens get their dishes.

A document has dishes, topic vectors; a token has a dish and a topic drawn from it. Topics are Dir_V(eta), and
shared by all documents. There are K of them, phi_dl ~ Dir_K(kappa), or as many as are needed, root ~ GEM(tau)
and phi_dl ~ DP(kappa, root). Topic vectors and topics are integrated out.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import override

import numpy as np
from scipy.stats import entropy

from ....kernels.toolbox.sides import ROOM
from ...contract import (
    Design,
    FrozenTopics,
    Gamma,
    Hyperparameter,
    Latents,
    Model,
    Prior,
    Probes,
    Quantities,
    Reference,
    Simulation,
    WordCounts,
)
from ...corpus import Corpus
from ...settings import Setting, option, setting
from ...toolbox.draws import draw_categorical, draw_dirichlet, draw_hyperparameter, draw_words
from ...toolbox.enumeration import restricted_growth_strings
from ...toolbox.laws import by_first_appearance, doc_topic_counts, log_sequences, topic_word_counts
from ...toolbox.proportions import MixedProportions
from ..hdp.sticks import log_gem
from . import vectors
from .order import Seating, seating, sentence_starts
from .predictive import SegmentsPredictive

TAU = Gamma(1.0, 1.0)
"""Default, and all that there can be where the number of topics is fixed."""

MOST_DRAWS = 1000
"""Tries of a generator that keeps to limits by rejection."""


@dataclass(frozen=True)
class SegmentsFamily(Model):
    """Base of the models of sentences.

    Latents: ``z`` (N,), the topic of each token; ``dish`` (N,), its dish, numbered through each document from
    0; the hyperparameters; and, where there are as many topics as are needed, ``root`` (K + 1,), the weights
    of topics, the last entry being that of all topics without tokens.
    """

    n_topics: int = option(10, small=2, benchmark=50)
    tau: Hyperparameter = setting(TAU, fixed=1.7, prior=Gamma(5.0, 4.0), benchmark=1.5)
    kappa: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.6, prior=Gamma(4.0, 3.0), benchmark=0.1)
    eta: Hyperparameter = setting(Gamma(1.0, 10.0), fixed=0.5, prior=Gamma(2.0, 3.0), benchmark=0.01)

    def __post_init__(self):
        self.check_whole("n_topics", 0)
        if self.n_topics and self.tau != TAU:
            raise ValueError(
                f"{self.label}: tau: expected n_topics=0, as many topics as are needed, found {self.n_topics}"
            )
        super().__post_init__()

    @property
    def opens_topics(self) -> bool:
        """Whether there are as many topics as are needed."""
        return self.n_topics == 0

    @override
    def own_settings(self) -> dict[str, Setting]:
        """See `HasSettings.own_settings`; there is a number of topics, or a concentration of them."""
        left_out = "n_topics" if self.opens_topics else "tau"
        return {name: known for name, known in super().own_settings().items() if name != left_out}

    @property
    def of_tokens(self) -> tuple[str, ...]:
        """Latents that tokens have, but ``z``."""
        return ("dish",)

    @property
    @override
    def dimensions(self) -> Mapping[str, tuple[str, ...]]:
        of_topics = {"root": ("stick",)} if self.opens_topics else {}
        return dict.fromkeys(self.of_tokens, ("token",)) | of_topics

    @property
    @override
    def default_starts(self) -> tuple[str, ...]:
        """See `Model.default_starts`: with few topics and with many, where their number is free."""
        return ("seated", "documents") if self.opens_topics else ("seated",)

    @property
    def limits(self) -> Mapping[str, int]:
        """What the law is conditioned on, by name; no limit at 0."""
        return {}

    @abstractmethod
    def seats(self, design: Design) -> Seating:
        """Sentence of each token, and when it takes its seat; CorpusError where there are no sentences."""

    def is_within_limits(self, latents: Latents, seats: Seating) -> bool:
        """Whether the dishes keep to the limits."""
        return True

    @abstractmethod
    def draw_dishes(
        self, seats: Seating, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        """Draw all that `of_tokens` has, each int (N,)."""

    @abstractmethod
    def log_dishes(self, latents: Latents, seats: Seating) -> float:
        """Log probability of all dishes given the hyperparameters."""

    @abstractmethod
    def dish_laws(self, seats: Seating, hyper: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """All dishes of one short document, int (R, n), and the log probability of each, float (R,)."""

    @abstractmethod
    def new_sentence(self, latents: Latents, seats: Seating) -> np.ndarray:
        """Weights of the dishes of a document for the first token of one more sentence at its end.

        Parameters
        ----------
        latents : Latents
            Tokens are those of the document.
        seats : Seating
            The same.

        Returns
        -------
        float (L + 1,)
            Of a new dish last.
        """

    @override
    def n_topics_of(self, latents: Latents) -> int:
        return self.n_topics or latents["root"].size - 1

    @property
    def room_for_topics(self) -> int:
        """How many topics a chain has room for at first."""
        return self.n_topics or ROOM

    def topic_parameters(self, latents: Latents) -> np.ndarray:
        """Dirichlet parameters of a dish, by topic; without bound the last is of all not represented."""
        kappa = float(latents["kappa"])
        return kappa * latents["root"] if self.opens_topics else np.full(self.n_topics, kappa)

    @override
    def range_of_tokens(self, name: str, corpus: Corpus) -> tuple[int, int | np.ndarray]:
        """See `Model.range_of_tokens`; a document has no more dishes, nor tables, than tokens."""
        longest = int(corpus.doc_lengths.max(initial=0))
        return (0, longest - 1) if name in ("dish", "table") else super().range_of_tokens(name, corpus)

    @override
    def draw_hyperparameters(self, design: Design, rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {name: draw_hyperparameter(value, None, rng) for name, value in self.hyperparameters().items()}

    def draw_topics(
        self, design: Design, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        """Draw dishes and ``z``, and ``root`` where it is a latent, given the hyperparameters."""
        seats = self.seats(design)
        drawn = self.draw_dishes(seats, hyper, rng)
        return self.draw_topics_of(dish_ids(seats, drawn["dish"]), hyper, rng) | drawn

    def draw_topics_of(
        self, dishes: np.ndarray, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        """Draw ``z``, and ``root`` where it is a latent, given the dishes of tokens as from `dish_ids`."""
        kappa = float(hyper["kappa"])
        if self.opens_topics:
            z, root = vectors.draw_topics(dishes, kappa, float(hyper["tau"]), rng)
            return {"z": z, "root": root}
        phi = draw_dirichlet(np.full((int(dishes.max(initial=-1)) + 1, self.n_topics), kappa), rng)
        return {"z": draw_categorical(phi[dishes], rng)}

    @override
    def simulate(self, design: Design, rng: np.random.Generator) -> Simulation:
        """See `Model.simulate`; what is beyond the limits is rejected, hyperparameters and all.

        Raises
        ------
        ValueError
            Hardly anything is within the limits.
        """
        seats = self.seats(design)
        for _ in range(MOST_DRAWS):
            hyper = self.draw_hyperparameters(design, rng)
            latents = self.draw_topics(design, hyper, rng) | hyper
            if self.is_within_limits(latents, seats):
                return Simulation(latents, self.resample_data(latents, design, rng))
        raise ValueError(
            f"{self.label}: expected {' and '.join(self.limits)} that such documents keep to, found "
            f"{' and '.join(map(str, self.limits.values()))}: none of {MOST_DRAWS:,} draws does"
        )

    @override
    def resample_data(self, latents: Latents, design: Design, rng: np.random.Generator) -> Corpus:
        n_topics = self.n_topics_of(latents)
        words = draw_words(latents["z"], n_topics, design.n_words, float(latents["eta"]), rng)
        return design.corpus(words)

    @override
    def initial_latents(self, corpus: Corpus, rng: np.random.Generator) -> Latents:
        design = Design.of(corpus)
        self.seats(design)
        unseated = {name: np.full(corpus.n_tokens, -1) for name in ("z", *self.of_tokens)}
        no_topics = {"root": np.ones(1)} if self.opens_topics else {}
        return unseated | no_topics | self.draw_hyperparameters(design, rng)

    @override
    def start_at(self, labels: np.ndarray, corpus: Corpus, rng: np.random.Generator) -> Latents:
        """See `Model.start_at`; every document has one dish, with one table for each of its topics."""
        hyper = self.draw_hyperparameters(Design.of(corpus), rng)
        in_one_dish = {name: np.zeros_like(labels) for name in self.of_tokens}
        if not self.opens_topics:
            return {"z": labels % self.n_topics} | in_one_dish | hyper
        z, used = by_first_appearance(labels)
        tables = np.bincount(np.unique(corpus.doc_of * used.size + z) % used.size, minlength=used.size)
        root = np.append(tables, float(hyper["tau"]))
        return {"z": z, "root": root / root.sum()} | in_one_dish | hyper

    def log_topics(self, latents: Latents, seats: Seating) -> float:
        """Log probability of ``z`` given the dishes, topic vectors integrated out."""
        return log_sequences(dish_ids(seats, latents["dish"]), latents["z"], self.topic_parameters(latents))

    @property
    @abstractmethod
    def program(self) -> Reference:
        """Its reference where the number of topics is fixed."""

    @property
    @override
    def reference(self) -> Reference | None:
        """See `Model.reference`; the programs are of a fixed number of topics."""
        return None if self.opens_topics else self.program

    @override
    def memory_of_chain(self, corpus: Corpus, variant: str | None = None) -> dict[str, int]:
        longest = int(corpus.doc_lengths.max(initial=0))
        return {
            "counts of topics": 8 * self.room_for_topics * corpus.n_words,
            "dishes of the longest document": 8 * self.room_for_topics * longest,
        }

    @override
    def log_likelihood(self, latents: Latents, corpus: Corpus) -> float:
        return log_sequences(latents["z"], corpus.words, np.full(corpus.n_words, float(latents["eta"])))

    @override
    def log_joint(self, latents: Latents, corpus: Corpus) -> float:
        seats = self.seats(Design.of(corpus))
        priors = {name: prior for name, prior in self.hyperparameters().items() if isinstance(prior, Prior)}
        return (
            sum(prior.log_density(latents[name]) for name, prior in priors.items())
            + (log_gem(latents["root"], float(latents["tau"])) if self.opens_topics else 0.0)
            + self.log_dishes(latents, seats)
            + self.log_topics(latents, seats)
            + self.log_likelihood(latents, corpus)
        )

    @override
    def log_marginal(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        """See `Model.log_marginal`; sums over all dishes of each document, and over tables."""
        seats = self.seats(Design.of(corpus))
        out = self.log_likelihood({"z": z, **hyper}, corpus)
        documents = [seats.document == d for d in np.flatnonzero(corpus.doc_lengths)]
        values = tuple((name, float(value)) for name, value in hyper.items())
        if self.opens_topics:
            n_topics, tau = int(z.max(initial=-1)) + 1, float(hyper["tau"])
            tables = [
                _tables(self, *_seats_of(seats, own), values, tuple(z[own].tolist()), n_topics)
                for own in documents
            ]
            return out + vectors.log_sum_over_tables(tables, tau)
        kappa = self.topic_parameters(dict(hyper))
        for own in documents:
            dishes, log_p = _dish_laws(self, *_seats_of(seats, own), values)
            terms = [p + log_sequences(row, z[own], kappa) for row, p in zip(dishes, log_p, strict=True)]
            out += float(np.logaddexp.reduce(terms))
        return out

    @override
    def assignments(self, corpus: Corpus) -> Iterator[np.ndarray]:
        """All values of ``z``: topics are told apart where their number is fixed; else all partitions."""
        if self.opens_topics:
            yield from restricted_growth_strings(corpus.n_tokens)
            return
        for z in product(range(self.n_topics), repeat=corpus.n_tokens):
            yield np.array(z, np.int64)

    def word_probabilities(self, latents: Latents, corpus: Corpus, words: np.ndarray) -> np.ndarray:
        """Probabilities of some words as the next token of each topic, as `topic_parameters` has them."""
        eta, n_topics = float(latents["eta"]), self.topic_parameters(latents).size
        counted = topic_word_counts(latents["z"], corpus.words, n_topics, words)
        total = np.bincount(latents["z"], minlength=n_topics) + corpus.n_words * eta
        return (counted + eta) / total[:, None]

    @override
    def frozen_topics(self, latents: Latents, corpus: Corpus) -> FrozenTopics:
        """See `Model.frozen_topics`; proportions are those of a document of one dish."""
        words = self.word_probabilities(latents, corpus, np.arange(corpus.n_words))
        return FrozenTopics(words, self.topic_parameters(latents)[None])

    @override
    @abstractmethod
    def predictive(self, latents: Latents, corpus: Corpus) -> SegmentsPredictive:
        """See `Model.predictive`."""

    @override
    def new_proportions(self, latents: Latents, corpus: Corpus) -> SegmentsPredictive:
        return self.predictive(latents, corpus)

    @override
    def own_proportions(self, latents: Latents, corpus: Corpus) -> MixedProportions:
        """See `Model.own_proportions`; of the first token of one more sentence at the document's end."""
        seats = self.seats(Design.of(corpus))
        return MixedProportions(lambda d: self._dishes_of(latents, corpus, seats, d))

    def _dishes_of(
        self, latents: Latents, corpus: Corpus, seats: Seating, d: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Weights of a document's dishes, a new one last, in one more sentence, and their parameters."""
        own = slice(corpus.doc_ptr[d], corpus.doc_ptr[d + 1])
        of_tokens = {name: latents[name][own] for name in ("z", *self.of_tokens)}
        weights = self.new_sentence(latents | of_tokens, Seating(*(x[own] for x in seats)))
        topics = np.tile(self.topic_parameters(latents), (weights.size, 1))
        np.add.at(topics, (of_tokens["dish"], of_tokens["z"]), 1.0)
        return weights, topics

    @override
    def quantities(
        self,
        latents: Latents,
        corpus: Corpus,
        probes: Probes | None = None,
        counts: WordCounts | None = None,
    ) -> Quantities:
        """See `Model.quantities`.

        ``n_topics`` in use; ``dishes_per_document`` and ``dishes_per_sentence``, means over those with
        tokens; ``log_joint`` of words, topics and dishes given hyperparameters; ``log_likelihood`` of the
        words given topics; ``same_topic`` (P,); ``same_dish``, share of the pairs in one document;
        ``topic_entropy`` (Q,), nats; ``predictive`` (R,), of a word as the first token of one more sentence
        at the document's end; every sampled hyperparameter.
        """
        probes = probes or Probes.of(corpus)
        z, dish, seats = latents["z"], latents["dish"], self.seats(Design.of(corpus))
        likelihood = self.log_likelihood(latents, corpus)
        assigned = self.log_dishes(latents, seats) + self.log_topics(latents, seats)
        first, second = probes.pairs.T
        inside = seats.document[first] == seats.document[second]
        words = self.word_probabilities(latents, corpus, probes.cells[:, 1])
        predictive = np.zeros(len(probes.cells))
        for j, d in enumerate(probes.cells[:, 0]):
            weights, in_dish = self._dishes_of(latents, corpus, seats, d)
            predictive[j] = weights @ (in_dish / in_dish.sum(axis=1, keepdims=True)) @ words[:, j]
        n_dishes = np.unique(dish_ids(seats, dish)).size / max(np.unique(seats.document).size, 1)
        n_in_sentence = np.unique(seats.sentence * (corpus.n_tokens + 1) + dish).size
        n_in_sentence /= max(np.unique(seats.sentence).size, 1)
        return {
            "n_topics": np.asarray(float(np.unique(z).size)),
            "dishes_per_document": np.asarray(n_dishes),
            "dishes_per_sentence": np.asarray(n_in_sentence),
            "log_joint": np.asarray(likelihood + assigned),
            "log_likelihood": np.asarray(likelihood),
            "same_topic": (z[first] == z[second]).astype(float),
            "same_dish": np.asarray(np.mean((dish[first] == dish[second])[inside]) if inside.any() else 0.0),
            "topic_entropy": entropy(
                doc_topic_counts(z, corpus, self.n_topics_of(latents))[probes.documents], axis=1
            ),
            "predictive": predictive,
        } | {name: np.asarray(latents[name], float) for name in self.sampled()}


@dataclass(frozen=True)
class SentencesFamily(SegmentsFamily):
    """Base of the models of documents that have several sentences."""

    window: int = option(0, small=2, benchmark=20)

    def __post_init__(self):
        self.check_whole("window", 0)
        super().__post_init__()

    @override
    def seats(self, design: Design) -> Seating:
        """See `SegmentsFamily.seats`; tokens are exchangeable unless a model has an order of its own."""
        return self.seats_in("reading", design)

    def seats_in(self, order: str, design: Design) -> Seating:
        """Seats taken in one of the `ORDERS`."""
        lengths = np.asarray(design.doc_lengths)
        starts = sentence_starts(design.segment_ptr, lengths, self.window, self.label)
        return seating(starts, lengths, order)


def _seats_of(seats: Seating, own: np.ndarray) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(x[own].tolist()) for x in seats)


@lru_cache(maxsize=64)
def _dish_laws(
    model: SegmentsFamily,
    document: tuple[int, ...],
    sentence: tuple[int, ...],
    time: tuple[int, ...],
    hyper: tuple[tuple[str, float], ...],
) -> tuple[np.ndarray, np.ndarray]:
    """Return `SegmentsFamily.dish_laws` of one document, which many topics of its tokens ask for."""
    seats = Seating(np.array(document), np.array(sentence), np.array(time))
    return model.dish_laws(seats, {name: np.asarray(value) for name, value in hyper})


@lru_cache(maxsize=1024)
def _tables(
    model: SegmentsFamily,
    document: tuple[int, ...],
    sentence: tuple[int, ...],
    time: tuple[int, ...],
    hyper: tuple[tuple[str, float], ...],
    z: tuple[int, ...],
    n_topics: int,
) -> np.ndarray:
    dishes, log_p = _dish_laws(model, document, sentence, time, hyper)
    return vectors.tables_of_document(dishes, log_p, z, n_topics, dict(hyper)["kappa"])


def dish_ids(seats: Seating, dish: np.ndarray) -> np.ndarray:
    """Dishes of all documents, numbered through the corpus without gaps, int (N,)."""
    most = int(dish.max(initial=-1)) + 1
    return np.unique(seats.document * most + dish, return_inverse=True)[1].reshape(-1)

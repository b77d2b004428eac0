"""What models of sentences share: topics, dishes, and all but the law by which tokens get their dishes.

A document has dishes, topic vectors phi_dl ~ Dir_K(kappa); a token has a dish and a topic drawn from it. The
K topics are Dir_V(eta), and shared by all documents. Topic vectors and topics are integrated out.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from numbers import Integral
from typing import override

import numpy as np
from scipy.stats import entropy

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
    Simulation,
    WordCounts,
)
from ...corpus import Corpus
from ...settings import option, setting
from ...toolbox.draws import draw_categorical, draw_dirichlet, draw_hyperparameter, draw_words
from ...toolbox.laws import doc_topic_counts, log_sequences, topic_word_counts
from .order import Seating, seating, sentence_starts

MOST_DRAWS = 1000
"""Tries of a generator that keeps to limits by rejection."""


@dataclass(frozen=True)
class SegmentsFamily(Model):
    """Base of the models of sentences.

    Latents: ``z`` (N,), the topic of each token; ``dish`` (N,), its dish, numbered through each document from
    0; and the hyperparameters.
    """

    n_topics: int = option(10, small=2, benchmark=50)
    kappa: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.6, prior=Gamma(4.0, 3.0), benchmark=0.1)
    eta: Hyperparameter = setting(Gamma(1.0, 10.0), fixed=0.5, prior=Gamma(2.0, 3.0), benchmark=0.01)

    def __post_init__(self):
        self.check_whole("n_topics", 1)
        super().__post_init__()

    def check_whole(self, name: str, least: int) -> None:
        """Raise ValueError unless field `name` is a whole number of at least `least`; make it Python's."""
        value = getattr(self, name)
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise ValueError(
                f"{self.label}: {name}: expected a whole number, {least} or more, found {value!r}"
            )
        object.__setattr__(self, name, int(value))

    @property
    @override
    def dimensions(self) -> Mapping[str, tuple[str, ...]]:
        """See `Model.dimensions`; all but ``z`` that tokens have."""
        return {"dish": ("token",)}

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
        """Draw all that `dimensions` has, each int (N,)."""

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
        return self.n_topics

    @override
    def range_of_tokens(self, name: str, corpus: Corpus) -> tuple[int, int]:
        longest = int(corpus.doc_lengths.max(initial=0))
        return (0, longest - 1) if name == "dish" else super().range_of_tokens(name, corpus)

    @override
    def draw_hyperparameters(self, design: Design, rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {name: draw_hyperparameter(value, None, rng) for name, value in self.hyperparameters().items()}

    def draw_topics(
        self, design: Design, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        """Draw ``dish`` and ``z`` given the hyperparameters."""
        seats = self.seats(design)
        drawn = self.draw_dishes(seats, hyper, rng)
        of_corpus = dish_ids(seats, drawn["dish"])
        n_dishes = int(of_corpus.max(initial=-1)) + 1
        phi = draw_dirichlet(np.full((n_dishes, self.n_topics), float(hyper["kappa"])), rng)
        return {"z": draw_categorical(phi[of_corpus], rng)} | drawn

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
        words = draw_words(latents["z"], self.n_topics, design.n_words, float(latents["eta"]), rng)
        return design.corpus(words)

    @override
    def initial_latents(self, corpus: Corpus, rng: np.random.Generator) -> Latents:
        design = Design.of(corpus)
        self.seats(design)
        unseated = {name: np.full(corpus.n_tokens, -1) for name in ("z", *self.dimensions)}
        return unseated | self.draw_hyperparameters(design, rng)

    @override
    def start_at(self, labels: np.ndarray, corpus: Corpus, rng: np.random.Generator) -> Latents:
        """See `Model.start_at`; every document has one dish."""
        hyper = self.draw_hyperparameters(Design.of(corpus), rng)
        return (
            {"z": labels % self.n_topics} | {name: np.zeros_like(labels) for name in self.dimensions} | hyper
        )

    def log_topics(self, latents: Latents, seats: Seating) -> float:
        """Log probability of ``z`` given the dishes, topic vectors integrated out."""
        kappa = np.full(self.n_topics, float(latents["kappa"]))
        return log_sequences(dish_ids(seats, latents["dish"]), latents["z"], kappa)

    @override
    def log_likelihood(self, latents: Latents, corpus: Corpus) -> float:
        return log_sequences(latents["z"], corpus.words, np.full(corpus.n_words, float(latents["eta"])))

    @override
    def log_joint(self, latents: Latents, corpus: Corpus) -> float:
        seats = self.seats(Design.of(corpus))
        priors = {name: prior for name, prior in self.hyperparameters().items() if isinstance(prior, Prior)}
        return (
            sum(prior.log_density(latents[name]) for name, prior in priors.items())
            + self.log_dishes(latents, seats)
            + self.log_topics(latents, seats)
            + self.log_likelihood(latents, corpus)
        )

    @override
    def log_marginal(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        """See `Model.log_marginal`; sums over all dishes of each document."""
        seats = self.seats(Design.of(corpus))
        kappa = np.full(self.n_topics, float(hyper["kappa"]))
        out = self.log_likelihood({"z": z, **hyper}, corpus)
        for d in np.flatnonzero(corpus.doc_lengths):
            own = Seating(*(x[seats.document == d] for x in seats))
            dishes, log_p = self.dish_laws(own, hyper)
            in_document = z[seats.document == d]
            terms = [p + log_sequences(row, in_document, kappa) for row, p in zip(dishes, log_p, strict=True)]
            out += float(np.logaddexp.reduce(terms))
        return out

    @override
    def assignments(self, corpus: Corpus) -> Iterator[np.ndarray]:
        """All values of ``z``: topics are told apart."""
        for z in product(range(self.n_topics), repeat=corpus.n_tokens):
            yield np.array(z, np.int64)

    def word_probabilities(self, latents: Latents, corpus: Corpus, words: np.ndarray) -> np.ndarray:
        """Probabilities of some words as the next token of each topic, float (K, W)."""
        eta = float(latents["eta"])
        counted = topic_word_counts(latents["z"], corpus.words, self.n_topics, words)
        total = np.bincount(latents["z"], minlength=self.n_topics) + corpus.n_words * eta
        return (counted + eta) / total[:, None]

    @override
    def frozen_topics(self, latents: Latents, corpus: Corpus) -> FrozenTopics:
        """See `Model.frozen_topics`; proportions are those of a document of one dish."""
        words = self.word_probabilities(latents, corpus, np.arange(corpus.n_words))
        return FrozenTopics(words, np.full((1, self.n_topics), float(latents["kappa"])))

    @override
    def quantities(
        self,
        latents: Latents,
        corpus: Corpus,
        probes: Probes | None = None,
        counts: WordCounts | None = None,
    ) -> Quantities:
        """See `Model.quantities`.

        ``n_topics`` in use; ``dishes_per_document`` and ``tables_per_sentence``, means over those with
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
            own = slice(corpus.doc_ptr[d], corpus.doc_ptr[d + 1])
            of_tokens = {name: latents[name][own] for name in ("z", *self.dimensions)}
            weights = self.new_sentence(latents | of_tokens, Seating(*(x[own] for x in seats)))
            in_dish = np.full((weights.size, self.n_topics), float(latents["kappa"]))
            np.add.at(in_dish, (dish[own], z[own]), 1.0)
            predictive[j] = weights @ (in_dish / in_dish.sum(axis=1, keepdims=True)) @ words[:, j]
        n_dishes = np.unique(dish_ids(seats, dish)).size / max(np.unique(seats.document).size, 1)
        n_tables = np.unique(seats.sentence * (corpus.n_tokens + 1) + dish).size
        n_tables /= max(np.unique(seats.sentence).size, 1)
        return {
            "n_topics": np.asarray(float(np.unique(z).size)),
            "dishes_per_document": np.asarray(n_dishes),
            "tables_per_sentence": np.asarray(n_tables),
            "log_joint": np.asarray(likelihood + assigned),
            "log_likelihood": np.asarray(likelihood),
            "same_topic": (z[first] == z[second]).astype(float),
            "same_dish": np.asarray(np.mean((dish[first] == dish[second])[inside]) if inside.any() else 0.0),
            "topic_entropy": entropy(doc_topic_counts(z, corpus, self.n_topics)[probes.documents], axis=1),
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


def dish_ids(seats: Seating, dish: np.ndarray) -> np.ndarray:
    """Dishes of all documents, numbered through the corpus without gaps, int (N,)."""
    most = int(dish.max(initial=-1)) + 1
    return np.unique(seats.document * most + dish, return_inverse=True)[1].reshape(-1)

"""Poisson factor analysis and deeper belief networks: topics that weigh as gamma variables."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, override

import numpy as np

from ...contract import (
    Design,
    Gamma,
    Hyperparameter,
    Kernel,
    Latents,
    Prior,
    Probes,
    Quantities,
    Room,
    Simulation,
    WordCounts,
)
from ...corpus import Corpus
from ...settings import option, setting
from ...toolbox.draws import log_gamma
from ..topic_sides import WITH_BELIEF_NETWORK
from ..topics import Dirichlet, Sampler, TopicSide
from ..two_sided import TwoSidedModel
from .lengths import draw_lengths, log_lengths
from .samplers import guarded_samplers

MOST_ATTEMPTS = 50_000
"""Draws from the prior among which one should have documents of the given lengths."""


@dataclass(frozen=True)
class PoissonFamily(TwoSidedModel):
    """Base of the models whose counts are sums of Poisson variables, their lengths part of the data.

    A subclass says how likely lengths are, and how topics come about, given the weights.
    """

    topic_sides: ClassVar[Mapping[str, TopicSide]] = WITH_BELIEF_NETWORK
    not_exact: ClassVar[tuple[str, ...]] = ()
    """Variants of its kernels that are other algorithms than its samplers."""
    likelier_lengths: ClassVar[str]
    """What makes lengths likelier, as an error says it."""

    gamma: Hyperparameter = setting(
        Gamma(0.01, 0.01), fixed=1.1, prior=Gamma(3.0, 2.0), reference=0.7, benchmark=1.5
    )
    c: Hyperparameter = setting(
        Gamma(1.0, 1.0), fixed=0.85, prior=Gamma(4.0, 3.0), reference=Gamma(9.0, 7.0), benchmark=0.1
    )
    topics: TopicSide = Dirichlet()

    @property
    @override
    def samplers(self) -> Mapping[str, Sampler]:
        return guarded_samplers(self.topics)

    @override
    def kernels_in(self, room: Room) -> dict[str, Kernel]:
        found = super().kernels_in(room)
        return {name: replace(kernel, exact=name not in self.not_exact) for name, kernel in found.items()}

    @abstractmethod
    def draw_weights(
        self, n_documents: int, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        """Draw all weights above the documents from their prior, in whatever form `seat` takes them."""

    @abstractmethod
    def log_lengths_of(self, weights: Latents, doc_lengths: np.ndarray) -> float:
        """Log probability of the lengths given weights of `draw_weights`, without constants."""

    @abstractmethod
    def highest_log_lengths(self, doc_lengths: np.ndarray) -> float:
        """Bound on `log_lengths_of`, whatever the weights."""

    @abstractmethod
    def seat(self, weights: Latents, design: Design, rng: np.random.Generator) -> Latents:
        """Draw the topics of the tokens given the weights, and put these as the latents have them."""

    @abstractmethod
    def log_lengths(self, latents: Latents, corpus: Corpus) -> float:
        """Log probability of the lengths of the documents given the latents, without constants."""

    @override
    def draw_topics(
        self, design: Design, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        """Draw weights given the lengths of the documents, by rejection, and topics."""
        return self.seat(self._weights_of(design, lambda: hyper, rng)[1], design, rng)

    def _weights_of(
        self, design: Design, draw_hyper: Callable[[], Mapping[str, np.ndarray]], rng: np.random.Generator
    ) -> tuple[Mapping[str, np.ndarray], Latents]:
        """Draw hyperparameters and weights given the lengths of the documents, by rejection."""
        lengths = np.asarray(design.doc_lengths)
        highest = self.highest_log_lengths(lengths)
        for _ in range(MOST_ATTEMPTS):
            hyper = draw_hyper()
            weights = self.draw_weights(lengths.size, hyper, rng)
            if -rng.standard_exponential() <= self.log_lengths_of(weights, lengths) - highest:
                return hyper, weights
        raise ValueError(
            f"{self.label}: none of {MOST_ATTEMPTS:,} draws from the prior had documents of the design's "
            f"lengths; expected fewer or shorter documents, {self.likelier_lengths}; simulate_lengths "
            "(bnpzoo simulate without --length) draws the lengths too"
        )

    @override
    def simulate(self, design: Design, rng: np.random.Generator) -> Simulation:
        """Draw latent variables and data given the lengths that `design` fixes, from which r is learnt."""
        hyper, weights = self._weights_of(design, lambda: self.draw_hyperparameters(design, rng), rng)
        return self._words(hyper, self.seat(weights, design, rng), design, rng)

    def _words(
        self, hyper: Mapping[str, np.ndarray], of_documents: Latents, design: Design, rng: np.random.Generator
    ) -> Simulation:
        latents = self.only_represented({**of_documents, **hyper})
        words, of_topics = self.topics.draw_words(latents, self.n_topics_of(latents), design, rng)
        return Simulation(latents | of_topics, design.corpus(words))

    def starting_values(self, design: Design, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Hyperparameters at which a chain starts: gamma and c at the means of their priors.

        A draw from Gamma(0.01, 0.01) is below 1e-20 as often as not, and no chain begins well there.
        """
        means = {
            name: np.asarray(value.mean)
            for name, value in (("gamma", self.gamma), ("c", self.c))
            if isinstance(value, Prior)
        }
        return self.draw_hyperparameters(design, rng) | means

    @override
    def initial_latents(self, corpus: Corpus, rng: np.random.Generator) -> Latents:
        hyper = self.starting_values(Design.of(corpus), rng)
        z = np.full(corpus.n_tokens, -1)
        latents = self.only_represented({"z": z} | self.weights_started(None, hyper, corpus) | hyper)
        return latents | self.topics.unseated(corpus)

    @override
    def documents_started(
        self, labels: np.ndarray, hyper: Mapping[str, np.ndarray], corpus: Corpus
    ) -> Latents:
        """See `CollapsedTopicModel.documents_started`; weights count a table for each topic in a document."""
        return self.weights_started(labels, hyper, corpus)

    @abstractmethod
    def weights_started(
        self, labels: np.ndarray | None, hyper: Mapping[str, np.ndarray], corpus: Corpus
    ) -> Latents:
        """Weights with which a chain can start, and ``z`` where there are labels of the tokens."""

    @override
    def start_at(self, labels: np.ndarray, corpus: Corpus, rng: np.random.Generator) -> Latents:
        hyper = self.starting_values(Design.of(corpus), rng)
        latents = self.only_represented(self.documents_started(labels, hyper, corpus) | hyper)
        return latents | self.topics.started(latents["z"], self.n_topics_of(latents), corpus)

    @override
    def log_joint(self, latents: Latents, corpus: Corpus) -> float:
        return super().log_joint(latents, corpus) + self.log_lengths(latents, corpus)

    @override
    def quantities(
        self,
        latents: Latents,
        corpus: Corpus,
        probes: Probes | None = None,
        counts: WordCounts | None = None,
    ) -> Quantities:
        """See `Model.quantities`.

        Those of `CollapsedTopicModel.quantities`; ``log_mass`` of the weights r together, and
        ``mean_log_prior``, over tokens, of the prior weight of their topic in their document.
        """
        prior, tiny = self.document_prior(latents, corpus), np.finfo(float).tiny
        of_tokens = prior[self.prior_rows(prior, corpus)[corpus.doc_of], latents["z"]]
        own = {
            "log_mass": np.asarray(np.log(np.maximum(latents["r"].sum(), tiny))),
            "mean_log_prior": np.asarray(np.mean(np.log(np.maximum(of_tokens, tiny)))),
        }
        return super().quantities(latents, corpus, probes, counts) | own


@dataclass(frozen=True)
class OfDocumentProbabilities(PoissonFamily):
    """Base of the models of gamma-negative binomial documents: the probability p is of a document.

    A subclass says what the mass of each document is.
    """

    likelier_lengths: ClassVar[str] = (
        "hyperparameters that make them likely, or length_shape=0, for lengths that are given"
    )
    length_shape: float = option(0.01, small=0.9, benchmark=0.01)

    def __post_init__(self):
        self.check_number("length_shape", lambda x: 0.0 <= x < np.inf, "a number of 0 or more")
        super().__post_init__()

    @abstractmethod
    def masses(self, weights: Latents, n_documents: int) -> np.ndarray:
        """Mass of the topics of each document, float (D,)."""

    @abstractmethod
    def masses_of(self, latents: Latents, corpus: Corpus) -> np.ndarray:
        """Mass of the topics of each document of a corpus, float (D,)."""

    @override
    def log_lengths_of(self, weights: Latents, doc_lengths: np.ndarray) -> float:
        masses = self.masses(weights, doc_lengths.size)
        return float(log_lengths(masses, doc_lengths, self.length_shape).sum())

    @override
    def log_lengths(self, latents: Latents, corpus: Corpus) -> float:
        masses = self.masses_of(latents, corpus)
        return float(log_lengths(masses, corpus.doc_lengths, self.length_shape).sum())

    @override
    def simulate_lengths(self, design: Design, rng: np.random.Generator) -> Simulation:
        """Draw the lengths of the documents too; those of the design where the model takes them as given."""
        if self.length_shape == 0.0:
            return self.simulate(design, rng)
        hyper = self.draw_hyperparameters(design, rng)
        n_documents = len(design.doc_lengths)
        weights = self.draw_weights(n_documents, hyper, rng)
        lengths = draw_lengths(self.masses(weights, n_documents), self.length_shape, rng)
        design = design.with_lengths(lengths)
        return self._words(hyper, self.seat(weights, design, rng), design, rng)


def draw_log_mass(hyper: Mapping[str, np.ndarray], rng: np.random.Generator) -> float:
    """Draw the logarithm of the mass of all topics, Gamma(gamma, rate c)."""
    return float(log_gamma(float(hyper["gamma"]), None, rng) - np.log(float(hyper["c"])))

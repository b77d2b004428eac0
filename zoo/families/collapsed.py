"""What models with Dirichlet (process) documents share, in plain NumPy.

Such a model is a prior on the topic proportions of a document: ``prior[g, k]`` for the topics in use and
``prior[g, K]`` for all the others together, which is zero where the number of topics is fixed.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import override

import numpy as np
from scipy.special import gammaln

from ...kernels.toolbox.tally import log_urns
from ..contract import (
    Design,
    FrozenTopics,
    Latents,
    Model,
    Probes,
    Quantities,
    Simulation,
    WordCounts,
)
from ..corpus import Corpus
from ..predictive import Proportions
from ..toolbox.draws import draw_hyperparameter
from ..toolbox.proportions import DirichletProportions


class CollapsedTopicModel(Model):
    """Base of the models with Dirichlet documents; a subclass says what their prior and topics are."""

    @abstractmethod
    def document_prior(self, latents: Latents, corpus: Corpus) -> np.ndarray:
        """Prior weights by group, float (G, K + 1); the last column is for topics not in use."""

    def log_sticks(self, latents: Latents) -> float:
        """Log density of the sticks given the concentrations; zero where there are none."""
        return 0.0

    @abstractmethod
    def draw_topics(
        self, design: Design, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        """Draw ``z`` and the sticks given the hyperparameters."""

    def prior_rows(self, prior: np.ndarray, corpus: Corpus) -> np.ndarray:
        """Row of `prior` (G, K + 1) for each document, int (D,); a single row serves every group."""
        return corpus.group_of_doc if len(prior) > 1 else np.zeros(corpus.n_documents, np.int32)

    def hyperparameter_size(self, name: str, design: Design) -> int | None:
        """Length of a hyperparameter that is a vector; None for a scalar."""
        return None

    @override
    def draw_hyperparameters(self, design: Design, rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {
            name: draw_hyperparameter(value, self.hyperparameter_size(name, design), rng)
            for name, value in self.hyperparameters().items()
        }

    @override
    def simulate(self, design: Design, rng: np.random.Generator) -> Simulation:
        hyper = self.draw_hyperparameters(design, rng)
        latents = self.draw_topics(design, hyper, rng) | hyper
        return Simulation(latents, self.resample_data(latents, design, rng))

    @override
    def initial_latents(self, corpus: Corpus, rng: np.random.Generator) -> Latents:
        hyper = self.draw_hyperparameters(Design.of(corpus), rng)
        return self.unseated(corpus) | hyper

    @abstractmethod
    def documents_started(
        self, labels: np.ndarray, hyper: Mapping[str, np.ndarray], corpus: Corpus
    ) -> Latents:
        """Latents of the document side at given topics, and ``z``; see `Model.start_at`."""

    @override
    def start_at(self, labels: np.ndarray, corpus: Corpus, rng: np.random.Generator) -> Latents:
        hyper = self.draw_hyperparameters(Design.of(corpus), rng)
        return self.documents_started(labels, hyper, corpus) | hyper

    def unseated(self, corpus: Corpus) -> Latents:
        """Return ``z`` of -1 throughout, beside which a subclass has sticks to match."""
        return {"z": np.full(corpus.n_tokens, -1)}

    def log_hyperparameters(self, latents: Latents) -> float:
        """Log prior density of the hyperparameters that are sampled."""
        priors = self.hyperparameters()
        return sum(priors[name].log_density(latents[name]) for name in self.sampled())  # type: ignore[union-attr]

    def log_assignments(self, latents: Latents, corpus: Corpus) -> float:
        """Log probability of ``z`` given sticks and concentrations, topic proportions integrated out."""
        prior = self.document_prior(latents, corpus)
        row, filled = self.prior_rows(prior, corpus), corpus.doc_lengths > 0
        mass, length = prior.sum(axis=1)[row[filled]], corpus.doc_lengths[filled]
        all_ways = np.sum(gammaln(mass + length) - gammaln(mass))
        return float(log_urns(corpus.doc_ptr, row, latents["z"], prior) - all_ways)

    def log_words(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        """Log probability of the words given topics `z`, all else of the topics summed out."""
        return self.log_likelihood({"z": z, **hyper}, corpus)

    @override
    def log_marginal(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        """See `Model.log_marginal`; of documents without sticks."""
        return self.log_assignments({"z": z, **hyper}, corpus) + self.log_words(z, corpus, hyper)

    @override
    def log_joint(self, latents: Latents, corpus: Corpus) -> float:
        return (
            self.log_hyperparameters(latents)
            + self.log_sticks(latents)
            + self.log_assignments(latents, corpus)
            + self.log_likelihood(latents, corpus)
        )

    @abstractmethod
    def word_probabilities(self, latents: Latents, corpus: Corpus, words: np.ndarray) -> np.ndarray:
        """Probabilities of some words as the next token of each topic in use.

        Parameters
        ----------
        latents : Latents
        corpus : Corpus
        words : int (W,)

        Returns
        -------
        float (1, K, W) or (G, K, W)
            By group, where the topics of groups differ.
        """

    def new_word_probabilities(self, latents: Latents, corpus: Corpus, words: np.ndarray) -> np.ndarray:
        """Probabilities of some words as the first token of a topic not in use, float (1, W) or (G, W).

        Asked for where documents can open topics.
        """
        return np.full((1, len(words)), 1.0 / corpus.n_words)

    def word_concentration(self, latents: Latents, corpus: Corpus) -> np.ndarray | None:
        """See `FrozenTopics.concentration`; of the topics in use and of one that is not, float (K + 1,)."""
        return None

    def measured_words(
        self, latents: Latents, corpus: Corpus, words: np.ndarray, counts: WordCounts | None
    ) -> tuple[float, np.ndarray]:
        """Return `log_likelihood`, and `word_probabilities` of some words, given counts if there are any."""
        return self.log_likelihood(latents, corpus), self.word_probabilities(latents, corpus, words)

    @override
    def frozen_topics(self, latents: Latents, corpus: Corpus) -> FrozenTopics:
        prior = self.document_prior(latents, corpus)
        words = self.word_probabilities(latents, corpus, np.arange(corpus.n_words))
        if np.any(prior[:, -1] > 0):
            unseen = self.new_word_probabilities(latents, corpus, np.arange(corpus.n_words))[:, None]
            words = np.concatenate([words, np.broadcast_to(unseen, (len(words), *unseen.shape[1:]))], axis=1)
        else:
            prior = prior[:, :-1]
        if len(words) == 1:
            concentration = self.word_concentration(latents, corpus)
            if concentration is not None:
                concentration = concentration[: prior.shape[1]]
            return FrozenTopics(words[0], prior, concentration=concentration)
        return FrozenTopics(words, np.array(np.broadcast_to(prior, (len(words), prior.shape[1]))))

    @override
    def own_proportions(self, latents: Latents, corpus: Corpus) -> Proportions:
        prior = self.document_prior(latents, corpus)
        rows = self.prior_rows(prior, corpus)
        if not np.any(prior[:, -1] > 0):
            prior = prior[:, :-1]
        return DirichletProportions(latents["z"], corpus, prior, rows)

    @override
    def quantities(
        self,
        latents: Latents,
        corpus: Corpus,
        probes: Probes | None = None,
        counts: WordCounts | None = None,
    ) -> Quantities:
        """See `Model.quantities`.

        Returns
        -------
        dict
            ``n_topics`` in use; ``log_joint`` of words and topics given sticks and hyperparameters;
            ``log_likelihood`` of the words given topics; ``same_topic`` (P,), whether two tokens share
            their topic; ``topic_entropy`` (Q,) of documents, nats; ``predictive`` (R,), probability of a
            word as the next token of a document; every sampled hyperparameter.

        Notes
        -----
        The density of the sticks is left out of ``log_joint``: where a concentration is small, the rest of
        a stick is near ``exp(-E / concentration)``, and the logarithm of its density has no mean.
        """
        probes = probes or Probes.of(corpus)
        z = latents["z"]
        prior = self.document_prior(latents, corpus)
        groups = self.prior_rows(prior, corpus)
        entropy = np.zeros(len(probes.documents))
        for j, d in enumerate(probes.documents):
            share = np.bincount(z[corpus.doc_ptr[d] : corpus.doc_ptr[d + 1]]) / corpus.doc_lengths[d]
            share = share[share > 0]
            entropy[j] = 0.0 - np.sum(share * np.log(share))
        likelihood, topic_words = self.measured_words(latents, corpus, probes.cells[:, 1], counts)
        new_words = np.zeros((1, len(probes.cells)))
        if np.any(prior[:, -1] > 0):
            new_words = self.new_word_probabilities(latents, corpus, probes.cells[:, 1])
        n_topics = topic_words.shape[1]
        predictive = np.zeros(len(probes.cells))
        for j, (d, _) in enumerate(probes.cells):
            in_doc = np.bincount(z[corpus.doc_ptr[d] : corpus.doc_ptr[d + 1]], minlength=n_topics)
            g = corpus.group_of_doc[d] if len(topic_words) > 1 else 0
            row = prior[groups[d]]
            of_new = row[-1] * new_words[g if len(new_words) > 1 else 0, j]
            weight = np.sum((in_doc + row[:-1]) * topic_words[g, :, j]) + of_new
            predictive[j] = weight / (corpus.doc_lengths[d] + row.sum())
        sizes = np.bincount(z) if counts is None else counts.total
        return {
            "n_topics": np.asarray(float(np.count_nonzero(sizes))),
            "log_joint": np.asarray(likelihood + self.log_assignments(latents, corpus)),
            "log_likelihood": np.asarray(likelihood),
            "same_topic": (z[probes.pairs[:, 0]] == z[probes.pairs[:, 1]]).astype(float),
            "topic_entropy": entropy,
            "predictive": predictive,
        } | self.hyperparameter_quantities(latents)

    def hyperparameter_quantities(self, latents: Latents) -> Quantities:
        """Every sampled hyperparameter, as a test quantity."""
        return {name: np.asarray(latents[name], float) for name in self.sampled()}

"""Hierarchical Dirichlet scaling processes: documents whose labels scale their topics."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, override

import numpy as np
from scipy.special import expit, gammaln, log_softmax
from scipy.stats import entropy

from ....kernels.toolbox.sides import State
from ...contract import (
    Design,
    Gamma,
    Hyperparameter,
    Kernel,
    Latents,
    Prior,
    Probes,
    Quantities,
    Reference,
    Room,
    Variational,
    WordCounts,
)
from ...corpus import Corpus
from ...settings import setting
from ...toolbox.draws import draw_categorical, log_gamma
from ...toolbox.enumeration import restricted_growth_strings
from ...toolbox.laws import by_first_appearance
from ..hdp.sticks import log_gem
from ..lda.family import MOST_TOPICS
from ..topics import Dirichlet, TopicSide
from . import kernels, marginal, reference, variational
from .laws import ScaleLaw
from .missing import PartlyLabelledModel, as_latents
from .predictive import ScaledPredictive, ScaledProportions

LEFTOVER = 1e-12
"""Sticks are broken until less than this is left."""

MOST_GAMMA = MOST_TOPICS / -np.log(LEFTOVER)
"""Beyond it more sticks are broken, in expectation, than a model can have topics."""

DRAWS, DRAWS_OF_MANY = 2_000_000, 10_000
"""Simulated proportions behind a marginal probability; few where hyperparameters are sampled as well."""


@dataclass(frozen=True)
class ScalingFamily(PartlyLabelledModel):
    """Base of the hierarchical Dirichlet scaling processes; a subclass has the law of the log scales."""

    topic_sides: ClassVar[Mapping[str, TopicSide]] = {"dirichlet": Dirichlet()}
    why_only: ClassVar[str] = "its sampler moves tokens between symmetric Dirichlet topics, and no others"
    law: ClassVar[type[ScaleLaw]]
    """Of the log scales."""
    stan_program: ClassVar[str] = "hdsp"

    gamma: Hyperparameter = setting(
        Gamma(1.0, 1.0), fixed=1.1, prior=Gamma(3.0, 2.0), reference=0.7, benchmark=1.5
    )
    alpha: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=1.4, benchmark=10.0)
    topics: TopicSide = Dirichlet()
    n_topics: int = 0
    labels: str = ""
    missing: str = ""

    def __post_init__(self):
        self.check_whole("n_topics", 0, bounds="0 for no limit")
        super().__post_init__()
        if self.opens_topics and self._mean_gamma > MOST_GAMMA:
            wanted = f"at most {MOST_GAMMA:,.0f} without a limit to the number of topics, or that as a mean"
            raise ValueError(f"{self.label}: gamma: expected {wanted}, found {self.gamma}")

    @property
    def _mean_gamma(self) -> float:
        return self.gamma.mean if isinstance(self.gamma, Prior) else self.gamma

    def law_at(self, values: Mapping[str, Any]) -> ScaleLaw:
        """Law of the log scales, given its parameters among latents or hyperparameters."""
        return self.law(*(float(values[name]) for name in self.law.names))

    @property
    @override
    def document_dimensions(self) -> Mapping[str, tuple[str, ...]]:
        return {
            "root": ("stick",),
            "log_scale": ("label", "represented"),
            "log_u": ("document",),
            "probed_log_u": ("probed_document",),
        } | self.label_dimensions

    @property
    @override
    def opens_topics(self) -> bool:
        return self.n_topics == 0

    @override
    def most_topics(self, design: Design) -> int:
        return self.n_topics or int(np.sum(design.doc_lengths))

    @override
    def n_topics_of(self, latents: Latents) -> int:
        return latents["root"].size - 1

    def draw_sticks(self, gamma: float, rng: np.random.Generator) -> np.ndarray:
        """Draw the root (K + 1,), the last entry being all that is left."""
        sticks: list[float] = []
        rest, most = 1.0, self.n_topics - 1 if self.n_topics else MOST_TOPICS
        while len(sticks) < most and (self.n_topics or rest > LEFTOVER):
            share = rng.beta(1.0, gamma)
            sticks.append(rest * share)
            rest *= 1.0 - share
        return np.array([*sticks, rest, 0.0] if self.n_topics else [*sticks, rest])

    def draw_topics(
        self, design: Design, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        """Break sticks, draw scales, proportions and topics.

        Without a limit to their number, topics are numbered by first appearance, those without tokens last.
        """
        lengths = np.asarray(design.doc_lengths)
        root = self.draw_sticks(float(hyper["gamma"]), rng)
        shapes = float(hyper["alpha"]) * root[:-1]
        labels, answers = self.draw_labels(design, rng)
        log_scale = self.law_at(hyper).draw(rng, (labels.shape[1], shapes.size))
        log_pi = log_gamma(shapes, (lengths.size, shapes.size), rng) + labels @ log_scale
        log_theta = log_softmax(log_pi, axis=1)
        z = draw_categorical(np.repeat(np.exp(log_theta), lengths, axis=0), rng)
        log_mass = np.logaddexp.reduce(log_pi, axis=1)
        log_u = np.where(lengths > 0, _log_gamma_of_lengths(lengths, rng) - log_mass, 0.0)
        if self.opens_topics:
            z, used = by_first_appearance(z)
            order = np.append(used, np.setdiff1d(np.arange(shapes.size), used))
            root, log_scale = np.append(root[order], root[-1]), log_scale[:, order]
        return {"z": z, "root": root, "log_scale": log_scale, "log_u": log_u} | answers

    @override
    def initial_latents(self, corpus: Corpus, rng: np.random.Generator) -> Latents:
        """See `Model.initial_latents`; all else is a draw from the prior."""
        design = Design.of(corpus)
        hyper = self.draw_hyperparameters(design, rng)
        return self.draw_topics(design, hyper, rng) | self.unseated(corpus) | hyper

    @override
    def documents_started(
        self, labels: np.ndarray, hyper: Mapping[str, np.ndarray], corpus: Corpus
    ) -> Latents:
        """See `CollapsedTopicModel.documents_started`.

        Sticks are the means given one table for each topic in a document; labels scale nothing yet.
        """
        z, used = by_first_appearance(labels)
        z, n_topics = (z % self.n_topics, self.n_topics) if self.n_topics else (z, used.size)
        _, topic = np.divmod(np.unique(corpus.doc_of * n_topics + z), n_topics)
        tables = np.bincount(topic, minlength=n_topics).astype(float)
        if self.n_topics:
            root = np.append((tables + 1.0) / (tables + 1.0).sum(), 0.0)
        else:
            root = np.append(tables, float(hyper["gamma"])) / (tables.sum() + float(hyper["gamma"]))
        log_scale = np.zeros((len(self.columns(corpus)), n_topics))
        log_u = np.log(np.maximum(corpus.doc_lengths, 1) / float(hyper["alpha"]))
        answers = self.labels_started(corpus)
        return {"z": z, "root": root, "log_scale": log_scale, "log_u": log_u} | answers

    @override
    def document_prior(self, latents: Latents, corpus: Corpus) -> np.ndarray:
        """Alpha * root: the Dirichlet parameters of a document without labels."""
        return float(latents["alpha"]) * latents["root"][None]

    @override
    def predictive(self, latents: Latents, corpus: Corpus) -> ScaledPredictive:
        """See `Model.predictive`: new documents have labels too."""
        topics = self.frozen_topics(latents, corpus)
        return ScaledPredictive(topics, self.columns(corpus), self.label, latents["log_scale"])

    @override
    def log_sticks(self, latents: Latents) -> float:
        """Log density of the root and the scales.

        Without a limit, that of atoms at these weights, in any order (see `log_gem`).
        """
        root, gamma = latents["root"], float(latents["gamma"])
        scales = self.law_at(latents).log_density(latents["log_scale"])
        if self.opens_topics:
            return log_gem(root, gamma) + scales
        sticks = np.maximum(root[:-1], np.finfo(float).tiny)
        before = np.cumsum(sticks[::-1])[::-1][:-1]  # what is left before each stick but the last
        last = (gamma - 1.0) * np.log(sticks[-1]) if sticks.size > 1 else 0.0
        return float((sticks.size - 1) * np.log(gamma) + last - np.sum(np.log(before))) + scales

    @override
    def log_assignments(self, latents: Latents, corpus: Corpus) -> float:
        """Log density of ``z``, ``log_u`` and labels that are not known, given sticks, scales and alpha.

        The pi are integrated out.
        """
        shapes = np.maximum(self.document_prior(latents, corpus)[0, :-1], np.finfo(float).tiny)
        filled = corpus.doc_lengths > 0
        log_u, lengths = latents["log_u"][filled], corpus.doc_lengths[filled]
        rows, of_document = self.rows_at(latents, corpus)
        log_rows = rows @ latents["log_scale"]
        out = np.sum(lengths * log_u - gammaln(lengths))
        out += self.log_labels(latents, corpus)
        for k in range(shapes.size):  # of all documents at once: there may be many topics
            out -= shapes[k] * np.sum(np.logaddexp(0.0, log_u + log_rows[of_document[filled], k]))
        cells, counts = np.unique(corpus.doc_of * shapes.size + latents["z"], return_counts=True)
        d, k = np.divmod(cells, shapes.size)
        log_scale = log_rows[of_document[d], k]
        out += np.sum(gammaln(shapes[k] + counts) - gammaln(shapes[k]))
        return float(out + np.sum(counts * (log_scale - np.logaddexp(0.0, latents["log_u"][d] + log_scale))))

    @override
    def log_marginal(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        """See `Model.log_marginal`; by simulation, so that it has an error."""
        values = tuple(float(hyper[name]) for name in ("gamma", "alpha"))
        lengths, draws = tuple(map(int, corpus.doc_lengths)), DRAWS_OF_MANY if self.sampled() else DRAWS
        laws = []
        for labels, log_p in self.all_labels(corpus):
            rows = tuple(map(tuple, labels.toarray().tolist()))
            law = marginal.law_of_topics(self.law_at(hyper), values, self.n_topics, lengths, rows, draws)
            laws.append(log_p + law(z))
        return float(np.logaddexp.reduce(laws)) + self.log_words(z, corpus, hyper)

    def assignments(self, corpus: Corpus) -> Iterator[np.ndarray]:
        """All partitions of the tokens; where the number of topics is fixed, all topics."""
        if self.opens_topics:
            return restricted_growth_strings(corpus.n_tokens)
        return (np.array(z, np.int64) for z in product(range(self.n_topics), repeat=corpus.n_tokens))

    @override
    def own_proportions(self, latents: Latents, corpus: Corpus) -> ScaledProportions:
        """See `Model.own_proportions`; draws are given u as well, which a document without tokens has not."""
        shapes = self.document_prior(latents, corpus)[0, :-1]
        rows, of_document = self.rows_at(latents, corpus)
        log_u = np.where(corpus.doc_lengths > 0, latents["log_u"], -np.inf)[:, None]
        log_rows = rows @ latents["log_scale"]

        def log_scale(here: slice) -> np.ndarray:
            own = log_rows[of_document[here]]
            return own - np.logaddexp(0.0, log_u[here] + own)

        return ScaledProportions(latents["z"], corpus, shapes, log_scale, log_rows, of_document)

    @override
    def quantities(
        self,
        latents: Latents,
        corpus: Corpus,
        probes: Probes | None = None,
        counts: WordCounts | None = None,
    ) -> Quantities:
        """See `Model.quantities`.

        Those of `CollapsedTopicModel.quantities`; ``predictive`` is given u as well. Beside them
        ``probed_log_u`` (Q,), of documents; ``mean_log_scale``, over tokens, of the log scale of their topic
        in their document; ``mean_root``, the same of the weight of their topic at the root; and
        `scale_information`. Where labels are sampled also ``probed_label``, the first answers, and
        ``documents_with`` (J,) each label.
        """
        probes = probes or Probes.of(corpus)
        z, root = latents["z"], latents["root"]
        shapes = self.document_prior(latents, corpus)[0, :-1]
        likelihood, topic_words = self.measured_words(latents, corpus, probes.cells[:, 1], counts)
        rows, of_document = self.rows_at(latents, corpus)
        log_rows = rows @ latents["log_scale"]
        share = np.zeros((len(probes.documents), shapes.size))
        predictive = np.zeros(len(probes.cells))
        for j, d in enumerate(probes.documents):
            share[j] = np.bincount(z[corpus.doc_ptr[d] : corpus.doc_ptr[d + 1]], minlength=shapes.size)
        for j, d in enumerate(probes.cells[:, 0]):
            in_document = np.bincount(z[corpus.doc_ptr[d] : corpus.doc_ptr[d + 1]], minlength=shapes.size)
            kept = expit(latents["log_u"][d] + log_rows[of_document[d]])
            mean = (in_document + shapes) * kept / corpus.doc_lengths[d]
            predictive[j] = mean @ topic_words[0, :, j]
        sizes = np.bincount(z) if counts is None else counts.total
        return (
            {
                "n_topics": np.asarray(float(np.count_nonzero(sizes))),
                "log_joint": np.asarray(likelihood + self.log_assignments(latents, corpus)),
                "log_likelihood": np.asarray(likelihood),
                "same_topic": (z[probes.pairs[:, 0]] == z[probes.pairs[:, 1]]).astype(float),
                "topic_entropy": entropy(share, axis=1) if len(share) else np.zeros(0),
                "predictive": predictive,
                "probed_log_u": latents["log_u"][probes.documents],
                "mean_log_scale": np.asarray(np.mean(log_rows[of_document[corpus.doc_of], z])),
                "mean_root": np.asarray(np.mean(root[z])),
                "scale_information": np.asarray(self.scale_information(latents, corpus)),
            }
            | self.hyperparameter_quantities(latents)
            | self.label_quantities(latents, corpus)
        )

    def scale_information(self, latents: Latents, corpus: Corpus) -> float:
        """Squared slope of the log density in a log scale, less its curvature, averaged with the root.

        Summed over labels. Its mean is zero (Bartlett's second identity), also given all but the log scales:
        so it tells when these are not where u and the topics would have them.
        """
        shapes, log_u = self.document_prior(latents, corpus)[0, :-1], latents["log_u"]
        rows, of_document = self.rows_at(latents, corpus)
        log_rows = rows @ latents["log_scale"]
        first, second = self.law_at(latents).slopes(latents["log_scale"])
        filled = corpus.doc_lengths > 0
        by_topic = corpus.doc_of[np.argsort(latents["z"], kind="stable")]
        ends = np.cumsum(np.bincount(latents["z"], minlength=shapes.size))
        of_labels, squared = rows.T, rows.T.power(2)
        for k, documents in enumerate(np.split(by_topic, ends[:-1])):
            n = np.bincount(documents, minlength=corpus.n_documents)
            seen = expit(log_u + log_rows[of_document, k])
            weight = np.where(filled, (shapes[k] + n) * seen, 0.0)
            slope = np.bincount(of_document, n - weight, rows.shape[0])
            curvature = np.bincount(of_document, weight * (1.0 - seen), rows.shape[0])
            first[:, k] += of_labels @ slope
            second[:, k] += squared @ curvature
        return float(np.sum((first**2 - second) @ latents["root"][:-1]))

    @override
    def document_rows(self, corpus: Corpus) -> np.ndarray:
        return self.label_rows(corpus)[1]

    @override
    def document_block(self, corpus: Corpus, n_topics: int) -> Callable[[], Any]:
        labels = self.labels_of(corpus, corpus.n_documents).toarray()
        return reference.documents(labels, n_topics, self.hyperparameters(), self.law)

    @property
    @override
    def variational(self) -> Variational:
        return variational.variational(self)

    @override
    def memory_of_chain(self, corpus: Corpus, variant: str | None = None) -> dict[str, int]:
        """See `Model.memory_of_chain`; a chain starts with a draw from the prior, of all its sticks."""
        n_topics = self.n_topics or int(1.0 - self._mean_gamma * np.log(LEFTOVER))
        of_documents = {"topics of documents": 8 * corpus.n_documents * n_topics}
        return super().memory_of_chain(corpus, variant) | of_documents

    @override
    def memory_of_reference(self, corpus: Corpus, truncation: int) -> int:
        """See `Model.memory_of_reference`; with a fixed number of topics there is no truncation."""
        return super().memory_of_reference(corpus, self.n_topics or truncation)

    @override
    def document_data(self, corpus: Corpus) -> dict[str, Any]:
        labels = self.labels_of(corpus, corpus.n_documents).toarray()
        return {"J": labels.shape[1], "labels": labels}

    @property
    @override
    def reference(self) -> Reference | None:
        """See `Model.reference`; none where labels are sampled, a sum over all of which they would need."""
        return None if self.missing else super().reference

    @property
    @override
    def stan_includes(self) -> tuple[str, ...]:
        return (*super().stan_includes, self.law.stan_folder)

    @property
    def document_parameters(self) -> tuple[str, ...]:
        """See `TwoSidedModel`."""
        return ("theta", "root", "log_scale", "gamma", "alpha", *self.law.names)

    @override
    def _latents_at(
        self, draw: Mapping[str, np.ndarray], corpus: Corpus, rng: np.random.Generator
    ) -> Latents:
        """See `Reference.latents`; u is a draw given proportions, the mass of the pi drawn on the way."""
        latents = super()._latents_at(draw, corpus, rng)
        log_scale = self.labels_of(corpus, corpus.n_documents) @ draw["log_scale"]
        log_rate = np.logaddexp.reduce(np.log(np.maximum(draw["theta"], 1e-300)) - log_scale, axis=1)
        log_mass = log_gamma(draw["alpha"], (log_rate.size,), rng) - log_rate
        log_u = _log_gamma_of_lengths(corpus.doc_lengths, rng) - log_mass
        return latents | {"log_u": np.where(corpus.doc_lengths > 0, log_u, 0.0)}

    @override
    def documents_at(
        self, draw: Mapping[str, np.ndarray], labels: np.ndarray, corpus: Corpus
    ) -> tuple[Latents, np.ndarray]:
        """See `TwoSidedModel.documents_at`; all topics of the references are represented."""
        hyper = {name: np.asarray(draw[name]) for name in ("gamma", "alpha", *self.law.names)}
        documents = {"root": np.append(draw["root"], 0.0), "log_scale": np.asarray(draw["log_scale"])}
        return {"z": labels} | documents | hyper, np.arange(draw["root"].size)

    @override
    def kernels_in(self, room: Room) -> dict[str, Kernel]:
        """See `Model.kernels_in`."""
        return kernels.kernels_in(self, room)

    @override
    def snapshot_documents(self, state: State) -> Latents:
        side, k = state.documents, int(state.topics.n_topics[0])
        return {
            "root": np.append(side.root[:k], side.root_rest[0]),
            "log_scale": side.log_scale[:, :k].copy(),
            "log_u": side.log_u.copy(),
            "alpha": np.array(side.alpha[0]),
            "gamma": np.array(side.gamma[0]),
            **{name: np.array(side.law_parameters[i]) for i, name in enumerate(self.law.names)},
        } | as_latents(side.questions.answer.copy())


def _log_gamma_of_lengths(lengths: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Log of a gamma variate of each document's length, or of 1 where it has no tokens."""
    return log_gamma(np.maximum(lengths, 1), lengths.shape, rng)

"""What models of documents with responses share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, override

import numpy as np

from ....kernels.responses import documents, sweeps
from ....kernels.toolbox.sides import State
from ...contract import (
    Design,
    Gamma,
    Hyperparameter,
    Latents,
    Predictive,
    Probes,
    Quantities,
    Room,
    Simulation,
    WordCounts,
)
from ...corpus import Corpus
from ...corpus.labels import Labelled
from ...settings import option, setting
from ...toolbox.laws import doc_topic_counts
from ..topics import Sampler
from ..two_sided import TwoSidedModel
from . import law, marginal
from . import reference as programs
from .predictive import RespondingPredictive, UnseenTopics
from .responses import Response, check_spread, response_matrix, responses_of, with_responses

COEFFICIENTS = ("intercept", "coefficient")
PRECISIONS = ("intercept_precision", "precision", "noise_precision")

LEAST_AT_START = 1e-6
"""Least precision of intercepts and coefficients, if it is sampled, with which a chain starts."""


def metropolis(room: Room) -> Any:
    """Sweep in time that grows with the non-zero counts."""
    return room(sweeps).metropolis_sweep


@dataclass(frozen=True)
class RespondingFamily(TwoSidedModel):
    """Base of the models whose documents have responses that are linear in the shares of topics.

    It comes before the base of the documents that it is about. R responses have P linear predictors together:
    a number has one, C categories have C - 1, or, if a hinge tells them apart, C when they are more than two.

    Attributes
    ----------
    stan_documents : str
        Folder where the Stan program finds the documents.
    """

    stan_program: ClassVar[str] = "slda"
    stan_documents: ClassVar[str]

    intercept_precision: Hyperparameter = setting(
        Gamma(1.0, 1.0), fixed=0.9, prior=Gamma(6.0, 5.0), benchmark=0.1
    )
    precision: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.4, prior=Gamma(5.0, 4.0), benchmark=1.0)
    noise_precision: Hyperparameter = setting(
        Gamma(1.0, 1.0), fixed=1.8, prior=Gamma(4.0, 2.0), benchmark=1.2
    )
    response: str = option("", small="group, group:number", benchmark="")

    @property
    @override
    def stan_includes(self) -> tuple[str, ...]:
        return (self.stan_documents, *super().stan_includes)

    def counts(self, corpus: Corpus, n_topics: int) -> programs.Counts:
        """All ways in which the tokens of documents can be counted by topic."""
        return programs.counts_in(corpus, n_topics, self.label)

    @override
    def _numpyro(self, corpus: Corpus, truncation: int) -> Callable[[], None]:
        n_topics = self.n_reference_topics(corpus, truncation)
        return programs.numpyro(
            corpus,
            self.counts(corpus, n_topics),
            self.values_of(corpus, corpus.n_documents),
            self.responses(corpus),
            self.hyperparameters(),
            self.document_block(corpus, n_topics),
            self.topic_block(corpus, n_topics),
        )

    @override
    def _stan_data(self, corpus: Corpus, truncation: int) -> dict[str, Any]:
        values = self.values_of(corpus, corpus.n_documents)
        counts = self.counts(corpus, self.n_reference_topics(corpus, truncation))
        own = programs.stan_data(counts, values, self.responses(corpus), corpus)
        return super()._stan_data(corpus, truncation) | own

    @override
    def _latents_at(
        self, draw: Mapping[str, np.ndarray], corpus: Corpus, rng: np.random.Generator
    ) -> Latents:
        labels = self._labels_at(draw, corpus, rng)
        latents, topics = self.documents_at(draw, labels, corpus)
        latents |= {name: np.asarray(draw[name]) for name in ("intercept", *PRECISIONS)}
        latents["coefficient"] = draw["coefficient"][:, topics]
        return latents | self.topics.latents_at(draw, labels, topics, corpus, rng)

    def _labels_at(
        self, draw: Mapping[str, np.ndarray], corpus: Corpus, rng: np.random.Generator
    ) -> np.ndarray:
        """Draw topics of the tokens, those of a document together; they are numbered as in `draw`."""
        with np.errstate(divide="ignore"):
            log_p = np.log(draw["theta"])[corpus.doc_of] + np.log(self.word_weights(draw, corpus))
        counts = self.counts(corpus, draw["theta"].shape[1])
        found, values = _responses_of_corpus(self, corpus)
        z = [np.zeros(0, np.int64)]
        for d, own in enumerate(np.split(log_p, corpus.doc_ptr[1:-1])):

            def log_likelihood(shares: np.ndarray, d: int = d) -> np.ndarray:
                predictors = draw["intercept"] + shares @ np.transpose(draw["coefficient"])
                own = np.repeat(values[d : d + 1], len(shares), axis=0)
                return law.log_likelihood(found, own, predictors, draw["noise_precision"])

            z.append(programs.draw_labels(counts, own, log_likelihood, rng))
        return np.concatenate(z)

    def responses(self, corpus: Labelled) -> tuple[Response, ...]:
        """Responses that documents of a corpus, or a design, can have."""
        return responses_of(self.response, corpus, self.label)

    def values_of(self, corpus: Labelled, n_documents: int) -> np.ndarray:
        """Responses of the documents of a corpus, or a design; see `response_matrix`."""
        return response_matrix(self.responses(corpus), corpus, self.label, n_documents)

    @property
    @override
    def document_dimensions(self) -> Mapping[str, tuple[str, ...]]:
        return dict(super().document_dimensions) | {
            "intercept": ("predictor",),
            "coefficient": ("predictor", "represented" if self.opens_topics else "topic"),
            "intercept_precision": ("response",),
            "precision": ("response",),
            "noise_precision": ("number",),
            "mean_predictor": ("predictor",),
            "mean_square_predictor": ("predictor",),
        }

    @override
    def hyperparameter_size(self, name: str, design: Design) -> int | None:
        if name in PRECISIONS:
            found = self.responses(design)
            return sum(r.is_number for r in found) if name == "noise_precision" else len(found)
        return super().hyperparameter_size(name, design)

    @property
    @override
    def samplers(self) -> Mapping[str, Sampler]:
        """See `TwoSidedModel.samplers`: of Dirichlet topics."""
        about = "a topic is proposed in time that grows with the non-zero counts, and taken or not"
        return {"sparse": Sampler(about, metropolis, token_step="reversible")}

    def deviations(self, latents: Mapping[str, np.ndarray], r: int, n_topics: int) -> np.ndarray:
        """Return the standard deviations of intercept and coefficients of a response, float (K + 1,)."""
        precision = np.full(n_topics + 1, latents["precision"][r])
        precision[0] = latents["intercept_precision"][r]
        return precision**-0.5

    @override
    def draw_topics(
        self, design: Design, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        latents, found = super().draw_topics(design, hyper, rng), self.responses(design)
        n_topics = self.n_topics_of(latents)
        drawn = [
            self.deviations(hyper, r, n_topics) * rng.standard_normal((response.n_predictors, n_topics + 1))
            for r, response in enumerate(found)
        ]
        rows = np.concatenate([np.zeros((0, n_topics + 1)), *drawn])
        return latents | {"intercept": rows[:, 0].copy(), "coefficient": rows[:, 1:].copy()}

    def with_no_effects(self, latents: Latents, corpus: Corpus) -> Latents:
        """Latents with coefficients with which a chain starts: zero."""
        n_predictors = sum(response.n_predictors for response in self.responses(corpus))
        coefficient = np.zeros((n_predictors, self.n_topics_of(latents)))
        return latents | {"intercept": np.zeros(n_predictors), "coefficient": coefficient}

    @override
    def unseated(self, corpus: Corpus) -> Latents:
        return self.with_no_effects(super().unseated(corpus), corpus)

    @override
    def documents_started(
        self, labels: np.ndarray, hyper: Mapping[str, np.ndarray], corpus: Corpus
    ) -> Latents:
        return self.with_no_effects(super().documents_started(labels, hyper, corpus), corpus)

    @override
    def initial_latents(self, corpus: Corpus, rng: np.random.Generator) -> Latents:
        return self.with_usable_precisions(super().initial_latents(corpus, rng))

    @override
    def start_at(self, labels: np.ndarray, corpus: Corpus, rng: np.random.Generator) -> Latents:
        return self.with_usable_precisions(super().start_at(labels, corpus, rng))

    def with_usable_precisions(self, latents: Latents) -> Latents:
        """Latents with which a chain starts, whose effects are zero, with precisions to draw the first from.

        Draws from vague priors are too small for that: 1e-300, say.
        """
        sampled = {*self.sampled()} & {"intercept_precision", "precision"}
        return latents | {name: np.maximum(latents[name], LEAST_AT_START) for name in sampled}

    def shares(self, z: np.ndarray, corpus: Corpus, n_topics: int) -> np.ndarray:
        """Share of each topic in the tokens of each document, float (D, K); zeros where it has none."""
        return doc_topic_counts(z, corpus, n_topics) / np.maximum(corpus.doc_lengths, 1)[:, None]

    def predictors(self, latents: Latents, corpus: Corpus) -> np.ndarray:
        """Linear predictors of the documents, float (D, P)."""
        shares = self.shares(latents["z"], corpus, self.n_topics_of(latents))
        return latents["intercept"] + shares @ latents["coefficient"].T

    @override
    def simulate(self, design: Design, rng: np.random.Generator) -> Simulation:
        latents, corpus = super().simulate(design, rng)
        return Simulation(latents, self.respond(latents, corpus, rng))

    @override
    def resample_data(self, latents: Latents, design: Design, rng: np.random.Generator) -> Corpus:
        return self.respond(latents, super().resample_data(latents, design, rng), rng)

    def respond(self, latents: Latents, corpus: Corpus, rng: np.random.Generator) -> Corpus:
        """Draw the responses of documents anew; those that they do not have stay missing."""
        found = self.responses(corpus)
        if not found:
            return corpus
        known = ~np.isnan(self.values_of(corpus, corpus.n_documents))
        drawn = law.draw(found, self.predictors(latents, corpus), latents["noise_precision"], rng)
        return with_responses(corpus, found, np.where(known, drawn, np.nan))

    def log_coefficients(self, latents: Latents, corpus: Corpus) -> float:
        """Log density of intercepts and coefficients."""
        found, _ = _responses_of_corpus(self, corpus)
        rows, out = np.column_stack([latents["intercept"], latents["coefficient"]]), 0.0
        n_topics = self.n_topics_of(latents)
        for r, _, own, _ in law.parts(found, rows.T):
            deviation = self.deviations(latents, r, n_topics)[:, None]
            out -= np.sum(0.5 * (own / deviation) ** 2 + np.log(deviation) + 0.5 * np.log(2.0 * np.pi))
        return float(out)

    def log_responses(self, latents: Latents, corpus: Corpus) -> float:
        """Log likelihood of the responses given topics and coefficients."""
        found, values = _responses_of_corpus(self, corpus)
        predictors = self.predictors(latents, corpus)
        return float(np.sum(law.log_likelihood(found, values, predictors, latents["noise_precision"])))

    @override
    def log_joint(self, latents: Latents, corpus: Corpus) -> float:
        own = self.log_coefficients(latents, corpus) + self.log_responses(latents, corpus)
        return super().log_joint(latents, corpus) + own

    @override
    def log_marginal(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        """See `Model.log_marginal`; of categories by a lattice, so that it has an error."""
        used, labels = np.unique(z, return_inverse=True)  # nothing depends on coefficients of other topics
        values, shares = self.values_of(corpus, corpus.n_documents), self.shares(labels, corpus, used.size)
        shares = np.column_stack([np.ones(len(shares)), shares])
        out, number = super().log_marginal(z, corpus, hyper), 0
        for r, response in enumerate(self.responses(corpus)):
            known = ~np.isnan(values[:, r])
            rows = tuple(map(tuple, shares[known].tolist()))
            y, deviations = values[known, r], tuple(self.deviations(hyper, r, used.size).tolist())
            if response.is_number:
                noise, number = float(hyper["noise_precision"][number]) ** -0.5, number + 1
                out += marginal.log_numbers(tuple(y.tolist()), rows, deviations, noise)
            else:
                categories = tuple(y.astype(int).tolist())
                out += marginal.log_categories(categories, rows, deviations, response)
        return out

    @override
    def predictive(self, latents: Latents, corpus: Corpus) -> Predictive:
        """See `Model.predictive`: new documents have responses too."""
        return RespondingPredictive(
            self.frozen_topics(latents, corpus),
            self.responses(corpus),
            latents["intercept"],
            latents["coefficient"],
            latents["noise_precision"],
            self.unseen_topics(latents, corpus),
        )

    def unseen_topics(self, latents: Latents, corpus: Corpus) -> UnseenTopics | None:
        """Topics that no token has, where there are any."""
        return None

    @override
    def quantities(
        self,
        latents: Latents,
        corpus: Corpus,
        probes: Probes | None = None,
        counts: WordCounts | None = None,
    ) -> Quantities:
        """See `Model.quantities`.

        Beside those of `CollapsedTopicModel`: ``log_responses``, the log likelihood of the responses;
        ``mean_predictor`` and ``mean_square_predictor`` (P,), means over documents of a linear predictor and
        of its square.
        """
        predictors = self.predictors(latents, corpus)
        return super().quantities(latents, corpus, probes, counts) | {
            "log_responses": np.asarray(self.log_responses(latents, corpus)),
            "mean_predictor": predictors.mean(axis=0),
            "mean_square_predictor": np.mean(predictors**2, axis=0),
        }

    def load_responses(self, room: Room, latents: Latents, corpus: Corpus) -> Any:
        """Return what a kernel's state holds of responses and coefficients."""
        own, found, values = room(documents), *_responses_of_corpus(self, corpus)
        check_spread(found, values, self.label)
        is_number = np.array([response.is_number for response in found], bool)
        kind = [own.HINGE if r.hinge else own.NUMBER if r.is_number else own.CATEGORY for r in found]
        errors = np.ones(len(found))
        errors[is_number] = latents["noise_precision"]
        priors = self.prior_arrays()
        return own.make_responses(
            latents["intercept"],
            latents["coefficient"],
            (latents["intercept_precision"], latents["precision"], errors),
            [priors[name] for name in PRECISIONS],
            kind,
            [response.hinge or (1.0, 1.0) for response in found],
            [response.n_predictors for response in found],
            values,
        )

    @override
    def snapshot_documents(self, state: State) -> Latents:
        own, n_topics = state.documents.responses, int(state.topics.n_topics[0])
        return super().snapshot_documents(state) | {
            "intercept": own.intercept.copy(),
            "coefficient": own.coefficient[:n_topics].T.copy(),
            "intercept_precision": own.intercept_precision.copy(),
            "precision": own.precision.copy(),
            "noise_precision": own.noise_precision[own.kind == documents.NUMBER],
        }

    @override
    def memory_of_chain(self, corpus: Corpus, variant: str | None = None) -> dict[str, int]:
        found = self.responses(corpus)
        n_topics = 1 if self.opens_topics else self.most_topics(Design.of(corpus))
        n_predictors = sum(response.n_predictors for response in found)
        most = max((response.n_predictors for response in found), default=0)
        n_bytes = 8 * (n_predictors * n_topics + (n_topics + 1) ** 2)
        return super().memory_of_chain(corpus, variant) | {
            "coefficients of responses": n_bytes + 8 * most * corpus.n_documents
        }


@lru_cache(maxsize=2)
def _responses_of_corpus(model: RespondingFamily, corpus: Corpus) -> tuple[tuple[Response, ...], np.ndarray]:
    """Responses of a corpus and their values; kept, as every load asks for them."""
    return model.responses(corpus), model.values_of(corpus, corpus.n_documents)

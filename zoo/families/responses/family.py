"""What models of documents with responses share."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar, override

import numpy as np
from scipy.special import logsumexp

from ....kernels.responses import documents, sweeps
from ....kernels.toolbox.sides import State
from ...contract import (
    Design,
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
from ...toolbox.laws import doc_topic_counts
from ..collapsed import prior_arrays
from ..lda.family import LdaFamily
from ..scaling.labels import Labelled
from ..topic_sides import TOPIC_SIDES
from ..topics import Dirichlet, Sampler, TopicSide
from . import marginal
from .predictive import RespondingPredictive
from .responses import Response, response_matrix, responses_of, with_responses

PRECISIONS = ("intercept_precision", "precision", "noise_precision")


def metropolis(room: Room) -> Any:
    """Sweep in time that grows with the non-zero counts."""
    return room(sweeps).metropolis_sweep


def conditional(room: Room) -> Any:
    """Sweep in time that grows with the number of topics."""
    return room(sweeps).conditional_sweep


class RespondingFamily(LdaFamily):
    """Base of the models of Dirichlet documents with responses that are linear in the shares of topics.

    R responses have P linear predictors together: a number has one, C categories have C - 1.
    """

    topic_sides: ClassVar[Mapping[str, TopicSide]] = TOPIC_SIDES
    response: str
    intercept_precision: Hyperparameter
    precision: Hyperparameter
    noise_precision: Hyperparameter

    def responses(self, corpus: Labelled) -> tuple[Response, ...]:
        """Responses that documents of a corpus, or a design, can have."""
        return responses_of(self.response, corpus, self.label)

    def values_of(self, corpus: Labelled, n_documents: int) -> np.ndarray:
        """Responses of the documents of a corpus, or a design; see `response_matrix`."""
        return response_matrix(self.responses(corpus), corpus, self.label, n_documents)

    def groups(self, group: np.ndarray | None, n_documents: int) -> np.ndarray:
        """One group: documents differ by nothing that is known before their words and responses."""
        return np.zeros(n_documents, np.int32)

    @override
    def n_topics_of(self, latents: Latents) -> int:
        return latents["log_weight"].shape[1]

    @property
    @override
    def document_dimensions(self) -> Mapping[str, tuple[str, ...]]:
        return {
            "log_base": ("predictor",),
            "log_weight": ("predictor", "topic"),
            "intercept_precision": ("response",),
            "precision": ("response",),
            "noise_precision": ("number",),
            "mean_square_effect": ("predictor",),
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
        """See `TwoSidedModel.samplers`; topics that are not Dirichlet have one alone."""
        dense = self.topics.samplers["dense"]._replace(sweep=conditional)
        if not isinstance(self.topics, Dirichlet):
            return {"dense": dense}
        about = "a topic is proposed in time that grows with the non-zero counts, and taken or not"
        return {"sparse": Sampler(about, metropolis, token_step="reversible"), "dense": dense}

    def deviations(self, latents: Mapping[str, np.ndarray], r: int) -> np.ndarray:
        """Return the standard deviations of intercept and coefficients of a response, float (K + 1,)."""
        precision = np.full(self.n_topics + 1, latents["precision"][r])
        precision[0] = latents["intercept_precision"][r]
        return precision**-0.5

    @override
    def draw_topics(
        self, design: Design, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        found = self.responses(design)
        drawn = [
            self.deviations(hyper, r) * rng.standard_normal((response.n_predictors, self.n_topics + 1))
            for r, response in enumerate(found)
        ]
        rows = np.concatenate([np.zeros((0, self.n_topics + 1)), *drawn])
        latents = super().draw_topics(design, hyper, rng)
        return latents | {"log_base": rows[:, 0].copy(), "log_weight": rows[:, 1:].copy()}

    def no_effects(self, corpus: Corpus) -> Latents:
        """Coefficients with which a chain starts: zero."""
        n_predictors = sum(response.n_predictors for response in self.responses(corpus))
        return {"log_base": np.zeros(n_predictors), "log_weight": np.zeros((n_predictors, self.n_topics))}

    @override
    def unseated(self, corpus: Corpus) -> Latents:
        return super().unseated(corpus) | self.no_effects(corpus)

    @override
    def documents_started(
        self, labels: np.ndarray, hyper: Mapping[str, np.ndarray], corpus: Corpus
    ) -> Latents:
        return super().documents_started(labels, hyper, corpus) | self.no_effects(corpus)

    def shares(self, z: np.ndarray, corpus: Corpus) -> np.ndarray:
        """Share of each topic in the tokens of each document, float (D, K); zeros where it has none."""
        return doc_topic_counts(z, corpus, self.n_topics) / np.maximum(corpus.doc_lengths, 1)[:, None]

    def predictors(self, latents: Latents, corpus: Corpus) -> np.ndarray:
        """Linear predictors of the documents, float (D, P)."""
        return latents["log_base"] + self.shares(latents["z"], corpus) @ latents["log_weight"].T

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
        values, predictors = self.values_of(corpus, corpus.n_documents), self.predictors(latents, corpus)
        number = first = 0
        for r, response in enumerate(found):
            own = predictors[:, first : first + response.n_predictors]
            if response.is_number:
                error = rng.standard_normal(len(own)) / np.sqrt(latents["noise_precision"][number])
                drawn, number = own[:, 0] + error, number + 1
            else:
                logits = np.pad(own, ((0, 0), (1, 0)))
                drawn = np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)
            values[:, r] = np.where(np.isnan(values[:, r]), np.nan, drawn)
            first += response.n_predictors
        return with_responses(corpus, found, values)

    @override
    def log_sticks(self, latents: Latents) -> float:
        """Zero: see `log_coefficients`."""
        return 0.0

    def log_coefficients(self, latents: Latents, corpus: Corpus) -> float:
        """Log density of intercepts and coefficients."""
        rows, out, first = np.column_stack([latents["log_base"], latents["log_weight"]]), 0.0, 0
        for r, response in enumerate(self.responses(corpus)):
            deviation = self.deviations(latents, r)
            standard = rows[first : first + response.n_predictors] / deviation
            normaliser = np.log(deviation) + 0.5 * np.log(2.0 * np.pi)
            out -= np.sum(0.5 * standard**2 + normaliser)
            first += response.n_predictors
        return float(out)

    def log_responses(self, latents: Latents, corpus: Corpus) -> float:
        """Log likelihood of the responses given topics and coefficients."""
        values, predictors = self.values_of(corpus, corpus.n_documents), self.predictors(latents, corpus)
        out, number, first = 0.0, 0, 0
        for r, response in enumerate(self.responses(corpus)):
            known = ~np.isnan(values[:, r])
            own = predictors[known, first : first + response.n_predictors]
            if response.is_number:
                precision, number = latents["noise_precision"][number], number + 1
                out -= 0.5 * precision * np.sum((values[known, r] - own[:, 0]) ** 2)
                out += 0.5 * len(own) * np.log(precision / (2.0 * np.pi))
            else:
                logits = np.pad(own, ((0, 0), (1, 0)))
                of_value = logits[np.arange(len(own)), values[known, r].astype(int)]
                out += np.sum(of_value - logsumexp(logits, axis=1))
            first += response.n_predictors
        return float(out)

    @override
    def log_joint(self, latents: Latents, corpus: Corpus) -> float:
        own = self.log_coefficients(latents, corpus) + self.log_responses(latents, corpus)
        return super().log_joint(latents, corpus) + own

    @override
    def log_marginal(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        """See `Model.log_marginal`; of categories by a lattice, so that it has an error."""
        values, shares = self.values_of(corpus, corpus.n_documents), self.shares(z, corpus)
        shares = np.column_stack([np.ones(len(shares)), shares])
        out, number = super().log_marginal(z, corpus, hyper), 0
        for r, response in enumerate(self.responses(corpus)):
            known = ~np.isnan(values[:, r])
            rows = tuple(map(tuple, shares[known].tolist()))
            y, deviations = values[known, r], tuple(self.deviations(hyper, r).tolist())
            if response.is_number:
                noise, number = float(hyper["noise_precision"][number]) ** -0.5, number + 1
                out += marginal.log_numbers(tuple(y.tolist()), rows, deviations, noise)
            else:
                categories = tuple(y.astype(int).tolist())
                out += marginal.log_categories(categories, rows, deviations, len(response.values))
        return out

    @override
    def predictive(self, latents: Latents, corpus: Corpus) -> Predictive:
        """See `Model.predictive`: new documents have responses too."""
        return RespondingPredictive(
            self.frozen_topics(latents, corpus),
            self.responses(corpus),
            latents["log_base"],
            latents["log_weight"],
            latents["noise_precision"],
        )

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
        ``mean_square_effect`` (P,), the mean over documents of the squared predictor; ``mean_predictor``
        (P,), its mean.
        """
        predictors = self.predictors(latents, corpus)
        return super().quantities(latents, corpus, probes, counts) | {
            "log_responses": np.asarray(self.log_responses(latents, corpus)),
            "mean_predictor": predictors.mean(axis=0),
            "mean_square_effect": np.mean(predictors**2, axis=0),
        }

    @override
    def load_documents(self, room: Room, latents: Latents, corpus: Corpus) -> Any:
        own, found, values = room(documents), *_responses_of_corpus(self, corpus)
        is_number = np.array([response.is_number for response in found], bool)
        errors = np.ones(len(found))
        errors[is_number] = latents["noise_precision"]
        priors = prior_arrays(self)
        return own.responding_documents(
            self.n_topics,
            latents["alpha"],
            priors["alpha"],
            latents["log_base"],
            latents["log_weight"],
            (latents["intercept_precision"], latents["precision"], errors),
            [priors[name] for name in PRECISIONS],
            np.where(is_number, own.NUMBER, own.CATEGORY),
            [response.n_predictors for response in found],
            values,
        )

    @override
    def snapshot_documents(self, state: State) -> Latents:
        side = state.documents
        return {
            "alpha": np.array(side.alpha[0]),
            "log_base": side.intercept.copy(),
            "log_weight": side.coefficient.T.copy(),
            "intercept_precision": side.intercept_precision.copy(),
            "precision": side.precision.copy(),
            "noise_precision": side.noise_precision[side.kind == documents.NUMBER],
        }

    @override
    def memory_of_chain(self, corpus: Corpus, variant: str | None = None) -> dict[str, int]:
        found = self.responses(corpus)
        n_predictors = sum(response.n_predictors for response in found)
        most = max((response.n_predictors for response in found), default=0)
        n_bytes = 8 * (n_predictors * self.n_topics + (self.n_topics + 1) ** 2)
        return super().memory_of_chain(corpus, variant) | {
            "coefficients of responses": n_bytes + 8 * most * corpus.n_documents
        }


@lru_cache(maxsize=2)
def _responses_of_corpus(model: RespondingFamily, corpus: Corpus) -> tuple[tuple[Response, ...], np.ndarray]:
    """Responses of a corpus and their values; kept, as every load asks for them."""
    return model.responses(corpus), model.values_of(corpus, corpus.n_documents)

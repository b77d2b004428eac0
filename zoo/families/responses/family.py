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
    Reference,
    Room,
    Simulation,
    WordCounts,
)
from ...corpus import Corpus
from ...corpus.labels import Labelled
from ...settings import option, setting
from ...toolbox.draws import draw_categorical
from ...toolbox.laws import doc_topic_counts
from ..collapsed import prior_arrays
from ..lda.family import LdaFamily
from ..topic_sides import TOPIC_SIDES
from ..topics import Dirichlet, Sampler, TopicSide
from . import law, marginal
from . import reference as programs
from .predictive import RespondingPredictive
from .responses import Response, response_matrix, responses_of, with_responses

COEFFICIENTS = ("intercept", "coefficient")
PRECISIONS = ("intercept_precision", "precision", "noise_precision")


def metropolis(room: Room) -> Any:
    """Sweep in time that grows with the non-zero counts."""
    return room(sweeps).metropolis_sweep


def conditional(room: Room) -> Any:
    """Sweep in time that grows with the number of topics."""
    return room(sweeps).conditional_sweep


@dataclass(frozen=True)
class RespondingFamily(LdaFamily):
    """Base of the models of Dirichlet documents with responses that are linear in the shares of topics.

    R responses have P linear predictors together: a number has one, C categories have C - 1, or, if a hinge
    tells them apart, C when they are more than two.
    """

    topic_sides: ClassVar[Mapping[str, TopicSide]] = TOPIC_SIDES
    document_parameters: ClassVar[tuple[str, ...]] = ("theta", "alpha", *COEFFICIENTS, *PRECISIONS)
    stan_program: ClassVar[str] = "slda"

    n_topics: int = option(10, small=2, benchmark=100)
    alpha: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.7, benchmark=0.1)
    intercept_precision: Hyperparameter = setting(
        Gamma(1.0, 1.0), fixed=0.9, prior=Gamma(6.0, 5.0), benchmark=0.1
    )
    precision: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.4, prior=Gamma(5.0, 4.0), benchmark=1.0)
    noise_precision: Hyperparameter = setting(
        Gamma(1.0, 1.0), fixed=1.8, prior=Gamma(4.0, 2.0), benchmark=1.2
    )
    topics: TopicSide = Dirichlet()
    response: str = option("", small="group, group:number", benchmark="")

    @property
    @override
    def reference(self) -> Reference | None:
        """See `Model.reference`: over Dirichlet topics, for documents whose topics can be enumerated."""
        return super().reference if isinstance(self.topics, Dirichlet) else None

    def rows(self, corpus: Corpus) -> programs.Rows:
        """All ways in which the words of documents can have topics."""
        return programs.rows_of(corpus, self.n_topics, self.label)

    @override
    def _numpyro(self, corpus: Corpus, truncation: int) -> Callable[[], None]:
        return programs.numpyro(
            self.rows(corpus),
            self.values_of(corpus, corpus.n_documents),
            self.responses(corpus),
            self.hyperparameters(),
            self.document_block(corpus, self.n_topics),
            self.topic_block(corpus, self.n_topics),
        )

    @override
    def document_data(self, corpus: Corpus) -> dict[str, Any]:
        values = self.values_of(corpus, corpus.n_documents)
        return programs.stan_data(self.rows(corpus), values, self.responses(corpus))

    @override
    def _latents_at(
        self, draw: Mapping[str, np.ndarray], corpus: Corpus, rng: np.random.Generator
    ) -> Latents:
        latents = {name: np.asarray(draw[name]) for name in (*COEFFICIENTS, *PRECISIONS)}
        latents["alpha"] = np.reshape(draw["alpha"], ())
        with np.errstate(divide="ignore"):
            log_p = np.log(draw["theta"])[corpus.doc_of] + np.log(self.word_weights(draw, corpus))
        z = np.zeros(corpus.n_tokens, np.int64)
        found, values = _responses_of_corpus(self, corpus)
        for d, (start, end) in enumerate(zip(corpus.doc_ptr[:-1], corpus.doc_ptr[1:], strict=True)):
            if start < end:
                ways = programs.assignments_of(end - start, self.n_topics)
                shares = np.array([np.bincount(way, minlength=self.n_topics) for way in ways]) / (end - start)
                predictors = latents["intercept"] + shares @ latents["coefficient"].T
                own = np.repeat(values[d : d + 1], len(ways), axis=0)
                weights = law.log_likelihood(found, own, predictors, latents["noise_precision"])
                weights += log_p[np.arange(start, end), ways].sum(axis=1)
                z[start:end] = ways[draw_categorical(np.exp(weights - weights.max())[None], rng)[0]]
        return latents | {"z": z} | self.topics.latents_at(draw, z, np.arange(self.n_topics), corpus, rng)

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
        return latents["coefficient"].shape[1]

    @property
    @override
    def document_dimensions(self) -> Mapping[str, tuple[str, ...]]:
        return {
            "intercept": ("predictor",),
            "coefficient": ("predictor", "topic"),
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
        return latents | {"intercept": rows[:, 0].copy(), "coefficient": rows[:, 1:].copy()}

    def no_effects(self, corpus: Corpus) -> Latents:
        """Coefficients with which a chain starts: zero."""
        n_predictors = sum(response.n_predictors for response in self.responses(corpus))
        return {"intercept": np.zeros(n_predictors), "coefficient": np.zeros((n_predictors, self.n_topics))}

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
        return latents["intercept"] + self.shares(latents["z"], corpus) @ latents["coefficient"].T

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

    @override
    def log_sticks(self, latents: Latents) -> float:
        """Zero: see `log_coefficients`."""
        return 0.0

    def log_coefficients(self, latents: Latents, corpus: Corpus) -> float:
        """Log density of intercepts and coefficients."""
        found, _ = _responses_of_corpus(self, corpus)
        rows, out = np.column_stack([latents["intercept"], latents["coefficient"]]), 0.0
        for r, _, own, _ in law.parts(found, rows.T):
            deviation = self.deviations(latents, r)[:, None]
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
        ``mean_predictor`` and ``mean_square_predictor`` (P,), means over documents of a linear predictor and
        of its square.
        """
        predictors = self.predictors(latents, corpus)
        return super().quantities(latents, corpus, probes, counts) | {
            "log_responses": np.asarray(self.log_responses(latents, corpus)),
            "mean_predictor": predictors.mean(axis=0),
            "mean_square_predictor": np.mean(predictors**2, axis=0),
        }

    @override
    def load_documents(self, room: Room, latents: Latents, corpus: Corpus) -> Any:
        own, found, values = room(documents), *_responses_of_corpus(self, corpus)
        is_number = np.array([response.is_number for response in found], bool)
        kind = [own.HINGE if r.hinge else own.NUMBER if r.is_number else own.CATEGORY for r in found]
        errors = np.ones(len(found))
        errors[is_number] = latents["noise_precision"]
        priors = prior_arrays(self)
        return own.responding_documents(
            self.n_topics,
            latents["alpha"],
            priors["alpha"],
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
        side = state.documents
        return {
            "alpha": np.array(side.alpha[0]),
            "intercept": side.intercept.copy(),
            "coefficient": side.coefficient.T.copy(),
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

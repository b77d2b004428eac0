"""Dirichlet-multinomial regression (Mimno and McCallum 2008)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, override

import numpy as np
from scipy import sparse

from ...kernels.labels import documents, optimised
from ...kernels.toolbox.sides import State
from ..contract import (
    Card,
    Design,
    Equation,
    Gamma,
    Hyperparameter,
    Kernel,
    Latents,
    Probes,
    Quantities,
    Room,
    WordCounts,
)
from ..corpus import Corpus
from ..families.finite import FixedTopics
from ..families.labels import marginal, reference
from ..families.labels.family import LabelledFamily
from ..families.lda.family import MOST_TOPICS
from ..families.topics import Dirichlet, Sampler, TopicSide
from ..settings import option, setting

PRECISIONS = ("intercept_precision", "precision")


def optimising(room: Room) -> Callable[..., Any]:
    """Sweep with coefficients that climb to where they are most probable."""
    return room(optimised).optimised_sweep


OPTIMISED = Sampler(
    f"coefficients climb {optimised.STEPS} steps a sweep to where they are most probable", optimising
)
"""As in the paper, and not exact."""


@dataclass(frozen=True)
class Dmr(FixedTopics, LabelledFamily):
    """Each label makes each topic more or less likely in its documents, by a factor.

    Latents: ``z`` (N,); ``log_factor`` (J + 1, K), the regression coefficients, the first row being the
    intercepts;
    ``intercept_precision``, ``precision``; those of the topics, such as ``eta``.

    Parameters
    ----------
    intercept_precision : float or Gamma
        One over the variance of the intercepts, the log Dirichlet parameters of documents without labels.
    precision : float or Gamma
        One over the variance of all other coefficients.
    topics : TopicSide
        `Dirichlet`, `PitmanYor` or `BeliefNetwork`, with hyperparameters of their own.
    n_topics : int
        K.
    labels : str
        Covariates that are labels, with commas between them: sets of labels, categories, or numbers, which
        are taken in standard deviations from their mean. By default all that hold named categories, sets or
        numbers that are not whole, and the groups; "none" for none.
    """

    card: ClassVar[Card] = Card(
        id="dmr",
        title="Dirichlet-multinomial regression",
        summary="Labels and numbers make topics more or less likely, by regression coefficients.",
        citation=(
            "D. Mimno and A. McCallum. Topic models conditioned on arbitrary features with "
            "Dirichlet-multinomial regression. UAI 2008, 411-418."
        ),
        source="Mimno & McCallum (2008)",
        bibtex_key="mimno2008topic",
        equations=(
            Equation(
                "Section 3",
                r"\alpha_{dk} = \exp(\sum_j x_{dj} \lambda_{jk}),\quad \theta_d \sim \mathrm{Dir}(\alpha_d)",
                "proportions of a document with features x",
            ),
            Equation(
                "Section 3",
                r"\lambda_{jk} \sim \mathrm{N}(0, \tau^{-1}),\quad "
                r"\lambda_{0k} \sim \mathrm{N}(0, \tau_0^{-1})",
                "coefficients, and intercepts",
            ),
            Equation(
                "Section 3",
                r"\phi_k \sim \mathrm{Dir}_V(\eta),\quad z_i \sim \theta_{d(i)},\quad w_i \sim \phi_{z_i}",
                "words of a topic; topic and word of a token",
            ),
        ),
        errata=(
            "The paper takes the coefficients that are most probable given topics, again and again. Here "
            "they are drawn, so that what they say comes with its uncertainty; in the variant `optimised` "
            "they climb, by EM, in place of the quasi-Newton method of the paper.",
            "The variances of coefficients and of intercepts can be sampled.",
        ),
        tags=("parametric", "labels"),
    )

    has_numbers: ClassVar[bool] = True
    document_parameters: ClassVar[tuple[str, ...]] = ("theta", "log_factor", *PRECISIONS)
    stan_program: ClassVar[str] = "dmr"

    intercept_precision: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.8, benchmark=0.5)
    precision: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=1.7, prior=Gamma(3.0, 2.0), benchmark=1.0)
    topics: TopicSide = Dirichlet()
    n_topics: int = option(10, small=2, benchmark=100)
    labels: str = ""

    def __post_init__(self):
        self.check_whole("n_topics", 1, MOST_TOPICS)
        super().__post_init__()

    @property
    @override
    def samplers(self) -> Mapping[str, Sampler]:
        """See `TwoSidedModel.samplers`; with Dirichlet topics also that of the paper."""
        of_paper = {"optimised": OPTIMISED} if isinstance(self.topics, Dirichlet) else {}
        return {**super().samplers, **of_paper}

    @override
    def kernels_in(self, room: Room) -> dict[str, Kernel]:
        found = super().kernels_in(room)
        return {name: replace(kernel, exact=name != "optimised") for name, kernel in found.items()}

    def features(self, rows: Any) -> Any:
        """Labels with a column of ones before them, sparse (R, J + 1)."""
        return sparse.csr_array(sparse.hstack([np.ones((rows.shape[0], 1)), rows]))

    @override
    def prior_of(self, latents: Mapping[str, np.ndarray], rows: Any) -> np.ndarray:
        """See `LabelledFamily.prior_of`; neither 0 nor infinite for numbers far from all that were fitted."""
        log_alpha = self.features(rows) @ np.asarray(latents["log_factor"])
        return np.exp(np.clip(log_alpha, -documents.MOST_LOG, documents.MOST_LOG))

    @override
    def may_have(self, corpus: Corpus) -> np.ndarray:
        return np.ones((self.label_rows(corpus)[0].shape[0], self.n_topics), bool)

    @property
    @override
    def document_dimensions(self) -> Mapping[str, tuple[str, ...]]:
        return {"log_factor": ("feature", "topic")}

    def deviations(self, hyper: Mapping[str, np.ndarray], n_features: int) -> np.ndarray:
        """Return the standard deviations of coefficients, float (J + 1, 1)."""
        precision = np.full((n_features, 1), float(hyper["precision"]))
        precision[0] = float(hyper["intercept_precision"])
        return precision**-0.5

    def draw_coefficients(
        self, design: Any, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> np.ndarray:
        """Draw the coefficients from their prior, float (J + 1, K)."""
        n_features = 1 + len(self.columns(design))
        return self.deviations(hyper, n_features) * rng.standard_normal((n_features, self.n_topics))

    @override
    def draw_topics(
        self, design: Design, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        latents = {"log_factor": self.draw_coefficients(design, hyper, rng)}
        return {"z": self.draw_documents(latents, design, rng)} | latents

    @override
    def initial_latents(self, corpus: Corpus, rng: np.random.Generator) -> Latents:
        """See `Model.initial_latents`; coefficients are zero."""
        return super().initial_latents(corpus, rng) | self._no_effects(corpus)

    @override
    def documents_started(
        self, labels: np.ndarray, hyper: Mapping[str, np.ndarray], corpus: Corpus
    ) -> Latents:
        return super().documents_started(labels, hyper, corpus) | self._no_effects(corpus)

    def _no_effects(self, corpus: Corpus) -> Latents:
        return {"log_factor": np.zeros((1 + len(self.columns(corpus)), self.n_topics))}

    @override
    def log_sticks(self, latents: Latents) -> float:
        """Log density of the coefficients."""
        coefficients = latents["log_factor"]
        deviation = np.broadcast_to(self.deviations(latents, len(coefficients)), coefficients.shape)
        squares = np.sum((coefficients / deviation) ** 2)
        return float(
            -0.5 * squares - np.sum(np.log(deviation)) - 0.5 * coefficients.size * np.log(2.0 * np.pi)
        )

    @override
    def log_marginal(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        """See `Model.log_marginal`; coefficients are integrated out by a lattice, so that it has an error."""
        rows, of_document = self.label_rows(corpus)
        deviations = tuple(self.deviations(hyper, 1 + rows.shape[1])[:, 0].tolist())
        features = tuple(map(tuple, self.features(rows).toarray()[of_document].tolist()))
        law = marginal.law_of_topics(features, deviations, self.n_topics)
        counts = np.zeros((corpus.n_documents, self.n_topics), np.int64)
        np.add.at(counts, (corpus.doc_of, z), 1)
        return law(counts) + self.log_words(z, corpus, hyper)

    @override
    def quantities(
        self,
        latents: Latents,
        corpus: Corpus,
        probes: Probes | None = None,
        counts: WordCounts | None = None,
    ) -> Quantities:
        """See `Model.quantities`.

        Beside those of `CollapsedTopicModel`: ``mean_log_weight``, over tokens, of the log Dirichlet
        parameter of their topic in their document; ``log_mass``, the mean over documents of that of all
        topics together; ``mean_square``, of the coefficients without the intercepts.
        """
        prior, row = self.document_prior(latents, corpus)[:, :-1], self.document_rows(corpus)
        weight = np.log(prior[row[corpus.doc_of], latents["z"]])
        effects = latents["log_factor"][1:]
        return super().quantities(latents, corpus, probes, counts) | {
            "mean_log_weight": np.asarray(weight.mean() if weight.size else 0.0),
            "log_mass": np.asarray(np.mean(np.log(prior.sum(axis=1))[row])),
            "mean_square": np.asarray(np.mean(effects**2) if effects.size else 0.0),
        }

    @override
    def document_block(self, corpus: Corpus, n_topics: int) -> Callable[[], Any]:
        features = self.features(self.labels_of(corpus, corpus.n_documents)).toarray()
        return reference.regression(features, n_topics, self.intercept_precision, self.precision)

    @override
    def document_data(self, corpus: Corpus) -> dict[str, Any]:
        features = self.features(self.labels_of(corpus, corpus.n_documents)).toarray()
        return {"J": features.shape[1], "features": features}

    @override
    def documents_at(
        self, draw: Mapping[str, np.ndarray], labels: np.ndarray, corpus: Corpus
    ) -> tuple[Latents, np.ndarray]:
        kept = {name: np.asarray(draw[name]) for name in ("log_factor", *PRECISIONS)}
        return {"z": labels} | kept, np.arange(self.n_topics)

    @override
    def load_documents(self, room: Room, latents: Latents, corpus: Corpus) -> Any:
        priors = self.prior_arrays()
        return room(documents).regression_documents(
            self.features(self.label_rows(corpus)[0]),
            latents["log_factor"],
            [float(latents[name]) for name in PRECISIONS],
            [priors[name] for name in PRECISIONS],
        )

    @override
    def snapshot_documents(self, state: State) -> Latents:
        side = state.documents
        precisions = {name: np.array(value) for name, value in zip(PRECISIONS, side.precision, strict=True)}
        return {"log_factor": side.coefficients.copy()} | precisions

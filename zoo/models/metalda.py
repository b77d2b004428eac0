"""MetaLDA: documents whose labels weigh their topics (Zhao, Du, Buntine and Liu 2017)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, ClassVar, override

import numpy as np
from scipy import sparse
from scipy.special import gammaln

from ...kernels.poisson import features
from ...kernels.toolbox.sides import State
from ..contract import Card, Design, Equation, FrozenTopics, Latents, Probes, Quantities, Room, WordCounts
from ..corpus import Corpus
from ..corpus.labels import Labelled, distinct_rows
from ..families.finite import OneCollection
from ..families.labelled import LabelledModel
from ..families.labels.predictive import LabelledPredictive
from ..families.poisson import reference
from ..families.poisson.marginal import SimulatedLaw
from ..families.poisson.predictive import frozen_under
from ..families.poisson.samplers import guarded_samplers
from ..families.topic_sides import WITH_BELIEF_NETWORK
from ..families.topics import Dirichlet, Sampler, TopicSide
from ..settings import option
from ..toolbox.draws import draw_categorical, draw_dirichlet, log_gamma

DRAWS = 400_000
"""Simulated weights behind a marginal probability."""


@dataclass(frozen=True)
class Metalda(LabelledModel, OneCollection):
    """A fixed number of topics; each label of a document makes some of them more likely, and others less.

    Latents: ``z`` (N,); ``log_weight`` (1 + J, K), log lambda of each feature and topic, the first being that
    of the feature which every document has; those of the topics, as ``eta``.

    Parameters
    ----------
    topics : TopicSide
        `Dirichlet`, `PitmanYor` or `BeliefNetwork`, with hyperparameters of their own.
    n_topics : int
        K.
    labels : str
        Covariates that are labels, with commas between them: sets of labels, or categories. By default all
        that hold named categories or sets, and the groups; "none" for none.
    weight_shape, weight_rate : float
        Of the gamma law of lambda.
    """

    card: ClassVar[Card] = Card(
        id="metalda",
        title="MetaLDA",
        summary="A fixed number of topics; labels of a document multiply how likely each of them is.",
        citation=(
            "H. Zhao, L. Du, W. Buntine and G. Liu. MetaLDA: a topic model that efficiently incorporates "
            "meta information. IEEE International Conference on Data Mining, 635-644, 2017."
        ),
        source="Zhao, Du, Buntine & Liu (2017)",
        bibtex_key="zhao2017metalda",
        equations=(
            Equation(
                "documents",
                r"\alpha_{dk} = \prod_l \lambda_{lk}^{f_{dl}},\quad "
                r"\lambda_{lk} \sim \mathrm{Gamma}(a, b),\quad \theta_d \sim \mathrm{Dir}_K(\alpha_d)",
                "proportions of the topics in a document with features f, 0 or 1; b is a rate",
            ),
            Equation("words", r"\phi_k \sim \mathrm{Dir}_V(\eta)", "word distribution of a topic"),
            Equation(
                "collapsed",
                r"p(z_i = k) \propto (n_{dk} + \alpha_{dk})\,\frac{n_{kw} + \eta}{n_k + V\eta}",
                "counts without token i",
            ),
        ),
        errata=(
            "Only labels of documents, as Zhao, Du, Buntine and Zhou (2018) use it; the 2017 paper has "
            "features of words as well.",
            "In the supplement of the 2018 paper, Equation 16, no document has a feature of its own accord, "
            "so that one without labels would have alpha = 1; the authors' code has one feature that is "
            "always on, and so has this.",
            "Exact in parallel threads too; the authors' code samples with counts that other threads have "
            "left stale.",
        ),
        tags=("parametric", "labels"),
    )

    topic_sides: ClassVar[Mapping[str, TopicSide]] = WITH_BELIEF_NETWORK
    document_parameters: ClassVar[tuple[str, ...]] = ("theta", "log_weight")
    stan_program: ClassVar[str] = "metalda"

    topics: TopicSide = Dirichlet()
    n_topics: int = option(10, small=2, benchmark=100)
    labels: str = ""
    weight_shape: float = option(1.0, small=1.6, benchmark=1.0)
    weight_rate: float = option(1.0, small=1.3, benchmark=1.0)

    def __post_init__(self):
        self.check_number("weight_shape")
        self.check_number("weight_rate")
        super().__post_init__()

    def features_of(self, corpus: Labelled, n_documents: int) -> Any:
        """Features of the documents of a corpus, or a design, sparse float (D, 1 + J)."""
        matrix = self.labels_of(corpus, n_documents)
        return sparse.csr_array(sparse.hstack([np.ones((n_documents, 1)), matrix]))

    def feature_rows(self, corpus: Corpus) -> tuple[Any, np.ndarray]:
        """Distinct rows of features, sparse float (R, 1 + J), and the row of each document, int (D,)."""
        return _feature_rows(self, corpus)

    @property
    @override
    def document_dimensions(self) -> Mapping[str, tuple[str, ...]]:
        return {"log_weight": ("feature", "topic"), "mean_log_weight": ("feature",)}

    @property
    @override
    def samplers(self) -> Mapping[str, Sampler]:
        return guarded_samplers(self.topics)

    @override
    def document_rows(self, corpus: Corpus) -> np.ndarray:
        return self.feature_rows(corpus)[1]

    @override
    def prior_rows(self, prior: np.ndarray, corpus: Corpus) -> np.ndarray:
        return self.document_rows(corpus)

    @override
    def document_prior(self, latents: Latents, corpus: Corpus) -> np.ndarray:
        """See `CollapsedTopicModel.document_prior`; a row for each kind of document."""
        return np.pad(alpha_of(self.feature_rows(corpus)[0], latents["log_weight"]), ((0, 0), (0, 1)))

    @override
    def log_sticks(self, latents: Latents) -> float:
        """Log density of the logs of the weights."""
        x, a, b = latents["log_weight"], self.weight_shape, self.weight_rate
        return float(np.sum(a * np.log(b) - gammaln(a) + a * x - b * np.exp(x)))

    def draw_log_weights(self, n: int, n_features: int, rng: np.random.Generator) -> np.ndarray:
        """Draw log lambda from its prior, float (n, L, K)."""
        drawn = log_gamma(self.weight_shape, (n, n_features, self.n_topics), rng)
        return drawn - np.log(self.weight_rate)

    @override
    def draw_topics(
        self, design: Design, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        """Draw weights of the features, proportions, and from them the topics of the tokens."""
        rows = self.features_of(design, len(design.doc_lengths))
        log_weight = self.draw_log_weights(1, rows.shape[1], rng)[0]
        theta = draw_dirichlet(alpha_of(rows, log_weight), rng)
        z = draw_categorical(np.repeat(theta, design.doc_lengths, axis=0), rng)
        return {"z": z, "log_weight": log_weight}

    @override
    def initial_latents(self, corpus: Corpus, rng: np.random.Generator) -> Latents:
        hyper = self.draw_hyperparameters(Design.of(corpus), rng)
        latents = self.unseated(corpus) | self.started_weights(corpus) | hyper
        return latents | self.topics.unseated(corpus)

    @override
    def documents_started(
        self, labels: np.ndarray, hyper: Mapping[str, np.ndarray], corpus: Corpus
    ) -> Latents:
        return super().documents_started(labels, hyper, corpus) | self.started_weights(corpus)

    def started_weights(self, corpus: Corpus) -> Latents:
        """Weights with which a chain can start: alpha is 0.1 whatever the labels."""
        log_weight = np.zeros((1 + len(self.columns(corpus)), self.n_topics))
        log_weight[0] = np.log(0.1)
        return {"log_weight": log_weight}

    @override
    def log_marginal(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        """See `Model.log_marginal`; by simulation, so that it has an error."""
        return _law(self, corpus)(z, corpus) + self.log_words(z, corpus, hyper)

    @override
    def frozen_topics(self, latents: Latents, corpus: Corpus) -> FrozenTopics:
        """See `Model.frozen_topics`: of documents without labels."""
        (prior,) = self.alpha_under(latents, sparse.csr_array((1, len(self.columns(corpus)))))
        return frozen_under(self, prior, latents, corpus)

    @override
    def predictive(self, latents: Latents, corpus: Corpus) -> LabelledPredictive:
        """See `Model.predictive`: new documents have labels too."""
        topics = self.frozen_topics(latents, corpus)
        return LabelledPredictive(
            topics, self.columns(corpus), self.label, partial(self.alpha_under, latents)
        )

    def alpha_under(self, latents: Latents, labels: Any) -> np.ndarray:
        """Dirichlet parameters of documents with `labels`, sparse (R, J); float (R, K)."""
        rows = sparse.hstack([np.ones((labels.shape[0], 1)), labels], format="csr")
        return alpha_of(rows, latents["log_weight"])

    @override
    def quantities(
        self,
        latents: Latents,
        corpus: Corpus,
        probes: Probes | None = None,
        counts: WordCounts | None = None,
    ) -> Quantities:
        """See `Model.quantities`.

        Those of `CollapsedTopicModel.quantities`; ``mean_log_weight`` (1 + J,), over topics, of each feature,
        and ``mean_log_prior``, over tokens, of alpha of their topic in their document.
        """
        log_weight = latents["log_weight"]
        rows, of_document = self.feature_rows(corpus)
        own = {
            "mean_log_weight": log_weight.mean(axis=1),
            "mean_log_prior": np.asarray(
                np.mean((rows @ log_weight)[of_document[corpus.doc_of], latents["z"]])
            ),
        }
        return super().quantities(latents, corpus, probes, counts) | own

    @override
    def document_block(self, corpus: Corpus, n_topics: int) -> Callable[[], Any]:
        matrix = self.features_of(corpus, corpus.n_documents).toarray()
        return reference.featured(matrix, n_topics, self.weight_shape, self.weight_rate)

    @override
    def document_data(self, corpus: Corpus) -> dict[str, Any]:
        matrix = self.features_of(corpus, corpus.n_documents).toarray()
        return {
            "L": matrix.shape[1],
            "features": matrix,
            "weight_shape": self.weight_shape,
            "weight_rate": self.weight_rate,
        }

    @override
    def documents_at(
        self, draw: Mapping[str, np.ndarray], labels: np.ndarray, corpus: Corpus
    ) -> tuple[Latents, np.ndarray]:
        return {"z": labels, "log_weight": np.asarray(draw["log_weight"])}, np.arange(self.n_topics)

    @override
    def load_documents(self, room: Room, latents: Latents, corpus: Corpus) -> Any:
        own = room(features)
        weight_prior = (self.weight_shape, self.weight_rate)
        return own.featured_documents(
            latents["log_weight"], weight_prior, own.features_of(self.feature_rows(corpus)[0])
        )

    @override
    def snapshot_documents(self, state: State) -> Latents:
        return {"log_weight": state.documents.log_weight.copy()}


def alpha_of(rows: Any, log_weight: np.ndarray) -> np.ndarray:
    """Dirichlet parameters of documents with some features, float (R, K)."""
    return np.maximum(features.LEAST, np.exp(np.minimum(rows @ log_weight, features.MOST_LOG)))


@lru_cache(maxsize=2)
def _feature_rows(model: Metalda, corpus: Corpus) -> tuple[Any, np.ndarray]:
    """See `Metalda.feature_rows`; kept, as every draw of a chain asks for them."""
    return distinct_rows(model.features_of(corpus, corpus.n_documents))


@lru_cache(maxsize=2)
def _law(model: Metalda, corpus: Corpus) -> SimulatedLaw:
    """Law of topics of the documents of a corpus."""
    matrix = model.features_of(corpus, corpus.n_documents).toarray()
    log_weight = model.draw_log_weights(DRAWS, matrix.shape[1], np.random.default_rng(0))
    alpha = np.maximum(features.LEAST, np.exp(np.einsum("dl,nlk->ndk", matrix, log_weight)))
    return SimulatedLaw(alpha, corpus.doc_lengths, 0.0)

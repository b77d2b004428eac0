"""What models of labelled documents over a fixed number of topics share."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, ClassVar, override

import numpy as np
from scipy import sparse

from ...contract import Design, FrozenTopics, Latents
from ...corpus import Corpus
from ...toolbox.draws import draw_categorical, draw_dirichlet
from ..labelled import LabelledModel
from ..lda.family import BYTES_A_TOPIC
from ..poisson.predictive import frozen_under
from ..topic_sides import WITH_BELIEF_NETWORK
from ..topics import TopicSide
from .predictive import LabelledPredictive


class LabelledFamily(LabelledModel):
    """Base of the models whose documents are Dirichlet, with parameters that follow from their labels.

    Documents with the same labels share a row of parameters: R rows, of J labels.
    """

    topic_sides: ClassVar[Mapping[str, TopicSide]] = WITH_BELIEF_NETWORK

    @abstractmethod
    def prior_of(self, latents: Mapping[str, np.ndarray], rows: Any) -> np.ndarray:
        """Dirichlet parameters of documents with labels `rows`, sparse (R, J); float (R, K), 0 for never."""

    @property
    @override
    def opens_topics(self) -> bool:
        return False

    @override
    def document_rows(self, corpus: Corpus) -> np.ndarray:
        return self.label_rows(corpus)[1]

    @override
    def document_prior(self, latents: Latents, corpus: Corpus) -> np.ndarray:
        """Parameters of each row of labels, and nothing beside them."""
        return np.pad(self.prior_of(latents, self.label_rows(corpus)[0]), ((0, 0), (0, 1)))

    @override
    def prior_rows(self, prior: np.ndarray, corpus: Corpus) -> np.ndarray:
        return self.document_rows(corpus)

    def priors_of_documents(self, latents: Mapping[str, np.ndarray], design: Design) -> np.ndarray:
        """Dirichlet parameters of each document, float (D, K)."""
        return self.prior_of(latents, self.labels_of(design, len(design.doc_lengths)))

    def draw_documents(
        self, latents: Mapping[str, np.ndarray], design: Design, rng: np.random.Generator
    ) -> np.ndarray:
        """Draw proportions and from them the topics of the tokens, int (N,)."""
        theta = draw_dirichlet(self.priors_of_documents(latents, design), rng)
        return draw_categorical(np.repeat(theta, design.doc_lengths, axis=0), rng)

    @override
    def draw_topics(
        self, design: Design, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        return {"z": self.draw_documents(hyper, design, rng)}

    @abstractmethod
    def may_have(self, corpus: Corpus) -> np.ndarray:
        """Which topics documents of each row of labels may have, bool (R, K)."""

    @override
    def documents_started(
        self, labels: np.ndarray, hyper: Mapping[str, np.ndarray], corpus: Corpus
    ) -> Latents:
        """See `CollapsedTopicModel.documents_started`; more labels than topics begin from the first again."""
        row = self.document_rows(corpus)[corpus.doc_of]
        z = np.empty(corpus.n_tokens, np.int64)
        for r, own in enumerate(map(np.flatnonzero, self.may_have(corpus))):
            z[row == r] = own[labels[row == r] % own.size]
        return {"z": z}

    @override
    def assignments(self, corpus: Corpus) -> Iterator[np.ndarray]:
        """All topics that the tokens may have."""
        own = [np.flatnonzero(row) for row in self.may_have(corpus)]
        for z in product(*(own[r] for r in self.document_rows(corpus)[corpus.doc_of])):
            yield np.array(z, np.int64)

    @override
    def frozen_topics(self, latents: Latents, corpus: Corpus) -> FrozenTopics:
        """See `Model.frozen_topics`: of documents without labels."""
        (prior,) = self.prior_of(latents, sparse.csr_array((1, len(self.columns(corpus)))))
        return frozen_under(self, prior, latents, corpus)

    @override
    def predictive(self, latents: Latents, corpus: Corpus) -> LabelledPredictive:
        """See `Model.predictive`: new documents have labels too."""

        def prior_of(rows: Any) -> np.ndarray:
            return self.prior_of(latents, rows)

        topics = self.frozen_topics(latents, corpus)
        return LabelledPredictive(topics, self.columns(corpus), self.label, prior_of)

    @override
    def memory_of_chain(self, corpus: Corpus, variant: str | None = None) -> dict[str, int]:
        n_rows, n_topics = len(self.label_rows(corpus)[0].indptr) - 1, self.most_topics(Design.of(corpus))
        return super().memory_of_chain(corpus, variant) | {
            "topics of rows of labels": (BYTES_A_TOPIC + 9 * n_rows) * n_topics
        }

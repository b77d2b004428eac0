"""What a posterior draw of a model of labelled documents says of new ones."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, override

import numpy as np

from ...corpus import Corpus
from ...corpus.labels import Column, distinct_rows, label_matrix
from ...predictive import FrozenTopics, Predictive


@dataclass(frozen=True)
class LabelledPredictive(Predictive):
    """Topics of one posterior draw and the law of documents given their labels.

    Attributes
    ----------
    topics : FrozenTopics
        Of documents without labels.
    columns : tuple of Column
        Labels of the fit, J; new documents have these or none.
    prior_of : (rows) -> float (R, K)
        Dirichlet parameters of documents with labels `rows`, sparse (R, J).
    label : str
        What errors call the model.
    """

    topics: FrozenTopics
    columns: tuple[Column, ...]
    prior_of: Callable[[Any], np.ndarray]
    label: str

    @override
    def check(self, documents: Corpus) -> None:
        self.topics.check(documents)
        self.labels_of(documents)

    def labels_of(self, documents: Corpus) -> Any:
        """Labels of the documents, sparse float (D, J)."""
        return label_matrix(self.columns, documents, self.label, documents.n_documents)

    @override
    def log_completion(
        self, observed: Corpus, rest: Corpus, rng: np.random.Generator, *, burn_in: int, sweeps: int
    ) -> np.ndarray:
        """See `FrozenTopics.log_completion`; given the labels."""
        out = np.empty(rest.n_tokens)
        for topics, chosen in self._by_labels(observed, self.labels_of(observed)):
            tokens = np.flatnonzero(np.isin(rest.doc_of, chosen))
            parts = observed.take(chosen), rest.take(chosen)
            out[tokens] = topics.log_completion(*parts, rng, burn_in=burn_in, sweeps=sweeps)
        return out

    @override
    def log_documents(self, documents: Corpus, rng: np.random.Generator, *, particles: int) -> np.ndarray:
        """Estimate from the left to the right, given the labels; see `FrozenTopics.log_documents`."""
        return self.log_labelled(documents, self.labels_of(documents), rng, particles=particles)

    def log_labelled(
        self, documents: Corpus, labels: Any, rng: np.random.Generator, *, particles: int
    ) -> np.ndarray:
        """See `log_documents`; given `labels`, sparse (D, J), in place of those that the documents have."""
        out = np.empty(documents.n_documents)
        for topics, chosen in self._by_labels(documents, labels):
            out[chosen] = topics.log_documents(documents.take(chosen), rng, particles=particles)
        return out

    def proportions(self, labels: Any) -> np.ndarray:
        """Return expected proportions of documents with `labels` (D, J), no token seen, float (D, K)."""
        prior = self.prior_of(labels)
        return prior / prior.sum(axis=1, keepdims=True)

    def _by_labels(self, documents: Corpus, labels: Any) -> Iterator[tuple[FrozenTopics, np.ndarray]]:
        """For each row of labels that there is: the topics of such documents, and which these are."""
        rows, of_document = distinct_rows(labels)
        for r, prior in enumerate(self.prior_of(rows)):
            by_group = np.array(np.broadcast_to(prior, self.topics.prior.shape))
            yield replace(self.topics, prior=by_group), np.flatnonzero(of_document == r)

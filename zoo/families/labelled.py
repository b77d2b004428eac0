"""Models whose documents have labels, and what they say of new ones: one reading for every family."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, override

import numpy as np

from ..corpus import Corpus
from ..corpus.labels import Column, Labelled, columns_of, distinct_rows, label_matrix, require_numbers
from ..predictive import FrozenTopics, Predictive
from .two_sided import TwoSidedModel


class LabelledModel(TwoSidedModel, ABC):
    """Base of the models whose documents have labels.

    Attributes
    ----------
    labels : str
        Covariates that are labels; see `asked_for`.
    has_numbers : bool
        Whether a label can be a number.
    """

    has_numbers: ClassVar[bool] = False
    labels: str

    def columns(self, corpus: Labelled) -> tuple[Column, ...]:
        """Labels that documents of a corpus, or a design, can have: the axis ``label``."""
        return columns_of(self.labels, corpus, self.label, has_numbers=self.has_numbers)

    def labels_of(self, corpus: Labelled, n_documents: int) -> Any:
        """Labels of the documents of a corpus, or a design, sparse float (D, J)."""
        return label_matrix(self.columns(corpus), corpus, self.label, n_documents)

    def label_rows(self, corpus: Corpus) -> tuple[Any, np.ndarray]:
        """Distinct rows of labels, sparse float (R, J), and the row of each document, int (D,)."""
        return _label_rows(self, corpus)


@lru_cache(maxsize=2)
def _label_rows(model: LabelledModel, corpus: Corpus) -> tuple[Any, np.ndarray]:
    """See `LabelledModel.label_rows`; kept, as every draw of a chain asks for them."""
    return distinct_rows(model.labels_of(corpus, corpus.n_documents))


@dataclass(frozen=True)
class GivenLabels(Predictive):
    """Base of what a posterior draw says of new documents given their labels.

    Attributes
    ----------
    topics : FrozenTopics
        Of documents without labels.
    columns : tuple of Column
        Labels of the fit, J; new documents have these or none.
    label : str
        What errors call the model.
    """

    topics: FrozenTopics
    columns: tuple[Column, ...]
    label: str

    @override
    def check(self, documents: Corpus) -> None:
        self.topics.check(documents)
        self.labels_of(documents)

    def labels_of(self, documents: Corpus) -> Any:
        """Labels of the documents, sparse float (D, J)."""
        require_numbers(self.columns, documents, self.label)
        return label_matrix(self.columns, documents, self.label, documents.n_documents)

    @override
    def log_documents(self, documents: Corpus, rng: np.random.Generator, *, particles: int) -> np.ndarray:
        """Estimate from the left to the right, given the labels; see `FrozenTopics.log_documents`."""
        return self.log_labelled(documents, self.labels_of(documents), rng, particles=particles)

    @abstractmethod
    def log_labelled(
        self, documents: Corpus, labels: Any, rng: np.random.Generator, *, particles: int
    ) -> np.ndarray:
        """See `log_documents`; given `labels`, sparse (D, J), in place of those that the documents have."""

    @abstractmethod
    def proportions(self, labels: Any) -> np.ndarray:
        """Return expected proportions of documents with `labels` (D, J), no token seen, float (D, K)."""

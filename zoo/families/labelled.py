"""Models whose documents have labels: one reading of them for every family."""

from abc import ABC
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from ..corpus import Corpus
from ..corpus.labels import Column, Labelled, columns_of, distinct_rows, label_matrix
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

"""What models with a fixed number of topics share, whatever their documents are."""

from typing import override

import numpy as np

from ..contract import Design, Latents
from .lda.family import FiniteFamily
from .two_sided import TwoSidedModel


class FixedTopics(TwoSidedModel):
    """Base of the models of K topics, each of which every document may have."""

    n_topics: int

    @property
    @override
    def opens_topics(self) -> bool:
        return False

    @override
    def most_topics(self, design: Design) -> int:
        return self.n_topics

    @override
    def n_topics_of(self, latents: Latents) -> int:
        return self.n_topics


class OneCollection(FixedTopics, FiniteFamily):
    """Base of those for which all documents are of one group."""

    def groups(self, group: np.ndarray | None, n_documents: int) -> np.ndarray:
        """One group: all documents may have all topics."""
        return np.zeros(n_documents, np.int32)

"""Topic proportions of new documents whose proportions are Dirichlet a priori, given one posterior draw."""

from dataclasses import dataclass
from functools import cached_property
from typing import override

import numpy as np

from ..corpus import Corpus
from ..predictive import FrozenTopics, NewProportions
from .proportions import draw_proportions


@dataclass(frozen=True)
class DirichletOfNew(NewProportions):
    """Of documents that leave the topics of a draw as they are.

    Attributes
    ----------
    topics : FrozenTopics
    """

    topics: FrozenTopics

    @override
    def check(self, documents: Corpus) -> None:
        self.topics.check(documents)

    @override
    def draw_proportions(
        self, document: Corpus, rng: np.random.Generator, *, burn_in: int, sweeps: int, repeats: int
    ) -> tuple[np.ndarray, np.ndarray]:
        (row,) = map(int, self.topics.rows_of(document))
        word_topics = self._word_topics[row if len(self._word_topics) > 1 else 0]
        counts = self.topics.draw_counts(
            document.words, row, word_topics, rng, burn_in=burn_in, sweeps=sweeps
        )
        weights = self.topics.weights(counts, row)
        mean = weights / weights.sum(axis=1, keepdims=True)
        return mean, draw_proportions(self.topics, np.tile(counts, (repeats, 1)), row, rng)

    @cached_property
    def _word_topics(self) -> list[np.ndarray]:
        """Transposes of the words of topics, float (V, K), of each group where these differ."""
        groups = range(1 if self.topics.words.ndim == 2 else len(self.topics.words))
        return [np.ascontiguousarray(self.topics.words_of(g).T) for g in groups]

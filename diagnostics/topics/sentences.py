"""Sentences of a corpus, and what a fit says of them."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from ...zoo.corpus import Corpus
from ...zoo.memory import require_memory
from .matching import MatchedTopics


@dataclass(frozen=True, eq=False)
class Sentences:
    """Sentences of a corpus, numbered through all of it.

    Attributes
    ----------
    corpus : Corpus
    pointers : int (S + 1,)
        Sentence s is tokens ``pointers[s]:pointers[s + 1]``.
    lengths : int (S,)
        Tokens of each.
    document : int (S,)
        Document of each.
    first : int (D + 1,)
        Sentences of document d are ``first[d]:first[d + 1]``.
    number : int (S,)
        Number of each in its document, from 1.
    """

    corpus: Corpus
    pointers: np.ndarray
    lengths: np.ndarray
    document: np.ndarray
    first: np.ndarray
    number: np.ndarray

    @classmethod
    def of(cls, corpus: Corpus) -> Self:
        """Sentences of `corpus`; CorpusError where it has none, which says how to get them."""
        lengths = np.bincount(corpus.segment_of)
        pointers = np.concatenate([[0], np.cumsum(lengths)])
        first = np.searchsorted(pointers, corpus.doc_ptr)
        document = corpus.doc_of[pointers[:-1]]
        return cls(corpus, pointers, lengths, document, first, np.arange(lengths.size) - first[document] + 1)

    def tokens(self, sentence: int) -> slice:
        """Return where the tokens of a sentence are."""
        return slice(self.pointers[sentence], self.pointers[sentence + 1])

    def words(self, sentence: int) -> str:
        """Words of a sentence."""
        return " ".join(self.corpus.vocabulary[self.corpus.words[self.tokens(sentence)]].tolist())


def sentence_topics(matched: MatchedTopics) -> np.ndarray:
    """Tokens of each topic in each sentence, mean over kept draws, float (S, K).

    Raises
    ------
    CorpusError
        The corpus has no sentences.
    """
    segment_of, n_topics = matched.corpus.segment_of, matched.n_topics
    shape = (matched.corpus.n_segments, n_topics)
    require_memory(16 * shape[0] * n_topics, f"{n_topics:,} topics of {shape[0]:,} sentences")
    total = np.zeros(shape[0] * n_topics)
    for z in matched.assigned:
        known = z >= 0
        total += np.bincount(segment_of[known] * n_topics + z[known], minlength=total.size)
    return total.reshape(shape) / len(matched.assigned)

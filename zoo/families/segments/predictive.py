"""What a posterior draw of a model of sentences says of new documents."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import override

import numpy as np

from ....kernels.segments import particles as smc
from ....kernels.segments.buffet import Sets
from ...contract import Design
from ...corpus import Corpus
from ...predictive import FrozenTopics, NewProportions, Predictive
from ...toolbox.draws import draw_dirichlet
from .order import Seating


@dataclass(frozen=True)
class SegmentsPredictive(Predictive, NewProportions):
    """Topics of one posterior draw, which new documents leave as they are; their dishes are their own.

    Their proportions are those of the next token: as those of the fit's own documents, of the first token of
    one more sentence, unless the only one goes on.

    Attributes
    ----------
    topics : FrozenTopics
    law : Sticks, Restaurants or SharedAndOwn
        Of the dishes of a document.
    seats : (design) -> Seating
    goes_on : bool
        Whether a document goes on with its first sentence, the only one, instead of with another.
    """

    topics: FrozenTopics
    law: smc.Sticks | smc.Restaurants | smc.SharedAndOwn
    seats: Callable[[Design], Seating]
    goes_on: bool = False

    @override
    def check(self, documents: Corpus) -> None:
        self.topics.check(documents)
        self.seats(Design.of(documents))

    @override
    def log_completion(
        self, observed: Corpus, rest: Corpus, rng: np.random.Generator, *, burn_in: int, sweeps: int
    ) -> np.ndarray:
        """Predict each token as the next one: the first of one more sentence, unless the only one goes on.

        The sentences that the tokens of `rest` are from play no part. Particles, of which there are as many
        as `sweeps`, need no `burn_in`.
        """
        theta = np.empty((rest.n_documents, self.topics.words.shape[0]))
        word_topics = np.ascontiguousarray(self.topics.words.T)
        for d, document in enumerate(self._documents(observed)):
            theta[d] = smc.next_token(rng, *document, word_topics, self.law, sweeps, self.goes_on)
        return np.log(np.einsum("nk,nk->n", theta[rest.doc_of], word_topics[rest.words]))

    @override
    def log_documents(self, documents: Corpus, rng: np.random.Generator, *, particles: int) -> np.ndarray:
        """Estimate by sequential Monte Carlo in the order in which tokens take their seats."""
        word_topics = np.ascontiguousarray(self.topics.words.T)
        return np.array(
            [
                smc.log_probability(rng, *document, word_topics, self.law, particles)
                for document in self._documents(documents)
            ]
        )

    @override
    def draw_proportions(
        self, document: Corpus, rng: np.random.Generator, *, burn_in: int, sweeps: int, repeats: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """See `NewProportions.draw_proportions`; sweeps are particles, all of which see all tokens."""
        (seats,) = self._documents(document)
        word_topics = np.ascontiguousarray(self.topics.words.T)
        law, n_particles = self.law_with_one_more(seats), burn_in + sweeps
        weights, topics = smc.next_dishes(
            rng, *seats, word_topics, law, n_particles, self.goes_on, repeats * sweeps
        )
        mean = np.einsum("il,ilk->ik", weights, topics / topics.sum(axis=2, keepdims=True))
        drawn = np.einsum("il,ilk->ik", weights, draw_dirichlet(topics, rng))
        return mean.reshape(repeats, sweeps, -1).mean(axis=0), drawn

    def law_with_one_more(
        self, document: tuple[np.ndarray, ...]
    ) -> smc.Sticks | smc.Restaurants | smc.SharedAndOwn | Sets:
        """Law of the dishes of a document that has one more sentence."""
        return self.law

    def _documents(self, corpus: Corpus) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """Words, sentences, their first tokens and the order of the tokens of each document."""
        seats = self.seats(Design.of(corpus))
        for begin, end in zip(corpus.doc_ptr[:-1], corpus.doc_ptr[1:], strict=True):
            sentence = seats.sentence[begin:end] - seats.sentence[begin:end].min(initial=corpus.n_tokens)
            start = np.searchsorted(sentence, sentence)
            yield corpus.words[begin:end].astype(np.int64), sentence, start, np.argsort(seats.time[begin:end])


LENGTHS_PER_PARTICLE = 10
"""Particles that estimate the probability of lengths, for each of those that have words."""


@dataclass(frozen=True)
class SetsPredictive(SegmentsPredictive):
    """As `SegmentsPredictive`, where sentences have a law of their lengths, which are given."""

    law: Sets

    @override
    def log_completion(
        self, observed: Corpus, rest: Corpus, rng: np.random.Generator, *, burn_in: int, sweeps: int
    ) -> np.ndarray:
        """Predict each token as the only one of one more sentence; see `SegmentsPredictive`."""
        theta = np.empty((rest.n_documents, self.topics.words.shape[0]))
        word_topics = np.ascontiguousarray(self.topics.words.T)
        for d, document in enumerate(self._documents(observed)):
            law = self.law_with_one_more(document)
            theta[d] = smc.next_token(rng, *document, word_topics, law, sweeps, False)
        theta /= theta.sum(axis=1, keepdims=True)
        return np.log(np.einsum("nk,nk->n", theta[rest.doc_of], word_topics[rest.words]))

    @override
    def log_documents(self, documents: Corpus, rng: np.random.Generator, *, particles: int) -> np.ndarray:
        """Estimate the probability of words and lengths, over that of the lengths alone.

        Both are estimated without bias, the ratio is not; the second by `LENGTHS_PER_PARTICLE` times as many
        particles.
        """
        word_topics, no_words = np.ascontiguousarray(self.topics.words.T), np.ones((1, 1))
        out = np.zeros(documents.n_documents)
        for d, document in enumerate(self._documents(documents)):
            if documents.doc_lengths[d] > 0:
                law, seats = law_of(document, self.law, 0), (np.zeros_like(document[0]), *document[1:])
                out[d] = smc.log_probability(rng, *document, word_topics, law, particles)
                n, one_topic = LENGTHS_PER_PARTICLE * particles, law._replace(kappa=np.ones(1))
                out[d] -= smc.log_probability(rng, *seats, no_words, one_topic, n)
        return out

    @override
    def law_with_one_more(self, document: tuple[np.ndarray, ...]) -> Sets:
        return law_of(document, self.law, 1)


def law_of(document: tuple[np.ndarray, ...], law: Sets, more: int) -> Sets:
    """Law of a document that has so many more sentences."""
    return law._replace(n_sentences=int(document[1].max(initial=-1)) + 1 + more)

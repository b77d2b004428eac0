"""What a posterior draw of a model of labelled documents says of new ones."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, override

import numpy as np
from scipy.special import logsumexp

from ....kernels.labels import authors
from ...corpus import Corpus
from ...corpus.labels import distinct_rows
from ...predictive import FrozenTopics
from ...toolbox.draws import draw_dirichlet
from ..labelled import GivenLabels

SHARES = 20
"""Draws of the shares of labels of a document that is completed."""


@dataclass(frozen=True)
class LabelledPredictive(GivenLabels):
    """Topics of one posterior draw and the law of documents given their labels.

    Attributes
    ----------
    prior_of : (rows) -> float (R, K)
        Dirichlet parameters of documents with labels `rows`, sparse (R, J).
    """

    prior_of: Callable[[Any], np.ndarray]

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
    def log_labelled(
        self, documents: Corpus, labels: Any, rng: np.random.Generator, *, particles: int
    ) -> np.ndarray:
        out = np.empty(documents.n_documents)
        for topics, chosen in self._by_labels(documents, labels):
            out[chosen] = topics.log_documents(documents.take(chosen), rng, particles=particles)
        return out

    @override
    def proportions(self, labels: Any) -> np.ndarray:
        prior = self.prior_of(labels)
        return prior / prior.sum(axis=1, keepdims=True)

    def _by_labels(self, documents: Corpus, labels: Any) -> Iterator[tuple[FrozenTopics, np.ndarray]]:
        """For each row of labels that there is: the topics of such documents, and which these are."""
        rows, of_document = distinct_rows(labels)
        for r, prior in enumerate(self.prior_of(rows)):
            by_group = np.array(np.broadcast_to(prior, self.topics.prior.shape))
            yield replace(self.topics, prior=by_group), np.flatnonzero(of_document == r)


@dataclass(frozen=True)
class AuthorPredictive(LabelledPredictive):
    """Topics of one posterior draw and the law of documents given their authors.

    A document of one author, or of none, is one with Dirichlet proportions: those of the author given all
    that he has written, or of one who is not known.

    Attributes
    ----------
    authors : float (J, K)
        Dirichlet parameters of the proportions of each author, given the draw.
    """

    authors: np.ndarray

    @override
    def log_completion(
        self, observed: Corpus, rest: Corpus, rng: np.random.Generator, *, burn_in: int, sweeps: int
    ) -> np.ndarray:
        """See `FrozenTopics.log_completion`; given the authors."""
        labels, out = self.labels_of(observed), np.empty(rest.n_tokens)
        several = np.diff(labels.indptr) > 1
        tokens, few = several[rest.doc_of], np.flatnonzero(~several)
        alone = (observed.take(few), rest.take(few))
        out[~tokens] = super().log_completion(*alone, rng, burn_in=burn_in, sweeps=sweeps)
        word_topics = np.ascontiguousarray(self.topics.words.T)
        for d in np.flatnonzero(several).tolist():
            seen, asked = (part.words[part.doc_ptr[d] : part.doc_ptr[d + 1]] for part in (observed, rest))
            theta = authors.fold_in(rng, seen, word_topics, self._of(labels, d), burn_in, sweeps)
            out[rest.doc_ptr[d] : rest.doc_ptr[d + 1]] = np.log(word_topics[asked] @ theta)
        return out

    @override
    def log_labelled(
        self, documents: Corpus, labels: Any, rng: np.random.Generator, *, particles: int
    ) -> np.ndarray:
        labels, out = labels.tocsr(), np.empty(documents.n_documents)
        several = np.diff(labels.indptr) > 1
        few = np.flatnonzero(~several)
        out[few] = super().log_labelled(documents.take(few), labels[few], rng, particles=particles)
        word_topics = np.ascontiguousarray(self.topics.words.T)
        for d in np.flatnonzero(several).tolist():
            words = documents.words[documents.doc_ptr[d] : documents.doc_ptr[d + 1]]
            log_conditionals = np.empty((particles, words.size))
            authors.left_to_right(rng, words, word_topics, self._of(labels, d), log_conditionals)
            out[d] = logsumexp(log_conditionals.sum(axis=1)) - np.log(particles)
        return out

    @override
    def proportions(self, labels: Any) -> np.ndarray:
        """See `GivenLabels.proportions`; the mean over authors."""
        known = self.authors / self.authors.sum(axis=1, keepdims=True)
        share = labels / np.maximum(labels.sum(axis=1), 1.0)[:, None]
        unknown = np.asarray(labels.sum(axis=1)) == 0
        return share @ known + np.outer(unknown, np.full(known.shape[1], 1.0 / known.shape[1]))

    def _of(self, labels: Any, d: int) -> np.ndarray:
        """Dirichlet parameters of the authors of a document, float (S, K)."""
        return self.authors[labels.indices[labels.indptr[d] : labels.indptr[d + 1]]]


@dataclass(frozen=True)
class MixedPredictive(LabelledPredictive):
    """Topics of one posterior draw and the law of documents that mix their labels.

    A document of one label is one with Dirichlet proportions; of one that has several, particles draw shares.

    Attributes
    ----------
    prior_at : (share) -> float (R, K)
        Dirichlet parameters of documents with shares (R, J) of the labels.
    tau : float
        Dirichlet parameter of the labels of a document.
    """

    prior_at: Callable[[np.ndarray], np.ndarray]
    tau: float

    @override
    def log_completion(
        self, observed: Corpus, rest: Corpus, rng: np.random.Generator, *, burn_in: int, sweeps: int
    ) -> np.ndarray:
        """See `FrozenTopics.log_completion`; a mean over shares, weighed by what is observed."""
        labels = self.labels_of(observed)
        out = np.empty(rest.n_tokens)
        for d in range(observed.n_documents):
            seen, hidden = (part.take(np.array([d])) for part in (observed, rest))
            found = [
                (
                    topics.log_documents(seen, rng, particles=1),
                    topics.log_completion(seen, hidden, rng, burn_in=burn_in, sweeps=sweeps),
                )
                for topics in self._topics(labels, d, rng)
            ]
            weight = np.array([of_seen[0] for of_seen, _ in found])
            asked = np.array([tokens for _, tokens in found])
            out[rest.doc_ptr[d] : rest.doc_ptr[d + 1]] = logsumexp(
                asked + (weight - logsumexp(weight))[:, None], axis=0
            )
        return out

    @override
    def log_labelled(
        self, documents: Corpus, labels: Any, rng: np.random.Generator, *, particles: int
    ) -> np.ndarray:
        labels, out = labels.tocsr(), np.empty(documents.n_documents)
        for d in range(documents.n_documents):
            document = documents.take(np.array([d]))
            own = self._topics(labels, d, rng, particles)
            each = [
                topics.log_documents(document, rng, particles=max(1, particles // len(own)))[0]
                for topics in own
            ]
            out[d] = logsumexp(each) - np.log(len(each))
        return out

    def _topics(
        self, labels: Any, d: int, rng: np.random.Generator, draws: int = SHARES
    ) -> list[FrozenTopics]:
        """Topics of a document, for several draws of the shares of its labels where it has some."""
        n_labels = max(labels.shape[1], 1)
        own = labels.indices[labels.indptr[d] : labels.indptr[d + 1]]
        own = own if own.size else np.arange(n_labels)
        share = np.zeros((draws if own.size > 1 else 1, n_labels))
        share[:, own] = draw_dirichlet(np.full((len(share), own.size), self.tau), rng)
        return [replace(self.topics, prior=prior[None]) for prior in self.prior_at(share)]

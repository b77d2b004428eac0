"""What a posterior draw of a scaling process says of new documents and of their labels."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, override

import numpy as np

from ....kernels.scaling import predict
from ...corpus import Corpus
from ...corpus.labels import distinct_rows
from ...toolbox.proportions import NormalisedRates, mean_proportions
from ..labelled import GivenLabels


@dataclass(frozen=True)
class ScaledPredictive(GivenLabels):
    """Topics, root and scales of one posterior draw, which new documents leave as they are.

    Attributes
    ----------
    log_scale : float (J, K)
    """

    log_scale: np.ndarray

    @override
    def log_completion(
        self, observed: Corpus, rest: Corpus, rng: np.random.Generator, *, burn_in: int, sweeps: int
    ) -> np.ndarray:
        """Predict by mean proportions given what is observed, and the labels.

        Particles, of which there are as many as `sweeps`, need no `burn_in`.
        """
        theta = np.empty((rest.n_documents, self.topics.prior.shape[1]))
        labels = self.labels_of(observed)
        for d, (words, run) in enumerate(self._documents(observed, labels)):
            run(rng, words, sweeps, theta[d])
        return np.log(np.einsum("nk,nk->n", theta[rest.doc_of], self.topics.words.T[rest.words]))

    @override
    def log_labelled(
        self, documents: Corpus, labels: Any, rng: np.random.Generator, *, particles: int
    ) -> np.ndarray:
        """See `GivenLabels.log_labelled`; by a particle filter."""
        theta = np.empty(self.topics.prior.shape[1])
        return np.array(
            [run(rng, words, particles, theta) for words, run in self._documents(documents, labels)]
        )

    @override
    def proportions(self, labels: Any) -> np.ndarray:
        """See `GivenLabels.proportions`; by an integral over one variable, to rounding."""
        rows, of_document = distinct_rows(labels)
        theta = np.empty((rows.shape[0], self.topics.prior.shape[1]))
        for i, run in enumerate(self._runs(rows)):
            run(np.random.default_rng(0), np.zeros(0, np.int64), 1, theta[i])
        return theta[of_document]

    def _runs(self, rows: Any) -> list[Callable[..., float]]:
        """Filter of documents of each row of labels: a function of rng, words, particles and theta."""
        word_topics, shapes = np.ascontiguousarray(self.topics.words.T), self.topics.prior[0]
        scales = np.zeros((rows.shape[0], shapes.size))  # what is not represented has the scales of no labels
        scales[:, : self.log_scale.shape[1]] = rows @ self.log_scale
        return [
            partial(_run, word_topics=word_topics, shapes=shapes, nodes=predict.nodes_of(shapes, row))
            for row in scales
        ]

    def _documents(self, documents: Corpus, labels: Any) -> Iterator[tuple[np.ndarray, Callable[..., float]]]:
        rows, of_document = distinct_rows(labels)
        runs = self._runs(rows)
        for d, (start, end) in enumerate(zip(documents.doc_ptr[:-1], documents.doc_ptr[1:], strict=True)):
            yield documents.words[start:end].astype(np.int64), runs[of_document[d]]


@dataclass(frozen=True)
class ScaledProportions(NormalisedRates):
    """Of documents whose topics have scales; the mean is given the topics of their tokens, and not u.

    Attributes
    ----------
    log_rows : float (R, K)
        Log scales of each row of labels.
    of_document : int (D,)
        Row of each document.
    """

    log_rows: np.ndarray
    of_document: np.ndarray

    @override
    def mean(self, here: slice) -> np.ndarray:
        """See `Proportions.mean`; by the integrals of `kernels.scaling.predict`."""
        shapes, row_of, n_tokens = self._shapes(here), self.of_document[here], self.corpus.doc_lengths[here]
        out = np.empty_like(shapes)
        for row in np.unique(row_of):
            of_row = row_of == row
            own, log_scale = shapes[of_row], self.log_rows[row]
            t, tail = predict.grid_of(float(self.shape.sum()), log_scale)
            out[of_row] = mean_proportions(own, log_scale, t, tail, n_tokens[of_row])
        return out


def _run(
    rng: np.random.Generator,
    words: np.ndarray,
    particles: int,
    theta: np.ndarray,
    *,
    word_topics: np.ndarray,
    shapes: np.ndarray,
    nodes: predict.Nodes,
) -> float:
    return predict.filter_document(rng, words, word_topics, shapes, nodes, particles, theta)

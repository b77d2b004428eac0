"""What a posterior draw of a model of responses says of new documents."""

from dataclasses import dataclass
from typing import override

import numpy as np
from scipy.special import softmax

from ...corpus import Corpus
from ...predictive import FrozenTopics, Predictive
from ..hdp.sticks import GrowingSticks, seat_tokens
from . import law
from .responses import Response


@dataclass(frozen=True)
class UnseenTopics:
    """Topics that no token of the fit has, and their coefficients.

    Attributes
    ----------
    gamma : float
        Concentration of the sticks.
    deviations : float (P,)
        Standard deviations of the coefficients.
    """

    gamma: float
    deviations: np.ndarray

    def draw_effects(self, n_tokens: np.ndarray, alpha: float, rng: np.random.Generator) -> np.ndarray:
        """Sum of the coefficients of so many tokens, float (n, P).

        Parameters
        ----------
        n_tokens : int (n,)
            Of a document, that have such topics.
        alpha : float
            The document's concentration, times what is left of the root.
        rng : numpy.random.Generator
        """
        out = np.zeros((len(n_tokens), self.deviations.size))
        for i in np.flatnonzero(n_tokens):
            sticks, length = GrowingSticks(rng, self.gamma, None, 1), np.array([n_tokens[i]], int)
            topics = seat_tokens(sticks, np.array([alpha]), length, np.zeros(1, int), rng)
            sizes = np.unique_counts(topics).counts
            out[i] = self.deviations * (sizes @ rng.standard_normal((sizes.size, self.deviations.size)))
        return out


@dataclass(frozen=True)
class RespondingPredictive(Predictive):
    """Topics of one posterior draw and the law of responses given the tokens' topics.

    Words of new documents are scored without their responses; so are responses predicted.

    Attributes
    ----------
    topics : FrozenTopics
    responses : tuple of Response
        Of the fit, with P predictors together.
    intercept : float (P,)
    coefficient : float (P, K)
    noise_precision : float (n,)
        Of each number among them.
    unseen : UnseenTopics, optional
        What the last topic stands for, where the number of topics is free.
    """

    topics: FrozenTopics
    responses: tuple[Response, ...]
    intercept: np.ndarray
    coefficient: np.ndarray
    noise_precision: np.ndarray
    unseen: UnseenTopics | None = None

    @override
    def check(self, documents: Corpus) -> None:
        self.topics.check(documents)

    @override
    def log_completion(
        self, observed: Corpus, rest: Corpus, rng: np.random.Generator, *, burn_in: int, sweeps: int
    ) -> np.ndarray:
        return self.topics.log_completion(observed, rest, rng, burn_in=burn_in, sweeps=sweeps)

    @override
    def log_documents(self, documents: Corpus, rng: np.random.Generator, *, particles: int) -> np.ndarray:
        return self.topics.log_documents(documents, rng, particles=particles)

    def predictors(
        self, documents: Corpus, rng: np.random.Generator, *, burn_in: int, sweeps: int
    ) -> np.ndarray:
        """Linear predictors after each of some Gibbs sweeps over new documents, float (D, sweeps, P)."""
        topics_of = [np.ascontiguousarray(self.topics.words_of(g).T) for g in range(len(self.topics.prior))]
        out = np.empty((documents.n_documents, sweeps, self.intercept.size))
        for d, g in enumerate(self.topics.rows_of(documents)):
            words = documents.words[documents.doc_ptr[d] : documents.doc_ptr[d + 1]]
            counts = self.topics.draw_counts(words, g, topics_of[g], rng, burn_in=burn_in, sweeps=sweeps)
            effects = counts[:, : self.coefficient.shape[1]] @ self.coefficient.T
            if self.unseen is not None:
                effects += self.unseen.draw_effects(counts[:, -1], self.topics.prior[g, -1], rng)
            out[d] = self.intercept + effects / max(1, words.size)
        return out

    def draw_numbers(self, predictors: np.ndarray, r: int, rng: np.random.Generator) -> np.ndarray:
        """Draw response `r`, a number, at linear predictors (…, P)."""
        number = sum(response.is_number for response in self.responses[:r])
        own = predictors[..., self._first(r)]
        return own + rng.standard_normal(own.shape) / np.sqrt(self.noise_precision[number])

    def probabilities(self, predictors: np.ndarray, r: int) -> np.ndarray:
        """Probabilities of the categories of response `r` at linear predictors (…, P), float (…, C)."""
        first = self._first(r)
        own = predictors[..., first : first + self.responses[r].n_predictors]
        return softmax(law.log_odds(self.responses[r], own), axis=-1)

    def _first(self, r: int) -> int:
        """Where the predictors of response `r` begin."""
        return sum(response.n_predictors for response in self.responses[:r])

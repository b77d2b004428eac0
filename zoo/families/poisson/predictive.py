"""What posterior draws of gamma belief networks, and of topics with probabilities, say of new documents."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, override

import numpy as np
from scipy.special import gammaln, logsumexp, softmax

from ....kernels.poisson import layers, predict
from ....kernels.toolbox import foldin, sides
from ...contract import Latents
from ...corpus import Corpus
from ...predictive import FrozenTopics, NewProportions, Predictive
from ...toolbox.draws import draw_dirichlet, log_gamma
from ...toolbox.proportions import mean_of_rates
from ..collapsed import CollapsedTopicModel
from .convolved import log_p, log_ways
from .layered import draw_documents
from .lengths import highest_log_lengths, log_lengths


@dataclass(frozen=True)
class LayeredPredictive(Predictive, NewProportions):
    """Topics, links and weights of one posterior draw, which new documents leave as they are.

    A document's length is data as well where the model has a law of lengths: of one that is completed, that
    of what is observed of it.

    Attributes
    ----------
    model : Gbn
    words : float (K, V) or (G, K, V)
        Word distribution of each topic, by group where topics differ between groups.
    latents : Latents
        ``r``, ``link``, ``gamma``, ``c``.
    """

    model: Any
    words: np.ndarray
    latents: Latents

    @override
    def check(self, documents: Corpus) -> None:
        n_groups, n_topics = (1, len(self.words)) if self.words.ndim == 2 else self.words.shape[:2]
        FrozenTopics(self.words, np.ones((n_groups, n_topics))).check(documents)

    @override
    def log_completion(
        self, observed: Corpus, rest: Corpus, rng: np.random.Generator, *, burn_in: int, sweeps: int
    ) -> np.ndarray:
        """Predict by mean proportions of Gibbs sweeps over topics and layers of the observed part."""
        theta = self.proportions(observed, rng, burn_in=burn_in, sweeps=sweeps)
        of_tokens = self._word_topics[self._kinds(rest)[rest.doc_of], rest.words]
        return np.log(np.einsum("nk,nk->n", theta[rest.doc_of], of_tokens))

    @cached_property
    def _word_topics(self) -> np.ndarray:
        """Probabilities of words, float (G, V, K)."""
        return np.ascontiguousarray(self.words.reshape(-1, *self.words.shape[-2:]).transpose(0, 2, 1))

    def _kinds(self, documents: Corpus) -> np.ndarray:
        """Which of these are those of each document, int (D,)."""
        if len(self._word_topics) > 1:
            return documents.group_of_doc.astype(np.int64)
        return np.zeros(documents.n_documents, np.int64)

    def proportions(
        self, documents: Corpus, rng: np.random.Generator, *, burn_in: int, sweeps: int
    ) -> np.ndarray:
        """Posterior mean proportions of topics in new documents, float (D, K)."""
        theta = np.empty((documents.n_documents, self.latents["r"].size))
        predict.fold_in(rng, *self._started(documents), burn_in, sweeps, theta)
        return theta

    @override
    def draw_proportions(
        self, document: Corpus, rng: np.random.Generator, *, burn_in: int, sweeps: int, repeats: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """See `NewProportions.draw_proportions`; layers are drawn with the topics."""
        started = _, side, *_ = self._started(document)
        shapes = np.empty((sweeps, side.r.size))
        for sweep in range(sweeps):
            dropped = burn_in if sweep == 0 else 0
            predict.fold_in(rng, *started, dropped, 1, np.empty((1, side.r.size)))
            shapes[sweep] = side.prior[0] + side.counts[0, 0]
        mean = shapes / shapes.sum(axis=1, keepdims=True)
        return mean, draw_dirichlet(np.tile(shapes, (repeats, 1)), rng)

    def _started(self, documents: Corpus) -> tuple[Any, ...]:
        """Return what `predict.fold_in` is given of new documents: tokens, layers, and the rest."""
        n, model = documents.n_documents, self.model
        side = layers.layered_documents(
            self.latents | model.weights_started(None, self.latents, documents) | self._kept(),
            {"gamma": (0.0, 0.0), "c": (0.0, 0.0)},
            model.length_shape,
            model.link_eta,
            (model.rate_shape, model.rate_rate),
        )
        unseated = np.full(documents.n_tokens, -1)
        tokens = sides.tokens_of(documents.words, documents.doc_ptr, np.arange(n), unseated)
        return tokens, side, sides.scratch(side.r.size), self._word_topics, self._kinds(documents)

    @override
    def log_documents(self, documents: Corpus, rng: np.random.Generator, *, particles: int) -> np.ndarray:
        """Estimate from the left to the right; each particle has layers of its own, given the length."""
        kinds, log_p = self._kinds(documents), np.empty(documents.n_documents)
        for d, (start, end) in enumerate(zip(documents.doc_ptr[:-1], documents.doc_ptr[1:], strict=True)):
            words = documents.words[start:end]
            log_conditionals = np.empty((particles, words.size))
            for i, prior in enumerate(self._priors(particles, words.size, rng)):
                foldin.left_to_right(
                    rng, words, self._word_topics[kinds[d]], prior, log_conditionals[i : i + 1]
                )
            log_p[d] = logsumexp(log_conditionals.sum(axis=1)) - np.log(particles)
        return log_p

    def _kept(self) -> Latents:
        return {name: self.latents[name] for name in ("r", "link")}

    def _priors(self, n: int, length: int, rng: np.random.Generator) -> np.ndarray:
        """Draw Dirichlet parameters of documents of a length, float (n, K), by rejection."""
        r, link = self.latents["r"][None], self.latents["link"][None]
        shape = self.model.length_shape
        highest = highest_log_lengths((length,), shape)
        found = np.empty((0, r.size))
        while len(found) < n:
            theta = draw_documents(self.model, r, link, n, rng)["theta"][0, 0]
            log_p = log_lengths(theta.sum(axis=1), np.array(length), shape) - highest
            found = np.concatenate([found, theta[-rng.standard_exponential(n) <= log_p] @ link[0, 0]])
        return np.maximum(found[:n], np.finfo(float).tiny)


@dataclass(frozen=True)
class ConvolvedPredictive(Predictive, NewProportions):
    """Topics and weights of one posterior draw, each topic with a probability of its own.

    Given its length, a document has the law of one whose words have the probabilities ``p_k phi_kw`` under
    topic k, but for a factor of its length, `convolved.log_ways`.

    Attributes
    ----------
    words : float (K, V)
    r, log_odds : float (K,)
    """

    words: np.ndarray
    r: np.ndarray
    log_odds: np.ndarray

    @cached_property
    def _scaled(self) -> FrozenTopics:
        """Topics whose words have the probabilities ``p_k phi_kw``, but for a factor that all have."""
        log_factor = log_p(self.log_odds)
        factor = np.maximum(np.exp(log_factor - log_factor.max()), np.finfo(float).tiny)
        return FrozenTopics(factor[:, None] * self.words, np.maximum(self.r, np.finfo(float).tiny)[None])

    @override
    def check(self, documents: Corpus) -> None:
        FrozenTopics(self.words, np.ones((1, self.r.size))).check(documents)

    @override
    def log_completion(
        self, observed: Corpus, rest: Corpus, rng: np.random.Generator, *, burn_in: int, sweeps: int
    ) -> np.ndarray:
        """Predict by mean proportions of the rates, drawn after each Gibbs sweep over the observed part."""
        theta = self.proportions(observed, rng, burn_in=burn_in, sweeps=sweeps)
        return np.log(np.einsum("nk,kn->n", theta[rest.doc_of], self.words[:, rest.words]))

    def proportions(
        self, documents: Corpus, rng: np.random.Generator, *, burn_in: int, sweeps: int
    ) -> np.ndarray:
        """Posterior mean proportions of topics in new documents, float (D, K)."""
        theta = np.empty((documents.n_documents, self.r.size))
        for d, (start, end) in enumerate(zip(documents.doc_ptr[:-1], documents.doc_ptr[1:], strict=True)):
            shapes = self._draw_shapes(documents.words[start:end], rng, burn_in, sweeps)
            theta[d] = self._draw(shapes, rng).mean(axis=0)
        return theta

    @override
    def draw_proportions(
        self, document: Corpus, rng: np.random.Generator, *, burn_in: int, sweeps: int, repeats: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """See `NewProportions.draw_proportions`; of rates, ``p Gamma(r + n)``, divided by their sum."""
        shapes = self._draw_shapes(document.words, rng, burn_in, sweeps)
        mean = mean_of_rates(shapes, log_p(self.log_odds))
        return mean, self._draw(np.tile(shapes, (repeats, 1)), rng)

    def _draw_shapes(
        self, words: np.ndarray, rng: np.random.Generator, burn_in: int, sweeps: int
    ) -> np.ndarray:
        """Shapes of the rates of one document given the topics that each sweep draws, float (sweeps, K)."""
        counts = self._scaled.draw_counts(words, 0, self._word_topics, rng, burn_in=burn_in, sweeps=sweeps)
        return counts + self._scaled.prior

    @cached_property
    def _word_topics(self) -> np.ndarray:
        return np.ascontiguousarray(self._scaled.words.T)

    def _draw(self, shapes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw proportions, float (n, K), given shapes of the rates."""
        return softmax(log_gamma(shapes, shapes.shape, rng) + log_p(self.log_odds), axis=1)

    @override
    def log_documents(self, documents: Corpus, rng: np.random.Generator, *, particles: int) -> np.ndarray:
        """Estimate from the left to the right, given the lengths."""
        scaled, lengths = self._scaled, documents.doc_lengths
        estimate = scaled.log_documents(documents, rng, particles=particles)
        mass = scaled.prior.sum()
        factors = gammaln(mass + lengths) - gammaln(mass) - log_ways(scaled.prior[0], self.log_odds, lengths)
        return estimate + factors + lengths * log_p(self.log_odds).max()


def frozen_under(
    model: CollapsedTopicModel, prior: np.ndarray, latents: Latents, corpus: Corpus
) -> FrozenTopics:
    """Frozen topics of a fixed number, all new documents having the Dirichlet parameters `prior` (K,)."""
    words = model.word_probabilities(latents, corpus, np.arange(corpus.n_words))
    if len(words) > 1:
        return FrozenTopics(words, np.tile(prior, (len(words), 1)))
    concentration = model.word_concentration(latents, corpus)
    known = None if concentration is None else concentration[: prior.size]
    return FrozenTopics(words[0], prior[None], concentration=known)

"""What posterior draws of gamma belief networks, and of topics with probabilities, say of new documents."""

from dataclasses import dataclass
from typing import Any, override

import numpy as np
from scipy.special import gammaln, logsumexp, softmax

from ....kernels.poisson import layers, predict
from ....kernels.toolbox import foldin, sides
from ...contract import Latents
from ...corpus import Corpus
from ...predictive import FrozenTopics, Predictive
from ...toolbox.draws import log_gamma
from ..collapsed import CollapsedTopicModel
from .convolved import log_p, log_ways
from .layered import draw_documents
from .lengths import highest_log_lengths, log_lengths


@dataclass(frozen=True)
class LayeredPredictive(Predictive):
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
        word_topics, kind = self._word_topics(rest)
        of_tokens = word_topics[kind[rest.doc_of], rest.words]
        return np.log(np.einsum("nk,nk->n", theta[rest.doc_of], of_tokens))

    def _word_topics(self, documents: Corpus) -> tuple[np.ndarray, np.ndarray]:
        """Word probabilities (G, V, K), and which of these are those of each document, int (D,)."""
        words = self.words.reshape(-1, *self.words.shape[-2:])
        kind = documents.group_of_doc if len(words) > 1 else np.zeros(documents.n_documents, np.int64)
        return np.ascontiguousarray(words.transpose(0, 2, 1)), kind.astype(np.int64)

    def proportions(
        self, documents: Corpus, rng: np.random.Generator, *, burn_in: int, sweeps: int
    ) -> np.ndarray:
        """Posterior mean proportions of topics in new documents, float (D, K)."""
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
        word_topics, kind = self._word_topics(documents)
        theta = np.empty((n, side.r.size))
        scratch = sides.scratch(side.r.size)
        predict.fold_in(rng, tokens, side, scratch, word_topics, kind, burn_in, sweeps, theta)
        return theta

    @override
    def log_documents(self, documents: Corpus, rng: np.random.Generator, *, particles: int) -> np.ndarray:
        """Estimate from the left to the right; each particle has layers of its own, given the length."""
        word_topics, kind = self._word_topics(documents)
        log_p = np.empty(documents.n_documents)
        for d, (start, end) in enumerate(zip(documents.doc_ptr[:-1], documents.doc_ptr[1:], strict=True)):
            words = documents.words[start:end]
            log_conditionals = np.empty((particles, words.size))
            for i, prior in enumerate(self._priors(particles, words.size, rng)):
                foldin.left_to_right(rng, words, word_topics[kind[d]], prior, log_conditionals[i : i + 1])
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
class ConvolvedPredictive(Predictive):
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
        scaled, theta = self._scaled(), np.empty((documents.n_documents, self.r.size))
        word_topics = np.ascontiguousarray(scaled.words.T)
        for d, (start, end) in enumerate(zip(documents.doc_ptr[:-1], documents.doc_ptr[1:], strict=True)):
            own = documents.words[start:end]
            counts = scaled.draw_counts(own, 0, word_topics, rng, burn_in=burn_in, sweeps=sweeps)
            shapes = counts + scaled.prior
            log_rates = log_gamma(shapes, shapes.shape, rng) + log_p(self.log_odds)
            theta[d] = softmax(log_rates, axis=1).mean(axis=0)
        return theta

    @override
    def log_documents(self, documents: Corpus, rng: np.random.Generator, *, particles: int) -> np.ndarray:
        """Estimate from the left to the right, given the lengths."""
        scaled, lengths = self._scaled(), documents.doc_lengths
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

"""The focused topic model: the IBP compound Dirichlet process (Williamson, Wang, Heller and Blei 2010)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
from numpy.polynomial import polynomial
from scipy.special import gammaln, logsumexp

from ... import kernels
from ...kernels.focused import FocusedState
from ..collapsed import (
    CollapsedTopicModel,
    by_first_appearance,
    doc_topic_counts,
    draw_categorical,
    prior_arrays,
)
from ..contract import Card, Design, Equation, FrozenTopics, Gamma, Hyperparameter, Kernel, Latents
from ..corpus import Corpus
from ..enumeration import restricted_growth_strings

LOG2 = np.log(2.0)


@dataclass(frozen=True)
class Focused(CollapsedTopicModel):
    """As many topics as the corpus needs; which documents have a topic says nothing of how much of it.

    Each topic has an inclusion, the share of the documents that it is on in, and a strength, which gives it
    tokens where it is on. The numbers of tokens are negative binomial, so that the generator draws the
    lengths of the documents too: a design gives only the number of documents and the vocabulary, and every
    posterior is that given lengths and words.

    Latents: ``z`` (N,), ``lengths`` (D,), ``strength`` (K,), ``inclusion`` (K,), ``alpha``, ``gamma``,
    ``eta``. Where topics are on, and all that concerns topics without tokens, is integrated out.

    Parameters
    ----------
    alpha : float or Gamma
        Mass of the Indian buffet process: the expected number of topics that are on in a document.
    gamma : float or Gamma
        Shape of the strengths.
    eta : float or Gamma
        Dirichlet parameter of a topic's word distribution, a word.
    """

    card: ClassVar[Card] = Card(
        id="focused",
        title="Focused topic model",
        summary="As many topics as the corpus needs; a topic may be rare among documents and strong in them.",
        citation=(
            "S. Williamson, C. Wang, K. A. Heller and D. M. Blei. The IBP compound Dirichlet process and its "
            "application to focused topic modeling. International Conference on Machine Learning, "
            "pages 1151-1158, 2010."
        ),
        bibtex_key="williamson2010ibp",
        equations=(
            Equation(
                "generative process",
                r"b_{dk} \sim \mathrm{Bernoulli}(\pi_k),\quad \pi \sim \mathrm{IBP}(\alpha)",
                "whether a topic is on in a document",
            ),
            Equation("generative process", r"\phi_k \sim \mathrm{Gamma}(\gamma, 1)", "strength of a topic"),
            Equation(
                "generative process",
                r"\theta_d \sim \mathrm{Dir}(b_d \circ \phi),\quad n_d \sim \mathrm{NB}(b_d^\top \phi, 1/2)",
                "topic proportions and length of a document; so n_dk ~ NB(b_dk phi_k, 1/2), independently",
            ),
            Equation("generative process", r"\beta_k \sim \mathrm{Dir}_V(\eta)", "words of a topic"),
        ),
        errata=(
            "The source draws the topic of a token from an expectation that it expands to first order about "
            "the means of the other variables. The expectation has a closed form. Variant `taylor` shows "
            "what the expansion changes; it carries over the recipe of Faisal, Gillberg, Leen, Peltonen and Kaski "
            "(Transfer learning using a nonparametric sparse topic model, Appendix A).",
            "In the expansion the first token of a topic in a document has weight pi phi. The exact weight "
            "is phi pi 2^-phi / (1 - pi + pi 2^-phi): the document shows that the topic is off or silent.",
            "In the expansion a new topic has weight alpha gamma. The exact weight also says that no other "
            "document has a token of it: alpha / M sum_{j=1}^M gamma (1 + j log 2)^(-gamma - 1).",
            "The conditional of gamma depends on the topics without tokens; they are integrated out.",
        ),
        tags=("nonparametric", "single corpus", "document lengths are data"),
        evidence=("joint", "oracle", "geweke", "sequential", "sbc", "reference"),
    )
    kernels: ClassVar[Mapping[str, Kernel]]
    draws_lengths: ClassVar[bool] = True

    alpha: Hyperparameter = Gamma(5.0, 1.0)
    gamma: Hyperparameter = Gamma(5.0, 1.0)
    eta: Hyperparameter = Gamma(1.0, 10.0)

    def __post_init__(self):
        self.check_hyperparameters()

    def document_prior(self, latents: Latents, corpus: Corpus) -> np.ndarray:
        """Weight of each topic for one more token, without the tokens themselves, float (D, K + 1).

        The strength where the document has the topic; else, and for topics without any token, the weight of
        a first token.
        """
        strength, inclusion = latents["strength"], latents["inclusion"]
        on = inclusion * np.exp2(-strength)
        counts = doc_topic_counts(latents["z"], corpus, strength.size)
        weights = np.where(counts > 0, strength, strength * on / (1.0 - inclusion + on))
        new = _mass_of_new(float(latents["alpha"]), float(latents["gamma"]), corpus.n_documents)
        return np.hstack([weights, np.full((corpus.n_documents, 1), new)])

    def prior_rows(self, prior: np.ndarray, corpus: Corpus) -> np.ndarray:
        """Every document has a row of its own."""
        return np.arange(corpus.n_documents)

    def log_assignments(self, latents: Latents, corpus: Corpus) -> float:
        """Log probability of ``z`` and the lengths given strengths and inclusions."""
        strength, inclusion = latents["strength"], latents["inclusion"]
        counts = doc_topic_counts(latents["z"], corpus, strength.size)
        present = np.log(inclusion) + gammaln(strength + counts) - gammaln(strength) - strength * LOG2
        absent = np.log1p(inclusion * np.expm1(-strength * LOG2))
        return float(np.sum(np.where(counts > 0, present, absent))) + _log_of_lengths(corpus)

    def log_sticks(self, latents: Latents) -> float:
        """Log density of the topics in use, in no order, and that no other topic has a token."""
        strength, inclusion = latents["strength"], latents["inclusion"]
        alpha, gamma = float(latents["alpha"]), float(latents["gamma"])
        density = np.log(alpha) - np.log(inclusion) + (gamma - 1.0) * np.log(strength) - strength
        nothing_else = -alpha * _expected_topics(gamma, latents["lengths"].size)
        return float(np.sum(density - gammaln(gamma))) + nothing_else

    def draw_topics(
        self, design: Design, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        """Serve the Indian buffet, draw numbers of tokens, and the order of a document's tokens at random."""
        n_documents = len(design.doc_lengths)
        is_on = _indian_buffet(float(hyper["alpha"]), n_documents, rng)
        strength = rng.gamma(float(hyper["gamma"]), size=is_on.shape[1])
        counts = rng.poisson(rng.gamma(np.where(is_on, strength, 1.0)) * is_on)
        labels = [rng.permutation(np.repeat(np.arange(strength.size), row)) for row in counts]
        z, used = by_first_appearance(np.concatenate([*labels, np.zeros(0, np.int64)]))
        n_on = is_on[:, used].sum(axis=0)
        return {
            "z": z,
            "lengths": counts.sum(axis=1),
            "strength": strength[used],
            "inclusion": rng.beta(n_on, 1.0 + n_documents - n_on),
        }

    def resample_data(self, latents: Latents, design: Design, rng: np.random.Generator) -> Corpus:
        """Draw new words; the lengths stay those of ``z``, whatever `design` says."""
        return super().resample_data(latents, replace(design, doc_lengths=latents["lengths"]), rng)

    def unseated(self, corpus: Corpus) -> Latents:
        """No token has a topic."""
        nothing = np.zeros(0)
        z = np.full(corpus.n_tokens, -1)
        return {"z": z, "lengths": corpus.doc_lengths, "strength": nothing, "inclusion": nothing}

    def log_marginal(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        """Log probability of topics, lengths and words; see `Model.log_marginal`.

        Notes
        -----
        A topic that s of M documents have contributes
        ``alpha E[prod_d (phi)_{n_d} 2^(-s phi) int pi^(s-1) (1 - pi + pi 2^-phi)^(M-s) dpi]``. The power is a
        binomial sum over the other documents where the topic is on, the product a polynomial in phi, and
        ``E[phi^m 2^(-j phi)] = Γ(gamma + m) / Γ(gamma) (1 + j log 2)^(-gamma - m)``.
        """
        alpha, gamma = float(hyper["alpha"]), float(hyper["gamma"])
        counts = doc_topic_counts(z, corpus, int(z.max(initial=-1)) + 1)
        out = _log_of_lengths(corpus) - alpha * _expected_topics(gamma, corpus.n_documents)
        for column in counts.T:
            roots = np.concatenate([-np.arange(n) for n in column])
            coefficient = polynomial.polyfromroots(roots)
            m = np.flatnonzero(coefficient)
            having = np.count_nonzero(column)
            on = np.arange(having, column.size + 1)
            log_beta = (
                gammaln(column.size - having + 1)
                - gammaln(on - having + 1)
                + gammaln(on)
                - gammaln(column.size + 1)
            )
            log_moment = gammaln(gamma + m) - gammaln(gamma) + np.log(coefficient[m])
            terms = log_beta[:, None] + log_moment - (gamma + m) * np.log1p(on * LOG2)[:, None]
            out += np.log(alpha) + float(logsumexp(terms))
        return out + self.log_likelihood({"z": z, **hyper}, corpus)

    def assignments(self, corpus: Corpus) -> Iterator[np.ndarray]:
        """All partitions of the tokens."""
        return restricted_growth_strings(corpus.n_tokens)

    def frozen_topics(self, latents: Latents, corpus: Corpus) -> FrozenTopics:
        """See `Model.frozen_topics`; each topic is on in a new document with its own probability.

        The topics without tokens are one that is always on, of their expected strength.
        """
        eta = float(latents["eta"])
        z, n_topics = latents["z"], latents["strength"].size
        counts = np.zeros((n_topics + 1, corpus.n_words))
        np.add.at(counts, (z, corpus.words), 1)
        words = (counts + eta) / (counts.sum(axis=1, keepdims=True) + corpus.n_words * eta)
        # One more document, which has no token yet: no factor 2^-phi, hence j from 0 to M.
        alpha, gamma = float(latents["alpha"]), float(latents["gamma"])
        j = np.arange(corpus.n_documents + 1)
        rest = alpha * gamma * np.mean((1.0 + j * LOG2) ** (-gamma - 1.0))
        return FrozenTopics(
            words, np.append(latents["strength"], rest)[None], np.append(latents["inclusion"], 1.0)[None]
        )

    @classmethod
    def kernels_of(cls, toolbox: ModuleType) -> dict[str, Kernel]:
        """See `Model.kernels_of`."""
        focused = import_module(f"{toolbox.__name__}.focused")

        def load(latents: Latents, corpus: Corpus, model: Focused) -> FocusedState:
            return focused.make_state(
                corpus.words,
                corpus.doc_ptr,
                corpus.n_words,
                latents["z"],
                latents["strength"],
                latents["inclusion"],
                {name: latents[name] for name in ("alpha", "gamma", "eta")},
                prior_arrays(model),
            )

        def make(sweep: Callable[..., bool], exact: bool, about: str) -> Kernel:
            def step(rng: np.random.Generator, state: FocusedState) -> FocusedState:
                while not sweep(rng, state):
                    state = focused.with_room(state)
                return state

            return Kernel(load, step, _snapshot, focused.check, sweep, exact, about)

        return {
            "exact": make(
                focused.exact_sweep, True, "collapsed Gibbs; a token costs as much as there are topics"
            ),
            "taylor": make(focused.taylor_sweep, False, "tokens drawn from an expectation that is expanded"),
        }

    def numpyro(self, corpus: Corpus, truncation: int) -> Callable[[], None]:
        """See `Model.numpyro`."""
        raise NotImplementedError

    def stan_data(self, corpus: Corpus, truncation: int) -> dict[str, Any]:
        """See `Model.stan_data`."""
        raise NotImplementedError

    @property
    def reference_parameters(self) -> tuple[str, ...]:
        """See `Model.reference_parameters`."""
        return ("theta", "phi", "strength", "inclusion", "alpha", "gamma", "eta")

    def reference_latents(
        self, draw: Mapping[str, np.ndarray], corpus: Corpus, rng: np.random.Generator
    ) -> Latents:
        """See `Model.reference_latents`."""
        labels = draw_categorical(draw["theta"][corpus.doc_of] * draw["phi"].T[corpus.words], rng)
        z, used = by_first_appearance(labels)
        return {
            "z": z,
            "lengths": corpus.doc_lengths,
            "strength": draw["strength"][used],
            "inclusion": draw["inclusion"][used],
        } | {name: np.asarray(draw[name]) for name in self.hyperparameters()}


def _log_of_lengths(corpus: Corpus) -> float:
    """``log prod_d 2^-n_d / n_d!``: what is left of the negative binomials, and of the order of tokens."""
    return float(-corpus.n_tokens * LOG2 - np.sum(gammaln(corpus.doc_lengths + 1.0)))


def _mass_of_new(alpha: float, gamma: float, n_documents: int) -> float:
    """Weight of all topics without a token for one more token in one of the documents."""
    j = np.arange(1, n_documents + 1)
    return float(alpha * gamma * np.mean((1.0 + j * LOG2) ** (-gamma - 1.0)))


def _expected_topics(gamma: float, n_documents: int) -> float:
    """``int dpi / pi E[1 - (1 - pi + pi 2^-phi)^M]``: topics that have a token, for alpha = 1."""
    j = np.arange(1, n_documents + 1)
    return float(np.sum(-np.expm1(-gamma * np.log1p(j * LOG2)) / j))


def _indian_buffet(alpha: float, n_documents: int, rng: np.random.Generator) -> np.ndarray:
    """Which topics are on, bool (D, topics): each document in turn (Griffiths and Ghahramani 2006)."""
    n_on = np.zeros(0)
    rows = []
    for d in range(1, n_documents + 1):
        row = np.append(rng.random(n_on.size) * d < n_on, np.ones(rng.poisson(alpha / d), bool))
        n_on = np.append(n_on, np.zeros(row.size - n_on.size)) + row
        rows.append(row)
    return np.array([np.append(row, np.zeros(n_on.size - row.size, bool)) for row in rows], bool).reshape(
        n_documents, n_on.size
    )


def _snapshot(state: FocusedState) -> Latents:
    k = int(state.topics.n_topics[0])
    return {
        "z": state.tokens.topic.astype(np.int64),
        "lengths": np.diff(state.tokens.doc_ptr),
        "strength": state.documents.strength[:k].copy(),
        "inclusion": state.documents.inclusion[:k].copy(),
        "alpha": np.array(state.documents.alpha[0]),
        "gamma": np.array(state.documents.gamma[0]),
        "eta": np.array(state.topics.eta[0]),
    }


Focused.kernels = Focused.kernels_of(kernels)

"""Cross-collection latent Dirichlet allocation (Paul 2009; Paul and Girju 2009)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, override

import numpy as np
from scipy.special import betaln, gammaln

from ...kernels.lda import cclda as sweeps
from ...kernels.lda.cclda import CcldaState
from ...kernels.toolbox import sides
from ..contract import (
    Card,
    Design,
    Equation,
    Gamma,
    Hyperparameter,
    Kernel,
    Latents,
    Probes,
    Quantities,
    Reference,
    Room,
    WordCounts,
)
from ..corpus import Corpus
from ..families.lda import reference
from ..families.lda.family import FiniteFamily, collections_of
from ..settings import option, setting
from ..toolbox.draws import draw_categorical, draw_words
from ..toolbox.laws import log_sequences
from ..toolbox.stan_data import stan_priors


@dataclass(frozen=True)
class Cclda(FiniteFamily):
    """Several collections with the same topics, each of which has shared words and words of a collection.

    Latents: ``z`` (N,), ``own`` (N,), ``alpha`` (G,), ``eta``, ``delta``, ``gamma0``, ``gamma1``. ``own``
    is 1 where a token's word is from its collection's own words of the topic, 0 where from the shared ones.

    Parameters
    ----------
    n_topics : int
        K.
    alpha : float or Gamma
        Dirichlet parameter of a document's proportions, a topic; each collection has its own, all under this
        prior.
    eta : float or Gamma
        Dirichlet parameter of a topic's shared words, a word.
    delta : float or Gamma
        Dirichlet parameter of a collection's own words of a topic, a word.
    gamma0, gamma1 : float or Gamma
        Beta parameters of how often words of a topic are shared and how often they are its collection's own.
    """

    card: ClassVar[Card] = Card(
        id="cclda",
        title="Cross-collection latent Dirichlet allocation",
        summary="Collections have the same topics; a topic's words are shared or a collection's own.",
        citation=(
            "M. J. Paul. Cross-collection topic models: automatically comparing and contrasting text. "
            "Bachelor's thesis, University of Illinois at Urbana-Champaign, 2009. "
            "M. Paul and R. Girju. Cross-cultural analysis of blogs and forums with mixed-collection topic "
            "models. Conference on Empirical Methods in Natural Language Processing, pages 1408-1417, 2009."
        ),
        source="Paul (2009); Paul & Girju (2009)",
        bibtex_key="paul2009cross",
        equations=(
            Equation("generative process", r"\theta_d \sim \mathrm{Dir}_K(\alpha_{g(d)})", "proportions"),
            Equation("generative process", r"\phi_k \sim \mathrm{Dir}_V(\eta)", "shared words of a topic"),
            Equation(
                "generative process",
                r"\sigma_{gk} \sim \mathrm{Dir}_V(\delta)",
                "a collection's own words of a topic",
            ),
            Equation(
                "generative process",
                r"\psi_{gk} \sim \mathrm{Beta}(\gamma_1, \gamma_0)",
                "how often a word is the collection's own",
            ),
            Equation(
                "generative process",
                r"z_i \sim \theta_{d(i)},\quad s_i \sim \mathrm{Bernoulli}(\psi_{g z_i}),\quad "
                r"w_i \sim \phi_{z_i}\ (s_i = 0),\quad \sigma_{g z_i}\ (s_i = 1)",
                "topic, origin and word of a token of collection g",
            ),
        ),
        errata=(
            "The sources fix hyperparameters by hand; here each may have a prior, and every collection has "
            "an alpha of its own.",
        ),
        tags=("parametric", "several collections"),
    )

    n_topics: int = option(10, small=2, benchmark=100)
    alpha: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.7, benchmark=0.1)
    eta: Hyperparameter = setting(Gamma(1.0, 10.0), fixed=0.5, prior=Gamma(2.0, 3.0), benchmark=0.01)
    delta: Hyperparameter = setting(Gamma(1.0, 10.0), fixed=0.4, prior=Gamma(1.5, 3.0), benchmark=0.02)
    gamma0: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=1.5, prior=Gamma(3.0, 1.5), benchmark=1.0)
    gamma1: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.8, prior=Gamma(1.5, 2.0), benchmark=1.0)

    @property
    @override
    def has_versions(self) -> bool:
        return True

    @property
    @override
    def dimensions(self) -> Mapping[str, tuple[str, ...]]:
        return {"own": ("token",), "alpha": ("collection",)}

    @override
    def range_of_tokens(self, name: str, corpus: Corpus) -> tuple[int, int | np.ndarray]:
        """See `Model.range_of_tokens`; a word is shared, or the collection's own."""
        return (0, 1) if name == "own" else super().range_of_tokens(name, corpus)

    @override
    def memory_of_chain(self, corpus: Corpus, variant: str | None = None) -> dict[str, int]:
        """See `Model.memory_of_chain`; counts of all words are dense."""
        counts = 4 * (1 + corpus.n_groups) * corpus.n_words * self.n_topics
        return super().memory_of_chain(corpus, variant) | {"counts of words": counts}

    def hyperparameter_size(self, name: str, design: Design) -> int | None:
        """One alpha a collection."""
        return design.n_groups if name == "alpha" else None

    def groups(self, group: np.ndarray | None, n_documents: int) -> np.ndarray:
        """Return the collections of the documents; raise an error where the corpus has none."""
        return collections_of(self.card.id, group)

    def draw_topics(
        self, design: Design, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        """Draw topics as LDA does, and then whether words are shared or own."""
        latents = super().draw_topics(design, hyper, rng)
        shape = (design.n_groups, self.n_topics)
        psi = rng.beta(float(hyper["gamma1"]), float(hyper["gamma0"]), shape)
        group = np.repeat(self.groups(design.group, len(design.doc_lengths)), design.doc_lengths)
        return latents | {"own": (rng.random(group.size) < psi[group, latents["z"]]).astype(np.int64)}

    @override
    def resample_data(self, latents: Latents, design: Design, rng: np.random.Generator) -> Corpus:
        """See `Model.resample_data`; origins stay as they are, too."""
        group = np.repeat(self.groups(design.group, len(design.doc_lengths)), design.doc_lengths)
        own = latents["own"] == 1
        words = np.empty(own.size, np.int32)
        for chosen, cell, name in (
            (~own, latents["z"], "eta"),
            (own, group * self.n_topics + latents["z"], "delta"),
        ):
            n_cells = self.n_topics * design.n_groups
            words[chosen] = draw_words(cell[chosen], n_cells, design.n_words, float(latents[name]), rng)
        return design.corpus(words)

    @override
    def unseated(self, corpus: Corpus) -> Latents:
        return super().unseated(corpus) | {"own": np.zeros(corpus.n_tokens, np.int64)}

    @override
    def documents_started(
        self, labels: np.ndarray, hyper: Mapping[str, np.ndarray], corpus: Corpus
    ) -> Latents:
        """See `CollapsedTopicModel.documents_started`; all words are shared."""
        return super().documents_started(labels, hyper, corpus) | {"own": np.zeros(corpus.n_tokens, np.int64)}

    def log_assignments(self, latents: Latents, corpus: Corpus) -> float:
        """Log probability of ``z`` and ``own``, all proportions integrated out."""
        cell = corpus.group_of_doc[corpus.doc_of] * self.n_topics + latents["z"]
        size = corpus.n_groups * self.n_topics
        shared, own = (np.bincount(cell[latents["own"] == s], minlength=size) for s in (0, 1))
        return super().log_assignments(latents, corpus) + float(
            np.sum(self._log_origins(shared, own, latents))
        )

    def _log_origins(
        self, shared: np.ndarray, own: np.ndarray, hyper: Mapping[str, np.ndarray]
    ) -> np.ndarray:
        """Log probability that words of a collection's topic are shared and own, in a given order."""
        gamma0, gamma1 = float(hyper["gamma0"]), float(hyper["gamma1"])
        return betaln(gamma1 + own, gamma0 + shared) - betaln(gamma1, gamma0)

    @override
    def log_likelihood(self, latents: Latents, corpus: Corpus) -> float:
        """See `Model.log_likelihood`; given origins, too."""
        z, own = latents["z"], latents["own"] == 1
        cell = corpus.group_of_doc[corpus.doc_of] * self.n_topics + z
        return sum(
            log_sequences(cells, words, np.full(corpus.n_words, float(latents[name])))
            for cells, words, name in (
                (z[~own], corpus.words[~own], "eta"),
                (cell[own], corpus.words[own], "delta"),
            )
        )

    @override
    def log_marginal(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        """See `Model.log_marginal`; given topics, origins are independent from topic to topic.

        In a topic it matters only how many tokens of each collection and word are shared, of which any may
        be: every such split is enumerated.
        """
        out = super().log_assignments({"z": z, **hyper}, corpus)
        group = corpus.group_of_doc[corpus.doc_of]
        for k in np.unique(z):
            count = np.zeros((corpus.n_groups, corpus.n_words), np.int64)
            np.add.at(count, (group[z == k], corpus.words[z == k]), 1)
            shared = np.array(
                [np.reshape(s, count.shape) for s in product(*(range(n + 1) for n in count.ravel().tolist()))]
            )
            own = count - shared
            ways = gammaln(count + 1) - gammaln(shared + 1) - gammaln(own + 1)
            terms = (
                ways.sum((1, 2))
                + self._log_origins(shared.sum(2), own.sum(2), hyper).sum(1)
                + _log_dirichlet_multinomial(shared.sum(1), float(hyper["eta"]))
                + _log_dirichlet_multinomial(own, float(hyper["delta"])).sum(1)
            )
            out += float(np.logaddexp.reduce(terms))
        return out

    @override
    def word_probabilities(self, latents: Latents, corpus: Corpus, words: np.ndarray) -> np.ndarray:
        """See `CollapsedTopicModel.word_probabilities`; shared and own words mixed, float (G, K, W)."""
        z, own = latents["z"], latents["own"]
        slab = np.where(own == 1, 1 + corpus.group_of_doc[corpus.doc_of], 0)
        count = np.zeros((1 + corpus.n_groups, self.n_topics, corpus.n_words), np.int64)
        np.add.at(count, (slab, z, corpus.words), 1)
        total = count.sum(axis=2, keepdims=True)
        eta, delta = float(latents["eta"]), float(latents["delta"])
        shared = (count[:1, :, words] + eta) / (total[:1] + corpus.n_words * eta)
        mine = (count[1:, :, words] + delta) / (total[1:] + corpus.n_words * delta)
        is_own = self.share_of_own(latents, corpus)[..., None]
        return (1.0 - is_own) * shared + is_own * mine

    def share_of_own(self, latents: Latents, corpus: Corpus) -> np.ndarray:
        """Probability that the next word of a topic is its collection's own, float (G, K)."""
        gamma0, gamma1 = float(latents["gamma0"]), float(latents["gamma1"])
        tokens = np.zeros((2, corpus.n_groups, self.n_topics))
        np.add.at(tokens, (latents["own"], corpus.group_of_doc[corpus.doc_of], latents["z"]), 1)
        return (tokens[1] + gamma1) / (tokens.sum(axis=0) + gamma0 + gamma1)

    @override
    def quantities(
        self,
        latents: Latents,
        corpus: Corpus,
        probes: Probes | None = None,
        counts: WordCounts | None = None,
    ) -> Quantities:
        """See `CollapsedTopicModel.quantities`; besides, ``share_own``, of all tokens."""
        share = latents["own"].mean() if corpus.n_tokens else 0.0
        return super().quantities(latents, corpus, probes, counts) | {"share_own": np.asarray(share, float)}

    @override
    def kernels_in(self, room: Room) -> dict[str, Kernel]:
        cclda, own_sides = room(sweeps), room(sides)

        def load(latents: Latents, corpus: Corpus, model: Cclda) -> CcldaState:
            group = model.groups(corpus.group, corpus.n_documents)
            tokens = own_sides.tokens_of(corpus.words, corpus.doc_ptr, group, latents["z"])
            return cclda.make_state(
                tokens, corpus.n_groups, corpus.n_words, model.n_topics, latents, model.prior_arrays()
            )

        def step(rng: np.random.Generator, state: CcldaState) -> CcldaState:
            cclda.sweep(rng, state)
            return state

        about = "collapsed Gibbs; a token costs as much as there are topics"
        return {"dense": Kernel(load, step, _snapshot, cclda.check, cclda.sweep, about=about)}

    @property
    @override
    def reference(self) -> Reference:
        return Reference(
            parameters=("theta", "phi", "sigma", "psi", *self.hyperparameters()),
            numpyro=self._numpyro,
            stan_program="cclda",
            stan_data=self._stan_data,
            latents=self._latents_at,
            needs_truncation=False,
        )

    def _numpyro(self, corpus: Corpus, truncation: int) -> Callable[[], None]:
        group = self.groups(corpus.group, corpus.n_documents)
        return reference.cclda(corpus.counts(), group, corpus.n_groups, self.n_topics, self.hyperparameters())

    def _stan_data(self, corpus: Corpus, truncation: int) -> dict[str, Any]:
        group = self.groups(corpus.group, corpus.n_documents)
        return reference.stan_data(corpus, group, self.n_topics) | stan_priors(self)

    def _latents_at(
        self, draw: Mapping[str, np.ndarray], corpus: Corpus, rng: np.random.Generator
    ) -> Latents:
        group = self.groups(corpus.group, corpus.n_documents)[corpus.doc_of]
        theta, psi = draw["theta"][corpus.doc_of], draw["psi"][group]
        shared = (1.0 - psi) * draw["phi"][:, corpus.words].T
        own = psi * draw["sigma"][group, :, corpus.words]
        outcome = draw_categorical(np.hstack([theta * shared, theta * own]), rng)
        return {"z": outcome % self.n_topics, "own": outcome // self.n_topics} | {
            name: np.asarray(draw[name]) for name in self.hyperparameters()
        }


def _log_dirichlet_multinomial(count: np.ndarray, shape: float) -> np.ndarray:
    """Log probability of words in a given order, by their counts (…, V)."""
    total = shape * count.shape[-1]
    words = np.sum(gammaln(shape + count) - gammaln(shape), axis=-1)
    return words + gammaln(total) - gammaln(total + count.sum(axis=-1))


def _snapshot(state: CcldaState) -> Latents:
    topics = state.topics
    return {
        "z": state.tokens.topic.astype(np.int64),
        "own": topics.own.copy(),
        "alpha": state.documents.alpha.copy(),
    } | {name: np.array(getattr(topics, name)[0]) for name in ("eta", "delta", "gamma0", "gamma1")}

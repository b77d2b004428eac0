"""Latent Dirichlet allocation (Blei, Ng and Jordan 2003)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from itertools import product
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from ... import kernels
from ...kernels.lda import LdaState
from .. import references
from ..collapsed import (
    CollapsedTopicModel,
    draw_categorical,
    prior_arrays,
)
from ..contract import Card, Design, Equation, Gamma, Hyperparameter, Kernel, Latents
from ..corpus import Corpus


@dataclass(frozen=True)
class Lda(CollapsedTopicModel):
    """A fixed number of topics, symmetric Dirichlet priors on both sides.

    Latents: ``z`` (N,), ``alpha``, ``eta``.

    Parameters
    ----------
    n_topics : int
        K.
    alpha : float or Gamma
        Dirichlet parameter of a document's proportions, a topic.
    eta : float or Gamma
        Dirichlet parameter of a topic's word distribution, a word.
    """

    card: ClassVar[Card] = Card(
        id="lda",
        title="Latent Dirichlet allocation",
        summary="A fixed number of topics; every document mixes them in its own proportions.",
        citation=(
            "D. M. Blei, A. Y. Ng and M. I. Jordan. Latent Dirichlet allocation. "
            "Journal of Machine Learning Research 3:993-1022, 2003."
        ),
        bibtex_key="blei2003latent",
        equations=(
            Equation("Section 3", r"\theta_d \sim \mathrm{Dir}_K(\alpha)", "topic proportions of a document"),
            Equation("Section 5.4", r"\phi_k \sim \mathrm{Dir}_V(\eta)", "word distribution of a topic"),
            Equation(
                "Section 3", r"z_i \sim \theta_{d(i)},\quad w_i \sim \phi_{z_i}", "topic and word of a token"
            ),
        ),
        tags=("parametric", "single corpus"),
        evidence=("joint", "oracle", "geweke", "sequential", "sbc", "reference"),
    )
    kernels: ClassVar[Mapping[str, Kernel]]

    n_topics: int = field(default=10, metadata={"hyper": False, "small": 3})
    alpha: Hyperparameter = Gamma(1.0, 1.0)
    eta: Hyperparameter = Gamma(1.0, 10.0)

    def __post_init__(self):
        if self.n_topics < 1:
            raise ValueError(f"n_topics: expected at least 1, found {self.n_topics}")
        self.check_hyperparameters()

    def document_prior(self, latents: Latents, corpus: Corpus) -> np.ndarray:
        """Alpha for every topic, and nothing beside them."""
        return np.append(np.full(self.n_topics, float(latents["alpha"])), 0.0)[None]

    def log_sticks(self, latents: Latents) -> float:
        """Zero: there are no sticks."""
        return 0.0

    def draw_topics(
        self, design: Design, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        """Draw proportions and from them the topics of the tokens."""
        alpha = np.full(self.n_topics, float(hyper["alpha"]))
        z: list[np.ndarray] = []
        for length in design.doc_lengths:
            log_weight = np.log(rng.gamma(alpha + 1.0)) - rng.exponential(size=alpha.size) / alpha
            theta = np.exp(log_weight - log_weight.max())
            z.append(rng.choice(self.n_topics, size=length, p=theta / theta.sum()))
        return {"z": np.concatenate([*z, np.zeros(0, np.int64)])}

    def unseated(self, corpus: Corpus) -> Latents:
        """No token has a topic."""
        return {"z": np.full(corpus.n_tokens, -1)}

    def log_marginal(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        """See `Model.log_marginal`."""
        latents = {"z": z, **hyper}
        return self.log_assignments(latents, corpus) + self.log_likelihood(latents, corpus)

    def assignments(self, corpus: Corpus) -> Iterator[np.ndarray]:
        """All K^N topics of the tokens."""
        for z in product(range(self.n_topics), repeat=corpus.n_tokens):
            yield np.array(z, np.int64)

    @classmethod
    def kernels_of(cls, toolbox: ModuleType) -> dict[str, Kernel]:
        """See `Model.kernels_of`."""
        lda = import_module(f"{toolbox.__name__}.lda")

        def load(latents: Latents, corpus: Corpus, model: Lda) -> LdaState:
            priors = prior_arrays(model)
            return lda.make_state(
                corpus.words,
                corpus.doc_ptr,
                corpus.n_words,
                model.n_topics,
                latents["z"],
                latents["alpha"],
                latents["eta"],
                priors["alpha"],
                priors["eta"],
            )

        def make(sweep: Callable[..., None], about: str) -> Kernel:
            def step(rng: np.random.Generator, state: LdaState) -> LdaState:
                sweep(rng, state)
                return state

            return Kernel(load, step, _snapshot, lda.check, sweep, about=about)

        return {
            "sparse": make(lda.sparse_sweep, "collapsed Gibbs; a token costs as much as its non-zero counts"),
            "dense": make(lda.dense_sweep, "collapsed Gibbs; a token costs as much as there are topics"),
        }

    def numpyro(self, corpus: Corpus, truncation: int) -> Callable[[], None]:
        """See `Model.numpyro`; the model is finite, so that `truncation` plays no part."""
        return references.lda(corpus.counts(), self.n_topics, self.alpha, self.eta)

    def stan_data(self, corpus: Corpus, truncation: int) -> dict[str, Any]:
        """See `Model.stan_data`."""
        return references.stan_counts(corpus) | {"K": self.n_topics} | references.stan_priors(self)

    @property
    def reference_parameters(self) -> tuple[str, ...]:
        """See `Model.reference_parameters`."""
        return ("theta", "phi", "alpha", "eta")

    def reference_latents(
        self, draw: Mapping[str, np.ndarray], corpus: Corpus, rng: np.random.Generator
    ) -> Latents:
        """See `Model.reference_latents`."""
        z = draw_categorical(draw["theta"][corpus.doc_of] * draw["phi"].T[corpus.words], rng)
        return {"z": z, "alpha": np.asarray(draw["alpha"]), "eta": np.asarray(draw["eta"])}


def _snapshot(state: LdaState) -> Latents:
    return {
        "z": state.tokens.topic.astype(np.int64),
        "alpha": np.array(state.documents.alpha[0]),
        "eta": np.array(state.topics.eta[0]),
    }


Lda.kernels = Lda.kernels_of(kernels)

"""Latent Dirichlet allocation (Blei, Ng and Jordan 2003)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, override

import numpy as np

from ...kernels.toolbox.sides import State
from ..contract import Card, Equation, Gamma, Hyperparameter, Kernel, Latents, Reference, Room
from ..corpus import Corpus
from ..families.lda import reference
from ..families.lda.family import FiniteFamily
from ..families.lda.kernels import common_snapshot, lda_kernels
from ..settings import option, setting
from ..toolbox.draws import draw_categorical
from ..toolbox.stan_data import stan_counts, stan_priors


@dataclass(frozen=True)
class Lda(FiniteFamily):
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
        source="Blei, Ng & Jordan (2003)",
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

    n_topics: int = option(10, small=3, benchmark=100)
    alpha: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.7, benchmark=0.1)
    eta: Hyperparameter = setting(Gamma(1.0, 10.0), fixed=0.5, benchmark=0.01)

    def groups(self, group: np.ndarray | None, n_documents: int) -> np.ndarray:
        """One group: the model does not look at the corpus' own."""
        return np.zeros(n_documents, np.int32)

    @override
    def kernels_in(self, room: Room) -> dict[str, Kernel]:
        return lda_kernels(room, _snapshot)

    @property
    @override
    def reference(self) -> Reference:
        return Reference(
            parameters=("theta", "phi", "alpha", "eta"),
            numpyro=self._numpyro,
            stan_program="lda",
            stan_data=self._stan_data,
            latents=self._latents_at,
            needs_truncation=False,
        )

    def _numpyro(self, corpus: Corpus, truncation: int) -> Callable[[], None]:
        return reference.lda(corpus.counts(), self.n_topics, self.alpha, self.eta)

    def _stan_data(self, corpus: Corpus, truncation: int) -> dict[str, Any]:
        return stan_counts(corpus) | {"K": self.n_topics} | stan_priors(self)

    def _latents_at(
        self, draw: Mapping[str, np.ndarray], corpus: Corpus, rng: np.random.Generator
    ) -> Latents:
        z = draw_categorical(draw["theta"][corpus.doc_of] * draw["phi"].T[corpus.words], rng)
        return {"z": z, "alpha": np.asarray(draw["alpha"]), "eta": np.asarray(draw["eta"])}


def _snapshot(state: State) -> Latents:
    latents = common_snapshot(state)
    return latents | {"alpha": latents["alpha"][0]}

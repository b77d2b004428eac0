"""Latent Dirichlet allocation of each collection by itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, override

import numpy as np

from ..contract import Card, Design, Equation, Gamma, Hyperparameter, Kernel, Latents, Reference, Room
from ..corpus import Corpus
from ..families.lda import reference
from ..families.lda.family import FiniteFamily, collections_of
from ..families.lda.kernels import common_snapshot, lda_kernels
from ..settings import option, setting
from ..toolbox.draws import draw_categorical
from ..toolbox.stan_data import stan_priors


@dataclass(frozen=True)
class GroupLda(FiniteFamily):
    """LDA of several collections, each with topics of its own: the baseline that shares nothing.

    Topic k of collection g has number ``g * n_topics + k``.

    Latents: ``z`` (N,), ``alpha`` (G,), ``eta``.

    Parameters
    ----------
    n_topics : int
        K, of each collection.
    alpha : float or Gamma
        Dirichlet parameter of a document's proportions, a topic; each collection has its own, all under this
        prior.
    eta : float or Gamma
        Dirichlet parameter of a topic's word distribution, a word.
    """

    card: ClassVar[Card] = Card(
        id="group_lda",
        title="Latent Dirichlet allocation of each collection by itself",
        summary="Each collection has a fixed number of topics of its own; a baseline for models that share.",
        citation=(
            "D. M. Blei, A. Y. Ng and M. I. Jordan. Latent Dirichlet allocation. "
            "Journal of Machine Learning Research 3:993-1022, 2003. As a baseline in C. Chen, W. Buntine, "
            "N. Ding, L. Xie and L. Du. Differential topic models. IEEE Transactions on Pattern Analysis and "
            "Machine Intelligence 37(2):230-242, 2015."
        ),
        source="Blei, Ng & Jordan (2003)",
        bibtex_key="chen2015differential",
        equations=(
            Equation("Section 3", r"\theta_{gd} \sim \mathrm{Dir}_K(\alpha_g)", "proportions of a document"),
            Equation("Section 5.4", r"\phi_{gk} \sim \mathrm{Dir}_V(\eta)", "words of a collection's topic"),
            Equation(
                "Section 3",
                r"z_i \sim \theta_{d(i)},\quad w_i \sim \phi_{g(i), z_i}",
                "topic and word of a token",
            ),
        ),
        tags=("parametric", "several collections"),
        evidence=("joint", "oracle", "geweke", "sequential", "sbc", "reference"),
    )

    n_topics: int = option(10, small=2, benchmark=100)
    alpha: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.7, benchmark=0.1)
    eta: Hyperparameter = setting(Gamma(1.0, 10.0), fixed=0.5, benchmark=0.01)

    def hyperparameter_size(self, name: str, design: Design) -> int | None:
        """One alpha a collection."""
        return design.n_groups if name == "alpha" else None

    def groups(self, group: np.ndarray | None, n_documents: int) -> np.ndarray:
        """Return the collections of the documents; raise an error where the corpus has none."""
        return collections_of(self.card.id, group)

    def may_have(self, n_groups: int) -> np.ndarray:
        """K topics of its own for each collection, bool (G, G K)."""
        return np.repeat(np.eye(n_groups, dtype=bool), self.n_topics, axis=1)

    @override
    def kernels_in(self, room: Room) -> dict[str, Kernel]:
        return lda_kernels(room, common_snapshot)

    @property
    @override
    def reference(self) -> Reference:
        return Reference(
            parameters=("theta", "phi", "alpha", "eta"),
            numpyro=self._numpyro,
            stan_program="group_lda",
            stan_data=self._stan_data,
            latents=self._latents_at,
            needs_truncation=False,
        )

    def _numpyro(self, corpus: Corpus, truncation: int) -> Callable[[], None]:
        group = self.groups(corpus.group, corpus.n_documents)
        return reference.group_lda(
            corpus.counts(), group, corpus.n_groups, self.n_topics, self.alpha, self.eta
        )

    def _stan_data(self, corpus: Corpus, truncation: int) -> dict[str, Any]:
        group = self.groups(corpus.group, corpus.n_documents)
        return reference.stan_data(corpus, group, self.n_topics) | stan_priors(self)

    def _latents_at(
        self, draw: Mapping[str, np.ndarray], corpus: Corpus, rng: np.random.Generator
    ) -> Latents:
        group = self.groups(corpus.group, corpus.n_documents)[corpus.doc_of]
        weights = draw["theta"][corpus.doc_of] * draw["phi"][group, :, corpus.words]
        z = group * self.n_topics + draw_categorical(weights, rng)
        return {"z": z} | {name: np.asarray(draw[name]) for name in ("alpha", "eta")}

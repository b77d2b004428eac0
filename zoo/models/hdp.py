"""The hierarchical Dirichlet process topic model (Teh, Jordan, Beal and Blei 2006)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, override

import numpy as np

from ...kernels.toolbox.sides import State
from ..contract import Card, Equation, Gamma, Hyperparameter, Kernel, Latents, Reference, Room
from ..corpus import Corpus
from ..families.hdp import reference
from ..families.hdp.family import HdpFamily
from ..families.hdp.kernels import common_snapshot, hdp_kernels
from ..families.hdp.sticks import log_gem
from ..settings import setting
from ..toolbox.stan_data import stan_counts, stan_priors


@dataclass(frozen=True)
class Hdp(HdpFamily):
    """As many topics as the corpus needs, shared by all documents.

    Latents: ``z`` (N,), ``root`` (K + 1,), ``alpha``, ``gamma``, ``eta``. The last entry of ``root`` is the
    weight of all topics without tokens.

    Parameters
    ----------
    gamma : float or Gamma
        Concentration of the root: how many topics.
    alpha : float or Gamma
        Concentration of the documents: how many of them in a document.
    eta : float or Gamma
        Dirichlet parameter of a topic's word distribution, a word.
    """

    card: ClassVar[Card] = Card(
        id="hdp",
        title="Hierarchical Dirichlet process topic model",
        summary="As many topics as the corpus needs; every document mixes them in its own proportions.",
        citation=(
            "Y. W. Teh, M. I. Jordan, M. J. Beal and D. M. Blei. Hierarchical Dirichlet processes. "
            "Journal of the American Statistical Association 101(476):1566-1581, 2006."
        ),
        source="Teh, Jordan, Beal & Blei (2006)",
        bibtex_key="teh2006hierarchical",
        equations=(
            Equation("Section 4.1", r"\beta \sim \mathrm{GEM}(\gamma)", "weights of the topics at the root"),
            Equation(
                "eq. 16", r"\theta_d \sim \mathrm{DP}(\alpha, \beta)", "topic proportions of a document"
            ),
            Equation("Section 5", r"\phi_k \sim \mathrm{Dir}_V(\eta)", "word distribution of a topic"),
            Equation(
                "Section 5.3",
                r"p(z_i = k) \propto (n_{dk} + \alpha\beta_k)\,\frac{n_{kw} + \eta}{n_k + V\eta}",
                "direct assignment, counts without token i",
            ),
        ),
        tags=("nonparametric", "single corpus"),
        evidence=("joint", "oracle", "geweke", "sequential", "sbc", "reference"),
    )

    gamma: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=1.5, reference=0.7, benchmark=1.5)
    alpha: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.8, benchmark=10.0)
    eta: Hyperparameter = setting(Gamma(1.0, 10.0), fixed=0.5, benchmark=0.01)

    def groups(self, group: np.ndarray | None, n_documents: int) -> np.ndarray:
        """One group: the model does not look at the corpus' own."""
        return np.zeros(n_documents, np.int32)

    def alpha0_of(self, hyper: Mapping[str, np.ndarray]) -> float | None:
        """None: there is no middle level."""
        return None

    def tasks_of(self, latents: Latents) -> np.ndarray:
        """Return the root: there is one group, with its sticks."""
        return latents["root"][None]

    def log_sticks(self, latents: Latents) -> float:
        """Density of the root."""
        return log_gem(latents["root"], float(latents["gamma"]))

    @override
    def kernels_in(self, room: Room) -> dict[str, Kernel]:
        return hdp_kernels(room, _snapshot)

    @property
    @override
    def reference(self) -> Reference:
        return Reference(
            parameters=("theta", "phi", "root", "gamma", "alpha", "eta"),
            numpyro=self._numpyro,
            stan_program="hdp",
            stan_data=self._stan_data,
            latents=self._latents_at,
        )

    def _numpyro(self, corpus: Corpus, truncation: int) -> Callable[[], None]:
        return reference.hdp(corpus.counts(), truncation, self.gamma, self.alpha, self.eta)

    def _stan_data(self, corpus: Corpus, truncation: int) -> dict[str, Any]:
        return stan_counts(corpus) | {"T": truncation} | stan_priors(self)


def _snapshot(state: State) -> Latents:
    latents = common_snapshot(state)
    return latents | {"alpha": latents["alpha"][0]}

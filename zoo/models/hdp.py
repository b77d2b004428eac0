"""The hierarchical Dirichlet process topic model (Teh, Jordan, Beal and Blei 2006)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, override

import numpy as np

from ...kernels.toolbox.sides import State
from ..contract import Card, Equation, Gamma, Hyperparameter, Latents
from ..corpus import Corpus
from ..families.hdp import reference
from ..families.hdp.family import HdpFamily
from ..families.hdp.sticks import log_gem
from ..families.topic_sides import WITH_BELIEF_NETWORK
from ..families.topics import Dirichlet, TopicSide
from ..settings import setting


@dataclass(frozen=True)
class Hdp(HdpFamily):
    """As many topics as the corpus needs, shared by all documents.

    Latents: ``z`` (N,), ``root`` (K + 1,), ``alpha``, ``gamma``; those of the topics, as ``eta``. The last
    entry of ``root`` is the weight of all topics without tokens.

    Parameters
    ----------
    gamma : float or Gamma
        Concentration of the root: how many topics.
    alpha : float or Gamma
        Concentration of the documents: how many of them in a document.
    topics : TopicSide
        `Dirichlet`, `PitmanYor` or `BeliefNetwork`, with hyperparameters of their own.
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
    )

    topic_sides: ClassVar[Mapping[str, TopicSide]] = WITH_BELIEF_NETWORK
    document_parameters: ClassVar[tuple[str, ...]] = ("theta", "root", "gamma", "alpha")
    stan_program: ClassVar[str] = "hdp"

    gamma: Hyperparameter = setting(
        Gamma(1.0, 1.0), fixed=1.5, prior=Gamma(3.0, 2.0), reference=0.7, benchmark=1.5
    )
    alpha: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.8, benchmark=10.0)
    topics: TopicSide = Dirichlet()

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
    def document_block(self, corpus: Corpus, n_topics: int) -> Callable[[], Any]:
        return reference.hdp(corpus.n_documents, n_topics, self.gamma, self.alpha)

    @override
    def snapshot_documents(self, state: State) -> Latents:
        latents = super().snapshot_documents(state)
        return latents | {"alpha": latents["alpha"][0]}

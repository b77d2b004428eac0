"""The multi-task hierarchical Dirichlet process topic model (Faisal et al., Section 2.3)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, override

import numpy as np

from ...kernels.toolbox.sides import State
from ..contract import Card, Design, Equation, Gamma, Hyperparameter, Latents
from ..corpus import Corpus, CorpusError
from ..families.hdp import reference
from ..families.hdp.family import HdpFamily
from ..families.hdp.sticks import log_dirichlet, log_gem
from ..families.topic_sides import WITH_BELIEF_NETWORK
from ..families.topics import Dirichlet, TopicSide
from ..settings import setting


@dataclass(frozen=True)
class MtHdp(HdpFamily):
    """Several collections (tasks) of documents that share topics through a third level.

    Latents: ``z`` (N,), ``root`` (K + 1,), ``tasks`` (C, K + 1), ``alpha`` (C,), ``alpha0``, ``gamma``; those
    of the topics, such as ``eta``. The last entry of ``root`` and of each row of ``tasks`` is the weight of
    all topics without tokens.

    Parameters
    ----------
    gamma : float or Gamma
        Concentration of the root.
    alpha0 : float or Gamma
        Concentration of the tasks: how close they are to the root.
    alpha : float or Gamma
        Concentration of the documents; each task has its own, all under this prior.
    topics : TopicSide
        `Dirichlet`, `PitmanYor` or `BeliefNetwork`, with hyperparameters of their own.
    """

    card: ClassVar[Card] = Card(
        id="mt_hdp",
        title="Multi-task hierarchical Dirichlet process topic model",
        summary="Several collections of documents that share topics through a root above them.",
        citation=(
            "A. Faisal, J. Gillberg, G. Leen and J. Peltonen. Transfer learning using a nonparametric sparse "
            "topic model. Neurocomputing 112:124-137, 2013. Section 2.3."
        ),
        source="Faisal, Gillberg, Leen & Peltonen (2013), Section 2.3",
        bibtex_key="faisal2013transfer",
        equations=(
            Equation("Section 2.3", r"\beta \sim \mathrm{GEM}(\gamma)", "weights of the topics at the root"),
            Equation(
                "Section 2.3", r"\pi_c \sim \mathrm{DP}(\alpha_0, \beta)", "weights of the topics in a task"
            ),
            Equation(
                "Section 2.3",
                r"\theta_d \sim \mathrm{DP}(\alpha_{c(d)}, \pi_{c(d)})",
                "topic proportions of a document",
            ),
            Equation("Section 2.3", r"\phi_k \sim \mathrm{Dir}_V(\eta)", "word distribution of a topic"),
        ),
        tags=("nonparametric", "several collections"),
    )

    topic_sides: ClassVar[Mapping[str, TopicSide]] = WITH_BELIEF_NETWORK
    document_parameters: ClassVar[tuple[str, ...]] = ("theta", "root", "tasks", "gamma", "alpha0", "alpha")
    stan_program: ClassVar[str] = "mt_hdp"

    gamma: Hyperparameter = setting(
        Gamma(1.0, 1.0), fixed=1.5, prior=Gamma(3.0, 2.0), reference=0.7, benchmark=1.5
    )
    alpha0: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=1.4, prior=Gamma(4.0, 3.0), benchmark=10.0)
    alpha: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.8, benchmark=10.0)
    topics: TopicSide = Dirichlet()

    def hyperparameter_size(self, name: str, design: Design) -> int | None:
        """One alpha a task."""
        return design.n_groups if name == "alpha" else None

    def groups(self, group: np.ndarray | None, n_documents: int) -> np.ndarray:
        """Tasks of the documents; an error where the corpus has none."""
        if group is None:
            raise CorpusError("mt_hdp: expected a corpus with groups (one task a group), found none")
        return group

    def alpha0_of(self, hyper: Mapping[str, np.ndarray]) -> float | None:
        """Concentration of the tasks."""
        return float(hyper["alpha0"])

    def tasks_of(self, latents: Latents) -> np.ndarray:
        """Sticks of the tasks."""
        return latents["tasks"]

    def _named(self, root: np.ndarray, tasks: np.ndarray) -> Latents:
        return {"root": root[0], "tasks": tasks}

    def log_sticks(self, latents: Latents) -> float:
        """Density of the root, and of each task given the root."""
        shapes = float(latents["alpha0"]) * latents["root"]
        return log_gem(latents["root"], float(latents["gamma"])) + sum(
            log_dirichlet(task, shapes) for task in latents["tasks"]
        )

    @override
    def document_block(self, corpus: Corpus, n_topics: int) -> Callable[[], Any]:
        rows = self.document_rows(corpus)
        return reference.mt_hdp(rows, corpus.n_groups, n_topics, self.gamma, self.alpha0, self.alpha)

    @override
    def document_data(self, corpus: Corpus) -> dict[str, Any]:
        return {"C": corpus.n_groups, "task": self.document_rows(corpus) + 1}

    @override
    def snapshot_documents(self, state: State) -> Latents:
        latents, side = super().snapshot_documents(state), state.documents
        weights = np.column_stack([side.prior[:, : len(latents["root"]) - 1], side.rest])
        return latents | {"tasks": weights / side.alpha[:, None], "alpha0": np.array(side.alpha0[0])}

"""The multi-task hierarchical Dirichlet process topic model (Faisal et al., Section 2.3)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, override

import numpy as np

from ...kernels.toolbox.sides import State
from ..contract import Card, Design, Equation, Gamma, Hyperparameter, Kernel, Latents, Reference, Room
from ..corpus import Corpus, CorpusError
from ..families.hdp import reference
from ..families.hdp.family import HdpFamily
from ..families.hdp.kernels import common_snapshot, hdp_kernels
from ..families.hdp.sticks import log_dirichlet, log_gem
from ..settings import setting
from ..toolbox.stan_data import stan_counts, stan_priors


@dataclass(frozen=True)
class MtHdp(HdpFamily):
    """Several collections (tasks) of documents that share topics through a third level.

    Latents: ``z`` (N,), ``root`` (K + 1,), ``tasks`` (C, K + 1), ``alpha`` (C,), ``alpha0``, ``gamma``,
    ``eta``. The last entry of ``root`` and of each row of ``tasks`` is the weight of all topics without
    tokens.

    Parameters
    ----------
    gamma : float or Gamma
        Concentration of the root.
    alpha0 : float or Gamma
        Concentration of the tasks: how close they are to the root.
    alpha : float or Gamma
        Concentration of the documents; each task has its own, all under this prior.
    eta : float or Gamma
        Dirichlet parameter of a topic's word distribution, a word.
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
        evidence=("joint", "oracle", "geweke", "sequential", "sbc", "reference"),
    )

    gamma: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=1.5, reference=0.7, benchmark=1.5)
    alpha0: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=1.2, benchmark=10.0)
    alpha: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.8, benchmark=10.0)
    eta: Hyperparameter = setting(Gamma(1.0, 10.0), fixed=0.5, benchmark=0.01)

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
    def kernels_in(self, room: Room) -> dict[str, Kernel]:
        return hdp_kernels(room, _snapshot)

    @property
    @override
    def reference(self) -> Reference:
        return Reference(
            parameters=("theta", "phi", "root", "tasks", "gamma", "alpha0", "alpha", "eta"),
            numpyro=self._numpyro,
            stan_program="mt_hdp",
            stan_data=self._stan_data,
            latents=self._latents_at,
        )

    def _numpyro(self, corpus: Corpus, truncation: int) -> Callable[[], None]:
        group = self.groups(corpus.group, corpus.n_documents)
        return reference.mt_hdp(
            corpus.counts(), group, corpus.n_groups, truncation, self.gamma, self.alpha0, self.alpha, self.eta
        )

    def _stan_data(self, corpus: Corpus, truncation: int) -> dict[str, Any]:
        group = self.groups(corpus.group, corpus.n_documents)
        data = {"T": truncation, "C": corpus.n_groups, "task": group + 1}
        return stan_counts(corpus) | data | stan_priors(self)


def _snapshot(state: State) -> Latents:
    latents = common_snapshot(state)
    k = len(latents["root"]) - 1
    documents = state.documents
    weights = np.column_stack([documents.prior[:, :k], documents.rest])
    return latents | {"tasks": weights / documents.alpha[:, None], "alpha0": np.array(documents.alpha0[0])}

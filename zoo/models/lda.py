"""Latent Dirichlet allocation (Blei, Ng and Jordan 2003)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, override

import numpy as np

from ...kernels.lda import documents
from ...kernels.toolbox.sides import State
from ..contract import Card, Design, Equation, Gamma, Hyperparameter, Kernel, Latents, Room
from ..corpus import Corpus
from ..families.lda import reference
from ..families.lda.blocked import IN_BLOCKS, with_blocks
from ..families.lda.family import LdaFamily
from ..families.lda.seeded import Seeded
from ..families.topic_sides import WITH_BELIEF_NETWORK
from ..families.topics import Dirichlet, TopicSide
from ..settings import option, setting


@dataclass(frozen=True)
class Lda(LdaFamily):
    """A fixed number of topics.

    Latents: ``z`` (N,), ``alpha``, or ``alpha`` (K,) unless symmetric; those of the topics, such as ``eta``.

    Parameters
    ----------
    n_topics : int
        K.
    alpha : float or Gamma
        Dirichlet parameter of a document's proportions, a topic.
    topics : TopicSide
        `Dirichlet`, `PitmanYor`, `Seeded` or `BeliefNetwork`, with hyperparameters of their own.
    symmetric : bool
        Whether all topics have the same alpha; else each has its own, all under its prior [1]_.

    References
    ----------
    .. [1] H. M. Wallach, D. Mimno, A. McCallum (2009). Rethinking LDA: why priors matter. Advances in Neural
       Information Processing Systems 22.
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
    )

    topic_sides: ClassVar[Mapping[str, TopicSide]] = WITH_BELIEF_NETWORK | {Seeded.name: Seeded()}
    stan_program: ClassVar[str] = "lda"

    n_topics: int = option(10, small=2, benchmark=100)
    alpha: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.7, benchmark=0.1)
    topics: TopicSide = Dirichlet()
    symmetric: bool = True

    def __post_init__(self):
        super().__post_init__()
        self.check_truth("symmetric")
        if isinstance(self.topics, Seeded) and len(self.topics.seeds) > self.n_topics:
            raise ValueError(
                f"lda: seeds: expected at most {self.n_topics} topics, as n_topics says, "
                f"found {len(self.topics.seeds)}"
            )

    def groups(self, group: np.ndarray | None, n_documents: int) -> np.ndarray:
        """One group: the model does not look at the corpus' own."""
        return np.zeros(n_documents, np.int32)

    @override
    def hyperparameter_size(self, name: str, design: Design) -> int | None:
        """One alpha, or one a topic."""
        return self.n_topics if name == "alpha" and not self.symmetric else None

    @override
    def prior_of(self, alpha: np.ndarray) -> np.ndarray:
        return super().prior_of(alpha) if self.symmetric else np.reshape(alpha, (1, -1))

    @property
    @override
    def document_dimensions(self) -> Mapping[str, tuple[str, ...]]:
        return {"alpha": ("topic",)}

    @override
    def document_block(self, corpus: Corpus, n_topics: int) -> Callable[[], Any]:
        n_alphas = 1 if self.symmetric else n_topics
        rows = self.document_rows(corpus)
        return reference.documents(rows, n_alphas, n_topics, self.alpha, is_symmetric=self.symmetric)

    @override
    def document_data(self, corpus: Corpus) -> dict[str, Any]:
        return {"n_alphas": 1 if self.symmetric else self.n_topics}

    @override
    def documents_at(
        self, draw: Mapping[str, np.ndarray], labels: np.ndarray, corpus: Corpus
    ) -> tuple[Latents, np.ndarray]:
        latents, topics = super().documents_at(draw, labels, corpus)
        return latents | {"alpha": self._alpha_of(latents["alpha"])}, topics

    @override
    def load_documents(self, room: Room, latents: Latents, corpus: Corpus) -> Any:
        if self.symmetric:
            return super().load_documents(room, latents, corpus)
        alpha = np.reshape(latents["alpha"], (1, -1))
        return room(documents).asymmetric_documents(alpha, self.prior_arrays()["alpha"])

    @override
    def snapshot_documents(self, state: State) -> Latents:
        side = state.documents
        return {"alpha": self._alpha_of(side.alpha if self.symmetric else side.prior[0])}

    @override
    def kernels_in(self, room: Room) -> dict[str, Kernel]:
        """See `Model.kernels_in`; symmetric Dirichlet topics can also be swept in blocks."""
        found = super().kernels_in(room)
        if type(self.topics) is Dirichlet:
            found["parallel"] = with_blocks(room, self._kernel(room, IN_BLOCKS))
        return found

    def _alpha_of(self, vector: np.ndarray) -> np.ndarray:
        """Return a copy of alpha as the latents have it."""
        return np.array(vector[0]) if self.symmetric else vector.copy()

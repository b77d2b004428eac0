"""Models of responses whose documents are those of latent Dirichlet allocation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, override

import numpy as np

from ....kernels.responses import dirichlet, sweeps
from ....kernels.toolbox.sides import State
from ...contract import Gamma, Hyperparameter, Latents, Reference, Room
from ...corpus import Corpus
from ...settings import option, setting
from ..finite import OneCollection
from ..lda.family import LdaFamily
from ..topic_sides import TOPIC_SIDES
from ..topics import Dirichlet, Sampler, TopicSide
from .family import COEFFICIENTS, PRECISIONS, RespondingFamily


def conditional(room: Room) -> Any:
    """Sweep in time that grows with the number of topics."""
    return room(sweeps).conditional_sweep


@dataclass(frozen=True)
class OneConcentration(OneCollection, LdaFamily):
    """Dirichlet documents, all of the same concentration."""

    topic_sides: ClassVar[Mapping[str, TopicSide]] = TOPIC_SIDES

    n_topics: int = option(10, small=2, benchmark=100)
    alpha: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.7, benchmark=0.1)
    topics: TopicSide = Dirichlet()

    @override
    def documents_at(
        self, draw: Mapping[str, np.ndarray], labels: np.ndarray, corpus: Corpus
    ) -> tuple[Latents, np.ndarray]:
        latents, topics = super().documents_at(draw, labels, corpus)
        return latents | {"alpha": np.reshape(latents["alpha"], ())}, topics

    @override
    def snapshot_documents(self, state: State) -> Latents:
        return {"alpha": np.array(state.documents.alpha[0])}


@dataclass(frozen=True)
class RespondingLda(RespondingFamily, OneConcentration):
    """Base of the models of Dirichlet documents with responses."""

    document_parameters: ClassVar[tuple[str, ...]] = ("theta", "alpha", *COEFFICIENTS, *PRECISIONS)
    stan_documents: ClassVar[str] = "documents/dirichlet"

    @property
    @override
    def reference(self) -> Reference | None:
        """See `Model.reference`: over Dirichlet topics, for documents of few words."""
        return super().reference if isinstance(self.topics, Dirichlet) else None

    @property
    @override
    def samplers(self) -> Mapping[str, Sampler]:
        """See `TwoSidedModel.samplers`; topics that are not Dirichlet have one alone."""
        dense = {"dense": self.topics.samplers["dense"]._replace(sweep=conditional)}
        return {**super().samplers, **dense} if isinstance(self.topics, Dirichlet) else dense

    @override
    def load_documents(self, room: Room, latents: Latents, corpus: Corpus) -> Any:
        responses = self.load_responses(room, latents, corpus)
        return room(dirichlet).responding_documents(super().load_documents(room, latents, corpus), responses)

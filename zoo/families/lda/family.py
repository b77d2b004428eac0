"""What the models with a fixed number of topics and Dirichlet documents share."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any, ClassVar, override

import numpy as np

from ....kernels.lda import documents
from ....kernels.toolbox.sides import State
from ...contract import Design, Hyperparameter, Latents, Room
from ...corpus import Corpus, CorpusError
from ...memory import in_words
from ...toolbox.draws import draw_dirichlet
from ..collapsed import CollapsedTopicModel
from ..two_sided import TwoSidedModel
from . import reference

MOST_TOPICS = 2**20
"""More are taken for a mistake."""

BYTES_A_TOPIC = 64
"""What a sampler keeps of each topic at least."""


def collections_of(model_id: str, group: np.ndarray | None) -> np.ndarray:
    """Return the collection of each document, int (D,); raise an error where the corpus has no groups."""
    if group is None:
        raise CorpusError(f"{model_id}: expected a corpus with groups (one collection a group), found none")
    return group


class FiniteFamily(CollapsedTopicModel):
    """Base of the models whose documents are Dirichlet(alpha) over some of a fixed number of topics."""

    n_topics: int

    @abstractmethod
    def groups(self, group: np.ndarray | None, n_documents: int) -> np.ndarray:
        """Group of each document as the model sees it, int (D,)."""

    def may_have(self, n_groups: int) -> np.ndarray:
        """Which topics the documents of each group may have, bool (G, K): all of them."""
        return np.ones((n_groups, self.n_topics), bool)

    def prior_of(self, alpha: np.ndarray) -> np.ndarray:
        """Dirichlet parameters of each group's documents, float (G, K); 0 for those that they cannot have."""
        alpha = np.reshape(alpha, (-1, 1))
        return np.where(self.may_have(len(alpha)), alpha, 0.0)

    @override
    def __post_init__(self):
        self.check_whole("n_topics", 1)
        if self.n_topics > MOST_TOPICS:
            raise ValueError(
                f"{self.label}: n_topics: expected at most {MOST_TOPICS:,}, found {self.n_topics:,}, "
                f"which would take {in_words(BYTES_A_TOPIC * self.n_topics)} of memory or more"
            )
        super().__post_init__()

    @override
    def n_topics_of(self, latents: Latents) -> int:
        return self.prior_of(latents["alpha"]).shape[1]

    @override
    def memory_of_chain(self, corpus: Corpus, variant: str | None = None) -> dict[str, int]:
        return {"topics of groups": (BYTES_A_TOPIC + 9 * corpus.n_groups) * self.n_topics}

    @override
    def memory_of_reference(self, corpus: Corpus, truncation: int) -> int:
        """See `Model.memory_of_reference`; the number of topics is the model's own."""
        return super().memory_of_reference(corpus, self.n_topics)

    def document_prior(self, latents: Latents, corpus: Corpus) -> np.ndarray:
        """Alpha for every topic that a group's documents may have, and nothing beside them."""
        return np.pad(self.prior_of(latents["alpha"]), ((0, 0), (0, 1)))

    def draw_topics(
        self, design: Design, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        """Draw proportions and from them the topics of the tokens."""
        group = self.groups(design.group, len(design.doc_lengths))
        prior = self.prior_of(hyper["alpha"])
        z = [np.zeros(0, np.int64)]
        for g, length in zip(group, design.doc_lengths, strict=True):
            own = np.flatnonzero(prior[g])
            z.append(rng.choice(own, length, p=draw_dirichlet(prior[g, own], rng)))
        return {"z": np.concatenate(z)}

    @override
    def documents_started(
        self, labels: np.ndarray, hyper: Mapping[str, np.ndarray], corpus: Corpus
    ) -> Latents:
        """See `CollapsedTopicModel.documents_started`; more labels than topics begin from the first again."""
        group = self.groups(corpus.group, corpus.n_documents)[corpus.doc_of]
        z = np.empty(corpus.n_tokens, np.int64)
        for g, row in enumerate(self.may_have(int(group.max(initial=0)) + 1)):
            own = np.flatnonzero(row)
            z[group == g] = own[labels[group == g] % own.size]
        return {"z": z}

    def assignments(self, corpus: Corpus) -> Iterator[np.ndarray]:
        """All topics that the tokens may have."""
        group = self.groups(corpus.group, corpus.n_documents)[corpus.doc_of]
        own = [np.flatnonzero(row) for row in self.may_have(int(group.max(initial=0)) + 1)]
        for z in product(*(own[g] for g in group)):
            yield np.array(z, np.int64)


class LdaFamily(TwoSidedModel, FiniteFamily):
    """Base of the models of Dirichlet documents over any topics."""

    document_parameters: ClassVar[tuple[str, ...]] = ("theta", "alpha")
    alpha: Hyperparameter

    @property
    @override
    def document_dimensions(self) -> Mapping[str, tuple[str, ...]]:
        return {"alpha": ("collection",)}

    @property
    @override
    def opens_topics(self) -> bool:
        return False

    @override
    def most_topics(self, design: Design) -> int:
        return self.may_have(design.n_groups).shape[1]

    @override
    def document_rows(self, corpus: Corpus) -> np.ndarray:
        return self.groups(corpus.group, corpus.n_documents)

    @override
    def document_block(self, corpus: Corpus, n_topics: int) -> Callable[[], Any]:
        n_alphas = self.hyperparameter_size("alpha", Design.of(corpus)) or 1
        return reference.documents(self.document_rows(corpus), n_alphas, n_topics, self.alpha)

    @override
    def documents_at(
        self, draw: Mapping[str, np.ndarray], labels: np.ndarray, corpus: Corpus
    ) -> tuple[Latents, np.ndarray]:
        return {"z": labels, "alpha": np.asarray(draw["alpha"])}, np.arange(self.n_topics)

    @override
    def load_documents(self, room: Room, latents: Latents, corpus: Corpus) -> Any:
        may_have = self.may_have(np.size(latents["alpha"]))
        return room(documents).finite_documents(may_have, latents["alpha"], self.prior_arrays()["alpha"])

    @override
    def snapshot_documents(self, state: State) -> Latents:
        return {"alpha": state.documents.alpha.copy()}

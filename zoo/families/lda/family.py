"""What the models with a fixed number of topics and symmetric Dirichlet documents share."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from itertools import product
from numbers import Integral
from typing import ClassVar, override

import numpy as np

from ...contract import Design, Latents
from ...corpus import Corpus, CorpusError
from ...toolbox.draws import draw_dirichlet
from ..collapsed import CollapsedTopicModel


def collections_of(model_id: str, group: np.ndarray | None) -> np.ndarray:
    """Return the collection of each document, int (D,); raise an error where the corpus has no groups."""
    if group is None:
        raise CorpusError(f"{model_id}: expected a corpus with groups (one collection a group), found none")
    return group


class FiniteFamily(CollapsedTopicModel):
    """Base of the models whose documents are Dirichlet(alpha) over some of a fixed number of topics."""

    dimensions: ClassVar[Mapping[str, tuple[str, ...]]] = {"alpha": ("collection",)}
    n_topics: int

    @abstractmethod
    def groups(self, group: np.ndarray | None, n_documents: int) -> np.ndarray:
        """Group of each document as the model sees it, int (D,)."""

    def may_have(self, n_groups: int) -> np.ndarray:
        """Which topics the documents of each group may have, bool (G, K): all of them."""
        return np.ones((n_groups, self.n_topics), bool)

    @override
    def __post_init__(self):
        if not isinstance(self.n_topics, Integral) or self.n_topics < 1:
            raise ValueError(f"n_topics: expected a whole number, 1 or more, found {self.n_topics}")
        super().__post_init__()

    def document_prior(self, latents: Latents, corpus: Corpus) -> np.ndarray:
        """Alpha for every topic that a group's documents may have, and nothing beside them."""
        alpha = np.reshape(latents["alpha"], (-1, 1))
        return np.pad(np.where(self.may_have(len(alpha)), alpha, 0.0), ((0, 0), (0, 1)))

    def log_sticks(self, latents: Latents) -> float:
        """Zero: there are no sticks."""
        return 0.0

    def draw_topics(
        self, design: Design, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        """Draw proportions and from them the topics of the tokens."""
        group = self.groups(design.group, len(design.doc_lengths))
        alpha = np.reshape(hyper["alpha"], -1)
        may_have = self.may_have(alpha.size)
        z = [np.zeros(0, np.int64)]
        for g, length in zip(group, design.doc_lengths, strict=True):
            own = np.flatnonzero(may_have[g])
            z.append(rng.choice(own, length, p=draw_dirichlet(np.full(own.size, alpha[g]), rng)))
        return {"z": np.concatenate(z)}

    def unseated(self, corpus: Corpus) -> Latents:
        """No token has a topic."""
        return {"z": np.full(corpus.n_tokens, -1)}

    @override
    def log_marginal(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        latents = {"z": z, **hyper}
        return self.log_assignments(latents, corpus) + self.log_likelihood(latents, corpus)

    def assignments(self, corpus: Corpus) -> Iterator[np.ndarray]:
        """All topics that the tokens may have."""
        group = self.groups(corpus.group, corpus.n_documents)[corpus.doc_of]
        own = [np.flatnonzero(row) for row in self.may_have(int(group.max(initial=0)) + 1)]
        for z in product(*(own[g] for g in group)):
            yield np.array(z, np.int64)

"""Models whose labels have topics of their own, which other documents cannot have."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, override

import numpy as np

from ....kernels.labels import documents
from ....kernels.toolbox.sides import State
from ...contract import Design, Equation, Hyperparameter, Latents, Room
from ...corpus import Corpus, CorpusError
from ..lda.family import MOST_TOPICS
from . import reference
from .family import LabelledFamily


def equations(where: str, proportions: str, meaning: str) -> tuple[Equation, ...]:
    """Return the equations of such a model, given that of its proportions."""
    return (
        Equation(where, proportions, meaning),
        Equation(where, r"\phi_k \sim \mathrm{Dir}_V(\eta)", "word distribution of a topic"),
        Equation(where, r"z_i \sim \theta_{d(i)},\quad w_i \sim \phi_{z_i}", "topic and word of a token"),
    )


class OwnTopicsFamily(LabelledFamily):
    """Base of the models where each label has some topics, and some more are common to all documents.

    Topic ``i`` of label ``j`` has number ``j * per_label + i``; the common ones come last. A document without
    labels may have every topic: its labels are not known.
    """

    document_parameters: ClassVar[tuple[str, ...]] = ("theta", "alpha")
    stan_program: ClassVar[str] = "labeled_lda"
    alpha: Hyperparameter
    common: int

    def __post_init__(self):
        self.check_whole("common", 0, MOST_TOPICS)
        super().__post_init__()

    @property
    def per_label(self) -> int:
        """How many topics a label has."""
        return 1

    def n_labels(self, corpus: Any) -> int:
        """Count the labels of a corpus, or of a design.

        Raises
        ------
        CorpusError
            It has none, and there are no common topics.
        """
        n_labels = len(self.columns(corpus))
        if n_labels == 0 and self.common == 0:
            raise CorpusError(f"{self.label}: expected a corpus with labels, found none")
        if n_labels * self.per_label + self.common > MOST_TOPICS:
            raise CorpusError(
                f"{self.label}: expected at most {MOST_TOPICS:,} topics, found {n_labels:,} labels"
            )
        return n_labels

    def n_alphas(self, corpus: Any) -> int:
        """Count the alphas of a corpus, or of a design: one a label, and one for all common topics."""
        return self.n_labels(corpus) + (self.common > 0)

    def label_of_topic(self, n_alphas: int) -> np.ndarray:
        """Entry of alpha that each topic belongs to, int (K,)."""
        n_labels = n_alphas - (self.common > 0)
        return np.repeat(np.arange(n_alphas), [self.per_label] * n_labels + [self.common] * (self.common > 0))

    def own_topics(self, rows: Any) -> np.ndarray:
        """Which topics documents with labels `rows`, sparse (R, J), may have, bool (R, K)."""
        has = rows.toarray() > 0.0
        has[~has.any(axis=1)] = True
        always = np.ones((len(has), min(self.common, 1)), bool)
        return np.hstack([has, always])[:, self.label_of_topic(has.shape[1] + always.shape[1])]

    @override
    def may_have(self, corpus: Corpus) -> np.ndarray:
        return self.own_topics(self.label_rows(corpus)[0])

    @override
    def prior_of(self, latents: Mapping[str, np.ndarray], rows: Any) -> np.ndarray:
        alpha = np.asarray(latents["alpha"])
        return np.where(self.own_topics(rows), alpha[self.label_of_topic(alpha.size)], 0.0)

    @override
    def hyperparameter_size(self, name: str, design: Design) -> int | None:
        return self.n_alphas(design) if name == "alpha" else None

    @override
    def most_topics(self, design: Design) -> int:
        return self.n_labels(design) * self.per_label + self.common

    @override
    def n_topics_of(self, latents: Latents) -> int:
        return self.label_of_topic(np.size(latents["alpha"])).size

    @property
    @override
    def document_dimensions(self) -> Mapping[str, tuple[str, ...]]:
        return {"alpha": ("label_name",)}

    @override
    def document_block(self, corpus: Corpus, n_topics: int) -> Callable[[], Any]:
        rows, of_document = self.label_rows(corpus)
        n_alphas = self.n_alphas(corpus)
        own = self.own_topics(rows)[of_document]
        return reference.own_topics(own, self.label_of_topic(n_alphas), n_alphas, self.alpha)

    @override
    def document_data(self, corpus: Corpus) -> dict[str, Any]:
        rows, of_document = self.label_rows(corpus)
        n_alphas = self.n_alphas(corpus)
        return {
            "A": n_alphas,
            "label": self.label_of_topic(n_alphas) + 1,
            "may_have": self.own_topics(rows)[of_document].astype(int),
        }

    @override
    def documents_at(
        self, draw: Mapping[str, np.ndarray], labels: np.ndarray, corpus: Corpus
    ) -> tuple[Latents, np.ndarray]:
        alpha = np.asarray(draw["alpha"])
        return {"z": labels, "alpha": alpha}, np.arange(self.label_of_topic(alpha.size).size)

    @override
    def load_documents(self, room: Room, latents: Latents, corpus: Corpus) -> Any:
        alpha = np.asarray(latents["alpha"])
        return room(documents).labelled_documents(
            self.may_have(corpus), self.label_of_topic(alpha.size), alpha, self.prior_arrays()["alpha"]
        )

    @override
    def snapshot_documents(self, state: State) -> Latents:
        return {"alpha": state.documents.alpha.copy()}

"""Latent Dirichlet allocation of each collection by itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, override

import numpy as np

from ..contract import Card, Design, Equation, Gamma, Hyperparameter, Latents
from ..corpus import Corpus
from ..families.lda import reference
from ..families.lda.family import LdaFamily, collections_of
from ..families.topics import Dirichlet, TopicSide
from ..settings import option, setting


@dataclass(frozen=True)
class GroupLda(LdaFamily):
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
    topics : Dirichlet
        With the Dirichlet parameter ``eta`` of a topic's word distribution, a word.
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
    )

    topic_sides: ClassVar[Mapping[str, TopicSide]] = {"dirichlet": Dirichlet()}
    why_only: ClassVar[str] = (
        "each collection has Dirichlet topics of its own; with Pitman-Yor topics that is the model pyp"
    )
    stan_program: ClassVar[str] = "group_lda"

    n_topics: int = option(10, small=2, benchmark=100)
    alpha: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.7, benchmark=0.1)
    topics: TopicSide = Dirichlet()

    def hyperparameter_size(self, name: str, design: Design) -> int | None:
        """One alpha a collection."""
        return design.n_groups if name == "alpha" else None

    def groups(self, group: np.ndarray | None, n_documents: int) -> np.ndarray:
        """Return the collections of the documents; raise an error where the corpus has none."""
        return collections_of(self.card.id, group)

    @override
    def memory_of_chain(self, corpus: Corpus, variant: str | None = None) -> dict[str, int]:
        needs = super().memory_of_chain(corpus, variant)
        return {name: corpus.n_groups * n_bytes for name, n_bytes in needs.items()}

    def may_have(self, n_groups: int) -> np.ndarray:
        """K topics of its own for each collection, bool (G, G K)."""
        return np.repeat(np.eye(n_groups, dtype=bool), self.n_topics, axis=1)

    @property
    @override
    def stan_includes(self) -> tuple[str, ...]:
        return ()

    @override
    def n_reference_topics(self, corpus: Corpus, truncation: int) -> int:
        """See `TwoSidedModel.n_reference_topics`: those of a collection."""
        return self.n_topics

    @override
    def topic_block(self, corpus: Corpus, n_topics: int) -> Callable[[], tuple[Any, np.ndarray]]:
        shape = (corpus.n_groups, n_topics, corpus.n_words)
        return reference.topics_of_collections(
            self.document_rows(corpus), shape, self.hyperparameters()["eta"]
        )

    @override
    def document_data(self, corpus: Corpus) -> dict[str, Any]:
        return {"G": corpus.n_groups, "group": self.document_rows(corpus) + 1}

    @override
    def word_weights(self, draw: Mapping[str, np.ndarray], corpus: Corpus) -> np.ndarray:
        return draw["phi"][corpus.group_of_doc[corpus.doc_of], :, corpus.words]

    @override
    def documents_at(
        self, draw: Mapping[str, np.ndarray], labels: np.ndarray, corpus: Corpus
    ) -> tuple[Latents, np.ndarray]:
        group = corpus.group_of_doc[corpus.doc_of]
        return super().documents_at(draw, group * self.n_topics + labels, corpus)

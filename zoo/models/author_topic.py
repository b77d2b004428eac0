"""The author-topic model (Rosen-Zvi, Griffiths, Steyvers and Smyth 2004)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, override

import numpy as np
from scipy import sparse

from ...kernels.labels import authors
from ...kernels.toolbox.sides import State
from ..contract import (
    Card,
    Design,
    Equation,
    Gamma,
    Hyperparameter,
    Latents,
    Probes,
    Quantities,
    Room,
    WordCounts,
)
from ..corpus import Corpus
from ..families.finite import FixedTopics
from ..families.labels import marginal, reference
from ..families.labels.family import LabelledFamily
from ..families.labels.predictive import AuthorPredictive
from ..families.lda.family import MOST_TOPICS
from ..families.topics import Dirichlet, Sampler, TopicSide
from ..settings import option, setting
from ..toolbox.draws import draw_categorical, draw_dirichlet
from ..toolbox.laws import log_sequences
from ..toolbox.proportions import MixedProportions


class Authors(NamedTuple):
    """Who wrote the documents: the labels, then one unknown author for each document without any.

    Attributes
    ----------
    ptr : int64 (D + 1,)
        Document d has the authors ``of_document[ptr[d]:ptr[d + 1]]``.
    of_document : int64 (E,)
    n_authors : int
    """

    ptr: np.ndarray
    of_document: np.ndarray
    n_authors: int

    @property
    def share(self) -> Any:
        """Share of each author in a document, sparse float (D, A)."""
        each = np.diff(self.ptr)
        shape = (each.size, self.n_authors)
        return sparse.csr_array((np.repeat(1.0 / each, each), self.of_document, self.ptr), shape=shape)

    def of(self, d: int) -> np.ndarray:
        """Return the authors of a document."""
        return self.of_document[self.ptr[d] : self.ptr[d + 1]]

    def has_written(self, document: np.ndarray, author: np.ndarray) -> np.ndarray:
        """Whether documents (N,) have authors (N,), bool (N,)."""
        pairs = np.repeat(np.arange(self.ptr.size - 1), np.diff(self.ptr)) * self.n_authors + self.of_document
        return np.isin(document * self.n_authors + author, pairs) & (author >= 0)


@dataclass(frozen=True)
class AuthorTopic(FixedTopics, LabelledFamily):
    """Each author has topic proportions, and each token of a document is by one of its authors.

    Latents: ``z`` (N,); ``author`` (N,), the number of a label, or, past these, of a document without labels;
    ``alpha``; those of the topics, such as ``eta``.

    Parameters
    ----------
    alpha : float or Gamma
        Dirichlet parameter of an author, a topic.
    topics : TopicSide
        `Dirichlet`, with a hyperparameter of its own.
    n_topics : int
        K.
    labels : str
        Covariates whose values are authors, with commas between them: sets of labels, or categories. By
        default all that hold named categories or sets, and the groups; "none" for none.
    """

    card: ClassVar[Card] = Card(
        id="author_topic",
        title="Author-topic model",
        summary="Authors have topics; each word of a document is by one of its authors.",
        citation=(
            "M. Rosen-Zvi, T. Griffiths, M. Steyvers and P. Smyth. The author-topic model for authors and "
            "documents. UAI 2004, 487-494."
        ),
        source="Rosen-Zvi, Griffiths, Steyvers & Smyth (2004)",
        bibtex_key="rosenzvi2004author",
        equations=(
            Equation(
                "Section 2.3", r"x_i \sim \mathrm{Unif}(A_{d(i)})", "author of a token, one of its document's"
            ),
            Equation("Section 2.3", r"\theta_a \sim \mathrm{Dir}_K(\alpha)", "proportions of an author"),
            Equation(
                "Section 2.3",
                r"\phi_k \sim \mathrm{Dir}_V(\eta),\quad z_i \sim \theta_{x_i},\quad w_i \sim \phi_{z_i}",
                "words of a topic; topic and word of a token",
            ),
            Equation(
                "Section 3",
                r"p(x_i = a, z_i = k \mid \cdot) \propto \frac{n_{ak} + \alpha}{n_a + K \alpha} "
                r"\frac{n_{kw} + \eta}{n_k + V \eta}",
                "author and topic of a token are drawn together, counts without it",
            ),
        ),
        errata=(
            "The paper's alpha and eta are fixed; here they can be sampled.",
            "A document without authors is by an author of its own, whom nobody knows; without labels the "
            "model is `lda`. The paper has no such documents.",
        ),
        tags=("parametric", "labels"),
    )

    topic_sides: ClassVar[Mapping[str, TopicSide]] = {"dirichlet": Dirichlet()}
    why_only: ClassVar[str] = "its token steps draw an author with the topic; it has Dirichlet topics"
    document_parameters: ClassVar[tuple[str, ...]] = ("theta", "of_author", "alpha")
    stan_program: ClassVar[str] = "author_topic"

    alpha: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.7, benchmark=0.1)
    topics: TopicSide = Dirichlet()
    n_topics: int = option(10, small=2, benchmark=100)
    labels: str = ""

    def __post_init__(self):
        self.check_whole("n_topics", 1, MOST_TOPICS)
        super().__post_init__()

    def authors_of(self, corpus: Any, n_documents: int) -> Authors:
        """Who wrote the documents of a corpus, or of a design."""
        rows = self.labels_of(corpus, n_documents)
        unknown = np.diff(rows.indptr) == 0
        n_unknown = int(np.count_nonzero(unknown))
        cells = (np.ones(n_unknown), (np.flatnonzero(unknown), np.arange(n_unknown)))
        own = sparse.csr_array(cells, shape=(n_documents, n_unknown))
        has: Any = sparse.csr_array(sparse.hstack([rows, own]))
        has.sort_indices()
        n_authors = rows.shape[1] + n_unknown
        return Authors(has.indptr.astype(np.int64), has.indices.astype(np.int64), n_authors)

    def authors_of_corpus(self, corpus: Corpus) -> Authors:
        """Who wrote the documents of a corpus."""
        return _authors(self, corpus)

    @override
    def prior_of(self, latents: Mapping[str, np.ndarray], rows: Any) -> np.ndarray:
        """See `LabelledFamily.prior_of`; of documents of one author, given all that he wrote, or of none."""
        return rows @ self._counts(latents, rows.shape[1]) + float(latents["alpha"])

    def _counts(self, latents: Mapping[str, np.ndarray], n_authors: int) -> np.ndarray:
        """Tokens of each author with each topic, int (n_authors, K); those of later authors are left out."""
        counts = np.zeros((max(int(latents["author"].max(initial=-1)) + 1, n_authors), self.n_topics))
        np.add.at(counts, (latents["author"], latents["z"]), 1.0)
        return counts[:n_authors]

    @override
    def document_rows(self, corpus: Corpus) -> np.ndarray:
        return np.zeros(corpus.n_documents, np.int64)

    @override
    def document_prior(self, latents: Latents, corpus: Corpus) -> np.ndarray:
        """Alpha: the prior of an author who has written nothing yet."""
        return np.append(np.full(self.n_topics, float(latents["alpha"])), 0.0)[None]

    @override
    def may_have(self, corpus: Corpus) -> np.ndarray:
        return np.ones((1, self.n_topics), bool)

    @property
    @override
    def document_dimensions(self) -> Mapping[str, tuple[str, ...]]:
        return {"author": ("token",)}

    @override
    def range_of_tokens(self, name: str, corpus: Corpus) -> tuple[int, int | np.ndarray]:
        if name == "author":
            return (-1, self.authors_of_corpus(corpus).n_authors - 1)
        return super().range_of_tokens(name, corpus)

    @override
    def draw_topics(
        self, design: Design, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        n_documents = len(design.doc_lengths)
        found = self.authors_of(design, n_documents)
        theta = draw_dirichlet(np.full((found.n_authors, self.n_topics), float(hyper["alpha"])), rng)
        document = np.repeat(np.arange(n_documents), design.doc_lengths)
        place = rng.integers(np.diff(found.ptr)[document])
        author = found.of_document[found.ptr[document] + place]
        return {"z": draw_categorical(theta[author], rng), "author": author}

    @override
    def unseated(self, corpus: Corpus) -> Latents:
        """No token has a topic, or an author."""
        return super().unseated(corpus) | {"author": np.full(corpus.n_tokens, -1)}

    @override
    def documents_started(
        self, labels: np.ndarray, hyper: Mapping[str, np.ndarray], corpus: Corpus
    ) -> Latents:
        """See `CollapsedTopicModel.documents_started`; tokens are by the first author of their document."""
        found = self.authors_of_corpus(corpus)
        first = found.of_document[found.ptr[:-1]]
        return super().documents_started(labels, hyper, corpus) | {"author": first[corpus.doc_of]}

    @override
    def log_assignments(self, latents: Latents, corpus: Corpus) -> float:
        """Log probability of authors and topics of tokens given alpha, proportions integrated out."""
        found = self.authors_of_corpus(corpus)
        if not np.all(found.has_written(corpus.doc_of, latents["author"])):
            return -np.inf
        log_choices = corpus.doc_lengths @ np.log(np.diff(found.ptr))
        alpha = np.full(self.n_topics, float(latents["alpha"]))
        return log_sequences(latents["author"], latents["z"], alpha) - float(log_choices)

    @override
    def log_marginal(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        found = self.authors_of_corpus(corpus)
        of_tokens = [found.of(d) for d in corpus.doc_of]
        alpha = float(hyper["alpha"])
        log_p = marginal.log_topics_of_authors(z, of_tokens, found.n_authors, self.n_topics, alpha)
        return log_p + self.log_words(z, corpus, hyper)

    @override
    def own_proportions(self, latents: Latents, corpus: Corpus) -> MixedProportions:
        """See `Model.own_proportions`; each token is by one of the authors, all as likely."""
        found = self.authors_of_corpus(corpus)
        theta = self._counts(latents, found.n_authors) + float(latents["alpha"])

        def of_document(d: int) -> tuple[np.ndarray, np.ndarray]:
            authors = found.of(d)
            return np.full(len(authors), 1.0 / len(authors)), theta[authors]

        return MixedProportions(of_document)

    @override
    def quantities(
        self,
        latents: Latents,
        corpus: Corpus,
        probes: Probes | None = None,
        counts: WordCounts | None = None,
    ) -> Quantities:
        """See `Model.quantities`.

        Beside those of `CollapsedTopicModel`: ``author_entropy``, the mean over documents of that of their
        tokens over authors, nats; ``author_topics``, the mean over authors with tokens of how many topics
        they have.
        """
        probes = probes or Probes.of(corpus)
        found, n_words = self.authors_of_corpus(corpus), probes.cells[:, 1]
        theta = self._counts(latents, found.n_authors) + float(latents["alpha"])
        topics = theta / theta.sum(axis=1, keepdims=True)
        _, words = self.measured_words(latents, corpus, n_words, counts)
        of_cells = [topics[found.of(d)].mean(axis=0) for d in probes.cells[:, 0]]
        predictive = [p @ words[0, :, j] for j, p in enumerate(of_cells)]
        pairs = np.unique(latents["author"] * self.n_topics + latents["z"])
        n_active = np.unique(latents["author"]).size
        cells, n = np.unique(corpus.doc_of * found.n_authors + latents["author"], return_counts=True)
        share = n / corpus.doc_lengths[cells // found.n_authors]
        n_filled = np.count_nonzero(corpus.doc_lengths)
        return super().quantities(latents, corpus, probes, counts) | {
            "predictive": np.array(predictive),
            "author_entropy": np.asarray(-np.sum(share * np.log(share)) / max(n_filled, 1)),
            "author_topics": np.asarray(pairs.size / max(n_active, 1)),
        }

    @override
    def predictive(self, latents: Latents, corpus: Corpus) -> AuthorPredictive:
        known = super().predictive(latents, corpus)
        n_labels = len(known.columns)
        own = self._counts(latents, n_labels) + float(latents["alpha"])
        return AuthorPredictive(known.topics, known.columns, known.label, known.prior_of, own)

    @override
    def memory_of_chain(self, corpus: Corpus, variant: str | None = None) -> dict[str, int]:
        n_authors = self.authors_of_corpus(corpus).n_authors
        return super().memory_of_chain(corpus, variant) | {"topics of authors": 4 * n_authors * self.n_topics}

    @override
    def document_block(self, corpus: Corpus, n_topics: int) -> Callable[[], Any]:
        share = self.authors_of_corpus(corpus).share.toarray()
        return reference.authors(share, n_topics, self.alpha)

    @override
    def document_data(self, corpus: Corpus) -> dict[str, Any]:
        share = self.authors_of_corpus(corpus).share.toarray()
        return {"A": share.shape[1], "share": share}

    @override
    def documents_at(
        self, draw: Mapping[str, np.ndarray], labels: np.ndarray, corpus: Corpus
    ) -> tuple[Latents, np.ndarray]:
        return {"z": labels, "alpha": np.asarray(draw["alpha"])}, np.arange(self.n_topics)

    @override
    def _latents_at(
        self, draw: Mapping[str, np.ndarray], corpus: Corpus, rng: np.random.Generator
    ) -> Latents:
        """See `Reference.latents`; authors are drawn given topics."""
        latents = super()._latents_at(draw, corpus, rng)
        share = self.authors_of_corpus(corpus).share[corpus.doc_of].toarray()
        return latents | {"author": draw_categorical(share * draw["of_author"].T[latents["z"]], rng)}

    @property
    @override
    def samplers(self) -> Mapping[str, Sampler]:
        about = "author and topic of a token together, in time that grows with its authors and counts"
        return {"blocked": Sampler(about, _blocked)}

    @override
    def load_documents(self, room: Room, latents: Latents, corpus: Corpus) -> Any:
        found = self.authors_of_corpus(corpus)
        return room(authors).author_documents(
            found.ptr,
            found.of_document,
            latents["author"],
            latents["z"],
            found.n_authors,
            self.n_topics,
            float(latents["alpha"]),
            self.prior_arrays()["alpha"],
        )

    @override
    def snapshot_documents(self, state: State) -> Latents:
        side = state.documents
        return {"author": side.of_token.astype(np.int64), "alpha": np.array(side.alpha[0])}


@lru_cache(maxsize=2)
def _authors(model: AuthorTopic, corpus: Corpus) -> Authors:
    """See `AuthorTopic.authors_of_corpus`; kept, as every draw of a chain asks for them."""
    return model.authors_of(corpus, corpus.n_documents)


def _blocked(room: Room) -> Callable[..., bool]:
    return room(authors).sweep

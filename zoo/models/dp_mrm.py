"""Dirichlet processes with mixed random measures (Kim, Kim and Oh 2012)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, override

import numpy as np
from scipy import sparse

from ...kernels.labels import mixed
from ...kernels.toolbox.sides import State
from ..contract import (
    Card,
    Design,
    Equation,
    FrozenTopics,
    Gamma,
    Hyperparameter,
    Latents,
    Probes,
    Quantities,
    Room,
    WordCounts,
)
from ..corpus import Corpus
from ..families.hdp.sticks import GrowingSticks, log_dirichlet, log_gem
from ..families.labelled import LabelledModel
from ..families.labels import marginal, reference
from ..families.labels.predictive import LabelledPredictive, MixedPredictive
from ..families.topics import Dirichlet, TopicSide
from ..settings import setting
from ..toolbox.draws import draw_dirichlet
from ..toolbox.enumeration import restricted_growth_strings
from ..toolbox.laws import by_first_appearance, doc_topic_counts


class Rows(NamedTuple):
    """Labels of documents: documents with one label share a row, all others have their own.

    Attributes
    ----------
    ptr : int64 (R + 1,)
        Row r has the labels ``label[ptr[r]:ptr[r + 1]]``.
    label : int64 (E,)
    of_document : int64 (D,)
    n_labels : int
    """

    ptr: np.ndarray
    label: np.ndarray
    of_document: np.ndarray
    n_labels: int

    @property
    def sizes(self) -> np.ndarray:
        """How many labels each row has, int (R,)."""
        return np.diff(self.ptr)

    @property
    def of_entry(self) -> np.ndarray:
        """Row of each entry, int (E,)."""
        return np.repeat(np.arange(self.sizes.size), self.sizes)

    def labels(self, d: int) -> np.ndarray:
        """Labels of a document."""
        r = self.of_document[d]
        return self.label[self.ptr[r] : self.ptr[r + 1]]

    @property
    def is_mixed(self) -> np.ndarray:
        """Whether the row of an entry has several labels, bool (E,)."""
        return np.repeat(self.sizes > 1, self.sizes)

    def shares(self, latents: Mapping[str, np.ndarray]) -> np.ndarray:
        """Share of each entry, float (E,): 1 where a row has one label."""
        out = np.ones(self.label.size)
        if self.is_mixed.any():
            out[self.is_mixed] = latents["share"]
        return out

    def named(self, share: np.ndarray) -> Latents:
        """Shares (E,) as the model's latents have them."""
        return {"share": share[self.is_mixed]} if self.is_mixed.any() else {}

    def dense(self, share: np.ndarray) -> np.ndarray:
        """Values of entries as a matrix, float (R, J)."""
        out = np.zeros((self.sizes.size, self.n_labels))
        out[self.of_entry, self.label] = share
        return out


@dataclass(frozen=True)
class DpMrm(LabelledModel):
    """Each label has as many topics as it needs, and a document mixes those of its labels.

    Latents: ``z`` (N,); ``root`` (J, K + 1), of each label the sticks of the topics, zero for all that are
    another's, and what is left; ``share`` (E,), of each label of the documents with several, one document
    after the other, if there are any; ``gamma``, ``alpha``, ``tau``; those of the topics, as ``eta``.

    Parameters
    ----------
    gamma : float or Gamma
        Concentration of a label: how many topics it has.
    alpha : float or Gamma
        Concentration of the documents.
    tau : float or Gamma
        Dirichlet parameter of the labels of a document: small, and one of them has most of it.
    topics : TopicSide
        `Dirichlet`, with a hyperparameter of its own.
    labels : str
        Covariates that are labels, with commas between them: sets of labels, or categories. By default all
        that hold named categories or sets, and the groups; "none" for none, which makes it `hdp`.
    """

    card: ClassVar[Card] = Card(
        id="dp_mrm",
        title="Dirichlet process with mixed random measures",
        summary="Each label has as many topics as it needs; a document mixes those of its labels.",
        citation=(
            "D. Kim, S. Kim and A. Oh. Dirichlet process with mixed random measures: a nonparametric topic "
            "model for labeled data. ICML 2012."
        ),
        source="Kim, Kim & Oh (2012)",
        bibtex_key="kim2012dirichlet",
        equations=(
            Equation("Section 3", r"G_j \sim \mathrm{DP}(\gamma, H)", "random measure of label j"),
            Equation(
                "Section 3",
                r"\lambda_d \sim \mathrm{Dir}(\tau : j \in \Lambda_d)",
                "shares of the labels of a document, the set Lambda_d",
            ),
            Equation(
                "Section 3",
                r"\theta_d \sim \mathrm{DP}(\alpha, \sum_j \lambda_{dj} G_j)",
                "proportions of a document",
            ),
            Equation(
                "Section 3",
                r"\phi_k \sim \mathrm{Dir}_V(\eta),\quad z_i \sim \theta_{d(i)},\quad w_i \sim \phi_{z_i}",
                "words of a topic; topic and word of a token",
            ),
        ),
        errata=(
            "The definition is as we understand it from descriptions of the paper, which was not at hand: "
            "one gamma for all labels, shares of labels under a symmetric Dirichlet.",
            "A document without labels may have every label: they are not known.",
            "The sampler assigns topics directly, given sticks and shares, and is exact; the paper's goes "
            "through tables.",
        ),
        tags=("nonparametric", "labels"),
    )

    topic_sides: ClassVar[Mapping[str, TopicSide]] = {"dirichlet": Dirichlet()}
    why_only: ClassVar[str] = "it has been tested with Dirichlet topics alone"
    about_tokens: ClassVar[str] = "direct assignment"
    document_parameters: ClassVar[tuple[str, ...]] = ("theta", "root", "share", "gamma", "alpha", "tau")
    stan_program: ClassVar[str] = "dp_mrm"

    gamma: Hyperparameter = setting(
        Gamma(1.0, 1.0), fixed=1.3, prior=Gamma(3.0, 2.0), reference=0.7, benchmark=1.5
    )
    alpha: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.8, benchmark=10.0)
    tau: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.6, prior=Gamma(2.0, 1.5), benchmark=1.0)
    topics: TopicSide = Dirichlet()
    labels: str = ""

    def rows_of(self, corpus: Any, n_documents: int) -> Rows:
        """Labels of the documents of a corpus, or of a design; all of them of those that have none."""
        has = self.labels_of(corpus, n_documents).toarray() > 0.0
        if has.shape[1] == 0:
            has = np.ones((n_documents, 1), bool)
        has[~has.any(axis=1)] = True
        alone = has.sum(axis=1) == 1
        single, row_of_single = np.unique(has[alone].argmax(axis=1), return_inverse=True)
        of_document = np.empty(n_documents, np.int64)
        of_document[alone] = row_of_single
        of_document[~alone] = single.size + np.arange(np.count_nonzero(~alone))
        rows = np.vstack([np.eye(has.shape[1], dtype=bool)[single], has[~alone]])
        row, label = np.nonzero(rows)
        ptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(rows)))])
        return Rows(ptr, label, of_document, has.shape[1])

    def rows_of_corpus(self, corpus: Corpus) -> Rows:
        """Labels of the documents of a corpus."""
        return _rows(self, corpus)

    @override
    def most_topics(self, design: Design) -> int:
        return int(np.sum(design.doc_lengths))

    @override
    def n_topics_of(self, latents: Latents) -> int:
        return latents["root"].shape[1] - 1

    @property
    @override
    def document_dimensions(self) -> Mapping[str, tuple[str, ...]]:
        return {"root": ("label", "stick"), "share": ("label_of_document",)}

    @override
    def document_rows(self, corpus: Corpus) -> np.ndarray:
        return self.rows_of_corpus(corpus).of_document

    @override
    def prior_rows(self, prior: np.ndarray, corpus: Corpus) -> np.ndarray:
        return self.document_rows(corpus)

    @override
    def document_prior(self, latents: Latents, corpus: Corpus) -> np.ndarray:
        """Alpha times the mixed sticks of each row, and of what is left of them."""
        return self._prior(latents, self._shares(latents, corpus))

    def _shares(self, latents: Mapping[str, np.ndarray], corpus: Corpus) -> np.ndarray:
        """Shares of the labels in each row, float (R, J)."""
        rows = self.rows_of_corpus(corpus)
        return rows.dense(rows.shares(latents))

    def _prior(self, latents: Mapping[str, np.ndarray], share: np.ndarray) -> np.ndarray:
        """Prior of documents with shares (R, J) of the labels, float (R, K + 1)."""
        return float(latents["alpha"]) * (share @ latents["root"])

    @override
    def log_sticks(self, latents: Latents) -> float:
        """Density of the sticks; that of the shares needs the corpus, see `log_joint`."""
        gamma = float(latents["gamma"])
        return sum(log_gem(np.append(row[:-1][row[:-1] > 0.0], row[-1]), gamma) for row in latents["root"])

    @override
    def log_joint(self, latents: Latents, corpus: Corpus) -> float:
        rows, tau = self.rows_of_corpus(corpus), float(latents["tau"])
        parts = np.split(rows.shares(latents), rows.ptr[1:-1])
        shares = sum(log_dirichlet(part, np.full(part.size, tau)) for part in parts if part.size > 1)
        return super().log_joint(latents, corpus) + shares

    @override
    def draw_topics(
        self, design: Design, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        """Break the sticks of labels and seat the tokens, theta integrated out."""
        rows = self.rows_of(design, len(design.doc_lengths))
        gamma, alpha, tau = (float(hyper[name]) for name in ("gamma", "alpha", "tau"))
        each = [draw_dirichlet(np.full((1, n), tau), rng)[0] if n > 1 else np.ones(1) for n in rows.sizes]
        share = np.concatenate(each)
        sticks = [GrowingSticks(rng, gamma, None, 1) for _ in range(rows.n_labels)]
        drawn: list[tuple[int, int]] = []
        for d, length in enumerate(design.doc_lengths):
            r, seated = rows.of_document[d], []
            own, weights = rows.labels(d), share[rows.ptr[r] : rows.ptr[r + 1]]
            for n in range(length):
                if rng.random() * (n + alpha) < n:
                    seated.append(seated[rng.integers(n)])
                else:
                    j = int(rng.choice(own, p=weights))
                    seated.append((j, sticks[j].draw(0)))
            drawn += seated
        widest = 1 + max((k for _, k in drawn), default=0)
        z, used = by_first_appearance(np.array([j * widest + k for j, k in drawn], np.int64))
        label, rank = np.divmod(used, widest)
        stick = [sticks[j].root[k] for j, k in zip(label, rank, strict=True)]
        left = [s.root_rest + sum(np.delete(s.root, rank[label == j])) for j, s in enumerate(sticks)]
        return {"z": z, "root": _root(label, stick, left)} | rows.named(share)

    @override
    def unseated(self, corpus: Corpus) -> Latents:
        """No token has a topic; sticks are all rest, and labels have even shares."""
        rows = self.rows_of_corpus(corpus)
        sticks = {"root": np.ones((rows.n_labels, 1))} | rows.named(_even_shares(rows))
        return super().unseated(corpus) | sticks

    @override
    def documents_started(
        self, labels: np.ndarray, hyper: Mapping[str, np.ndarray], corpus: Corpus
    ) -> Latents:
        """See `CollapsedTopicModel.documents_started`; a topic is of the first label of its documents."""
        rows = self.rows_of_corpus(corpus)
        first = rows.label[rows.ptr[:-1]][rows.of_document][corpus.doc_of]
        z, used = by_first_appearance(labels * rows.n_labels + first)
        label = used % rows.n_labels
        tables = np.count_nonzero(doc_topic_counts(z, corpus, used.size), axis=0).astype(float)
        root = _root(label, tables, np.full(rows.n_labels, float(hyper["gamma"])))
        return {"z": z, "root": root / root.sum(axis=1, keepdims=True)} | rows.named(_even_shares(rows))

    @override
    def log_marginal(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        rows = self.rows_of_corpus(corpus)
        counts = doc_topic_counts(z, corpus, int(z.max(initial=-1)) + 1)
        labels = [rows.labels(d) for d in range(corpus.n_documents)]
        values = (float(hyper[name]) for name in ("gamma", "alpha", "tau"))
        return marginal.log_topics_of_measures(counts, labels, *values) + self.log_words(z, corpus, hyper)

    @override
    def assignments(self, corpus: Corpus) -> Iterator[np.ndarray]:
        """All partitions of the tokens."""
        return restricted_growth_strings(corpus.n_tokens)

    def expected_prior(self, latents: Mapping[str, np.ndarray], rows: Any) -> np.ndarray:
        """Prior of documents with labels `rows`, sparse (R, J), at even shares, float (R, K + 1)."""
        has = rows.toarray() > 0.0
        if has.shape[1] == 0:
            has = np.ones((len(has), 1), bool)
        has[~has.any(axis=1)] = True
        return self._prior(latents, has / has.sum(axis=1, keepdims=True))

    @override
    def quantities(
        self,
        latents: Latents,
        corpus: Corpus,
        probes: Probes | None = None,
        counts: WordCounts | None = None,
    ) -> Quantities:
        """See `Model.quantities`.

        Beside those of `CollapsedTopicModel`: ``label_entropy``, the mean over documents of that of their
        tokens over labels, nats; ``label_topics``, the mean over labels with topics of how many these are.
        """
        rows, label = self.rows_of_corpus(corpus), latents["root"][:, :-1].argmax(axis=0)
        cells, n = np.unique(corpus.doc_of * rows.n_labels + label[latents["z"]], return_counts=True)
        share = n / corpus.doc_lengths[cells // rows.n_labels]
        n_filled, n_of_label = np.count_nonzero(corpus.doc_lengths), np.bincount(label)
        return super().quantities(latents, corpus, probes, counts) | {
            "label_entropy": np.asarray(-np.sum(share * np.log(share)) / max(n_filled, 1)),
            "label_topics": np.asarray(label.size / max(np.count_nonzero(n_of_label), 1)),
        }

    @override
    def frozen_topics(self, latents: Latents, corpus: Corpus) -> FrozenTopics:
        """See `Model.frozen_topics`: of documents without labels, at even shares."""
        prior = self.expected_prior(latents, sparse.csr_array((1, len(self.columns(corpus)))))
        words = self.word_probabilities(latents, corpus, np.arange(corpus.n_words))[0]
        unseen = self.new_word_probabilities(latents, corpus, np.arange(corpus.n_words))
        concentration = self.word_concentration(latents, corpus)
        return FrozenTopics(np.concatenate([words, unseen]), prior, concentration=concentration)

    @override
    def predictive(self, latents: Latents, corpus: Corpus) -> LabelledPredictive:
        """See `Model.predictive`: new documents have labels too."""

        def prior_of(rows: Any) -> np.ndarray:
            return self.expected_prior(latents, rows)

        def prior_at(share: np.ndarray) -> np.ndarray:
            return self._prior(latents, share)

        topics, columns = self.frozen_topics(latents, corpus), self.columns(corpus)
        return MixedPredictive(topics, columns, self.label, prior_of, prior_at, float(latents["tau"]))

    @override
    def memory_of_chain(self, corpus: Corpus, variant: str | None = None) -> dict[str, int]:
        n_rows = self.rows_of_corpus(corpus).sizes.size
        rows = {"topics of rows of labels": 8 * n_rows * mixed.ROOM}
        return super().memory_of_chain(corpus, variant) | rows

    @override
    def n_reference_topics(self, corpus: Corpus, truncation: int) -> int:
        return truncation * self.rows_of_corpus(corpus).n_labels

    @override
    def document_block(self, corpus: Corpus, n_topics: int) -> Callable[[], Any]:
        rows = self.rows_of_corpus(corpus)
        has = rows.dense(np.ones(rows.label.size)) > 0.0
        return reference.measures(
            has, rows.of_document, n_topics // rows.n_labels, self.gamma, self.alpha, self.tau
        )

    @override
    def document_data(self, corpus: Corpus) -> dict[str, Any]:
        rows = self.rows_of_corpus(corpus)
        has = rows.dense(np.ones(rows.label.size)).astype(int)
        return {"R": len(has), "J": rows.n_labels, "has": has, "row": rows.of_document + 1}

    @override
    def documents_at(
        self, draw: Mapping[str, np.ndarray], labels: np.ndarray, corpus: Corpus
    ) -> tuple[Latents, np.ndarray]:
        """See `TwoSidedModel.documents_at`; topics without tokens join the rest of their label."""
        rows, sticks = self.rows_of_corpus(corpus), np.asarray(draw["root"])
        z, used = by_first_appearance(labels)
        label, stick = used // sticks.shape[1], sticks.ravel()[used]
        rest = sticks.copy()
        rest.ravel()[used] = 0.0
        root = _root(label, stick, rest.sum(axis=1))
        share = np.asarray(draw["share"])[rows.of_entry, rows.label]
        hyper = {name: np.asarray(draw[name]) for name in ("gamma", "alpha", "tau")}
        return {"z": z, "root": root} | rows.named(share) | hyper, used

    @override
    def load_documents(self, room: Room, latents: Latents, corpus: Corpus) -> Any:
        rows = self.rows_of_corpus(corpus)
        return room(mixed).mixed_documents(
            latents["root"],
            (rows.ptr, rows.label),
            rows.shares(latents),
            latents,
            self.prior_arrays(),
        )

    @override
    def snapshot_documents(self, state: State) -> Latents:
        side, k = state.documents, int(state.topics.n_topics[0])
        several = np.diff(side.row_ptr) > 1
        share = side.share[np.repeat(several, np.diff(side.row_ptr))]
        return (
            {"root": np.column_stack([side.root[:k].T, side.left])}
            | ({"share": share} if several.any() else {})
            | {name: np.array(getattr(side, name)[0]) for name in ("alpha", "gamma", "tau")}
        )


def _root(label: np.ndarray, stick: Any, left: Any) -> np.ndarray:
    """Sticks (K,) of topics of labels (K,), and what is left of each label (J,), as the latents have them."""
    root = np.zeros((len(left), label.size + 1))
    root[label, np.arange(label.size)] = stick
    root[:, -1] = left
    return root


def _even_shares(rows: Rows) -> np.ndarray:
    """Shares of the labels of each row, all alike, float (E,)."""
    return np.repeat(1.0 / rows.sizes, rows.sizes)


@lru_cache(maxsize=2)
def _rows(model: DpMrm, corpus: Corpus) -> Rows:
    """See `DpMrm.rows_of_corpus`; kept, as every draw of a chain asks for them."""
    return model.rows_of(corpus, corpus.n_documents)

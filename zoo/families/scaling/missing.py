"""Labels that are not known: which questions they ask, and how probable answers are."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any, override

import numpy as np
from scipy import sparse

from ...contract import Design, Latents, Quantities
from ...corpus import Corpus, CorpusError
from ...corpus.labels import Column, Labelled, asked_for, distinct_rows, label_matrix
from ..labelled import LabelledModel

PROBED = 8
"""Labels that are not known, of which quantities tell."""


@dataclass(frozen=True)
class Asked:
    """Questions about the labels of documents, and what is known.

    A question is which category a document has, or whether it has a label of a set.

    Attributes
    ----------
    document : int (M,)
        Of each question, in order.
    row : int (M,)
        Of each question, among the rows of labels.
    ptr : int (M + 1,)
        Question i is about the labels ``label[ptr[i]:ptr[i + 1]]``.
    label : int (n,)
    may_be_none : int (M,)
        1 where the first answer is that the document has the label not; else 0.
    n_known : int (J,)
        Documents that are known to have each label.
    n_documents : int
    rows : sparse float (R, J)
        Rows of labels, with an entry for every label of a question, which is zero.
    of_document : int (D,)
        Row of each document; one with questions has a row of its own.
    entry : int (n,)
        Place of each label of a question among the entries of the rows.
    """

    document: np.ndarray
    row: np.ndarray
    ptr: np.ndarray
    label: np.ndarray
    may_be_none: np.ndarray
    n_known: np.ndarray
    n_documents: int
    rows: Any
    of_document: np.ndarray
    entry: np.ndarray

    @property
    def n_answers(self) -> np.ndarray:
        """How many answers each question has, int (M,)."""
        return np.diff(self.ptr) + self.may_be_none

    def labels_of(self, answer: np.ndarray) -> np.ndarray:
        """Which of the labels of the questions the documents have, given answers, bool (n,)."""
        out, chosen = np.zeros(self.label.size, bool), answer - self.may_be_none
        out[(self.ptr[:-1] + chosen)[chosen >= 0]] = True
        return out

    def rows_at(self, answer: np.ndarray) -> Any:
        """Rows of labels given answers, sparse (R, J)."""
        data = self.rows.data.copy()
        data[self.entry] = self.labels_of(answer)
        return sparse.csr_array((data, self.rows.indices, self.rows.indptr), shape=self.rows.shape)

    def n_with(self, answer: np.ndarray) -> np.ndarray:
        """Documents that have each label, int (J,)."""
        return self.n_known + np.bincount(self.label[self.labels_of(answer)], minlength=self.n_known.size)

    def log_probability(self, answer: np.ndarray) -> float:
        """Log probability of answers given what is known, by the urns of `draw`."""
        out = 0.0

        def note(i: int, p: np.ndarray) -> int:
            nonlocal out
            out += float(np.log(p[answer[i]]))
            return int(answer[i])

        self._one_by_one(note)
        return out

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Draw answers given what is known, int (M,).

        Probabilities of categories are Dirichlet with ones a priori, that of a label of a set uniform: so an
        answer weighs one more than the documents before that have it.
        """
        return self._one_by_one(lambda i, p: int(rng.choice(p.size, p=p)))

    def _one_by_one(self, choose: Callable[[int, np.ndarray], int]) -> np.ndarray:
        """Let `choose` answer each question, given the probabilities of its answers after those before."""
        answer, n_with = np.zeros(self.document.size, np.int64), self.n_known.copy()
        n_without = self.n_documents - np.bincount(self.label, minlength=n_with.size) - n_with
        for i, may_be_none in enumerate(self.may_be_none):
            own = self.label[self.ptr[i] : self.ptr[i + 1]]
            weights = 1.0 + (np.append(n_without[own], n_with[own]) if may_be_none else n_with[own])
            answer[i] = choose(i, weights / weights.sum())
            if answer[i] < may_be_none:
                n_without[own] += 1
            else:
                n_with[own[answer[i] - may_be_none]] += 1
        return answer

    def all_answers(self) -> Iterator[np.ndarray]:
        """All answers together, of micro corpora."""
        return (np.array(each, np.int64) for each in product(*map(range, self.n_answers)))

    def most_frequent(self) -> np.ndarray:
        """Answer with the most frequent category, and no label of a set, int (M,)."""
        owns = [self.label[a:b] for a, b in zip(self.ptr[:-1], self.ptr[1:], strict=True)]
        best = [0 if self.may_be_none[i] else int(self.n_known[own].argmax()) for i, own in enumerate(owns)]
        return np.array(best, np.int64)


def ask(columns: tuple[Column, ...], missing: str, corpus: Labelled, model: str, n_documents: int) -> Asked:
    """Ask for the labels of documents that have the label, or the category, `missing`, if that is any.

    Parameters
    ----------
    columns : tuple of Column
        Labels that documents can have, without that one.
    missing : str
    corpus : corpus or design
    model : str
        For errors.
    n_documents : int
    """
    known = label_matrix(columns, corpus, model, n_documents)
    questions: list[tuple[int, list[int], int]] = []
    names = (column.covariate for column in columns if missing and not column.is_number)
    for name in dict.fromkeys(names):
        own = [j for j, c in enumerate(columns) if c.covariate == name and not c.is_number]
        is_unknown = label_matrix((Column(name, missing),), corpus, model, n_documents)
        is_set = sparse.issparse(corpus.covariates.get(name))
        for d in np.flatnonzero(is_unknown.toarray()[:, 0]).tolist():
            if is_set:
                open_ones = set(own) - set(known.indices[known.indptr[d] : known.indptr[d + 1]].tolist())
                questions += [(d, [j], 1) for j in sorted(open_ones)]
            else:
                questions.append((d, own, 0))
    questions.sort(key=lambda question: question[0])
    return _asked(questions, known)


def _asked(questions: list[tuple[int, list[int], int]], known: Any) -> Asked:
    """Put questions in order: document, labels, whether none of these is an answer."""
    n_documents, n_labels = known.shape
    document = np.array([d for d, _, _ in questions], np.int64)
    ptr = np.cumsum([0, *(len(own) for _, own, _ in questions)])
    label = np.array([j for _, own, _ in questions for j in own], np.int64)
    of_label = np.repeat(document, np.diff(ptr))
    # A mark of its own keeps the row of a document apart from all others.
    marks = sparse.csr_array((-2.0 - of_label, (of_label, label)), shape=known.shape)
    rows, of_document = distinct_rows(sparse.csr_array(known + marks))
    starts = rows.indptr[of_document[of_label]]
    entry = np.array(
        [
            a + np.searchsorted(rows.indices[a:b], j)
            for a, b, j in zip(starts, rows.indptr[of_document[of_label] + 1], label, strict=True)
        ],
        np.int64,
    )
    rows.data[entry] = 0.0
    return Asked(
        document=document,
        row=of_document[document],
        ptr=ptr,
        label=label,
        may_be_none=np.array([none for _, _, none in questions], np.int64),
        n_known=np.bincount(known.indices, known.data != 0.0, n_labels).astype(np.int64),
        n_documents=n_documents,
        rows=rows,
        of_document=of_document,
        entry=entry,
    )


def answers_of(latents: Mapping[str, np.ndarray]) -> np.ndarray:
    """Answers among latents, int (M,); there are none where there are no questions."""
    return latents.get("missing_label", np.zeros(0, np.int64))


def as_latents(answer: np.ndarray) -> Latents:
    """Answers as they are among latents."""
    return {"missing_label": answer} if answer.size else {}


class PartlyLabelledModel(LabelledModel):
    """Base of the models that sample labels of documents which are not known.

    Attributes
    ----------
    missing : str
        Category, or label of a set, that stands for those; "" where all is known.
    """

    missing: str

    @override
    def columns(self, corpus: Labelled) -> tuple[Column, ...]:
        """See `LabelledModel.columns`; what stands for labels that are not known is none.

        Raises
        ------
        CorpusError
            There are several labels, and this is none of them, or there are numbers alone.
        """
        columns = super().columns(corpus)
        if not self.missing:
            return columns
        left = tuple(column for column in columns if column.is_number or column.value != self.missing)
        of_categories = [column.covariate for column in columns if not column.is_number]
        has_choice = len(of_categories) > len(set(of_categories))  # else it may be a part of a corpus
        if len(left) == len(columns) and (has_choice or self._has_numbers_alone(corpus)):
            there = ", ".join(column.value for column in columns if not column.is_number) or "none"
            raise CorpusError(
                f"{self.label}: missing: expected one of several labels, no number, found {self.missing!r}; "
                f"there are {there}"
            )
        return left

    def _has_numbers_alone(self, corpus: Labelled) -> bool:
        numbers = {column.covariate for column in super().columns(corpus) if column.is_number}
        told = {name for name, _ in asked_for(self.labels, corpus, has_numbers=self.has_numbers)}
        return bool(told) and told == numbers

    def asked(self, corpus: Labelled, n_documents: int) -> Asked:
        """Questions about the labels of a corpus, or of a design, that are not known."""
        return ask(self.columns(corpus), self.missing, corpus, self.label, n_documents)

    @override
    def label_rows(self, corpus: Corpus) -> tuple[Any, np.ndarray]:
        """See `LabelledModel.label_rows`; labels that are not known have entries that are zero."""
        if not self.missing:
            return super().label_rows(corpus)
        asked = self.asked_of(corpus)
        return asked.rows, asked.of_document

    def rows_at(self, latents: Mapping[str, np.ndarray], corpus: Corpus) -> tuple[Any, np.ndarray]:
        """Rows of labels at one draw, sparse (R, J), and the row of each document, int (D,)."""
        rows, of_document = self.label_rows(corpus)
        if self.missing:
            rows = self.asked_of(corpus).rows_at(answers_of(latents))
        return rows, of_document

    def asked_of(self, corpus: Corpus) -> Asked:
        """Questions about a corpus; kept, as every draw of a chain asks."""
        return _asked_of(self, corpus)

    @override
    def range_of_tokens(self, name: str, corpus: Corpus) -> tuple[int, int | np.ndarray]:
        """See `Model.range_of_tokens`; an answer is one of those to its question."""
        if name == "missing_label":
            return 0, self.asked_of(corpus).n_answers - 1
        return super().range_of_tokens(name, corpus)

    def draw_labels(self, design: Design, rng: np.random.Generator) -> tuple[Any, Latents]:
        """Labels of the documents of a design, sparse (D, J), and what of them is a latent."""
        n_documents = len(design.doc_lengths)
        if not self.missing:
            return self.labels_of(design, n_documents), {}
        asked = self.asked(design, n_documents)
        answer = asked.draw(rng)
        return asked.rows_at(answer)[asked.of_document], as_latents(answer)

    def labels_started(self, corpus: Corpus) -> Latents:
        """Answers with which a chain can start."""
        return as_latents(self.asked_of(corpus).most_frequent()) if self.missing else {}

    def log_labels(self, latents: Latents, corpus: Corpus) -> float:
        """Log probability of the answers given what is known."""
        return self.asked_of(corpus).log_probability(answers_of(latents)) if self.missing else 0.0

    def all_labels(self, corpus: Corpus) -> Iterator[tuple[Any, float]]:
        """All labels that the documents may have, sparse (D, J), and the log probability of each."""
        if not self.missing:
            yield self.labels_of(corpus, corpus.n_documents), 0.0
            return
        asked = self.asked_of(corpus)
        for answer in asked.all_answers():
            yield asked.rows_at(answer)[asked.of_document], asked.log_probability(answer)

    @property
    def label_dimensions(self) -> dict[str, tuple[str, ...]]:
        """Axes of the answers and of `label_quantities`; see `Model.dimensions`."""
        names = {
            "missing_label": "question",
            "probed_label": "probed_question",
            "documents_with": "label_name",
        }
        return {name: (axis,) for name, axis in names.items() if self.missing}

    def label_quantities(self, latents: Latents, corpus: Corpus) -> Quantities:
        """First answers, and how many documents have each label."""
        if not self.missing:
            return {}
        answer = answers_of(latents)
        n_with = self.asked_of(corpus).n_with(answer)
        return {"probed_label": answer[:PROBED].astype(float), "documents_with": n_with.astype(float)}


@lru_cache(maxsize=2)
def _asked_of(model: PartlyLabelledModel, corpus: Corpus) -> Asked:
    """See `PartlyLabelledModel.asked_of`."""
    return model.asked(corpus, corpus.n_documents)

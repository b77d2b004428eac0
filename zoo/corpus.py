"""A corpus: ragged tokens, their vocabulary, and what is known of the documents."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np


class CorpusError(ValueError):
    """A corpus, or a file that should hold one, is not as it must be. The message is one line."""


def _as_integers(name: str, values: object, dtype: type) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim != 1:
        raise CorpusError(f"{name}: expected one dimension, found shape {array.shape}")
    if array.size and array.dtype.kind not in "iu":
        if array.dtype.kind != "f" or not np.all(np.isfinite(array)) or np.any(array != np.floor(array)):
            bad = next((i for i, x in enumerate(array.tolist()) if not _is_whole(x)), 0)
            raise CorpusError(f"{name}[{bad}]: expected a whole number, found {array[bad]!r}")
    if array.size and (array.min() < np.iinfo(dtype).min or array.max() > np.iinfo(dtype).max):
        raise CorpusError(f"{name}: a value does not fit {np.dtype(dtype).name}")
    out = np.array(array, dtype=dtype)
    out.setflags(write=False)
    return out


def _is_whole(value: object) -> bool:
    return isinstance(value, (int, float)) and float(value).is_integer()


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents as ragged word ids.

    Document d is ``words[doc_ptr[d]:doc_ptr[d + 1]]``. A document may be empty: it stays in the corpus and
    carries no information in any model of this package.

    Parameters
    ----------
    words : int (N,)
        Word id of each token, in ``0..n_words - 1``.
    doc_ptr : int (D + 1,)
        Non-decreasing, from 0 to N.
    vocabulary : sequence of str, optional
        One word an id; ``w0, w1, …`` where none is given.
    n_words : int, optional
        Size of the vocabulary V; taken from `vocabulary`, else the largest id plus one.
    group : int (D,), optional
        Group (task, collection) of each document, in ``0..n_groups - 1``.
    group_names : sequence of str, optional
    segment_ptr : int (S + 1,), optional
        Sentence s is ``words[segment_ptr[s]:segment_ptr[s + 1]]``; includes every document boundary.
    covariates : mapping of str to array (D, …), optional
        Labels, ratings and whatever else is known of each document.
    in_order : bool
        Whether the tokens of a document stand in reading order.

    Raises
    ------
    CorpusError
        Names the field and entry that is wrong, and what was expected.
    """

    words: np.ndarray
    doc_ptr: np.ndarray
    vocabulary: np.ndarray = None  # type: ignore[assignment]
    n_words: int = None  # type: ignore[assignment]
    group: np.ndarray | None = None
    group_names: np.ndarray | None = None
    segment_ptr: np.ndarray | None = None
    covariates: Mapping[str, np.ndarray] = field(default_factory=dict)
    in_order: bool = False

    def __post_init__(self):
        words = _as_integers("words", self.words, np.int32)
        doc_ptr = _as_integers("doc_ptr", self.doc_ptr, np.int64)
        _check_pointers("doc_ptr", doc_ptr, words.size)
        vocabulary = self.vocabulary
        if vocabulary is None:
            n_words = self.n_words if self.n_words is not None else int(words.max(initial=-1)) + 1
            vocabulary = np.array([f"w{w}" for w in range(n_words)], dtype=str)
        else:
            vocabulary = np.asarray(vocabulary, dtype=str)
            if vocabulary.ndim != 1:
                raise CorpusError(f"vocabulary: expected one dimension, found shape {vocabulary.shape}")
            if self.n_words is not None and self.n_words != vocabulary.size:
                raise CorpusError(f"n_words: expected the vocabulary's {vocabulary.size}, found {self.n_words}")
        if vocabulary.size == 0:
            raise CorpusError("vocabulary: expected at least one word, found none")
        outside = np.flatnonzero((words < 0) | (words >= vocabulary.size))
        if outside.size:
            i = int(outside[0])
            raise CorpusError(f"words[{i}]: expected an id in 0..{vocabulary.size - 1}, found {words[i]}")
        n_documents = doc_ptr.size - 1
        group = self.group
        if group is not None:
            group = _as_integers("group", group, np.int32)
            if group.size != n_documents:
                raise CorpusError(f"group: expected one entry a document ({n_documents}), found {group.size}")
            if group.size and group.min() < 0:
                raise CorpusError(f"group[{int(group.argmin())}]: expected 0 or more, found {group.min()}")
        group_names = self.group_names
        if group_names is not None:
            group_names = np.asarray(group_names, dtype=str)
            if group is None or (group.size and group.max() >= group_names.size):
                raise CorpusError(f"group_names: {group_names.size} names are too few for the groups in use")
        segment_ptr = self.segment_ptr
        if segment_ptr is not None:
            segment_ptr = _as_integers("segment_ptr", segment_ptr, np.int64)
            _check_pointers("segment_ptr", segment_ptr, words.size)
            if not np.isin(doc_ptr, segment_ptr).all():
                raise CorpusError("segment_ptr: expected every document boundary to be a segment boundary")
        covariates = {name: np.asarray(values) for name, values in self.covariates.items()}
        for name, values in covariates.items():
            if values.shape[:1] != (n_documents,):
                raise CorpusError(f"covariates[{name!r}]: expected {n_documents} rows, found shape {values.shape}")
        for name, value in {
            "words": words, "doc_ptr": doc_ptr, "vocabulary": vocabulary, "n_words": int(vocabulary.size),
            "group": group, "group_names": group_names, "segment_ptr": segment_ptr, "covariates": covariates,
        }.items():  # fmt: skip
            object.__setattr__(self, name, value)

    @property
    def n_tokens(self) -> int:
        """Number of tokens, N."""
        return int(self.words.size)

    @property
    def n_documents(self) -> int:
        """Number of documents, D."""
        return int(self.doc_ptr.size - 1)

    @property
    def n_groups(self) -> int:
        """Number of groups; 1 where the corpus has none."""
        if self.group is None:
            return 1
        return int(self.group_names.size if self.group_names is not None else self.group.max(initial=0) + 1)

    @cached_property
    def doc_lengths(self) -> np.ndarray:
        """Tokens of each document, int64 (D,)."""
        return np.diff(self.doc_ptr)

    @cached_property
    def doc_of(self) -> np.ndarray:
        """Document of each token, int64 (N,)."""
        return np.repeat(np.arange(self.n_documents), self.doc_lengths)

    @cached_property
    def group_of_doc(self) -> np.ndarray:
        """Group of each document, int32 (D,); zeros where the corpus has no groups."""
        return self.group if self.group is not None else np.zeros(self.n_documents, np.int32)

    def counts(self) -> np.ndarray:
        """Dense document-word counts, int64 (D, V); for small corpora."""
        out = np.zeros((self.n_documents, self.n_words), np.int64)
        np.add.at(out, (self.doc_of, self.words), 1)
        return out

    def take(self, documents: np.ndarray) -> "Corpus":
        """Corpus of some documents, by index or mask; the vocabulary and the groups stay."""
        chosen = np.arange(self.n_documents)[documents]
        pieces = [self.words[self.doc_ptr[d] : self.doc_ptr[d + 1]] for d in chosen]
        segment_ptr = None
        if self.segment_ptr is not None:
            lengths = [
                np.diff(self.segment_ptr[(self.segment_ptr >= self.doc_ptr[d]) & (self.segment_ptr <= self.doc_ptr[d + 1])])
                for d in chosen
            ]
            segment_ptr = np.concatenate([[0], np.cumsum(np.concatenate([*lengths, np.zeros(0, np.int64)]))])
        return Corpus(
            words=np.concatenate([*pieces, np.zeros(0, np.int32)]),
            doc_ptr=np.concatenate([[0], np.cumsum(self.doc_lengths[chosen])]),
            vocabulary=self.vocabulary,
            group=None if self.group is None else self.group[chosen],
            group_names=self.group_names
            if self.group_names is not None or self.group is None
            else np.array([f"group {g}" for g in range(self.n_groups)]),
            segment_ptr=segment_ptr,
            covariates={name: values[chosen] for name, values in self.covariates.items()},
            in_order=self.in_order,
        )

    def digest(self) -> str:
        """SHA-256 of tokens, pointers, vocabulary and groups, in hexadecimal."""
        sha = hashlib.sha256()
        for array in (self.words, self.doc_ptr, self.group_of_doc):
            sha.update(np.ascontiguousarray(array).tobytes())
        sha.update("\0".join(self.vocabulary.tolist()).encode())
        return sha.hexdigest()


def _check_pointers(name: str, pointers: np.ndarray, n_tokens: int) -> None:
    if pointers.size == 0 or pointers[0] != 0 or pointers[-1] != n_tokens:
        found = "nothing" if pointers.size == 0 else f"{pointers[0]} to {pointers[-1]}"
        raise CorpusError(f"{name}: expected to run from 0 to the number of tokens ({n_tokens}), found {found}")
    falls = np.flatnonzero(np.diff(pointers) < 0)
    if falls.size:
        raise CorpusError(f"{name}[{falls[0] + 1}]: expected no less than the entry before, found {pointers[falls[0] + 1]}")

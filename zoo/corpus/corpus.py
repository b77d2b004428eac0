"""A corpus: ragged tokens, their vocabulary, and what is known of the documents."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ..memory import require_memory
from .associations import Associations
from .counts import is_table, names_of_columns, tokens_of_counts
from .fields import (
    CorpusError,
    Covariate,
    as_covariate,
    as_covariate_names,
    as_flag,
    as_groups,
    as_pointers,
    as_positions,
    as_segments,
    as_text,
    as_word_ids,
    frozen,
    no_sentences,
)
from .texts import composed, tokens_of_texts

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer

__all__ = ["Corpus", "CorpusError"]


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Documents as ragged word ids.

    Document d is ``words[doc_ptr[d]:doc_ptr[d + 1]]``. A document may be empty: it stays in the corpus and
    carries no information in any model of this package. All arrays are read-only copies.

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
        ``group 0, group 1, …`` where there are groups and no names are given.
    segment_ptr : int (S + 1,), optional
        Sentence s is ``words[segment_ptr[s]:segment_ptr[s + 1]]``; includes every document boundary. No
        sentence is empty.
    covariates : mapping of str to array (D, …), optional
        Labels, ratings and whatever else is known of each document: finite numbers or text. Where a document
        has a set of labels or authors, a sparse matrix (D, A) of zeros and ones.
    covariate_names : mapping of str to sequence of str, optional
        For a covariate of integers the names of its values, for a matrix the names of its columns; a sparse
        matrix called ``author`` has ``author 0, author 1, …`` where none are given.
    in_order : bool
        Whether the tokens of a document stand in reading order.
    associations : Associations, optional
        How words of topics that the groups share become words of each group.

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
    covariates: Mapping[str, Covariate] = field(default_factory=dict)
    covariate_names: Mapping[str, np.ndarray] = field(default_factory=dict)
    in_order: bool = False
    associations: Associations | None = None

    def __post_init__(self):
        words, vocabulary = as_word_ids(self.words, self.vocabulary, self.n_words)
        doc_ptr = as_pointers("doc_ptr", self.doc_ptr, words.size)
        n_documents = doc_ptr.size - 1
        group, group_names = as_groups(self.group, self.group_names, n_documents)
        as_text("names of covariates", list(self.covariates))
        covariates = {
            name: as_covariate(name, values, n_documents) for name, values in self.covariates.items()
        }
        self._set(
            words=words,
            doc_ptr=doc_ptr,
            vocabulary=vocabulary,
            n_words=int(vocabulary.size),
            group=group,
            group_names=group_names,
            segment_ptr=None if self.segment_ptr is None else as_segments(self.segment_ptr, doc_ptr),
            covariates=covariates,
            covariate_names=as_covariate_names(self.covariate_names, covariates),
            in_order=as_flag("in_order", self.in_order),
        )
        self._check_associations()

    def _check_associations(self) -> None:
        if self.associations is None:
            return
        found = (self.associations.n_groups, self.associations.n_words)
        if found != (self.n_groups, self.n_words):
            raise CorpusError(
                f"associations: expected {self.n_groups} groups and {self.n_words} words, found {found[0]} "
                f"and {found[1]}"
            )

    def _set(self, **checked: Any) -> None:
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_counts(cls, counts: Any, vocabulary: Any = None, **fields: Any) -> "Corpus":
        """Corpus of a document-word matrix, such as ``CountVectorizer().fit_transform(texts)``.

        Parameters
        ----------
        counts : array or scipy sparse matrix (D, V)
            Whole numbers of at least 0, of any dtype but bool, which is more likely a mistake. Within a
            document the tokens come out sorted by word.
        vocabulary : sequence of str (V,), optional
            For scikit-learn, ``vectorizer.get_feature_names_out()``. Of a table the names of its columns,
            unless given.
        **fields
            Other fields of `Corpus`: ``group``, ``covariates``, …

        Raises
        ------
        CorpusError
            Names the row and column that is negative, fractional or NaN.
        """
        words: Any = names_of_columns(counts) if vocabulary is None and is_table(counts) else vocabulary
        return cls(**tokens_of_counts(counts), vocabulary=words, **fields)

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[Any],
        vectorizer: "CountVectorizer | None" = None,
        *,
        sentences: bool = False,
        **fields: Any,
    ) -> "Corpus":
        """Corpus of texts, its tokens in reading order.

        Parameters
        ----------
        texts : iterable of str, or of lists of str
            One a document, or the tokens of one; a document none of whose words are in the vocabulary is
            empty.
        vectorizer : sklearn.feature_extraction.text.CountVectorizer, optional
            Its analyser splits the texts, its options choose the vocabulary (``stop_words``, ``min_df``,
            ``max_features``, ``vocabulary``, …). A copy of it is fitted. With n-grams beyond words the order
            of the tokens is the analyser's, and the corpus is not marked `in_order`.
        sentences : bool
            Whether each line of a text is a sentence, a segment of the corpus; one without a word in the
            vocabulary is gone. The vocabulary is the same as without.
        **fields
            Other fields of `Corpus`.

        Raises
        ------
        CorpusError
            If no word is left in the vocabulary, or if sentences are asked of lists of tokens, or of n-grams.
        """
        return cls(**tokens_of_texts(texts, vectorizer, sentences), **fields)

    @classmethod
    def of(cls, data: Any) -> "Corpus":
        """Corpus of what is at hand: a corpus, a document-word matrix or table, texts, or lists of tokens.

        Raises
        ------
        CorpusError
            `data` is none of these, such as a dictionary, or a table that holds anything but counts.
        """
        if isinstance(data, Corpus):
            return data
        if isinstance(data, Mapping):
            raise CorpusError("expected counts or texts, found a mapping; give its values")
        is_matrix = sparse.issparse(data) or (isinstance(data, np.ndarray) and data.ndim == 2)
        return cls.from_counts(data) if is_matrix or is_table(data) else cls.from_texts(data)

    def __repr__(self) -> str:
        sizes = f"{self.n_documents:,} documents, {self.n_tokens:,} tokens, {self.n_words:,} words"
        return f"Corpus({sizes})" if self.group is None else f"Corpus({sizes}, {self.n_groups:,} groups)"

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
        return 1 if self.group_names is None else int(self.group_names.size)

    @cached_property
    def number_of_word(self) -> dict[str, int]:
        """Where each word stands in the vocabulary."""
        return {word: i for i, word in enumerate(self.vocabulary.tolist())}

    @cached_property
    def doc_lengths(self) -> np.ndarray:
        """Tokens of each document, int64 (D,)."""
        return frozen(np.diff(self.doc_ptr))

    @cached_property
    def doc_of(self) -> np.ndarray:
        """Document of each token, int64 (N,)."""
        return frozen(np.repeat(np.arange(self.n_documents), self.doc_lengths))

    @property
    def n_segments(self) -> int:
        """Number of sentences; 0 where the corpus has none."""
        return 0 if self.segment_ptr is None else int(self.segment_ptr.size - 1)

    @cached_property
    def segment_of(self) -> np.ndarray:
        """Sentence of each token, int64 (N,).

        Raises
        ------
        CorpusError
            The corpus has no sentences; says how to get them.
        """
        if self.segment_ptr is None:
            raise no_sentences("corpus")
        return frozen(np.repeat(np.arange(self.n_segments), np.diff(self.segment_ptr)))

    @cached_property
    def group_of_doc(self) -> np.ndarray:
        """Group of each document, int32 (D,); zeros where the corpus has no groups."""
        return self.group if self.group is not None else frozen(np.zeros(self.n_documents, np.int32))

    def counts(self) -> np.ndarray:
        """Dense document-word counts, int64 (D, V); for small corpora."""
        shape = f"counts of {self.n_documents:,} documents and {self.n_words:,} words"
        require_memory(8 * self.n_documents * self.n_words, shape)
        cells = self.doc_of * self.n_words + self.words
        return np.bincount(cells, minlength=self.n_documents * self.n_words).reshape(-1, self.n_words)

    def take(self, documents: Any) -> "Corpus":
        """Corpus of some documents, with all that is known of them; the vocabulary and the groups stay.

        Parameters
        ----------
        documents : indices, mask (D,) or slice
            In any order, and as often as they are named.

        Raises
        ------
        CorpusError
            If there is no such document.
        """
        chosen = as_positions("documents", documents, self.n_documents)
        lengths = self.doc_lengths[chosen]
        doc_ptr = np.concatenate([[0], np.cumsum(lengths)])
        tokens = np.arange(doc_ptr[-1]) + np.repeat(self.doc_ptr[chosen] - doc_ptr[:-1], lengths)
        return replace(
            self,
            words=self.words[tokens],
            doc_ptr=doc_ptr,
            group=None if self.group is None else self.group[chosen],
            segment_ptr=self._segments_of(tokens),
            covariates={name: values[chosen] for name, values in self.covariates.items()},
        )

    def _segments_of(self, tokens: np.ndarray) -> np.ndarray | None:
        """Segment pointers of a corpus made of these tokens, in whole documents."""
        if self.segment_ptr is None:
            return None
        starts = np.zeros(self.n_tokens + 1, bool)
        starts[self.segment_ptr] = True
        return np.append(np.flatnonzero(starts[tokens]), tokens.size)

    def keep(self, tokens: Any) -> "Corpus":
        """Corpus of some tokens: all documents, perhaps empty, and what is known of them, stay.

        Tokens stay in their order, so `in_order` stays, too: it says nothing of what stood between them.
        A segment that loses all its tokens is gone, as none may be empty.

        Parameters
        ----------
        tokens : mask (N,), increasing indices or slice

        Raises
        ------
        CorpusError
            If there is no such token, or if indices do not increase.
        """
        chosen = as_positions("tokens", tokens, self.n_tokens)
        if np.any(np.diff(chosen) <= 0):
            raise CorpusError("tokens: expected increasing indices, or a mask")
        kept = np.zeros(self.n_tokens, bool)
        kept[chosen] = True
        n_before = np.concatenate([[0], np.cumsum(kept)])
        return replace(
            self,
            words=self.words[kept],
            doc_ptr=n_before[self.doc_ptr],
            segment_ptr=None if self.segment_ptr is None else np.unique(n_before[self.segment_ptr]),
        )

    def of_sentences(self) -> "Corpus":
        """Corpus whose documents are the sentences of this one, each with all that is known of its document.

        A model that knows of no sentences says of each then what it says of documents: `focused` is the IBP
        compound Dirichlet process of sentences. Tokens stay in their order, documents without any are gone.

        Raises
        ------
        CorpusError
            The corpus has no sentences.
        """
        sentences = np.unique(self.segment_of, return_index=True)[1]
        document = self.doc_of[sentences]
        return replace(
            self,
            doc_ptr=np.append(sentences, self.n_tokens),
            group=None if self.group is None else self.group[document],
            covariates={name: values[document] for name, values in self.covariates.items()},
        )

    def flag(self, name: str) -> np.ndarray:
        """Covariate that is true or false, or 1 or 0, of each document, bool (D,).

        Raises
        ------
        CorpusError
            If there is no such covariate, or if it holds anything else.
        """
        values = self.covariates.get(name)
        is_flag = (
            isinstance(values, np.ndarray)
            and values.ndim == 1
            and values.dtype.kind in "biuf"
            and np.isin(values, (0, 1)).all()
        )
        if not is_flag:
            raise CorpusError(f"covariates[{name!r}]: expected a truth value, or 0 or 1, for each document")
        return np.asarray(values, bool)

    def split(self, by: str = "is_test") -> tuple["Corpus", "Corpus"]:
        """Corpus of the documents where a covariate is false, or 0, and of those where it is true, or 1.

        Raises
        ------
        CorpusError
            As `flag` does.
        """
        mask = self.flag(by)
        return self.take(~mask), self.take(mask)

    def grouped(self, by: str) -> "Corpus":
        """Corpus whose groups are the values of a covariate of whole numbers or text.

        Associations stay as `with_groups` says.

        Raises
        ------
        CorpusError
            If there is no such covariate, or if it is an empty text for a document.
        """
        covariate = self.covariates.get(by)
        if not isinstance(covariate, np.ndarray) or covariate.ndim != 1 or covariate.dtype.kind not in "biuU":
            there_are = ", ".join(map(repr, self.covariates)) or "none"
            raise CorpusError(
                f"covariates[{by!r}]: expected a whole number or text a document; there are {there_are}"
            )
        values, group = np.unique(covariate, return_inverse=True)
        if by in self.covariate_names:
            names = self.covariate_names[by][values]
        else:
            names = values if values.dtype.kind == "U" else np.array([f"{by} {value}" for value in values])
        has_none = np.flatnonzero(np.strings.strip(names)[group] == "")
        if has_none.size:
            raise CorpusError(
                f"covariates[{by!r}]: expected a group for every document, found none for document "
                f"{has_none[0] + 1}"
            )
        return self.with_groups(group, names)

    def with_groups(self, group: Any, names: Any = None) -> "Corpus":
        """Corpus with other groups.

        Associations stay if no document changes its group and there are as many groups; else they are gone,
        as they are those of the old groups.

        Parameters
        ----------
        group : int (D,)
        names : sequence of str, optional

        Raises
        ------
        CorpusError
            As for the fields `group` and `group_names`.
        """
        other = replace(self, group=group, group_names=names, associations=None)
        same = other.n_groups == self.n_groups and np.array_equal(other.group_of_doc, self.group_of_doc)
        return replace(other, associations=self.associations) if same else other

    def with_groups_of(self, other: "Corpus") -> "Corpus":
        """Corpus whose groups have the numbers that groups of the same names have in `other`.

        Unchanged where one of the two has no groups.

        Raises
        ------
        CorpusError
            If a group with documents has no namesake.
        """
        if self.group_names is None or other.group_names is None:
            return self
        number = {name: g for g, name in enumerate(other.group_names.tolist())}
        for name in self.group_names[np.unique(self.group_of_doc)].tolist():
            if name not in number:
                raise CorpusError(f"group {name!r}: expected one of {', '.join(number)}")
        to = np.array([number.get(name, 0) for name in self.group_names.tolist()], np.int64)
        return replace(
            self, group=to[self.group_of_doc], group_names=other.group_names, associations=other.associations
        )

    def in_terms_of(self, vocabulary: np.ndarray) -> "Corpus":
        """Corpus of the tokens whose words stand in another vocabulary, str (V,), by its ids.

        A word that does not stand there as it is may do so with its accents composed otherwise. Associations
        are not kept.

        Raises
        ------
        CorpusError
            If a word stands in `vocabulary` twice.
        """
        place = {word: w for w, word in enumerate(vocabulary.tolist())}
        if len(place) < vocabulary.size:
            raise CorpusError("vocabulary: expected each word once, to find words in it")
        of_composed = {composed(word): w for word, w in place.items()}
        ids = [place.get(word, of_composed.get(composed(word), -1)) for word in self.vocabulary.tolist()]
        words = np.array(ids)[self.words]
        known = words >= 0
        return replace(
            self.keep(known),
            words=words[known],
            vocabulary=vocabulary,
            n_words=vocabulary.size,
            associations=None,
        )

    def digest(self) -> str:
        """SHA-256, in hexadecimal, of all that a model may condition on.

        These are tokens, pointers, vocabulary, groups, segments, covariates and associations; not the names
        of groups and covariates' values, nor where the corpus was read from. It is the same on every
        platform.
        """
        sha = hashlib.sha256()
        for name in ("words", "doc_ptr", "vocabulary", "group_of_doc", "segment_ptr"):
            _update(sha, name, getattr(self, name))
        for name in sorted(self.covariates):
            _update(sha, f"covariate {name}", self.covariates[name])
        if self.associations is not None:
            for name in ("row_ptr", "column", "weight"):
                _update(sha, f"associations {name}", getattr(self.associations, name))
        return sha.hexdigest()


def _update(sha: Any, name: str, values: Covariate | None) -> None:
    """Add a named array to a hash, whatever its byte order or width of text."""
    if values is None:
        return
    if not isinstance(values, np.ndarray):
        _update(sha, f"{name} pointers of {values.shape}", values.indptr.astype(np.int64))
        _update(sha, f"{name} ids", values.indices.astype(np.int64))
        return
    little = values.astype(values.dtype.newbyteorder("<"), order="C")
    is_text = values.dtype.kind == "U"
    sha.update(json.dumps([name, "text" if is_text else little.dtype.str, values.shape]).encode())
    sha.update(json.dumps(values.tolist()).encode() if is_text else little.tobytes())

"""Bags of words in memory: document-word matrices and gensim."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ..corpus import Corpus, CorpusError
from ..corpus.counts import MOST_TOKENS, to_counts
from ..corpus.fields import as_array, as_text, sound_coo
from ..memory import in_words, require_memory

if TYPE_CHECKING:
    from gensim.corpora import Dictionary

MOST_OF_A_WORD = 10**7
"""In one document; more are taken for a mistake."""

BYTES_A_TOKEN, BYTES_A_DOCUMENT = 24, 48
"""What a corpus takes while it is made."""


def from_counts(counts: Any, vocabulary: Any = None, **fields: Any) -> Corpus:
    """Corpus of a document-word matrix, such as ``CountVectorizer().fit_transform(texts)``.

    Parameters
    ----------
    counts : array or scipy sparse matrix (D, V)
        Whole numbers of at least 0, of any dtype. Within a document the tokens come out sorted by word.
    vocabulary : sequence of str (V,), optional
        For scikit-learn, ``vectorizer.get_feature_names_out()``.
    **fields
        Other fields of `Corpus`: ``group``, ``covariates``, …

    Raises
    ------
    CorpusError
        Names the row and column that is negative, fractional or NaN.
    """
    counts = counts if sparse.issparse(counts) else as_array("counts", counts)
    if counts.ndim == 2:
        require_memory(BYTES_A_DOCUMENT * counts.shape[0], f"{counts.shape[0]:,} documents")
    cells = sound_coo("counts", counts)
    _check_counts(cells)
    csr: Any = sparse.csr_array((cells.data.astype(np.int64), (cells.row, cells.col)), shape=cells.shape)
    n_tokens = int(csr.data.sum())
    if n_tokens > MOST_TOKENS:
        raise CorpusError(
            f"counts: expected at most {MOST_TOKENS:,} tokens, found {n_tokens:,}, which would take "
            f"{in_words(BYTES_A_TOKEN * n_tokens)} of memory"
        )
    require_memory(BYTES_A_TOKEN * n_tokens, f"{n_tokens:,} tokens")
    return Corpus(
        words=np.repeat(csr.indices, csr.data),
        doc_ptr=np.concatenate([[0], np.cumsum(csr.sum(axis=1))]),
        vocabulary=vocabulary,
        n_words=csr.shape[1],
        **fields,
    )


def from_gensim(bow: Iterable[Any], id2word: Mapping[int, str], **fields: Any) -> Corpus:
    """Corpus of gensim bags of words.

    Parameters
    ----------
    bow : iterable of lists of (word id, count)
        One list a document.
    id2word : gensim.corpora.Dictionary, or mapping of int to str
        Ids must run from 0 without gaps (`Dictionary.compactify`).
    **fields
        Other fields of `Corpus`.

    Raises
    ------
    CorpusError
        Names the document whose ids or counts are wrong.
    """
    try:
        vocabulary = as_text("id2word", [id2word[i] for i in range(len(id2word))])
    except KeyError as missing:
        raise CorpusError(
            f"id2word: expected ids 0..{len(id2word) - 1} without gaps, {missing} is missing"
        ) from None
    documents = [list(document) for document in bow]
    rows = np.repeat(np.arange(len(documents)), [len(document) for document in documents])
    try:
        pairs = np.array(list(chain.from_iterable(documents)), dtype=float).reshape(rows.size, 2)
    except (TypeError, ValueError):
        raise CorpusError("bow: expected lists of pairs (word id, count)") from None
    ids = pairs[:, 0]
    bad = np.flatnonzero(~((ids >= 0) & (ids < vocabulary.size) & (ids == np.floor(ids))))
    if bad.size:
        raise CorpusError(
            f"bow[{rows[bad[0]]}]: expected word ids in 0..{vocabulary.size - 1}, found {ids[bad[0]]:g}"
        )
    shape = (len(documents), vocabulary.size)
    counts = sparse.coo_array((pairs[:, 1], (rows, ids.astype(np.int64))), shape=shape)
    return from_counts(counts, vocabulary, **fields)


def to_gensim(corpus: Corpus) -> tuple[list[list[tuple[int, int]]], "Dictionary"]:
    """Bags of words and `gensim.corpora.Dictionary` of a corpus.

    Raises
    ------
    CorpusError
        If a word stands in the vocabulary twice, which a Dictionary cannot hold.
    ImportError
        If gensim is not installed.
    """
    from gensim.corpora import Dictionary

    names, times = np.unique(corpus.vocabulary, return_counts=True)
    if (times > 1).any():
        raise CorpusError(
            f"vocabulary: expected each word once, found {names[times.argmax()].item()!r} again"
        )
    bow = [list(zip(ids, counts, strict=True)) for ids, counts in document_counts(corpus)]
    return bow, Dictionary.from_corpus(bow, id2word=dict(enumerate(corpus.vocabulary.tolist())))


def document_counts(corpus: Corpus) -> Iterator[tuple[list[int], list[int]]]:
    """Distinct word ids of each document, ascending, and how often each occurs."""
    csr = to_counts(corpus)
    for start, end in zip(csr.indptr[:-1], csr.indptr[1:], strict=True):
        yield csr.indices[start:end].tolist(), csr.data[start:end].tolist()


def _check_counts(cells: Any) -> None:
    data = cells.data
    bad = np.flatnonzero(~((data >= 0) & (data <= MOST_OF_A_WORD) & (data == np.floor(data))))
    if bad.size:
        i = bad[0]
        expected = f"a whole number in 0..{MOST_OF_A_WORD}"
        raise CorpusError(
            f"counts[{cells.row[i]}, {cells.col[i]}]: expected {expected}, found {data[i].item()!r}"
        )

"""Bags of words in memory: document-word matrices and gensim."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ..corpus import Corpus, CorpusError
from ..corpus.counts import to_counts
from ..corpus.fields import as_text

if TYPE_CHECKING:
    from gensim.corpora import Dictionary

from_counts = Corpus.from_counts


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

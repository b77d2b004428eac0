"""Bags of words in files, block by block: into memory, or into a folder of arrays."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..corpus import Corpus, CorpusError
from ..corpus.counts import MOST_OF_A_WORD, MOST_TOKENS
from ..corpus.fields import as_vocabulary
from ..corpus.mapped import BLOCK
from .arrays import LongArray, file_of, save_array
from .bow import from_counts


class Cells(NamedTuple):
    """Some cells of a document-word matrix; a cell may come more than once.

    Attributes
    ----------
    documents, words, counts : int64 (n,)
    n_documents : int
        As far as it is known: after the last block, D.
    """

    documents: np.ndarray
    words: np.ndarray
    counts: np.ndarray
    n_documents: int


class Bags(NamedTuple):
    """An open file of bags of words.

    Attributes
    ----------
    blocks : iterator of Cells
        At least one.
    n_words : int or None
        V, where the file or its vocabulary says it.
    vocabulary : str (V,) or None
    """

    blocks: Iterator[Cells]
    n_words: int | None
    vocabulary: np.ndarray | None


def corpus_of_bags(bags: Bags) -> Corpus:
    """Read a file of bags into memory."""
    blocks = list(bags.blocks)
    documents, words, counts = (np.concatenate(parts) for parts in list(zip(*blocks, strict=True))[:3])
    n_words = int(words.max(initial=-1)) + 1 if bags.n_words is None else bags.n_words
    matrix = sparse.coo_array((counts, (documents, words)), shape=(blocks[-1].n_documents, n_words))
    return from_counts(matrix, bags.vocabulary)


def write_bags(opened: Callable[[], Bags], folder: Path) -> None:
    """Write to `folder` the arrays of the corpus that `corpus_of_bags` makes, in bounded memory.

    The file is read twice: first the tokens of each document are counted, then each is put in its place, so
    that rows may stand in any order. What is held is a block of the file, and some numbers a document.

    Parameters
    ----------
    opened : () -> Bags
        Opens the file.
    folder : Path
    """
    bags = opened()
    lengths, n_words = _count(bags)
    names = as_vocabulary(bags.vocabulary, n_words, np.zeros(0, np.int32))
    doc_ptr = np.concatenate([[0], np.cumsum(lengths)])
    save_array(file_of(folder, "doc_ptr"), doc_ptr)
    save_array(file_of(folder, "vocab"), names)
    save_array(file_of(folder, "in_order"), np.array(False))
    words = LongArray(file_of(folder, "words"), np.int32, int(doc_ptr[-1]))
    _place(opened().blocks, words, doc_ptr)
    _sort(words, doc_ptr)


def _count(bags: Bags) -> tuple[np.ndarray, int]:
    """Tokens of each document, int64 (D,), and the number of words."""
    lengths, n_words, n_tokens = np.zeros(0, np.int64), 0, 0
    for cells in bags.blocks:
        shape = (cells.n_documents, int(cells.words.max(initial=-1)) + 1)
        if cells.counts.max(initial=0) > MOST_OF_A_WORD:  # then this raises, and says where
            from_counts(sparse.coo_array((cells.counts, (cells.documents, cells.words)), shape=shape))
        n_words = max(n_words, shape[1])
        if cells.n_documents > lengths.size:
            lengths = np.concatenate([lengths, np.zeros(cells.n_documents - lengths.size, np.int64)])
        np.add.at(lengths, cells.documents, cells.counts)
        n_tokens += int(cells.counts.sum())
        if n_tokens > MOST_TOKENS:
            raise CorpusError(f"counts: expected at most {MOST_TOKENS:,} tokens, found {n_tokens:,} or more")
    if lengths.size == 0:
        raise CorpusError("expected at least one document, found none")
    return lengths, n_words if bags.n_words is None else bags.n_words


def _place(blocks: Iterator[Cells], words: "LongArray", doc_ptr: np.ndarray) -> None:
    """Put each token into its document."""
    begin = doc_ptr[:-1].copy()
    for cells in blocks:
        order = np.argsort(cells.documents, kind="stable")
        counts = cells.counts[order]
        documents, ids = (np.repeat(x[order], counts) for x in (cells.documents, cells.words))
        if documents.size == 0:
            continue
        filled, first, lengths = np.unique(documents, return_index=True, return_counts=True)
        places = np.arange(documents.size) + np.repeat(begin[filled] - first, lengths)
        start = int(places[0])
        words.part(start, int(places[-1]) + 1)[places - start] = ids
        begin[filled] += lengths


def _sort(words: "LongArray", doc_ptr: np.ndarray) -> None:
    """Sort the tokens within each document by word."""
    d = 0
    while d < doc_ptr.size - 1:
        end = max(d + 1, int(np.searchsorted(doc_ptr, doc_ptr[d] + BLOCK, side="right")) - 1)
        part = words.part(doc_ptr[d], doc_ptr[end])
        document = np.repeat(np.arange(end - d), np.diff(doc_ptr[d : end + 1]))
        part[:] = part[np.lexsort((part, document))]
        d = end

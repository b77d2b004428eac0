"""UCI bag of words: three header lines D, V and number of rows, then rows ``document word count``, from 1."""

from itertools import chain
from pathlib import Path

import numpy as np
from scipy import sparse

from ..corpus import Corpus, CorpusError
from ..corpus.counts import to_counts
from .bow import from_counts
from .plain import read_numbers, read_text, read_vocabulary, write_with_vocabulary


def read_uci(path: Path) -> Corpus:
    """Read UCI bag of words; documents without rows are empty."""
    lines = [*read_text(path).split("\n", 3), "", "", ""]
    expected = "a header of three lines: D, V, number of rows"
    header = read_numbers("\n".join(lines[:3]), r"\d{1,9}", expected)
    if header.size != 3:
        raise CorpusError(f"line {header.size + 1}: expected {expected}")
    n_documents, n_words, n_rows = header.tolist()
    row = r"\d{1,18}[ \t]+\d{1,18}[ \t]+\d{1,18}"
    expected = "'document word count', whole numbers of at least 0"
    rows = read_numbers(lines[3], row, expected, first_line=4).reshape(-1, 3)
    if len(rows) != n_rows:
        raise CorpusError(f"expected {n_rows} rows, as line 3 says, found {len(rows)}")
    documents, words, counts = rows.T
    _check_ids("document", documents, n_documents)
    _check_ids("word", words, n_words)
    vocabulary = read_vocabulary(path)
    if vocabulary is not None and vocabulary.size != n_words:
        raise CorpusError(f"expected a vocabulary of {n_words}, as line 2 says, found {vocabulary.size}")
    matrix = sparse.coo_array((counts, (documents - 1, words - 1)), shape=(n_documents, n_words))
    return from_counts(matrix, vocabulary)


def write_uci(corpus: Corpus, path: Path) -> None:
    """Write UCI bag of words, and the vocabulary beside it."""
    matrix = to_counts(corpus).tocoo()
    columns = (matrix.row + 1).tolist(), (matrix.col + 1).tolist(), matrix.data.tolist()
    header = map(str, (corpus.n_documents, corpus.n_words, matrix.nnz))
    write_with_vocabulary(path, chain(header, map("{} {} {}".format, *columns)), corpus.vocabulary)


def _check_ids(what: str, ids: np.ndarray, most: int) -> None:
    outside = np.flatnonzero((ids < 1) | (ids > most))
    if outside.size:
        i = outside[0]
        raise CorpusError(f"line {i + 4}: expected a {what} in 1..{most}, found {ids[i]}")

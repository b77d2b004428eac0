"""UCI bag of words: three header lines D, V and number of rows, then rows ``document word count``, from 1."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from ..corpus import Corpus, CorpusError
from ..corpus.counts import to_counts
from .bags import Bags, Cells, corpus_of_bags
from .plain import read_numbers, read_vocabulary, text_blocks, write_with_vocabulary

ROW = r"\d{1,18}[ \t]+\d{1,18}[ \t]+\d{1,18}"


def read_uci(path: Path) -> Corpus:
    """Read UCI bag of words; documents without rows are empty."""
    return corpus_of_bags(open_uci(path))


def open_uci(path: Path) -> Bags:
    """Read the header, and the vocabulary."""
    blocks = text_blocks(path)
    head = ""
    while head.count("\n") < 3 and (block := next(blocks, None)):
        head += block[1]
    lines = [*head.split("\n", 3), "", "", ""]
    expected = "a header of three lines: D, V, number of rows"
    header = read_numbers("\n".join(lines[:3]), r"\d{1,9}", expected)
    if header.size != 3:
        raise CorpusError(f"line {header.size + 1}: expected {expected}")
    n_documents, n_words, n_rows = header.tolist()
    vocabulary = read_vocabulary(path)
    if vocabulary is not None and vocabulary.size != n_words:
        raise CorpusError(f"expected a vocabulary of {n_words}, as line 2 says, found {vocabulary.size}")
    cells = _cells(chain([(4, lines[3])], blocks), n_documents, n_words, n_rows)
    return Bags(cells, n_words, vocabulary)


def _cells(blocks: Iterator[tuple[int, str]], n_documents: int, n_words: int, n_rows: int) -> Iterator[Cells]:
    expected = "'document word count', whole numbers of at least 0"
    found = 0
    for line, text in blocks:
        documents, words, counts = read_numbers(text, ROW, expected, first_line=line).reshape(-1, 3).T
        _check_ids("document", documents, n_documents, line)
        _check_ids("word", words, n_words, line)
        found += counts.size
        yield Cells(documents - 1, words - 1, counts, n_documents)
    if found != n_rows:
        raise CorpusError(f"expected {n_rows} rows, as line 3 says, found {found}")


def write_uci(corpus: Corpus, path: Path) -> None:
    """Write UCI bag of words, and the vocabulary beside it."""
    matrix = to_counts(corpus).tocoo()
    columns = (matrix.row + 1).tolist(), (matrix.col + 1).tolist(), matrix.data.tolist()
    header = map(str, (corpus.n_documents, corpus.n_words, matrix.nnz))
    write_with_vocabulary(path, chain(header, map("{} {} {}".format, *columns)), corpus.vocabulary)


def _check_ids(what: str, ids: np.ndarray, most: int, first_line: int) -> None:
    outside = np.flatnonzero((ids < 1) | (ids > most))
    if outside.size:
        i = outside[0]
        raise CorpusError(f"line {first_line + i}: expected a {what} in 1..{most}, found {ids[i]}")

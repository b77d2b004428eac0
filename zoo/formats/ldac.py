"""LDA-C, the format of Blei's implementation: a document a line, ``n_distinct id:count id:count …``."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..corpus import Corpus, CorpusError
from .bags import Bags, Cells, corpus_of_bags
from .bow import document_counts
from .plain import read_numbers, read_vocabulary, text_blocks, write_with_vocabulary

ROW = r"\d{1,18}(?:[ \t]+\d{1,18}:\d{1,18})*+"


def read_ldac(path: Path) -> Corpus:
    """Read LDA-C; ids start at 0, and a document may be ``0``, that is, empty."""
    return corpus_of_bags(open_ldac(path))


def open_ldac(path: Path) -> Bags:
    """Read the vocabulary."""
    vocabulary = read_vocabulary(path)
    return Bags(_cells(path, vocabulary), None if vocabulary is None else vocabulary.size, vocabulary)


def _cells(path: Path, vocabulary: np.ndarray | None) -> Iterator[Cells]:
    expected = "'n id:count id:count …', whole numbers of at least 0"
    begun = 0
    for line, text in text_blocks(path):
        numbers = read_numbers(text, ROW, expected, first_line=line)
        n_pairs = np.array([row.count(":") for row in text.rstrip().split("\n")], np.int64)[: numbers.size]
        heads = np.cumsum(1 + 2 * n_pairs) - (1 + 2 * n_pairs)
        wrong = np.flatnonzero(numbers[heads] != n_pairs)
        if wrong.size:
            d = wrong[0]
            raise CorpusError(
                f"line {line + d}: expected {numbers[heads[d]]} pairs id:count, found {n_pairs[d]}"
            )
        ids, counts = np.delete(numbers, heads).reshape(-1, 2).T
        documents = np.repeat(np.arange(n_pairs.size), n_pairs)
        if vocabulary is not None:
            _check_ids(ids, documents, vocabulary.size, line)
        yield Cells(begun + documents, ids, counts, begun + n_pairs.size)
        begun += n_pairs.size


def _check_ids(ids: np.ndarray, documents: np.ndarray, n_words: int, first_line: int) -> None:
    outside = np.flatnonzero(ids >= n_words)
    if outside.size:
        i = outside[0]
        raise CorpusError(
            f"line {first_line + documents[i]}: expected ids in 0..{n_words - 1}, found {ids[i]}"
        )


def write_ldac(corpus: Corpus, path: Path) -> None:
    """Write LDA-C, and the vocabulary beside it."""
    lines = (
        " ".join([str(len(ids)), *map("{}:{}".format, ids, counts)])
        for ids, counts in document_counts(corpus)
    )
    write_with_vocabulary(path, lines, corpus.vocabulary)

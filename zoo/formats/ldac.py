"""LDA-C, the format of Blei's implementation: a document a line, ``n_distinct id:count id:count …``."""

from pathlib import Path

import numpy as np
from scipy import sparse

from ..corpus import Corpus, CorpusError
from .bow import document_counts, from_counts
from .plain import read_numbers, read_text, read_vocabulary, write_with_vocabulary


def read_ldac(path: Path) -> Corpus:
    """Read LDA-C; ids start at 0, and a document may be ``0``, that is, empty."""
    text = read_text(path)
    expected = "'n id:count id:count …', whole numbers of at least 0"
    numbers = read_numbers(text, r"\d{1,18}(?:[ \t]+\d{1,18}:\d{1,18})*+", expected)
    n_pairs = np.array([line.count(":") for line in text.rstrip().split("\n")], np.int64)[: numbers.size]
    heads = np.cumsum(1 + 2 * n_pairs) - (1 + 2 * n_pairs)
    wrong = np.flatnonzero(numbers[heads] != n_pairs)
    if wrong.size:
        d = wrong[0]
        raise CorpusError(f"line {d + 1}: expected {numbers[heads[d]]} pairs id:count, found {n_pairs[d]}")
    ids, counts = np.delete(numbers, heads).reshape(-1, 2).T
    vocabulary = read_vocabulary(path)
    n_words = int(ids.max(initial=-1)) + 1 if vocabulary is None else vocabulary.size
    documents = np.repeat(np.arange(n_pairs.size), n_pairs)
    outside = np.flatnonzero(ids >= n_words)
    if outside.size:
        i = outside[0]
        raise CorpusError(f"line {documents[i] + 1}: expected ids in 0..{n_words - 1}, found {ids[i]}")
    matrix = sparse.coo_array((counts, (documents, ids)), shape=(n_pairs.size, n_words))
    return from_counts(matrix, vocabulary)


def write_ldac(corpus: Corpus, path: Path) -> None:
    """Write LDA-C, and the vocabulary beside it."""
    lines = (
        " ".join([str(len(ids)), *map("{}:{}".format, ids, counts)])
        for ids, counts in document_counts(corpus)
    )
    write_with_vocabulary(path, lines, corpus.vocabulary)

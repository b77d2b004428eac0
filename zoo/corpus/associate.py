"""Associations of words from text, from embeddings, or from any measure of how words belong together.

Each word gets a set of neighbours: itself, and the words that belong to it most. Word v of a shared topic
becomes any of the words that have it as a neighbour, each as often as the others (Chen et al. 2015, Section
6.2.1):

    p_wv = 1[v in N(w)] / #{w' : v in N(w')}

As w is in N(w), no column is empty.
"""

from typing import Any

import numpy as np
from scipy import sparse

from ..memory import require_memory
from .associations import Associations
from .corpus import Corpus, CorpusError
from .counts import to_counts
from .fields import as_array, sound_coo

BLOCK = 1024
"""Words whose similarities to all others are in memory at once."""


def associations_of(strength: Any, n_groups: int, most: int = 10) -> Associations:
    """Associations of a matrix of how much words belong together, the same for all groups.

    Parameters
    ----------
    strength : array or sparse matrix (V, V)
        Row w says how much each word belongs to w, 0 for not at all; the diagonal does not count.
    n_groups : int
    most : int
        Neighbours of a word, itself among them.

    Raises
    ------
    CorpusError
        The matrix is not square, or holds a negative number or one that is not finite.
    """
    if most < 1:
        raise CorpusError(f"most: expected at least 1 neighbour, the word itself, found {most}")
    strength = strength if sparse.issparse(strength) else as_array("strength", strength)
    n_words = max(strength.shape, default=0)
    require_memory(64 * n_words * n_groups, f"associations of {n_words:,} words in {n_groups:,} groups")
    cells = sound_coo("strength", strength)
    if cells.shape != (n_words, n_words):
        raise CorpusError(f"strength: expected a square matrix, found shape {cells.shape}")
    bad = np.flatnonzero(~(np.isfinite(cells.data) & (cells.data >= 0)))
    if bad.size:
        row, column, value = (x[bad[0]] for x in (cells.row, cells.col, cells.data))
        raise CorpusError(f"strength[{row}, {column}]: expected a finite number, 0 or more, found {value}")
    chosen = (cells.data > 0) & (cells.row != cells.col)
    row, column, value = cells.row[chosen], cells.col[chosen], cells.data[chosen]
    order = np.lexsort((column, -value, row))  # ties in the order of the vocabulary
    row, column = row[order], column[order]
    rank = np.arange(row.size) - np.searchsorted(row, row)
    near = rank < most - 1
    words = np.arange(n_words)
    pairs = np.concatenate([words, row[near]]), np.concatenate([words, column[near]])
    neighbours = sparse.csr_array((np.ones(pairs[0].size), pairs), shape=(n_words, n_words))
    return Associations.of([neighbours] * n_groups, normalise=True)


def cooccurrence(reference: Corpus, corpus: Corpus, window: int | None = 20) -> sparse.csr_array:
    """How often words stand together, n_wv / sqrt(n_w n_v), float (V, V) over the vocabulary of `corpus`.

    The paper does not say which statistic it takes. Plain counts n_wv would make frequent words neighbours of
    every word.

    Parameters
    ----------
    reference : Corpus
        Text; words that `corpus` does not have still take up room in a window.
    corpus : Corpus
    window : int, optional
        n_wv counts pairs of tokens that lie in a window of this many, and n_w tokens. None: both count
        documents.

    Raises
    ------
    CorpusError
        A window is asked for, and the reference is not in reading order; or no word of it is in `corpus`.
    """
    name = {word: w for w, word in enumerate(corpus.vocabulary.tolist())}
    word_of = np.array([name.get(word, -1) for word in reference.vocabulary.tolist()])
    if not np.any(word_of[reference.words] >= 0):
        raise CorpusError("reference: expected some words of the corpus, found none")
    if window is None:
        together, alone = _in_documents(reference, word_of, corpus.n_words)
    else:
        together, alone = _in_windows(reference, word_of, corpus.n_words, window)
    scale = sparse.diags_array(1.0 / np.sqrt(np.maximum(alone, 1)))
    return sparse.csr_array(scale @ together @ scale)


def _renamed_counts(reference: Corpus, word_of: np.ndarray, n_words: int) -> sparse.csr_array:
    """Count the words of the reference in terms of the corpus' vocabulary, float (D, V)."""
    known = np.flatnonzero(word_of >= 0)
    cells = (np.ones(known.size), (known, word_of[known]))
    return sparse.csr_array(to_counts(reference) @ sparse.csr_array(cells, shape=(word_of.size, n_words)))


def _in_documents(
    reference: Corpus, word_of: np.ndarray, n_words: int
) -> tuple[sparse.csr_array, np.ndarray]:
    present = sparse.csr_array(_renamed_counts(reference, word_of, n_words) > 0, dtype=np.float64)
    return sparse.csr_array(present.T @ present), present.sum(axis=0)


def _in_whole_documents(
    reference: Corpus, word_of: np.ndarray, n_words: int
) -> tuple[sparse.csr_array, np.ndarray]:
    """All pairs of tokens of a document lie in one window, however wide it is."""
    counts = _renamed_counts(reference, word_of, n_words)
    frequency = counts.sum(axis=0)
    return sparse.csr_array(counts.T @ counts - sparse.diags_array(frequency)), frequency


def _in_windows(
    reference: Corpus, word_of: np.ndarray, n_words: int, window: int
) -> tuple[sparse.csr_array, np.ndarray]:
    if not reference.in_order:
        raise CorpusError("reference: expected tokens in reading order for a window; count documents instead")
    if window < 2:
        raise CorpusError(f"window: expected at least 2 tokens, found {window}")
    if window >= reference.doc_lengths.max(initial=0):
        return _in_whole_documents(reference, word_of, n_words)
    words = word_of[reference.words]
    together = sparse.csr_array((n_words, n_words))
    for distance in range(1, window):
        first, second = words[:-distance], words[distance:]
        same = reference.doc_of[:-distance] == reference.doc_of[distance:]
        pair = same & (first >= 0) & (second >= 0)
        cells = (np.ones(np.count_nonzero(pair)), (first[pair], second[pair]))
        together = together + sparse.csr_array(cells, shape=(n_words, n_words))
    return sparse.csr_array(together + together.T), np.bincount(words[words >= 0], minlength=n_words)


def similarity(vectors: Any, most: int = 10) -> sparse.csr_array:
    """Cosine similarity of words to those that are nearest, float (V, V); negative ones are left out.

    Parameters
    ----------
    vectors : float (V, n)
        Embedding of each word; zeros where there is none.
    most : int
        Words kept in each row, that of the row among them.

    Raises
    ------
    CorpusError
        Names the word whose vector is wrong.
    """
    vectors = as_array("vectors", vectors)
    if vectors.ndim != 2 or vectors.dtype.kind not in "iuf":
        raise CorpusError(f"vectors: expected numbers (V, n), found {vectors.dtype} of shape {vectors.shape}")
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if bad.size:
        raise CorpusError(f"vectors[{bad[0]}]: expected finite numbers, found {vectors[bad[0]]}")
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(length > 0, length, 1.0)
    n_words = len(unit)
    kept = min(most, n_words)
    rows = []
    for start in range(0, n_words, BLOCK):
        cosine = unit[start : start + BLOCK] @ unit.T
        near = np.argpartition(-cosine, kept - 1, axis=1)[:, :kept]
        values = np.maximum(np.take_along_axis(cosine, near, axis=1), 0.0)
        pointers = np.arange(0, near.size + 1, kept)
        rows.append(sparse.csr_array((values.ravel(), near.ravel(), pointers), shape=(len(cosine), n_words)))
    return sparse.csr_array(sparse.vstack(rows, format="csr"))

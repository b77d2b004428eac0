"""Counts of assignments and their laws, in plain NumPy."""

import numpy as np
from scipy.special import gammaln

from ..corpus import Corpus


def doc_topic_counts(z: np.ndarray, corpus: Corpus, n_topics: int) -> np.ndarray:
    """n_dk, int (D, K)."""
    counts = np.zeros((corpus.n_documents, n_topics), np.int64)
    np.add.at(counts, (corpus.doc_of, z), 1)
    return counts


def topic_word_counts(z: np.ndarray, words: np.ndarray, n_topics: int, among: np.ndarray) -> np.ndarray:
    """How many tokens each topic has of some words, int (K, W).

    Parameters
    ----------
    z, words : int (N,)
        Topics and words of tokens.
    n_topics : int
    among : int (W,)
        The words that are counted.
    """
    known, place = np.unique(among, return_inverse=True)
    column = np.minimum(np.searchsorted(known, words), known.size - 1)
    counted = known[column] == words if known.size else np.zeros(words.size, bool)
    cells = z[counted] * known.size + column[counted]
    counts = np.bincount(cells, minlength=n_topics * known.size)
    return counts.reshape(n_topics, known.size)[:, place]


def log_sequences(rows: np.ndarray, columns: np.ndarray, shapes: np.ndarray) -> float:
    """Log probability of sequences of outcomes, each under proportions that are integrated out.

    Parameters
    ----------
    rows, columns : int (N,)
        Sequence and outcome of each item.
    shapes : float (J,)
        Dirichlet parameters of the outcomes. A shape of zero is allowed where no item has that outcome.

    Notes
    -----
    ``sum_r log [Γ(A) / Γ(A + n_r) · prod_j Γ(a_j + n_rj) / Γ(a_j)]``, A the sum of the shapes. Only
    non-zero counts are visited: a large corpus with many topics has few of them.
    """
    cells, counts = np.unique(rows.astype(np.int64) * shapes.size + columns, return_counts=True)
    lengths = np.bincount(rows)
    lengths = lengths[lengths > 0]
    shape, total = shapes[cells % shapes.size], shapes.sum()
    return float(
        np.sum(gammaln(total) - gammaln(total + lengths)) + np.sum(gammaln(shape + counts) - gammaln(shape))
    )


def by_first_appearance(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Renumber `labels` 0, 1, … by first appearance; return them and the old label of each new one."""
    kept, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(kept.size, np.int64)
    rank[order] = np.arange(kept.size)
    return rank[inverse], kept[order]

"""Coherence of topics: whether their top words occur together in a reference corpus."""

from collections.abc import Callable

import numpy as np
from scipy import sparse

from ..zoo.corpus import Corpus
from ..zoo.memory import require_memory

UNITS = ("document", "sentence")
"""What words can occur together in."""


def top_words(words: np.ndarray, n: int = 10) -> np.ndarray:
    """Ids of the most probable words of each topic, in falling order; ties go to the smaller id.

    Parameters
    ----------
    words : float (K, V)
    n : int
        At most V.

    Returns
    -------
    int (K, n)
    """
    return np.argsort(-words, axis=1, kind="stable")[:, :n]


def umass(top: np.ndarray, reference: Corpus, *, unit: str = "document") -> np.ndarray:
    """UMass coherence (Mimno et al. 2011, eq. 1).

    ``sum_{m=2}^M sum_{l<m} log((D(v_m, v_l) + 1) / D(v_l))``, where ``D`` counts the documents, or sentences,
    that hold all its words and ``v_1, v_2, …`` fall in probability. With documents it is at least
    ``-M (M - 1) / 2`` times the logarithm of their number: values below that are of another unit.

    Parameters
    ----------
    top : int (K, M)
        Word ids of each topic, as from `top_words`; M is at least 2.
    reference : Corpus
        In the original, the training corpus.
    unit : {"document", "sentence"}
        What is counted; in the original, documents.

    Returns
    -------
    float (K,)
        At most 0 apart from the 1 that is added; higher is more coherent. NaN for a topic with a word, other
        than its last, that no unit of `reference` holds.

    Raises
    ------
    ValueError
        There is no such unit, or no such word, or `reference` has no sentences where they are to be counted.
    """

    def score(together: np.ndarray, _: int) -> float:
        earlier, later = np.triu_indices(len(together), 1)
        alone = np.diag(together)[earlier]
        if not alone.all():
            return np.nan
        return float(np.log((together[earlier, later] + 1.0) / alone).sum())

    return _each_topic(score, top, reference, unit)


def npmi(top: np.ndarray, reference: Corpus, *, unit: str = "document") -> np.ndarray:
    """Normalised pointwise mutual information, mean over pairs of top words (Bouma 2009; Lau et al. 2014).

    ``log(p(v, w) / (p(v) p(w))) / -log p(v, w)``, where ``p`` is the share of documents, or sentences, that
    hold all its words.

    Parameters
    ----------
    top : int (K, M)
        Word ids of each topic, as from `top_words`; M is at least 2.
    reference : Corpus
    unit : {"document", "sentence"}
        What is counted.

    Returns
    -------
    float (K,)
        In [-1, 1]. A pair takes its limits: -1 where the two never meet, 1 where every unit holds both.

    Raises
    ------
    ValueError
        As `umass` does.
    """

    def score(together: np.ndarray, n_units: int) -> float:
        v, w = np.triu_indices(len(together), 1)
        joint, alone = together[v, w] / n_units, np.diag(together) / n_units
        value = np.where(joint == 1.0, 1.0, -1.0)
        inside = (joint > 0.0) & (joint < 1.0)
        log_joint = np.log(joint[inside])
        value[inside] = (log_joint - np.log((alone[v] * alone[w])[inside])) / -log_joint
        return float(value.mean())

    return _each_topic(score, top, reference, unit)


def _each_topic(
    score: Callable[[np.ndarray, int], float], top: np.ndarray, reference: Corpus, unit: str
) -> np.ndarray:
    """Apply `score` to each topic's co-occurrence counts (M, M) and the number of units."""
    if unit not in UNITS:
        raise ValueError(f"unit: expected one of {', '.join(UNITS)}, found {unit!r}")
    top = np.asarray(top)
    if top.ndim != 2 or top.shape[1] < 2:
        raise ValueError(f"top words: expected at least two words for each topic, found shape {top.shape}")
    if top.size and (top.min() < 0 or top.max() >= reference.n_words):
        odd = top.min() if top.min() < 0 else top.max()
        raise ValueError(f"top words: expected ids of the reference's {reference.n_words} words, found {odd}")
    n_top = top.shape[1]
    require_memory(64 * n_top * n_top, f"coherence of {n_top:,} words of each topic")
    unit_of = reference.doc_of if unit == "document" else reference.segment_of
    n_units = reference.n_documents if unit == "document" else reference.n_segments
    if n_units == 0:
        raise ValueError(f"reference corpus: expected at least one {unit}, found none")
    shape = (n_units, reference.n_words)
    holds = sparse.csc_array((np.ones(reference.n_tokens), (unit_of, reference.words)), shape=shape)
    holds.data[:] = 1.0  # tokens of one word in one unit were summed
    together = (holds[:, words] for words in top)
    return np.array([score((h.T @ h).toarray(), n_units) for h in together])

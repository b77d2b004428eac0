"""Where in a corpus the test quantities look."""

from typing import NamedTuple

import numpy as np

from .corpus import Corpus


class Probes(NamedTuple):
    """Where in a corpus the test quantities look, fixed in advance and the same for every back end.

    Attributes
    ----------
    pairs : int (P, 2)
        Pairs of tokens, for ``same_topic``: a third in one document, a third of one word in two documents, a
        third anywhere. In a large corpus two tokens anywhere hardly ever share their topic.
    documents : int (Q,)
        For ``topic_entropy``.
    cells : int (R, 2)
        Pairs (document, word), for ``predictive``.
    """

    pairs: np.ndarray
    documents: np.ndarray
    cells: np.ndarray

    @classmethod
    def of(cls, corpus: Corpus, most: int = 8) -> "Probes":
        """Choose at most `most` probes of each kind, by a generator seeded with the corpus' shape."""
        rng = np.random.default_rng([corpus.n_tokens, corpus.n_documents, corpus.n_words])
        filled = np.flatnonzero(corpus.doc_lengths > 0)
        documents = np.sort(rng.permutation(filled)[:most])
        cells = np.array([(d, rng.integers(corpus.n_words)) for d in documents], np.int64).reshape(-1, 2)
        return cls(_pairs(corpus, most, rng), documents, cells)


def _pairs(corpus: Corpus, most: int, rng: np.random.Generator) -> np.ndarray:
    """Pairs of tokens as `Probes` has them, int (P, 2); of another kind where there is none of a kind."""
    n, document = corpus.n_tokens, corpus.doc_of
    if n * (n - 1) // 2 <= most:
        return np.column_stack(np.triu_indices(n, 1))
    kinds = (
        lambda i: np.flatnonzero(document == document[i]),
        lambda i: np.flatnonzero((corpus.words == corpus.words[i]) & (document != document[i])),
        lambda i: np.arange(n),
    )
    found: dict[tuple[int, int], None] = {}
    while len(found) < most:
        for partners in kinds:
            i = rng.integers(n)
            others = partners(i)
            others = others[others != i]
            if others.size and len(found) < most:
                j = rng.choice(others)
                found[int(min(i, j)), int(max(i, j))] = None
    return np.array([*found])

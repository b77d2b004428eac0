"""A corpus as a document-word matrix."""

import numpy as np
from scipy import sparse

from .corpus import Corpus

MOST_TOKENS = 2**31 - 1


def to_counts(corpus: Corpus) -> sparse.csr_array:
    """Document-word counts, sparse int64 (D, V), as scikit-learn's estimators take them."""
    ones = np.ones(corpus.n_tokens, np.int64)
    shape = (corpus.n_documents, corpus.n_words)
    # estimators such as SVC refuse wide pointers, whether they are needed or not
    pointers = corpus.doc_ptr.astype(np.int32 if corpus.n_tokens <= MOST_TOKENS else np.int64)
    csr = sparse.csr_array((ones, corpus.words, pointers), shape=shape, copy=True)
    csr.sum_duplicates()
    return csr

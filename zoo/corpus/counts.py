"""A corpus as a document-word matrix, and such a matrix as tokens."""

from typing import Any, Protocol

import numpy as np
from scipy import sparse

from ..memory import in_words, require_memory
from .fields import CorpusError, as_array, sound_coo

MOST_TOKENS = 2**31 - 1

MOST_OF_A_WORD = 10**7
"""In one document; more are taken for a mistake."""

BYTES_A_TOKEN, BYTES_A_DOCUMENT = 24, 48
"""What a corpus takes while it is made."""


class Tokens(Protocol):
    """What `to_counts` needs of a corpus."""

    @property
    def words(self) -> np.ndarray: ...  # noqa: D102
    @property
    def doc_ptr(self) -> np.ndarray: ...  # noqa: D102
    @property
    def n_words(self) -> int: ...  # noqa: D102


def to_counts(corpus: Tokens) -> sparse.csr_array:
    """Document-word counts, sparse int64 (D, V), as scikit-learn's estimators take them."""
    n_tokens = len(corpus.words)
    # estimators such as SVC refuse wide pointers, whether they are needed or not
    pointers = corpus.doc_ptr.astype(np.int32 if n_tokens <= MOST_TOKENS else np.int64)
    shape = (len(corpus.doc_ptr) - 1, corpus.n_words)
    csr = sparse.csr_array((np.ones(n_tokens, np.int64), corpus.words, pointers), shape=shape, copy=True)
    csr.sum_duplicates()
    return csr


def tokens_of_counts(counts: Any) -> dict[str, Any]:
    """Fields of the corpus of a document-word matrix; see `Corpus.from_counts`."""
    if is_table(counts):
        _check_columns(counts)
    counts = counts if sparse.issparse(counts) else as_array("counts", counts)
    if counts.ndim == 2:
        require_memory(BYTES_A_DOCUMENT * counts.shape[0], f"{counts.shape[0]:,} documents")
    cells = sound_coo("counts", counts)
    _check_counts(cells)
    csr: Any = sparse.csr_array((cells.data.astype(np.int64), (cells.row, cells.col)), shape=cells.shape)
    n_tokens = int(csr.data.sum())
    if n_tokens > MOST_TOKENS:
        raise CorpusError(
            f"counts: expected at most {MOST_TOKENS:,} tokens, found {n_tokens:,}, which would take "
            f"{in_words(BYTES_A_TOKEN * n_tokens)} of memory"
        )
    require_memory(BYTES_A_TOKEN * n_tokens, f"{n_tokens:,} tokens")
    return {
        "words": np.repeat(csr.indices, csr.data),
        "doc_ptr": np.concatenate([[0], np.cumsum(csr.sum(axis=1))]),
        "n_words": csr.shape[1],
    }


def is_table(data: Any) -> bool:
    """Whether it is a table with columns, as pandas has them."""
    return hasattr(data, "columns") and hasattr(data, "dtypes")


def names_of_columns(table: Any) -> Any:
    """Names of the columns, which are words; None where they are mere numbers."""
    names = list(table.columns)
    return names if all(isinstance(name, str) for name in names) else None


def _check_columns(table: Any) -> None:
    for name, kind in zip(table.columns, table.dtypes, strict=True):
        if getattr(kind, "kind", "O") not in "iuf":
            raise CorpusError(
                f"counts: expected numbers in column {str(name)!r}, found {kind}; for texts give the column"
            )


def _check_counts(cells: Any) -> None:
    data = cells.data
    bad = np.flatnonzero(~((data >= 0) & (data <= MOST_OF_A_WORD) & (data == np.floor(data))))
    if bad.size:
        i = bad[0]
        expected = f"a whole number in 0..{MOST_OF_A_WORD}"
        raise CorpusError(
            f"counts[{cells.row[i]}, {cells.col[i]}]: expected {expected}, found {data[i].item()!r}"
        )

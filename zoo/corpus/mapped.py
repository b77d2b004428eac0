"""Corpora whose long arrays stay on disk."""

from typing import Any

import numpy as np

from .corpus import Corpus
from .fields import CorpusError, as_pointers, as_segments, frozen

BLOCK = 2**22
"""Entries of a long array that are looked at together."""


def mapped_corpus(
    words: np.ndarray, doc_ptr: np.ndarray, *, segment_ptr: np.ndarray | None = None, **fields: Any
) -> Corpus:
    """Corpus of arrays that are held as they are, such as memory maps, and not copied.

    Parameters
    ----------
    words : int32 (N,)
    doc_ptr : int64 (D + 1,)
    segment_ptr : int64 (S + 1,), optional
    **fields
        The other fields of `Corpus`, which are copied.

    Raises
    ------
    CorpusError
        As `Corpus` does.
    """
    _check_type("words", words, np.int32)
    _check_type("doc_ptr", doc_ptr, np.int64)
    as_pointers("doc_ptr", doc_ptr, words.size)
    corpus = Corpus(np.zeros(0, np.int32), np.zeros(doc_ptr.size, np.int64), **fields)
    _check_ids(words, corpus.n_words)
    if segment_ptr is not None:
        _check_type("segment_ptr", segment_ptr, np.int64)
        as_segments(segment_ptr, doc_ptr)
        segment_ptr = frozen(segment_ptr)
    corpus._set(words=frozen(words), doc_ptr=frozen(doc_ptr), segment_ptr=segment_ptr)
    return corpus


def _check_type(name: str, array: np.ndarray, dtype: type) -> None:
    if array.dtype != dtype or array.ndim != 1:
        raise CorpusError(
            f"{name}: expected one dimension of {np.dtype(dtype)}, found {array.ndim} of {array.dtype}"
        )


def _check_ids(words: np.ndarray, n_words: int) -> None:
    for start in range(0, words.size, BLOCK):
        part = words[start : start + BLOCK]
        outside = np.flatnonzero((part < 0) | (part >= n_words))
        if outside.size:
            i = int(outside[0])
            raise CorpusError(f"words[{start + i}]: expected an id in 0..{n_words - 1}, found {part[i]}")

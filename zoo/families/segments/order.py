"""Sentences of documents, and the order in which a document's tokens take their seats."""

from typing import NamedTuple

import numpy as np

from ...corpus.fields import no_sentences

ORDERS = ("round_robin", "reading")
"""``round_robin``: the first token of every sentence, then the second of all that have one, and so on
(Definition 4, which is silent on sentences of unequal lengths). ``reading``: as the text goes."""


class Seating(NamedTuple):
    """Tokens as the process sees them, in the order of the corpus.

    Attributes
    ----------
    document : int (N,)
    sentence : int (N,)
        Numbered through the whole corpus.
    time : int (N,)
        When the token takes its seat, 0 to n - 1 within its document.
    """

    document: np.ndarray
    sentence: np.ndarray
    time: np.ndarray


def sentence_starts(
    segment_ptr: np.ndarray | None, doc_lengths: np.ndarray, window: int, label: str
) -> np.ndarray:
    """Return where sentences begin, and the number of tokens, int (S + 1,).

    Parameters
    ----------
    segment_ptr : int (S + 1,) or None
        As a corpus has it.
    doc_lengths : int (D,)
    window : int
        Documents without sentences are cut into pieces of so many tokens; not at 0.
    label : str
        Of the model, for the error.

    Raises
    ------
    CorpusError
        There are no sentences.
    """
    if segment_ptr is not None:
        return np.asarray(segment_ptr)
    if not window:
        raise no_sentences(label, "; or cut documents into pieces, such as --set window=20")
    ends = np.cumsum(doc_lengths)
    pieces = [np.arange(end - n, end, window) for end, n in zip(ends, doc_lengths, strict=True)]
    return np.append(np.concatenate([np.zeros(0, np.int64), *pieces]), np.sum(doc_lengths)).astype(np.int64)


def seating(starts: np.ndarray, doc_lengths: np.ndarray, order: str) -> Seating:
    """Seating of tokens in one of the `ORDERS`; `starts` as from `sentence_starts`."""
    lengths = np.diff(starts)
    document = np.repeat(np.arange(len(doc_lengths)), doc_lengths)
    sentence = np.repeat(np.arange(lengths.size), lengths)
    place = np.arange(document.size)
    if order == "round_robin":
        place = np.lexsort((sentence, place - starts[sentence], document))
    time = np.empty(document.size, np.int64)
    time[place] = np.arange(document.size)
    first = np.concatenate([[0], np.cumsum(doc_lengths)])[:-1]
    return Seating(document, sentence, time - first[document])

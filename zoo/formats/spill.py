"""Texts, one after the other, into a folder of arrays."""

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..corpus import Corpus, CorpusError
from ..corpus.counts import MOST_TOKENS
from ..corpus.mapped import BLOCK
from ..corpus.texts import Dropped
from .archive import arrays_of
from .arrays import LongArray, file_of, save_array
from .text import Reading

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer

type Choice = tuple[np.ndarray, np.ndarray]
"""Vocabulary, str (V,), and the id in it of each word found, int32; -1 for those that are dropped."""


class Found:
    """Words by first appearance, and how often each was found.

    Attributes
    ----------
    number : dict of str to int
    times, documents : array of int
        Tokens of each word, and documents with it.
    """

    def __init__(self):
        self.number: dict[str, int] = {}
        self.times, self.documents = array("q"), array("q")

    def count(self, tokens: list[str]) -> None:
        """Count the tokens of a document."""
        for word, n in Counter(tokens).items():
            w = self.number_of(word)
            self.times[w] += n
            self.documents[w] += 1

    def number_of(self, word: str) -> int:
        """Return the number of a word, a new one if it has none."""
        w = self.number.setdefault(word, len(self.number))
        if w == len(self.times):
            self.times.append(0)
            self.documents.append(0)
        return w


def write_texts(reading: Reading, vectorizer: "CountVectorizer", folder: Path) -> Dropped:
    """Write to `folder` the arrays of the corpus that `Corpus.from_texts` makes, in bounded memory.

    The vocabulary is known when all has been read. So tokens go to a file as they come, by numbers of first
    appearance, from there to their array, and the file is removed.

    Parameters
    ----------
    reading : Reading
    vectorizer : CountVectorizer
        Of single words.
    folder : Path
    """
    prepare, split = vectorizer.build_preprocessor(), vectorizer.build_tokenizer()
    stop_words = frozenset(vectorizer.get_stop_words() or ())
    found, n_documents, in_sentences = Found(), 0, False
    doc_ends, segment_ends = array("q"), array("q")
    spill = folder / "tokens"
    n_tokens = 0
    with spill.open("wb") as file:
        for document in reading:
            tokens = split(prepare(document.text))
            found.count(tokens)
            in_sentences, lines = document.in_sentences, document.text.split("\n")
            segments = [split(prepare(line)) for line in lines] if in_sentences else [tokens]
            for segment in segments:
                ids = [found.number_of(token) for token in segment]  # new where it ended with its line
                file.write(np.array(ids, np.int32).tobytes())
                n_tokens += len(ids)
                segment_ends.append(n_tokens)
            doc_ends.append(n_tokens)
            n_documents += 1
    if n_documents == 0:
        raise CorpusError("texts: expected one document or more, found none")
    vocabulary, chosen = _choose(found, stop_words, vectorizer, n_documents)
    pointers = {"doc_ptr": doc_ends} | ({"segment_ptr": segment_ends} if in_sentences else {})
    ends = {name: np.concatenate([[0], np.frombuffer(of, np.int64)]) for name, of in pointers.items()}
    for name, pointer in _map(spill, n_tokens, chosen, ends, file_of(folder, "words")).items():
        save_array(file_of(folder, name), np.unique(pointer) if name == "segment_ptr" else pointer)
    spill.unlink()
    _write_rest(folder, vocabulary, n_documents, reading.fields)
    return _dropped(found, stop_words, chosen)


def _choose(
    found: Found, stop_words: frozenset[str], vectorizer: "CountVectorizer", n_documents: int
) -> Choice:
    """Choose the vocabulary as a fit of the vectoriser to the texts would."""
    words = sorted(word for word, w in found.number.items() if found.times[w] and word not in stop_words)
    if not words:
        raise CorpusError("vectorizer: empty vocabulary; perhaps the documents only contain stop words")
    places = [found.number[word] for word in words]
    documents, times = (np.array(of)[places] for of in (found.documents, found.times))
    least, most = (
        limit if isinstance(limit, Integral) else limit * n_documents
        for limit in (vectorizer.min_df, vectorizer.max_df)
    )
    if most < least:
        raise CorpusError("vectorizer: max_df corresponds to < documents than min_df")
    kept = np.flatnonzero((documents <= most) & (documents >= least))
    limit = vectorizer.max_features
    if limit is not None and kept.size > limit:
        kept = np.sort(kept[(-times[kept]).argsort()[:limit]])
    if not kept.size:
        raise CorpusError(
            "vectorizer: After pruning, no terms remain. Try a lower min_df or a higher max_df."
        )
    chosen = np.full(len(found.number), -1, np.int32)
    chosen[np.array(places)[kept]] = np.arange(kept.size)
    if int(times[kept].sum()) > MOST_TOKENS:
        raise CorpusError(f"expected at most {MOST_TOKENS:,} tokens, found {int(times[kept].sum()):,}")
    return np.array(words, dtype=str)[kept], chosen


def _map(
    spill: Path, n_tokens: int, chosen: np.ndarray, ends: Mapping[str, np.ndarray], target: Path
) -> dict[str, np.ndarray]:
    """Write the tokens that are kept, by their ids; return the pointers among these."""
    n_kept = sum(np.count_nonzero(chosen[part] >= 0) for _, part in _parts(spill, n_tokens))
    words, pointers = LongArray(target, np.int32, int(n_kept)), {name: of.copy() for name, of in ends.items()}
    done = 0
    for start, part in _parts(spill, n_tokens):
        ids = chosen[part]
        before = done + np.concatenate([[0], np.cumsum(ids >= 0)])
        for name, of in ends.items():
            first, last = np.searchsorted(of, [start, start + part.size], side="right")
            pointers[name][first:last] = before[of[first:last] - start]
        words.part(done, before[-1])[:] = ids[ids >= 0]
        done = int(before[-1])
    return pointers


def _parts(spill: Path, n_tokens: int) -> Iterator[tuple[int, np.ndarray]]:
    for start in range(0, n_tokens, BLOCK):
        yield start, np.fromfile(spill, np.int32, BLOCK, offset=4 * start)


def _write_rest(folder: Path, vocabulary: np.ndarray, n_documents: int, fields: Mapping[str, Any]) -> None:
    """Write all but words and pointers, as a corpus without tokens checks and holds it."""
    rest = Corpus(
        np.zeros(0, np.int32), np.zeros(n_documents + 1, np.int64), vocabulary, in_order=True, **fields
    )
    for name, values in arrays_of(rest).items():
        if name not in ("words", "doc_ptr"):
            save_array(file_of(folder, name), values)


def _dropped(found: Found, stop_words: frozenset[str], chosen: np.ndarray) -> Dropped:
    times, number = np.array(found.times), found.number
    stopped = np.zeros(times.size, bool)
    stopped[[number[word] for word in stop_words if word in number]] = True
    others = (chosen < 0) & ~stopped & (times > 0)
    return Dropped(
        int(times.sum()),
        int(np.count_nonzero(times)),
        int(times[stopped].sum()),
        int(stopped.sum()),
        int(times[others].sum()),
        int(others.sum()),
    )

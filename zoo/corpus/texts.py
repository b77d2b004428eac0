"""Tokens of texts, through scikit-learn's vectoriser, and what it dropped of them."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..wording import counted
from .fields import CorpusError

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer


class Dropped(NamedTuple):
    """What became of the words of some texts.

    Attributes
    ----------
    n_tokens, n_words : int
        Before anything was dropped.
    stop_tokens, stop_words : int
        Tokens and words that were on the list of stop words.
    other_tokens, other_words : int
        Those that were not, and are not in the vocabulary: too rare, or in too many documents.
    """

    n_tokens: int
    n_words: int
    stop_tokens: int
    stop_words: int
    other_tokens: int
    other_words: int

    def __str__(self) -> str:
        left = self.n_tokens - self.stop_tokens - self.other_tokens
        stop = f"{counted(self.stop_words, 'stop word')} ({counted(self.stop_tokens, 'token')})"
        other = (
            f"{counted(self.other_words, 'word')} too rare or too common "
            f"({counted(self.other_tokens, 'token')})"
        )
        found = ((stop, self.stop_words), (other, self.other_words))
        said = " and ".join(part for part, n in found if n) or "nothing"
        return f"kept {left:,} of {counted(self.n_tokens, 'token')}; dropped {said}"


def tokens_of_texts(
    texts: Iterable[Any], vectorizer: "CountVectorizer | None" = None, sentences: bool = False
) -> dict[str, Any]:
    """Fields of the corpus of some texts; see `Corpus.from_texts`."""
    from sklearn.base import clone  # slow to import, and only text needs it
    from sklearn.feature_extraction.text import CountVectorizer

    texts = checked_texts(texts)
    chosen: Any = CountVectorizer() if vectorizer is None else clone(vectorizer)
    is_split = bool(texts) and not isinstance(texts[0], str)
    if is_split:
        if vectorizer is not None:
            raise CorpusError("vectorizer: expected none, as the texts have been split into tokens")
        chosen.set_params(analyzer=_as_it_is)
    in_order = tuple(chosen.ngram_range) == (1, 1)
    if sentences and (is_split or not in_order):
        raise CorpusError(
            "sentences: expected lines of text and single words, found lists of tokens or n-grams"
        )
    try:
        chosen.fit(texts)
    except (ValueError, re.error) as error:
        raise CorpusError(f"vectorizer: {error}") from None
    analyse, id_of = chosen.build_analyzer(), chosen.vocabulary_

    def ids_of(texts: Iterable[Any]) -> list[list[int]]:
        return [[id_of[token] for token in analyse(text) if token in id_of] for text in texts]

    segments = [ids_of(text.split("\n")) if sentences else ids_of([text]) for text in texts]
    ids = [np.array(segment, np.int32) for document in segments for segment in document]
    lengths = [sum(map(len, document)) for document in segments]
    pointers = np.cumsum([0, *(segment.size for segment in ids)], dtype=np.int64)
    return {
        "words": np.concatenate([np.zeros(0, np.int32), *ids]),
        "doc_ptr": np.cumsum([0, *lengths], dtype=np.int64),
        "vocabulary": np.array(chosen.get_feature_names_out(), dtype=str),
        "in_order": in_order,
        "segment_ptr": np.unique(pointers) if sentences else None,
    }


def dropped(texts: Iterable[str], vectorizer: "CountVectorizer", vocabulary: np.ndarray) -> Dropped:
    """Count what is missing from a vocabulary, str (V,), that a vectoriser of single words chose."""
    prepare, split = vectorizer.build_preprocessor(), vectorizer.build_tokenizer()
    counts = Counter(token for text in texts for token in split(prepare(text)))
    stop_words = counts.keys() & frozenset(vectorizer.get_stop_words() or ())
    others = counts.keys() - stop_words - set(vocabulary.tolist())
    return Dropped(
        counts.total(),
        len(counts),
        sum(counts[word] for word in stop_words),
        len(stop_words),
        sum(counts[word] for word in others),
        len(others),
    )


def composed(text: str) -> str:
    """Text without soft hyphens, and with each accented letter as one character where there is one (NFC)."""
    return text if text.isascii() else unicodedata.normalize("NFC", text.replace("\u00ad", ""))


def checked_texts(texts: Iterable[Any]) -> list[Any]:
    """List of texts or of lists of tokens; CorpusError for the first that is not as it should be."""
    if isinstance(texts, str):
        raise CorpusError("texts: expected a sequence of documents, found one text")
    if not isinstance(texts, Iterable):
        raise CorpusError(f"expected counts, or a sequence of texts, found {texts!r}")
    if not (texts := list(texts)):
        raise CorpusError("texts: expected one document or more, found none")
    is_split = bool(texts) and isinstance(texts[0], list | tuple)
    for i, text in enumerate(texts):
        if is_split and not (isinstance(text, list | tuple) and all(isinstance(t, str) for t in text)):
            raise CorpusError(f"texts[{i}]: expected a list of tokens, found {text!r}")
        if not is_split and not isinstance(text, str):
            raise CorpusError(f"texts[{i}]: expected text, found {text!r}")
    return texts


def _as_it_is(tokens: list[str]) -> list[str]:
    return tokens

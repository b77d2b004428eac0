"""Embeddings of words in text: a word and its numbers on each line, as word2vec and GloVe write them."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..corpus import CorpusError
from ..corpus.texts import composed
from .plain import located, text_blocks

SIZES = re.compile("[0-9]+ [0-9]+")
"""First line of a file of word2vec."""


def read_embeddings(path: Path, vocabulary: np.ndarray) -> np.ndarray:
    """Read the embeddings of some words.

    Parameters
    ----------
    path : Path
        UTF-8, perhaps compressed. A first line of two whole numbers, how many words of how many dimensions,
        and empty lines are passed over. There may be blanks in a word, but not in the first one.
    vocabulary : str (V,)

    Returns
    -------
    float (V, n)
        Zeros for a word that the file does not have.

    Raises
    ------
    CorpusError
        Names the line that is wrong; or the file has none of the words.
    """
    words = vocabulary.tolist()
    place = {composed(word): w for w, word in enumerate(words)} | {word: w for w, word in enumerate(words)}
    found: dict[int, np.ndarray] = {}
    n_dimensions = 0
    with located(path):
        for number, line in _lines(path):
            n_dimensions = n_dimensions or line.count(" ")
            word, *texts = line.rsplit(" ", n_dimensions)
            if len(texts) != n_dimensions or not texts:
                raise CorpusError(
                    f"line {number}: expected a word and {max(n_dimensions, 1)} numbers, "
                    f"found {len(texts)} numbers"
                )
            w = place.get(word, place.get(composed(word)))
            if w is not None:
                found[w] = _numbers(number, texts)
        if not found:
            raise CorpusError(f"expected some of the {vocabulary.size} words of the corpus, found none")
    vectors = np.zeros((vocabulary.size, n_dimensions))
    for w, values in found.items():
        vectors[w] = values
    return vectors


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines of words with their numbers, parted by blanks, and where they stand in the file."""
    for first, block in text_blocks(path):
        for number, line in enumerate(block.split("\n"), first):
            told = line.replace("\t", " ").rstrip(" ")
            if told and not (number == 1 and SIZES.fullmatch(told)):
                yield number, told


def _numbers(line: int, texts: list[str]) -> np.ndarray:
    try:
        values = np.array(texts, float)
    except ValueError:
        raise CorpusError(f"line {line}: expected numbers after the word, found others") from None
    if not np.isfinite(values).all():
        raise CorpusError(f"line {line}: expected finite numbers, found others")
    return values

"""Embeddings of words in text: a word and its numbers on each line, as word2vec and GloVe write them."""

from pathlib import Path

import numpy as np

from ..corpus import CorpusError
from .plain import located


def read_embeddings(path: Path, vocabulary: np.ndarray) -> np.ndarray:
    """Read the embeddings of some words.

    Parameters
    ----------
    path : Path
        UTF-8. A first line of two whole numbers, how many words of how many dimensions, is passed over.
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
    place = {word: w for w, word in enumerate(vocabulary.tolist())}
    found: dict[int, np.ndarray] = {}
    n_dimensions = 0
    with located(path), path.open(encoding="utf-8") as file:
        try:
            for number, line in enumerate(file, start=1):
                word, *texts = line.rstrip().split(" ")
                if number == 1 and len(texts) == 1:
                    continue
                n_dimensions = n_dimensions or len(texts)
                if len(texts) != n_dimensions or not texts:
                    raise CorpusError(
                        f"line {number}: expected a word and {max(n_dimensions, 1)} numbers, "
                        f"found {len(texts)} numbers"
                    )
                if word in place:
                    found[place[word]] = _numbers(number, texts)
        except UnicodeDecodeError:
            raise CorpusError("expected UTF-8, found other bytes") from None
        if not found:
            raise CorpusError(f"expected some of the {vocabulary.size} words of the corpus, found none")
    vectors = np.zeros((vocabulary.size, n_dimensions))
    for w, values in found.items():
        vectors[w] = values
    return vectors


def _numbers(line: int, texts: list[str]) -> np.ndarray:
    try:
        values = np.array(texts, float)
    except ValueError:
        raise CorpusError(f"line {line}: expected numbers after the word, found others") from None
    if not np.isfinite(values).all():
        raise CorpusError(f"line {line}: expected finite numbers, found others")
    return values

"""Tables of pandas as corpora."""

import numpy as np
import pandas as pd
import pytest
from bnpzoo import Corpus
from bnpzoo.zoo.corpus import CorpusError

COUNTS = np.array([[2, 0, 1], [0, 3, 0]])


def test_columns_of_counts_are_words():
    table = pd.DataFrame(COUNTS, columns=["red", "green", "blue"])
    for corpus in (Corpus.of(table), Corpus.from_counts(table)):
        assert corpus.vocabulary.tolist() == ["red", "green", "blue"]
        assert np.array_equal(corpus.counts(), COUNTS)
    assert Corpus.of(pd.DataFrame(COUNTS)).vocabulary.tolist() == Corpus.of(COUNTS).vocabulary.tolist()
    assert Corpus.from_counts(table, ["a", "b", "c"]).vocabulary.tolist() == ["a", "b", "c"]


def test_a_column_of_texts_is_texts():
    table = pd.DataFrame({"text": ["red house", "green tree"], "title": ["a", "b"]})
    assert Corpus.of(table["text"]).n_documents == 2
    with pytest.raises(
        CorpusError, match=r"expected numbers in column 'text', found .*; for texts give the column"
    ):
        Corpus.of(table)
    with pytest.raises(CorpusError, match="found a mapping; give its values"):
        Corpus.of({"first": "red house", "second": "green tree"})
    for data in (None, 5):
        with pytest.raises(CorpusError, match=f"expected counts, or a sequence of texts, found {data}"):
            Corpus.of(data)
    with pytest.raises(CorpusError, match="texts: expected one document or more, found none"):
        Corpus.of([])

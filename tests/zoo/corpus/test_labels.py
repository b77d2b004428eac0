"""Labels of documents: which there are, and which a document has."""

import numpy as np
import pytest
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.corpus.labels import columns_of, label_matrix
from scipy import sparse


@pytest.mark.parametrize("names", [["good", "bad", ""], ["", "good", "bad"], ["good", "", "bad"]])
@pytest.mark.parametrize("has_numbers", [False, True])
def test_an_empty_name_is_no_category(names, has_numbers):
    moods = ["bad", "", "good", "good"]
    for mood in (np.array([names.index(m) for m in moods]), _set(moods, names)):
        corpus = Corpus(
            np.zeros(4, int),
            np.arange(5),
            n_words=1,
            covariates={"mood": mood},
            covariate_names={"mood": names},
        )
        columns = columns_of("mood", corpus, "model", has_numbers=has_numbers)
        assert sorted(column.value for column in columns) == ["bad", "good"]
        found = label_matrix(columns, corpus, "model", 4).toarray()
        for d, mood in enumerate(moods):
            assert {c.value for c, x in zip(columns, found[d], strict=True) if x} == {mood} - {""}


def _set(moods, names):
    return sparse.csr_array(np.array([[mood == name for name in names] for mood in moods]))

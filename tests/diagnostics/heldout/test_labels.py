"""Which value of a label documents are known to have."""

import numpy as np
import pytest
from bnpzoo import Corpus
from bnpzoo.diagnostics.heldout.labels import PredictedLabels, _truth
from bnpzoo.zoo.corpus.labels import Column

IS_TRUE = np.array([[0.0], [1.0]])
"""Rows of labels of the two values of a label that is true or false."""


@pytest.mark.parametrize(
    ("cells", "column", "rows", "expected"),
    [
        (["True", "", "False"], Column("x", "True"), IS_TRUE, [1, -1, 0]),
        (["yes", "", "no"], Column("x", "True"), IS_TRUE, [-2, -1, -2]),
        (["2.0", "", "2.0"], Column("x", "", 2.0, np.inf), np.zeros((1, 1)), [0, -1, 0]),
        (["1.0", "", "3.0"], Column("x", "", 2.0, 1.0), np.array([[-1.0], [1.0]]), [0, -1, 1]),
        (["1.0", "", "2.5"], Column("x", "", 2.0, 1.0), np.array([[-1.0], [1.0]]), [0, -1, -2]),
        (["", "", ""], Column("x", "", 2.0, 1.0), np.array([[-1.0], [1.0]]), [-1, -1, -1]),
    ],
)
def test_a_gap_is_no_value(cells, column, rows, expected):
    corpus = Corpus([0, 1, 0], [0, 1, 2, 3], n_words=2, covariates={"x": np.array(cells)})
    assert _truth((column,), corpus, "x", rows, "dmr").tolist() == expected


def test_what_the_fit_does_not_know_is_no_gap():
    corpus = Corpus(
        [0, 1, 0],
        [0, 1, 2, 3],
        n_words=2,
        covariates={"x": np.array([0, 1, 2])},
        covariate_names={"x": ["", "new", "old"]},
    )
    assert _truth((Column("x", "old"),), corpus, "x", np.ones((1, 1)), "dmr").tolist() == [-1, -2, 0]


def test_what_is_as_probable_as_another_is_no_hit():
    probability = np.array([[0.5, 0.5], [0.6, 0.4], [0.3, 0.7]])
    found = PredictedLabels(("a", "b"), np.log(probability), probability, np.array([0, 0, -2]), 1)
    assert found.hit.tolist() == [False, True, False]

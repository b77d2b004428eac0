"""Which value of a label documents are known to have."""

import numpy as np
import pytest
from bnpzoo import Corpus
from bnpzoo.diagnostics.heldout.labels import _truth
from bnpzoo.zoo.corpus.labels import Column

IS_TRUE = np.array([[0.0], [1.0]])
"""Rows of labels of the two values of a label that is true or false."""


@pytest.mark.parametrize(
    ("cells", "column", "rows", "expected"),
    [
        (["True", "", "False"], Column("x", "True"), IS_TRUE, [1, -1, 0]),
        (["yes", "", "no"], Column("x", "True"), IS_TRUE, [-1, -1, -1]),
        (["2.0", "", "2.0"], Column("x", "", 2.0, np.inf), np.zeros((1, 1)), [0, -1, 0]),
        (["1.0", "", "3.0"], Column("x", "", 2.0, 1.0), np.array([[-1.0], [1.0]]), [0, -1, 1]),
        (["", "", ""], Column("x", "", 2.0, 1.0), np.array([[-1.0], [1.0]]), [-1, -1, -1]),
    ],
)
def test_a_gap_is_no_value(cells, column, rows, expected):
    corpus = Corpus([0, 1, 0], [0, 1, 2, 3], n_words=2, covariates={"x": np.array(cells)})
    assert _truth((column,), corpus, "x", rows, "dmr").tolist() == expected

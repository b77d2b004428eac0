"""Associations: what they hold, what they draw, what a corpus does with them, and input that is wrong."""

import numpy as np
import pytest
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus import Corpus, CorpusError
from bnpzoo.zoo.corpus.associations import Associations
from bnpzoo.zoo.formats import read_corpus, write_corpus
from scipy import sparse
from scipy.stats import chisquare

FIRST = np.array([[0.7, 0.2, 0.0], [0.3, 0.5, 0.4], [0.0, 0.3, 0.6]])
SECOND = np.array([[0.5, 0.0, 0.1], [0.5, 0.6, 0.0], [0.0, 0.4, 0.9]])
BOTH = Associations.of([FIRST, sparse.csc_array(SECOND)])


def corpus(**fields):
    return Corpus([0, 2, 1], [0, 1, 2, 3], n_words=3, group=[0, 1, 1], **fields)


def test_matrices_come_back():
    assert (BOTH.n_groups, BOTH.n_words) == (2, 3)
    for g, matrix in enumerate((FIRST, SECOND)):
        np.testing.assert_array_equal(BOTH.matrix(g).toarray(), matrix)


def test_rows_are_stored_as_documented():
    row = slice(*BOTH.row_ptr[3 + 1 : 3 + 3])
    assert BOTH.column[row].tolist() == [0, 1]
    assert BOTH.weight[row].tolist() == [0.5, 0.6]
    assert not BOTH.weight.flags.writeable


def test_identity():
    for g in range(2):
        np.testing.assert_array_equal(Associations.identity(2, 3).matrix(g).toarray(), np.eye(3))


def test_columns_are_normalised_on_request():
    found = Associations.of([2.0 * FIRST, SECOND * [1.0, 3.0, 0.5]], normalise=True)
    np.testing.assert_allclose(found.weight, BOTH.weight)


def test_draws_follow_the_columns():
    rng = np.random.default_rng(0)
    for v in range(3):
        words = BOTH.draw(1, np.full(20_000, v), rng)
        expected = 20_000 * SECOND[:, v]
        observed = np.bincount(words, minlength=3)
        assert not np.any(observed[expected == 0])
        assert chisquare(observed[expected > 0], expected[expected > 0]).pvalue > 1e-5


def test_a_corpus_keeps_its_associations(tmp_path):
    with_them = corpus(associations=BOTH)
    assert with_them.digest() != corpus().digest()
    assert with_them.take([0, 2]).associations is BOTH
    assert Design.of(with_them).corpus(with_them.words).associations is BOTH
    write_corpus(with_them, tmp_path / "c.npz")
    back = read_corpus(tmp_path / "c.npz")
    assert back.digest() == with_them.digest()
    assert not back.covariates


def test_an_archive_that_lacks_a_part(tmp_path):
    parts = {"words": [0], "doc_ptr": [0, 1], "vocab": ["a"], "associations_weight": [1.0]}
    np.savez(tmp_path / "c.npz", **parts)
    with pytest.raises(CorpusError, match="associations_row_ptr; it is missing"):
        read_corpus(tmp_path / "c.npz")


@pytest.mark.parametrize(
    ("matrices", "message"),
    [
        ([], "expected a matrix for each group"),
        ([FIRST, FIRST[:2]], r"associations\[1\]: expected a square matrix of 3 words, found shape \(2, 3\)"),
        ([FIRST, -SECOND], r"associations\[1\]\[0, 0\]: expected a finite number, 0 or more, found -0.5"),
        ([FIRST * np.nan], r"associations\[0\]\[0, 0\]: expected a finite number"),
        ([FIRST, FIRST * [1.0, 0.9, 1.0]], r"associations\[1\]: expected column 1 .* found 0.9"),
        ([FIRST * [1.0, 1.0, 0.0]], r"associations\[0\]: expected column 2 .* found an empty column"),
        (["text"], "expected"),
    ],
)
def test_wrong_matrices(matrices, message):
    with pytest.raises(CorpusError, match=message):
        Associations.of(matrices)


def test_an_empty_column_cannot_be_normalised():
    with pytest.raises(CorpusError, match="found an empty column"):
        Associations.of([FIRST * [1.0, 1.0, 0.0]], normalise=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"row_ptr": [0, 1]}, "row_ptr: expected to run from 0"),
        ({"n_words": 4}, "expected 4 rows for each group, found 6"),
        ({"column": np.full(BOTH.column.size, 3)}, r"column\[0\]: expected a word in 0..2, found 3"),
        ({"weight": np.zeros(BOTH.column.size)}, r"weight\[0\]: expected a positive number, found 0"),
        ({"weight": [1.0]}, "weight: expected 13 numbers"),
    ],
)
def test_wrong_arrays(change, message):
    fields = {"row_ptr": BOTH.row_ptr, "column": BOTH.column, "weight": BOTH.weight, "n_words": 3}
    with pytest.raises(CorpusError, match=message):
        Associations(**fields | change)


def test_associations_of_another_corpus():
    with pytest.raises(CorpusError, match="associations: expected 2 groups and 3 words, found 1 and 3"):
        corpus(associations=Associations.of([FIRST]))

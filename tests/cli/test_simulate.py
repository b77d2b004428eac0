"""Corpora from models whose documents are as long as the hyperparameters make them."""

import pytest
from bnpzoo.zoo.formats import read_corpus


@pytest.mark.parametrize(
    "arguments", [("focused",), ("sparse_transfer", "--groups", 3)], ids=lambda arguments: arguments[0]
)
def test_lengths_are_drawn_unless_they_are_given(run, tmp_path, arguments):
    path = tmp_path / "drawn.npz"
    result = run("simulate", *arguments, "--out", path)
    assert result.exit_code == 0, result.output
    lengths = read_corpus(path).doc_lengths
    assert lengths.size == 100
    assert lengths.std() > 0
    assert run("simulate", *arguments, "--documents", 3, "--length", 2, "--out", path).exit_code == 0
    assert read_corpus(path).doc_lengths.tolist() == [2, 2, 2]


def test_lengths_that_the_model_hardly_makes_are_one_line_with_the_remedy(run, tmp_path):
    result = run("simulate", "focused", "--length", 50, "--out", tmp_path / "drawn.npz")
    assert result.exit_code == 2
    assert "error: focused: none of" in result.stderr
    assert "without --length" in result.stderr

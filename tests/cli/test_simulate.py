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


def test_what_a_format_has_no_place_for_is_said(run, tmp_path):
    result = run("simulate", "mt_hdp", "--groups", 3, "--out", tmp_path / "drawn.ldac")
    assert result.exit_code == 0, result.output
    assert "drawn.ldac has no place for groups: left out" in " ".join(result.stderr.split())
    assert not run("simulate", "mt_hdp", "--groups", 3, "--out", tmp_path / "drawn.npz").stderr


def test_lengths_that_the_model_hardly_makes_are_one_line_with_the_remedy(run, tmp_path):
    result = run("simulate", "focused", "--length", 50, "--out", tmp_path / "drawn.npz")
    assert result.exit_code == 2
    assert "error: focused: none of" in result.stderr
    assert "without --length" in result.stderr


@pytest.mark.slow
def test_responses_are_drawn_in_place_of_groups(run, tmp_path):
    path = tmp_path / "drawn.npz"
    result = run("simulate", "slda", "--groups", 3, "--documents", 9, "--out", path)
    assert result.exit_code == 0, result.output
    corpus = read_corpus(path)
    assert list(corpus.covariates) == ["response"]
    assert corpus.group is None
    assert run("fit", "slda", path, "--tune", 1, "--draws", 4, "--chains", 1).exit_code in (0, 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("slda",), "slda: expected --groups 2 or more"),
        (("was",), "was: expected sentences; --set window=10"),
        (("pfa",), "such as --set length_shape=5 --set gamma=2 --set c=0.1"),
        (("cclda",), "--groups names a covariate, or says how many to simulate"),
        (("labeled_lda",), "--groups how many to simulate"),
    ],
    ids=lambda value: value[0],
)
def test_what_a_simulation_lacks_is_said_with_the_remedy(run, tmp_path, arguments, message):
    result = run("simulate", *arguments, "--out", tmp_path / "drawn.npz")
    assert result.exit_code == 2
    assert message in result.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("which", ["pfa", "gbn"])
def test_that_remedy_works(run, tmp_path, which):
    remedy = ["--set", "length_shape=5", "--set", "gamma=2", "--set", "c=0.1"]
    assert run("simulate", which, *remedy, "--out", tmp_path / "drawn.npz").exit_code == 0

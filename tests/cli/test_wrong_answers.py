"""What once gave a wrong answer without a word, and numbers that once broke a command."""

import json

import numpy as np
import pytest
from bnpzoo import Corpus
from bnpzoo.cli.console import with_error
from bnpzoo.diagnostics.compare import compare
from bnpzoo.diagnostics.heldout.scores import document_completion, unigram
from bnpzoo.zoo import models
from bnpzoo.zoo.corpus import CorpusError
from bnpzoo.zoo.formats import from_counts, read_corpus, write_corpus
from bnpzoo.zoo.formats.archive import read_sparse
from bnpzoo.zoo.inference import load
from scipy import sparse


def refused(result, *parts):
    """Whether a command ended with one line that says why, and nothing was printed before."""
    assert result.exit_code == 2, result.output
    (line,) = (line for line in result.stderr.splitlines() if line.startswith("error: "))
    for part in parts:
        assert part in line
    assert not result.stdout
    return True


@pytest.fixture
def text(tmp_path):
    """Write texts as a CSV with a column ``text``."""

    def text(*documents):
        path = tmp_path / "text.csv"
        path.write_text("text\n" + "".join(f"{document}\n" for document in documents))
        return path

    return text


def test_evaluate_says_how_much_of_the_text_the_fit_knows(run, fit_file, text):
    path = text("w1 w2 w3 unknown", "w4 w5 w1 w2")
    result = run("evaluate", fit_file, path)
    assert result.exit_code == 0, result.output
    assert "the fit knows 7 of 8 tokens" in " ".join(result.stdout.split())
    coverage = json.loads(run("evaluate", fit_file, path, "--json").stdout)["coverage"]
    assert coverage == {"known": 7, "tokens": 8, "share": 0.875}


def test_evaluate_refuses_text_that_the_fit_hardly_knows(run, fit_file, text):
    path = text("w1 many unknown words", "w2 stand here")
    assert refused(run("evaluate", fit_file, path), "the fit knows 2 of 7 tokens (28.6%)", "--coverage")
    assert run("evaluate", fit_file, path, "--coverage", 0.2).exit_code == 0


def test_one_document_has_no_standard_error(run, fit_file, text):
    path = text("w1 w2 w3 w4")
    scores = json.loads(run("evaluate", fit_file, path, "--json").stdout)["held_out"]
    assert [score["standard_error"] for score in scores] == [None] * 3
    test = Corpus([0, 1, 1, 0], [0, 4])
    assert np.isnan(document_completion([unigram(test)], test).standard_error)


def test_an_estimate_without_a_standard_error():
    assert with_error(1.5, float("nan"), "+.2f") == "+1.50"
    assert with_error(1.5, 0.25, "+.2f") == "+1.50 ± 0.25"


@pytest.mark.parametrize("values", [[0, 1, 0], [0.0, 1.0, 0.0], [False, True, False]])
def test_split_by_zeros_and_ones(values):
    corpus = Corpus([0, 1, 2], [0, 1, 2, 3], covariates={"is_test": values})
    training, test = corpus.split()
    assert (training.words.tolist(), test.words.tolist()) == ([0, 2], [1])


@pytest.mark.parametrize("values", [[0, 2, 0], ["0", "1", "0"], [[0], [1], [0]]])
def test_split_by_anything_else(values):
    corpus = Corpus([0, 1, 2], [0, 1, 2, 3], covariates={"is_test": values})
    with pytest.raises(CorpusError, match="expected a truth value, or 0 or 1, for each document"):
        corpus.split()


def test_split_by_a_column_of_a_csv(run, tmp_path):
    path = tmp_path / "c.csv"
    path.write_text("text,is_test\na cat a dog,0\nthe dog the cat,0\ncat cat dog,1\n")
    fast = ("--set", "n_topics=2", "--tune", 1, "--draws", 4, "--chains", 1)
    result = run("fit", "lda", path, *fast)
    assert result.exit_code == 0, result.output
    assert "Held-out perplexity" in result.stdout
    assert "nan" not in result.stdout


def test_groups_of_one_name():
    with pytest.raises(CorpusError, match=r"group_names\[1\]: expected a name of its own, found 'a' again"):
        Corpus([0, 1], [0, 1, 2], group=[0, 1], group_names=["a", "a"])


@pytest.mark.parametrize(
    "arguments",
    [("fit", "lda", ""), ("report", ""), ("simulate", "lda", "--out", ""), ("simulate", "lda", "--out=")],
)
def test_an_empty_path_is_not_the_current_folder(run, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("a text that could be read")
    assert refused(run(*arguments), "found nothing")


def test_an_empty_path_in_python():
    with pytest.raises(CorpusError, match="found an empty one"):
        read_corpus("")
    with pytest.raises(CorpusError, match="found an empty one"):
        write_corpus(Corpus([0], [0, 1]), "")


def test_one_fit_cannot_agree(run, fit_file, tmp_path):
    assert refused(run("compare", fit_file), "expected two fits or more")
    assert refused(run("compare", fit_file, fit_file), "it has draws of")


@pytest.mark.parametrize("threshold", [-1, 0, "nan", "inf"])
def test_a_threshold_that_is_none(run, fit_file, other_fit_file, threshold):
    assert refused(run("compare", fit_file, other_fit_file, "--threshold", threshold), "positive number")
    trees = {"a": load(fit_file), "b": load(other_fit_file)}
    with pytest.raises(ValueError, match="threshold: expected a positive number"):
        compare(trees, float(threshold))


def test_a_report_is_html(run, fit_file, tmp_path):
    assert refused(
        run("report", fit_file, "--out", tmp_path / "x.pdf"), "x.pdf: expected a name that ends in .html"
    )
    assert not (tmp_path / "x.pdf").exists()


@pytest.mark.parametrize(("option", "name"), [("--csv", "x.pdf"), ("--figure", "x"), ("--figure", "x.csv")])
def test_tables_and_pictures_have_names_that_say_so(run, fit_file, tmp_path, option, name):
    assert refused(run("differences", fit_file, option, tmp_path / name), name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("value", ["5e-324", "1e301", "inf", "nan"])
def test_numbers_whose_densities_are_not_finite(run, corpus_file, value):
    assert refused(run("fit", "lda", corpus_file, "--set", f"alpha={value}"), "from 1e-300 to 1e300")
    assert refused(run("fit", "lda", corpus_file, "--set", f"alpha=Gamma(1,{value})"), "1e-300 to 1e300")


@pytest.mark.parametrize("value", [1e-300, 1e300])
def test_the_least_and_the_largest_number_give_finite_densities(corpus, value):
    model = models.get("lda", n_topics=2, alpha=value, eta=value)
    latents = {"z": np.arange(corpus.n_tokens) % 2, "alpha": np.array(value), "eta": np.array(value)}
    assert np.isfinite(model.log_joint(latents, corpus))


def test_text_is_not_called_a_pickle(run, corpus_file, tmp_path):
    path = tmp_path / "strengths.npz"
    path.write_text("1 2 3")
    result = run("associate", corpus_file, "--strengths", path, "--out", tmp_path / "c.npz")
    assert refused(result, "expected a whole .npz archive")
    assert "pickle" not in result.stderr


def test_truth_values_are_no_counts_and_no_strengths(run, corpus_file, tmp_path):
    with pytest.raises(CorpusError, match="counts: expected numbers, found bool"):
        from_counts(sparse.csr_array(np.ones((2, 2), bool)))
    path = tmp_path / "strengths.npz"
    sparse.save_npz(path, sparse.csr_array(np.ones((8, 8), bool)))
    result = run("associate", corpus_file, "--strengths", path, "--out", tmp_path / "c.npz")
    assert refused(result, "strength: expected numbers, found bool")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"indptr": np.array([0.0, 1.5, 2.0])}, "indptr: expected whole numbers, found float64"),
        ({"format": np.array(b"xyz")}, "format: expected one of csr, csc, bsr, coo, dia, found 'xyz'"),
        ({"format": np.array(b"coo")}, "expected arrays row, col; row is missing"),
        ({"shape": np.array([2.5, 2])}, r"shape\[0\]: expected a whole number"),
    ],
)
def test_matrices_of_a_wrong_format(tmp_path, change, message):
    arrays = {"format": b"csr", "shape": (2, 2), "data": np.ones(2), "indices": [0, 1], "indptr": [0, 1, 2]}
    np.savez(tmp_path / "m.npz", **(arrays | change))
    for read in (read_corpus, read_sparse):
        with pytest.raises(CorpusError, match=message):
            read(tmp_path / "m.npz")


def test_null_characters_in_words():
    with pytest.raises(CorpusError, match=r"vocabulary\[0\]: expected text without null characters"):
        Corpus([0], [0, 1], vocabulary=["a\0b"])


@pytest.mark.parametrize("option", ["--documents", "--length", "--words", "--groups"])
def test_simulate_of_a_million_millions(run, tmp_path, option):
    assert refused(run("simulate", "lda", option, 10**12, "--out", tmp_path / "c.npz"))


@pytest.mark.parametrize(
    "options",
    [("--set", "n_topics=1000000000"), ("--chains", 10**22), ("--draws", 10**12), ("--seed", 10**30)],
)
def test_fit_of_more_than_there_is(run, corpus_file, options):
    result = run("fit", "lda", corpus_file, *options)
    assert result.exit_code == 2
    assert "Traceback" not in result.output

"""``bnpzoo experiment``: its help, what it writes and what it says."""

import json
from functools import partial

import pytest
from bnpzoo.cli.experiment import experiment
from bnpzoo.diagnostics.experiments import (
    belief_network,
    differential,
    runner,
    scaling,
    scaling_synthetic,
    transfer,
    weight_agnostic,
)
from bnpzoo.zoo.formats import from_texts
from samplers import AS_PLAIN_PYTHON

pytestmark = AS_PLAIN_PYTHON

NAMES = [command.name for command in experiment.registered_commands]


@pytest.mark.parametrize("name", NAMES)
def test_help(run, name):
    result = run("experiment", name, "--help")
    assert result.exit_code == 0
    assert "--replicates" in result.stdout


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(
        transfer, "SMALL", transfer.TransferSampling(chains=1, tune=2, draws=2, thin=1, samples=20)
    )


def test_numbers_and_figure_are_written(run, tiny, tmp_path):
    arguments = ("experiment", "transfer-continuum", "--replicates", 1, "--jobs", 1, "--out", tmp_path / "r")
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert "held-out log likelihood a word" in result.stdout
    assert (tmp_path / "r" / "summary.csv").exists()
    assert (tmp_path / "r" / "transfer-continuum.png").exists()
    again = json.loads(run(*arguments, "--json").stdout)
    assert len(again["summary"]) == 5 * len(transfer.METHODS)
    other = run(*arguments, "--eta", 0.1)
    assert other.exit_code == 2
    assert "holds the results of another run, which differs in prior" in other.stderr


def test_a_corpus_without_tasks_is_an_error(run, tiny, tmp_path, corpus_file):
    arguments = ("--tasks", "nothing", "--jobs", 1, "--out", tmp_path / "r")
    result = run("experiment", "transfer-documents", corpus_file, *arguments)
    assert result.exit_code == 2
    assert "expected a covariate 'nothing'" in result.stderr
    assert not (tmp_path / "r").exists()


def test_numbers_of_documents_can_be_chosen(run, tiny, tmp_path, corpus_file):
    arguments = ("experiment", "transfer-documents", corpus_file, "--jobs", 1, "--replicates", 1, "--json")
    result = run(*arguments, "--out", tmp_path / "r")
    assert result.exit_code == 2
    assert "expected at least 40 documents" in result.stderr
    result = run(*arguments, "--documents", 4, "--documents", 2, "--out", tmp_path / "r")
    assert result.exit_code == 0, result.output
    assert [row["n_documents"] for row in json.loads(result.stdout)["summary"]] == [2] * 4 + [4] * 4


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("transfer")])
@pytest.mark.parametrize("eta", ["0", "-1", "nan", "inf"])
def test_eta_is_positive(run, tmp_path, name, eta):
    corpus = ["corpus.npz"] if name == "transfer-documents" else []
    result = run("experiment", name, *corpus, "--eta", eta, "--out", tmp_path / "r")
    assert result.exit_code == 2
    assert "expected a positive number" in result.stderr
    assert not (tmp_path / "r").exists()


def test_differential_topic_models_are_compared(run, monkeypatch, tmp_path, corpus_file):
    monkeypatch.setattr(differential, "SMALL", runner.Sampling(tune=2, draws=2))
    few = partial(differential.PerplexityExperiment, methods=("hpyp", "cclda"))
    monkeypatch.setattr(differential, "PerplexityExperiment", few)
    arguments = ("--replicates", 1, "--jobs", 1, "--out", tmp_path / "r", "--json")
    result = run("experiment", "differential", corpus_file, *arguments)
    assert result.exit_code == 0, result.output
    assert [row["method"] for row in json.loads(result.stdout)["summary"]] == ["hpyp", "cclda"] * 2
    assert (tmp_path / "r" / "differential.png").exists()
    assert run("experiment", "differential-classes", corpus_file, "--groups", "age").exit_code == 2


def test_topics_of_sentences_are_compared(run, monkeypatch, tmp_path):
    monkeypatch.setattr(weight_agnostic, "SMALL", weight_agnostic.ParticleSampling(2, 2, 1, particles=2))
    few = partial(weight_agnostic.WeightAgnosticExperiment, methods=("lda",), most_documents=9)
    monkeypatch.setattr(weight_agnostic, "WeightAgnosticExperiment", few)
    library = from_texts(["alpha beta gamma\ndelta alpha beta"] * 9, sentences=True)
    monkeypatch.setattr(weight_agnostic, "standard_library", lambda: library)
    arguments = ("--n-topics", 3, "--replicates", 1, "--jobs", 1, "--out", tmp_path / "r", "--json")
    result = run("experiment", "weight-agnostic", *arguments)
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)["summary"]
    assert [(row["data"], row["n_topics"]) for row in rows] == [("synthetic", 3), ("source", 3)]
    assert (tmp_path / "r" / "weight-agnostic.png").exists()


def test_scales_that_were_simulated_are_recovered(run, monkeypatch, tmp_path):
    monkeypatch.setattr(scaling, "SMALL", scaling.ScalingSampling(2, 2, 1, particles=2, iterations=2))
    few = partial(scaling_synthetic.SyntheticExperiment, lengths=(9,), n_documents=12, n_test=4, n_topics=2)
    monkeypatch.setattr(scaling_synthetic, "SyntheticExperiment", few)
    arguments = ("--replicates", 1, "--jobs", 1, "--out", tmp_path / "r", "--json")
    result = run("experiment", "scaling-synthetic", *arguments)
    assert result.exit_code == 0, result.output
    assert [row["method"] for row in json.loads(result.stdout)["summary"]] == ["hdsp", "vi", "hdp"]
    assert (tmp_path / "r" / "scaling-synthetic.png").exists()


def test_topics_under_a_belief_network_are_compared(run, monkeypatch, tmp_path, corpus_file):
    monkeypatch.setattr(belief_network, "SMALL", runner.Sampling(2, 2, 1))
    arguments = ("--n-topics", 2, "--replicates", 1, "--jobs", 1, "--out", tmp_path / "r", "--json")
    result = run("experiment", "belief-network", corpus_file, "--method", "pfa", "--share", 0.5, *arguments)
    assert result.exit_code == 0, result.output
    (row,) = json.loads(result.stdout)["summary"]
    assert (row["method"], row["share"]) == ("pfa", 0.5)
    assert (tmp_path / "r" / "belief-network.png").exists()
    wrong = run("experiment", "belief-network", corpus_file, "--method", "mallet")
    assert wrong.exit_code == 2
    assert "expected one of pfa, pfa_symmetric" in wrong.stderr


def test_labels_of_a_corpus_are_asked_for_by_name(run, corpus_file):
    for name in ("scaling-labels", "scaling-ratings"):
        result = run("experiment", name, corpus_file, "--label", "colour")
        assert result.exit_code == 2
        assert "expected a covariate 'colour', found none" in result.stderr

"""The experiment on topics under a belief network: every method on a toy, and what its parts compute."""

from dataclasses import replace

import numpy as np
import pytest
from bnpzoo import Corpus
from bnpzoo.diagnostics.experiments import belief_network
from bnpzoo.diagnostics.experiments.belief_network import BeliefNetworkExperiment, thinned
from bnpzoo.diagnostics.experiments.runner import Cell, Sampling, run_experiment
from bnpzoo.zoo.corpus import CorpusError
from bnpzoo.zoo.formats import write_corpus
from bnpzoo.zoo.models import get
from samplers import as_plain_python

TINY = Sampling(tune=30, draws=2, thin=2)


def toy():
    """Sixty documents of twelve tokens, of two classes that their words tell; every fourth is for testing."""
    rng, kind = np.random.default_rng(0), np.arange(60) % 2
    words = (rng.integers(10, size=(60, 12)) + 10 * kind[:, None]).ravel()
    return Corpus(
        words,
        np.arange(0, 721, 12),
        n_words=20,
        covariates={"label": kind, "is_test": (np.arange(60) // 2 % 4 == 3).astype(int)},
        covariate_names={"label": ["a", "b"]},
    )


@pytest.fixture
def path(tmp_path):
    """File of the toy."""
    write_corpus(toy(), tmp_path / "toy.npz")
    return str(tmp_path / "toy.npz")


def experiment(path, **fields):
    """An experiment of seconds."""
    return BeliefNetworkExperiment(TINY, (path,), n_topics=3, eta=0.1, **fields)


@as_plain_python
def test_all_methods(path, tmp_path):
    results = run_experiment(experiment(path, shares=(0.5,)), tmp_path / "out")
    results = results.set_index("method")
    assert (results["perplexity"] > 1.0).all()
    assert (results["perplexity"] < 20.0).all()  # of guessing
    assert results["npmi"].between(-1.0, 1.0).all()
    assert (results["accuracy"] >= 0.75).all()  # of guesses half are right
    assert results.loc["pfa_dirbn3", ["upper_2", "upper_3"]].between(1.0, 3.0).all()
    assert np.isnan(results.loc["pfa", "upper_2"])


def test_lda_of_tomotopy(path):
    pytest.importorskip("tomotopy", reason="tomotopy is not installed (extra peers)")
    found = experiment(path).run(Cell({"data": "toy", "share": 1.0}, belief_network.PEER, 0))
    assert 1.0 < found["perplexity"] < 20.0
    assert found["accuracy"] >= 0.75


@as_plain_python
def test_eta_of_mallet_where_asked_for(path):
    found = experiment(path).run(Cell({"data": "toy", "share": 1.0}, belief_network.MALLET, 0))
    sampled = experiment(path).run(Cell({"data": "toy", "share": 1.0}, "pfa_symmetric", 0))
    assert 1.0 < found["perplexity"] < 20.0
    assert found["perplexity"] != sampled["perplexity"]


def test_methods_are_models():
    made = belief_network.BeliefNetworkExperiment(TINY, n_topics=7, eta=0.1)
    assert made.model("pfa", True) == get("pfa", n_topics=7, eta=0.1)
    assert made.model("pfa_symmetric", True) == get("pfa", n_topics=7)
    assert made.model(belief_network.MALLET, True) == get("pfa", n_topics=7)
    under = made.model("metalda_dirbn3", True)
    assert under == get("metalda", topics="belief-network", layers=3, width=7, n_topics=7, labels="label")
    assert made.model("metalda", False).labels == "none"
    assert made.model("gbn_dirbn1", True).topics.layers == 1


def test_a_share_of_the_tokens_of_each_document_is_kept():
    corpus = Corpus(np.arange(15) % 4, [0, 1, 1, 5, 15], n_words=4)
    part = thinned(corpus, 0.2, 0)
    np.testing.assert_array_equal(part.doc_lengths, [1, 0, 1, 2])
    np.testing.assert_array_equal(thinned(corpus, 1.0, 0).words, corpus.words)
    assert part.n_words == corpus.n_words
    counts = np.array([thinned(corpus, 0.2, seed).words[-2:] for seed in range(200)])
    assert set(counts.ravel()) == {0, 1, 2, 3}  # any of the tokens, not the first ones


@as_plain_python
def test_labels_of_documents_are_no_features(path):
    """Those of test documents are the same when all labels are turned."""
    train, test = toy().split()
    fitted = experiment(path).fit("metalda", train, 0)
    found = belief_network.proportions(fitted.predictives[-1], fitted.topics, test, 0)
    turned = replace(test, covariates={**test.covariates, "label": 1 - test.covariates["label"]})
    again = belief_network.proportions(fitted.predictives[-1], fitted.topics, turned, 0)
    np.testing.assert_array_equal(found, again)


@as_plain_python
def test_without_classes_there_is_no_accuracy_and_a_fifth_is_held_out(tmp_path):
    plain = replace(toy(), covariates={}, covariate_names={})
    write_corpus(plain, tmp_path / "plain.npz")
    made = experiment(str(tmp_path / "plain.npz"))
    train, test = made.split(made.corpora[0], 0)
    assert (train.n_documents, test.n_documents) == (48, 12)
    assert np.isnan(made.run(Cell({"data": "plain", "share": 1.0}, "metalda", 0))["accuracy"])


def test_corpora_of_one_name_are_refused(path):
    made = replace(experiment(path), corpora=(path, path))
    with pytest.raises(CorpusError, match="corpora: expected names that differ, found toy, toy"):
        made.check()

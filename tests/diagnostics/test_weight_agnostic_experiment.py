"""The experiment on topics of sentences: every method on a toy, and what its parts compute."""

import numpy as np
import pytest
from bnpzoo.diagnostics.experiments import weight_agnostic
from bnpzoo.diagnostics.experiments.runner import Cell, run_experiment
from bnpzoo.diagnostics.experiments.weight_agnostic import (
    ParticleSampling,
    WeightAgnosticExperiment,
    planted,
    precision_at_planted,
    some_sentences,
    standard_library,
)
from bnpzoo.diagnostics.topics import Sentences
from bnpzoo.zoo.corpus import Corpus, CorpusError
from bnpzoo.zoo.designs import SubtleTopics
from bnpzoo.zoo.formats import from_texts, write_corpus
from bnpzoo.zoo.inference import sample
from bnpzoo.zoo.models import get
from numpy.testing import assert_allclose
from samplers import as_plain_python

TINY = ParticleSampling(tune=3, draws=2, thin=1, particles=2)


@pytest.fixture
def small_library(monkeypatch):
    """In place of the standard library, which takes seconds to read."""
    texts = [f"alpha beta number{d % 3}\nbeta gamma alpha\ngamma delta" for d in range(12)]
    library = from_texts(texts, sentences=True)
    monkeypatch.setattr(weight_agnostic, "standard_library", lambda: library)


@pytest.fixture
def path(tmp_path):
    """Twelve documents of 25 tokens without sentences."""
    words = np.random.default_rng(0).integers(0, 6, 300)
    write_corpus(Corpus(words, np.arange(0, 301, 25)), tmp_path / "mine.npz")
    return str(tmp_path / "mine.npz")


@as_plain_python
def test_every_method_has_all_figures(small_library, path, tmp_path):
    experiment = WeightAgnosticExperiment(TINY, (path,), topic_counts=(3,), most_documents=9, replicates=1)
    results = run_experiment(experiment, tmp_path / "out")
    n_methods = len(weight_agnostic.METHODS)
    assert list(results["method"]) == list(weight_agnostic.METHODS) * 3
    assert list(results["data"]) == [d for d in ("synthetic", "source", "mine") for _ in range(n_methods)]
    assert (results["perplexity"] > 1.0).all()
    assert results["umass_s"].notna().any()
    is_synthetic = results["data"] == "synthetic"
    for name in ("subtle", "specific"):
        assert results.loc[is_synthetic, name].between(0.0, 1.0).all()
        assert results.loc[~is_synthetic, name].isna().all()


@pytest.mark.compiled
def test_lda_finds_what_was_planted():
    """With topics as distinct as these, most of it; guessing would find a tenth, and half."""
    experiment = WeightAgnosticExperiment(
        ParticleSampling(150, 5, 5, particles=2), kappa=0.1, eta=0.05, most_documents=30, methods=("lda",)
    )
    figures = experiment.run(Cell({"data": "synthetic", "n_topics": 15}, "lda", 0))
    assert figures["subtle"] > 0.5
    assert figures["specific"] > 0.7


@as_plain_python
def test_sentences_are_scored_as_documents_and_summed():
    """Of one topic, whose words are known: no simulation can be wrong."""
    problem = planted(SubtleTopics(n_documents=9, n_comments=1), np.random.default_rng(0))
    tree = sample(
        get("focused", eta=1e6), problem.train.of_sentences(), chains=1, tune=2, draws=2, keep=2, workers=1
    )
    score = weight_agnostic.sentence_by_sentence(tree, problem.test, 0, 50)
    assert_allclose(score.log_probability, -problem.test.doc_lengths * np.log(400), rtol=1e-3)
    assert score.n_draws == 2


def test_comments_are_held_out_with_their_articles():
    problem = planted(SubtleTopics(n_documents=9, n_comments=2), np.random.default_rng(0))
    train, test = problem.train, problem.test
    assert not {*train.covariates["article"]} & {*test.covariates["article"]}
    assert (train.n_documents, test.n_documents) == (18, 9)
    assert problem.carries.shape == (train.n_segments,)
    assert problem.is_specific.shape == (18,)
    assert problem.carries.sum() == 6 * 4
    assert not problem.carries[train.flag("is_comment")[Sentences.of(train).document]].any()
    assert not problem.is_specific[~train.flag("is_comment")].any()


def test_precision_at_planted_by_hand():
    assert precision_at_planted(np.array([3.0, 1.0, 2.0, 0.0]), np.array([True, True, False, False])) == 0.5


def test_some_sentences_of_each_document():
    corpus = from_texts(["a1 a2\nb1\nc1 c2", "d1", "e1\nf1\ng1"], sentences=True)
    found = some_sentences(corpus, 2, np.random.default_rng(0))
    assert np.bincount(Sentences.of(found).document).tolist() == [2, 1, 2]
    assert np.all(np.diff(found.words[: found.doc_ptr[1]]) > 0)


def test_runs_of_words_stand_for_sentences(path):
    corpus = weight_agnostic.corpus_with_sentences(path, 10)
    assert np.diff(corpus.segment_ptr).tolist() == [10, 10, 5] * 12


def test_corpora_have_names_of_their_own(small_library, path):
    with pytest.raises(CorpusError, match="expected names that differ"):
        WeightAgnosticExperiment(TINY, (path, path)).check()


@pytest.mark.heavy
def test_the_standard_library_is_made_of_statements():
    corpus = standard_library()
    assert corpus.n_documents > 100
    assert corpus.n_segments > 10_000
    assert "self" in corpus.vocabulary
    assert all(len(word) >= 3 for word in corpus.vocabulary)

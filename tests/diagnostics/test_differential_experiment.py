"""The experiments on differential topic models: every method on a toy, and what their parts compute."""

import numpy as np
import pytest
from bnpzoo.diagnostics.experiments import differential
from bnpzoo.diagnostics.experiments.differential import (
    ClassificationExperiment,
    PerplexityExperiment,
    most_likely_groups,
    with_words,
)
from bnpzoo.diagnostics.experiments.runner import Cell, Sampling, run_experiment
from bnpzoo.zoo.contract import FrozenTopics
from bnpzoo.zoo.corpus import Corpus, CorpusError
from bnpzoo.zoo.formats import write_corpus
from samplers import as_plain_python, of_sampler

TINY = Sampling(tune=3, draws=2)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Sixty documents of three groups, each with five words that the others have seldom."""
    rng = np.random.default_rng(0)
    group = np.arange(60) % 3
    share = np.where(np.arange(20) // 5 == group[:, None], 4.0, 1.0)
    words = [rng.choice(20, 15, p=p / p.sum()) for p in share]
    corpus = Corpus(
        np.concatenate(words),
        15 * np.arange(61),
        n_words=20,
        covariates={"label": group},
        covariate_names={"label": ["a", "b", "c"]},
        in_order=True,
    )
    path = tmp_path_factory.mktemp("differential") / "corpus.npz"
    write_corpus(corpus, path)
    return str(path)


def test_training_documents_have_the_words(path):
    experiment = PerplexityExperiment(
        TINY, corpus=path, groups="label", most_documents=40, least_documents=15
    )
    train, test = experiment.split(0)
    assert (train.n_documents, test.n_documents) == (32, 8)
    assert train.group_names.tolist() == ["a", "b", "c"]
    assert 0 < train.n_words < 20
    assert np.array_equal(train.vocabulary, test.vocabulary)
    documents = [
        np.unique(train.words[a:b]) for a, b in zip(train.doc_ptr[:-1], train.doc_ptr[1:], strict=True)
    ]
    assert np.bincount(np.concatenate(documents)).min() >= 15
    assert experiment.split(0)[0].digest() == train.digest()
    assert experiment.split(1)[0].digest() != train.digest()


def test_words_are_taken_out(differences):
    corpus = Corpus(
        [0, 1, 2, 1, 0],
        [0, 3, 3, 5],
        vocabulary=["x", "y", "z"],
        group=[0, 1, 0],
        segment_ptr=[0, 1, 2, 3, 5],
        covariates={"year": [1, 2, 3]},
        in_order=True,
    )
    found = with_words(corpus, np.array([True, False, True]))
    assert found.vocabulary.tolist() == ["x", "z"]
    assert found.words.tolist() == [0, 1, 0]
    assert found.doc_ptr.tolist() == [0, 2, 2, 3]
    assert found.segment_ptr.tolist() == [0, 1, 2, 3]
    changed = {"words", "doc_ptr", "vocabulary", "n_words", "segment_ptr"}
    assert {*differences(found, corpus)} == changed


@as_plain_python
def test_every_method_has_a_perplexity(path, tmp_path):
    experiment = PerplexityExperiment(TINY, corpus=path, groups="label", topic_counts=(2,), replicates=1)
    results = run_experiment(experiment, tmp_path)
    assert list(results["method"]) == list(differential.METHODS)
    assert results["perplexity"].between(5.0, 60.0).all()


@pytest.mark.parametrize(
    "method", [of_sampler(False, "cclda"), of_sampler(False, "group_lda"), *differential.CLASSIFIERS]
)
def test_every_method_tells_groups_apart(path, method):
    experiment = ClassificationExperiment(Sampling(20, 3), corpus=path, groups="label", replicates=1)
    found = experiment.run(Cell({"n_topics": 2}, method, 0))
    # Twelve test documents, of which guessing finds a third: 3 at most in nearly all splits
    assert found["accuracy"] >= 0.5
    assert found["guessing"] <= 0.5


def test_documents_are_given_to_the_group_whose_topics_they_have():
    """Groups use the same topics with other words; what is likeliest is computed by hand."""
    words = np.array([[[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]], [[0.2, 0.3, 0.5], [0.8, 0.1, 0.1]]])
    frozen = FrozenTopics(words, np.array([[1e6, 1e-6], [1e6, 1e-6]]))  # so that topic 0 has all the weight
    test = Corpus([0, 0, 1, 2, 2, 1, 0, 2, 2], [0, 3, 6, 9], n_words=3, group=[0, 0, 0])
    assert most_likely_groups([frozen, frozen], test).tolist() == [0, 1, 1]


def test_groups_are_needed(path):
    with pytest.raises(CorpusError, match="expected groups, or the name of a covariate"):
        PerplexityExperiment(TINY, corpus=path).split(0)
    with pytest.raises(CorpusError, match="covariates\\['age'\\]: expected a whole number or text"):
        PerplexityExperiment(TINY, corpus=path, groups="age").split(0)
    with pytest.raises(CorpusError, match="expected five documents and more"):
        PerplexityExperiment(TINY, corpus=path, groups="label", least_documents=100).split(0)

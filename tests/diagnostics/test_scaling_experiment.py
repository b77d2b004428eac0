"""The experiments on topics under labels: every method on a toy, and what their parts compute."""

import numpy as np
import pytest
from bnpzoo import Corpus, get, sample
from bnpzoo.diagnostics.experiments import scaling, scaling_labels, scaling_ratings, scaling_synthetic
from bnpzoo.diagnostics.experiments.runner import Cell, run_experiment
from bnpzoo.zoo.corpus import CorpusError
from bnpzoo.zoo.formats import write_corpus
from samplers import OF_FAMILIES, of_sampler
from scipy import sparse


def is_quick(method):
    """Whether a method compiles nothing that other tests do not compile."""
    return method in (*OF_FAMILIES, *scaling.CLASSIFIERS, "hdsp_sampled", "slda_number")


TINY = scaling.ScalingSampling(tune=3, draws=2, thin=1, particles=2, iterations=3)


@pytest.fixture
def path(tmp_path):
    """Forty documents whose words tell their kind, their authors and their rating.

    Each is of two topics, one of them four times the other: of documents of one topic labels say next to
    nothing, as a topic that has all of a document has it whatever its scale.
    """
    rng, kind = np.random.default_rng(0), np.arange(40) % 2
    topic = np.where(rng.random((40, 30)) < 0.8, kind[:, None], 1 - kind[:, None])
    words = (rng.integers(3, size=(40, 30)) + 3 * topic).ravel()
    authors = sparse.csr_array(np.column_stack([kind, 1 - kind, rng.integers(2, size=40)]))
    corpus = Corpus(
        words,
        np.arange(0, 1201, 30),
        n_words=6,
        covariates={"kind": kind, "author": authors, "rating": kind + 0.1 * rng.random(40)},
        covariate_names={"kind": ["a", "b"], "author": ["x", "y", "z"]},
    )
    write_corpus(corpus, tmp_path / "mine.npz")
    return str(tmp_path / "mine.npz")


@pytest.mark.slow
def test_all_methods_on_simulated_documents(tmp_path):
    experiment = scaling_synthetic.SyntheticExperiment(
        TINY, lengths=(20,), n_documents=20, n_test=5, n_topics=3, replicates=1
    )
    results = run_experiment(experiment, tmp_path / "out").set_index("method")
    assert (results["perplexity"] > 1.0).all()
    assert results.loc[["hdsp", "vi"], ["spearman", "mae", "mae_raw"]].notna().all(axis=None)
    assert np.isnan(results.loc["hdp", "spearman"])


def test_the_side_of_the_cube_changes_no_document():
    made = [
        scaling_synthetic.SyntheticExperiment(TINY, n_documents=9, side=side).simulate(20, 0)
        for side in (1.0, 16.0)
    ]
    np.testing.assert_array_equal(made[0].train.words, made[1].train.words)
    assert np.abs(made[0].log_scale - made[1].log_scale).min() > 2.0


def test_what_is_recovered_is_centred_and_matched():
    """Of a fit whose log scales and words are the truth in another order, each label off by a constant."""
    made = scaling_synthetic.SyntheticExperiment(TINY, n_documents=30, n_topics=3, n_words=3).simulate(50, 0)
    made = made._replace(words=0.97 * np.eye(3) + 0.01)
    corpus, order = made.train, [2, 0, 1]
    tree = sample(get("hdsp", labels="tag", n_topics=3, eta=0.1), corpus, chains=1, tune=2, draws=1, keep=1)
    tree["latents"]["z"].data[0, 0] = np.argsort(order)[corpus.words]
    tree["latents"]["log_scale"].data[0, 0] = made.log_scale[:, order] + np.arange(1.0, 6.0)[:, None]
    found = scaling_synthetic.recovered(tree, made)
    assert found["spearman"] == pytest.approx(1.0)
    assert found["mae"] < 1e-12
    assert found["mae_raw"] == pytest.approx(3.0)


@pytest.mark.compiled
@pytest.mark.parametrize(
    "method",
    [
        method if is_quick(method) else pytest.param(method, marks=pytest.mark.heavy)
        for method in scaling_labels.LabelsExperiment.methods
    ],
)
def test_labels_that_words_tell_are_told(path, method):
    experiment = scaling_labels.LabelsExperiment(
        scaling.ScalingSampling(tune=100, draws=4, thin=5, particles=5),
        corpus=path,
        label="kind",
        most_documents=30,
    )
    found = experiment.run(Cell({"kept": 1.0}, method, 0))
    if method != "hdp":
        assert found["accuracy"] >= 0.7  # of guesses half are right
    assert np.isnan(found["perplexity"]) == (method in scaling.CLASSIFIERS)


def test_sets_of_labels_have_a_perplexity_and_are_not_classified(path):
    experiment = scaling_labels.LabelsExperiment(TINY, corpus=path, label="author", most_documents=30)
    for method in ("hdsp", "hdsp_sampled", "svm"):
        found = experiment.run(Cell({"kept": 0.5}, method, 0))
        assert np.isnan(found["accuracy"])
    assert experiment.run(Cell({"kept": 0.5}, "hdsp", 0))["perplexity"] > 1.0


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(method, marks=pytest.mark.heavy)  # as `whdsp`, the rating its only label
        if method == "whdsp_alone"
        else of_sampler(is_quick(method), method)
        for method in scaling_ratings.RatingsExperiment.methods
    ],
)
def test_ratings_are_binned_and_told(path, method):
    experiment = scaling_ratings.RatingsExperiment(TINY, corpus=path, document_counts=(30,))
    found = experiment.run(Cell({"documents": 30}, method, 0))
    assert set(found) == {"macro_f1", "micro_f1", *(f"f1_{star}" for star in range(1, 6))}
    assert all(0.0 <= value <= 1.0 for value in found.values())


def test_a_label_that_is_not_there_is_named(path):
    with pytest.raises(CorpusError, match="expected a covariate 'colour', found none"):
        scaling_labels.LabelsExperiment(TINY, corpus=path, label="colour").check()

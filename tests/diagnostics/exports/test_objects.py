"""Ground truth, and fits as objects of scikit-learn and gensim."""

import json

import numpy as np
import pytest
from bnpzoo import Corpus, get, sample
from bnpzoo.diagnostics.exports import ground_truth, to_gensim, to_sklearn
from bnpzoo.diagnostics.topics import match_topics, transform
from bnpzoo.diagnostics.topics.summaries import word_probabilities
from samplers import as_plain_python, of_sampler

CORPUS = Corpus.from_texts([["price", "trade", "price"] * 4, ["goal", "team"] * 6, ["price", "goal"] * 5] * 4)


@pytest.fixture(scope="module")
def matched():
    fit = sample(get("lda", n_topics=2, alpha=0.2, eta=0.1), CORPUS, chains=2, tune=50, draws=40, seed=1)
    return match_topics(fit)


def proportions(matched):
    return transform(matched, CORPUS).mean.to_numpy()


def test_topics_as_scikit_learn_has_them(matched):
    lda = to_sklearn(matched)
    words = lda.components_ / lda.components_.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(words, word_probabilities(matched))
    assert lda.components_.sum() == pytest.approx(CORPUS.n_tokens + 0.1 * lda.components_.size)
    np.testing.assert_allclose(lda.transform(CORPUS.counts()), proportions(matched), atol=0.1)
    assert lda.doc_topic_prior_ == pytest.approx(0.2)
    assert np.isfinite(lda.perplexity(CORPUS.counts()))


def test_priors_above_those_that_scikit_learn_would_fit_with():
    fit = sample(get("lda", n_topics=2, alpha=4.0, eta=1.5), CORPUS, chains=1, tune=5, draws=5, seed=1)
    lda = to_sklearn(fit)
    assert (lda.doc_topic_prior_, lda.topic_word_prior_) == pytest.approx((4.0, 1.5))
    np.testing.assert_allclose(lda.transform(np.zeros((1, CORPUS.n_words))), 0.5)


def test_topics_as_gensim_has_them(matched):
    pytest.importorskip("gensim")
    lda = to_gensim(matched)
    np.testing.assert_allclose(lda.get_topics(), word_probabilities(matched))
    np.testing.assert_allclose(lda.alpha, 0.2)
    found = np.zeros((CORPUS.n_documents, 2))
    for d, row in enumerate(CORPUS.counts()):
        bow = [(int(w), int(row[w])) for w in np.flatnonzero(row)]
        for k, share in lda.get_document_topics(bow, minimum_probability=0.0):
            found[d, k] = share
    np.testing.assert_allclose(found, proportions(matched), atol=0.1)
    assert lda.id2word[0] == CORPUS.vocabulary[0]


@pytest.mark.parametrize(
    "model",
    [get("hdp"), of_sampler(False, get("lda", topics="pitman-yor", n_topics=2))],
    ids=lambda model: model.label,
)
def test_models_of_free_numbers_of_topics_and_of_other_topics(model):
    fit = sample(model, CORPUS, chains=1, tune=10, draws=5, seed=1)
    lda = to_sklearn(fit)
    assert lda.transform(CORPUS.counts()).shape == (CORPUS.n_documents, match_topics(fit).n_topics)
    words = lda.components_ / lda.components_.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(words, word_probabilities(fit))


@as_plain_python
def test_seeds_are_in_what_is_exported():
    model = get("lda", topics="seeded", n_topics=2, seeds=(("team",), ()), seed_tokens=50)
    fit = sample(model, CORPUS, chains=1, tune=10, draws=5, seed=1)
    lda = to_sklearn(fit)
    assert lda.components_[0, CORPUS.number_of_word["team"]] > 50.0
    assert 0.0 < lda.topic_word_prior_ < 50.0
    words = lda.components_ / lda.components_.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(words, word_probabilities(fit))


def test_ground_truth_has_means_and_errors(matched):
    found = json.loads(json.dumps(ground_truth(matched.fit), allow_nan=False))
    assert found["model"] == "lda"
    moments = found["sample_transformations"]
    assert moments["n_topics"]["ground_truth_mean_standard_error"] >= 0.0
    draws = matched.fit["posterior"]["log_joint"].values
    assert moments["log_joint"]["ground_truth_mean"] == pytest.approx(draws.mean())
    assert moments["log_joint"]["ground_truth_standard_deviation"] == pytest.approx(draws.std(ddof=1))
    assert 0.0 < moments["log_joint"]["ground_truth_mean_standard_error"] < draws.std()
    assert moments["log_joint"]["r_hat"] > 0.9
    assert moments["n_topics"]["ess"] is None  # it never moves


def test_one_draw_has_no_errors():
    found = ground_truth(sample(get("lda", n_topics=2), CORPUS, chains=1, tune=1, draws=1))
    moments = found["sample_transformations"]["log_joint"]
    assert [value for name, value in moments.items() if "error" in name] == [None, None]
    assert moments["r_hat"] is moments["ess"] is None

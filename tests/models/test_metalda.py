"""MetaLDA: weights of features, labels that nobody has, new documents, mutants."""

import bnpzoo
import numpy as np
import pytest
from bnpzoo import Corpus
from bnpzoo.diagnostics.heldout.labels import predict_labels
from bnpzoo.diagnostics.laboratory.ladder import MICRO, Case
from bnpzoo.diagnostics.laboratory.oracle import Oracle, agrees_with_oracle
from bnpzoo.diagnostics.laboratory.subject import ModelSubject
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus import CorpusError
from bnpzoo.zoo.models import get
from bnpzoo.zoo.priors import Gamma
from chains import chain
from scipy import sparse
from scipy.special import digamma, polygamma

TOLERANCE = 5.0
"""Standard errors: with the normal law, a false alarm in any of 12 comparisons has probability 7e-6."""


def tagged(n=12):
    """Corpus of documents with sets of labels: all, none, and one that nobody has."""
    rng, tags = np.random.default_rng(3), np.zeros((n, 3), int)
    tags[0], tags[1, 0], tags[2, 2] = [1, 0, 1], 1, 1
    words = rng.integers(5, size=4 * n)
    return Corpus(words, np.arange(0, 4 * n + 1, 4), n_words=5, covariates={"tags": sparse.csr_array(tags)})


@pytest.mark.slow
def test_without_labels_it_is_lda_with_a_sampled_alpha_a_topic():
    hyper = {"n_topics": 2, "eta": 0.5}
    model = get("metalda", labels="none", weight_shape=1.6, weight_rate=1.3, **hyper)
    lda = get("lda", symmetric=False, alpha=Gamma(1.6, 1.3), **hyper)
    oracle = Oracle.of_model(lda, MICRO, nodes=32)
    subject = ModelSubject(model, Design.of(MICRO))
    plain = Oracle(oracle.assignments, oracle.log_joint, {})  # alpha has another name here
    assert agrees_with_oracle(subject, plain, MICRO, draws=4000, false_alarm_rate=1e-5).passed
    other = Oracle.of_model(lda.replaced(alpha=Gamma(20.0, 2.0)), MICRO, nodes=32)
    wrong = Oracle(other.assignments, other.log_joint, {})
    assert not agrees_with_oracle(subject, wrong, MICRO, draws=4000, false_alarm_rate=1e-5).passed


def test_the_weights_of_a_label_that_nobody_has_are_draws_from_their_prior():
    model, corpus = get("metalda", n_topics=3, eta=0.5, weight_shape=1.6, weight_rate=1.3), tagged()
    assert [column.name for column in model.columns(corpus)] == [
        "tags: tags 0",
        "tags: tags 1",
        "tags: tags 2",
    ]
    drawn = np.array([latents["log_weight"][2] for latents in chain(model, corpus, 1500)])
    error = np.sqrt(polygamma(1, 1.6) / drawn.size)
    assert abs(drawn.mean() - (digamma(1.6) - np.log(1.3))) < TOLERANCE * error


def test_alpha_is_a_product_over_features_of_which_all_documents_have_the_first():
    model, corpus = get("metalda", n_topics=2, eta=0.5), tagged(4)
    latents = {"z": np.zeros(16, int), "log_weight": np.log([[0.5, 2.0], [3.0, 1.0], [9.0, 9.0], [1.0, 7.0]])}
    rows = model.document_rows(corpus)
    alpha = model.document_prior(latents, corpus)[rows, :2]
    np.testing.assert_allclose(alpha, [[1.5, 14.0], [1.5, 2.0], [0.5, 14.0], [0.5, 2.0]])


ALPHA = np.array([[0.5, 2.0], [1.5, 2.0], [4.5, 14.0]])
"""Of documents with the tags of `LABELS_OF_NEW`."""

LABELS_OF_NEW = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 1]])


def predictive_of_two_topics():
    """What a draw says of new documents: the predictive, and its topics, (2, 5)."""
    model, corpus = get("metalda", n_topics=2, eta=0.5), tagged()
    (*_, latents) = chain(model, corpus, 20)
    log_weight = np.log([[0.5, 2.0], [3.0, 1.0], [9.0, 1.0], [1.0, 7.0]])
    found = model.predictive(latents | {"log_weight": log_weight}, corpus)
    return found, found.topics.words


def new_documents(words):
    tags = {"tags": sparse.csr_array(LABELS_OF_NEW)}
    return Corpus(np.tile(words, 3), np.arange(0, 3 * len(words) + 1, len(words)), n_words=5, covariates=tags)


def test_new_documents_are_predicted_given_their_labels():
    predictive, phi = predictive_of_two_topics()
    np.testing.assert_allclose(predictive.topics.prior, ALPHA[:1])
    mean = ALPHA / ALPHA.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(predictive.proportions(sparse.csr_array(LABELS_OF_NEW)), mean)
    first, second = 1, 3
    total = ALPHA.sum(axis=1)
    of_pair = ALPHA[:, :, None] * (ALPHA[:, None] + np.eye(2)) / (total * (total + 1.0))[:, None, None]
    expected = np.einsum("dkl,k,l->d", of_pair, phi[:, first], phi[:, second])
    rng = np.random.default_rng(0)
    log_p = predictive.log_documents(new_documents([first, second]), rng, particles=20_000)
    np.testing.assert_allclose(log_p, np.log(expected), atol=0.01)
    nothing = Corpus(np.zeros(0, int), np.zeros(4, int), n_words=5, covariates=new_documents([0]).covariates)
    single = predictive.log_completion(nothing, new_documents([first]), rng, burn_in=0, sweeps=1)
    np.testing.assert_allclose(single, np.log(mean @ phi[:, first]))


def test_a_label_is_told_from_the_words_of_a_new_document():
    rng, kind = np.random.default_rng(1), np.repeat([0, 1], 20)
    words = (rng.integers(3, size=(40, 12)) + 2 * kind[:, None]).ravel()
    corpus = Corpus(words, np.arange(0, 481, 12), n_words=5, group=kind, group_names=["a", "b"])
    fit = bnpzoo.sample(get("metalda", n_topics=2, eta=0.5), corpus, tune=100, draws=10, chains=1, seed=1)
    found = predict_labels(fit, corpus, "group", seed=1)
    assert found.hit.mean() > 0.9  # with a word of their own in most documents; by guessing 0.5


@pytest.mark.parametrize(
    "options",
    [
        {"weight_shape": 1e-6},
        {"weight_shape": 1e-6, "weight_rate": 1e6},
        {"weight_shape": 0.01},
        {"weight_shape": 1e6},
        {"weight_shape": 1e-6, "eta": 1e-6},
        {"weight_shape": 1e-6, "n_topics": 1},
    ],
)
def test_extreme_shapes_are_finite(options):
    model, corpus = get("metalda", **{"n_topics": 3} | options), tagged()
    for latents in chain(model, corpus, 50):
        assert np.isfinite(model.log_joint(latents, corpus))
        assert all(np.isfinite(x).all() for x in model.quantities(latents, corpus).values())


def test_numbers_are_no_labels():
    corpus = Corpus([0, 1], [0, 2], covariates={"price": np.array([0.5])})
    with pytest.raises(CorpusError, match="metalda: labels: expected categories in 'price', found numbers"):
        get("metalda", labels="price").initial_latents(corpus, np.random.default_rng(0))


@pytest.mark.heavy
@pytest.mark.parametrize("mutant", ["own-weight-kept", "others-forgotten"])
def test_mutants_die(judged, mutant):
    verdict = judged(Case("metalda", "sparse", "sequential", mutant=f"poisson-{mutant}"))
    assert verdict.status != "passed", verdict

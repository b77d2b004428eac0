"""MetaLDA: weights of features, labels that nobody has, new documents, mutants."""

import numpy as np
import pytest
from bnpzoo import Corpus
from bnpzoo.diagnostics.laboratory.ladder import MICRO, Case, climb
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


def test_labels_of_new_documents_play_no_part():
    model, corpus = get("metalda", n_topics=2, eta=0.5), tagged()
    (*_, latents) = chain(model, corpus, 20)
    predictive = model.predictive(latents, corpus)
    np.testing.assert_allclose(predictive.prior, np.exp(latents["log_weight"][:1]))
    new = Corpus([0, 1], [0, 2], n_words=5)
    predictive.check(new)
    assert np.isfinite(predictive.log_documents(new, np.random.default_rng(0), particles=5)).all()


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
def test_mutants_die(mutant):
    verdict = climb(Case("metalda", "sparse", "sequential", mutant=f"poisson-{mutant}"))
    assert verdict.status != "passed", verdict

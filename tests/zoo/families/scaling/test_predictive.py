"""Predictions of scaling processes against sums over all topics of short documents."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from bnpzoo import Corpus, get, sample
from bnpzoo.diagnostics.heldout import posterior_predictives
from bnpzoo.diagnostics.heldout.labels import predict_labels
from bnpzoo.zoo.corpus.labels import Column
from bnpzoo.zoo.families.scaling.predictive import ScaledPredictive, ScaledProportions
from bnpzoo.zoo.inference import latents_of
from bnpzoo.zoo.predictive import FrozenTopics
from scipy import integrate, sparse
from scipy.special import gammaln

SHAPES = np.array([0.6, 0.3, 0.05])
LOG_SCALE = np.array([[0.5, -1.0, 2.0], [-2.0, 0.3, 0.0]])
WORDS = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.2, 0.5, 0.3]])
ROWS = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [-0.5, 2.5]])
COLUMNS = (Column("a", ""), Column("b", ""))
PREDICTIVE = ScaledPredictive(FrozenTopics(WORDS, SHAPES[None]), COLUMNS, "whdsp", LOG_SCALE)
TOLERANCE = 5.0
"""Standard errors: a false alarm in any of 10 comparisons has probability 6e-6."""


def log_topics(z, row, shapes=SHAPES):
    """Log probability of the topics of a document, by quadrature over u, on a scale on which it is near 1."""
    scale, counts, n = np.exp(row @ LOG_SCALE), np.bincount(z, minlength=3), len(z)

    def log_density(t):
        u = np.exp(np.asarray(t)[..., None])
        out = (
            n * t
            - gammaln(n)
            + np.sum(counts * np.log(scale) - (shapes + counts) * np.log1p(u * scale), axis=-1)
        )
        return out + np.sum(gammaln(shapes + counts) - gammaln(shapes))

    t = np.linspace(-40.0, 60.0, 10_001)
    top = t[log_density(t).argmax()]
    height = log_density(top)

    def density(t):
        return np.exp(log_density(t) - height)

    parts = zip((-40.0, top - 1.0, top, top + 1.0), (top - 1.0, top, top + 1.0, 60.0), strict=True)
    return height + np.log(
        sum(integrate.quad(density, *ends, limit=1000, epsabs=0.0, epsrel=1e-10)[0] for ends in parts)
    )


def probability(words, row):
    """Probability of a document, by enumeration."""
    each = product(range(3), repeat=len(words))
    return sum(np.exp(log_topics(z, row)) * np.prod(WORDS[list(z), words]) for z in each)


def corpus_of(words, n=1):
    return Corpus(np.tile(words, n), np.arange(0, len(words) * n + 1, len(words)), n_words=3)


@pytest.mark.parametrize("row", ROWS)
def test_expected_proportions_are_an_integral(row):
    found = PREDICTIVE.proportions(sparse.csr_array(row[None]))[0]
    np.testing.assert_allclose(found, [np.exp(log_topics([k], row)) for k in range(3)], rtol=1e-8)
    assert found.sum() == pytest.approx(1.0, rel=1e-14)


def test_own_proportions_are_the_law_of_one_more_token():
    """Given the topics of the others, of documents without any as well."""
    topics = [[], [0], [2], [1, 1, 2], [0] * 30 + [1]]
    each = list(product(range(len(ROWS)), topics))
    ends = np.cumsum([0, *(len(z) for _, z in each)])
    z, rows = np.concatenate([z for _, z in each]).astype(int), np.array([r for r, _ in each])
    corpus = Corpus(np.zeros(z.size, int), ends, n_words=3)
    own = ScaledProportions(z, corpus, SHAPES, lambda here: np.zeros((1, 3)), ROWS @ LOG_SCALE, rows)
    expected = [[log_topics([*z, k], ROWS[r]) for k in range(3)] for r, z in each]
    expected -= np.logaddexp.reduce(expected, axis=1)[:, None]
    np.testing.assert_allclose(own.mean(slice(0, len(each))), np.exp(expected), rtol=1e-7)
    np.testing.assert_allclose(own.mean(slice(3, 9)), own.mean(slice(0, len(each)))[3:9], rtol=1e-12)


def test_narrow_integrands_are_not_missed():
    """Of large concentrations and many tokens; words tell the topics, so that one term is the whole sum."""
    z, row, shapes = np.repeat([0, 1, 2], [50, 60, 40]), ROWS[2], 60.0 * SHAPES
    words = np.full((3, 3), 1e-9) + np.eye(3)
    predictive = replace(PREDICTIVE, topics=FrozenTopics(words, shapes[None]))
    found = predictive.log_labelled(
        corpus_of(z), sparse.csr_array(row[None]), np.random.default_rng(0), particles=2
    )
    assert found[0] == pytest.approx(log_topics(z, row, shapes), abs=1e-4)


@pytest.mark.parametrize("row", ROWS)
def test_probability_of_a_document_is_that_of_all_its_topics(row):
    n, words = 1500, [0, 2, 2]
    documents = corpus_of(words, n)
    labels = sparse.csr_array(np.tile(row, (n, 1)))
    p = np.exp(PREDICTIVE.log_labelled(documents, labels, np.random.default_rng(0), particles=2))
    error = p.std() / np.sqrt(n)
    assert error < 0.02 * p.mean()
    assert abs(p.mean() - probability(words, row)) < TOLERANCE * error


def test_wrong_labels_are_noticed():
    n, words = 1500, [0, 2, 2]
    labels = sparse.csr_array(np.tile(ROWS[2], (n, 1)))
    p = np.exp(PREDICTIVE.log_labelled(corpus_of(words, n), labels, np.random.default_rng(0), particles=2))
    assert abs(p.mean() - probability(words, ROWS[1])) > TOLERANCE * p.std() / np.sqrt(n)


@pytest.mark.compiled
def test_completion_is_the_next_token():
    plain = ScaledPredictive(PREDICTIVE.topics, (), "whdsp", np.zeros((0, 3)))
    observed, rest = corpus_of([0, 2]), corpus_of([1])
    rng, row = np.random.default_rng(0), np.zeros(2)
    found = [plain.log_completion(observed, rest, rng, burn_in=0, sweeps=2000)[0] for _ in range(40)]
    exact = probability([0, 2, 1], row) / probability([0, 2], row)
    error = np.std(np.exp(found)) / np.sqrt(len(found))
    assert error < 0.01 * exact
    assert abs(np.mean(np.exp(found)) - exact) < TOLERANCE * error


def test_a_corpus_without_labels_is_scored_as_by_dirichlet_documents():
    plain = ScaledPredictive(PREDICTIVE.topics, (), "hdsp", np.zeros((0, 3)))
    documents, rng = corpus_of([0, 2, 2], 400), np.random.default_rng(0)
    ours = np.exp(plain.log_documents(documents, rng, particles=10))
    theirs = np.exp(PREDICTIVE.topics.log_documents(documents, rng, particles=10))
    error = np.hypot(ours.std(), theirs.std()) / np.sqrt(ours.size)
    assert error < 0.02 * ours.mean()
    assert abs(ours.mean() - theirs.mean()) < TOLERANCE * error


@pytest.fixture(scope="module")
def fit():
    """Fit of two kinds of documents, of which one has the words 0 and 1 and the other 2 and 3."""
    rng = np.random.default_rng(1)
    kind = np.arange(40) % 2
    words = (rng.integers(2, size=(40, 8)) + 2 * kind[:, None]).ravel()
    stars = np.where(kind == 1, 5, 1)
    corpus = Corpus(
        words,
        np.arange(0, 321, 8),
        n_words=4,
        covariates={"kind": kind, "stars": stars},
        covariate_names={"kind": ["first", "second"]},
    )
    model = get("whdsp", labels="kind, stars", gamma=1.0, alpha=2.0, eta=0.1)
    return sample(model, corpus, chains=1, tune=60, draws=20, keep=4), corpus


@pytest.mark.compiled
@pytest.mark.parametrize(("name", "values"), [("kind", ("first", "second")), ("stars", ("1", "5"))])
def test_labels_that_words_tell_are_predicted(fit, name, values):
    tree, corpus = fit
    found = predict_labels(tree, corpus, name, particles=5)
    assert found.values == values
    assert found.confusion.tolist() == [[20, 0], [0, 20]]
    np.testing.assert_allclose(found.probability.sum(axis=1), 1.0)
    empirical = predict_labels(tree, corpus, name, prior="empirical", particles=5)
    np.testing.assert_allclose(empirical.probability, found.probability, rtol=1e-6)  # both are as frequent


@pytest.mark.parametrize(
    "model",
    [get("dmr", labels="is_second", n_topics=2), get("whdsp", labels="is_second", alpha=2.0, eta=0.1)],
)
@pytest.mark.slow
def test_documents_that_lack_a_truth_value_are_predicted_as_well(fit, model):
    _, corpus = fit
    is_second = corpus.covariates["kind"] == 1
    corpus = replace(corpus, covariates={"is_second": is_second}, covariate_names={})
    tree = sample(model, corpus, chains=1, tune=60, draws=20, keep=4)
    found = predict_labels(tree, corpus, "is_second", particles=5)
    assert found.values == ("False", "True")
    assert found.truth.tolist() == is_second.astype(int).tolist()
    np.testing.assert_allclose(found.probability.sum(axis=1), 1.0)
    assert found.confusion.trace() == 40


@pytest.mark.compiled
def test_groups_that_are_numbers_are_predicted(fit):
    _, corpus = fit
    corpus = replace(corpus, group=corpus.covariates["kind"], covariates={}, covariate_names={})
    tree = sample(get("whdsp", labels="group:number"), corpus, chains=1, tune=60, draws=20, keep=4)
    found = predict_labels(tree, corpus, "group", particles=5)
    assert found.values == ("0", "1")
    assert found.confusion.tolist() == [[20, 0], [0, 20]]


def test_a_document_without_words_has_the_prior_and_one_without_labels_is_predicted(fit):
    tree, _ = fit
    new = Corpus([0, 1, 1, 0], [0, 4, 4], n_words=4, covariates={"stars": np.array([1, 5])})
    found = predict_labels(tree, new, "kind", particles=5)
    assert found.truth.tolist() == [-1, -1]
    np.testing.assert_allclose(found.probability[1], 0.5)
    assert found.predicted[0] == 0


def test_what_cannot_be_predicted_is_named(fit):
    tree, corpus = fit
    with pytest.raises(
        ValueError, match="expected a label of the fit, found 'colour'; there are kind, stars"
    ):
        predict_labels(tree, corpus, "colour")
    with pytest.raises(ValueError, match="prior: expected uniform or empirical, found 'flat'"):
        predict_labels(tree, corpus, "kind", prior="flat")
    other = sample(get("lda", n_topics=2), corpus, chains=1, tune=2, draws=4, keep=2)
    with pytest.raises(ValueError, match=r"expected a fit of a model with labels \(hdsp, .*found one of lda"):
        predict_labels(other, corpus, "kind")
    none = sample(get("hdsp", n_topics=2), corpus, chains=1, tune=2, draws=4, keep=0)
    with pytest.raises(ValueError, match=r"expected a fit that holds latents, found none \(keep=0\)"):
        predict_labels(none, corpus, "kind")


@pytest.mark.compiled
def test_a_label_that_is_a_category_and_a_number_is_predicted_as_both(fit):
    _, corpus = fit
    model = get("whdsp", labels="kind, kind:number", gamma=1.0, alpha=2.0, eta=0.1)
    tree = sample(model, corpus, chains=1, tune=60, draws=4, keep=4)
    found = predict_labels(tree, corpus, "kind", particles=5)
    assert found.values == ("first", "second")
    assert found.confusion.tolist() == [[20, 0], [0, 20]]


def test_a_fit_without_labels_predicts_whatever_number_of_topics_a_draw_has(fit):
    _, corpus = fit
    tree = sample(get("hdsp", labels="none"), corpus, chains=1, tune=5, draws=6, keep=6)
    assert len({latents["root"].size for _, _, latents in latents_of(tree)}) > 1
    for predictive in posterior_predictives(tree, corpus):
        assert np.isfinite(predictive.log_documents(corpus, np.random.default_rng(0), particles=2)).all()

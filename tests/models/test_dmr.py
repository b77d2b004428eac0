"""Dirichlet-multinomial regression: limits, the law of coefficients, numbers, mutants."""

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.ladder import Case
from bnpzoo.diagnostics.laboratory.mutants.labels import MUTANTS
from bnpzoo.diagnostics.laboratory.sequential import sequential
from bnpzoo.diagnostics.laboratory.subject import ModelSubject
from bnpzoo.kernels.labels import documents, optimised
from bnpzoo.kernels.toolbox.sides import tokens_of
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.families.labels import marginal
from bnpzoo.zoo.models import get
from scipy import integrate, optimize, sparse, stats
from scipy.special import gammaln

FALSE_ALARM_RATE = 1e-5


def test_without_labels_it_is_lda_with_an_alpha_a_topic():
    corpus = Corpus([0, 1, 2, 0, 1], [0, 3, 5], n_words=3)
    coefficients = np.array([[0.3, -0.5, 0.1]])
    model = get("dmr", n_topics=3, labels="none", intercept_precision=2.0, precision=1.0, eta=0.5)
    lda = get("lda", n_topics=3, alpha=1.0, eta=0.5, symmetric=False)
    z = np.array([0, 2, 1, 1, 0])
    latents = {"z": z, "log_factor": coefficients, "intercept_precision": 2.0, "precision": 1.0, "eta": 0.5}
    expected = lda.log_joint({"z": z, "alpha": np.exp(coefficients[0]), "eta": 0.5}, corpus)
    expected += stats.norm.logpdf(coefficients, scale=2.0**-0.5).sum()
    assert model.log_joint(latents, corpus) == pytest.approx(expected, rel=1e-12)


def test_the_oracle_is_an_integral_over_coefficients():
    deviation = 0.9
    law = marginal.law_of_topics(((1.0,),), (deviation,), 2)

    def integrand(x, y):
        a, b = np.exp(x), np.exp(y)
        log_p = (
            gammaln(a + b)
            - gammaln(a + b + 3.0)
            + gammaln(a + 2.0)
            - gammaln(a)
            + gammaln(b + 1.0)
            - gammaln(b)
        )
        return np.exp(log_p + stats.norm.logpdf([x, y], scale=deviation).sum())

    exact = integrate.dblquad(integrand, -8.0, 8.0, -8.0, 8.0, epsabs=1e-10)[0]
    assert law(np.array([[2, 1]])) == pytest.approx(np.log(exact), abs=1e-4)


@pytest.mark.parametrize("value", [[1.0, 1.0, 1.0], [0.5, -1.2, 2.0]])
def test_a_coefficient_has_its_conditional_law(value):
    """One coefficient given tables and exposures, by a long chain, against quadrature."""
    features = sparse.csr_array(np.array([value]).T)
    tables, exposure = np.array([[2], [0], [3]]), np.array([1.2, 0.0, 0.7])
    side = documents.regression_documents(features, [[0.1]], [1.5, 1.0])
    rng, found = np.random.default_rng(0), []
    for _ in range(20_000):
        documents.draw_coefficients(rng, side, tables, exposure)
        found.append(side.coefficients[0, 0])
    x = np.array(value)

    def log_density(c):
        return c * (x @ tables[:, 0]) - exposure @ np.exp(c * x) - 0.75 * c * c

    grid = np.linspace(-8.0, 8.0, 20_001)
    weight = np.exp([log_density(c) for c in grid])
    mean = (weight @ grid) / weight.sum()
    variance = (weight @ (grid - mean) ** 2) / weight.sum()
    effective = (
        len(found) / 3.0
    )  # slices of a log-concave law: half the draws and more are worth one of their own
    assert abs(np.mean(found) - mean) < 4.5 * np.sqrt(variance / effective)
    assert np.var(found) == pytest.approx(variance, rel=0.08)


TAGGED = Corpus(
    np.random.default_rng(3).integers(4, size=30),
    [0, 6, 6, 15, 22, 23, 30],
    n_words=4,
    covariates={"kind": np.array(["a", "b", "b", "", "a", "c"]), "size": np.linspace(-1.0, 2.0, 6)},
)
"""One document has no tokens, and another is of no kind."""

WEIGHED = {"n_topics": 3, "labels": "kind, size", "intercept_precision": 0.4, "precision": 1.3, "eta": 0.5}


def test_a_coefficient_that_nothing_is_known_of_has_its_prior_however_vague():
    side = documents.regression_documents(sparse.csr_array([[1.0]]), [[0.0]], [1e-12, 1.0])
    rng, found = np.random.default_rng(1), []
    for _ in range(2000):
        documents.draw_coefficients(rng, side, np.zeros((1, 1), np.int64), np.zeros(1))
        found.append(side.coefficients[0, 0])
    assert stats.kstest(np.array(found) * 1e-6, stats.norm.cdf).pvalue > FALSE_ALARM_RATE


def test_exposures_of_large_parameters_are_more_than_rounding():
    """They are -log q of q ~ Beta(A, n), with A so large that A times them is Gamma(n)."""
    side = documents.regression_documents(sparse.csr_array([[1.0]]), [[np.log(1e20)]], [1.0, 1.0])
    tokens = tokens_of(np.zeros(4), [0, 4], [0], np.zeros(4))
    rng = np.random.default_rng(2)
    found = [documents.draw_exposure(rng, tokens, side)[0] * 1e20 for _ in range(2000)]
    assert stats.kstest(found, stats.gamma(4.0).cdf).pvalue > FALSE_ALARM_RATE


@pytest.mark.parametrize("number", [60.0, 1e4, -1e4])
def test_numbers_far_from_all_that_were_fitted_leave_parameters_finite(number):
    model = get("dmr", n_topics=2)
    latents = {"log_factor": np.array([[0.0, 0.0], [20.0, -20.0]])}
    prior = model.prior_of(latents, sparse.csr_array([[number], [0.5]]))
    assert np.all((prior > 0.0) & np.isfinite(prior.sum(axis=1, keepdims=True)))
    np.testing.assert_allclose(prior[1], np.exp([10.0, -10.0]), rtol=1e-15)
    assert prior[0].argmax() == (number < 0.0)


def test_optimised_coefficients_are_the_most_probable_given_topics():
    model, rng = get("dmr", **WEIGHED), np.random.default_rng(0)
    latents = model.start_at(rng.integers(3, size=30), TAGGED, rng)
    state = model.kernel("optimised").load(latents, TAGGED, model)
    for _ in range(400):
        expected = optimised.expectations(state.tokens, state.documents, state.scratch)
        optimised.climb_coefficients(state.documents, *expected)
    found = state.documents.coefficients

    def minus_log_density(flat):
        return -model.log_joint(latents | {"log_factor": flat.reshape(found.shape)}, TAGGED)

    best = optimize.minimize(minus_log_density, np.zeros(found.size), tol=1e-10)
    assert found == pytest.approx(best.x.reshape(found.shape), abs=1e-4)


@pytest.mark.slow
def test_the_optimised_variant_has_another_law_than_the_posterior(judged):
    kernels = get("dmr").kernels
    assert [name for name, kernel in kernels.items() if not kernel.exact] == ["optimised"]
    assert judged(Case("dmr", "optimised", "sequential")).status == "rejected"


def test_optimised_coefficients_are_finite_where_labels_tell_topics_for_certain():
    kind = np.arange(40) % 2
    labels = {"kind": np.array(["one", "other"])[kind]}
    corpus = Corpus(np.repeat(kind, 10), 10 * np.arange(41), n_words=2, covariates=labels)
    model, rng = get("dmr", n_topics=2, labels="kind", eta=0.1), np.random.default_rng(0)
    kernel = model.kernel("optimised")
    state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
    for _ in range(60):
        state = kernel.step(rng, state)
    kernel.check(state)
    latents = kernel.snapshot(state)
    assert np.all(np.isfinite(latents["log_factor"]))
    assert np.ptp(latents["log_factor"][1]) > 1.0  # of the topics, one is of the first kind


def test_the_optimised_variant_is_for_dirichlet_topics():
    with pytest.raises(ValueError, match="no variant 'optimised'"):
        get("dmr", topics="pitman-yor").kernel("optimised")


@pytest.mark.heavy
@pytest.mark.parametrize(
    "numbers", [np.linspace(-2.0, 3.0, 7), np.array([0.0, 1e6, 3.0, 0.0, 2.0, 5.0, 0.0])]
)
def test_it_is_calibrated_where_labels_are_numbers(numbers):
    tags = sparse.csr_array(np.array([[1, 0], [1, 1], [0, 0], [0, 1], [1, 1], [0, 0], [1, 0]]))
    words, doc_ptr = np.zeros(22, int), [0, 5, 5, 6, 13, 16, 18, 22]
    design = Design.of(Corpus(words, doc_ptr, n_words=5, covariates={"score": numbers, "tags": tags}))
    model = get("dmr", n_topics=3).set_to("prior").replaced(n_topics=3)
    assert [column.name for column in model.columns(design)] == ["score", "tags: tags 0", "tags: tags 1"]
    verdict = sequential(
        ModelSubject(model, design), samples=500, transitions=5, false_alarm_rate=FALSE_ALARM_RATE
    )
    assert verdict.passed, verdict


def test_labels_that_tell_documents_apart_leave_coefficients_finite():
    """Documents of two labels share no word, and a third label nobody has."""
    rng = np.random.default_rng(0)
    label = np.repeat([0, 1], 50)
    words = rng.integers(20, size=100 * 20) + 20 * np.repeat(label, 20)
    tags = sparse.csr_array(np.eye(3, dtype=int)[label])
    corpus = Corpus(
        words, 20 * np.arange(101), n_words=40, covariates={"tags": tags, "one": np.full(100, 0.1)}
    )
    model = get("dmr", n_topics=4)
    kernel = model.kernel()
    state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
    kept = []
    for sweep in range(400):
        state = kernel.step(rng, state)
        if sweep >= 200:
            kept.append(state.documents.coefficients.copy())
    kernel.check(state)
    assert np.isfinite(kept).all()
    effects = np.mean(kept, axis=0)
    assert (
        np.abs(effects[2] - effects[3]).max() > 1.0
    )  # the constant is the second feature, the labels follow


def test_numbers_of_topics_are_checked():
    with pytest.raises(ValueError, match="dmr: n_topics: expected a whole number, 1 to 1,048,576, found 0"):
        get("dmr", n_topics=0)


@pytest.mark.heavy
@pytest.mark.parametrize("mutant", [m.id for m in MUTANTS if m.id.startswith("dmr")])
def test_mutants_are_rejected(judged, mutant):
    verdict = judged(Case("dmr", "sparse", "sequential", mutant=mutant))
    assert verdict.status == "rejected", verdict

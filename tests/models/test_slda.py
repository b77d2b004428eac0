"""Supervised topic models: limits, densities by hand, responses of every kind, mutants."""

import math
from dataclasses import replace

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.ladder import Case
from bnpzoo.diagnostics.laboratory.mutants.responses import MUTANTS
from bnpzoo.diagnostics.laboratory.sequential import sequential
from bnpzoo.diagnostics.laboratory.subject import ModelSubject
from bnpzoo.kernels.responses import regression
from bnpzoo.zoo.contract import Design, Gamma
from bnpzoo.zoo.corpus import Corpus, CorpusError
from bnpzoo.zoo.families.responses import marginal
from bnpzoo.zoo.families.responses.predictive import RespondingPredictive
from bnpzoo.zoo.families.responses.responses import (
    Response,
    response_matrix,
    responses_of,
    with_responses,
)
from bnpzoo.zoo.models import get
from bnpzoo.zoo.models.slda import Slda
from bnpzoo.zoo.predictive import FrozenTopics
from responses import OF_RATED, PRECISIONS, RATED, log_density_of_rated, run, two_kinds
from samplers import as_plain_python, on_rung, rung_that_sees
from scipy import integrate, sparse, stats

FALSE_ALARM_RATE = 1e-5

FITTED = {"alpha": 0.7, "eta": 0.5, **PRECISIONS}


def latents_of(z, model, corpus, rng):
    found = model.responses(corpus)
    n = sum(response.n_predictors for response in found)
    return {
        "z": np.array(z),
        "alpha": np.array(0.7),
        "eta": np.array(0.5),
        "intercept": rng.normal(size=n),
        "coefficient": rng.normal(size=(n, model.n_topics)),
        "intercept_precision": np.full(len(found), 0.9),
        "precision": np.full(len(found), 0.4),
        "noise_precision": np.full(sum(response.is_number for response in found), 1.8),
    }


def test_without_responses_it_is_lda():
    model, lda = (
        get("slda", n_topics=2, response="none", **FITTED),
        get("lda", n_topics=2, alpha=0.7, eta=0.5),
    )
    latents = latents_of([0, 1, 1, 0, 1, 1, 0], model, RATED, np.random.default_rng(0))
    of_lda = {name: latents[name] for name in ("z", "alpha", "eta")}
    assert model.log_joint(latents, RATED) == pytest.approx(lda.log_joint(of_lda, RATED), rel=1e-12)


def test_log_joint_by_hand():
    model = get("slda", n_topics=2, response="rating, kind", **FITTED)
    latents = latents_of(OF_RATED, model, RATED, np.random.default_rng(0))
    of_lda = {name: latents[name] for name in ("z", "alpha", "eta")}
    expected = get("lda", n_topics=2, alpha=0.7, eta=0.5).log_joint(of_lda, RATED)
    expected += log_density_of_rated(latents["intercept"], latents["coefficient"])
    assert model.log_joint(latents, RATED) == pytest.approx(expected, rel=1e-12)


def test_the_oracle_is_an_integral_over_coefficients():
    shares, deviations = ((1.0, 0.25, 0.75), (1.0, 1.0, 0.0)), (0.9, 1.3, 1.3)
    covariance = np.array([[1.0, 1.0], [1.0, 1.0]]) * 0.81 + 1.69 * np.array(
        [[0.25**2 + 0.75**2, 0.25], [0.25, 1.0]]
    )

    def integrand(a, b):
        density = stats.multivariate_normal.pdf([a, b], cov=covariance)
        return density / (1.0 + np.exp(-a)) / (1.0 + np.exp(b))

    exact = integrate.dblquad(integrand, -10.0, 10.0, -10.0, 10.0, epsabs=1e-9)[0]
    assert marginal.log_categories((1, 0), shares, deviations, Response("kind", ("a", "b"))) == pytest.approx(
        np.log(exact), abs=1e-3
    )
    noise = 0.6
    numbers = stats.multivariate_normal.logpdf([0.4, -1.0], cov=covariance + noise**2 * np.eye(2))
    assert marginal.log_numbers((0.4, -1.0), shares, deviations, noise) == pytest.approx(numbers, rel=1e-12)


def test_the_oracle_of_a_number_that_no_document_has():
    model = get("slda", n_topics=2, response="rating:number", **FITTED)
    lda = get("lda", n_topics=2, alpha=0.7, eta=0.5)
    corpus = replace(RATED, covariates={"rating": np.array([""] * RATED.n_documents)})
    z = np.array([0, 1, 1, 0, 1, 1, 0])
    hyper = latents_of(z, model, corpus, np.random.default_rng(0))
    assert model.log_marginal(z, corpus, hyper) == pytest.approx(lda.log_marginal(z, corpus, hyper))


def test_documents_are_predicted_by_the_topics_of_their_group():
    """What is the first topic's word in one group is the second's in the other."""
    words = np.array([[[0.99, 0.01], [0.01, 0.99]], [[0.01, 0.99], [0.99, 0.01]]])
    topics = FrozenTopics(words, np.array([[0.1, 0.1], [1e-9, 0.1]]))  # where the first is not to be had
    predictive = RespondingPredictive(
        topics, (Response("rating"),), np.zeros(1), np.array([[-1.0, 1.0]]), np.ones(1)
    )
    documents = Corpus([0, 0, 0, 1, 1, 1, 0, 0, 0], [0, 3, 6, 9], n_words=2, group=[0, 0, 1])
    drawn = predictive.predictors(documents, np.random.default_rng(0), burn_in=5, sweeps=20)
    assert drawn.mean(axis=(1, 2)) == pytest.approx([-1.0, 1.0, 1.0], abs=0.05)


@pytest.mark.parametrize(("model_id", "name"), [("slda", "rating"), ("slda", "kind"), ("medlda", "kind")])
@pytest.mark.slow
def test_coefficients_have_their_conditional_law(model_id, name):
    """Of one topic and few documents, topics fixed, by a long chain, against quadrature."""
    model = get(model_id, n_topics=1, response=name, **FITTED)
    kind = RATED.covariates["kind"]
    corpus = replace(RATED, covariates=dict(RATED.covariates) | {"kind": np.where(kind == "c", "b", kind)})
    latents = latents_of([0] * 7, model, corpus, np.random.default_rng(0))
    kernel = model.kernel("dense")
    state, rng, found = kernel.load(latents, corpus, model), np.random.default_rng(1), []
    responses = state.documents.responses
    for _ in range(40_000):
        regression.draw_coefficients(rng, state.tokens, responses, state.scratch, 1)
        found.append([responses.intercept[0], responses.coefficient[0, 0]])
    grid = np.linspace(-8.0, 8.0, 161)

    def at(base, weight):
        return latents | {"intercept": np.array([base]), "coefficient": np.array([[weight]])}

    def log_p(base, weight):
        here = at(base, weight)
        return model.log_coefficients(here, corpus) + model.log_responses(here, corpus)

    weights = np.array([[log_p(a, b) for b in grid] for a in grid])
    weights = np.exp(weights - weights.max())
    weights /= weights.sum()
    for axis, draws in enumerate(np.array(found).T):
        each = weights.sum(axis=1 - axis)
        mean = each @ grid
        deviation = math.sqrt(each @ (grid - mean) ** 2)
        batches = draws.reshape(100, -1).mean(axis=1)
        error = batches.std(ddof=1) / math.sqrt(batches.size)
        assert abs(draws.mean() - mean) < stats.norm.isf(FALSE_ALARM_RATE / 4.0) * error
        assert draws.std() == pytest.approx(deviation, rel=0.05)


def test_a_cholesky_factor_draws_from_the_normal_law():
    rng = np.random.default_rng(0)
    half = rng.normal(size=(4, 4))
    precision, linear = half @ half.T + np.eye(4), rng.normal(size=4)
    found = []
    for _ in range(20_000):
        factor, x = precision.copy(), linear.copy()
        assert regression.eliminate(factor, x)
        regression.draw_from_factor(rng, factor, x)
        found.append(x)
    covariance = np.linalg.inv(precision)
    error = np.sqrt(np.diag(covariance) / len(found))
    z = (np.mean(found, axis=0) - covariance @ linear) / error
    assert np.abs(z).max() < stats.norm.isf(FALSE_ALARM_RATE / 8.0)
    assert np.cov(np.transpose(found)) == pytest.approx(covariance, abs=0.05)


def test_responses_are_read_and_written():
    corpus = Corpus(
        [0, 1, 0],
        [0, 1, 2, 3],
        group=[0, 1, 0],
        group_names=["x", "y"],
        covariates={
            "price": np.array(["1.5", "", "2"]),
            "stars": np.array([3, 1, 3]),
            "good": np.array([True, False, True]),
            "kind": np.array([1, 0, 2]),
        },
        covariate_names={"kind": np.array(["a", "b", ""])},
    )
    found = responses_of("price:number, stars, stars:number, good, kind, group", corpus, "slda")
    assert [len(response.values) for response in found] == [0, 2, 0, 2, 2, 2]
    values = response_matrix(found, corpus, "slda", 3)
    expected = [[1.5, 1, 3, 1, 1, 0], [np.nan, 0, 1, 0, 0, 1], [2, 1, 3, 1, np.nan, 0]]
    np.testing.assert_array_equal(values, expected)
    again = with_responses(corpus, found, values)
    assert responses_of("price:number, stars, stars:number, good, kind, group", again, "slda") == found
    np.testing.assert_array_equal(response_matrix(found, again, "slda", 3), values)
    assert [response.name for response in responses_of("", corpus, "slda")] == ["kind", "group"]


@pytest.mark.parametrize(
    ("response", "message"),
    [
        ("rating, colour", "slda: response: expected a covariate, found 'colour'; there are rating, kind"),
        ("kind:number", "slda: response: expected numbers in 'kind:number', found 'b' in document 0"),
        ("tags", "slda: response: expected one value a document in 'tags', found a set of labels"),
        ("same", "slda: response: expected two categories or more in 'same', found 1"),
        ("far:number", "slda: response: expected finite numbers in 'far:number', found inf"),
    ],
)
def test_responses_of_no_use_are_named(response, message):
    others = {
        "tags": sparse.csr_array(np.eye(4, dtype=int)),
        "same": np.array(["x"] * 4),
        "far": np.array(["1", "inf", "2", ""]),
    }
    names = ("rating", "kind") if "colour" in response else None
    covariates = dict(RATED.covariates) | ({} if names else others)
    model = get("slda", response=response)
    with pytest.raises(CorpusError, match="^" + message.replace("(", r"\(")):
        model.responses(replace(RATED, covariates=covariates, covariate_names={}))


def test_a_corpus_without_responses_is_an_error():
    plain = Corpus([0, 1], [0, 2])
    with pytest.raises(CorpusError, match="slda: response: expected a covariate of the corpus, found none"):
        get("slda").responses(plain)


SIZES = {"response": "rating:number, kind", "n_topics": 3}


@pytest.mark.heavy
@pytest.mark.parametrize("variant", ["sparse", "dense"])
def test_it_is_calibrated_where_responses_are_missing(variant):
    """Numbers, three kinds; some of each missing, of one document both."""
    rating = np.array(["1.5", "", "2.0", "", "0.3", "-1", "4"])
    kind = np.array(["b", "a", "a", "", "c", "", "b"])
    words, doc_ptr = np.zeros(22, int), [0, 5, 5, 6, 13, 16, 18, 22]
    design = Design.of(Corpus(words, doc_ptr, n_words=5, covariates={"rating": rating, "kind": kind}))
    model = get("slda", **SIZES).set_to("prior").replaced(**SIZES)
    verdict = sequential(
        ModelSubject(model, design, variant), samples=500, transitions=5, false_alarm_rate=FALSE_ALARM_RATE
    )
    assert verdict.passed, verdict


@as_plain_python
@pytest.mark.parametrize(
    ("model_id", "variant"), [(name, v) for name in ("slda", "medlda", "shdp") for v in get(name).kernels]
)
def test_documents_without_responses_are_swept(model_id, variant):
    kind = np.array(["", "b", "", "a", ""])
    corpus = Corpus([0, 1, 1, 2, 0, 0, 2, 1], [0, 3, 5, 5, 6, 8], n_words=3, covariates={"kind": kind})
    model, rng = get(model_id, response="kind"), np.random.default_rng(0)
    kernel = model.kernel(variant)
    state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
    seen = set()
    for _ in range(100):
        state = kernel.step(rng, state)
        kernel.check(state)
        seen.add(tuple(kernel.snapshot(state)["z"][:3]))
    assert len(seen) > 1


def test_separable_responses_leave_coefficients_finite():
    kind = np.arange(60) % 2
    model, kept = run(
        "slda",
        two_kinds(kind=np.array(["plain", "fancy"])[kind], score=100.0 * kind),
        response="kind, score",
        n_topics=4,
    )
    assert all(np.isfinite(latents["coefficient"]).all() for latents in kept)
    corpus = two_kinds(kind=np.array(["plain", "fancy"])[kind], score=100.0 * kind)
    predictors = np.mean([model.predictors(latents, corpus) for latents in kept], axis=0)
    assert np.all((predictors[:, 0] > 0) == (kind == 0))  # "fancy" comes first, and is the baseline
    assert predictors[:, 1] == pytest.approx(100.0 * kind, abs=10.0)


def test_constant_numbers_are_predicted_as_they_are():
    corpus = two_kinds(score=np.full(60, 3.5))
    model, kept = run("slda", corpus, response="score", n_topics=4)
    predictors = np.mean([model.predictors(latents, corpus) for latents in kept], axis=0)
    assert predictors == pytest.approx(np.full((60, 1), 3.5), abs=0.2)


@pytest.mark.parametrize(
    "arguments", [{}, {"precision": 1e-14, "intercept_precision": 1e-14}, {"noise_precision": 1e8}]
)
def test_numbers_far_from_zero_are_predicted_as_they_are(arguments):
    """The intercept is then so vague beside the errors that all its digits but few would cancel."""
    score = 1e7 + 100.0 * (np.arange(60) % 2)
    corpus = two_kinds(score=score)
    model, kept = run("slda", corpus, sweeps=200, response="score", n_topics=4, **arguments)
    predictors = np.mean([model.predictors(latents, corpus) for latents in kept], axis=0)
    assert predictors[:, 0] - 1e7 == pytest.approx(score - 1e7, abs=20.0)


def test_numbers_that_hardly_differ_are_refused():
    corpus = two_kinds(score=1e14 + np.arange(60))
    model = get("slda", response="score")
    message = (
        "^slda: response: expected numbers in 'score' that differ by at least 1e-10 of their size, found"
    )
    with pytest.raises(CorpusError, match=message):
        model.kernel().load(model.initial_latents(corpus, np.random.default_rng(0)), corpus, model)


@pytest.mark.parametrize("model_id", ["slda", "shdp", "medlda"])
def test_chains_do_not_start_with_precisions_of_almost_nothing(model_id):
    kind = np.array(["plain", "fancy"])[np.arange(60) % 2]
    corpus, vague = two_kinds(kind=kind), Gamma(1e-3, 1e-3)
    model = get(model_id, response="kind", precision=vague, intercept_precision=vague)
    labels = np.zeros(corpus.n_tokens, np.int64)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        for latents in (model.initial_latents(corpus, rng), model.start_at(labels, corpus, rng)):
            assert min(latents["precision"].min(), latents["intercept_precision"].min()) >= 1e-6
    fixed = get(model_id, response="kind", precision=1e-9)
    assert fixed.initial_latents(corpus, rng)["precision"] == 1e-9


def test_categories_under_vague_priors():
    kind, vague = np.array(["plain", "fancy"])[np.arange(60) % 2], Gamma(1e-3, 1e-3)
    settings = {"precision": vague, "intercept_precision": vague}
    _, kept = run("slda", two_kinds(kind=kind), sweeps=100, response="kind", n_topics=4, **settings)
    assert all(np.isfinite(latents["coefficient"]).all() for latents in kept)


@pytest.mark.compiled
def test_a_thousand_categories():
    kind = np.array([f"kind {d % 1000}" for d in range(1200)])
    rng = np.random.default_rng(0)
    corpus = Corpus(rng.integers(9, size=2400), 2 * np.arange(1201), n_words=9, covariates={"kind": kind})
    model, kept = run("slda", corpus, sweeps=2, response="kind", n_topics=3)
    assert kept[-1]["coefficient"].shape == (999, 3)
    assert np.isfinite(model.log_joint(kept[-1], corpus))


@pytest.mark.parametrize(
    "mutant",
    [on_rung(rung_that_sees(m), m) for m in MUTANTS if issubclass(Slda, m.concerns)],
    ids=lambda mutant: mutant.id,
)
@pytest.mark.slow
def test_mutants_are_rejected(judged, mutant):
    verdict = judged(Case("slda", mutant.variant or "sparse", rung_that_sees(mutant), mutant=mutant.id))
    assert verdict.status == "rejected", verdict


def test_numbers_of_which_some_are_missing_are_numbers():
    corpus = two_kinds(4, score=np.array(["1.5", "", "2", "-3"]), stars=np.array(["1", "", "2", "2"]))
    assert responses_of("score", corpus, "slda") == (Response("score"),)
    assert responses_of("stars", corpus, "slda") == (Response("stars", ("1", "2")),)
    np.testing.assert_array_equal(
        response_matrix(responses_of("score", corpus, "slda"), corpus, "slda", 4)[:, 0],
        [1.5, np.nan, 2.0, -3.0],
    )

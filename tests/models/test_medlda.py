"""Max-margin supervised topic models: densities by hand, the law drawn by rejection, edges, mutants."""

from itertools import product

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.ladder import Case
from bnpzoo.diagnostics.laboratory.mutants.responses import MUTANTS
from bnpzoo.diagnostics.laboratory.sequential import sequential
from bnpzoo.diagnostics.laboratory.subject import ModelSubject
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus import Corpus, CorpusError
from bnpzoo.zoo.families.responses import law
from bnpzoo.zoo.families.responses.responses import Hinge, Response
from bnpzoo.zoo.models import get
from bnpzoo.zoo.models.medlda import Medlda
from responses import run, two_kinds
from samplers import on_rung, rung_that_sees
from scipy import stats
from scipy.special import logsumexp

FALSE_ALARM_RATE = 1e-5

RATED = Corpus(
    [0, 1, 2, 0, 1, 2, 2],
    [0, 3, 5, 5, 7],
    n_words=3,
    covariates={
        "good": np.array(["yes", "", "no", "no"]),
        "kind": np.array(["b", "", "a", "c"]),
        "rating": np.array([1.5, -0.5, 2.0, 0.3]),
    },
)
"""The third document has no tokens, the second is of no kind."""

FITTED = {"alpha": 0.7, "eta": 0.5, "intercept_precision": 0.9, "precision": 0.4, "noise_precision": 1.8}
TWO, FOUR = (Response("x", tuple("abcd"[:n]), Hinge(0.7, 0.6)) for n in (2, 4))


def test_log_joint_by_hand():
    model = get("medlda", n_topics=2, response="good, kind, rating", cost=0.8, margin=0.5, **FITTED)
    rng = np.random.default_rng(0)
    base, weight = rng.normal(size=5), rng.normal(size=(5, 2))
    of_lda = {"z": np.array([0, 1, 1, 0, 1, 1, 1]), "alpha": np.array(0.7), "eta": np.array(0.5)}
    latents = of_lda | {
        "intercept": base,
        "coefficient": weight,
        "intercept_precision": np.full(3, 0.9),
        "precision": np.full(3, 0.4),
        "noise_precision": np.full(1, 1.8),
    }
    expected = get("lda", n_topics=2, alpha=0.7, eta=0.5).log_joint(of_lda, RATED)
    expected += (
        stats.norm.logpdf(base, scale=0.9**-0.5).sum() + stats.norm.logpdf(weight, scale=0.4**-0.5).sum()
    )
    shares = [[1 / 3, 2 / 3], [1 / 2, 1 / 2], [0.0, 0.0], [0.0, 1.0]]
    signs = [[1, -1, 1, -1], [], [-1, 1, -1, -1], [-1, -1, -1, 1]]  # of yes, a, b, c
    for share, own, y in zip(shares, signs, [1.5, -0.5, 2.0, 0.3], strict=True):
        psi = [base[p] + sum(s * w for s, w in zip(share, weight[p], strict=True)) for p in range(5)]
        expected -= 2.0 * 0.8 * sum(max(0.0, 0.5 - s * psi[p]) for p, s in enumerate(own))
        expected += stats.norm.logpdf(y, psi[4], 1.8**-0.5)
    assert model.log_joint(latents, RATED) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("response", [TWO, FOUR], ids=["two", "four"])
def test_factors_sum_to_what_is_said_and_never_to_more_than_the_bound(response):
    n, p = len(response.values), response.n_predictors
    psi = np.concatenate(
        [
            np.random.default_rng(0).normal(size=(2000, p)),
            np.array(list(product([-response.hinge.margin, response.hinge.margin], repeat=p))),
        ]
    )
    each = np.array([law.log_category(response, psi, np.full(len(psi), y)) for y in range(n)])
    total = law.log_total(response, psi)
    np.testing.assert_allclose(logsumexp(each, axis=0), total, rtol=1e-12, atol=1e-12)
    assert each.max() <= 1e-12
    assert total.max() == pytest.approx(law.log_largest_total(response), rel=1e-12)
    odds = law.log_odds(response, psi)
    np.testing.assert_allclose(odds - logsumexp(odds, axis=1)[:, None], (each - total).T, atol=1e-12)
    assert np.array_equal(odds.argmax(axis=1), psi.argmax(axis=1) if p > 1 else (psi[:, 0] > 0))


@pytest.mark.parametrize("cost", [0.01, 3.0])
def test_the_bound_holds_where_the_cost_is_small_and_where_it_is_large(cost):
    response = FOUR._replace(hinge=Hinge(cost, 0.6))
    psi = np.array(list(product(np.linspace(-1.2, 1.2, 9), repeat=4)))
    assert law.log_total(response, psi).max() == pytest.approx(law.log_largest_total(response), rel=1e-12)


DESIGN = Design(np.array([2, 1]), n_words=1, group=np.array([0, 1]), n_groups=2)


def log_lda(model, z):
    """Log probability of topics alone."""
    corpus = DESIGN.corpus(np.zeros(3, int))
    return get("lda", n_topics=2, alpha=0.7, eta=0.5).log_marginal(
        np.array(z), corpus, {"alpha": 0.7, "eta": 0.5}
    )


@pytest.mark.slow
def test_draws_have_the_joint_law():
    """Topics and categories together, against their enumeration; the chance of a false alarm is as stated."""
    model = get("medlda", n_topics=2, response="group", cost=0.9, margin=0.7, **FITTED)
    rng, n, seen = np.random.default_rng(0), 8_000, {}
    for _ in range(n):
        latents, corpus = model.simulate(DESIGN, rng)
        key = (*latents["z"].tolist(), *model.values_of(corpus, 2)[:, 0].astype(int).tolist())
        seen[key] = seen.get(key, 0) + 1
    cells, log_p = list(product(range(2), repeat=5)), []
    hyper = model.draw_hyperparameters(DESIGN, rng)
    for *z, first, second in cells:
        corpus = Design(
            DESIGN.doc_lengths,
            1,
            covariates={"group": np.array([first, second])},
            covariate_names={"group": np.array(["a", "b"])},
        ).corpus(np.zeros(3, int))
        log_p.append(model.log_marginal(np.array(z), corpus, hyper))
    expected = n * np.exp(log_p - logsumexp(log_p))
    observed = [seen.get(cell, 0) for cell in cells]
    assert stats.chisquare(observed, expected).pvalue > FALSE_ALARM_RATE
    untilted = [n / 4 * np.exp(log_lda(model, z)) for *z, _, _ in cells]  # what rejects nothing would draw
    assert sum(untilted) == pytest.approx(n)
    assert stats.chisquare(observed, untilted).pvalue < FALSE_ALARM_RATE


def test_designs_that_rejection_is_too_slow_for_are_one_line(monkeypatch):
    monkeypatch.setattr("bnpzoo.zoo.models.medlda.MOST_TRIALS", 20)
    design = Design(np.full(300, 3), n_words=4, group=np.arange(300) % 3)
    message = (
        r"^medlda: simulate: rejection is for few documents; of draws of 300 one in \d\S* is taken, "
        r"expected one in 20 or more$"
    )
    with pytest.raises(CorpusError, match=message):
        get("medlda", response="group").simulate(design, np.random.default_rng(0))


@pytest.mark.parametrize(("name", "value"), [("cost", 0.0), ("margin", -1.0), ("cost", "a")])
def test_costs_and_margins_out_of_range(name, value):
    with pytest.raises(ValueError, match=f"^medlda: {name}: expected "):
        get("medlda", **{name: value})


SIZES = {"response": "rating:number, kind, good", "n_topics": 3}


@pytest.mark.heavy
@pytest.mark.parametrize("variant", ["sparse", "dense"])
def test_it_is_calibrated_where_responses_are_missing(variant):
    """A number, three kinds and two; some of each missing, of one document all."""
    rating = np.array(["1.5", "", "2.0", "", "0.3", "-1", "4"])
    kind = np.array(["b", "a", "a", "", "c", "", ""])
    good = np.array(["yes", "", "no", "", "no", "", "yes"])
    words, doc_ptr = np.zeros(22, int), [0, 5, 5, 6, 13, 16, 18, 22]
    covariates = {"rating": rating, "kind": kind, "good": good}
    design = Design.of(Corpus(words, doc_ptr, n_words=5, covariates=covariates))
    model = get("medlda", **SIZES).set_to("prior").replaced(**SIZES)
    verdict = sequential(
        ModelSubject(model, design, variant), samples=500, transitions=5, false_alarm_rate=FALSE_ALARM_RATE
    )
    assert verdict.passed, verdict


@pytest.mark.parametrize("cost", [0.01, 1.0, 1000.0])
def test_separable_categories_are_told_apart(cost):
    kind = np.arange(60) % 2
    corpus = two_kinds(kind=np.array(["plain", "fancy"])[kind])
    model, kept = run("medlda", corpus, response="kind", n_topics=4, cost=cost)
    assert all(np.isfinite(latents["coefficient"]).all() for latents in kept)
    predictors = np.mean([model.predictors(latents, corpus) for latents in kept], axis=0)
    if cost >= 1.0:
        assert np.all((predictors[:, 0] > 0) == (kind == 0))  # "fancy" comes first, and is the negative one


@pytest.mark.compiled
def test_a_thousand_categories():
    kind = np.array([f"kind {d % 1000}" for d in range(1200)])
    rng = np.random.default_rng(0)
    corpus = Corpus(rng.integers(9, size=2400), 2 * np.arange(1201), n_words=9, covariates={"kind": kind})
    model, kept = run("medlda", corpus, sweeps=2, response="kind", n_topics=3)
    assert kept[-1]["coefficient"].shape == (1000, 3)
    assert np.isfinite(model.log_joint(kept[-1], corpus))


@pytest.mark.heavy
@pytest.mark.parametrize(
    "mutant",
    [on_rung(rung_that_sees(m), m) for m in MUTANTS if issubclass(Medlda, m.concerns)],
    ids=lambda mutant: mutant.id,
)
def test_mutants_are_rejected(judged, mutant):
    verdict = judged(Case("medlda", mutant.variant or "sparse", rung_that_sees(mutant), mutant=mutant.id))
    assert verdict.status == "rejected", verdict

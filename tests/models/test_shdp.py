"""Supervised hierarchical Dirichlet process: limits, densities by hand, topics that come and go, mutants."""

import math

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.ladder import Case
from bnpzoo.diagnostics.laboratory.mutants.responses import MUTANTS
from bnpzoo.diagnostics.laboratory.sequential import sequential
from bnpzoo.diagnostics.laboratory.subject import ModelSubject
from bnpzoo.kernels.responses.sticks import drop_coefficients
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.families.responses.predictive import UnseenTopics
from bnpzoo.zoo.models import get
from bnpzoo.zoo.models.shdp import Shdp
from responses import OF_RATED, PRECISIONS, RATED, log_density_of_rated, run, two_kinds
from samplers import on_rung, rung_that_sees
from scipy import stats

FALSE_ALARM_RATE = 1e-5

FIXED = {"gamma": 1.5, "alpha": 0.7, "eta": 0.5, **PRECISIONS}

OF_STICKS = {
    "z": OF_RATED,
    "root": np.array([0.5, 0.3, 0.2]),
    "gamma": np.array(1.5),
    "alpha": np.array(0.7),
    "eta": np.array(0.5),
}


def test_without_responses_it_is_hdp():
    model, hdp = get("shdp", response="none", **FIXED), get("hdp", gamma=1.5, alpha=0.7, eta=0.5)
    latents = OF_STICKS | {
        "intercept": np.zeros(0),
        "coefficient": np.zeros((0, 2)),
        "intercept_precision": np.zeros(0),
        "precision": np.zeros(0),
        "noise_precision": np.zeros(0),
    }
    assert model.log_joint(latents, RATED) == pytest.approx(hdp.log_joint(OF_STICKS, RATED), rel=1e-12)


def test_log_joint_by_hand():
    model, rng = get("shdp", response="rating, kind", **FIXED), np.random.default_rng(0)
    base, weight = rng.normal(size=3), rng.normal(size=(3, 2))
    latents = OF_STICKS | {
        "intercept": base,
        "coefficient": weight,
        "intercept_precision": np.full(2, 0.9),
        "precision": np.full(2, 0.4),
        "noise_precision": np.full(1, 1.8),
    }
    expected = get("hdp", gamma=1.5, alpha=0.7, eta=0.5).log_joint(OF_STICKS, RATED)
    expected += log_density_of_rated(base, weight)
    assert model.log_joint(latents, RATED) == pytest.approx(expected, rel=1e-12)


def test_coefficients_stay_with_their_topics():
    model, rng = get("shdp", response="rating, kind"), np.random.default_rng(0)
    state = model.kernel().load(model.initial_latents(RATED, rng), RATED, model)
    responses = state.documents.responses
    responses.coefficient[:4] = rows = rng.normal(size=(4, 3))
    drop_coefficients(responses, np.array([2, 0, 1, 4]))
    np.testing.assert_array_equal(responses.coefficient[:3], rows[[0, 2, 3]])


def test_room_for_topics_keeps_coefficients():
    model, rng = get("shdp", response="rating, kind", **FIXED), np.random.default_rng(0)
    kernel = model.kernel()
    latents, corpus = model.simulate(Design.of(RATED), rng)
    state = kernel.load(latents, corpus, model)
    wider = kernel.with_room(state)
    n, narrow = latents["coefficient"].shape[1], state.documents.responses.coefficient
    assert len(wider.documents.responses.coefficient) == wider.documents.root.size > len(narrow)
    np.testing.assert_array_equal(wider.documents.responses.coefficient[:n], latents["coefficient"].T)
    kernel.check(wider)


@pytest.mark.heavy
def test_it_is_calibrated_where_responses_are_missing():
    """Numbers, three kinds; some of each missing, of one document both."""
    rating = np.array(["1.5", "", "2.0", "", "0.3", "-1", "4"])
    kind = np.array(["b", "a", "a", "", "c", "", "b"])
    words, doc_ptr = np.zeros(22, int), [0, 5, 5, 6, 13, 16, 18, 22]
    design = Design.of(Corpus(words, doc_ptr, n_words=5, covariates={"rating": rating, "kind": kind}))
    model = get("shdp").set_to("prior").replaced(response="rating:number, kind")
    verdict = sequential(
        ModelSubject(model, design, "sparse"), samples=500, transitions=5, false_alarm_rate=FALSE_ALARM_RATE
    )
    assert verdict.passed, verdict


@pytest.mark.slow
def test_responses_tell_topics_apart_that_words_do_not():
    """All documents have the same words, in the mean; their numbers alone are of two kinds."""
    rng, kind = np.random.default_rng(0), np.arange(60) % 2
    corpus = Corpus(
        rng.integers(3, size=600), 10 * np.arange(61), n_words=3, covariates={"score": 10.0 * kind}
    )
    model, kept = run("shdp", corpus, response="score", noise_precision=4.0)
    predictors = np.mean([model.predictors(latents, corpus)[:, 0] for latents in kept], axis=0)
    assert np.all((predictors > 5.0) == (kind == 1))
    assert np.mean([model.n_topics_of(latents) for latents in kept]) > 1.5


def test_separable_categories_leave_coefficients_finite():
    kind = np.arange(60) % 2
    corpus = two_kinds(kind=np.array(["plain", "fancy"])[kind])
    model, kept = run("shdp", corpus, response="kind")
    assert all(np.isfinite(latents["coefficient"]).all() for latents in kept)
    predictors = np.mean([model.predictors(latents, corpus)[:, 0] for latents in kept], axis=0)
    assert np.all((predictors > 0) == (kind == 0))  # "fancy" comes first, and is the baseline


def test_unseen_topics_have_the_prior_of_their_coefficients():
    """Two tokens share a topic with the probability 1 / (1 + alpha) + alpha / (1 + alpha) / (1 + gamma)."""
    alpha, gamma, n = 0.7, 1.5, 20_000
    unseen = UnseenTopics(gamma, np.array([2.0]))
    drawn = unseen.draw_effects(np.full(n, 2.0), alpha, np.random.default_rng(0))[:, 0]
    together = 1.0 / (1.0 + alpha) + alpha / (1.0 + alpha) / (1.0 + gamma)
    variance = 4.0 * (4.0 * together + 2.0 * (1.0 - together))
    deviation = np.std(drawn**2) / math.sqrt(n)
    assert abs(np.mean(drawn**2) - variance) < stats.norm.isf(FALSE_ALARM_RATE / 2.0) * deviation
    assert np.all(unseen.draw_effects(np.zeros(3), alpha, np.random.default_rng(0)) == 0.0)


@pytest.mark.parametrize(
    "mutant",
    [on_rung(rung_that_sees(m), m) for m in MUTANTS if issubclass(Shdp, m.concerns)],
    ids=lambda mutant: mutant.id,
)
@pytest.mark.slow
def test_mutants_are_rejected(judged, mutant):
    verdict = judged(Case("shdp", mutant.variant or "sparse", rung_that_sees(mutant), mutant=mutant.id))
    assert verdict.status == "rejected", verdict

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.oracle import Oracle, agrees_with_oracle, gibbs_matrix, invariance_residual
from bnpzoo.diagnostics.laboratory.subject import ModelSubject
from bnpzoo.zoo.contract import Design, Gamma
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.models import get
from bnpzoo.zoo.toolbox.enumeration import restricted_growth_strings
from scipy.integrate import quad
from scipy.special import logsumexp

WORDS = np.array([0, 1, 0, 0])


@pytest.fixture
def oracle(chinese):
    return Oracle.of(restricted_growth_strings(4), lambda z: chinese().log_joint(z, WORDS))


def test_enumeration_sums_to_one_over_data(chinese):
    toy = chinese(n=3)
    total = [
        Oracle.of(
            restricted_growth_strings(3), lambda z, w=w: toy.log_joint(z, np.array(w))
        ).log_evidence.mean
        for w in np.ndindex(2, 2, 2)
    ]
    assert logsumexp(total) == pytest.approx(0.0, abs=1e-12)


def test_two_tokens_by_hand(chinese):
    # Prior 1/2 for one topic; words 0, 0: 3/4 * 1/2 in one topic with eta = 1/2, 1/4 in two.
    oracle = Oracle.of(restricted_growth_strings(2), lambda z: chinese(n=2).log_joint(z, np.array([0, 0])))
    same = (0.5 * 0.5 * 0.75) / (0.5 * 0.5 * 0.75 + 0.5 * 0.25)
    assert oracle.same_topic.mean[0, 1] == pytest.approx(same)
    assert oracle.n_topics.mean.tolist() == pytest.approx([0.0, same, 1.0 - same])
    assert oracle.probabilities.mean.sum() == pytest.approx(1.0)
    assert oracle.same_topic.se.max() == 0.0


def test_standard_errors_of_hyperparameters():
    # One binary z with log p(z, w | h) = log h or log(1 - h), h uniform: P(z) = 1/2. 200 oracles of plain
    # Monte Carlo nodes: z-scores of standard deviation 1 within 4 standard errors of 0.05.
    scores = []
    for seed in range(200):
        h = np.random.default_rng(seed).random((50, 1))
        oracle = Oracle(np.array([[0], [1]]), np.log(np.stack([h, 1 - h], -1)), {"h": h})
        found = oracle.probabilities
        scores.append((found.mean[0] - 0.5) / found.se[0])
    assert 0.8 < np.std(scores) < 1.2


def test_right_chain_agrees(chinese, oracle):
    verdict = agrees_with_oracle(chinese(), oracle, WORDS, chains=2, draws=2000, warmup=50, seed=1)
    assert verdict.passed, verdict
    assert verdict.table["p_value"].size == 6 + 4


@pytest.mark.parametrize("seed", [1, 2])
def test_wrong_chain_disagrees(chinese, oracle, seed):
    subject = chinese(mistake="smoothing")
    verdict = agrees_with_oracle(subject, oracle, WORDS, chains=2, draws=2000, warmup=50, seed=seed)
    assert verdict.status == "rejected", verdict


def test_a_right_chain_that_mixes_slowly_is_not_rejected(chinese, oracle):
    """Of twelve such chains five would be, were it not that none is evidence."""
    found = []
    for seed in range(12):
        subject = chinese()
        move = subject.transition
        subject.transition = lambda rng, latents, data, move=move: (
            move(rng, latents, data) if rng.random() < 0.03 else latents
        )
        verdict = agrees_with_oracle(subject, oracle, WORDS, chains=2, draws=500, warmup=500, seed=seed)
        found.append(verdict.status)
    assert "rejected" not in found
    assert "broken" in found
    assert "mixes too slowly for 1000 draws" in verdict.message or verdict.passed


def test_stuck_chain_is_broken(chinese, oracle):
    subject = chinese()
    subject.transition = lambda rng, latents, data: latents
    assert agrees_with_oracle(subject, oracle, WORDS, draws=100).status == "broken"


@pytest.mark.parametrize("mistake", [None, "count", "smoothing"])
def test_transition_matrix(chinese, oracle, mistake):
    toy = chinese(mistake=mistake)
    sweep = gibbs_matrix(oracle.assignments, lambda z, i: toy.conditional(z, i, WORDS), toy.canonical)
    assert np.allclose(sweep.sum(1), 1.0)
    residual = invariance_residual(sweep, oracle.probabilities.mean)
    assert residual > 0.02 if mistake else residual < 1e-14


def test_transition_matrix_is_what_the_sampler_does(chinese, oracle):
    toy = chinese()
    sweep = gibbs_matrix(oracle.assignments, lambda z, i: toy.conditional(z, i, WORDS), toy.canonical)
    rng = np.random.default_rng(0)
    start = 5
    moved = [toy.transition(rng, {"z": oracle.assignments[start]}, WORDS)["z"] for _ in range(3000)]
    share = [np.mean([np.array_equal(z, a) for z in moved]) for a in oracle.assignments]
    # 15 cells, each within 4.5 standard errors: false alarm 1e-4.
    assert np.all(np.abs(share - sweep[start]) < 4.5 * np.sqrt(sweep[start] / 3000) + 1e-12)


TWO_EQUAL_TOKENS = Corpus([0, 0], [0, 2], n_words=1)


def test_fixed_hyperparameters_make_an_exact_oracle():
    # One document, two tokens, one word: the second topic must be new in the document and at the root.
    oracle = Oracle.of_model(get("hdp", gamma=3.0, alpha=2.0, eta=0.5), TWO_EQUAL_TOKENS)
    assert oracle.n_topics.mean[2] == pytest.approx(2.0 / 3.0 * 3.0 / 4.0, rel=1e-12)
    assert oracle.n_topics.se[2] == 0.0
    assert oracle.log_evidence.mean == pytest.approx(0.0, abs=1e-12)


def test_sampled_hyperparameters_are_integrated_out():
    # Two topics: P(z_0 = z_1 | alpha) = (alpha + 1) / (2 alpha + 1), and the data say nothing of alpha.
    oracle = Oracle.of_model(get("lda", n_topics=2, alpha=Gamma(2.0, 1.0), eta=0.5), TWO_EQUAL_TOKENS)
    same, _ = quad(lambda a: (a + 1) / (2 * a + 1) * a * np.exp(-a), 0, np.inf)
    found, alpha = oracle.same_topic, oracle.hyperparameter("alpha")
    assert abs(found.mean[0, 1] - same) < 6 * found.se[0, 1] < 1e-3
    assert abs(alpha.mean - 2.0) < 6 * alpha.se < 0.1


def test_kernel_of_a_model_agrees():
    corpus = Corpus([0, 1, 1, 0], [0, 2, 4], n_words=2)
    model = get("hdp", gamma=Gamma(2.0, 1.0), alpha=Gamma(2.0, 1.0), eta=Gamma(2.0, 2.0))
    oracle = Oracle.of_model(model, corpus, nodes=32)
    verdict = agrees_with_oracle(ModelSubject(model, Design.of(corpus)), oracle, corpus, draws=3000, seed=1)
    assert verdict.passed, verdict
    assert {"gamma", "alpha", "eta"} <= set(verdict.table["quantity"].values)


@pytest.mark.parametrize(
    ("log_joint", "message"),
    [
        (
            lambda z: np.nan if z[0] else 0.0,
            r"log_joint of \[1\]: expected a finite number or -inf, found nan",
        ),
        (
            lambda z: np.inf if z[0] else 0.0,
            r"log_joint of \[1\]: expected a finite number or -inf, found inf",
        ),
        (lambda z: -np.inf, "log_joint: expected a finite number for some assignment, found none"),
    ],
    ids=["nan", "infinite", "impossible"],
)
def test_an_oracle_needs_a_law(log_joint, message):
    with pytest.raises(ValueError, match=message):
        Oracle.of(np.array([[0], [1]]), log_joint)


def test_assignments_may_be_impossible_but_not_repeated():
    possible = Oracle.of(np.array([[0], [1]]), lambda z: -np.inf if z[0] else 0.0)
    assert possible.probabilities.mean.tolist() == [1.0, 0.0]
    with pytest.raises(ValueError, match=r"assignments: expected each once, found \[0, 1\] 2 times"):
        Oracle.of(np.array([[0, 1], [1, 1], [0, 1]]), lambda z: 0.0)


def test_a_generator_may_refill_one_array():
    def refilled():
        z = np.zeros(2, int)
        for z[0] in range(2):
            for z[1] in range(2):
                yield z

    assert Oracle.of(refilled(), lambda z: 0.0).assignments.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]


def test_arguments_of_the_oracle_out_of_range(chinese, oracle):
    with pytest.raises(ValueError, match="draws: expected a whole number, 1 or more, found 0"):
        agrees_with_oracle(chinese(), oracle, WORDS, draws=0)
    with pytest.raises(ValueError, match="chains: expected a whole number, 1 or more, found 0"):
        agrees_with_oracle(chinese(), oracle, WORDS, chains=0)
    found = agrees_with_oracle(chinese(), oracle, WORDS, labels=lambda latents: 1 / 0, draws=20)
    assert (found.status, found.message) == ("broken", "labels raised ZeroDivisionError: division by zero.")
    with pytest.raises(ValueError, match=r"assignments: expected an array for each, found shape \(2,\)"):
        Oracle.of([0, 1], lambda z: 0.0)
    for wrong in (lambda latents: latents["z"][:3], lambda latents: np.append(latents["z"], 0)):
        with pytest.raises(ValueError, match=r"labels: expected one a token \(4\), found shape"):
            agrees_with_oracle(chinese(), oracle, WORDS, labels=wrong, draws=20)

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.sequential import (
    sequential,
    sequential_rounds,
    sign_flip_p_value,
    two_sample_p_value,
)


def _false_alarms(draw_p, alpha, repeats, rng):
    return sum(
        list(sequential_rounds(lambda size: draw_p(rng), alpha, samples=1))[-1].rejects
        for _ in range(repeats)
    )


@pytest.mark.parametrize(
    "draw_p",
    [
        lambda rng: rng.random(),
        lambda rng: np.ceil(rng.random() * 20) / 20,  # conservative, as p-values of discrete tests are
        lambda rng: min(1.0, 10 * rng.random(10).min()),  # Bonferroni over ten quantities
    ],
    ids=["uniform", "discrete", "Bonferroni"],
)
def test_false_alarms_stay_within_the_bound(draw_p):
    # At most alpha = 5 % of 20,000 runs; with 4 standard errors, fails for one seed in 30,000 at the bound.
    alarms = _false_alarms(draw_p, 0.05, 20_000, np.random.default_rng(1))
    assert alarms <= 20_000 * 0.05 + 4 * np.sqrt(20_000 * 0.05 * 0.95)


def test_the_bound_is_attained_by_uniform_p_values():
    # So the test above would notice thresholds that are twice as large as they may be.
    alarms = _false_alarms(lambda rng: rng.random(), 0.05, 20_000, np.random.default_rng(2))
    assert abs(alarms - 1000) < 4 * np.sqrt(20_000 * 0.05 * 0.95)
    assert _false_alarms(lambda rng: rng.random() / 2, 0.05, 20_000, np.random.default_rng(3)) > 1500


def test_rounds_of_the_algorithm():
    # k = 7 rounds at 1e-5: beta_1 = 1e-5 / 7, gamma = beta_1^(1/7); the last beta is gamma itself.
    course = list(sequential_rounds(lambda size: 0.1, 1e-5, samples=100))
    gamma = (1e-5 / 7) ** (1 / 7)
    assert [r.samples for r in course] == [100] + [400] * 6
    assert course[0].reject_up_to == pytest.approx(1e-5 / 7)
    assert course[0].accept_above == pytest.approx(gamma + 1e-5 / 7)
    assert course[-1].reject_up_to == pytest.approx(gamma)
    assert course[-1].rejects
    assert len(list(sequential_rounds(lambda size: 0.5, 1e-5, samples=100))) == 1


@pytest.mark.slow
def test_p_values_are_valid_under_ties_and_without():
    # P(p <= 0.05) <= 0.05 for continuous, coarse and binary laws; 2,000 runs, false alarm 1 in 30,000.
    rng = np.random.default_rng(4)
    for draw in (
        lambda n: rng.standard_cauchy(n),
        lambda n: rng.poisson(1.0, n).astype(float),
        lambda n: (rng.random(n) < 0.1).astype(float),
    ):
        small = sum(two_sample_p_value(draw(60), draw(60)) <= 0.05 for _ in range(2000))
        assert small <= 2000 * 0.05 + 4 * np.sqrt(2000 * 0.05 * 0.95)


def test_p_values_see_shift_scale_and_rare_events():
    rng = np.random.default_rng(5)
    x = rng.normal(size=1000)
    assert two_sample_p_value(x, rng.normal(0.4, 1, 1000)) < 1e-7
    assert two_sample_p_value(x, rng.normal(0, 2, 1000)) < 1e-7
    assert two_sample_p_value(np.zeros(1000), (rng.random(1000) < 0.05).astype(float)) < 1e-7
    assert two_sample_p_value(np.zeros(10), np.zeros(10)) == 1.0


def test_sign_flip_bound_covers_the_exact_law():
    # All 2^12 sign patterns: the share at least as extreme never exceeds the bound.
    d = np.random.default_rng(6).exponential(size=12)
    signs = 1 - 2 * ((np.arange(2**12)[:, None] >> np.arange(12)) & 1)
    sums = signs @ d
    for pattern in signs[::97]:
        exact = np.mean(np.abs(sums) >= abs(pattern @ d) - 1e-12)
        assert exact <= sign_flip_p_value(pattern * d) + 1e-12


def test_right_subjects_pass(normal, chinese):
    for subject in (normal(), chinese()):
        verdict = sequential(subject, samples=200, seed=1)
        assert verdict.passed, verdict
        assert verdict.table["p_value"].size == verdict.groups["two_sample"]["quantity"].size


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.slow
def test_wrong_subjects_are_rejected(normal, chinese, seed):
    for subject in (normal(width=1.5), chinese(mistake="smoothing")):
        verdict = sequential(subject, samples=300, transitions=10, seed=seed)
        assert verdict.status == "rejected", verdict


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"samples": 0}, "samples: expected a whole number, 4 or more, found 0"),
        ({"samples": 3}, "samples: expected a whole number, 4 or more, found 3"),
        ({"transitions": 0}, "transitions: expected a whole number, 1 or more, found 0"),
    ],
)
def test_arguments_out_of_range(normal, arguments, message):
    with pytest.raises(ValueError, match=message):
        sequential(normal(), **arguments)


def test_four_samples_can_reject_and_three_cannot(broken):
    far = broken(transition=lambda rng, *_: rng.normal(100.0), quantities=lambda mu, data: {"mu": mu})
    assert sequential(far, samples=4).status == "rejected"
    least = [two_sample_p_value(np.arange(n), np.arange(n) + 100.0) for n in (3, 4)]
    assert least == pytest.approx([4 / 20, 4 / 70])
    (first,) = list(sequential_rounds(lambda size: least[0], 1e-5, samples=3))
    assert not first.rejects

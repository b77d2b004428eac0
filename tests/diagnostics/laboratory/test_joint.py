import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.joint import Conditional, joint_ratio, joint_ratio_test

WORDS = np.array([0, 1, 0, 1, 1])


def _conditionals(subject):
    """Single-site conditionals of the toy at a few states."""
    rng = np.random.default_rng(0)
    for state in range(5):
        z = subject.draw_latents(rng)["z"]
        for i in range(z.size):
            weights = subject.conditional(z, i, WORDS)
            labels = np.flatnonzero(weights)
            candidates = [np.where(np.arange(z.size) == i, k, z) for k in labels]
            yield Conditional(f"z[{i}], state {state}", candidates, np.log(weights[labels]))


def _test(subject):
    return joint_ratio_test("toy", lambda z: subject.log_joint(z, WORDS), _conditionals(subject))


def test_right_conditionals_pass(chinese):
    verdict = _test(chinese(n=5))
    assert verdict.passed, verdict
    assert verdict.figures["conditionals"] == 25
    assert verdict.figures["largest"] < 1e-12


@pytest.mark.parametrize("mistake", ["count", "smoothing"])
def test_wrong_conditionals_are_rejected(chinese, mistake):
    verdict = _test(chinese(n=5, mistake=mistake))
    assert verdict.status == "rejected"
    assert verdict.figures["largest"] > 0.1


def test_forbidden_candidates():
    log_joint = {"a": 0.0, "b": -np.inf}.__getitem__
    assert joint_ratio(log_joint, ["a", "b"], np.array([3.0, -np.inf])) == 0.0
    assert joint_ratio(log_joint, ["a", "b"], np.array([3.0, 0.0])) == np.inf


def test_bad_input():
    with pytest.raises(ValueError, match="expected one a candidate"):
        joint_ratio(lambda z: 0.0, ["a", "b"], np.zeros(3))
    assert joint_ratio_test("toy", lambda z: 0.0, []).status == "broken"
    with pytest.raises(ValueError, match="log_weights: expected real numbers, found complex ones"):
        joint_ratio(lambda z: 0.0, ["a", "b"], np.zeros(2, complex))
    with pytest.raises(ValueError, match="log_joint: expected real numbers, found complex ones"):
        joint_ratio(lambda z: np.complex128(0.0), ["a", "b"], np.zeros(2))
    not_a_number = Conditional("z", "ab", np.array([0.0, np.nan]))
    assert joint_ratio_test("toy", lambda z: 0.0, [not_a_number]).status == "rejected"


@pytest.mark.parametrize("order", [[0, 1, 2], [1, 0, 2], [2, 1, 0]])
def test_all_conditionals_of_one_name_are_judged(order):
    weights = [np.zeros(2), np.array([0.0, 2.0]), np.zeros(2)]
    verdict = joint_ratio_test("toy", lambda z: 0.0, [Conditional("z", "ab", weights[i]) for i in order])
    assert verdict.status == "rejected"
    assert verdict.figures["conditionals"] == 3
    assert verdict.message.startswith("Largest of 3 differences")
    assert verdict.table["quantity"].values.tolist() == ["z"]
    assert verdict.table["difference"].item() == verdict.figures["largest"] > 0.5


def test_a_difference_that_is_no_number_is_the_worst_of_its_name():
    weights = [np.zeros(2), np.array([0.0, np.nan]), np.array([0.0, 1.0])]
    verdict = joint_ratio_test("toy", lambda z: 0.0, [Conditional("z", "ab", own) for own in weights])
    assert verdict.status == "rejected"
    assert np.isnan(verdict.figures["largest"])


def test_no_candidates():
    with pytest.raises(ValueError, match="candidates: expected one or more, found none"):
        joint_ratio_test("toy", lambda z: 0.0, [Conditional("z", [], np.zeros(0))])

"""Moves of the sparse transfer topic model that leave other variables as they are, one by one."""

from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, Change, load_room
from bnpzoo.kernels.buffet import masks, published, sweeps, weights
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.models import get
from scipy import stats

FALSE_ALARM_RATE = 1e-5

MODEL = get("sparse_transfer", alpha=1.5, epsilon=0.6, eta=0.3, a1=2.0, a2=0.5)
CORPUS = Corpus([0, 1, 2, 1, 1, 0, 2], [0, 4, 5, 7], n_words=3, group=[0, 0, 1])
Z = np.array([0, 1, 0, 0, 1, 1, 1])  # no token of topic 2
SHAPE, STICK = np.array([1.1, 0.6, 2.5]), np.array([0.5, 0.3, 0.2])
MASKS = [(False, True), (True, False), (True, True)]


def state_of(room, variant, mask_of_empty, model=MODEL):
    """State whose third topic, without tokens, is on in the tasks that `mask_of_empty` says."""
    log_weight = np.log([[1.7, 0.4, 0.9], [1.0, 2.2, 1.2]])
    log_weight[1, 0] = -np.inf
    log_weight[~np.array(mask_of_empty), 2] = -np.inf
    latents = {"z": Z, "log_weight": log_weight, "shape": SHAPE, "alpha": 1.5, "eta": 0.3}
    state = model.kernels_in(room)[variant].load(latents, CORPUS, model)
    state.masks.stick[:3] = STICK
    return state


def shapes_before_and_after(*changes):
    room = load_room(*changes, PLAIN_PYTHON)
    state = state_of(room, "masks", [True, True])
    room(weights).move_masks_and_topics(np.random.default_rng(0), state)
    return SHAPE, state.masks.shape[: state.topics.n_topics[0]]


def test_shapes_of_all_topics_move():
    before, after = shapes_before_and_after()
    assert not set(before) & set(after)


def test_shapes_that_stay_are_noticed():
    change = Change("buffet/weights.py", "    update_shapes(rng, state)\n", "")
    before, after = shapes_before_and_after(change)
    assert set(before) & set(after)


def stick_p_value(n_on, n_tasks, epsilon, *changes):
    """P-value of Kolmogorov and Smirnov of draws of a stick against a Beta law that is cut off."""
    draw_stick = load_room(*changes, PLAIN_PYTHON)(masks).draw_stick
    rng, law = np.random.default_rng(0), stats.beta(n_on, n_tasks - n_on + 1)
    drawn = [draw_stick(rng, float(n_on), float(n_tasks), epsilon) for _ in range(3000)]
    return stats.kstest(drawn, lambda x: np.exp(law.logcdf(x) - law.logcdf(epsilon))).pvalue


@pytest.mark.parametrize(
    ("n_on", "n_tasks", "epsilon"),
    [(2, 3, 0.5), (1, 50, 0.01), (5, 5, 1.0), (3, 4, 1.0), (58, 100, 0.5), (150, 200, 0.5), (20, 60, 0.1)],
)
def test_sticks_have_their_law_in_few_tasks_and_in_many(n_on, n_tasks, epsilon):
    """Of 200 tasks, 150 of which have a topic on, other samplers need 1e12 proposals a stick."""
    assert stick_p_value(n_on, n_tasks, epsilon) > FALSE_ALARM_RATE


@pytest.mark.parametrize("forgotten", [" + slope * below", "            log_accept += n_off"])
def test_a_wrong_envelope_of_sticks_is_noticed(forgotten):
    put = "            log_accept += 0.0 * n_off" if "n_off" in forgotten else ""
    change = Change("buffet/masks.py", forgotten, put)
    assert stick_p_value(70, 100, 0.5, change) < FALSE_ALARM_RATE


def prior_odds(mask_of_empty, *changes):
    """Log odds, by task and topic, with which a mask is drawn where the task has no token of the topic."""
    room, seen = load_room(*changes, PLAIN_PYTHON), {}
    state = state_of(room, "slice", mask_of_empty)

    def stay(rng, state, c, k, log_odds):
        seen[c, int(k)] = log_odds

    with patch.object(room(masks), "update_mask", stay):
        room(masks).update_masks_given_sticks(np.random.default_rng(0), state)
    return seen


def odds_by_the_density(mask_of_empty):
    """Of sticks rho, masks and a height that is uniform below the lowest rho that is on, over epsilon."""

    def log_density(on):
        lowest = min([1.0, *(STICK / MODEL.epsilon)[on.any(axis=0)]])
        return np.where(on, np.log(STICK), np.log1p(-STICK)).sum() - np.log(lowest)

    out = {}
    for c, k in [(0, 2), (1, 0), (1, 2)]:
        on = np.array([[True, True, False], [False, True, False]])
        on[:, 2] = mask_of_empty
        each = np.empty(2)
        for value in (False, True):
            on[c, k] = value
            each[int(value)] = log_density(on)
        out[c, k] = each[1] - each[0]
    return out


@pytest.mark.parametrize("mask_of_empty", MASKS)
def test_masks_given_sticks_have_the_odds_of_the_density(mask_of_empty):
    """The same whether the mask is on or off before it is drawn."""
    assert prior_odds(mask_of_empty) == pytest.approx(odds_by_the_density(mask_of_empty), rel=1e-12)


@pytest.mark.parametrize(
    ("find", "replace"),
    [
        (
            "others = masks.n_on[k] - (1 if is_on(masks, c, k) else 0)\n                log_odds",
            "others = masks.n_on[k]\n                log_odds",
        ),
        ("math.log(others_lowest) - math.log(own_lowest)", "math.log(own_lowest) - math.log(others_lowest)"),
    ],
)
def test_other_odds_are_told(find, replace):
    change = Change("buffet/masks.py", find, replace)
    found = [prior_odds(mask, change) for mask in MASKS]
    right = [odds_by_the_density(mask) for mask in MASKS]
    assert found != [pytest.approx(odds, rel=1e-6) for odds in right]


def full_state(room):
    """State with room for the topics that there are, and no other."""
    state = state_of(room, "collapsed", [False, True], MODEL.replaced(lengths="document"))
    n_topics, capacity = int(state.topics.n_topics[0]), state.masks.n_on.size

    def narrow(part):
        arrays = {name: x for name, x in part._asdict().items() if x.shape[-1:] == (capacity,)}
        return part._replace(**{name: x[..., :n_topics].copy() for name, x in arrays.items()})

    return state._replace(masks=narrow(state.masks), scratch=narrow(state.scratch))


def test_a_sweep_looks_at_no_topic_that_there_is_no_room_for():
    room = load_room(PLAIN_PYTHON)
    full = full_state(room)
    assert full.masks.shape.size == full.scratch.closed.shape[1] == full.topics.n_topics[0]
    assert not room(sweeps).collapsed_sweep(np.random.default_rng(0), full)


def test_a_look_at_one_more_is_noticed():
    each = "for k in range(state.topics.n_topics[0]"
    room = load_room(Change("buffet/sweeps.py", f"{each})", f"{each} + 1)"), PLAIN_PYTHON)
    with pytest.raises(IndexError):
        room(sweeps).collapsed_sweep(np.random.default_rng(0), full_state(room))


STICK_OF_B, EPSILON = 0.3, 0.6


class Chance:
    """A uniform variate that answers comparisons as it is told, and keeps the probability of each."""

    def __init__(self, answers):
        self.answers, self.probability, self.scale = list(answers), 1.0, 1.0

    def random(self):
        self.scale = 1.0
        return self

    def __mul__(self, scale):
        self.scale = scale
        return self

    def __lt__(self, bound):
        is_below = self.answers.pop(0)
        below = bound / self.scale
        self.probability *= below if is_below else 1.0 - below
        return is_below


def law_of_reinstatement(weight, on, *changes):
    """Probabilities of (b, psi), exactly."""
    reinstate = load_room(*changes, PLAIN_PYTHON)(published).reinstate
    out = np.zeros((2, 2))
    for answers in product([False, True], repeat=2 if on else 3):
        chance = Chance(answers)
        b, psi = reinstate(chance, weight, on, STICK_OF_B, EPSILON)
        out[int(b), int(psi)] += chance.probability
    return out


def reinstated_by_equation_8(weight, on):
    """B given psi, then psi given b, of p(b, psi) ∝ Bern(b) Bern(psi) 2^(-weight b psi)."""
    joint = np.outer([1.0 - STICK_OF_B, STICK_OF_B], [1.0 - EPSILON, EPSILON])
    before = np.array([0.0, 1.0])
    if not on:
        off = joint.copy()
        off[1, 1] = 0.0
        before = off.sum(axis=0) / off.sum()
    joint[1, 1] *= 2.0**-weight
    b = (joint / joint.sum(axis=0)) @ before
    return b[:, None] * joint / joint.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("weight", [0.0, 0.7, 3.0])
@pytest.mark.parametrize("on", [False, True])
def test_pairs_without_tokens_are_reinstated_by_equation_8(weight, on):
    assert law_of_reinstatement(weight, on) == pytest.approx(reinstated_by_equation_8(weight, on), rel=1e-12)


@pytest.mark.parametrize(
    ("find", "replace"),
    [("epsilon * (1.0 - stick)", "epsilon * (stick - 1.0)"), ("2.0 ** min", "0.5 * 2.0 ** min")],
)
def test_other_reinstatements_are_told(find, replace):
    change = Change("buffet/published.py", find, replace)
    assert (
        np.abs(law_of_reinstatement(0.7, False, change) - reinstated_by_equation_8(0.7, False)).max() > 1e-3
    )

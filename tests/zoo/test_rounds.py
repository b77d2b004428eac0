"""Chains that go on until they have met: the draws of a plain run, whenever they stop."""

import signal

import numpy as np
import pytest
from bnpzoo import get, sample
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.inference import backends, kernel_chains, rounds
from bnpzoo.zoo.inference.convergence import Worst, rhat, worst_of
from bnpzoo.zoo.inference.record import Record
from bnpzoo.zoo.inference.rounds import Target, most_draws
from bnpzoo.zoo.inference.schedule import Schedule

from tests.helpers.signals import send_until_heard

MODEL = get("hdp")
CORPUS = MODEL.simulate(Design(np.full(4, 6), 5), np.random.default_rng(0)).corpus
RUN = {"chains": 3, "tune": 6, "draws": 5, "thin": 2, "keep": 2, "seed": 3}


def same_draws(a, b):
    for group in ("posterior", "sample_stats"):
        for name, values in a[group].data_vars.items():
            if name != "seconds":
                np.testing.assert_array_equal(values.values, b[group][name].values, err_msg=str(name))


@pytest.fixture
def met_at(monkeypatch):
    """Let chains meet at a given look."""

    def met_at(look):
        looks = []

        def judge(chains, target):
            looks.append(chains)
            return Worst("n_topics", 1.0 if len(looks) >= look else 2.0, 1000.0)

        monkeypatch.setattr(rounds, "worst_of", judge)
        monkeypatch.setattr(backends, "ESS_LIMIT", 1.0)
        return looks

    return met_at


@pytest.mark.parametrize("look", [1, 4, 6, 8, 9, 12, 13])
def test_draws_are_those_of_a_plain_run(met_at, look):
    met_at(look)
    tree = sample(MODEL, CORPUS, **RUN, until=1.05, workers=2)
    n_draws = tree["posterior"].sizes["draw"]
    assert RUN["draws"] <= n_draws <= 2 * RUN["draws"] + 1
    plain = RUN | {"tune": tree.attrs["tune"], "thin": tree.attrs["thin"], "draws": n_draws}
    same_draws(tree, sample(MODEL, CORPUS, **plain))
    assert abs(plain["tune"] / (plain["tune"] + n_draws * plain["thin"]) - 6 / 16) < 2 / n_draws
    assert 2 <= tree["latents"].sizes["kept"] <= 5
    assert tree.attrs["interrupted"] == 0
    sweeps = tree["warmup_posterior"]["sweep"].values
    assert sweeps[-1] == tree.attrs["tune"]
    for c, kept in ((0, 0), (2, -1)):
        z = tree["latents"]["z"].values[c, kept]
        assert np.unique(z).size in tree["posterior"]["n_topics"].values[c]


def test_a_run_goes_on_from_where_it_was(met_at, tmp_path):
    met_at(6)
    sample(MODEL, CORPUS, **RUN, until=1.05, checkpoint=tmp_path)
    met_at(4)
    whole = sample(MODEL, CORPUS, **RUN, until=1.01, checkpoint=tmp_path, resume=True)
    met_at(9)
    same_draws(whole, sample(MODEL, CORPUS, **RUN, until=1.05))


def test_chains_look_at_draws_that_are_kept(met_at):
    looks = met_at(9)
    tree = sample(MODEL, CORPUS, **RUN, until=1.05)
    last = np.array([chain["log_joint"] for chain in looks[-1]])
    np.testing.assert_array_equal(last, tree["posterior"]["log_joint"].values)


def test_time_is_up():
    tree = sample(MODEL, CORPUS, **RUN, within=0.5)
    assert tree.attrs["interrupted"] == 0
    assert tree["posterior"].sizes["chain"] == 3
    assert np.all(tree["sample_stats"]["seconds"] >= 0)


def test_time_is_up_before_some_chains_have_a_draw(monkeypatch):
    def run_rounds(chains, schedule, target, halt, report, run):
        for chain in chains[1:]:
            chain.run(halt, report, 8)

    monkeypatch.setattr(kernel_chains, "run_rounds", run_rounds)
    tree = sample(MODEL, CORPUS, **RUN, within=600.0)
    assert tree["posterior"].sizes["chain"] == 2
    assert tree.attrs["left_out"] == "0"
    assert tree.attrs["interrupted"] == 0


def test_time_is_up_before_the_first_draw(monkeypatch, tmp_path):
    monkeypatch.setattr(kernel_chains, "run_rounds", lambda *arguments: None)
    with pytest.raises(TimeoutError, match=r"within: time was up before the first draw$"):
        sample(MODEL, CORPUS, **RUN, within=600.0)
    with pytest.raises(TimeoutError, match="the chains can be resumed from"):
        sample(MODEL, CORPUS, **RUN, within=600.0, checkpoint=tmp_path)


def test_one_chain_has_no_rhat():
    notes = []

    def report(number, done, total, note=""):
        notes.append(note)
        if done == 100:
            send_until_heard(signal.SIGINT)

    sample(MODEL, CORPUS, **(RUN | {"chains": 1}), within=600.0, progress=report)
    assert all("R-hat" not in note for note in notes)
    assert any("left" in note for note in notes)


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ([200, 200, 1, 0], [0, 1]),
        ([200, 150, 140, 1], [0, 1, 2]),
        ([4, 2], [0, 1]),
        ([5, 2], [0]),
        ([0, 3, 0], [1]),
        ([0, 0], []),
    ],
)
def test_chains_that_have_most_draws_together(lengths, expected):
    assert most_draws(lengths) == expected


def test_the_least_of_a_run_is_what_was_asked_for(met_at):
    looks = met_at(1)
    tree = sample(MODEL, CORPUS, **RUN, until=1.05)
    assert (tree.attrs["tune"], tree.attrs["thin"], tree["posterior"].sizes["draw"]) == (6, 2, 5)
    assert len(looks) >= 1


def test_progress_says_what_is_worst_and_how_long(met_at):
    met_at(6)
    notes = []
    sample(MODEL, CORPUS, **RUN, until=1.05, within=60.0, progress=lambda *told: notes.append(told))
    assert any("n_topics: R-hat 2.000, ESS 1000" in told[-1] and "left" in told[-1] for told in notes)
    assert all(told[-1] == "" for told in notes if told[0] != 0)


@pytest.mark.parametrize("arguments", [{"until": 1.0}, {"until": np.inf}, {"within": 0.0}, {"within": -1}])
def test_targets_that_are_none(arguments):
    with pytest.raises(ValueError, match="expected a number above"):
        Target(**arguments)


def test_chains_without_enough_draws_to_meet_are_refused():
    with pytest.raises(
        ValueError, match=r"until: expected 100 draws or more of all chains, .* 3 chains of 33$"
    ):
        sample(MODEL, CORPUS, **RUN | {"draws": 33}, until=1.05)


def test_back_ends_without_rounds_say_so():
    with pytest.raises(ValueError, match="until: backend 'numpyro' takes none; it is for backend kernel"):
        sample(MODEL, CORPUS, "numpyro", truncation=4, until=1.05)


def test_one_chain_cannot_meet_another():
    with pytest.raises(ValueError, match="until: expected two chains or more: of one there is no R-hat"):
        sample(MODEL, CORPUS, chains=1, until=1.05)


@pytest.mark.parametrize(
    ("draws", "keep", "expected"),
    [
        (6, 3, [1, 3, 5]),
        (19, 10, [1, 3, 5, 7, 9, 11, 13, 15, 17, 18]),
        (5, 3, [1, 3, 4]),
        (3, 5, [0, 1, 2]),
        (4, 1, [3]),
        (4, 0, []),
    ],
)
def test_kept_draws_are_spread_evenly_up_to_the_last(draws, keep, expected):
    schedule = Schedule(2, draws, 1, keep)
    assert schedule.kept(draws) == expected
    assert len(expected) == schedule.most_kept
    assert schedule.held(draws) == expected


@pytest.mark.parametrize(("thin", "draws", "keep"), [(1, 4, 2), (3, 9, 2), (1, 50, 10), (2, 7, 1), (1, 3, 9)])
@pytest.mark.parametrize("tune", [0, 1, 5, 50])
def test_chains_hold_what_is_kept_however_unequal_they_are(tune, thin, draws, keep):
    schedule = Schedule(tune, draws, thin, keep, is_open=True)
    goals = schedule.goals(0)
    reached, goal = 0, next(goals)
    while goal < 9 * schedule.sweeps:
        for slow, fast in ((reached, goal), (reached + 1, goal), (goal, goal)):
            doublings = schedule.thin_at(fast) // schedule.thin_at(slow)
            n, others = schedule.draws_after(fast), schedule.draws_after(slow) // doublings
            common = min(n, others)
            if common == 0:
                continue
            kept, found = list(schedule.kept(common)), common - schedule.dropped(common)
            assert min(keep, found) <= len(kept) <= 2 * keep + 2
            assert len(set(np.diff(kept))) <= 1
            assert common - kept[-1] <= max(1, found // keep)
            assert set(kept) <= set(schedule.held(n))
        reached, goal = goal, next(goals)


@pytest.mark.parametrize(("chain", "sweep"), [(1, 12), (2, 13), (1, 33), (0, 38)])
@pytest.mark.parametrize("keep", [1, 3, 40])
def test_a_run_that_is_stopped_keeps_latents(chain, sweep, keep):
    def report(number, done, total, note=""):
        if number == chain and done == sweep:
            send_until_heard(signal.SIGINT)

    run = RUN | {"tune": 10, "draws": 12, "keep": keep}
    tree = sample(MODEL, CORPUS, **run, within=600.0, workers=1, progress=report)
    assert tree.attrs["interrupted"] == 1
    n_draws, kept = tree["posterior"].sizes["draw"], tree["latents"]["z"].values
    assert kept.shape[:2] >= (3, min(keep, n_draws))
    of_draws = tree["posterior"]["n_topics"].values
    for c in range(3):
        assert all(np.unique(z).size in of_draws[c] for z in kept[c])


@pytest.mark.parametrize(("thin", "draws", "keep"), [(1, 4, 2), (3, 4, 2), (1, 7, 4), (1, 7, 6), (2, 3, 5)])
def test_a_schedule_without_end_agrees_with_itself(thin, draws, keep):
    schedule = Schedule(5, draws, thin, keep, is_open=True)
    record, at = Record(), []
    for sweep in range(1, 40 * schedule.sweeps):
        if schedule.thin_at(sweep) > schedule.thin_at(sweep - 1):
            record.forget_every_other()
            at = at[1 : len(at) // 2 * 2 : 2]
        if schedule.is_draw(sweep):
            record.seconds.append(1.0)
            at.append(sweep)
        assert len(at) == len(record.seconds) == schedule.draws_after(sweep) <= schedule.most_recorded
        assert np.all(np.diff([0, *at]) == schedule.thin_at(sweep))
        n_kept = len(schedule.held(len(at)))
        assert min(keep, draws) * (sweep >= schedule.sweeps) <= n_kept <= schedule.most_kept
    goals = schedule.goals(0)
    found = [next(goals) for _ in range(20)]
    assert found == sorted(set(found))
    assert schedule.sweeps in found
    assert next(schedule.goals(found[-1])) == found[-1]


def test_the_worst_quantity():
    rng = np.random.default_rng(0)
    same, apart = rng.normal(size=(2, 500)), rng.normal(size=(2, 500)) + np.array([[0.0], [3.0]])
    slow = np.cumsum(rng.normal(size=(2, 500)), axis=1)
    chains = [{"a": same[c], "same_topic": slow[c], "still": np.zeros(500)} for c in range(2)]
    assert worst_of(chains).meets(1.05)
    worst = worst_of([chain | {"b": np.column_stack([same[c], apart[c]])} for c, chain in enumerate(chains)])
    assert worst.quantity == "b"
    assert worst.rhat > 1.5
    assert not worst.meets(1.05)
    stuck = worst_of([{"n": np.full(9, float(c))} for c in range(2)])
    assert stuck.rhat == np.inf
    assert not worst_of([{"n": np.full(9, np.nan)}] * 2).meets(1.05)
    assert worst_of([{"n": np.zeros(9)}] * 2).meets(1.01)


def test_a_target_below_the_usual_limit_is_held_to():
    """One quantity has few effective draws, another an R-hat that is low only by the usual limit."""
    rng = np.random.default_rng(3)
    slow = np.tile(np.repeat(rng.normal(size=15), 40), 2)  # the same in all halves of chains
    chains = [{"slow": slow, "apart": rng.normal(size=1200) + 0.4 * c} for c in range(2)]
    assert worst_of(chains).quantity == "slow"
    assert worst_of(chains, 1.01).quantity == "apart"
    assert not worst_of(chains, 1.01).meets(1.01)


def test_chains_that_differ_and_do_not_move_have_no_finite_rhat():
    apart = np.full((3, 40), [[0.1], [0.2], [0.3]])
    assert rhat([apart]) == np.inf
    assert np.isnan(rhat([np.full((3, 40), 0.1)]))
    apart[0, 7] = 0.4
    assert np.isfinite(rhat([apart]))

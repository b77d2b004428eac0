import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory import geweke as geweke_module
from bnpzoo.diagnostics.laboratory.geweke import Scale, geweke, welch
from states import two_states


def test_right_subjects_pass(normal, chinese):
    for subject in (normal(), normal(correlation=0.98), chinese()):
        verdict = geweke(subject, draws=500, chains=20, transitions=30, seed=1)
        assert verdict.passed, verdict


def test_z_scores_have_variance_one_under_strong_autocorrelation(normal):
    # Independent chains make valid batches however slowly they move. 40 runs; mean of z^2 has expectation a
    # little above 1 (Student with few degrees of freedom) and a standard error of 0.15.
    z = [
        geweke(normal(correlation=0.99), draws=200, chains=20, transitions=20, seed=s).table["z"].values[:2]
        for s in range(40)
    ]
    assert 0.5 < np.mean(np.square(z)) < 1.7


@pytest.mark.parametrize("seed", [1, 2])
def test_wrong_subjects_are_rejected(normal, chinese, seed):
    for subject in (normal(width=1.6), chinese(mistake="smoothing")):
        verdict = geweke(subject, draws=1000, chains=30, transitions=50, seed=seed)
        assert verdict.status == "rejected", verdict


def test_heavy_tails_are_logged_and_clipped(normal, broken):
    # exp(3 mu) has hardly usable moments; on the log scale it is mu again.
    heavy = broken(quantities=lambda latents, data: {"weight": np.exp(3 * latents)})
    table = geweke(heavy, draws=500, chains=20, transitions=20, seed=1).table
    assert table["quantity"].values.tolist() == ["log weight, moment 1", "log weight, moment 2"]
    assert table["is_log"].all()
    draws = np.random.default_rng(0).standard_cauchy(5000)
    scaled = Scale(draws)(np.array([-1e9, 0.0, 1e9]))
    assert np.all(np.isfinite(scaled))
    assert np.ptp(scaled) < 100


def test_the_worst_sampler_cannot_be_rejected_with_fewer_draws():
    """One draw is as far from the others as can be, and all chains are there."""
    smallest = {}
    for n in (10, 11):
        draws = np.append(np.random.default_rng(0).normal(0.0, 1e-9, n - 1), 1.0)
        scale = Scale(draws)
        smallest[n] = 2.0 * welch(scale(draws), scale(np.full((20, 5), draws.max())))[1]
    assert smallest[11] < 1e-5 < smallest[10]


def test_pp_points_and_draws_are_kept(normal, tmp_path):
    verdict = geweke(normal(), draws=200, chains=5, transitions=10, seed=1)
    pp = verdict.groups["pp"]
    assert pp["independent"].dims == ("quantity", "point")
    assert np.abs(pp["independent"] - pp["successive"]).max() < 0.5
    assert verdict.groups["draws"]["successive"].shape == (4, 5, 10)
    verdict.tree().to_netcdf(tmp_path / "geweke.nc")


def test_welch_on_constants():
    ones = np.ones((4, 5))
    assert welch(np.ones(10), ones) == (0.0, 1.0)
    z, p_value = welch(np.zeros(10), ones)
    assert np.isposinf(z)
    assert p_value == 0.0


@pytest.mark.parametrize(("share", "status"), [(0.02, "passed"), (0.5, "rejected")])
def test_what_never_came_up_in_slow_chains_must_not_be_rare(normal, share, status):
    """Chains that keep the flag with which they begin are right, and 36 in a hundred times all have none."""

    class Flagged(normal):
        def draw_latents(self, rng):
            return super().draw_latents(rng), float(rng.random() < share)

        def draw_data(self, rng, latents):
            return super().draw_data(rng, latents[0])

        def transition(self, rng, latents, data):
            kept = latents[1] if status == "passed" else 0.0
            return super().transition(rng, latents[0], data), kept

        def quantities(self, latents, data):
            return {"mu": latents[0], "flag": latents[1]}

    seeds = range(5) if status == "passed" else [1]
    found = [geweke(Flagged(), draws=2000, chains=50, transitions=10, seed=seed) for seed in seeds]
    assert [verdict.status for verdict in found] == [status] * len(found)
    assert any(not verdict.groups["draws"]["successive"][1].any() for verdict in found)


@pytest.mark.parametrize(("few", "most"), [(geweke_module.FEW, 0), (1, 50)])
def test_few_chains_that_have_left_do_not_tell_their_variance(few, most, monkeypatch):
    """None of 500 right samplers is rejected at 1e-5; Student's law alone rejects one in 27.

    With the limit, none of 10,000 was: a false alarm here has a probability of 500 * 3e-4 at most, at 95 %.
    """
    monkeypatch.setattr(geweke_module, "FEW", few)
    rng = np.random.default_rng(1)
    found = [
        welch((rng.random(2000) < 0.02) * 1.0, two_states(rng, 50, 100, 0.02, 30))[1] for _ in range(500)
    ]
    assert (most > 0) == (min(found) < 1e-5)
    assert np.sum(np.array(found) < 1e-5) <= most


def test_few_independent_draws_that_differ_do_not_tell_theirs():
    """Two of 2,000 draws of what has probability 0.005 are no proof, and none at all of 0.05 is."""
    chains = two_states(np.random.default_rng(2), 100, 100, 0.005, 1)
    independent = np.zeros(2000)
    independent[:2] = 1.0
    assert welch(independent, chains)[1] > 1e-4
    often = two_states(np.random.default_rng(2), 100, 100, 0.05, 1)
    assert welch(np.zeros(2000), often)[1] < 1e-12


@pytest.mark.parametrize("frozen", [0.0, 1.0])
def test_chains_that_never_come_to_what_is_common_are_rejected(frozen):
    independent = (np.random.default_rng(3).random(2000) < 0.5) * 1.0
    assert welch(independent, np.full((50, 100), frozen))[1] < 1e-10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"draws": 10}, "draws: expected a whole number, 11 or more, found 10"),
        ({"draws": 6, "false_alarm_rate": 0.005}, "draws: expected a whole number, 7 or more, found 6"),
        ({"chains": 0}, "chains: expected a whole number, 2 or more, found 0"),
        ({"chains": 1}, "chains: expected a whole number, 2 or more, found 1"),
        ({"transitions": 0}, "transitions: expected a whole number, 1 or more, found 0"),
    ],
)
def test_arguments_out_of_range(normal, arguments, message):
    with pytest.raises(ValueError, match=message):
        geweke(normal(), **{"draws": 50, "chains": 3, "transitions": 3} | arguments)

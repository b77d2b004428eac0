import json
from itertools import accumulate

import numpy as np
import pytest
import xarray as xr
from bnpzoo.diagnostics import compare as compare_module
from bnpzoo.diagnostics.compare import compare, labelled
from bnpzoo.diagnostics.copies import refuse_copies
from states import two_states

RNG_SEED = 20240


def fit(quantities, seconds=0.01, **attrs):
    """A fit whose posterior holds `quantities`, arrays (chain, draw, ...)."""
    shape = next(iter(quantities.values())).shape[:2]
    posterior = xr.Dataset(
        {
            name: (("chain", "draw", *(f"{name}_element" for _ in values.shape[2:])), values)
            for name, values in quantities.items()
        }
    )
    posterior = posterior.assign_coords({d: np.arange(n) for d, n in posterior.sizes.items()})
    stats = xr.Dataset({"seconds": (("chain", "draw"), np.full(shape, seconds))})
    tree = xr.DataTree.from_dict({"posterior": posterior, "sample_stats": stats})
    tree.attrs.update(
        {"model": "hdp", "hyperparameters": '{"gamma": 1.0, "alpha": 1.0}', "corpus_sha256": "ab" * 32,
         "backend": "kernel", "variant": "sparse", "truncation": ""} | attrs
    )  # fmt: skip
    return tree


def normal(mean=0.0, chains=4, draws=400, seed=0):
    return np.random.default_rng([RNG_SEED, seed]).normal(mean, 1.0, (chains, draws))


def row(comparison, name):
    return next(r for r in comparison.rows if r.quantity == name)


def test_equal_laws_agree_and_the_figures_are_right():
    a, b = normal(seed=1), normal(seed=2)
    result = compare({"a": fit({"x": a}), "b": fit({"x": b}, seconds=0.02)})
    x = row(result, "x")
    assert result.verdict == x.verdict == "agree"
    # Independent draws: the MCSE is close to sd / sqrt(n), whatever the estimator of the ESS.
    np.testing.assert_allclose(x.mcse["a"], a.std() / np.sqrt(a.size), rtol=0.15)
    expected = (b.mean() - a.mean()) / np.hypot(x.mcse["a"], x.mcse["b"])
    assert x.difference["a", "b"] == pytest.approx(expected)
    assert x.ess_per_second["a"] == pytest.approx(x.ess["a"] / 16.0)
    assert x.ess_per_second["b"] == pytest.approx(x.ess["b"] / 32.0)
    assert x.rhat == pytest.approx(1.0, abs=0.02)
    assert "agree on all 1" in result.headline()


def test_too_few_draws_tell_nothing():
    """Of constants among them: two chains that did not move in five draws may yet."""
    for chains, draws in ((1, 1), (1, 2), (2, 5), (4, 24)):
        fits = {name: fit({"x": normal(5.0 * (name == "b"), chains, draws, seed=3)}) for name in "ab"}
        assert compare(fits).verdict == "inconclusive"
        assert "Not enough evidence" in compare(fits).headline()
        stuck = {name: fit({"x": np.full((chains, draws), float(name == "b"))}) for name in "ab"}
        assert compare(stuck).verdict == "inconclusive"
    enough = {name: fit({"x": normal(5.0 * (name == "b"), 4, 25, seed=3)}) for name in "ab"}
    assert compare(enough).verdict == "disagree"
    swinging = 0.2 * normal(0.0, 4, 24, seed=4) + np.tile(
        [-1.0, 1.0], 12
    )  # of more effective draws than draws
    fits = {name: fit({"x": swinging + 5.0 * (name == "b")}) for name in "ab"}
    assert compare(fits).rows[0].ess["a"] > 100.0
    assert compare(fits).verdict == "inconclusive"
    one = compare(fit({"x": np.ones((1, 1))}))
    assert one.labels == ("kernel (sparse)",)
    assert one.verdict == "inconclusive"
    assert compare({"a": fit({"x": np.ones((1, 2))})}).verdict == "agree"


@pytest.mark.parametrize(
    ("probes", "dims"),
    [("pairs", ("pair", "two")), ("cells", ("cell", "two")), ("probed_documents", ("probed_document",))],
)
def test_quantities_that_look_elsewhere_are_not_compared(probes, dims):
    fits = {name: fit({"x": normal(seed=1)}) for name in "ab"}
    for place, tree in enumerate(fits.values()):
        looked_at = np.full((1, 2)[: len(dims)], place)
        tree["constant_data"] = xr.DataTree(xr.Dataset({probes: (dims, looked_at)}))
    with pytest.raises(ValueError, match=rf"b: its test quantities look at other places .* \({probes}\)"):
        compare(fits)


@pytest.mark.parametrize(("shift", "verdict"), [(0.05, "agree"), (0.3, "disagree")])
def test_a_shifted_fit_is_caught(shift, verdict):
    # The standard error of the difference is 0.035: 0.05 must pass, 0.3 is 8.5 of them.
    fits = {"a": fit({"x": normal(seed=1)}), "b": fit({"x": normal(shift, seed=1)})}
    result = compare(fits)
    assert result.verdict == verdict
    assert result.rows[0].difference["a", "b"] > 0


def test_every_pair_is_compared():
    fits = {name: fit({"x": normal(seed=i)}) for i, name in enumerate("abc")}
    fits["d"] = fit({"x": normal(1.0, seed=9)})
    result = compare(fits)
    assert set(result.rows[0].difference) == {
        ("a", "b"),
        ("a", "c"),
        ("a", "d"),
        ("b", "c"),
        ("b", "d"),
        ("c", "d"),
    }
    assert "a, b, c and d disagree on 1 of 1" in result.headline()


def test_constants_that_are_equal_are_flagged_and_those_that_differ_disagree():
    two, three = np.full((4, 50), 2.0), np.full((4, 50), 3.0)
    same = compare({"a": fit({"x": two}), "b": fit({"x": two})})
    assert row(same, "x").verdict == "constant"
    assert np.isnan(row(same, "x").rhat)
    assert same.verdict == "agree"
    assert "nothing moved" in same.headline()
    differ = compare({"a": fit({"x": two}), "b": fit({"x": three})})
    assert row(differ, "x").difference["a", "b"] == np.inf
    assert differ.verdict == "disagree"


def test_what_moves_by_rounding_alone_is_constant():
    noise = np.random.default_rng(RNG_SEED).integers(-2, 3, (4, 200))
    fits = {name: fit({"x": -12.79 + noise * 2e-15, "y": normal(draws=200)}) for name in "ab"}
    fits["b"]["posterior"]["x"] += 4e-15  # another program adds up in another order
    x = row(compare(fits), "x")
    assert x.verdict == "constant"
    assert x.difference["a", "b"] == 0.0
    assert x.mcse["a"] == 0.0
    assert np.isnan(x.ess["a"])
    moving = compare({"a": fit({"x": -12.79 + noise * 1e-8})})
    assert row(moving, "x").verdict == "agree"


def test_a_constant_against_a_rare_event_agrees():
    rare = np.zeros((4, 200))
    rare[1, 7] = 1.0
    result = compare({"a": fit({"x": np.zeros((4, 200))}), "b": fit({"x": rare})})
    assert abs(row(result, "x").difference["a", "b"]) == pytest.approx(0.5**0.5, abs=0.1)  # of equal errors
    assert result.verdict == "agree"


def test_chains_that_do_not_mix_are_inconclusive():
    drifting = np.cumsum(normal(chains=4, draws=300), axis=1)
    stuck = np.repeat([[1.0], [2.0]], 100, axis=1)
    for bad in (drifting, stuck):
        assert compare({"a": fit({"x": bad}), "b": fit({"x": bad})}).verdict == "inconclusive"
        alone = compare({"a": fit({"x": bad})})
        assert alone.verdict == "inconclusive"
        assert "Not enough evidence" in alone.headline()


def slow(rho, n, seed):
    """One chain of an autoregression whose law is standard normal."""
    steps = np.sqrt(1.0 - rho**2) * normal(chains=1, draws=n, seed=seed)[0]
    steps[0] /= np.sqrt(1.0 - rho**2)
    return np.array(list(accumulate(steps, lambda x, step: rho * x + step)))[None]


def test_slow_chains_of_one_law_do_not_disagree():
    """Their errors are told too small, so that a third of such pairs are more than four of them apart."""
    pairs = [[slow(0.999, 500, seed) for seed in (2 * n, 2 * n + 1)] for n in range(25)]
    found = [compare({"a": fit({"x": a}), "b": fit({"x": b})}) for a, b in pairs]
    assert max(row(one, "x").largest_difference for one in found) > 4.0
    assert {one.verdict for one in found} == {"inconclusive"}


def test_the_largest_difference_that_is_told_is_one_that_tells_something():
    fits = {
        name: fit({"x": normal(shift, chains=1, draws=500), "y": slow(0.999, 500, 7) + 9.0 * shift})
        for name, shift in (("a", 0.0), ("b", 1.0))
    }
    assert compare(fits).verdict == "disagree"
    assert compare(fits).headline().split("largest difference")[1].split(".")[1].endswith("in x")


def test_a_disagreement_does_not_hide_chains_that_do_not_mix():
    drifting = np.cumsum(normal(chains=4, draws=400), axis=1)
    fits = {name: fit({"x": normal(mean), "y": drifting}) for name, mean in (("a", 0.0), ("b", 1.0))}
    result = compare(fits)
    assert result.verdict == "disagree"
    assert "For 1 other the chains mix too badly" in result.headline()


def test_a_draw_that_is_not_finite_is_a_disagreement():
    broken = normal()
    broken[0, 0] = np.nan
    result = compare({"a": fit({"x": normal()}), "b": fit({"x": broken})})
    assert result.verdict == "disagree"
    assert "not finite" in result.headline()


def test_one_fit_is_judged_by_its_own_chains():
    result = compare({"a": fit({"x": normal()})})
    assert result.rows[0].difference == {}
    assert result.verdict == "agree"
    assert "chains agree on all 1" in result.headline()


def test_unequal_numbers_of_chains_and_draws_and_elements_by_name():
    small = np.stack([normal(chains=2, draws=150, seed=1), normal(5.0, 2, 150, seed=2)], axis=2)
    large = np.stack([normal(chains=4, draws=500, seed=3), normal(5.0, 4, 500, seed=4)], axis=2)
    result = compare({"a": fit({"x": small}), "b": fit({"x": large})})
    assert [r.quantity for r in result.rows] == ["x[0]", "x[1]"]
    assert result.verdict == "agree"


def test_records_are_json_and_have_one_entry_a_row():
    quantities = {"x": normal(), "c": np.ones((4, 400))}
    records = compare({"a": fit(quantities), "b": fit(quantities)}).records()
    assert json.loads(json.dumps(records, allow_nan=False)) == records
    assert {r["quantity"]: r["rhat"] for r in records}["c"] is None
    assert "difference [b - a]" in records[0]


@pytest.mark.parametrize(
    ("attrs", "message"),
    [
        ({"model": "lda"}, "its model"),
        ({"hyperparameters": '{"gamma": 2.0, "alpha": 1.0}'}, "its hyperparameters"),
        ({"corpus_sha256": "cd" * 32}, "its corpus"),
    ],
)
def test_fits_of_different_posteriors_are_refused(attrs, message):
    with pytest.raises(ValueError, match=f"^b: {message}"):
        compare({"a": fit({"x": normal()}), "b": fit({"x": normal()}, **attrs)})


def test_what_is_rare_may_not_have_come_up():
    """A short fit in which a rare event never came up agrees with a long one in which it did."""
    rng, n_disagree = np.random.default_rng(RNG_SEED), 0
    for _ in range(40):
        short, long = (rng.random((4, n)) < 0.01 for n in (25, 2500))
        found = row(compare({"a": fit({"x": short * 1.0}), "b": fit({"x": long * 1.0})}), "x")
        n_disagree += found.verdict == "disagree"
    assert n_disagree == 0


@pytest.mark.parametrize(("share", "verdict"), [(0.3, "inconclusive"), (0.95, "disagree")])
def test_four_chains_that_never_leave_a_value_may_be_slow_unless_it_is_rare(share, verdict):
    """All of them begin at what is not rare often enough: of probability 0.7, in 24 of 100 fits."""
    often = (np.random.default_rng(RNG_SEED).random((4, 2500)) < share) * 1.0
    assert compare({"a": fit({"x": np.zeros((4, 100))}), "b": fit({"x": often})}).verdict == verdict


@pytest.mark.parametrize(("few", "least", "most"), [(compare_module.FEW_VISITS, 0, 0), (0, 5, 40)])
def test_what_came_up_a_few_times_in_slow_chains_does_not_tell_how_rare_it_is(few, least, most, monkeypatch):
    """None of 60 pairs of right fits disagrees; without the limit a quarter does.

    With it none of 1,000 did: a false alarm here has a probability of 60 * 3e-3 at most, at 95 %.
    """
    monkeypatch.setattr(compare_module, "FEW_VISITS", few)
    rng = np.random.default_rng(RNG_SEED)
    verdicts = [
        compare(
            {
                "a": fit({"x": two_states(rng, 4, 500, 0.02, 30)}),
                "b": fit({"x": two_states(rng, 4, 500, 0.02, 1)}),
            }
        ).verdict
        for _ in range(60)
    ]
    assert least <= verdicts.count("disagree") <= most


def test_few_visits_do_not_hide_a_difference_that_they_cannot_explain():
    seldom = np.zeros((4, 500))
    seldom[0, 40:45] = seldom[2, 7] = 1.0
    assert compare({"a": fit({"x": seldom}), "b": fit({"x": normal(5.0)})}).verdict == "disagree"


def test_a_longer_run_of_the_same_seed_is_no_other_run():
    x = normal()
    longer = np.concatenate([x, normal()], axis=1)
    for other in (x, x[:2, :50], longer):
        with pytest.raises(ValueError, match=r"^b: it has draws of a"):
            refuse_copies({"a": fit({"x": x}), "b": fit({"x": other})})
    refuse_copies({"a": fit({"x": x}), "b": fit({"x": longer[:, ::-1]})})


def test_nor_is_one_that_drops_more_sweeps_or_keeps_fewer():
    x = normal()
    first = fit({"x": x[:, 2:40]}, tune=2, thin=1)
    for tune, thin in ((5, 1), (2, 2), (0, 3)):
        other = x[:, tune + thin - 1 :: thin]
        with pytest.raises(ValueError, match=r"^b: it has draws of a"):
            refuse_copies({"a": first, "b": fit({"x": other}, tune=tune, thin=thin)})
    refuse_copies({"a": first, "b": fit({"x": normal(seed=1)}, tune=5, thin=1)})
    refuse_copies({"a": first, "b": fit({"x": x[:, 40:]}, tune=40, thin=1)})  # what came after


def test_nor_is_one_of_which_chains_were_left_out():
    x = normal()
    whole, late = fit({"x": x}), fit({"x": x[[1, 3], :90]}, left_out="0,2")
    for a, b in ((whole, late), (late, whole)):
        with pytest.raises(ValueError, match=r"^b: it has draws of a"):
            refuse_copies({"a": a, "b": b})
    refuse_copies({"a": fit({"x": x[[0, 2]]}, left_out="1"), "b": fit({"x": normal(seed=1)})})


def test_other_misuse_is_refused():
    with pytest.raises(ValueError, match="at least one fit"):
        compare({})
    with pytest.raises(ValueError, match="test quantities differ"):
        compare({"a": fit({"x": normal()}), "b": fit({"y": normal()})})
    with pytest.raises(ValueError, match="made by `sample`"):
        compare({"a": xr.DataTree()})
    for what in (xr.DataTree(), [xr.DataTree()], iter([xr.DataTree()])):
        with pytest.raises(ValueError, match="fit: expected a fit made by `sample`, found a tree without"):
            compare(what)
    for what in ({"a": "fit.nc"}, ["fit.nc"]):
        with pytest.raises(ValueError, match="expected a fit made by `sample`, found str"):
            compare(what)


def test_fits_may_come_one_after_the_other():
    trees = [fit({"x": normal(seed=seed)}) for seed in (1, 2)]
    assert compare(tree for tree in trees).rows == compare(trees).rows


def test_hyperparameters_are_compared_as_values_not_as_text():
    found = compare(
        {"a": fit({"x": normal()}), "b": fit({"x": normal()}, hyperparameters='{"alpha":1.0,"gamma":1.0}')}
    )
    assert found.verdict == "agree"


def test_labels_name_back_end_and_truncation_and_are_unique():
    trees = [
        fit({"x": normal()}),
        fit({"x": normal()}),
        fit({"x": normal()}, backend="numpyro", variant="", truncation=10),
        fit({"x": normal()}, backend="numpyro", variant="", truncation=20),
        fit({"x": normal()}, backend="stan", variant=""),
    ]
    expected = ["kernel (sparse)", "kernel (sparse) #2", "numpyro (T=10)", "numpyro (T=20)", "stan"]
    assert list(labelled(trees)) == expected


def test_a_heading_is_not_said_again_under_it():
    drifting = np.cumsum(normal(), axis=1)
    expected = {
        ("The chains agree", "On all 1 test quantities: R-hat is at most 1.0"): {"one": normal()},
        ("Not enough evidence", "For 1 of 1 test quantities the chains mix"): {"one": drifting},
        ("Not enough evidence", "R-hat takes two chains or more"): {"one": normal()[:1]},
        ("Broken draws", "1 of 1 test quantities hold draws"): {"one": np.full((4, 200), np.nan)},
        ("Agreement", "a and b agree on all 1"): {"a": normal(), "b": normal(seed=2)},
        ("Disagreement", "a and b disagree on 1 of 1"): {"a": normal(), "b": normal(9.0)},
        ("Not enough evidence", "For 1 of 1 test quantities of a and b"): {"a": normal(), "b": drifting},
    }
    for (heading, under), draws in expected.items():
        found = compare({label: fit({"x": x}) for label, x in draws.items()})
        assert found.heading == heading
        assert found.under_heading().startswith(under)
        assert heading.lower() not in found.under_heading().lower()


def test_the_headline_tells_the_trouble_of_nuts():
    diverging, deepest = np.zeros((4, 400), bool), np.zeros((4, 400), bool)
    diverging[1, :7], deepest[2:, 5] = True, True
    fits = {label: fit({"x": normal(seed=i)}) for i, label in enumerate(("kernel", "calm", "stan"))}
    for label, troubled in (("calm", False), ("stan", True)):
        stats = fits[label]["sample_stats"].dataset
        stats = stats.assign(diverging=(("chain", "draw"), diverging & troubled))
        fits[label]["sample_stats"] = stats.assign(
            reached_max_treedepth=(("chain", "draw"), deepest & troubled)
        )
    headline = compare(fits).headline()
    assert headline.endswith("In stan, NUTS diverged in 7 and reached its largest tree in 2 of 1600 draws.")
    assert headline.count("NUTS") == 1
    assert "NUTS" not in compare({"kernel": fits["kernel"], "calm": fits["calm"]}).headline()


def test_fits_without_labels_get_some():
    fits = [fit({"x": normal(seed=seed)}) for seed in (1, 2)]
    result = compare(fits)
    assert result.labels == ("kernel (sparse)", "kernel (sparse) #2")
    assert result.rows == compare(labelled(fits)).rows


def test_the_worst_come_first():
    a = fit({"same": normal(seed=1), "apart": normal(seed=1), "fixed": np.ones((4, 400))})
    b = fit({"same": normal(seed=2), "apart": normal(9.0, seed=2), "fixed": np.ones((4, 400))})
    result = compare({"a": a, "b": b})
    assert [row.quantity for row in result.worst(9)] == ["apart", "same", "fixed"]
    assert [row.quantity for row in result.worst(1)] == ["apart"]

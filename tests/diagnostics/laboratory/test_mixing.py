"""Chains from either side enter the band of one that starts at the truth."""

from functools import partial

import numpy as np
import pytest
from bnpzoo import cool, get
from bnpzoo.diagnostics.laboratory.mixing import TRUTH, History, Mixing, mixing
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus import Corpus


def test_entries_of_made_up_chains():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(4, 200))
    late = np.where(np.arange(200) < 120, 50.0 - np.arange(200) * 50.0 / 120, 0.0)
    leaves = np.where(np.arange(200) < 150, 0.0, 30.0)
    seconds = np.arange(1, 201) / 10.0
    histories = {
        TRUTH: History({"x": noise[0], "still": np.zeros(200)}, seconds),
        "one": History({"x": noise[1] + late, "still": np.zeros(200)}, seconds),
        "documents": History({"x": noise[2] + 40.0, "still": np.zeros(200)}, seconds),
        "random:3": History({"x": noise[3] + leaves, "still": np.zeros(200)}, seconds),
    }
    found = Mixing(Corpus([0], [0, 1]), histories)
    assert found.names == ["x"]
    assert 100 <= found.entry("one", "x") <= 121
    assert found.entry("documents", "x") is None
    assert found.entry("random:3", "x") is None
    assert "from one, all quantities are in the band after 1" in found.headline()
    assert "from documents, x did not enter the band in 200 sweeps (20.0 CPU-seconds)" in found.headline()
    assert [record["start"] for record in found.records()] == ["one", "documents", "random:3"]


@pytest.mark.compiled
@pytest.mark.parametrize("model_id", ["hdp", "lda"])
def test_small_corpora_are_soon_reached(model_id):
    model = get(model_id, alpha=1.0, eta=0.2, **({"gamma": 1.0} if model_id == "hdp" else {"n_topics": 4}))
    told = []
    found = mixing(
        model, Design(np.full(20, 12), 15), sweeps=150, seed=1, progress=lambda *args: told.append(args)
    )
    assert list(found.histories) == [TRUTH, "one", "documents"]
    assert found.corpus.n_tokens == 240
    assert told[-1] == ("documents", 150, 150)
    for start in found.starts:
        for name in ("log_joint", "log_likelihood"):
            assert found.entry(start, name) is not None
        assert np.all(np.diff(found.histories[start].seconds) > 0)
    again = mixing(model, Design(np.full(20, 12), 15), sweeps=150, seed=1)
    for start, history in found.histories.items():
        for name, values in history.quantities.items():
            np.testing.assert_array_equal(values, again.histories[start].quantities[name])


@pytest.mark.compiled
def test_chains_from_elsewhere_burn_in_first():
    """The chain from the truth is the same, and the time of the others begins with that of their burn-in."""
    model, design = get("hdp", alpha=1.0, eta=0.05, gamma=1.0), Design(np.full(20, 12), 15)
    plain = mixing(model, design, sweeps=10, seed=1)
    told = []

    def burn_in(*arguments, **options):
        told.append(options)
        return cool(*arguments, sweeps=40, **options)

    cooled = mixing(model, design, sweeps=10, seed=1, burn_in=burn_in)
    assert [(options["start"], options["chains"]) for options in told] == [("one", 1), ("documents", 1)]
    assert told[0]["seed"] != told[1]["seed"]
    for start, history in cooled.histories.items():
        same = np.array_equal(history.quantities["log_joint"], plain.histories[start].quantities["log_joint"])
        assert same == (start == TRUTH)
        if start != TRUTH:
            assert history.seconds[0] > np.ptp(history.seconds), "hundreds of sweeps, and then nine"
            assert history.quantities["n_topics"][0] < 15 < design.doc_lengths.size
    again = mixing(model, design, sweeps=10, seed=1, burn_in=partial(cool, sweeps=40))
    for start, history in cooled.histories.items():
        np.testing.assert_array_equal(
            history.quantities["log_joint"], again.histories[start].quantities["log_joint"]
        )


@pytest.mark.slow
def test_lengths_are_drawn_where_there_is_a_law_of_them():
    model = get("focused", alpha=3.0, gamma=2.0, eta=0.2)
    found = mixing(model, Design(np.full(15, 10), 12), sweeps=10, seed=3)
    assert found.corpus.n_documents == 15
    assert np.unique(found.corpus.doc_lengths).size > 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sweeps": 9}, "sweeps: expected a whole number, 10 or more, found 9"),
        ({"starts": ["two"]}, "start: expected seated, one"),
        ({"variant": "taylor"}, "focused: expected an exact kernel, found taylor"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        mixing(get("focused", alpha=3.0, gamma=2.0, eta=0.2), Design(np.full(5, 4), 6), **arguments)


def test_a_corpus_without_tokens():
    with pytest.raises(ValueError, match="at least one token"):
        mixing(get("lda"), Design(np.zeros(3, int), 6))

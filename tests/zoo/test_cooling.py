"""Burn-in that cools."""

from itertools import pairwise

import numpy as np
import pytest
from bnpzoo import Corpus, Gamma, cool, get, sample
from bnpzoo.zoo.contract import Design, Model
from bnpzoo.zoo.inference import latents_of

RNG = np.random.default_rng(3)
CORPUS = Corpus(RNG.integers(12, size=60), np.arange(0, 61, 5), n_words=12, group=[0, 1] * 6)
RUN = {"chains": 2, "sweeps": 4, "seed": 4}


def draws(tree):
    return tree["posterior"]["log_joint"].values


@pytest.fixture
def stages_seen(monkeypatch):
    """Every stage that is sampled: its eta, how, and what came of it."""
    seen = []

    def noted(model, corpus, **options):
        fit = sample(model, corpus, **options)
        seen.append((model.hyperparameters()["eta"], options, fit))
        return fit

    monkeypatch.setattr("bnpzoo.zoo.inference.stages.sample", noted)
    return seen


def test_eta_falls_by_a_third_to_where_it_is_fixed(stages_seen):
    fit = cool(get("hdp", eta=0.05), CORPUS, **RUN, start="one", hottest=0.2)
    assert [eta for eta, *_ in stages_seen] == pytest.approx([0.2 * (2 / 3) ** j for j in range(4)])
    assert stages_seen[0][1]["start"] == "one"
    assert all(later["start"] is fit for (*_, fit), (_, later, _) in pairwise(stages_seen))
    assert {options["thin"] for _, options, _ in stages_seen} == {4}
    assert len({options["seed"] for _, options, _ in stages_seen} | {4}) == 5
    assert fit.attrs["start"] == "one"


def test_where_it_begins_hangs_on_where_it_ends(stages_seen):
    for own, first in ((0.001, 0.2), (0.01, 0.2), (0.1, 1.6), (0.5, 8.0), (Gamma(1.0, 1.0), 0.2)):
        stages_seen.clear()
        cool(get("hdp", eta=own), CORPUS, chains=1, sweeps=1, seed=4)
        assert stages_seen[0][0] == pytest.approx(first)


def test_the_model_goes_on_from_there_with_its_own_eta():
    model = get("hdp", eta=0.05)
    fit = sample(model, CORPUS, chains=2, tune=1, draws=2, start=cool(model, CORPUS, **RUN))
    assert {float(latents["eta"]) for *_, latents in latents_of(fit)} == {0.05}


@pytest.mark.compiled
def test_where_eta_is_sampled_it_falls_as_long_as_the_smaller_one_is_likelier(stages_seen):
    truth = get("hdp", eta=0.03, gamma=1.5, alpha=1.0)
    corpus = truth.simulate(Design(np.full(60, 30), 50), np.random.default_rng(1)).corpus
    model = get("hdp")
    cool(model, corpus, chains=2, sweeps=30, seed=1)

    def gain(fit, eta):
        states = [latents for *_, latents in latents_of(fit)]
        return sum(model.log_joint(x | {"eta": eta}, corpus) - model.log_joint(x, corpus) for x in states)

    gains = [gain(fit, eta * 2 / 3) for eta, _, fit in stages_seen]
    assert all(gain > 0 for gain in gains[:-1])
    assert gains[-1] <= 0
    assert 0.01 < stages_seen[-1][0] < 0.1


def test_it_ends_even_where_no_eta_is_small_enough(stages_seen, monkeypatch):
    monkeypatch.setattr("bnpzoo.zoo.inference.cooling.COLDEST", 0.05)
    words = np.repeat(np.arange(12), 5)  # each document has a word of its own
    corpus = Corpus(words, np.arange(0, 61, 5), n_words=12)
    cool(get("hdp", eta=Gamma(1.0, 1e6)), corpus, **RUN, start="documents")
    assert [eta for eta, *_ in stages_seen] == pytest.approx([0.2 * (2 / 3) ** j for j in range(4)])


def test_the_same_seed_gives_the_same_draws():
    model = get("mt_hdp", eta=0.1)
    fit = cool(model, CORPUS, **RUN)
    assert np.array_equal(draws(fit), draws(cool(model, CORPUS, **RUN)))
    assert not np.array_equal(draws(fit), draws(cool(model, CORPUS, **RUN | {"seed": 5})))


def test_a_run_that_has_ended_is_resumed_to_the_same_bits(tmp_path):
    model, folder = get("hdp", eta=0.1), tmp_path / "chains"
    fit = cool(model, CORPUS, **RUN, checkpoint=folder)
    assert {path.name for path in folder.iterdir()} == {f"eta-{number}" for number in range(1, 8)}
    assert np.array_equal(draws(fit), draws(cool(model, CORPUS, **RUN, checkpoint=folder, resume=True)))


@pytest.mark.parametrize(
    ("model", "arguments", "message"),
    [
        (get("hdp"), {"sweeps": 0}, "sweeps: expected a whole number, 1 or more, found 0"),
        (get("hdp"), {"hottest": 0.0}, "hottest: expected a number above 1e-06, found 0.0"),
        (get("hdp", eta=0.2), {"hottest": 0.2}, "cool: expected eta below 0.2, where it begins, found 0.2"),
        (get("hpyp", n_topics=2), {}, "cool: expected symmetric Dirichlet topics, found .* in hpyp"),
        (get("hdp"), {"start": "two"}, "start: expected seated, one, documents"),
    ],
)
def test_what_it_cannot_do_is_one_line(model, arguments, message):
    with pytest.raises(ValueError, match=message):
        cool(model, CORPUS, **RUN | arguments)


def test_a_model_whose_chains_start_only_one_way():
    class Plain(type(get("hdp"))):
        start_at = Model.start_at

    with pytest.raises(ValueError, match="hdp: its chains start with tokens seated one after the other"):
        cool(Plain(), CORPUS)

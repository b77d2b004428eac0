"""Burn-in on a corpus that grows."""

import os
import signal
from itertools import pairwise

import numpy as np
import pytest
from bnpzoo import Corpus, get, grow, sample
from bnpzoo.zoo.contract import Model
from bnpzoo.zoo.inference import chain, corpus_of, latents_of
from bnpzoo.zoo.inference.starts import starting_points

RNG = np.random.default_rng(3)
LENGTHS = np.array([0, 3, 9, 1, 5, 7, 2, 6, 4, 8, 3, 5])
CORPUS = Corpus(
    RNG.integers(12, size=LENGTHS.sum()),
    np.concatenate([[0], np.cumsum(LENGTHS)]),
    n_words=12,
    group=[0, 1] * 6,
)
RUN = {"chains": 2, "sweeps": 12, "seed": 4}


def draws(tree):
    return tree["posterior"]["log_joint"].values


@pytest.fixture
def parts_seen(monkeypatch):
    """Every part that is sampled, and how."""
    seen = []

    def noted(model, part, **options):
        seen.append((part, options))
        return sample(model, part, **options)

    monkeypatch.setattr("bnpzoo.zoo.inference.stages.sample", noted)
    return seen


@pytest.mark.parametrize(("parts", "sizes"), [(2, [6]), (3, [4, 7]), (8, [1, 3, 6]), (11, [1, 2, 4, 8])])
def test_each_part_has_twice_as_many_documents_and_as_much_work(parts_seen, parts, sizes):
    fit = grow(get("hdp"), CORPUS, parts, **RUN, start="one")
    assert [part.n_documents for part, _ in parts_seen] == sizes
    assert parts_seen[0][1]["start"] == "one"
    documents = [
        {tuple(part.words[a:b]) for a, b in zip(part.doc_ptr[:-1], part.doc_ptr[1:], strict=True)}
        for part, _ in parts_seen
    ]
    assert all(few <= many for few, many in pairwise(documents))
    for part, options in parts_seen:
        assert part.doc_lengths.all()
        assert options["thin"] * part.n_tokens == pytest.approx(
            12 * CORPUS.n_tokens / len(sizes), abs=part.n_tokens / 2
        )
    assert corpus_of(fit).digest() == parts_seen[-1][0].digest()
    assert fit.attrs["start"] == "one"


def test_each_chain_goes_on_with_its_own_topics(parts_seen):
    model = get("hdp")
    fit = grow(model, CORPUS, 4, **RUN)
    (quarter, first), (half, second) = parts_seen
    assert first["start"] is None
    after_quarter = second["start"]
    assert fit.attrs["start"] == "seated,documents"
    assert corpus_of(after_quarter).digest() == quarter.digest()
    before = [latents["z"] for _, _, latents in latents_of(after_quarter)]
    assert not np.array_equal(*before)
    (point,) = starting_points(after_quarter, model, half)
    at_half = {tuple(half.words[a:b]): range(a, b) for a, b in pairwise(half.doc_ptr)}
    tokens = [i for a, b in pairwise(quarter.doc_ptr) for i in at_half[tuple(quarter.words[a:b])]]
    for c, z in enumerate(before):
        found = point.latents(np.random.default_rng(0), c)["z"][tokens]
        assert np.array_equal(np.equal.outer(found, found), np.equal.outer(z, z))


def test_the_same_seed_gives_the_same_draws():
    model = get("hdp")
    fit = grow(model, CORPUS, 4, **RUN)
    assert np.array_equal(draws(fit), draws(grow(model, CORPUS, 4, **RUN)))
    assert not np.array_equal(draws(fit), draws(grow(model, CORPUS, 4, **RUN | {"seed": 5})))
    tree = sample(model, CORPUS, chains=2, tune=1, draws=2, start=fit)
    assert tree.attrs["start"].startswith("fit ")


def test_texts_are_a_corpus():
    texts = [["cat", "dog"], ["dog"], ["fish", "cat", "cat"], ["dog", "fish"]]
    fit = grow(get("hdp"), texts, 2, **RUN)
    assert corpus_of(fit).n_documents == 2
    sample(get("hdp"), texts, chains=2, tune=1, draws=1, start=fit)


def test_parts_have_random_numbers_of_their_own(parts_seen):
    grow(get("hdp"), CORPUS, 8, **RUN)
    grow(get("hdp"), CORPUS, 8, **RUN | {"seed": 5})
    assert len({options["seed"] for _, options in parts_seen} | {4, 5}) == 8


def test_a_run_that_is_stopped_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    model, folder = get("hdp"), tmp_path / "chains"
    whole = grow(model, CORPUS, 4, **RUN)
    told = []

    def report(number, done, total, note=""):
        told.append(done)
        if len(told) == 40:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(chain, "CHECKPOINT_SECONDS", 0.0)
    with pytest.raises(KeyboardInterrupt, match=f"before the first draw; .* resumed from {folder}$"):
        grow(model, CORPUS, 4, **RUN, checkpoint=folder, progress=report)
    assert {path.name for path in folder.iterdir()} == {"1-in-4"}
    resumed = grow(model, CORPUS, 4, **RUN, checkpoint=folder, resume=True)
    assert np.array_equal(draws(whole), draws(resumed))
    with pytest.raises(ValueError, match="holds the checkpoints of a run; resume it"):
        grow(model, CORPUS, 4, **RUN, checkpoint=folder)


def test_a_wish_to_stop_at_the_end_of_a_part_is_heard(parts_seen):
    def report(number, done, total, note=""):
        if number == 1 and done == total:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt, match="before the first draw"):
        grow(get("hdp"), CORPUS, 4, **RUN, workers=1, progress=report)
    assert len(parts_seen) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"parts": 1}, "grow: expected 2 to 11, the documents with tokens, found 1"),
        ({"parts": 12}, "grow: expected 2 to 11"),
        ({"sweeps": 0}, "sweeps: expected a whole number, 1 or more, found 0"),
        ({"seed": None}, "seed: expected a whole number, 0 to .*, found None"),
        ({"start": "two"}, "start: expected seated, one, documents"),
    ],
)
def test_what_it_cannot_do_is_one_line(arguments, message):
    with pytest.raises(ValueError, match=message):
        grow(get("hdp"), CORPUS, **{"parts": 4} | arguments)


def test_a_model_whose_chains_start_only_one_way():
    class Plain(type(get("hdp"))):
        start_at = Model.start_at

    with pytest.raises(ValueError, match="hdp: its chains start with tokens seated one after the other"):
        grow(Plain(), CORPUS, 4)

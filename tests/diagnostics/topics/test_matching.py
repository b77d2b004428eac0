"""Topics matched across draws and chains."""

import numpy as np
import pytest
from bnpzoo import Corpus, get, sample
from bnpzoo.diagnostics.topics import match_topics, topics
from bnpzoo.zoo.inference import ResultsError
from samplers import as_plain_python

AB_CD = [0] * 8 + [1] * 4
CD_AB = [1] * 8 + [0] * 4
A_B = [0, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 0]


def test_topics_under_other_numbers_are_found_again(corpus, fit_of):
    matched = match_topics(fit_of(corpus, [[AB_CD, CD_AB], [CD_AB, CD_AB]], n_topics=2))
    assert matched.assigned.tolist() == [AB_CD] * 4
    assert matched.sizes.tolist() == [[8, 4]] * 4
    assert matched.stability().tolist() == [1.0, 1.0]


def test_matching_knows_nothing_of_numbers(corpus, fit_of):
    rng = np.random.default_rng(0)
    z = rng.integers(3, size=(2, 3, corpus.n_tokens))
    renumbered = np.array([[rng.permutation(3)[draw] for draw in chain] for chain in z])
    a, b = (match_topics(fit_of(corpus, draws, n_topics=3)) for draws in (z, renumbered))
    same = (a.assigned[:, :, None] == a.assigned[:, None]).mean()
    assert same == (b.assigned[:, :, None] == b.assigned[:, None]).mean()
    assert np.array_equal(np.sort(a.sizes.mean(axis=0)), np.sort(b.sizes.mean(axis=0)))


def test_an_odd_chain_does_not_decide(corpus, fit_of):
    matched = match_topics(fit_of(corpus, [[A_B], [AB_CD], [CD_AB]], n_topics=2))
    assert matched.assigned[1:].tolist() == [AB_CD] * 2


def test_stability_is_what_chains_have_in_common(corpus, fit_of):
    """One chain has half of its topic's words elsewhere."""
    matched = match_topics(fit_of(corpus, [[AB_CD], [A_B]], n_topics=2))
    stability = np.sort(matched.stability())
    assert 0.0 < stability[0] < stability[1] < 1.0
    assert np.isnan(match_topics(fit_of(corpus, [[AB_CD]], n_topics=2)).stability()).all()


def test_empty_topics_of_a_fixed_number_are_matched(corpus, fit_of):
    matched = match_topics(fit_of(corpus, [[AB_CD, CD_AB]], n_topics=4))
    assert matched.n_topics == 4
    assert matched.found.all()
    assert topics(matched)["tokens"].tolist() == [8.0, 4.0, 0.0, 0.0]


def test_topics_of_an_open_number_need_not_have_a_match(corpus, fit_of):
    """A topic that shares less than half of the smaller one's tokens is another topic."""
    from bnpzoo.diagnostics.topics.matching import _Partition

    here = _Partition(np.array([0, 0, 0, 1, 1, 1]), 2)
    there = _Partition(np.array([0, 0, 0, 0, 0, 1]), 2)
    other = _Partition(np.array([1, 2, 0, 1, 2, 0]), 3)
    assert here.labels_of(there, is_fixed=False).tolist() == [0, 1]
    assert np.sum(here.labels_of(other, is_fixed=False) >= 0) == 2
    small = _Partition(np.array([0, 1, 2, 0, 1, 2]), 3)
    assert _Partition(np.array([0] * 6), 1).labels_of(small, is_fixed=False).tolist() == [0, -1, -1]
    scattered = _Partition(np.arange(9) // 3, 3), _Partition(np.arange(9) % 3, 3)
    assert scattered[0].labels_of(scattered[1], is_fixed=False).tolist() == [-1, -1, -1]
    assert sorted(scattered[0].labels_of(scattered[1], is_fixed=True).tolist()) == [0, 1, 2]


def test_a_fit_without_kept_draws(corpus, fit_of):
    fit = fit_of(corpus, [[AB_CD]], n_topics=2)
    del fit["latents"]
    with pytest.raises(ResultsError, match="expected a fit with kept draws, found none"):
        match_topics(fit)


@as_plain_python
def test_topics_with_seeds_keep_their_numbers():
    corpus, n_topics = Corpus.from_texts([["a", "b"] * 4, ["c", "d"] * 6, ["e", "f"] * 9] * 3), 4
    seeds = [["c"], [], ["a"]]
    model = get("lda", topics="seeded", n_topics=n_topics, seeds=seeds, alpha=0.1, eta=0.1)
    matched = match_topics(sample(model, corpus, chains=2, tune=30, draws=20, seed=1))
    assert all(labels[0] == 0 and labels[2] == 2 for labels in matched.labels)
    assert all(sorted(labels) == [0, 1, 2, 3] for labels in matched.labels)
    sizes = matched.sizes.mean(axis=0)
    assert sizes[1] >= sizes[3]

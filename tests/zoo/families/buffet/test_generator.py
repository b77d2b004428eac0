"""Generators whose documents are as long as the weights of their topics make them."""

from collections import Counter

import numpy as np
import pytest
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.families.buffet import generator
from bnpzoo.zoo.models import get
from scipy.special import gammaln
from scipy.stats import chisquare, kstest

FALSE_ALARM_RATE = 1e-5
GROUP = np.array([0, 0, 1])
MODELS = [
    ("focused", {"alpha": 0.8, "gamma": 0.6}),
    ("sparse_transfer", {"alpha": 0.8, "epsilon": 0.7, "a1": 1.0, "a2": 0.6, "lengths": "task"}),
    ("sparse_transfer", {"alpha": 0.8, "epsilon": 0.7, "a1": 1.0, "a2": 0.6, "lengths": "document"}),
]


def left_out(model, lengths):
    """Factors of the lengths alone, which `log_marginal` leaves out."""
    if model.card.id == "focused":
        return 0.0
    of_documents = -np.sum(gammaln(lengths + 1.0))
    if model.lengths == "task":  # and each token of a task falls to one of its documents, all alike
        return of_documents - np.sum(lengths * np.log(2.0)) - lengths[:2].sum() * np.log(2.0)
    return of_documents - np.sum(lengths * np.log(2.0))


def cells_of(model):
    """Probabilities of all lengths and partitions of at most two tokens."""
    hyper = {"alpha": np.array(model.alpha), "eta": np.array(0.5)}
    hyper |= {"gamma": np.array(model.gamma)} if model.card.id == "focused" else {}
    cells = {}
    for lengths in np.ndindex(3, 3, 3):
        if sum(lengths) <= 2:
            corpus = Corpus(
                np.zeros(sum(lengths), int), np.append(0, np.cumsum(lengths)), n_words=1, group=GROUP
            )
            for z in model.assignments(corpus):
                log_p = model.log_marginal(z, corpus, hyper) + left_out(model, np.array(lengths))
                cells[lengths, tuple(z)] = float(np.exp(log_p))
    return cells


@pytest.mark.parametrize(("model_id", "hyper"), MODELS)
def test_lengths_and_topics_are_drawn_from_the_joint(model_id, hyper):
    model, rng, n = get(model_id, **hyper, eta=0.5), np.random.default_rng(0), 2000
    found = Counter()
    for _ in range(n):
        latents, corpus = model.simulate_lengths(Design(np.zeros(3), 1, GROUP), rng)
        found[tuple(corpus.doc_lengths.tolist()), tuple(latents["z"].tolist())] += 1

    def p_value(cells):
        counts = np.array([found[cell] for cell in cells])
        expected = n * np.array(list(cells.values()))
        return chisquare(np.append(counts, n - counts.sum()), np.append(expected, n - expected.sum())).pvalue

    assert p_value(cells_of(model)) > FALSE_ALARM_RATE
    assert p_value(cells_of(get(model_id, **hyper | {"alpha": 1.2}, eta=0.5))) < FALSE_ALARM_RATE


def test_lengths_that_are_given_are_kept():
    design = Design(np.array([3, 0, 2]), 4, GROUP)
    for model in (get("mt_hdp"), get("sparse_transfer", lengths="none")):
        assert model.simulate_lengths(design, np.random.default_rng(0)).corpus.doc_lengths.tolist() == [
            3,
            0,
            2,
        ]


def test_sticks_of_a_buffet_at_epsilon_one_are_beta():
    _, mask, stick = generator.draw_topics(np.full(2000, 1.5), 4, 1.0, np.random.default_rng(0))
    alone = mask[:, 3] & (mask.sum(axis=1) == 1)  # nobody before the fourth row: pi ~ Beta(1, 4)
    assert kstest(stick[alone], lambda x: 1.0 - (1.0 - x) ** 4).pvalue > FALSE_ALARM_RATE
    assert kstest(stick[alone], lambda x: 1.0 - (1.0 - x) ** 3).pvalue < FALSE_ALARM_RATE


@pytest.mark.parametrize("model_id", ["focused", "sparse_transfer"])
@pytest.mark.parametrize("n_documents", [100, 300])
def test_hopeless_lengths_are_given_up_early_and_in_small_batches(model_id, n_documents, monkeypatch):
    drawn = []

    def recorded(alpha, n_tasks, epsilon, rng):
        owner, mask, stick = draw(alpha, n_tasks, epsilon, rng)
        drawn.append((alpha.size, mask.size))
        return owner, mask, stick

    draw = generator.draw_topics
    monkeypatch.setattr(f"bnpzoo.zoo.models.{model_id}.draw_topics", recorded)
    design = Design(np.full(n_documents, 50), 20, np.arange(n_documents) % 3)
    with pytest.raises(ValueError, match=rf"^{model_id}: none of .* simulate_lengths"):
        get(model_id).simulate(design, np.random.default_rng(0))
    n, numbers = np.transpose(drawn)
    assert n.sum() < 5000
    assert numbers.max() < 1.5 * generator.LARGEST_ARRAY


def test_lengths_that_are_rarely_possible_are_not_given_up():
    """Every task needs a topic: one draw in 6000 has one for all, and it is accepted."""
    model = get("sparse_transfer", alpha=5e-4, epsilon=1.0, lengths="none")
    design = Design(np.array([1, 2, 1]), 4, np.arange(3))
    assert (
        (model.simulate(design, np.random.default_rng(0)).latents["log_weight"] > -np.inf).any(axis=1).all()
    )

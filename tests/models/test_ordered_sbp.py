"""Ordered stick-breaking: the law of one sentence, what it is a case of, order of words, new documents."""

from itertools import product
from math import lgamma

import numpy as np
import pytest
from bnpzoo.zoo.contract import Design, FrozenTopics, Probes
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.families.segments.predictive import SegmentsPredictive
from bnpzoo.zoo.models import get
from bnpzoo.zoo.toolbox.laws import log_sequences
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import gammaln, logsumexp

HYPER = {"a": 1.7, "b": 0.8, "kappa": 0.4, "eta": 0.5}
CORPUS = Corpus([0, 0, 1, 2, 0], [0, 3, 3, 5], n_words=3, segment_ptr=[0, 2, 3, 5])


def made(**arguments):
    return get("ordered_sbp", n_topics=2, **HYPER | arguments)


def test_a_document_is_one_sentence_whatever_the_corpus_says():
    for corpus in (CORPUS, Corpus(CORPUS.words, CORPUS.doc_ptr, n_words=3)):
        seats = made().seats(Design.of(corpus))
        assert_array_equal(seats.sentence, [0, 0, 0, 1, 1])
        assert_array_equal(seats.time, [0, 1, 2, 0, 1])


def test_it_is_the_weight_agnostic_process_of_one_sentence_at_any_zeta():
    one = Corpus([0, 0, 1, 2, 0], [0, 5], n_words=3, segment_ptr=[0, 5])
    latents = {"z": np.array([0, 1, 1, 0, 0]), "dish": np.array([0, 1, 0, 2, 1])} | HYPER
    for zeta in (0.2, 1.0, 7.0):
        was = get("was", n_topics=2, zeta=zeta, **HYPER)
        expected = was.log_joint(latents | {"zeta": zeta}, one)
        assert made().log_joint(latents, one) == pytest.approx(expected, abs=1e-12)


def test_law_by_hand_and_its_sum():
    """The second of two tokens stays with probability a / (a + b); what is opened is no success."""
    seats = made().seats(Design(np.array([3]), 3))
    dishes, log_p = made().dish_laws(seats, HYPER)
    found = dict(zip(map(tuple, dishes.tolist()), np.exp(log_p), strict=True))
    v, w = 1.7 / 2.5, 1.7 / 3.5  # means of the stick, at first and when it was passed once
    expected = {
        (0, 0, 0): v * 2.7 / 3.5,
        (0, 0, 1): v * 0.8 / 3.5,
        (0, 1, 0): (1 - v) * w,
        (0, 1, 1): (1 - v) * (1 - w) * v,
        (0, 1, 2): (1 - v) * (1 - w) * (1 - v),
    }
    assert found == pytest.approx(expected, abs=1e-12)


def test_at_a_of_one_it_is_a_chinese_restaurant_and_else_order_matters():
    seats = made().seats(Design(np.array([6]), 3))
    dishes, log_p = made(a=1.0).dish_laws(seats, HYPER | {"a": 1.0})
    sizes = [np.bincount(row) for row in dishes]
    crp = [n.size * np.log(0.8) + gammaln(n).sum() + lgamma(0.8) - lgamma(6.8) for n in sizes]
    assert_allclose(log_p, crp, atol=1e-12)
    _, log_p = made().dish_laws(seats, HYPER)
    law = dict(zip(map(tuple, dishes.tolist()), log_p, strict=True))
    assert abs(law[0, 1, 1, 1, 1, 1] - law[0, 0, 0, 0, 0, 1]) > 0.1


def test_predictive_is_a_ratio_of_the_joint():
    model = made()
    latents = {"z": np.array([0, 1, 1, 0, 0]), "dish": np.array([0, 1, 0, 0, 1])}
    latents |= model.draw_hyperparameters(Design.of(CORPUS), np.random.default_rng(0))
    cells, found = Probes.of(CORPUS).cells, model.quantities(latents, CORPUS)["predictive"]
    now = model.log_joint(latents, CORPUS)
    for (d, w), expected in zip(cells, found, strict=True):
        end = int(CORPUS.doc_ptr[d + 1])
        longer = Corpus(np.insert(CORPUS.words, end, w), CORPUS.doc_ptr + (np.arange(4) > d), n_words=3)
        n_dishes = latents["dish"][CORPUS.doc_ptr[d] : end].max(initial=-1) + 1
        joint = [
            model.log_joint(
                latents | {"z": np.insert(latents["z"], end, k), "dish": np.insert(latents["dish"], end, c)},
                longer,
            )
            for k, c in product(range(2), range(n_dishes + 1))
        ]
        assert expected == pytest.approx(np.exp(logsumexp(joint) - now), rel=1e-12)


@pytest.mark.slow
def test_new_documents_are_scored_without_bias_and_go_on():
    """Mean of estimates over exact probabilities; six standard errors, a false alarm in 5e8."""
    phi, model = np.random.default_rng(0).dirichlet(np.ones(3), 2), made()
    words = np.array([0, 1, 1, 2, 0])

    def exact(n):
        dishes, log_p = model.dish_laws(model.seats(Design(np.array([n]), 3)), HYPER)
        return logsumexp(
            [
                p + np.log(phi[list(z), words[:n]]).sum() + log_sequences(row, np.array(z), np.full(2, 0.4))
                for row, p in zip(dishes, log_p, strict=True)
                for z in product(range(2), repeat=n)
            ]
        )

    law, rng = model.law_of_new(HYPER), np.random.default_rng(0)
    predictive = SegmentsPredictive(FrozenTopics(phi, np.ones((1, 2))), law, model.seats, goes_on=True)
    corpus = Corpus(words, [0, 5], n_words=3)
    ratio = np.exp([predictive.log_documents(corpus, rng, particles=4)[0] for _ in range(4000)] - exact(5))
    assert abs(ratio.mean() - 1.0) < 6.0 * ratio.std() / np.sqrt(ratio.size)
    observed, rest = Corpus(words[:4], [0, 4], n_words=3), Corpus(words[4:], [0, 1], n_words=3)
    completed = predictive.log_completion(observed, rest, rng, burn_in=0, sweeps=20_000)
    assert completed == pytest.approx(exact(5) - exact(4), abs=0.02)
    assert made().predictive({"z": words % 2, "dish": words * 0} | HYPER, corpus).goes_on

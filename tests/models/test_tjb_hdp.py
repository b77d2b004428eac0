"""Hierarchical Dirichlet process of sentences: the law by hand, its limits."""

import numpy as np
import pytest
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.models import get
from bnpzoo.zoo.toolbox.enumeration import log_stirling
from scipy.special import gammaln, logsumexp

HYPER = {"alpha": 1.3, "gamma": 0.7, "kappa": 0.4, "eta": 0.5}
CORPUS = Corpus([0] * 6, [0, 6], n_words=1, segment_ptr=[0, 3, 5, 6])


def test_law_of_dishes_sums_over_numbers_of_tables():
    """By Stirling numbers: how many ways there are for n tokens to sit at m tables (Antoniak 1974)."""
    model = get("tjb_hdp", n_topics=2, **HYPER)
    seats = model.seats(Design.of(CORPUS))
    dishes, log_p = model.dish_laws(seats, HYPER)
    assert len(dishes) == 203
    log_s = log_stirling(3)

    def by_numbers(row):
        n_dishes = row.max() + 1
        n = np.zeros((3, n_dishes), int)
        np.add.at(n, (seats.sentence, row), 1)
        terms = []
        for m in np.ndindex(*(n + 1).ravel()):
            m = np.reshape(m, n.shape)
            served = m.sum(axis=0)
            if np.any((m > 0) != (n > 0)):
                continue
            at_tables = log_s[n, m].sum() + m.sum() * np.log(0.7)
            at_tables += np.sum(gammaln(0.7) - gammaln(0.7 + n.sum(axis=1)))
            of_dishes = n_dishes * np.log(1.3) + gammaln(1.3) - gammaln(1.3 + m.sum()) + gammaln(served).sum()
            terms.append(at_tables + of_dishes)
        return logsumexp(terms)

    for row, found in zip(dishes[::9], log_p[::9], strict=True):
        assert found == pytest.approx(by_numbers(row), abs=1e-12)


def test_a_large_gamma_is_one_restaurant_and_a_small_one_one_dish_a_sentence():
    seats = get("tjb_hdp").seats(Design.of(CORPUS))
    loose = get("tjb_hdp", **HYPER | {"gamma": 1e9})
    dishes, log_p = loose.dish_laws(seats, HYPER | {"gamma": 1e9})
    sizes = [np.bincount(row) for row in dishes]
    crp = [len(n) * np.log(1.3) + gammaln(n).sum() + gammaln(1.3) - gammaln(7.3) for n in sizes]
    np.testing.assert_allclose(np.exp(log_p), np.exp(crp), atol=1e-7)
    dishes, log_p = loose.dish_laws(seats, HYPER | {"gamma": 1e-9})
    mixed = (dishes[:, 0] != dishes[:, 1]) | (dishes[:, 1] != dishes[:, 2]) | (dishes[:, 3] != dishes[:, 4])
    assert np.exp(log_p)[mixed].sum() < 1e-7

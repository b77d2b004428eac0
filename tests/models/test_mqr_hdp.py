"""Shared and own dishes of sentences: the law by hand, its limits."""

import numpy as np
import pytest
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.models import get
from scipy.special import gammaln

HYPER = {"alpha": 1.3, "epsilon": 0.6, "kappa": 0.4, "eta": 0.5}
CORPUS = Corpus([0] * 5, [0, 5], n_words=1, segment_ptr=[0, 3, 4, 5])


def test_law_by_hand():
    """Two tokens of a sentence have one dish with probability (e^2 + (1 - e)^2) / (1 + alpha)."""
    model = get("mqr_hdp", **HYPER)
    for ends, both in (([0, 2], 0.6**2 + 0.4**2), ([0, 1, 2], 0.6**2)):
        seats = model.seats(Design.of(Corpus([0, 0], [0, 2], segment_ptr=ends)))
        dishes, log_p = model.dish_laws(seats, HYPER)
        assert dishes.tolist() == [[0, 0], [0, 1]]
        assert np.exp(log_p[0]) == pytest.approx(both / 2.3, rel=1e-12)
        assert np.exp(log_p).sum() == pytest.approx(1.0, rel=1e-12)


def test_all_shared_is_one_restaurant_and_none_shared_one_a_sentence():
    model = get("mqr_hdp", **HYPER)
    seats = model.seats(Design.of(CORPUS))
    dishes, log_p = model.dish_laws(seats, HYPER | {"epsilon": 1.0 - 1e-12})
    sizes = [np.bincount(row) for row in dishes]
    crp = [len(n) * np.log(1.3) + gammaln(n).sum() + gammaln(1.3) - gammaln(6.3) for n in sizes]
    np.testing.assert_allclose(np.exp(log_p), np.exp(crp), atol=1e-10)
    dishes, log_p = model.dish_laws(seats, HYPER | {"epsilon": 1e-12})
    apart = (dishes[:, 4] > dishes[:, :4].max(axis=1)) & (dishes[:, 3] > dishes[:, :3].max(axis=1))
    assert np.exp(log_p)[apart].sum() == pytest.approx(1.0, abs=1e-10)

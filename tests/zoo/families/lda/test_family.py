"""What models of a fixed number of topics share."""

import numpy as np
from bnpzoo.zoo.families.lda.family import FiniteFamily
from bnpzoo.zoo.models import get


def test_all_documents_may_have_all_topics():
    model = get("lda", n_topics=3)
    assert isinstance(model, FiniteFamily)
    np.testing.assert_array_equal(model.prior_of(np.array([0.5, 0.2])), [[0.5] * 3, [0.2] * 3])


def test_topics_that_a_group_may_not_have_weigh_nothing(monkeypatch):
    model = get("group_lda", n_topics=3)
    own = np.array([[True, False, True], [False, True, True]])
    monkeypatch.setattr(type(model), "may_have", lambda self, n_groups: own[:n_groups])
    np.testing.assert_array_equal(model.prior_of(np.array([0.5, 0.2])), [[0.5, 0.0, 0.5], [0.0, 0.2, 0.2]])

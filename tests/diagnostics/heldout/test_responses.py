"""Responses of new documents."""

import numpy as np
import pytest
from bnpzoo import Corpus, get, sample
from bnpzoo.diagnostics.heldout.labels import NO_VALUE, OTHER_VALUE
from bnpzoo.diagnostics.heldout.responses import predict_response


def of_kinds(kinds):
    return Corpus(np.tile([0, 0, 1, 1], len(kinds)), 4 * np.arange(len(kinds) + 1), ["a", "b"],
                  covariates={"kind": np.array(kinds)})  # fmt: skip


@pytest.mark.parametrize("name", ["kind", "kind:category"])
def test_a_gap_is_no_category_that_the_fit_does_not_know(name):
    fit = sample(
        get("slda", n_topics=2, response=name), of_kinds(["x", "y", "x"]), chains=1, tune=2, draws=2, keep=1
    )
    for asked in (name, "kind"):  # the form may be left out where there is one
        found = predict_response(fit, of_kinds(["x", "y", "", "z"]), asked)
        assert found.truth.tolist() == [0, 1, NO_VALUE, OTHER_VALUE]

"""Scores by every method that applies."""

import numpy as np
import pytest
from bnpzoo import get, sample
from bnpzoo.diagnostics.heldout.usual import all_scores
from bnpzoo.zoo.contract import Design

TOLD = {"lda": "", "slda": "", "dmr": ", labels not used"} | dict.fromkeys(
    ("sbp", "was", "icd", "gbn", "bgg"), ", as of Dirichlet documents"
)


@pytest.mark.parametrize("name", TOLD)
def test_a_likelihood_of_simpler_documents_says_so(name):
    """It is of another law than the score from the left to the right, and not another estimate of it."""
    design = Design(np.full(6, 4), 3, group=np.arange(6) % 2, segment_ptr=np.arange(0, 25, 2))
    model = get(name).set_to("prior")
    corpus = model.simulate(design, np.random.default_rng(1)).corpus
    fit = sample(model, corpus, chains=1, tune=2, draws=2, keep=2)
    *_, left_to_right, simulated = (score.method for score in all_scores(fit, corpus))
    assert (left_to_right, simulated) == ("left to right", f"empirical likelihood{TOLD[name]}")

"""Fits are what ArviZ takes: its summary and its pictures, of quantities on any axes."""

import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pytest
from bnpzoo import Corpus, get, sample

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.filterwarnings("ignore"),  # of ArviZ, that there are few draws
]

RNG = np.random.default_rng(0)
CORPUS = Corpus(
    RNG.integers(6, size=60),
    np.arange(0, 61, 6),
    n_words=6,
    covariates={"mood": ["good", "bad"] * 5, "score": RNG.normal(size=10)},
)
FITS = {
    "lda": {"n_topics": 3},
    "labeled_lda": {"labels": "mood"},
    "slda": {"response": "mood", "n_topics": 2},  # none is a number, so that noise_precision has no entry
}


@pytest.fixture(scope="module", params=FITS)
def fit(request):
    return sample(get(request.param, **FITS[request.param]), CORPUS, chains=2, tune=3, draws=8, seed=1)


def test_summary_has_a_row_for_each_quantity(fit):
    n_quantities = sum(values[0, 0].size for values in fit["posterior"].data_vars.values())
    assert len(az.summary(fit)) == n_quantities


@pytest.mark.parametrize("name", ["plot_trace_dist", "plot_forest", "plot_rank", "plot_ess"])
def test_pictures_are_drawn(fit, name):
    getattr(az, name)(fit, backend="matplotlib")
    plt.close("all")

"""The fourth version of a model against its references, without Monte Carlo error.

The density of a NumPyro program at its continuous parameters equals the sum, over all topics z of the tokens
of a micro corpus, of the model's density of z times the laws of these parameters given z. A reference makes
Dirichlet variables of gamma variates, and these of two variables each; what is left, given the Dirichlet
variables, does not depend on z, save in a scaling process, whose bridge stands at some u. Sticks that are cut
off have the reference's own density, which is tested by itself, and so have Pitman-Yor topics. `test_stan.py`
compares the Stan programs with those of NumPyro.
"""

import jax
import numpy as np
import pytest
from bnpzoo.zoo.contract import Design
from bridge_laws import comparisons
from bridge_points import visited
from bridge_toolbox import corpus_of
from bridges import bridge
from scipy import stats
from spelled_out import WITH_REFERENCE

DRAWS = 400


@pytest.mark.parametrize("name", WITH_REFERENCE)
def test_reference_is_the_sum_over_all_topics(name):
    model, points = visited(name)
    with jax.enable_x64(True):
        for values, density, sites in points:
            assert density == pytest.approx(bridge(model, values, sites), rel=1e-10)


@pytest.mark.parametrize("name", WITH_REFERENCE)
def test_latents_are_drawn_given_the_parameters(name):
    """With a false alarm rate of 1e-5 a model, were the seed not fixed."""
    model, points = visited(name)
    corpus = corpus_of(model)
    draw = {key: points[-1][2][key]["value"] for key in model.reference.parameters}
    rng = np.random.default_rng(12)
    drawn = [model.reference.latents(draw, corpus, rng) for _ in range(DRAWS)]
    compared = comparisons(model, draw, drawn)
    n_tests = sum(expected.size for _, expected in compared)
    for found, expected in compared:
        for count, chance in zip(found, expected, strict=True):
            assert stats.binomtest(int(count), DRAWS, min(chance, 1.0)).pvalue > 1e-5 / n_tests
    for one in drawn[:20]:
        assert one.keys() == model.simulate(Design.of(corpus), rng).latents.keys()
        assert np.isfinite(model.log_joint(one, corpus))
        for hyper in model.hyperparameters().keys() & draw.keys():
            assert np.isin(one[hyper], draw[hyper]).all()
        for shares in one.keys() & {"root", "tasks"}:
            np.testing.assert_allclose(np.sum(one[shares], axis=-1), 1.0, rtol=1e-12)

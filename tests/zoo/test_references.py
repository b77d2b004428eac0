"""The NumPyro references: their blocks, their posterior on a micro corpus, and their back end."""

from functools import cache

import bnpzoo
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bnpzoo.zoo.contract import Gamma
from bnpzoo.zoo.inference import nuts
from bnpzoo.zoo.toolbox import blocks
from bnpzoo.zoo.toolbox.stan_data import stan_counts, stan_priors
from numpyro import handlers
from samplers import HEAVY_COMPILED
from scipy.stats import loggamma

FIXED = {
    "lda": {"alpha": 0.4, "eta": 0.5},
    "hdp": {"gamma": 1.3, "alpha": 0.7, "eta": 0.5},
    "mt_hdp": {"gamma": 1.3, "alpha0": 0.8, "alpha": 0.7, "eta": 0.5},
}
ALARM = 5.0
"""Standard errors: with the normal law, a false alarm in any of 45 comparisons has probability 3e-5."""

of_each_model = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=HEAVY_COMPILED) if name == "mt_hdp" else name for name in FIXED]
)


def make(name):
    return bnpzoo.get(name, **FIXED[name], **({"n_topics": 2} if name == "lda" else {}))


@pytest.fixture
def double():
    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="module")
def run_of(micro):
    """NUTS by a model's name, each once."""
    return cache(lambda name: nuts.run(make(name), micro, 2, 2, 500, 1000, 1))


@pytest.mark.parametrize("gamma", [0.6, 1.0, 2.5])
def test_stick_weights_are_the_sticks_in_random_order(double, gamma):
    axis = np.linspace(-40, 80, 1201)
    y = np.stack(np.meshgrid(axis, axis, indexing="ij"), -1).reshape(-1, 2)
    law = blocks.StickWeights(jnp.asarray(gamma), 2)
    mass = np.exp(jax.vmap(law.log_prob)(jnp.asarray(y))) * (axis[1] - axis[0]) ** 2
    first = np.asarray(jax.nn.softmax(jnp.asarray(y)))[:, 0]
    # v or 1 - v, for v ~ Beta(1, gamma)
    mean, variance = 1 / (1 + gamma), gamma / ((1 + gamma) ** 2 * (2 + gamma))
    second_moment = (mean**2 + variance + (1 - mean) ** 2 + variance) / 2
    np.testing.assert_allclose(mass.sum(), 1.0, rtol=1e-6)
    np.testing.assert_allclose(mass @ first, 0.5, rtol=1e-6)
    np.testing.assert_allclose(mass @ first**2, second_moment, rtol=1e-6)


def test_stick_weights_are_drawn_from_their_density(double):
    # E[f / p] over draws is the volume that f fills, for a density f inside the support: here a normal's, 1.
    law = blocks.StickWeights(jnp.asarray(1.5), 3)
    y = law.sample(jax.random.key(0), (200, 200)).reshape(-1, 3)
    log_normal = jnp.sum(-0.5 * ((y - 1.0) / 0.7) ** 2 - np.log(0.7 * np.sqrt(2 * np.pi)), -1)
    ratio = np.exp(log_normal - jax.vmap(law.log_prob)(y))
    error = ratio.std() / np.sqrt(ratio.size)
    assert error < 0.02
    assert abs(ratio.mean() - 1.0) < ALARM * error


def test_log_gamma_has_the_density_of_scipy(double):
    value, shape = np.array([-30.0, -1.0, 0.5, 2.0]), np.array([0.05, 1.0, 1.3, 4.0])
    np.testing.assert_allclose(
        blocks.LogGamma(jnp.asarray(shape)).log_prob(jnp.asarray(value)),
        loggamma(shape).logpdf(value),
        rtol=1e-12,
    )


@pytest.mark.parametrize("shape", [0.01, 3.0])
def test_log_dirichlet_has_dirichlet_moments(double, shape):
    def program():
        return blocks.log_dirichlet("theta", jnp.log(jnp.array([shape, 2 * shape])), (20_000, 2))

    first = np.exp(handlers.seed(program, jax.random.key(1))())[:, 0]
    for power, exact in ((1, 1 / 3), (2, (shape + 1) / (3 * (3 * shape + 1)))):
        error = np.std(first**power) / np.sqrt(first.size)
        assert abs(np.mean(first**power) - exact) < ALARM * error


def test_log_dirichlet_survives_shapes_that_underflow(double):
    def weights(log_shape):
        program = handlers.seed(lambda: blocks.log_dirichlet("theta", log_shape, (1, 3)), jax.random.key(0))
        return program()[0, 1]

    value, slope = jax.value_and_grad(weights)(jnp.array([-1e6, 0.0, -400.0]))
    assert value == 0.0
    assert np.isfinite(slope).all()


@of_each_model
@pytest.mark.slow
def test_posterior_equals_enumeration(name, deviations, run_of):
    found = deviations(name, run_of(name)["draws"], **FIXED[name])
    assert np.abs(found).max() < ALARM


@of_each_model
@pytest.mark.parametrize("change", [{"alpha": 3.0}, {"eta": 0.1}])
def test_enumeration_rejects_another_model(name, change, deviations, run_of):
    found = deviations(name, run_of(name)["draws"], **FIXED[name] | change)
    assert np.abs(found).max() > ALARM


@of_each_model
def test_sites_have_the_shapes_and_sums_they_promise(name, run_of):
    draws = run_of(name)["draws"]
    assert set(draws) == set(make(name).reference.parameters)
    sizes = {"theta": (3, 2), "phi": (2, 3), "root": (2,), "tasks": (2, 2)}
    for site, shape in sizes.items():
        if site in draws:
            assert draws[site].shape == (2, 1000, *shape)
            np.testing.assert_allclose(draws[site].sum(-1), 1.0, rtol=1e-12)
    assert (draws["eta"] == FIXED[name]["eta"]).all()
    assert draws["alpha"].shape == (2, 1000, *{"lda": (1,), "hdp": (), "mt_hdp": (2,)}[name])


def test_run_repeats_to_the_last_bit_and_leaves_jax_in_single_precision(micro, run_of):
    again = nuts.run(make("lda"), micro, 2, 2, 500, 1000, 1)
    assert all((again["draws"][name] == run_of("lda")["draws"][name]).all() for name in again["draws"])
    assert jnp.ones(1).dtype == jnp.float32


@pytest.mark.slow
def test_run_with_sampled_hyperparameters(micro):
    model = bnpzoo.get("mt_hdp", gamma=Gamma(2, 2), alpha0=Gamma(2, 2), alpha=Gamma(2, 2), eta=Gamma(2, 2))
    seen = []
    result = nuts.run(model, micro, 3, 2, 20, 10, 4, lambda *report: seen.append(report))
    assert result["draws"]["alpha"].shape == (2, 10, 2)
    assert all(np.unique(result["draws"][name]).size > 10 for name in ("gamma", "alpha0", "alpha", "eta"))
    assert result["draws"]["phi"].dtype == np.float64
    assert {name: (values.shape, values.dtype.kind) for name, values in result["stats"].items()} == {
        "diverging": ((2, 10), "b"), "n_steps": ((2, 10), "i"), "acceptance_rate": ((2, 10), "f"),
    }  # fmt: skip
    assert result["seconds"].shape == (2,)
    assert result["compile_seconds"] > 0
    assert seen[:2] == [(0, 0, 30, "compiling"), (1, 0, 30, "compiling")]
    assert seen[-2:] == [(0, 30, 30, ""), (1, 30, 30, "")]


def test_stan_is_told_of_fixed_and_of_sampled_hyperparameters(micro):
    model = bnpzoo.get("hdp", gamma=2.0, alpha=Gamma(3.0, 4.0), eta=0.1)
    assert stan_priors(model) == {
        "gamma_is_random": 0, "gamma_given": [2.0],
        "alpha_is_random": 1, "alpha_given": [3.0, 4.0],
        "eta_is_random": 0, "eta_given": [0.1],
    }  # fmt: skip
    assert stan_counts(micro)["counts"].tolist() == [[2, 1, 0], [0, 1, 0], [0, 0, 2]]

"""A NumPyro program as a subject: a normal mean, whose posterior is known."""

from functools import partial
from itertools import islice

import numpy as np
import numpyro
import pytest
from bnpzoo.diagnostics.laboratory.programs import NumpyroProgram
from bnpzoo.diagnostics.laboratory.sbc import sbc
from numpyro import distributions as dist
from scipy import stats


def right(n, y=None):
    mu = numpyro.sample("mu", dist.Normal(0.0, 1.0))
    with numpyro.plate("data", n):
        numpyro.sample("y", dist.Normal(mu, 1.0), obs=y)


def wrong(n, y=None):
    mu = numpyro.sample("mu", dist.Normal(0.0, 1.0))
    with numpyro.plate("data", n):
        numpyro.sample("y", dist.Normal(mu, 1.0 if y is None else 0.3), obs=y)


def subject(program):
    return NumpyroProgram(program, ["y"], {"n": 3}, tune=100)


def test_what_it_draws_and_measures():
    own, rng = subject(right), np.random.default_rng(0)
    latents = own.draw_latents(rng)
    data = own.draw_data(rng, latents)
    assert latents.keys() == {"mu"}
    assert data["y"].shape == (3,)
    expected = stats.norm.logpdf(latents["mu"]) + stats.norm.logpdf(data["y"], latents["mu"]).sum()
    assert own.quantities(latents, data)["log_joint"] == pytest.approx(expected, rel=1e-5)


@pytest.mark.heavy
def test_its_chain_has_the_posterior_as_its_law():
    own, rng = subject(right), np.random.default_rng(0)
    y = {"y": np.array([1.0, 2.0, 0.0], np.float32)}
    draws = np.array([moved["mu"] for moved in islice(own.transitions(rng, None, y), 1000)])
    # The posterior is N(3/4, 1/4). 5 standard errors of a chain with at least 150 effective draws.
    assert abs(draws.mean() - 0.75) < 5 * 0.5 / np.sqrt(150)
    assert abs(draws.std() - 0.5) < 5 * 0.5 / np.sqrt(300)


def test_nuts_is_compiled_once():
    calls = []

    def counted(n, y=None):
        calls.append(n)
        right(n, y)

    own, y = NumpyroProgram(counted, "y", {"n": 3}, tune=10), {"y": np.zeros(3, np.float32)}
    chain = own.transitions(np.random.default_rng(0), None, y)
    next(chain)
    before = len(calls)
    next(islice(chain, 120, None))
    assert len(calls) == before


def usual(n, y=None):
    mu = numpyro.sample("mu", dist.Normal(0.0, 1.0))
    with numpyro.plate("data", n):
        numpyro.sample("obs", dist.Normal(mu, 1.0), obs=y)


def test_a_site_and_its_argument_may_have_different_names():
    own, rng = NumpyroProgram(usual, {"obs": "y"}, {"n": 3}, tune=10), np.random.default_rng(0)
    latents = own.draw_latents(rng)
    data = own.draw_data(rng, latents)
    assert latents.keys() == {"mu"}
    assert data.keys() == {"obs"}
    expected = stats.norm.logpdf(latents["mu"]) + stats.norm.logpdf(data["obs"], latents["mu"]).sum()
    assert own.quantities(latents, data)["log_joint"] == pytest.approx(expected, rel=1e-5)
    far = {"obs": np.full(3, 100.0, np.float32)}
    assert next(own.transitions(rng, None, far))["mu"] > 50.0


def needs_data(n, y):
    numpyro.sample("y", dist.Normal(n, 1.0), obs=y)


@pytest.mark.parametrize(
    ("program", "observed", "arguments", "message"),
    [
        (usual, "obs", {"n": 3}, r"usual: expected an argument 'obs' that is None .* arguments are n, y$"),
        (usual, {"obs": "x"}, {"n": 3}, "usual: expected an argument 'x' that is None by default"),
        (needs_data, "y", {"n": 3}, "needs_data: expected an argument 'y' that is None by default"),
        (usual, {"obs": "y"}, {}, "usual: expected a value of its argument 'n' among arguments"),
        (usual, {"obs": "y"}, {"m": 3}, "usual: has no argument 'm'"),
    ],
)
def test_a_program_whose_arguments_are_others(program, observed, arguments, message):
    with pytest.raises(ValueError, match=message):
        NumpyroProgram(program, observed, arguments)


def test_a_site_that_is_not_there():
    own = NumpyroProgram(right, {"x": "y"}, {"n": 3})
    with pytest.raises(ValueError, match="right: expected a site 'x', which is observed"):
        own.draw_latents(np.random.default_rng(0))


@pytest.mark.heavy
def test_calibration():
    """A false alarm has a probability of 1e-5; so much does the wrong program understate its errors."""
    verdicts = {p.__name__: sbc(subject(p), replications=60, draws=15, thin=2) for p in (right, wrong)}
    assert verdicts["right"].passed, verdicts["right"]
    assert verdicts["wrong"].status == "rejected", verdicts["wrong"]


def with_a_sum(n, y=None):
    mu = numpyro.sample("mu", dist.Normal(0.0, 1.0))
    total = numpyro.deterministic("total", 2.0 * mu)
    with numpyro.plate("data", n):
        numpyro.sample("y", dist.Normal(total, 1.0), obs=y)


def test_what_a_program_computes_is_no_latent():
    own, rng = NumpyroProgram(with_a_sum, ["y"], {"n": 3}, tune=10), np.random.default_rng(0)
    latents = own.draw_latents(rng)
    data = own.draw_data(rng, latents)
    assert latents.keys() == next(own.transitions(rng, latents, data)).keys() == {"mu"}
    assert sbc(own, replications=11, draws=3, thin=1).status == "passed"


def test_names_of_programs_and_of_sites():
    own = NumpyroProgram(partial(partial(right, n=3), y=None), "y")
    assert own.name == "right"
    assert own.observed == {"y": "y"}
    rng = np.random.default_rng(0)
    assert own.draw_data(rng, own.draw_latents(rng))["y"].shape == (3,)


def test_a_discrete_site_is_named():
    def mixture(y=None):
        z = numpyro.sample("z", dist.Bernoulli(0.5))
        numpyro.sample("y", dist.Normal(2.0 * z, 1.0), obs=y)

    verdict = sbc(NumpyroProgram(mixture, "y"), replications=20, draws=11)
    assert verdict.status == "broken"
    assert verdict.message.startswith("site 'z' of mixture is discrete")

"""The Stan programs against the NumPyro ones, and the back end that runs them."""

import json
import subprocess
import sys
import types
from pathlib import Path

import bnpzoo
import jax
import numpy as np
import pytest
from bnpzoo.zoo.families.buffet import reference
from bnpzoo.zoo.families.buffet.lengths import LENGTHS
from bnpzoo.zoo.inference import stan
from bnpzoo.zoo.models import combinations
from bnpzoo.zoo.toolbox.stan_data import stan_priors
from numpyro import handlers
from numpyro.infer import init_to_uniform
from numpyro.infer.util import potential_energy

LOG_DENSITIES = """
import json, sys, warnings
warnings.simplefilter("ignore")
import stan
job = json.load(open(sys.argv[1]))
posteriors = [stan.build(job["program"], data=data) for data in job["data"]]
log_densities = [[posterior.log_prob(point) for point in job["points"]] for posterior in posteriors]
json.dump(log_densities, open(sys.argv[2], "w"))
"""

BLOCKS = ("gamma", "alpha0", "alpha", "eta", "delta", "gamma0", "gamma1", "b", "a", "sticks", "log_sticks",
          "shape", "tasks_log_h", "tasks_x", "weight_log_h", "weight_x", "strength_log_h", "strength_x",
          "theta_log_h", "theta_x", "g_log_h", "g_x", "phi_log_h", "phi_x", "sigma_log_h", "sigma_x",
          "origin_log_h", "origin_x", "phi0_log_h", "phi0_x", "phi_stable")  # fmt: skip
"""Blocks of parameters in the order in which the Stan programs declare those that they have."""


def pystan_is_there():
    try:
        return stan.find_stan().name == "pystan"
    except stan.StanMissing:
        return False


needs_pystan = [pytest.mark.stan, pytest.mark.skipif(not pystan_is_there(), reason="needs PyStan and g++")]


def on_programs(names):
    return pytest.mark.parametrize("name", [pytest.param(name, marks=needs_pystan) for name in names])


MODELS = [f"{model_id}/{topics}".rstrip("/") for model_id, topics in combinations()] + ["lda/asymmetric"]


def make(name):
    """Model and topics by name."""
    model_id, _, form = name.partition("/")
    if form == "asymmetric":
        return bnpzoo.get(model_id, symmetric=False)
    return bnpzoo.get(model_id, topics=form or None)


def program_of(model):
    return stan.program_text(model.reference.stan_program, model.reference.stan_includes)


def model_of(name, purpose):
    """Model with a value or a prior of its own for each hyperparameter, so that no two can be swapped."""
    model = make(name).set_to(purpose)
    if purpose == "fixed":
        return model.replaced(**{"hpyp": {"b": -0.2}}.get(name, {}))
    priors = model.hyperparameters().items()
    return model.replaced(
        **{key: type(prior)(1.5 + 0.1 * i, 2.0 - 0.1 * i) for i, (key, prior) in enumerate(priors)}
    )


def references_of(model, corpus, truncation):
    """NumPyro programs of a model and the data of the same Stan programs, one pair for each of its forms."""
    if model.card.id != "sparse_transfer":
        return [(model.reference.numpyro(corpus, truncation), model.reference.stan_data(corpus, truncation))]
    out = []
    for lengths, weak_limit in (*((form, False) for form in LENGTHS), ("task", True)):
        made = model.replaced(lengths=lengths)
        own = {key: value for key, value in made.spelled().items() if key != "topics"}
        program = reference.sparse_transfer(corpus, truncation, **own, weak_limit=weak_limit)
        data = reference.sparse_transfer_data(
            corpus, truncation, made.epsilon, made.a1, made.a2, lengths, weak_limit
        )
        out.append((program, data | stan_priors(made)))
    return out


@pytest.mark.parametrize("purpose", ["prior", "fixed"])
@on_programs(MODELS)
def test_log_density_differs_from_numpyro_by_a_constant(name, purpose, micro, tmp_path):
    rng = np.random.default_rng(3)
    model = model_of(name, purpose)
    programs, data = zip(*references_of(model, micro, 3), strict=True)
    with jax.enable_x64(True):
        seeded = handlers.seed(programs[0], jax.random.key(0))
        trace = handlers.trace(handlers.substitute(seeded, substitute_fn=init_to_uniform)).get_trace()
        shapes = {
            site: np.shape(trace[site]["value"])
            for site in BLOCKS
            if site in trace and trace[site]["type"] == "sample"
        }
        # Far out as well, where the shapes of the second and third level fall towards the floor.
        points = [
            {site: scale * rng.normal(size=shape) for site, shape in shapes.items()}
            for scale in (0.3, 1.0, 1.0, 3.0)
        ]
        ours = np.array([[-potential_energy(p, (), {}, point) for point in points] for p in programs])
    data = [{key: np.asarray(value).tolist() for key, value in d.items()} for d in data]
    flat = [np.concatenate([np.ravel(block) for block in point.values()]).tolist() for point in points]
    job = {
        "program": program_of(model),
        "data": data,
        "points": flat,
    }
    (tmp_path / "job.json").write_text(json.dumps(job))
    command = [sys.executable, "-P", "-c", LOG_DENSITIES, tmp_path / "job.json", tmp_path / "out.json"]
    subprocess.run(command, check=True, capture_output=True)
    theirs = np.array(json.loads((tmp_path / "out.json").read_text()))
    assert np.isfinite(ours).all()
    theirs, ours = (np.diff(log_densities, axis=1) for log_densities in (theirs, ours))
    np.testing.assert_allclose(theirs, ours, rtol=1e-10, atol=1e-8)
    assert np.unique(ours, axis=0).shape == ours.shape  # no form stands in for another


FIXED = {
    "lda": {"alpha": 0.4, "eta": 0.5},
    "hdp": {"gamma": 1.3, "alpha": 0.7, "eta": 0.5},
    "mt_hdp": {"gamma": 1.3, "alpha0": 0.8, "alpha": 0.7, "eta": 0.5},
}


@on_programs(FIXED)
def test_posterior_equals_enumeration(name, micro, deviations):
    model = bnpzoo.get(name, **FIXED[name], **({"n_topics": 2} if name == "lda" else {}))
    seen = []
    result = stan.run(model, micro, 2, 2, 500, 1000, 1, lambda *report: seen.append(report))
    draws = result["draws"]
    # 5 standard errors: with the normal law, a false alarm in any of 45 comparisons has probability 3e-5.
    assert np.abs(deviations(name, draws, **FIXED[name])).max() < 5.0
    assert np.abs(deviations(name, draws, **FIXED[name] | {"alpha": 3.0})).max() > 5.0
    assert set(draws) == set(model.reference.parameters)
    sizes = {"theta": (3, 2), "phi": (2, 3), "root": (2,), "tasks": (2, 2)}
    for site in set(sizes) & set(draws):
        assert draws[site].shape == (2, 1000, *sizes[site])
        np.testing.assert_allclose(draws[site].sum(-1), 1.0, rtol=1e-12)
    assert draws["alpha"].shape == (2, 1000, *{"lda": (1,), "hdp": (), "mt_hdp": (2,)}[name])
    assert (draws["alpha"] == FIXED[name]["alpha"]).all()
    assert (draws["theta"][0] != draws["theta"][1]).any()
    assert {key: (values.shape, values.dtype.kind) for key, values in result["stats"].items()} == {
        "diverging": ((2, 1000), "b"), "n_steps": ((2, 1000), "i"), "acceptance_rate": ((2, 1000), "f"),
    }  # fmt: skip
    assert (result["seconds"] > 0).all()
    assert result["backend_version"].startswith("pystan ")
    assert seen[:2] == [(0, 0, 1500), (1, 0, 1500)]
    assert seen[-2:] == [(0, 1500, 1500), (1, 1500, 1500)]


@pytest.mark.parametrize("name", MODELS)
def test_program_text_has_its_includes_in_place(name):
    text = program_of(make(name))
    assert "#include" not in text
    assert "vector log_dirichlet_weights(" in text


def test_without_stan_the_error_names_both_ways_to_get_it(monkeypatch):
    monkeypatch.setattr(stan, "_cmdstan_version", lambda: None)
    monkeypatch.setattr(stan, "_installed", lambda distribution: None)
    with pytest.raises(stan.StanMissing, match=r"install_cmdstan.*pystan"):
        stan.find_stan()


def test_pystan_without_a_compiler_is_no_stan(monkeypatch):
    monkeypatch.setattr(stan, "_cmdstan_version", lambda: None)
    monkeypatch.setattr(stan, "_installed", lambda distribution: "3.14.0")
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(stan.StanMissing):
        stan.find_stan()


class FakeFit:
    """What CmdStanPy returns of two chains of three draws: variables by chain, statistics by draw."""

    time = ({"total": 1.5}, {"total": 2.5})

    def method_variables(self):
        by_draw = np.arange(6.0).reshape(3, 2)
        return {"divergent__": by_draw == 5, "n_leapfrog__": by_draw, "accept_stat__": by_draw / 10}

    def stan_variable(self, name):
        shape = {"theta": (3, 2), "phi": (2, 3), "root": (2,)}.get(name, ())
        return np.arange(6.0 * int(np.prod(shape))).reshape(6, *shape)


def test_cmdstan_is_preferred_and_returns_the_same_shapes(monkeypatch, micro, tmp_path):
    calls = {}

    class FakeModel:
        def __init__(self, stan_file):
            calls["source"] = Path(stan_file).read_text()

        def sample(self, **settings):
            calls["settings"] = settings
            return FakeFit()

    fake = types.SimpleNamespace(cmdstan_path=lambda: "/opt/cmdstan-2.39.0", CmdStanModel=FakeModel)
    monkeypatch.setitem(sys.modules, "cmdstanpy", fake)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    result = stan.run(bnpzoo.get("hdp", **FIXED["hdp"]), micro, 2, 2, 10, 3, 0)
    assert calls["source"] == stan.program_text("hdp", ("topics/dirichlet",))
    assert calls["settings"]["data"]["K"] == 2
    assert calls["settings"]["seed"] > 0
    assert result["backend_version"] == "cmdstan 2.39.0"
    assert result["draws"]["gamma"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert result["draws"]["phi"].shape == (2, 3, 2, 3)
    assert result["stats"]["n_steps"].tolist() == [[0, 2, 4], [1, 3, 5]]
    assert result["stats"]["diverging"].sum() == 1
    assert result["seconds"].tolist() == [1.5, 2.5]


def test_an_error_of_pystan_is_told_in_one_line(monkeypatch):
    monkeypatch.setattr(stan, "_listen", lambda command, report: ["Building...", "ValueError: Syntax error"])
    job = stan.Job("parameters {", {}, (), 1, 1, 1, 1)
    with pytest.raises(RuntimeError, match=r"^PyStan: ValueError: Syntax error$"):
        stan._run_pystan(job, lambda *report: None)

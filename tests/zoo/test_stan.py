"""The Stan programs against the NumPyro ones, on whatever Stan there is."""

import json
import re
import subprocess
import sys

import bnpzoo
import jax
import numpy as np
import pytest
from bnpzoo.zoo.families.buffet import reference
from bnpzoo.zoo.families.buffet.lengths import LENGTHS
from bnpzoo.zoo.inference import stan
from bnpzoo.zoo.inference.stan_engines import PyStan, engines
from bnpzoo.zoo.models import combinations
from bnpzoo.zoo.toolbox.stan_data import stan_priors
from numpyro import handlers
from numpyro.infer import init_to_uniform
from numpyro.infer.util import potential_energy

LOG_DENSITIES = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("stan_services", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
job = json.load(open(sys.argv[2]))
log_densities = [[module.log_prob(data, point, True) for point in job["points"]] for data in job["data"]]
json.dump(log_densities, open(sys.argv[3], "w"))
"""

BLOCKS = ("gamma", "alpha0", "alpha", "eta", "delta", "gamma0", "gamma1", "b", "a", "sticks", "log_sticks",
          "shape", "tasks_log_h", "tasks_x", "weight_log_h", "weight_x", "strength_log_h", "strength_x",
          "theta_log_h", "theta_x", "g_log_h", "g_x", "phi_log_h", "phi_x", "sigma_log_h", "sigma_x",
          "origin_log_h", "origin_x", "phi0_log_h", "phi0_x", "phi_stable")  # fmt: skip
"""Blocks of parameters in the order in which the Stan programs declare those that they have."""

ENGINES = [pytest.param(engine, id=engine.name) for engine in engines()]


def on_programs(names):
    """Each program on each Stan that is there."""

    def decorate(test):
        for marker in (pytest.mark.parametrize("engine", ENGINES), pytest.mark.parametrize("name", names)):
            test = marker(test)
        return pytest.mark.stan(test)

    return decorate


MODELS = [f"{model_id}/{topics}".rstrip("/") for model_id, topics in combinations()] + ["lda/asymmetric"]


def make(name):
    """Model and topics by name."""
    model_id, _, form = name.partition("/")
    if form == "asymmetric":
        return bnpzoo.get(model_id, symmetric=False)
    return bnpzoo.get(model_id, topics=form or None)


def text_of(model):
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


def points_of(program, name):
    """Unconstrained points, by block."""
    rng = np.random.default_rng(3)
    seeded = handlers.seed(program, jax.random.key(0))
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
    if name == "sparse_transfer":
        # Weights of e^-724, which JAX rounds to zero and Stan does not: no mask is empty for that.
        x = np.log(724.0) + np.broadcast_to(points[1]["shape"], shapes["weight_x"])
        points.append(points[1] | {"weight_log_h": np.zeros(shapes["weight_log_h"]), "weight_x": x})
    return points


def log_densities(engine, program, data, points, folder):
    """Log densities of unconstrained `points` by Stan, one row for each set of data."""
    compiled = engine.compile(program)
    if isinstance(engine, PyStan):
        (folder / "job.json").write_text(json.dumps({"data": data, "points": points}))
        script = [sys.executable, "-c", LOG_DENSITIES, compiled, folder / "job.json", folder / "out.json"]
        subprocess.run(script, check=True, capture_output=True)
        return np.array(json.loads((folder / "out.json").read_text()))

    def log_density(given, point):
        (folder / "data.json").write_text(json.dumps(given))
        (folder / "point.json").write_text(json.dumps({"params_r": point}))
        files = ["data", f"file={folder}/data.json", "output", f"file={folder}/out.csv", "sig_figs=18"]
        method = ["method=log_prob", f"unconstrained_params={folder}/point.json"]
        subprocess.run([compiled, *files, *method], check=True, capture_output=True)
        lines = [line for line in (folder / "out.csv").read_text().splitlines() if line[:1] not in ("#", "")]
        return float(lines[1].split(",")[0])

    return np.array([[log_density(given, point) for point in points] for given in data])


@pytest.mark.parametrize("purpose", ["prior", "fixed"])
@on_programs(MODELS)
def test_log_density_differs_from_numpyro_by_a_constant(name, engine, purpose, micro, tmp_path):
    model = model_of(name, purpose)
    programs, data = zip(*references_of(model, micro, 3), strict=True)
    with jax.enable_x64(True):
        points = points_of(programs[0], name)
        ours = np.array([[-potential_energy(p, (), {}, point) for point in points] for p in programs])
    data = [{key: np.asarray(value).tolist() for key, value in d.items()} for d in data]
    flat = [np.concatenate([np.ravel(block) for block in point.values()]).tolist() for point in points]
    text = text_of(model)
    theirs = log_densities(engine, text, data, flat, tmp_path)
    assert np.isfinite(ours).all()
    theirs, ours = (np.diff(values, axis=1) for values in (theirs, ours))
    np.testing.assert_allclose(theirs, ours, rtol=1e-10, atol=1e-8)
    assert np.unique(ours, axis=0).shape == ours.shape  # no form stands in for another


FIXED = {
    "lda": {"alpha": 0.4, "eta": 0.5},
    "hdp": {"gamma": 1.3, "alpha": 0.7, "eta": 0.5},
    "mt_hdp": {"gamma": 1.3, "alpha0": 0.8, "alpha": 0.7, "eta": 0.5},
}


@on_programs(FIXED)
def test_posterior_equals_enumeration(name, engine, micro, deviations, monkeypatch, tmp_path):
    monkeypatch.setattr(stan, "find_stan", lambda: engine)
    temporary = tmp_path / ("temporary" * 12)  # longer than the path of a socket may be
    temporary.mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    monkeypatch.chdir(tmp_path / "here")
    model = bnpzoo.get(name, **FIXED[name], **({"n_topics": 2} if name == "lda" else {}))
    result = stan.run(model, micro, 2, 2, 500, 1000, 1)
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
    assert result["backend_version"] == f"{engine.name} {engine.version}"
    assert not list((tmp_path / "here").iterdir())
    assert not list(temporary.iterdir())


@pytest.mark.stan
@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_without_tuning(engine, micro, monkeypatch):
    monkeypatch.setattr(stan, "find_stan", lambda: engine)
    result = stan.run(bnpzoo.get("lda", n_topics=2, **FIXED["lda"]), micro, 0, 1, 0, 5, 1)
    assert result["draws"]["theta"].shape == (1, 5, 3, 2)


@pytest.mark.parametrize("name", MODELS)
def test_program_text_has_its_includes_in_place(name):
    text = text_of(make(name))
    assert "#include" not in text
    assert "vector log_dirichlet_weights(" in text


@pytest.mark.parametrize("name", MODELS)
def test_programs_save_what_is_wanted_and_their_parameters(name):
    model = make(name)
    text = text_of(model)
    blocks = re.findall(r"^(?:transformed parameters|generated quantities) \{\n(.*?)^\}", text, re.M | re.S)
    # Declarations at two spaces are of the block; deeper ones are local.
    declaration = r"^  (?:array\[.*?\] )?(?:real|vector|matrix)(?:\[.*?\])? (\w+)(?:\s+=|;)"
    declared = re.findall(declaration, "".join(blocks), re.M)
    assert sorted(declared) == sorted(set(model.reference.parameters) - {"shape"})

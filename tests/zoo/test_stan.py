"""The Stan programs against the NumPyro ones, on whatever Stan there is."""

import re
import subprocess
from importlib.resources import files

import bnpzoo
import jax
import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.archive import Books
from bnpzoo.diagnostics.reports import evidence
from bnpzoo.zoo.inference import stan
from bnpzoo.zoo.inference.stan_engines import engines
from bnpzoo.zoo.models import combinations
from samplers import COMPILED_PROGRAMS
from twins import (
    CORPORA,
    assert_twins,
    blocks_of,
    by_numpyro,
    by_stan,
    differences,
    evaluated,
    fingerprint_of,
    make,
    model_of,
    partly_sampled,
    points_of,
    text_of,
)

ENGINES = [pytest.param(engine, id=engine.name) for engine in engines()]


def on_programs(names):
    """Each program on each Stan that is there."""

    def decorate(test):
        for marker in (pytest.mark.parametrize("engine", ENGINES), pytest.mark.parametrize("name", names)):
            test = marker(test)
        return pytest.mark.stan(test)

    return decorate


UNDER_NETWORKS = [model_id for model_id, topics in combinations() if topics == "belief-network"]

MODELS = [
    f"{model_id}/{topics}".rstrip("/")
    for model_id, topics in combinations()
    if topics != "belief-network" and bnpzoo.get(model_id, topics=topics or None).reference is not None
] + [
    "lda/asymmetric", "lda/belief-network:1", "was/forward", "ordered_sbp/forward", "pfa/limited", "gbn/deep",
    *(f"{model_id}/belief-network:2" for model_id in UNDER_NETWORKS),
]  # fmt: skip

COMPILED = {text_of(make(name)) for name in COMPILED_PROGRAMS}
TRANSLATED = [name for name in MODELS if text_of(make(name)) not in COMPILED]
"""To compile these too is left to `make validate`."""

BACKWARDS = MODELS[::-1]
"""Golden tests compile the same programs, and two workers in one order wait for each other."""


FEW = {
    "prior": lambda name: ([model_of(name, "prior")], 0, 10),
    "fixed": lambda name: ([model_of(name, "fixed")], 1, 10),
    "partly fixed": lambda name: (list(partly_sampled(name)), 0, 5),
}
"""Models, corpus and number of points, of what every run compares."""


@pytest.mark.parametrize("form", FEW)
@on_programs([name for name in BACKWARDS if name not in TRANSLATED])
def test_twins_at_a_few_points(name, engine, form, tmp_path):
    models, which, n_points = FEW[form](name)
    theirs, ours = evaluated(engine, models, which, n_points, tmp_path)
    assert_twins(engine, theirs, ours, models[0].reference.parameters)


@pytest.fixture(scope="session")
def kept_figures(request):
    """Figures of the twins in the books, by program; none where all is to be judged anew."""
    return {} if request.config.getoption("anew") else evidence.bridge_in(Books())


@pytest.mark.heavy
@on_programs(BACKWARDS)
def test_twins_have_one_density_and_save_the_same(name, engine, tmp_path, kept_figures, record_property):
    """Log densities differ by a constant; their gradients, and what is saved of a draw, not at all.

    On both corpora with all hyperparameters under a prior, and all fixed; on one of them with some of them
    fixed: none is laid out, given a prior or taken as fixed because another is. What the books have the
    figures of, and has not changed since, is not compared again.
    """
    whole, partly = [model_of(name, purpose) for purpose in ("prior", "fixed")], list(partly_sampled(name))
    fingerprint = fingerprint_of(engine, [*whole, *partly])
    if kept_figures.get(name, {}).get("fingerprint") == fingerprint:
        return
    record_property("program", name)  # also where they are told apart
    theirs, ours = [], []
    for models, which, n_points in ((whole, 0, 50), (whole, 1, 50), (partly, 0, 5)):
        found = evaluated(engine, models, which, n_points, tmp_path) if models else ([], [])
        assert_twins(engine, *found, whole[0].reference.parameters)
        theirs += found[0]
        ours += found[1]
    told = {"fingerprint": fingerprint, "points": sum(len(x.log_density) for x in ours)}
    for key, value in (told | differences(theirs, ours)).items():
        record_property(key, value)


@pytest.mark.parametrize("name", TRANSLATED)
def test_stan_translates_every_other(name, tmp_path):
    stanc = files(pytest.importorskip("httpstan")) / "stanc"
    source = tmp_path / "program.stan"
    source.write_text(text_of(make(name)))
    done = subprocess.run([stanc, "--print-cpp", source], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "_model_namespace" in done.stdout


@pytest.mark.heavy
@on_programs(["lda/belief-network:3"])
def test_three_layers_have_one_density_and_near_gradients(name, engine, tmp_path):
    """Densities agree at all points, gradients to 1e-8 at those of a scale of at most 1.2.

    Farther out the two programs cancel terms of three layers, the largest of them 1e130, in other orders: of
    1,540 entries three, of 3e5 to 7e6, then differ in the seventh digit.
    """
    model, corpus = model_of(name, "prior"), CORPORA[0]
    program, data = model.reference.numpyro(corpus, 3), model.reference.stan_data(corpus, 3)
    with jax.enable_x64(True):
        points = points_of(program, blocks_of(model), 10)
        ours = by_numpyro(program, points)
    (theirs,) = by_stan(engine, text_of(model), [(data, points)], tmp_path)
    changes = np.diff(theirs.log_density), np.diff(ours.log_density)
    np.testing.assert_allclose(*changes, rtol=1e-10, atol=1e-8)
    np.testing.assert_allclose(theirs.gradient[:7], ours.gradient[:7], rtol=1e-8, atol=1e-8)


FIXED = {
    "lda": {"alpha": 0.4, "eta": 0.5},
    "hdp": {"gamma": 1.3, "alpha": 0.7, "eta": 0.5},
    "mt_hdp": {"gamma": 1.3, "alpha0": 0.8, "alpha": 0.7, "eta": 0.5},
}


@on_programs([pytest.param("mt_hdp", marks=pytest.mark.heavy), *(name for name in FIXED if name != "mt_hdp")])
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
    deep = [f"{model_id}/belief-network:3" for model_id in UNDER_NETWORKS]
    several = [*MODELS, *deep]  # `was` serves two, and a belief network all its layers
    served = [other for other in map(make, several) if text_of(other) == text]
    wanted = {name for other in served for name in other.reference.parameters}
    assert sorted(declared) == sorted(wanted - {"shape"})

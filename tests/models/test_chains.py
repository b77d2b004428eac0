"""What chains of every model must satisfy, from its contract alone: states, draws, resuming, growing."""

from dataclasses import replace

import numpy as np
import pytest
from bnpzoo.zoo.contract import Probes
from bnpzoo.zoo.inference import chain, corpus_of, latents_of, load, model_of, sample, save
from every_model import (
    DESIGN,
    OPTIONS,
    every_models_variant,
    every_variant,
    fixed,
    make,
    required,
    simulated,
)
from samplers import AS_PLAIN_PYTHON, IS_PLAIN


def loaded(which, variant):
    """Model, latents and data that it makes, a sampler, and its state there."""
    model, (latents, corpus) = simulated(which, 3, variant)
    kernel = model.kernel(variant)
    return model, latents, corpus, kernel, kernel.load(latents, corpus, model)


@every_variant
def test_state_is_loaded_swept_and_read_back(which, variant):
    model, latents, corpus, kernel, state = loaded(which, variant)
    back = kernel.snapshot(state)
    assert back.keys() == latents.keys()
    assert model.log_joint(back, corpus) == pytest.approx(model.log_joint(latents, corpus))
    if model.log_multiplicity(latents, corpus) > 0:  # the kernel has written the same state in its own way
        latents, back = back, kernel.snapshot(kernel.load(back, corpus, model))
    for name, value in latents.items():
        np.testing.assert_allclose(back[name], value, rtol=1e-12, err_msg=name)
    assert kernel.sweep(np.random.default_rng(0), kernel.load(latents, corpus, model)) in (None, True, False)
    rng = np.random.default_rng(0)
    for _ in range(10 if IS_PLAIN else 50):
        state = kernel.step(rng, state)
        kernel.check(state)
    assert np.isfinite(model.log_likelihood(kernel.snapshot(state), corpus))


@every_variant
def test_snapshot_is_a_copy(which, variant):
    *_, kernel, state = loaded(which, variant)
    before = kernel.snapshot(state)
    kept = {name: value.copy() for name, value in before.items()}
    kernel.step(np.random.default_rng(0), state)
    for name, value in kept.items():
        assert np.array_equal(before[name], value), name


@every_variant
def test_fixed_hyperparameters_stay(which, variant):
    model = fixed(which, variant)
    latents, corpus = model.simulate(DESIGN, np.random.default_rng(1))
    assert model.sampled() == ()
    kernel = model.kernel(variant)
    state = kernel.load(latents, corpus, model)
    rng = np.random.default_rng(0)
    for _ in range(20):
        state = kernel.step(rng, state)
    after = kernel.snapshot(state)
    for name in model.hyperparameters():  # one a topic has other shapes with other numbers of topics
        assert np.array_equal(np.unique(after[name]), np.unique(latents[name])), name


@every_variant
def test_quantities_are_the_same_from_the_counts_of_the_kernel(which, variant):
    model, _, corpus, kernel, state = loaded(which, variant)
    rng = np.random.default_rng(0)
    for _ in range(3):
        state = kernel.step(rng, state)
    latents = kernel.snapshot(state)
    counted = model.quantities(latents, corpus, counts=kernel.counted(state))
    for name, value in model.quantities(latents, corpus).items():
        np.testing.assert_array_equal(counted[name], value, err_msg=name)
    slowly = model.log_likelihood(latents, corpus)
    assert counted["log_likelihood"] == pytest.approx(slowly, rel=1e-12)


@every_variant
def test_sweeps_leave_alone_what_is_fixed(which, variant):
    *_, kernel, state = loaded(which, variant)

    def fixed(state):
        out = {name: getattr(state, name) for name in getattr(state, "FIXED", ())}
        parts = {name: getattr(state, name) for name in state._fields if name not in out}
        return out | {name: fixed(part) for name, part in parts.items() if hasattr(part, "_fields")}

    before = repr(fixed(state))
    rng = np.random.default_rng(0)
    for _ in range(20):
        state = kernel.step(rng, state)
    assert repr(fixed(state)) == before


MANY_TOPICS = {name: 300.0 for name in ("gamma", "alpha", "alpha0", "tau", "zeta", "kappa")} | {"eta": 0.01}
"""Values at which chains have more topics than they start with room for."""

OF_FOCUSED = MANY_TOPICS | {"gamma": 0.3}
"""Topics are as many in `focused` if each has few tokens."""

SHOWS_ROOM = "was without a number of topics"
"""After a stop it enters its document again and numbers the dishes anew: other draws, of the same law."""


def crowded(which, variant):
    """Model whose chains have many topics, and a corpus, one document longer than there is room for."""
    lengths = np.array([15, 0, 130, 15, 15, 25])
    design = replace(
        DESIGN, doc_lengths=lengths, group=np.array([0, 1, 1, 0, 1, 0]), segment_ptr=np.arange(0, 201, 5)
    )
    model = make(which, **required(which, variant))
    values = OF_FOCUSED if which == "focused" else MANY_TOPICS
    model = model.replaced(**{name: values[name] for name in values.keys() & model.hyperparameters().keys()})
    return model, design.corpus(np.random.default_rng(1).integers(6, size=200))


def n_bytes(state):
    return sum(map(n_bytes, state)) if isinstance(state, tuple) else np.asarray(state).nbytes


@pytest.mark.parametrize(
    ("which", "variant"),
    [
        pytest.param(name, variant, marks=AS_PLAIN_PYTHON)
        for name in OPTIONS
        for variant, kernel in make(name).kernels.items()
        if kernel.with_room
    ],
)
def test_draws_are_the_same_whatever_room_there_is(which, variant):
    model, corpus = crowded(which, variant)
    kernel, latents = model.kernel(variant), model.initial_latents(corpus, np.random.default_rng(2))
    narrow, roomy = kernel.load(latents, corpus, model), kernel.load(latents, corpus, model)
    before = n_bytes(narrow)
    for _ in range(3):
        roomy = kernel.with_room(roomy)
    rng, same = np.random.default_rng(3), np.random.default_rng(3)
    for _ in range(2):
        narrow, roomy = kernel.step(rng, narrow), kernel.step(same, roomy)
        kernel.check(narrow)
    assert before < n_bytes(narrow)
    found, others = kernel.snapshot(narrow), kernel.snapshot(roomy)
    assert np.all(found["z"] >= 0)
    if which != SHOWS_ROOM:
        for name, value in found.items():
            np.testing.assert_array_equal(value, others[name], err_msg=name)


@every_models_variant
def test_draws_are_saved_and_read_back(which, variant, tmp_path):
    model, (_, corpus) = simulated(which, 3, variant)
    tree = sample(model, corpus, variant=variant, chains=2, tune=3, draws=5, keep=5)
    save(tree, tmp_path / "draws.nc")
    again = load(tmp_path / "draws.nc")
    assert model_of(again) == model
    for c, j, latents in latents_of(again):
        quantities = model.quantities(latents, corpus_of(again), Probes.of(corpus))
        assert set(again["posterior"]) == {name for name, value in quantities.items() if np.size(value)}
        for name in again["posterior"]:
            value, stored = quantities[name], again["posterior"][name].values[c, j]
            np.testing.assert_allclose(value, stored, rtol=1e-9, atol=1e-9, err_msg=name)


class Killed(Exception):
    """Stands for the end of the process: what is not on disk is lost."""


@every_models_variant
def test_a_killed_run_resumes_to_the_same_bits(which, variant, tmp_path, monkeypatch):
    monkeypatch.setattr(chain, "CHECKPOINT_SECONDS", 0.0)
    model, (_, corpus) = simulated(which, 3, variant)
    run = {"variant": variant, "chains": 2, "tune": 7, "draws": 6, "thin": 2, "keep": 3, "seed": 4}

    def kill(number, done, total, note=""):
        if number == 1 and done == 12:
            raise Killed

    with pytest.raises(Killed):
        sample(model, corpus, **run, progress=kill, checkpoint=tmp_path, workers=1)
    resumed = sample(model, corpus, **run, checkpoint=tmp_path, resume=True)
    whole = sample(model, corpus, **run)
    for group in ("posterior", "latents"):
        assert set(whole[group].data_vars) == set(resumed[group].data_vars)
        for name, values in whole[group].data_vars.items():
            np.testing.assert_array_equal(values.values, resumed[group][name].values, err_msg=str(name))

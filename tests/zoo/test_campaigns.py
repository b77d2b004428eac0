"""Campaigns: processes killed, and back ends stopped, at random moments."""

import os
import random
import signal
import threading
import time
from functools import cache

import jax
import numpy as np
import pytest
from bnpzoo import get, sample
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus.associations import Associations
from bnpzoo.zoo.inference import chain
from bnpzoo.zoo.inference.stan_engines import StanMissing, find_stan
from bnpzoo.zoo.models import MODELS

pytestmark = pytest.mark.heavy

KILLS, STOPS = 100, 30
VARIANTS = [(name, variant) for name, cls in MODELS.items() for variant in cls().kernels]
ASSOCIATIONS = Associations.of(np.random.default_rng(6).dirichlet(np.ones(6), (2, 6)).transpose(0, 2, 1))
SENTENCES = np.array([0, 2, 6, 9, 11, 15, 19, 21, 22, 26])
DESIGN = Design(
    np.array([6, 0, 9, 4, 7]),
    6,
    group=np.array([0, 1, 1, 0, 1]),
    associations=ASSOCIATIONS,
    segment_ptr=SENTENCES,
)


@cache
def subject(name, variant):
    model = get(name, **MODELS[name]().kernels[variant].requires)
    return model, model.simulate(DESIGN, np.random.default_rng(3)).corpus


@cache
def whole_run(name, variant):
    """Draws of a run that nothing stops, and its seconds; the second run has nothing to compile."""
    sample(*subject(name, variant), **kernel_run(variant))
    start = time.perf_counter()
    tree = sample(*subject(name, variant), **kernel_run(variant))
    return tree, time.perf_counter() - start


def kernel_run(variant):
    return {"variant": variant, "chains": 2, "tune": 30, "draws": 40, "keep": 5, "seed": 2}


def same_bits(a, b):
    for group in ("posterior", "latents"):
        for name, values in a[group].data_vars.items():
            np.testing.assert_array_equal(values.values, b[group][name].values, err_msg=str(name))


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning", "ignore:.*fork:RuntimeWarning")
@pytest.mark.parametrize("number", range(KILLS))
def test_kill_at_a_random_moment(number, tmp_path, monkeypatch):
    """The process is a fork, which has nothing to import or to compile."""
    name, variant = VARIANTS[number % len(VARIANTS)]
    whole, seconds = whole_run(name, variant)
    monkeypatch.setattr(chain, "CHECKPOINT_SECONDS", 0.0)
    child = os.fork()
    if child == 0:
        try:
            sample(*subject(name, variant), **kernel_run(variant), checkpoint=tmp_path / "run")
        finally:
            os._exit(0)
    time.sleep(random.Random(number).uniform(0.0, 4.0 * seconds))  # checkpoints take their time too
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    resumed = sample(*subject(name, variant), **kernel_run(variant), checkpoint=tmp_path / "run", resume=True)
    same_bits(whole, resumed)
    assert {path.name for path in (tmp_path / "run").iterdir()} == {"run.json", "chain-0.npz", "chain-1.npz"}


@pytest.fixture(scope="module")
def compiled_once(tmp_path_factory):
    """Let JAX compile each program once in all runs."""
    before = jax.config.jax_compilation_cache_dir
    jax.config.update("jax_compilation_cache_dir", str(tmp_path_factory.mktemp("jax")))
    yield
    jax.config.update("jax_compilation_cache_dir", before)


BACKENDS = {
    "kernel": {"tune": 300, "draws": 2000},
    "numpyro": {"tune": 100, "draws": 400},
    "stan": {"tune": 500, "draws": 2000},
}


@cache
def reference(backend):
    """Model and corpus, draws of a run that nothing stops, and its seconds.

    Where NUTS takes few steps: stops are to be many, not long.
    """
    _, corpus = subject("lda", "sparse")
    model = get("lda", n_topics=3, alpha=1.0, eta=1.0)
    start = time.perf_counter()
    tree = sample(model, corpus, backend, chains=2, seed=2, **BACKENDS[backend])
    return model, corpus, tree, time.perf_counter() - start


@pytest.mark.usefixtures("compiled_once")
@pytest.mark.parametrize("number", range(STOPS))
@pytest.mark.parametrize("backend", BACKENDS)
def test_stop_at_a_random_moment(backend, number):
    """Ctrl-C or SIGTERM, sometimes several; all draws that were reported before are kept, to the bit."""
    if backend == "stan":
        try:
            find_stan()
        except StanMissing as missing:
            pytest.skip(str(missing))
    model, corpus, whole, seconds = reference(backend)
    tune = BACKENDS[backend]["tune"]
    dice = random.Random(number)
    done, reported = {}, {}

    def stop():
        reported.update(done)
        for _ in range(dice.randint(1, 3)):
            os.kill(os.getpid(), dice.choice((signal.SIGINT, signal.SIGTERM)))

    def report(chain, sweeps, total, note=""):
        done[chain] = sweeps

    # A signal may come when `sample` has just ended, and is nothing to anybody then.
    before = {which: signal.signal(which, lambda *_: None) for which in (signal.SIGINT, signal.SIGTERM)}
    timer = threading.Timer(dice.uniform(0.0, seconds), stop)
    started = time.perf_counter()
    timer.start()
    try:
        part = sample(model, corpus, backend, chains=2, seed=2, progress=report, **BACKENDS[backend])
    except KeyboardInterrupt:
        assert min(reported.values(), default=0) <= tune
        return
    finally:
        timer.cancel()
        timer.join()
        for which, handler in before.items():
            signal.signal(which, handler)
    assert time.perf_counter() - started < seconds + 10.0
    n = part["posterior"].sizes["draw"]
    if backend != "stan":  # which reports more than it has written
        assert n >= min(reported.values(), default=0) - tune
    left_out = part.attrs.get("left_out", "").split(",")  # a chain that had no draw yet
    chains = [c for c in range(2) if str(c) not in left_out]
    for name, values in part["posterior"].data_vars.items():
        np.testing.assert_array_equal(values.values, whole["posterior"][name].values[chains, :n])

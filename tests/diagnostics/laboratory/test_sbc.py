import os
import sys
from functools import partial, wraps
from importlib import import_module
from pathlib import Path
from runpy import run_path
from threading import Lock
from types import ModuleType

import arviz_plots
import numpy as np
import pytest
from arviz_stats.base.array import array_stats
from bnpzoo.diagnostics.laboratory.sbc import least_replications, sbc
from bnpzoo.diagnostics.laboratory.sbc_runner import (
    Plan,
    PriorJoint,
    identity_of,
    normalised_ranks,
    run_blocks,
)
from bnpzoo.diagnostics.laboratory.subject import Bench
from scipy.stats import kstest

FAST = {"replications": 60, "draws": 31, "thin": 3}


def test_ranks_are_uniform_under_ties():
    # Truth and draws from one coarse law: KS on 4,000 ranks, false alarm 1e-5.
    # Without random ties it is rejected.
    rng = np.random.default_rng(0)
    values = rng.poisson(0.7, (4000, 8, 1)).astype(float)
    ranks = [normalised_ranks(v[0], v[1:], rng)[0] for v in values]
    assert kstest(ranks, "uniform").pvalue > 1e-5
    low = [(v[1:] < v[0]).mean() for v in values]
    assert kstest(low, "uniform").pvalue < 1e-5


def test_right_subjects_pass(normal, chinese):
    for subject in (normal(), chinese()):
        verdict = sbc(subject, **FAST, seed=1)
        assert verdict.passed, verdict
        assert np.all((verdict.table["ess_per_draw"] > 0.5) & (verdict.table["ess_per_draw"] < 2.0))


@pytest.mark.slow
def test_wrong_subjects_are_rejected(normal, chinese):
    verdict = sbc(normal(width=2.0), replications=60, draws=31, thin=3, seed=1)
    assert verdict.status == "rejected", verdict
    verdict = sbc(chinese(mistake="smoothing", n=6), replications=120, draws=31, thin=3, seed=1)
    assert verdict.status == "rejected", verdict


def test_pilots_choose_the_thinning(normal):
    # Autocorrelation time of an AR(1) with coefficient r is (1 + r) / (1 - r): 1 and 9.
    fast = sbc(normal(correlation=0.0), replications=8, draws=5, seed=1).figures["thin"]
    slow = sbc(normal(correlation=0.8), replications=8, draws=5, seed=1).figures["thin"]
    assert 2 <= fast <= 5
    assert 12 <= slow <= 27


def test_result_is_what_arviz_plots(chinese, tmp_path):
    verdict = sbc(chinese(), **FAST, seed=1)
    group = verdict.tree()["prior_sbc"]
    assert group["n_topics"].dims == ("chain", "draw")
    assert group["same_topic"].shape == (1, 60, 3)
    assert 0.0 <= float(group["same_topic"].min()) <= float(group["same_topic"].max()) <= 1.0
    arviz_plots.plot_ecdf_pit(verdict.tree(), backend="none")
    verdict.tree().to_netcdf(tmp_path / "sbc.nc")


def test_same_ranks_whoever_computes_them(normal, tmp_path):
    expected = sbc(normal(), **FAST, seed=3).groups["prior_sbc"]
    threads = sbc(normal(), **FAST, seed=3, n_jobs=2, backend="threading").groups["prior_sbc"]
    assert threads.identical(expected)
    assert not sbc(normal(), **FAST, seed=4).groups["prior_sbc"].equals(expected)


def test_resumes_after_interruption(normal, tmp_path):
    expected = sbc(normal(), **FAST, seed=3).groups["prior_sbc"]

    class Interrupt(Exception):
        pass

    def interrupt(done, total):
        if done >= 20:
            raise Interrupt

    with pytest.raises(Interrupt):
        sbc(normal(), **FAST, seed=3, store=tmp_path, progress=interrupt)
    stored = sorted(p.name for p in tmp_path.glob("block-*.npz"))
    assert stored
    assert len(stored) < 3
    (tmp_path / "block-00002.npz").write_bytes(b"truncated")
    first = []
    again = sbc(normal(), **FAST, seed=3, store=tmp_path, progress=lambda done, total: first.append(done))
    assert first[0] >= 20
    assert again.groups["prior_sbc"].identical(expected)
    with pytest.raises(ValueError, match="another run"):
        sbc(normal(), **FAST, seed=4, store=tmp_path)


def test_posterior_sbc(normal):
    observed = np.array([2.5, 3.0, 2.0])
    verdict = sbc(normal(), **FAST, observed=observed, seed=1)
    assert verdict.passed, verdict
    assert "posterior_sbc" in verdict.groups
    wrong = sbc(Mean(normal()), replications=100, draws=31, thin=3, observed=observed, seed=1)
    assert wrong.status == "rejected", wrong


class Mean:
    """Goes wrong with more data only: posterior SBC sees it, as its second posterior is of all of them."""

    def __init__(self, right):
        self.right = right

    def __getattr__(self, name):
        return getattr(self.right, name)

    def transition(self, rng, latents, data):
        return self.right.transition(rng, latents, data) + (0.5 if data.size > 3 else 0.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"replications": 3, "draws": 63}, "replications: expected a whole number, 4 or more, found 3"),
        ({"replications": 22, "draws": 1}, "replications: expected a whole number, 23 or more, found 22"),
        ({"draws": 0}, "draws: expected a whole number, 1 or more, found 0"),
        ({"thin": 2.5}, r"thin: expected a whole number, 1 or more, found 2\.5"),
        ({"thin": 0}, "thin: expected a whole number, 1 or more, found 0"),
    ],
)
def test_arguments_out_of_range(normal, arguments, message):
    with pytest.raises(ValueError, match=message):
        sbc(normal(), **FAST | arguments)


def test_a_right_sampler_that_mixes_too_slowly_is_broken(normal):
    verdict = sbc(normal(correlation=0.9998), replications=40, draws=15, seed=1)
    assert verdict.status == "broken", verdict
    assert "mixes too slowly for a pilot of 400 transitions: give thin" in verdict.message
    assert verdict.figures["replications"] == verdict.groups["prior_sbc"].sizes["draw"] == 40
    assert verdict.table["ess_per_draw"].min() < 0.5
    given = sbc(normal(correlation=0.99), replications=40, draws=15, thin=2, seed=1)
    assert given.status == "broken", given
    assert "mixes too slowly for this thin: give more than 2" in given.message


def test_a_component_that_never_moves_is_rejected(broken):
    half = broken(
        draw_latents=lambda rng: rng.normal(size=2),
        draw_data=lambda rng, latents: rng.normal(latents, 0.1),
        transition=lambda rng, latents, data: np.array(
            [rng.normal(data[0] / 1.01, np.sqrt(0.01 / 1.01)), latents[1]]
        ),
        quantities=lambda latents, data: {"mu": latents, "distance": latents - data},
    )
    verdict = sbc(half, replications=60, draws=15, thin=1, seed=1)
    assert verdict.status == "rejected", verdict


@pytest.mark.parametrize("draws", [1, 15, 63])
def test_the_worst_sampler_is_rejected_by_the_fewest_replications(broken, draws):
    far = broken(
        transition=lambda rng, latents, data: 100.0 + rng.random(),
        quantities=lambda latents, data: {"mu": latents},
    )
    n = least_replications(draws, 1e-5)
    assert sbc(far, replications=n, draws=draws, thin=1).status == "rejected"
    rejected = {}
    for replications in (n, n * 3 // 4):
        ranks = np.random.default_rng(0).random((2000, replications)) / (draws + 1)
        rejected[replications] = np.mean(array_stats.uniformity_test(ranks)[0] <= 1e-5)
    assert rejected[n] == 1.0
    assert rejected[n * 3 // 4] < 0.5


class Moved:
    """A subject whose state is data, a function, a set, a cache and an object."""

    def __init__(self, right, correlation=0.5, by=0.0, tags=("a", "b")):
        self.right = right(correlation=correlation)
        self.shift = lambda mu: mu + by
        self.by = by
        self.tags = frozenset(tags)
        self.calls = 0
        self.name = "moved"

    def __getattr__(self, name):
        return getattr(self.__dict__["right"], name)

    def transition(self, rng, latents, data):
        self.calls += 1
        return self.right.transition(rng, latents, data)


class Renamed(Moved):
    def quantities(self, latents, data):
        told = self.right.quantities(latents, data)
        return {"nu" if name == "mu" else name: value for name, value in told.items()}


class Wider(Moved):
    def quantities(self, latents, data):
        return {**self.right.quantities(latents, data), "more": latents**2}


def test_a_store_holds_one_run(normal, tmp_path):
    fast = {"replications": 20, "draws": 5, "thin": 1, "store": tmp_path}
    expected = sbc(Moved(normal), **fast)
    subject = Moved(normal)
    for _ in range(2):  # the second time it has counted its calls
        assert sbc(subject, **fast).groups["prior_sbc"].identical(expected.groups["prior_sbc"])
    for other, told in (
        (Moved(normal, correlation=0.6), r"subject\.right"),
        (Moved(normal, by=1.0), r"subject\.by"),
        (Renamed(normal), "quantities"),
        (Wider(normal), "quantities"),
    ):
        with pytest.raises(ValueError, match=f"holds the results of another run, which differs in .*{told}"):
            sbc(other, **fast)
    with pytest.raises(ValueError, match="another run, which differs in observed"):
        sbc(Moved(normal), **fast, observed=np.zeros(3))


def test_a_store_holds_the_run_of_one_data_set(normal, tmp_path):
    fast = {"replications": 20, "draws": 5, "thin": 1, "store": tmp_path}
    expected = sbc(normal(), **fast, observed=np.array([1.0, 2.0, 3.0]))
    again = sbc(normal(), **fast, observed=np.array([1.0, 2.0, 3.0]))
    assert again.groups["posterior_sbc"].identical(expected.groups["posterior_sbc"])
    with pytest.raises(ValueError, match="another run, which differs in observed"):
        sbc(normal(), **fast, observed=np.array([1.0, 2.0, 3.5]))


def test_a_store_holds_the_run_of_one_program(tmp_path):
    source = (Path(__file__).parents[1] / "conftest.py").read_text()
    fast = {"replications": 20, "draws": 5, "thin": 1, "store": tmp_path / "store"}

    def written(text):
        (tmp_path / "own.py").write_text(text)
        own = run_path(str(tmp_path / "own.py"))["Normal"]
        own.__module__ = "own"
        return own()

    with pytest.MonkeyPatch.context() as patch:
        module = ModuleType("own")
        module.__file__ = str(tmp_path / "own.py")
        patch.setitem(sys.modules, "own", module)
        sbc(written(source), **fast)
        sbc(written(source), **fast)
        with pytest.raises(ValueError, match="another run, which differs in files"):
            sbc(written(source.replace("rng.normal(0.0, self.width", "rng.normal(0.1, self.width")), **fast)


def scaled(by):
    def step(rng, latents):
        return by * latents + rng.normal()

    return step


class Steps:
    def __init__(self, by):
        self.by = by

    def step(self, rng, latents):
        return self.by * latents + rng.normal()


def defaulted(default):
    def step(rng, latents, by=default):
        return by * latents + rng.normal()

    return step


def only_by_name(default):
    def step(rng, latents, *, by=default):
        return by * latents + rng.normal()

    return step


def decorated(by):
    @wraps(scaled)
    def step(rng, latents):
        return by * latents + rng.normal()

    return step


def typed_at_a_prompt(by):
    names = {}
    exec(f"def step(rng, latents):\n    return {by} * latents + rng.normal()", names)
    return names["step"]


@pytest.mark.parametrize(
    "made",
    [
        scaled,
        defaulted,
        only_by_name,
        decorated,
        typed_at_a_prompt,
        lambda by: Steps(by).step,
        lambda by: partial(scaled(by)),
    ],
)
def test_functions_differ_in_all_that_they_depend_on(broken, made):
    one, same, other = (identity_of(broken(step=made(by)), None) for by in (1.0, 1.0, 3.0))
    assert one == same
    assert one["subject.step"] != other["subject.step"]


def test_a_subject_differs_in_what_its_file_imports(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    files = {
        "own_subject": "import numpy\nfrom own_rates import RATE\nclass Own:\n    rate = RATE\n",
        "own_rates": "import json\nfrom own_package.deep import RATE\n",
        "own_package/__init__": "",
        "own_package/deep": "from .rates import RATE\n",
        "own_package/rates": "RATE = 1.0\n",
        "beside": "import own_subject\n",
    }
    (tmp_path / "own_package").mkdir()
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(text)
    subject = import_module("own_subject").Own()
    before = identity_of(subject, None)
    import_module("beside")
    assert identity_of(subject, None) == before
    (tmp_path / "own_package" / "rates.py").write_text("RATE = 3.0\n")
    assert identity_of(subject, None)["files"] != before["files"]


def test_a_store_may_be_named_by_a_string(normal, tmp_path):
    sbc(normal(), replications=20, draws=5, thin=1, store=str(tmp_path / "store"))
    assert [*(tmp_path / "store").glob("block-*.npz")]


def test_a_subject_that_other_processes_cannot_be_given(broken):
    def never(*_):
        raise AssertionError

    fast = {"replications": 20, "draws": 5, "thin": 1, "n_jobs": 2}
    message = "^n_jobs: expected a subject that can be pickled for other processes, found Broken: .*lock"
    with pytest.raises(ValueError, match=message):
        sbc(broken(draw_latents=never, lock=Lock()), **fast)
    assert sbc(broken(lock=Lock()), **fast, backend="threading").passed


def test_sets_have_no_order(normal):
    told = [identity_of(Moved(normal, tags=tags), set(tags)) for tags in ([0, 8], [8, 0])]
    assert list(frozenset([0, 8])) != list(frozenset([8, 0]))
    assert told[0] == told[1]


def test_blocks_agree_on_the_order_of_quantities(normal, broken):
    good, seen = normal(), iter(range(10**9))

    def quantities(latents, data):
        told = good.quantities(latents, data)
        return dict(reversed(told.items())) if next(seen) % 3 else told

    expected = sbc(good, **FAST, seed=3).groups["prior_sbc"]
    found = sbc(broken(quantities=quantities), **FAST, seed=3).groups["prior_sbc"]
    assert found[list(expected)].identical(expected)


NOTEBOOK = """
SHIFT = 0.0

def posterior(data):
    return data.mean() + SHIFT

class Scale:
    def of(self, data):
        return 2.0

class Sampler:
    def transition(self, rng, latents, data):
        assert isinstance(self, Sampler)
        return posterior(data) * Scale().of(data)
"""


def typed(text, name="notebook"):
    """A subject of a class that was typed at a prompt: no file has it."""
    module = ModuleType(name)
    exec(text, vars(module))
    return module.Sampler()


@pytest.mark.parametrize(
    "change", [("SHIFT = 0.0", "SHIFT = 1.0"), ("data.mean()", "data.max()"), ("return 2.0", "return 3.0")]
)
def test_what_a_typed_class_calls_is_a_part_of_it(change):
    assert identity_of(typed(NOTEBOOK), None) == identity_of(typed(NOTEBOOK), None)
    changed = identity_of(typed(NOTEBOOK.replace(*change)), None)
    assert changed["files"] != identity_of(typed(NOTEBOOK), None)["files"]


def test_so_is_the_file_of_a_function_that_a_subject_holds(tmp_path, monkeypatch):
    """As `NumpyroProgram` holds one: what it calls may have changed, though it has not."""
    file, module = tmp_path / "program.py", ModuleType("program")
    module.__file__ = str(file)
    monkeypatch.setitem(sys.modules, "program", module)

    def holding(text):
        file.write_text(text)
        exec(text, vars(module))
        return identity_of(Steps(module.program), None)

    text = "def prior():\n    return 1.0\n\ndef program():\n    return prior()\n"
    assert holding(text) == holding(text)
    assert holding(text)["subject.by"] != holding(text.replace("1.0", "50.0"))["subject.by"]


class InPlace:
    """An exact sampler of a normal mean that moves in place, and keeps latents where data are extended."""

    def draw_latents(self, rng):
        return rng.normal(0.0, 1.0, 1)

    def draw_data(self, rng, latents):
        return rng.normal(latents[0], 1.0, 3)

    def transition(self, rng, latents, data):
        latents[0] = rng.normal(data.sum() / (data.size + 1), (data.size + 1) ** -0.5)
        return latents

    def quantities(self, latents, data):
        return {"mu": latents[0]}

    def extend(self, rng, latents, data):
        return latents, np.concatenate([data, self.draw_data(rng, latents)])


def test_posterior_sbc_does_not_hang_on_who_computes_it_where_latents_move_in_place():
    given = {"observed": np.array([0.5, 1.0, -0.2]), "replications": 60, "draws": 9, "thin": 1, "seed": 3}
    alone, together = (sbc(InPlace(), n_jobs=n, **given).groups["posterior_sbc"] for n in (1, 2))
    assert alone.identical(together)


class Deadly(InPlace):
    def transition(self, rng, latents, data):
        os._exit(3)  # as a compiled sampler that writes where it must not


def test_a_process_that_ends_is_one_line():
    with pytest.raises(MemoryError, match="a process was ended from outside"):
        run_blocks(Bench(Deadly()), PriorJoint(), Plan(40, 5, 0, 1, 0), None, {}, 2, None, None)


def test_a_quantity_has_a_name():
    class Nameless(InPlace):
        def quantities(self, latents, data):
            return {"": latents[0]}

    found = sbc(Nameless(), replications=20, draws=5, thin=1)
    assert (found.status, found.message) == ("broken", "quantity '': expected a name, found an empty one.")

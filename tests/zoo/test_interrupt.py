"""Ctrl-C and SIGTERM: held while something would be lost, and heard by all back ends."""

import json
import os
import signal
import time

import jax
import numpy as np
import pytest
import xarray as xr
from bnpzoo import get, sample
from bnpzoo.cli.app import app
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.formats import write_corpus
from bnpzoo.zoo.inference import load, nuts
from bnpzoo.zoo.inference.interrupt import SIGNALS, held_signals
from typer.testing import CliRunner

from tests.helpers.signals import send_until_heard

MODEL = get("lda", n_topics=2)
CORPUS = MODEL.simulate(Design(np.full(4, 5), 4), np.random.default_rng(0)).corpus
SETTINGS = {"chains": 2, "tune": 10, "draws": 20, "seed": 1}

every_signal = pytest.mark.parametrize("number", SIGNALS)


@pytest.fixture(autouse=True)
def handlers_are_left_as_they_were():
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def send(number, times=1):
    for _ in range(times):
        os.kill(os.getpid(), number)
        time.sleep(0.01)


def at(sweep, number, times=1):
    """Report that sends a signal when chain 0 has done so many sweeps."""

    def report(chain, done, total, note=""):
        if chain == 0 and done >= sweep and not report.sent:
            report.sent = True
            send_until_heard(number, times)

    report.sent = False
    return report


def same_start(part, whole):
    n = part["posterior"].sizes["draw"]
    for name, values in part["posterior"].data_vars.items():
        chains = values.sizes["chain"]
        np.testing.assert_array_equal(values.values, whole["posterior"][name].values[:chains, :n])
    return n


@every_signal
def test_signals_are_held_however_often_they_come(number):
    with held_signals() as stop:
        assert not stop.asked
        with held_signals() as inner:
            send(number, 3)
        assert inner is stop
        assert stop.asked


@every_signal
def test_the_first_signal_is_raised_where_asked(number):
    with held_signals() as stop:
        with pytest.raises(KeyboardInterrupt), stop.raised():
            send(number)
        send(number)
        with pytest.raises(KeyboardInterrupt), stop.raised():
            pass


def test_signals_that_are_ignored_stay_ignored():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with held_signals() as stop:
        send(signal.SIGTERM)
        assert not stop.asked
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


@every_signal
def test_a_kernel_keeps_what_was_drawn(number):
    whole = sample(MODEL, CORPUS, **SETTINGS)
    part = sample(MODEL, CORPUS, **SETTINGS, progress=at(18, number, 2), workers=1)
    assert part.attrs["interrupted"] == 1
    assert same_start(part, whole) == 8
    assert whole.attrs["interrupted"] == 0
    with pytest.raises(KeyboardInterrupt, match="before the last draw"):
        sample(MODEL, CORPUS, **SETTINGS, progress=at(18, number), workers=1, partial=False)


@pytest.mark.parametrize("partly", [False, True])
def test_chains_that_are_done_are_not_cut_to_one_that_has_begun(tmp_path, partly):
    """Chain 2 has one draw, or none."""

    def report(chain, done, total, note=""):
        if chain == 2 and done == 10 + partly:
            send_until_heard(signal.SIGINT)

    run = SETTINGS | {"chains": 4, "keep": 4, "workers": 1}
    whole = sample(MODEL, CORPUS, **run)
    part = sample(MODEL, CORPUS, **run, progress=report, checkpoint=tmp_path)
    assert part.attrs["interrupted"] == 1
    assert part.attrs["left_out"] == "2,3"
    assert same_start(part, whole) == 20
    np.testing.assert_array_equal(part["latents"]["z"].values, whole["latents"]["z"].values[:2])
    resumed = sample(MODEL, CORPUS, **run, checkpoint=tmp_path, resume=True)
    assert "left_out" not in resumed.attrs
    assert same_start(resumed, whole) == 20
    assert resumed["posterior"].sizes["chain"] == 4


@pytest.mark.parametrize(("sweep", "expected"), [(11, 1), (14, 1), (15, 1), (20, 2)])
def test_latents_are_kept_however_early_a_kernel_is_stopped(sweep, expected):
    run = SETTINGS | {"keep": 4, "chains": 1}
    part = sample(MODEL, CORPUS, **run, progress=at(sweep, signal.SIGINT))
    assert part["posterior"].sizes["draw"] == sweep - 10
    assert part["latents"].sizes["kept"] == expected


def test_a_kernel_stopped_while_tuning_says_what_was_kept(tmp_path):
    with pytest.raises(KeyboardInterrupt, match="before the first draw; nothing was kept"):
        sample(MODEL, CORPUS, **SETTINGS, progress=at(3, signal.SIGTERM), workers=1)
    run = {"checkpoint": tmp_path / "run"}
    with pytest.raises(KeyboardInterrupt, match=r"before the first draw; .* can be resumed from .*run"):
        sample(MODEL, CORPUS, **SETTINGS, **run, progress=at(3, signal.SIGINT), workers=1)
    whole = sample(MODEL, CORPUS, **SETTINGS)
    assert same_start(sample(MODEL, CORPUS, **SETTINGS, **run, resume=True), whole) == 20


@pytest.mark.slow
def test_numpyro_keeps_what_was_drawn(monkeypatch):
    with jax.enable_x64(True):
        compiled = nuts._compiled(MODEL.reference, CORPUS, 2, 2, 10)
    monkeypatch.setattr(nuts, "_compiled", lambda *arguments: compiled)
    monkeypatch.setattr(nuts, "MOST_AT_ONCE", 4)
    settings = SETTINGS | {"backend": "numpyro"}
    whole = sample(MODEL, CORPUS, **settings)
    for number in SIGNALS:
        part = sample(MODEL, CORPUS, **settings, progress=at(14, number, 2))
        assert part.attrs["interrupted"] == 1
        assert 4 <= same_start(part, whole) < 20
    with pytest.raises(KeyboardInterrupt, match="before the first draw"):
        sample(MODEL, CORPUS, **settings, progress=at(1, signal.SIGINT))


@pytest.fixture
def fit(tmp_path):
    """Run ``bnpzoo fit``."""
    write_corpus(CORPUS, tmp_path / "corpus.npz")
    short = ("--set", "n_topics=2", "--chains", 1, "--tune", 5, "--draws", 10)

    def fit(*arguments):
        command = ["fit", "lda", tmp_path / "corpus.npz", *short, *arguments]
        return CliRunner().invoke(app, [str(argument) for argument in command])

    return fit


def test_ctrl_c_while_the_draws_are_written_loses_nothing(fit, tmp_path, monkeypatch):
    write = xr.DataTree.to_netcdf

    def interrupted(*arguments, **options):
        send(signal.SIGINT, 2)
        send(signal.SIGTERM)
        return write(*arguments, **options)

    monkeypatch.setattr(xr.DataTree, "to_netcdf", interrupted)
    result = fit("--out", tmp_path / "fit.nc")
    assert result.exit_code == 0, result.output
    assert load(tmp_path / "fit.nc")["posterior"].sizes["draw"] == 10


def test_draws_that_cannot_be_written_go_elsewhere_and_the_line_says_where(fit, tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    (tmp_path / "fit.nc").symlink_to("/dev/full")
    result = fit("--out", tmp_path / "fit.nc")
    assert result.exit_code == 2
    assert "fit.nc: cannot be written: No space left on device" in result.stderr
    (rescued,) = home.iterdir()
    assert f"the draws are in {rescued}" in result.stderr
    assert load(rescued)["posterior"].sizes["draw"] == 10


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("no/fit.nc", "no to exist"),
        ("folder.nc", "a folder"),
        (".", "ends in .nc or .zarr"),
        ("", "after --out"),
    ],
)
def test_where_draws_go_is_checked_before_the_first_sweep(fit, tmp_path, monkeypatch, out, message):
    (tmp_path / "folder.nc").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bnpzoo.zoo.inference.sample", lambda *arguments, **options: pytest.fail("sampled"))
    result = fit("--out", out)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert message in result.stderr


def test_a_fit_that_will_not_be_kept_says_so_before_it_starts(fit):
    assert "The draws will not be kept" in fit().stderr


def test_a_fit_stopped_while_tuning_says_so(fit, monkeypatch):
    def stopped(*arguments, **options):
        raise KeyboardInterrupt("stopped before the first draw; nothing was kept")

    monkeypatch.setattr("bnpzoo.zoo.inference.sample", stopped)
    result = fit()
    assert result.exit_code == 130
    assert "Interrupted: stopped before the first draw; nothing was kept." in result.stderr


def test_chains_that_are_left_out_are_named(fit, monkeypatch):
    run = sample

    def without(*arguments, **options):
        tree = run(*arguments, **options)
        tree.attrs["left_out"] = "1,3"
        return tree

    monkeypatch.setattr("bnpzoo.zoo.inference.sample", without)
    result = fit("--json")
    told = "Time was up after 10 draws a chain; left out, since they had fewer: chains 1,3"
    assert told in " ".join(result.stderr.split())
    found = json.loads(result.stdout)
    assert (found["chains"], found["draws"], found["interrupted"]) == (1, 10, False)


def test_time_that_is_up_before_the_first_draw_is_an_error(fit):
    result = fit("--within", "0.000001s")
    assert result.exit_code == 2
    assert "error: within: time was up before the first draw" in result.stderr


def test_resume_needs_a_checkpoint(fit):
    result = fit("--resume")
    assert result.exit_code == 2
    assert "resume: expected a checkpoint to go on from" in result.stderr
    result = fit("--checkpoint", "")
    assert "expected something after --checkpoint" in result.stderr
    with pytest.raises(ValueError, match="checkpoint: expected the name of a folder"):
        sample(MODEL, CORPUS, **SETTINGS, checkpoint="")

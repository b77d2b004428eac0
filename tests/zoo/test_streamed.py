"""Draws on disk: those of `sample` to the last bit, whatever ends the run, in memory that does not grow."""

import errno
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import bnpzoo
import numpy as np
import pytest
import xarray as xr
from bnpzoo.zoo.inference import ResultsError, load, sample, stream, streamed
from bnpzoo.zoo.inference import store as stores
from bnpzoo.zoo.inference.checkpoint import CheckpointError
from bnpzoo.zoo.inference.streamed import DRAWS

from tests.helpers.signals import send_until_heard

pytest.importorskip("zarr")

RUN = {"chains": 2, "tune": 7, "draws": 20, "seed": 3, "keep": 4}


@pytest.fixture(params=["lda", "hdp"])
def model(request):
    return bnpzoo.get(request.param, **({"n_topics": 3} if request.param == "lda" else {}))


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(0)
    return bnpzoo.Corpus(
        rng.integers(9, size=60), np.arange(0, 61, 6), n_words=9, covariates={"ä/b": ["x"] * 10}
    )


def assert_same(found, expected, n_draws=None):
    """All but times; of the first draws."""
    assert set(found.children) == set(expected.children)
    for group in expected.children:
        a, b = found[group].to_dataset(), expected[group].to_dataset()
        if n_draws is not None:
            b = b.isel(draw=slice(n_draws)) if group in ("posterior", "sample_stats") else b
            b = b.isel(kept=slice(n_draws // 5)) if group == "latents" else b
        times = ["seconds"] if group == "sample_stats" else []
        assert a.drop_vars(times).equals(b.drop_vars(times)), group


@pytest.mark.parametrize("at_once", [3, 128])
def test_the_draws_of_sample(tmp_path, model, corpus, at_once, monkeypatch):
    monkeypatch.setattr(stores, "DRAWS_AT_ONCE", at_once)
    monkeypatch.setattr("bnpzoo.zoo.inference.streamed.DRAWS_AT_ONCE", at_once)
    monkeypatch.setattr(stores, "TOKENS_AT_ONCE", 16)
    expected = sample(model, corpus, **RUN)
    assert stream(tmp_path / "a.zarr", model, corpus, **RUN)
    found = load(tmp_path / "a.zarr")
    assert_same(found, expected)
    times = ("wall_seconds", "compile_seconds")
    assert {k: v for k, v in found.attrs.items() if k not in times} == {
        k: v for k, v in expected.attrs.items() if k not in times
    }
    assert [path.name for path in tmp_path.iterdir()] == ["a.zarr"]


def stopped_after(sweep, chain=1):
    """Report that asks the run to stop when a chain is there."""

    def report(number, done, total, note):
        if number == chain and done == sweep:
            send_until_heard(signal.SIGINT)

    return report


def test_interrupted_and_resumed(tmp_path, model, corpus):
    expected = sample(model, corpus, **RUN)
    saved = tmp_path / "saved"
    options = RUN | {"checkpoint": saved, "workers": 1}
    stop = stopped_after(7 + 11)
    assert not stream(tmp_path / "a.zarr", model, corpus, **options, progress=stop)
    cut = load(tmp_path / "a.zarr")
    assert cut.attrs["interrupted"] == 1
    assert_same(cut, expected, cut["posterior"].sizes["draw"])
    assert stream(tmp_path / "b.zarr", model, corpus, **options, resume=True)
    assert_same(load(tmp_path / "b.zarr"), expected)
    assert stream(tmp_path / "c.zarr", model, corpus, **options, resume=True)
    assert_same(load(tmp_path / "c.zarr"), expected)


@pytest.mark.parametrize("first", [False, True])
def test_chains_that_are_done_are_kept(tmp_path, model, corpus, first, monkeypatch):
    """The first chain, or the last, has fewer draws than the others."""
    run = RUN | {"chains": 3, "workers": 1}

    def in_turn(self, stop, report, goal):
        before(self, stop, report, 7 + 2 if first and self.number == 0 else goal)

    stop = stopped_after(27 if first else 8, chain=2)
    before = streamed.StreamedChain.run
    monkeypatch.setattr(streamed.StreamedChain, "run", in_turn)
    monkeypatch.setattr(stores, "DRAWS_AT_ONCE", 3)
    assert not stream(tmp_path / "a.zarr", model, corpus, **run, progress=stop)
    found, used = load(tmp_path / "a.zarr"), [1, 2] if first else [0, 1]
    assert (found.attrs["interrupted"], found.attrs["left_out"]) == (1, "0" if first else "2")
    expected = sample(model, corpus, **run)
    for group in ("posterior", "warmup_posterior"):
        for name, values in found[group].data_vars.items():
            np.testing.assert_array_equal(values.values, expected[group][name].values[used], err_msg=name)
    np.testing.assert_array_equal(found["latents"]["z"].values, expected["latents"]["z"].values[used])


def test_stopped_before_the_first_draw(tmp_path, corpus):
    model, stop = bnpzoo.get("lda", n_topics=3), stopped_after(2, chain=0)
    with pytest.raises(KeyboardInterrupt, match="before the first draw; nothing was kept"):
        stream(tmp_path / "a.zarr", model, corpus, **RUN, workers=1, progress=stop)
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, sys, signal
import numpy as np, bnpzoo
from bnpzoo.zoo.inference import chain, stream
chain.CHECKPOINT_SECONDS = 0.0
rng = np.random.default_rng(0)
words, ends = rng.integers(9, size=60), np.arange(0, 61, 6)
corpus = bnpzoo.Corpus(words, ends, n_words=9, covariates={"ä/b": ["x"] * 10})
def report(number, done, total, note):
    if number == 1 and done == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
stream(sys.argv[1] + "/a.zarr", bnpzoo.get("lda", n_topics=3), corpus, chains=2, tune=7, draws=20, seed=3,
       keep=4, workers=1, checkpoint=sys.argv[1] + "/saved", progress=report)
"""


@pytest.mark.parametrize("sweep", [1, 9, 17])
@pytest.mark.slow
def test_killed_and_resumed(tmp_path, corpus, sweep):
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path, str(sweep)], timeout=300)
    assert done.returncode == -signal.SIGKILL
    assert not (tmp_path / "a.zarr").exists()
    model = bnpzoo.get("lda", n_topics=3)
    assert stream(tmp_path / "a.zarr", model, corpus, **RUN, checkpoint=tmp_path / "saved", resume=True)
    assert_same(load(tmp_path / "a.zarr"), sample(model, corpus, **RUN))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zarr", "saved"]


def test_another_run_is_not_gone_on_with(tmp_path, corpus):
    model, saved = bnpzoo.get("lda", n_topics=3), tmp_path / "saved"
    stream(tmp_path / "a.zarr", model, corpus, **RUN, checkpoint=saved)
    with pytest.raises(ValueError, match="was made with seed = 3, this run has 4"):
        stream(tmp_path / "b.zarr", model, corpus, **RUN | {"seed": 4}, checkpoint=saved, resume=True)
    with pytest.raises(OSError, match="expected the name of a new folder"):
        stream(tmp_path / "a.zarr", model, corpus, **RUN)
    with pytest.raises(ValueError, match="was made with streamed = True, this run has False"):
        sample(model, corpus, **RUN, checkpoint=saved, resume=True)


def flipped(path):
    """Change one bit in the middle of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 16
    path.write_bytes(bytes(data))


@pytest.mark.parametrize(
    ("harm", "what"),
    [
        (shutil.rmtree, "."),
        (shutil.rmtree, "posterior/log_joint"),
        (shutil.rmtree, "latents"),
        (Path.unlink, "sample_stats/seconds/c/0/0"),
        (Path.unlink, "posterior/n_topics/c/0/0"),
        (Path.unlink, "latents/z/c/0/0/0"),
        (flipped, "posterior/log_likelihood/c/0/0"),
        (flipped, "latents/z/c/0/2/0"),
    ],
)
def test_draws_that_are_gone_are_missed(tmp_path, corpus, harm, what):
    model, options = bnpzoo.get("lda", n_topics=3), RUN | {"checkpoint": tmp_path / "saved"}
    stream(tmp_path / "a.zarr", model, corpus, **options)
    harm(tmp_path / "saved" / DRAWS / what)
    message = r"chain-0\.npz: .*expected its 20 draws in draws\.zarr beside it, but .* (lost|damaged)"
    with pytest.raises(CheckpointError, match=message):
        stream(tmp_path / "b.zarr", model, corpus, **options, resume=True)
    assert not (tmp_path / "b.zarr").exists()


def test_a_chain_whose_draws_are_lost_is_drawn_anew_without_its_checkpoint(tmp_path, corpus):
    model, saved = bnpzoo.get("lda", n_topics=3), tmp_path / "saved"
    stream(tmp_path / "a.zarr", model, corpus, **RUN, checkpoint=saved)
    (saved / DRAWS / "posterior/n_topics/c/0/0").unlink()
    (saved / "chain-0.npz").unlink()
    assert stream(tmp_path / "b.zarr", model, corpus, **RUN, checkpoint=saved, resume=True)
    assert_same(load(tmp_path / "b.zarr"), load(tmp_path / "a.zarr"))


@pytest.mark.parametrize(
    ("harm", "message"), [(flipped, "expected a fit as Zarr, found none or a damaged one"), (Path.unlink, "")]
)
def test_any_chunk_that_is_damaged_or_lost_is_noticed(tmp_path, corpus, harm, message):
    place, corpus = tmp_path / "a.zarr", replace(corpus, group=np.arange(10) % 2)
    stream(place, bnpzoo.get("hdp"), corpus, **RUN | {"keep": 1, "chains": 1})
    chunks = [path for path in place.rglob("*") if path.is_file() and path.name != "zarr.json"]
    for chunk in chunks:
        before = chunk.read_bytes()
        harm(chunk)
        with pytest.raises(ResultsError, match=rf"a\.zarr: {message}"):
            pytest.fail(f"{chunk.relative_to(place)}: {load(place)['posterior']}")
        chunk.write_bytes(before)
    load(place)


def test_a_folder_that_another_program_wrote_again(tmp_path, corpus):
    """Its chunks that hold nothing but the fill value need not be there."""
    run = RUN | {"chains": 1, "tune": 3, "draws": 2, "keep": 1}
    stream(tmp_path / "a.zarr", bnpzoo.get("lda", n_topics=1), corpus, **run)
    with xr.open_datatree(tmp_path / "a.zarr", engine="zarr", consolidated=False) as tree:
        tree.load().to_zarr(tmp_path / "b.zarr", consolidated=False)
    assert load(tmp_path / "b.zarr").equals(load(tmp_path / "a.zarr"))


def test_a_folder_of_old_is_read(tmp_path, model, corpus, monkeypatch):
    """It has no checksums, and whole numbers that are lost read as 0; other draws are missed all the same."""
    monkeypatch.setattr(stores, "_codecs", lambda: "auto")
    monkeypatch.setattr(stores, "_fill", lambda dtype: np.nan if dtype.kind == "f" else 0)
    stream(tmp_path / "a.zarr", model, corpus, **RUN)
    monkeypatch.undo()
    assert_same(load(tmp_path / "a.zarr"), sample(model, corpus, **RUN))
    (tmp_path / "a.zarr" / "posterior/n_topics/c/0/0").unlink()
    with pytest.raises(ResultsError, match="n_topics: expected finite numbers, found 20 that are not"):
        load(tmp_path / "a.zarr")


def full(*_, **__):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("name", ["write", "keep"])
def test_a_disk_that_takes_no_draws_ends_the_run(tmp_path, corpus, monkeypatch, name):
    monkeypatch.setattr(stores.Store, "_array", full)
    monkeypatch.setattr(streamed.Store, "keep" if name == "write" else "write", lambda *_: None)
    with pytest.raises(OSError, match=r"a\.zarr\..*: draws cannot be written: No space left on device"):
        stream(tmp_path / "a.zarr", bnpzoo.get("lda", n_topics=3), corpus, **RUN)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("step", ["cut", "complete"])
def test_a_disk_that_is_full_in_the_end_is_named(tmp_path, corpus, monkeypatch, step):
    monkeypatch.setattr(streamed, step, full)
    with pytest.raises(OSError, match=r"/a\.zarr: draws cannot be written: No space left on device"):
        stream(tmp_path / "a.zarr", bnpzoo.get("lda", n_topics=3), corpus, **RUN)


def test_what_comes_to_the_place_of_a_fit_meanwhile_stays(tmp_path, corpus):
    model, place = bnpzoo.get("lda", n_topics=3), tmp_path / "a.zarr"

    def put_something(*_):
        place.mkdir(exist_ok=True)

    with pytest.raises(FileExistsError, match="something has come there meanwhile; what was made is in"):
        stream(place, model, corpus, **RUN, workers=1, progress=put_something)
    (other,) = tmp_path.glob("a-*.zarr")
    assert list(place.iterdir()) == []
    assert_same(load(other), sample(model, corpus, **RUN))


def test_what_is_no_fit(tmp_path, corpus):
    stream(tmp_path / "a.zarr", bnpzoo.get("lda", n_topics=3), corpus, **RUN)
    with pytest.raises(ResultsError, match=r"absent.zarr"):
        load(tmp_path / "absent.zarr")
    (tmp_path / "empty.zarr").mkdir()
    with pytest.raises(ResultsError, match=r"empty.zarr: expected a fit as Zarr, found none"):
        load(tmp_path / "empty.zarr")
    attributes = tmp_path / "a.zarr" / "zarr.json"
    attributes.write_text(attributes.read_text().replace('"model"', '"nodel"'))
    with pytest.raises(ResultsError, match=r"a.zarr: expected an attribute model; it is missing"):
        load(tmp_path / "a.zarr")


def test_draws_are_not_held(tmp_path, corpus, monkeypatch):
    """No chain ever holds more draws than are written at once, nor the latents of any."""
    held = []
    before = streamed.StreamedChain.run

    def report(number, done, total, note):
        held.extend(
            max(len(c.record.seconds), len(c.record.quantities)) + 99 * len(c.record.kept) for c in runners
        )

    runners = []

    def run(self, *arguments):
        runners.append(self)
        before(self, *arguments)

    monkeypatch.setattr(streamed.StreamedChain, "run", run)
    monkeypatch.setattr(streamed, "DRAWS_AT_ONCE", 4)
    stream(tmp_path / "a.zarr", bnpzoo.get("lda", n_topics=3), corpus, **RUN, workers=1, progress=report)
    assert 0 < max(held) <= 4

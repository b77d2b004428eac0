"""Chains on a cluster of Dask: the bits of threads, with any number of workers, and after one is killed."""

import os
import signal
import sys
import time
from threading import Lock

import numpy as np
import pytest
from bnpzoo import Corpus, get, load, sample
from bnpzoo.zoo.inference import ClusterError, check_address, cluster, cluster_at, remote, stream
from samplers import HEAVY_COMPILED

from tests.helpers.signals import send_until_heard

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.compiled  # many sweeps

RUN = {"chains": 3, "tune": 20, "draws": 60, "thin": 2, "seed": 5, "keep": 4}


@pytest.fixture(autouse=True)
def short_pieces(monkeypatch):
    monkeypatch.setattr(remote, "PIECE_SECONDS", 0.02)
    monkeypatch.setattr(remote, "WORK_TO_OVERHEAD", 0.0)


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(0)
    return Corpus(rng.integers(9, size=300), np.arange(0, 301, 6), n_words=9)


def workers(n_workers, n_threads=1):
    """Start a cluster inside this process, whose workers get their data as others do."""
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=n_threads,
        processes=False,
        protocol="tcp",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        memory_limit=0,  # which would count what all tests before have filled, and pause them
    )


@pytest.fixture(scope="module")
def client():
    with workers(2) as own, distributed.Client(own, set_as_default=False) as client:
        yield client


def assert_same(found, expected):
    for group in ("posterior", "warmup_posterior", "latents", "observed_data", "constant_data"):
        assert found[group].to_dataset().identical(expected[group].to_dataset()), group
    told = {"wall_seconds", "compile_seconds", "within"}
    assert {k: v for k, v in found.attrs.items() if k not in told} == {
        k: v for k, v in expected.attrs.items() if k not in told
    }


@pytest.mark.parametrize(("n_workers", "n_threads"), [(1, 1), (2, 1), (4, 1), (1, 4)])
@pytest.mark.slow
def test_the_draws_of_sample(corpus, n_workers, n_threads):
    expected = {name: sample(get(name), corpus, **RUN, workers=n_workers) for name in ("lda", "hdp")}
    with workers(n_workers, n_threads) as own, distributed.Client(own, set_as_default=False) as client:
        for name, tree in expected.items():
            seen = []
            found = sample(
                get(name), corpus, cluster=client, **RUN, progress=lambda *told, s=seen: s.append(told[1])
            )
            assert_same(found, tree)
            assert len(seen) > RUN["chains"]
            assert max(seen) == RUN["tune"] + RUN["draws"] * RUN["thin"]
            assert np.all(found["sample_stats"]["seconds"] > 0)


@pytest.mark.slow
def test_computations_of_the_users_own_stay_where_they_were():
    with cluster_at("local:1"):
        assert dask.config.get("scheduler", None) is None
    assert dask.config.get("scheduler", None) is None


@pytest.mark.parametrize("n_workers", [1, pytest.param(2, marks=HEAVY_COMPILED)])
@pytest.mark.slow
def test_the_draws_after_a_worker_is_killed(corpus, n_workers):
    model, run = get("hdp"), RUN | {"draws": 300}
    expected, killed, one_chain_at_a_time = sample(model, corpus, **run), [], Lock()
    with cluster_at(f"local:{n_workers}") as client:

        def kill(chain, done, total, note=""):
            with one_chain_at_a_time:
                if not killed and done > 100:
                    killed.append(next(iter(client.run(os.getpid).values())))
                    os.kill(killed[0], signal.SIGKILL)

        assert_same(sample(model, corpus, cluster=client, **run, progress=kill), expected)
    assert killed


def set_all(client, status):
    client.run(lambda dask_worker: setattr(dask_worker, "status", distributed.core.Status[status]))


def test_paused_workers_are_waited_for(corpus, client):
    notes, one_chain_at_a_time = [], Lock()

    def listen(chain, done, total, note=""):
        with one_chain_at_a_time:
            if not notes and done > 20:
                notes.append("")
                set_all(client, "paused")
            if "out of memory" in note:
                notes.append(note)
                set_all(client, "running")

    found = sample(get("lda"), corpus, cluster=client, **RUN, progress=listen)
    assert_same(found, sample(get("lda"), corpus, **RUN))
    assert set(notes) == {"", "all workers are paused; out of memory?"}


def test_sending_is_given_up_long_before_dask_would_while_workers_are_paused(client):
    set_all(client, "paused")
    try:
        while not remote._what_is_missing(client):
            time.sleep(0.05)
        started = time.monotonic()
        with pytest.raises(TimeoutError):
            remote.Held(client, object).sent()
        assert time.monotonic() - started < 15.0  # it waits for half a minute
    finally:
        set_all(client, "running")


@pytest.mark.slow
def test_chains_until_they_meet(corpus, client, monkeypatch):
    monkeypatch.setattr(remote, "PIECE_SECONDS", 0.5)
    run = RUN | {"draws": 300}
    expected = sample(get("lda"), corpus, **run, until=1.5)
    assert_same(sample(get("lda"), corpus, cluster=client, **run, until=1.5), expected)


def test_time_is_up(corpus, client):
    tree = sample(get("hdp"), corpus, cluster=client, **(RUN | {"draws": 5}), within=0.5)
    attributes = tree.attrs
    plain = {"tune": attributes["tune"], "thin": attributes["thin"], "draws": tree["posterior"].sizes["draw"]}
    expected = sample(get("hdp"), corpus, **(RUN | plain))
    assert tree["posterior"].to_dataset().identical(expected["posterior"].to_dataset())


def test_a_run_that_was_stopped_is_resumed_in_threads_and_back(tmp_path, corpus, client):
    model, run = get("hdp"), RUN | {"checkpoint": tmp_path, "draws": 300}
    expected = sample(model, corpus, **(run | {"checkpoint": None}))

    def stop_at(sweep):
        def progress(chain, done, total, note=""):
            if done >= sweep:
                send_until_heard(signal.SIGINT)

        return progress

    first = sample(model, corpus, cluster=client, **run, progress=stop_at(50))
    assert first.attrs["interrupted"] == 1
    assert first["posterior"].sizes["draw"] < 300
    second = sample(model, corpus, **run, resume=True, progress=stop_at(400))
    assert second.attrs["interrupted"] == 1
    assert_same(sample(model, corpus, cluster=client, **run, resume=True), expected)


def test_draws_go_to_disk(tmp_path, corpus, client, monkeypatch):
    pytest.importorskip("zarr")
    monkeypatch.setattr("bnpzoo.zoo.inference.streamed.DRAWS_AT_ONCE", 7)
    monkeypatch.setattr("bnpzoo.zoo.inference.store.DRAWS_AT_ONCE", 7)
    settings = RUN | {"checkpoint": tmp_path / "saved"}
    assert stream(tmp_path / "a.zarr", get("lda"), corpus, **settings, cluster=client)
    found, expected = load(tmp_path / "a.zarr"), sample(get("lda"), corpus, **RUN)
    for group in ("posterior", "warmup_posterior", "latents"):
        assert found[group].to_dataset().equals(expected[group].to_dataset()), group


def test_an_error_of_a_piece_is_that_of_the_run(corpus, client, monkeypatch):
    def fails(state):
        raise AssertionError("a count differs")

    monkeypatch.setattr("bnpzoo.kernels.toolbox.sweeps.check", fails)
    with pytest.raises(AssertionError, match="a count differs"):
        sample(get("hdp"), corpus, cluster=client, **RUN, paranoid=True)


@pytest.mark.parametrize("address", ["", "here", "local:", "local:0", "local:two", "nowhere.json"])
def test_what_is_no_address(address):
    with pytest.raises(ValueError, match=r"^dask: expected [^\n]*$"):
        check_address(address)


def test_nobody_answers(tmp_path, corpus, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.2)
    (tmp_path / "scheduler.json").write_text("{}")
    for address in ("tcp://127.0.0.1:1", "what://127.0.0.1:1", str(tmp_path / "scheduler.json")):
        with pytest.raises(ClusterError, match=rf"^dask: {address}: no scheduler answers: [^\n]+$"):
            sample(get("lda"), corpus, cluster=address)


def test_no_worker_joins(corpus, monkeypatch):
    monkeypatch.setattr(cluster, "JOIN_SECONDS", 0.2)
    with (
        workers(0) as own,
        distributed.Client(own, set_as_default=False) as client,
        pytest.raises(ClusterError, match=r"^dask: tcp://[^\n]*: no worker has joined within 0 s$"),
    ):
        sample(get("lda"), corpus, cluster=client)


def test_workers_with_other_software_are_refused(corpus, client, monkeypatch):
    here = cluster.software() | {"numba": "0.1"}
    with pytest.raises(ClusterError, match=r"^dask: worker x: numba is [\d.]+ there and 0.1 here; [^\n]*$"):
        cluster.check_software(cluster.software(), here, "x")
    monkeypatch.setattr(remote, "software", lambda: here)  # as where a worker joins later
    with pytest.raises(ClusterError, match=r"^dask: worker process \d+: numba is"):
        sample(get("lda"), corpus, cluster=client)


def test_the_library_is_optional(corpus, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"^a cluster needs [^\n]*: pip install 'bnpzoo\[dask\]'$"):
        sample(get("lda"), corpus, cluster="local:1")

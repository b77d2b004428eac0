"""`--dask`: the draws of threads, and what it does not go with."""

import pytest
from bnpzoo.zoo.inference import ClusterError, load, remote

pytest.importorskip("distributed")

pytestmark = pytest.mark.compiled

RUN = ("--set", "n_topics=2", "--tune", 5, "--draws", 20, "--chains", 2)


@pytest.mark.slow
def test_the_draws_are_the_same(run, corpus_file, tmp_path):
    found = []
    for name, options in (("here.nc", ()), ("there.nc", ("--dask", "local:1"))):
        result = run("fit", "lda", corpus_file, *RUN, *options, "--out", tmp_path / name)
        assert result.exit_code == 0, result.output
        found.append(load(tmp_path / name)["posterior"].to_dataset())
    assert found[0].identical(found[1])


@pytest.mark.slow
def test_a_lost_cluster_says_how_to_go_on(run, corpus_file, tmp_path, monkeypatch):
    def lose(*arguments):
        raise ClusterError("dask: the scheduler is lost")

    monkeypatch.setattr(remote.Pieces, "make", lose)
    result = run("fit", "lda", corpus_file, *RUN, "--dask", "local:1", "--checkpoint", tmp_path / "chains")
    assert result.exit_code == 2
    message = f"dask: the scheduler is lost; --resume goes on from {tmp_path / 'chains'}"
    assert message in result.stderr.replace("\n", "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--dask", "local:1", "--backend", "numpyro"), "--dask: expected a kernel; backend 'numpyro'"),
        (("--dask", "local:many"), "dask: expected a number of processes after local:, found 'many'"),
        (("--dask", "nowhere"), "dask: expected local, local:N, tcp://HOST:PORT or the file of a scheduler"),
    ],
)
def test_what_is_no_cluster(run, corpus_file, options, message):
    result = run("fit", "lda", corpus_file, *RUN, *options)
    assert result.exit_code == 2
    assert message in result.stderr


def test_models_are_validated_one_by_one_here(run):
    result = run("validate", "lda", "--dask", "local:1")
    assert result.exit_code == 2
    assert "--dask" in result.stderr

"""Options and commands by which chains meet, or are seen not to."""

import json
from dataclasses import replace

import numpy as np
import pytest
from bnpzoo.cli.settings import seconds_of
from bnpzoo.zoo.formats import write_corpus
from bnpzoo.zoo.inference import load
from samplers import as_plain_python


@pytest.mark.parametrize(("time", "seconds"), [("90s", 90.0), ("1.5m", 90.0), ("2h", 7200.0), (None, None)])
def test_times(time, seconds):
    assert seconds_of(time) == seconds


@pytest.mark.parametrize("time", ["10", "m", "-1s", "0s", "nans", "infs", "1 0s", "", "ten m"])
def test_times_that_are_none(time):
    with pytest.raises(ValueError, match="expected a time such as 90s, 10m or 2h"):
        seconds_of(time)


@pytest.mark.slow
def test_fit_goes_on_until_chains_have_met(run, corpus_file, tmp_path):
    out = tmp_path / "fit.nc"
    options = ("--set", "n_topics=2", "--chains", 2, "--tune", 50, "--draws", 50, "--out", out)
    result = run(
        "fit", "lda", corpus_file, *options, "--until", 1.5, "--within", "20s", "--start", "one,documents"
    )
    assert result.exit_code == 0, result.output
    fit = load(out)
    assert fit.attrs["until"] == 1.5
    assert fit.attrs["within"] == 20.0
    assert fit.attrs["start"] == "one,documents"
    assert 50 <= fit["posterior"].sizes["draw"] <= 101
    again = run("fit", "lda", corpus_file, *options[:-2], "--start", out)
    assert again.exit_code == 0, again.output


@as_plain_python
def test_a_start_says_how_much_of_the_corpus_it_knows(run, corpus, tmp_path):
    training, _ = corpus.split("is_test")
    old, grown = tmp_path / "old.npz", tmp_path / "grown.npz"
    write_corpus(replace(training, covariates={}), old)
    write_corpus(replace(corpus, covariates={}), grown)
    quick = ("--set", "n_topics=2", "--chains", 1, "--tune", 1, "--draws", 2)
    first = run("fit", "lda", old, *quick, "--out", tmp_path / "old.nc")
    assert first.exit_code in (0, 3), first.output
    again, more = (run("fit", "lda", file, *quick, "--start", tmp_path / "old.nc") for file in (old, grown))
    assert "that it knows by their words" not in again.stderr
    told = f"{training.n_tokens} of {corpus.n_tokens} tokens are in documents that it knows by their words"
    assert told in " ".join(more.stderr.split())


@pytest.mark.parametrize("out", ["fit.nc", "fit.zarr"])
def test_fit_grows(run, corpus_file, tmp_path, out):
    place, chains = tmp_path / out, tmp_path / "chains"
    options = ("--chains", 2, "--tune", 4, "--draws", 3, "--start", "one", "--seed", 2)
    result = run("fit", "hdp", corpus_file, *options, "--grow", 2, "--out", place, "--checkpoint", chains)
    assert result.exit_code == 0, result.output
    assert "1/2 of the documents" in result.stderr
    assert "All documents" in result.stderr
    fit = load(place)
    assert fit.attrs["grow"] == 2
    assert fit.attrs["start"] == "one"
    assert (chains / "1-in-2").is_dir()
    plain = tmp_path / "plain.nc"
    assert run("fit", "hdp", corpus_file, *options, "--out", plain).exit_code == 0
    assert not np.array_equal(
        fit["posterior"]["log_joint"].values, load(plain)["posterior"]["log_joint"].values
    )


def test_fit_cools(run, corpus_file, tmp_path):
    place, chains = tmp_path / "fit.nc", tmp_path / "chains"
    options = ("--chains", 2, "--tune", 4, "--draws", 3, "--start", "one", "--seed", 2)
    result = run("fit", "hdp", corpus_file, *options, "--cool", 2, "--out", place, "--checkpoint", chains)
    assert result.exit_code == 0, result.output
    assert "eta 0.2, 2 sweeps" in result.stderr
    assert "eta as the model has it" in result.stderr
    assert "the same command without --cool with --start" in " ".join(result.output.split())
    fit = load(place)
    assert fit.attrs["cool"] == 2
    assert fit.attrs["start"] == "one"
    assert (chains / "eta-1").is_dir()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--cool", 5, "--backend", "numpyro", "--truncation", 3), "--cool: expected a kernel"),
        (("--cool", 5, "--grow", 2), "--cool: expected no --grow beside it"),
        (("--grow", 99), "grow: expected 2 to 8, the documents with tokens, found 99"),
        (("--grow", 2, "--backend", "numpyro", "--truncation", 3), "--grow: expected a kernel"),
        (("--within", "soon"), "--within soon: expected a time such as 90s, 10m or 2h"),
        (("--until", "0.9"), "until: expected a number above 1, found 0.9"),
        (
            ("--until", "1.05", "--draws", 20),
            "until: expected 100 draws or more of all chains, as effective sample sizes are to be, found 4 "
            "chains of 20",
        ),
        (("--start", "two"), "start: expected seated, one, documents, random:K or the file of a fit"),
        (
            ("--start", "one", "--backend", "numpyro", "--truncation", 3),
            "start: backend 'numpyro' takes none",
        ),
    ],
)
def test_mistakes_are_one_line(run, corpus_file, options, message):
    result = run("fit", "hdp", corpus_file, *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.strip().count("\n") == 0


def test_chains_are_weighed(run, fit_file, corpus_file):
    command = ("evaluate", fit_file, corpus_file, "--split", "is_test", "--chains")
    *chains, together = json.loads(run(*command, "--json").stdout)["chains"]
    assert sum(chain["weight"] for chain in chains) == pytest.approx(1.0)
    assert together["perplexity"] <= min(chain["perplexity"] for chain in chains) + 1e-6
    assert "stacking" in run(*command).stdout


def test_mixing(run, fit_file):
    options = ("--set", "n_topics=2", "--sweeps", 20)
    result = run("mixing", "lda", *options, "--documents", 10, "--length", 8, "--words", 12, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["corpus"] == {"documents": 10, "tokens": 80, "words": 12}
    assert {entry["start"] for entry in found["entries"]} == {"one", "documents"}
    shown = run("mixing", "lda", *options, "--like", fit_file)
    assert shown.exit_code == 0, shown.output
    assert "From one, " in shown.stdout
    other = run("mixing", "hdp", "--like", fit_file)
    assert other.exit_code == 2
    assert "expected a fit of hdp, found one of lda" in other.stderr
    small = (
        "mixing", "lda", "--set", "n_topics=2", "--set", "eta=0.1", "--sweeps", 10, "--documents", 9,
        "--length", 8, "--words", 12, "--json",
    )  # fmt: skip
    plain, cooled = (json.loads(run(*small, *how).stdout)["entries"] for how in ((), ("--cool", 3)))
    of_one, of_cooled = (
        next(entry for entry in found if (entry["start"], entry["quantity"]) == ("one", "log_joint"))
        for found in (plain, cooled)
    )
    assert of_one["low"] == of_cooled["low"]
    assert of_one["end"] != of_cooled["end"]
    other = run("mixing", "lda", "--topics", "pitman-yor", "--cool", 3)
    assert other.exit_code == 2
    assert "cool: expected symmetric Dirichlet topics, found pitman-yor in lda" in other.stderr

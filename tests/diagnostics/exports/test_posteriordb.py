"""Entries of posteriordb: where their files lie, what they hold, and which draws pass for references."""

import json
import zipfile

import numpy as np
import pytest
from bnpzoo import Corpus, get, sample
from bnpzoo.diagnostics.compare import elements
from bnpzoo.diagnostics.exports import write_posteriordb

CORPUS = Corpus([0, 1, 0, 2, 2, 3, 3, 2], [0, 3, 5, 8])
FILES = {
    "data/data/micro.json.zip",
    "data/info/micro.info.json",
    "models/info/lda.info.json",
    "models/stan/lda.stan",
    "posteriors/micro-lda.json",
    "reference_posteriors/draws/draws/micro-lda.json.zip",
    "reference_posteriors/draws/info/micro-lda.info.json",
    "reference_posteriors/summary_statistics/mean_value/info/micro-lda.info.json",
    "reference_posteriors/summary_statistics/mean_value/mean_value/micro-lda.json",
}


def read(path):
    if path.suffix != ".zip":
        return json.loads(path.read_text(encoding="utf-8"))
    with zipfile.ZipFile(path) as archive:
        (name,) = archive.namelist()
        assert name == path.stem
        return json.loads(archive.read(name))


@pytest.fixture(scope="module")
def fit():
    return sample(get("lda", n_topics=2), CORPUS, chains=4, tune=50, draws=60, seed=3)


def test_an_entry_is_whole(fit, tmp_path):
    failed = write_posteriordb(fit, tmp_path, "micro")
    assert {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*.*")} == FILES
    posterior = read(tmp_path / "posteriors" / "micro-lda.json")
    info = read(tmp_path / "data" / "info" / "micro.info.json")
    assert (tmp_path / (info["data_file"] + ".zip")).exists()
    model = read(tmp_path / "models" / "info" / f"{posterior['model_name']}.info.json")
    code = (tmp_path / model["model_implementations"]["stan"]["model_code"]).read_text(encoding="utf-8")
    assert "#include" not in code
    data = read(tmp_path / "data/data/micro.json.zip")
    declared = code.partition("data {")[2].partition("transformed data {")[0]
    assert all(f" {name};" in declared or f"] {name};" in declared for name in data)
    assert data["counts"] == CORPUS.counts().tolist()
    assert "ndraws_is_gte_10k" in failed
    assert posterior["reference_posterior_name"] is None


def test_draws_and_means_are_those_of_the_fit(fit, tmp_path):
    write_posteriordb(fit, tmp_path, "micro")
    folder = tmp_path / "reference_posteriors"
    chains, means = (
        read(folder / "draws/draws/micro-lda.json.zip"),
        read(folder / "summary_statistics/mean_value/mean_value/micro-lda.json"),
    )
    draws = dict(elements(fit))
    assert len(chains) == 4
    assert all(chain.keys() == draws.keys() for chain in chains)
    assert means["names"] == list(draws)
    for name, mean in zip(means["names"], means["mean_value"], strict=True):
        np.testing.assert_array_equal([chain[name] for chain in chains], draws[name])
        assert mean == pytest.approx(draws[name].mean())
    dimensions = read(tmp_path / "posteriors/micro-lda.json")["dimensions"]
    assert sum(dimensions.values()) == len(draws)


def test_draws_without_memory_are_reference_draws(fit, tmp_path):
    rng = np.random.default_rng(0)
    chosen = fit.copy()
    posterior = fit["posterior"].to_dataset()
    new = {
        name: (x.dims, rng.normal(size=(10, 1000, *x.shape[2:]))) for name, x in posterior.data_vars.items()
    }
    chosen["posterior"] = type(posterior)(new)
    assert write_posteriordb(chosen, tmp_path, "micro") == []
    assert read(tmp_path / "posteriors/micro-lda.json")["reference_posterior_name"] == "micro-lda"
    new["log_joint"][1][:, 1:] = 0.5 * (new["log_joint"][1][:, 1:] + new["log_joint"][1][:, :-1])
    chosen["posterior"] = type(posterior)(new)
    assert write_posteriordb(chosen, tmp_path, "micro") == [
        "ess_within_bounds",
        "abs_mean_lag1_ac_below_0_05",
    ]


def test_what_moves_by_rounding_alone_has_no_diagnostics(fit, tmp_path):
    noisy = fit.copy()
    posterior = fit["posterior"].to_dataset()
    dims, shape = posterior["n_topics"].dims, posterior["n_topics"].shape
    rounding = 2e-15 * np.random.default_rng(0).integers(-2, 3, shape)
    noisy["posterior"] = posterior.assign(n_topics=(dims, 12.79 + rounding))
    write_posteriordb(noisy, tmp_path, "micro")
    info = read(tmp_path / "reference_posteriors/draws/info/micro-lda.info.json")
    names = info["diagnostics"]["diagnostic_information"]["names"]
    assert "log_joint" in names
    assert "n_topics" not in names


def test_what_cannot_be_exported_is_told_in_a_line(fit, tmp_path):
    with pytest.raises(ValueError, match=r"name: expected letters, digits and _, found '\.\./x'"):
        write_posteriordb(fit, tmp_path, "../x")
    hdp = sample(get("hdp"), CORPUS, chains=1, tune=1, draws=4, seed=0)
    with pytest.raises(ValueError, match="hdp: expected a truncation, the most topics of the Stan program"):
        write_posteriordb(hdp, tmp_path, "micro")
    write_posteriordb(hdp, tmp_path, "micro", truncation=5)
    assert read(tmp_path / "data/data/micro.json.zip")["K"] == 5


def test_data_of_another_fit_are_not_written_over(fit, tmp_path):
    write_posteriordb(fit, tmp_path, "micro")
    before = (tmp_path / "data/data/micro.json.zip").read_bytes()
    other = sample(get("lda", n_topics=2, alpha=3.0), CORPUS, chains=1, tune=1, draws=4)
    with pytest.raises(ValueError, match=r"micro\.json\.zip: data of another fit have this name"):
        write_posteriordb(other, tmp_path, "micro")
    assert (tmp_path / "data/data/micro.json.zip").read_bytes() == before
    write_posteriordb(fit, tmp_path, "micro")


def test_a_truncation_is_that_of_the_fit(fit, tmp_path):
    with pytest.raises(ValueError, match="truncation: lda has none"):
        write_posteriordb(fit, tmp_path, "micro", truncation=5)
    hdp = sample(get("hdp"), CORPUS, chains=1, tune=1, draws=4)
    hdp.attrs["truncation"] = 4
    with pytest.raises(ValueError, match="truncation: expected 4, that of the fit, found 9"):
        write_posteriordb(hdp, tmp_path, "micro", truncation=9)


def test_chains_that_do_not_move_have_no_autocorrelation(fit, tmp_path):
    still = fit.copy(deep=True)
    still["posterior"]["alpha"][:] = np.arange(still["posterior"].sizes["chain"])[:, None] + 1.0
    failed = write_posteriordb(still, tmp_path, "micro")
    assert "abs_mean_lag1_ac_below_0_05" in failed

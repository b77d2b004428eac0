"""Fits as files: what is damaged, or not as it was written, is refused in one line."""

import json

import h5py
import numpy as np
import pytest
from bnpzoo.zoo import models
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.inference import ResultsError, corpus_of, load, sample, save

from tests.helpers.disks import files_of_at_most


@pytest.fixture(scope="module")
def tree():
    model = models.get("hdp", eta=0.5)
    design = Design(np.full(5, 6), 7, covariates={"age": np.arange(5)})
    corpus = model.simulate(design, np.random.default_rng(0)).corpus
    return sample(model, corpus, chains=2, tune=2, draws=6, keep=2)


@pytest.fixture
def path(tree, tmp_path):
    path = tmp_path / "fit.nc"
    save(tree, path)
    return path


def test_what_was_written_is_read(tree, path):
    found = load(path)
    assert found.identical(tree) or found.equals(tree)
    assert corpus_of(found).digest() == corpus_of(tree).digest()
    with h5py.File(path) as file:  # the seal is no hindrance to others
        assert "posterior" in file


def test_a_corpus_of_one_token(tmp_path):
    fit = sample(models.get("hdp"), Corpus([0], [0, 1], n_words=1), chains=1, tune=1, draws=3, keep=2)
    assert "same_topic" not in fit["posterior"]
    save(fit, tmp_path / "fit.nc")
    assert load(tmp_path / "fit.nc").equals(fit)


def test_topics_may_outnumber_tokens(tmp_path):
    tree = sample(models.get("lda", n_topics=30), Corpus([0, 1], [0, 2]), chains=1, tune=2, draws=4)
    save(tree, tmp_path / "fit.nc")
    assert load(tmp_path / "fit.nc").identical(tree)


def test_what_a_full_disk_refuses_can_be_written_elsewhere(tree, tmp_path):
    """Had HDF5 met the full disk, it would end the process at the second file."""
    with files_of_at_most(5000), pytest.raises(OSError, match="File too large"):
        save(tree, tmp_path / "full.nc")
    assert not list(tmp_path.iterdir())
    save(tree, tmp_path / "fit.nc")
    assert load(tmp_path / "fit.nc").equals(tree)


def test_any_damaged_byte_is_noticed(path):
    data = path.read_bytes()
    for place in np.random.default_rng(0).integers(0, len(data) - 100, 20):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(ResultsError, match="found a damaged one: its checksum differs"):
            load(path)


@pytest.mark.parametrize("size", [0, 1, 100, 5000])
def test_a_file_that_is_cut_off(path, size):
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ResultsError, match=r"fit.nc: expected a fit as netCDF, found none"):
        load(path)


def test_a_fit_that_another_program_wrote_again(tree, path, tmp_path):
    tree.to_netcdf(tmp_path / "again.nc", engine="h5netcdf")
    assert load(tmp_path / "again.nc").equals(load(path))


def test_paths_that_are_none(tmp_path):
    for path, message in (
        ("", "empty"),
        (tmp_path, "expected a fit as Zarr, found none"),
        (tmp_path / "x.nc", "there is no such file"),
    ):
        with pytest.raises(ResultsError, match=message):
            load(path)


def _set(group, name, change):
    def changed(tree):
        dataset = tree[group].to_dataset()
        tree[group] = dataset.assign({name: (dataset[name].dims, change(dataset[name].values))})

    return changed


def _shape(group, name, shape):
    def changed(tree):
        dims = [f"axis {i}" for i in range(len(shape))]
        values = np.broadcast_to(tree[group][name].values.ravel()[0], shape)
        tree[group] = tree[group].to_dataset().drop_vars(name).assign({name: (dims, values)})

    return changed


def _drop(group, name):
    def changed(tree):
        tree[group] = tree[group].to_dataset().drop_vars(name)

    return changed


def _attribute(name, value):
    return lambda tree: tree.attrs.update({name: value})


def _last(values, value):
    values = values.copy()
    values[..., -1] = value
    return values


OTHER_MODEL = json.dumps({"gamma": ["Gamma", 1.0, 1.0], "alpha": ["Gamma", 1.0, 1.0], "eta": 0.7})

CHANGES = [
    (_set("observed_data", "words", np.zeros_like), "expected the corpus that was fitted"),
    (_set("constant_data", "vocabulary", lambda x: x[::-1]), "expected the corpus that was fitted"),
    (_set("constant_data", "doc_ptr", lambda x: x * 0), "expected a corpus: doc_ptr"),
    (_set("constant_data", "in_order", lambda x: np.array("x")), "in_order: expected axes"),
    (_shape("constant_data", "in_order", (2, 2)), "in_order: expected axes"),
    (_set("constant_data", "cells", lambda x: x + 10**6), "cells: expected places in the corpus"),
    (_set("constant_data", "pairs", lambda x: -x - 1), "pairs: expected places in the corpus"),
    (_drop("warmup_posterior", "sweep"), "warmup_posterior: expected a coordinate sweep"),
    (
        _set("warmup_posterior", "n_topics", lambda x: x.astype(int)),
        "warmup_posterior: n_topics: expected numbers, found int64",
    ),
    (_attribute("corpus_sha256", "0" * 64), "expected the corpus that was fitted"),
    (_attribute("corpus_sha256", "x"), "corpus_sha256: expected 64 hexadecimal digits, found 'x'"),
    (_attribute("model", "nope"), "no model 'nope'"),
    (_attribute("hyperparameters", "[1"), "expected a model of this package"),
    (_attribute("hyperparameters", '{"gamma": ["Cauchy", 1]}'), "expected a model of this package"),
    (_attribute("hyperparameters", OTHER_MODEL), "latents: chain 0, kept draw 0: eta: expected 0.7"),
    (_attribute("backend", "emcee"), "backend: expected one of kernel, numpyro, stan"),
    (_attribute("variant", "nope"), "no variant 'nope'"),
    (_attribute("seed", -1), "seed: expected a whole number"),
    (lambda tree: tree.attrs.pop("thin"), "expected an attribute thin"),
    (lambda tree: tree.children["posterior"].orphan(), "expected a group posterior"),
    (_drop("posterior", "n_topics"), "posterior: expected a variable n_topics"),
    (_drop("posterior", "alpha"), "posterior: expected a variable alpha"),
    (_set("posterior", "log_joint", lambda x: x.astype(int)), "log_joint: expected axes"),
    (_drop("sample_stats", "seconds"), "sample_stats: expected a variable seconds"),
    (_set("sample_stats", "seconds", lambda x: -x - 1), "seconds: expected numbers, 0 or more"),
    (_drop("latents", "z"), "latents: expected z, root"),
    (_set("latents", "z", lambda x: x + 1000), "z: expected values in its range"),
    (_set("latents", "z", lambda x: _last(x, 29)), "z: expected topics in 0"),
    (_set("latents", "z", lambda x: x - 1000), "z: expected values in its range"),
    (_set("latents", "z", lambda x: x.astype(float)), "z: expected axes"),
    (_set("latents", "root", lambda x: -x), "root: expected values in its range"),
    (_set("latents", "root", lambda x: np.full_like(x, np.nan)), "kept draw 0: z: expected topics"),
    (_set("latents", "root", lambda x: np.append(x[..., :1] * np.nan, x[..., 1:], -1)),
     "root: expected a number for each topic"),
    (_set("latents", "alpha", lambda x: x * np.nan), "alpha: expected values in its range"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), CHANGES, ids=[message for _, message in CHANGES])
def test_a_fit_that_is_not_as_it_was_written(tree, tmp_path, change, message):
    tree = tree.copy(deep=True)
    change(tree)
    save(tree, tmp_path / "fit.nc")
    with pytest.raises(ResultsError, match=f"fit.nc: .*{message}"):
        load(tmp_path / "fit.nc")


def test_an_array_that_promises_too_much(path, tmp_path):
    other = tmp_path / "other.nc"
    other.write_bytes(path.read_bytes())
    with h5py.File(other, "r+") as file:
        del file["sample_stats/seconds"]
        file["sample_stats"].create_dataset("seconds", (10**7, 10**7), "f8", chunks=(1000, 1000))
    with pytest.raises(ResultsError):
        load(other)

"""``bnpzoo hierarchy``, and layers on the command line."""

import json

import numpy as np
import pytest
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.inference import sample, save
from bnpzoo.zoo.models import get
from samplers import AS_PLAIN_PYTHON

pytestmark = AS_PLAIN_PYTHON


@pytest.fixture(scope="module")
def fit(tmp_path_factory):
    model = get("lda", topics="belief-network", layers=2, width=3, n_topics=3, layer_mass=2.0)
    corpus = model.simulate(Design(np.full(8, 10), 12), np.random.default_rng(0)).corpus
    path = tmp_path_factory.mktemp("hierarchy") / "fit.nc"
    save(sample(model, corpus, chains=1, tune=5, draws=4, keep=1, seed=1, workers=1), path)
    return path


def test_layers_are_printed_and_a_page_is_written(run, fit, tmp_path):
    result = run("hierarchy", fit, "--page", tmp_path / "a.html")
    assert result.exit_code == 0, result.output
    assert "Layer 2: effective topics" in result.stdout
    assert (tmp_path / "a.html").exists()


def test_json_has_layers_and_links(run, fit):
    told = json.loads(run("hierarchy", fit, "--json", "--least", "0").stdout)
    assert len(told["layers"]) == 2
    assert {"lower", "upper", "share"} == set(told["links"][0][0])


def test_a_fit_without_layers_is_an_error(run, fit_file):
    result = run("hierarchy", fit_file)
    assert result.exit_code == 2
    assert "expected a fit with topics of belief-network" in result.stderr


def test_layers_are_told_beside_the_name_of_the_topics(run, corpus_file, tmp_path):
    out = tmp_path / "fit.nc"
    command = ("--topics", "belief-network:2", "--set", "n_topics=3", "--set", "width=4")
    result = run("fit", "lda", corpus_file, *command, "--chains", 1, "--tune", 2, "--draws", 2, "--out", out)
    assert result.exit_code == 0, result.output
    assert run("hierarchy", out).exit_code == 0
    wrong = run("fit", "lda", corpus_file, "--topics", "belief-network:0")
    assert "layers: expected a whole number, 1 to 10, found 0" in wrong.stderr
    shown = run("show", "lda", "--topics", "belief-network:1").stdout
    assert "layers = 1" in shown

"""``bnpzoo differences``: what it prints and writes."""

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
    model = get("cclda", n_topics=2)
    corpus = model.simulate(
        Design(np.full(8, 10), 12, group=np.arange(8) % 2), np.random.default_rng(0)
    ).corpus
    path = tmp_path_factory.mktemp("differences") / "fit.nc"
    save(sample(model, corpus, chains=1, tune=5, draws=2, keep=1, seed=1, workers=1), path)
    return path


def test_topics_are_printed(run, fit):
    result = run("differences", fit, "--words", 3)
    assert result.exit_code == 0, result.output
    assert "likeness" in result.stdout
    assert "group 1" in result.stdout


def test_table_and_figure_are_written(run, fit, tmp_path):
    result = run("differences", fit, "--csv", tmp_path / "t.csv", "--figure", tmp_path / "t.png", "--json")
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)
    assert {row["group"] for row in rows} == {"group 0", "group 1"}
    assert len((tmp_path / "t.csv").read_text().splitlines()) == len(rows) + 1
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")


def test_a_fit_without_versions_is_an_error(run, fit_file):
    result = run("differences", fit_file)
    assert result.exit_code == 2
    assert "expected a model whose groups have versions" in result.stderr

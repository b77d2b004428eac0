"""``bnpzoo subtle`` and ``bnpzoo specific`` on a corpus with planted topics."""

import json

import numpy as np
import pandas as pd
import pytest
from bnpzoo.zoo.designs import SubtleTopics
from bnpzoo.zoo.inference import sample, save
from bnpzoo.zoo.models import get


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A fit of LDA to articles with subtle topics and comments on them."""
    design = SubtleTopics(
        n_documents=8, n_sentences=10, n_words=50, n_common=2, n_subtle=2, carriers=1, n_comments=1
    )
    corpus = design.draw(np.random.default_rng(0)).simulation.corpus
    path = tmp_path_factory.mktemp("sentences") / "fit.nc"
    save(
        sample(get("lda", n_topics=4, alpha=0.2, eta=0.1), corpus, chains=2, tune=50, draws=20, seed=1), path
    )
    return path


@pytest.mark.parametrize("command", [("subtle", "--least", 0.3, "--most", 0.5), ("specific",)])
def test_a_table_in_three_forms_and_a_page(run, planted, tmp_path, command):
    name, *options = command
    arguments = (name, planted, *options)
    result = run(*arguments, "--csv", tmp_path / "a.csv", "--page", tmp_path / "a.html")
    assert result.exit_code == 0, result.output
    assert "score" in result.stdout or "specificity" in result.stdout
    records = json.loads(run(*arguments, "--json").stdout)
    table = pd.read_csv(tmp_path / "a.csv")
    assert len(table) == len(records) > 0
    assert list(table["sentence"]) == [row["sentence"] for row in records]
    assert (tmp_path / "a.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("command", ["subtle", "specific"])
def test_a_corpus_without_sentences_is_one_line(run, fit_file, tmp_path, command):
    result = run(command, fit_file, "--page", tmp_path / "a.html", "--csv", tmp_path / "a.csv")
    assert result.exit_code == 2
    assert "expected sentences, found none: read text with --sentences lines" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert not [*tmp_path.iterdir()]


def test_nothing_found_is_said(run, planted):
    result = run("subtle", planted, "--most", 0.0)
    assert result.exit_code == 0
    assert "No topic has 50% of a sentence or more, and 0% of its document or less" in result.stdout


def test_a_page_must_be_called_one(run, planted, tmp_path):
    assert run("subtle", planted, "--page", tmp_path / "a.txt").exit_code == 2
    result = run("specific", planted, "--comment", "reply")
    assert result.exit_code == 2
    assert "covariates['reply']: expected a truth value" in result.stderr

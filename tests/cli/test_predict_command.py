"""``bnpzoo predict`` on documents whose words tell their label."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from bnpzoo import Corpus
from bnpzoo.zoo.formats import TextOptions, read_corpus, write_corpus
from bnpzoo.zoo.inference import sample, save
from bnpzoo.zoo.models import get
from samplers import AS_PLAIN_PYTHON

pytestmark = AS_PLAIN_PYTHON

MODELS = {
    "hdsp": get("hdsp", n_topics=4, gamma=1.0, alpha=2.0, eta=0.1),
    "labeled_lda": get("labeled_lda", eta=0.1),
    "partially_labeled_lda": get("partially_labeled_lda", topics_per_label=2, common=1, alpha=1.0, eta=0.1),
    "dmr": get("dmr", n_topics=4, precision=0.1, eta=0.1),
    "author_topic": get("author_topic", n_topics=4, alpha=0.5, eta=0.1),
    "metalda": get("metalda", n_topics=4, eta=0.1),
    "dp_mrm": get("dp_mrm", gamma=1.0, alpha=1.0, tau=1.0, eta=0.1),
}


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """A fit, and the corpus that it is of."""
    folder, rng = tmp_path_factory.mktemp("predict"), np.random.default_rng(0)
    kind = np.arange(24) % 2
    corpus = Corpus(
        (rng.integers(2, size=(24, 6)) + 2 * kind[:, None]).ravel(),
        np.arange(0, 145, 6),
        n_words=4,
        covariates={"kind": kind},
        covariate_names={"kind": ["plain", "<b>fancy</b>"]},
    )
    for name, model in MODELS.items():
        save(sample(model, corpus, chains=1, tune=40, draws=10, keep=3), folder / f"{name}.nc")
    save(sample(MODELS["hdsp"], corpus, chains=1, tune=1, draws=4, keep=0), folder / "without.nc")
    write_corpus(corpus, folder / "corpus.npz")
    return folder / "hdsp.nc", folder / "corpus.npz"


def test_probabilities_and_a_confusion_matrix(run, told, tmp_path):
    result = run("predict", *told, "--label", "kind", "--csv", tmp_path / "a.csv")
    assert result.exit_code == 0, result.output
    assert "24 of 24 are predicted as they are (100.0%)" in result.stdout
    assert "… and 14 more documents" in result.stdout
    found = json.loads(run("predict", *told, "--label", "kind", "--json").stdout)
    assert found["confusion"] == [[12, 0], [0, 12]]
    assert found["values"] == ["plain", "<b>fancy</b>"]
    table = pd.read_csv(tmp_path / "a.csv")
    assert list(table["predicted"]) == [row["predicted"] for row in found["documents"]]
    np.testing.assert_allclose(table["P(plain)"] + table["P(<b>fancy</b>)"], 1.0)


@pytest.mark.parametrize("name", MODELS)
def test_all_models_with_labels_predict(run, told, name):
    result = run("predict", told[0].with_name(f"{name}.nc"), told[1], "--label", "kind")
    assert result.exit_code == 0, result.output
    assert "24 of 24 are predicted as they are (100.0%)" in result.stdout


def test_a_score_that_knows_no_labels_says_so(run, told):
    found = json.loads(run("evaluate", *told, "--json").stdout)["held_out"]
    assert [score["method"] for score in found] == [
        "document completion",
        "left to right",
        "empirical likelihood, labels not used",
    ]
    assert found[1]["perplexity"] < 0.8 * found[2]["perplexity"]  # half as many words are likely


def test_documents_are_numbered_as_in_their_file(run, told, tmp_path):
    corpus = read_corpus(told[1])
    some = replace(corpus, covariates=dict(corpus.covariates) | {"is_test": np.arange(24) % 8 == 3})
    write_corpus(some, tmp_path / "some.npz")
    arguments = (told[0], tmp_path / "some.npz", "--label", "kind", "--split", "is_test", "--json")
    found = json.loads(run("predict", *arguments).stdout)
    assert [row["document"] for row in found["documents"]] == [3, 11, 19]
    files = np.array([f"{d}.txt" for d in range(24)])
    write_corpus(replace(some, covariates=dict(some.covariates) | {"file": files}), tmp_path / "some.npz")
    found = json.loads(run("predict", *arguments).stdout)
    assert [row["document"] for row in found["documents"]] == ["3.txt", "11.txt", "19.txt"]


@pytest.mark.parametrize("spelling", ["true", "True"])
def test_a_gap_among_truth_values_is_not_false(run, tmp_path, spelling):
    lines = [f"{'a b' if d % 2 else 'c d'},{spelling if d % 2 else 'false'}" for d in range(12)]
    (tmp_path / "a.csv").write_text("\n".join(["text,good", *lines]) + "\n")
    corpus = read_corpus(tmp_path / "a.csv", options=TextOptions(token_pattern=r"\w", min_df=1, max_df=1.0))
    model = get("dmr", n_topics=2, precision=0.1, eta=0.1, labels="good")
    save(sample(model, corpus, chains=1, tune=4, draws=2, keep=2), tmp_path / "fit.nc")
    write_corpus(corpus, tmp_path / "whole.npz")
    (tmp_path / "gap.csv").write_text("\n".join(["text,good", "a b,", *lines[1:]]) + "\n")
    gap = read_corpus(tmp_path / "gap.csv", options=TextOptions(token_pattern=r"\w", min_df=1, max_df=1.0))
    write_corpus(gap, tmp_path / "gap.npz")
    found = [
        json.loads(
            run("predict", tmp_path / "fit.nc", tmp_path / f"{name}.npz", "--label", "good", "--json").stdout
        )
        for name in ("whole", "gap")
    ]
    known = [[row["known"] for row in table["documents"]] for table in found]
    assert known[0] == ["False", "True"] * 6
    assert known[1] == ["", *known[0][1:]]


def test_a_gap_in_a_number_is_one_line_where_it_is_a_label_and_unknown_where_it_is_predicted(run, tmp_path):
    corpus = Corpus(
        np.arange(24) % 4, np.arange(0, 25, 2), n_words=4, covariates={"size": np.arange(12) % 3 + 0.5}
    )
    model = get("dmr", n_topics=2, precision=0.1, eta=0.1)
    save(sample(model, corpus, chains=1, tune=4, draws=2, keep=2), tmp_path / "fit.nc")
    told = np.array(["", *map(str, np.arange(1, 12) % 3 + 0.5)])
    write_corpus(replace(corpus, covariates={"size": told}), tmp_path / "gap.npz")
    result = run("evaluate", tmp_path / "fit.nc", tmp_path / "gap.npz")
    assert result.exit_code == 2
    assert "labels: expected numbers in 'size', found '' in document 0" in result.stderr
    found = json.loads(
        run("predict", tmp_path / "fit.nc", tmp_path / "gap.npz", "--label", "size", "--json").stdout
    )
    assert [row["known"] for row in found["documents"]] == [
        "",
        *(f"{x:g}" for x in np.arange(1, 12) % 3 + 0.5),
    ]


def test_what_cannot_be_predicted_is_one_line(run, told, fit_file, corpus_file):
    without, corpus = told[0].with_name("without.nc"), told[1]
    for arguments, message in (
        ((without, corpus, "--label", "kind"), "expected a fit that holds latents, found none (keep=0)"),
        ((*told, "--label", "colour"), "expected a label of the fit, found 'colour'; there are kind"),
        (
            (fit_file, corpus_file, "--label", "group"),
            "expected a fit of one of hdsp, whdsp, labeled_lda,",
        ),
    ):
        result = run("predict", *arguments)
        assert result.exit_code == 2
        assert message in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1


@pytest.fixture(scope="module", params=["slda", "medlda"])
def responding(tmp_path_factory, request):
    """A fit of a number and a category, and the corpus that it is of."""
    folder, rng = tmp_path_factory.mktemp("responses"), np.random.default_rng(0)
    kind = np.arange(24) % 2
    corpus = Corpus(
        (rng.integers(2, size=(24, 6)) + 2 * kind[:, None]).ravel(),
        np.arange(0, 145, 6),
        n_words=4,
        covariates={"kind": kind, "score": 3.0 * kind + 0.1 * rng.standard_normal(24)},
        covariate_names={"kind": ["plain", "fancy"]},
    )
    model = get(request.param, n_topics=2, eta=0.1, alpha=0.2)
    save(sample(model, corpus, chains=1, tune=100, draws=20, keep=10), folder / "fit.nc")
    write_corpus(corpus, folder / "corpus.npz")
    return folder / "fit.nc", folder / "corpus.npz"


def test_values_that_agree_in_six_digits_are_told_apart(run, told, tmp_path):
    corpus = read_corpus(told[1])
    dates = 20240101.0 + corpus.covariates["kind"]
    dated = replace(corpus, covariates={"date": dates, "share": dates / 3.0}, covariate_names={})
    write_corpus(dated, tmp_path / "dated.npz")
    model = get("dmr", n_topics=4, precision=0.1, eta=0.1, labels="date:number, share")
    save(sample(model, dated, chains=1, tune=20, draws=5, keep=3), tmp_path / "dated.nc")
    command = ("predict", tmp_path / "dated.nc", tmp_path / "dated.npz")
    assert run(*command, "--label", "date", "--csv", tmp_path / "a.csv").exit_code == 0
    table = pd.read_csv(tmp_path / "a.csv")
    assert {"P(20240101)", "P(20240102)"} < set(table.columns)
    assert set(table["known"]) == {20240101, 20240102}
    found = json.loads(run(*command, "--label", "share", "--json").stdout)
    assert found["values"] == [repr(date / 3.0) for date in (20240101, 20240102)]


def test_documents_that_are_held_out_are_predicted_alone(run, told, tmp_path):
    corpus, marked = read_corpus(told[1]), np.arange(24) >= 20
    write_corpus(
        replace(corpus, covariates=dict(corpus.covariates) | {"is_test": marked}), tmp_path / "c.npz"
    )
    found = json.loads(run("predict", told[0], tmp_path / "c.npz", "--label", "kind", "--json").stdout)
    assert [row["document"] for row in found["documents"]] == [20, 21, 22, 23]


def test_responses_are_predicted(run, responding, tmp_path):
    result = run("predict", *responding, "--label", "kind")
    assert result.exit_code == 0, result.output
    assert "24 of 24 are predicted as they are (100.0%)" in result.stdout
    result = run("predict", *responding, "--label", "score", "--csv", tmp_path / "a.csv")
    assert result.exit_code == 0, result.output
    assert "known numbers are in their intervals" in result.stdout
    table = pd.read_csv(tmp_path / "a.csv")
    assert np.all((table["low"] < table["mean"]) & (table["mean"] < table["high"]))
    found = json.loads(run("predict", *responding, "--label", "score", "--json").stdout)
    assert found["r_squared"] > 0.9
    assert found["covered"] > 0.8
    result = run("predict", *responding, "--label", "colour")
    assert result.exit_code == 2
    assert "expected a response of the fit, found 'colour'; there are kind, score" in result.stderr


def test_documents_whose_value_the_fit_does_not_know_are_missed(run, told, responding, tmp_path):
    for fit, path in (told, responding):
        corpus = read_corpus(path)
        names = [*corpus.covariate_names["kind"], "odd"]
        kind = np.where(np.arange(24) < 6, 2, corpus.covariates["kind"])
        some = replace(
            corpus,
            covariates=dict(corpus.covariates) | {"kind": kind},
            covariate_names={"kind": names},
        )
        write_corpus(some, tmp_path / "odd.npz")
        shown = " ".join(run("predict", fit, tmp_path / "odd.npz", "--label", "kind").stdout.split())
        assert (
            "18 of 24 are predicted as they are (75.0%). 6 have a value that the fit does not know." in shown
        )
        found = json.loads(run("predict", fit, tmp_path / "odd.npz", "--label", "kind", "--json").stdout)
        assert (found["known"], found["hit"], found["unknown_to_the_fit"]) == (24, 18, 6)
        assert found["documents"][0]["known"] == "(not in the fit)"


def test_numbers_that_do_not_vary_have_no_share_explained(run, responding, tmp_path):
    corpus = read_corpus(responding[1])
    write_corpus(corpus.take(slice(0, 1)), tmp_path / "one.npz")
    result = run("predict", responding[0], tmp_path / "one.npz", "--label", "score")
    assert "known numbers are in their intervals." in " ".join(result.stdout.split())
    assert "nan" not in result.stdout

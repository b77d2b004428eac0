"""``bnpzoo labels``: topics by label, coefficients with intervals, and their picture."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from bnpzoo.diagnostics.topics import coefficients, match_topics, topics_by_label
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.inference import latents_of, load, sample, save
from bnpzoo.zoo.models import get
from samplers import AS_PLAIN_PYTHON
from scipy import sparse

pytestmark = AS_PLAIN_PYTHON

SETS = np.array([[1, 0], [1, 1], [0, 0], [0, 1], [1, 0], [0, 1]])


@pytest.fixture(scope="module")
def fits(tmp_path_factory):
    rng, folder = np.random.default_rng(0), tmp_path_factory.mktemp("labels")
    corpus = Corpus(
        rng.integers(12, size=60),
        10 * np.arange(7),
        n_words=12,
        covariates={
            "tag": sparse.csr_array(SETS),
            "score": rng.normal(size=6),
            "stars": np.array([0, 1, 2, 2, 0, 1]),
        },
        covariate_names={"tag": np.array(["left", "right"]), "stars": np.array(["one", "two", "three"])},
    )
    out = {}
    for name, options in {
        "dmr": {"n_topics": 3, "labels": "tag, score"},
        "partially_labeled_lda": {"labels": "tag"},
        "lda": {"n_topics": 3},
        "slda": {"n_topics": 3, "response": "score, stars"},
        "medlda": {"n_topics": 3, "response": "score, stars"},
        "dp_mrm": {"labels": "tag"},
        "shdp": {"response": "score, stars"},
    }.items():
        out[name] = folder / f"{name}.nc"
        run = {"chains": 2, "tune": 5, "draws": 6, "keep": 6, "seed": 1, "workers": 1}
        save(sample(get(name, **options), corpus, **run), out[name])
    return out


def test_shares_of_a_label_are_those_of_its_documents(fits):
    matched = match_topics(load(fits["dmr"]))
    table = topics_by_label(matched).set_index(["label", "topic"])
    of_label = np.isin(matched.corpus.doc_of, np.flatnonzero(SETS[:, 1]))
    for topic in range(3):
        each = [np.mean(z[of_label] == topic) for z in matched.assigned]
        row = table.loc[("tag: right", topic)]
        assert row["share"] == pytest.approx(np.mean(each))
        assert row["share_low"] == pytest.approx(np.quantile(each, 0.05))
    assert table.loc["score"]["share"].isna().all()  # a number is no label that documents have or lack


def test_shares_are_of_all_tokens_of_the_documents(fits):
    """Those of topics without a match among them."""
    matched = match_topics(load(fits["dmr"]))
    without_last = tuple(np.where(labels < 2, labels, -1) for labels in matched.labels)
    few = replace(matched, labels=without_last, n_topics=2)
    table = topics_by_label(few).set_index(["label", "topic"])
    whole = topics_by_label(matched).set_index(["label", "topic"])
    for topic in range(2):
        one = ("tag: right", topic)
        assert table.loc[one, "share"] == pytest.approx(whole.loc[one, "share"])
    assert table.loc["tag: right"]["share"].sum() < 0.99


def test_coefficients_are_those_of_the_draws_under_matched_topics(fits):
    matched = match_topics(load(fits["dmr"]))
    table = coefficients(matched).set_index(["label", "topic"])
    drawn = [x["log_factor"] for _, _, x in latents_of(matched.fit)]
    for row, label in enumerate(["(intercept)", "tag: left", "tag: right", "score"]):
        for topic in range(3):
            each = [
                x[row, list(labels).index(topic)] for x, labels in zip(drawn, matched.labels, strict=True)
            ]
            assert table.loc[(label, topic), "coefficient"] == pytest.approx(np.mean(each))
            assert table.loc[(label, topic), "coefficient_high"] == pytest.approx(np.quantile(each, 0.95))
    with pytest.raises(
        ValueError, match=r"partially_labeled_lda: expected a regression \(dmr, slda, shdp, medlda\)"
    ):
        coefficients(load(fits["partially_labeled_lda"]))


def test_topics_that_come_and_go_have_the_coefficients_of_draws_that_have_them(fits):
    matched = match_topics(load(fits["shdp"]))
    table = coefficients(matched).set_index(["label", "topic"])
    drawn = [x["coefficient"] for _, _, x in latents_of(matched.fit)]
    n_draws = []
    for topic in range(matched.n_topics):
        each = [
            x[0, list(labels).index(topic)]
            for x, labels in zip(drawn, matched.labels, strict=True)
            if topic in labels
        ]
        n_draws.append(len(each))
        assert table.loc[("score", topic), "coefficient"] == pytest.approx(np.mean(each))
        assert table.loc[("score", topic), "coefficient_low"] == pytest.approx(np.quantile(each, 0.05))
    assert 0 < min(n_draws) < len(drawn)


@pytest.mark.parametrize(("model_id", "categories"), [("slda", [1, 2]), ("medlda", [0, 1, 2])])
def test_responses_have_a_row_of_coefficients_for_each_predictor(run, fits, tmp_path, model_id, categories):
    matched = match_topics(load(fits[model_id]))
    table = topics_by_label(matched).set_index(["label", "topic"])
    drawn = [x["coefficient"] for _, _, x in latents_of(matched.fit)]
    stars, names = matched.corpus.covariates["stars"], ["one", "two", "three"]
    for row, category in enumerate([None, *categories]):
        label = "score" if category is None else f"stars: {names[category]}"
        of_label = np.isin(matched.corpus.doc_of, np.flatnonzero(stars == category))
        for topic in range(3):
            each = [
                x[row, list(labels).index(topic)] for x, labels in zip(drawn, matched.labels, strict=True)
            ]
            found = table.loc[(label, topic)]
            assert found["coefficient"] == pytest.approx(np.mean(each))
            if label != "score":
                assert found["share"] == pytest.approx(
                    np.mean([np.mean(z[of_label] == topic) for z in matched.assigned])
                )
    assert table.loc["score"]["share"].isna().all()
    assert table.loc["score"]["coefficient"].is_monotonic_decreasing
    result = run("labels", fits[model_id], "--figure", tmp_path / "f.png")
    assert result.exit_code == 0, result.output
    assert "stars: three" in result.stdout
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("model_id", ["dmr", "partially_labeled_lda", "dp_mrm"])
def test_tables_and_a_picture(run, fits, tmp_path, model_id):
    result = run(
        "labels", fits[model_id], "--figure", tmp_path / "f.png", "--csv", tmp_path / "t.csv", "--topics", 2
    )
    assert result.exit_code == 0, result.output
    assert "tag: left" in result.stdout
    assert ("coefficient" in result.stdout) == (model_id == "dmr")
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")
    written = pd.read_csv(tmp_path / "t.csv")
    printed = json.loads(run("labels", fits[model_id], "--json").stdout)
    assert len(written) == len(printed)
    assert set(written["label"]) >= {"tag: left", "tag: right"}


def test_a_model_without_labels_is_an_error(run, fits):
    result = run("labels", fits["lda"])
    assert result.exit_code == 2
    assert "lda: expected a model with labels or responses, found one without" in result.stderr
    assert "predict" not in result.stderr

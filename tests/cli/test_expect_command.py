"""``bnpzoo expect``: topics under labels, as tables and as a map."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from bnpzoo import Corpus
from bnpzoo.diagnostics.topics.expected import TopicsUnderLabels, map_of, row_of, topics_under_labels
from bnpzoo.zoo.corpus.labels import Column
from bnpzoo.zoo.inference import sample, save
from bnpzoo.zoo.models import get
from samplers import AS_PLAIN_PYTHON
from scipy import sparse

pytestmark = AS_PLAIN_PYTHON

MODELS = {
    "whdsp": get("whdsp", n_topics=4, gamma=1.0, alpha=2.0, eta=0.1),
    "dmr": get("dmr", n_topics=4, precision=0.1, eta=0.1),
    "labeled_lda": get("labeled_lda", labels="kind", eta=0.1),
    "metalda": get("metalda", n_topics=4, labels="kind", eta=0.1),
}


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """A folder of fits to documents whose words tell their kind."""
    folder, rng = tmp_path_factory.mktemp("labels"), np.random.default_rng(0)
    kind = np.arange(24) % 2
    corpus = Corpus(
        (rng.integers(2, size=(24, 6)) + 2 * kind[:, None]).ravel(),
        np.arange(0, 145, 6),
        n_words=4,
        vocabulary=["ant", "bee", "cow", "dog"],
        covariates={"kind": kind, "rating": 3.0 + kind + 0.1 * rng.random(24)},
        covariate_names={"kind": ["insects", "mammals"]},
    )
    for name, model in MODELS.items():
        save(sample(model, corpus, chains=1, tune=40, draws=10, keep=3), folder / f"{name}.nc")
    return folder


@pytest.mark.parametrize("name", MODELS)
def test_each_label_makes_its_own_topics_likely(run, told, name, tmp_path):
    result = run("expect", told / f"{name}.nc", "--figure", tmp_path / "map.png", "--csv", tmp_path / "a.csv")
    assert result.exit_code == 0, result.output
    assert "kind: insects" in result.stdout
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    table = pd.read_csv(tmp_path / "a.csv")
    best = table.loc[table.groupby("label")["share"].idxmax()].set_index("label")["words"]
    assert best["kind: insects"].split()[0] in {"ant", "bee"}
    assert best["kind: mammals"].split()[0] in {"cow", "dog"}
    one_label = table[table["label"] == "kind: insects"]
    assert 0.9 < np.sum(one_label["share"]) < 1.0 + 1e-9
    assert np.all(one_label["share_low"] <= one_label["share_high"])


def test_the_map_says_what_its_marks_are(run, told, tmp_path):
    result = run("expect", told / "dmr.nc", "--figure", tmp_path / "map.svg")
    assert result.exit_code == 0, result.output
    picture = (tmp_path / "map.svg").read_text(encoding="utf-8")
    for words in (
        "Labels are near the topics that they make likely",
        "label; + 1 sd: one standard deviation above its mean",
        "topic, by its first words",
        "rating + 1 sd",
    ):
        assert f"<!-- {words} -->" in picture
    width, height = re.findall(r'<svg [^>]*width="([\d.]+)pt" height="([\d.]+)pt"|$', picture)[0]
    assert width == height
    assert float(width) < 72 * 6  # few marks need little room


def test_chosen_labels_are_taken_together(run, told):
    command = ("expect", told / "whdsp.nc", "--given", "kind=mammals", "--given", "rating=4.05")
    result = run(*command)
    assert result.exit_code == 0, result.output
    assert "Topics expected given kind=mammals, rating=4.05" in " ".join(result.stdout.split())
    rows = json.loads(run(*command, "--json").stdout)
    shares = {row["words"].split()[0]: row["share"] for row in rows if row["label"] != "no label"}
    assert max(shares, key=lambda word: shares[word]) in {"cow", "dog"}


def test_false_is_a_label_that_can_be_given():
    columns = (Column("good", "True"), Column("kind", "insects"), Column("kind", "mammals"))
    assert row_of(["good=True", "kind=insects"], columns).tolist() == [1.0, 1.0, 0.0]
    assert row_of(["good=False", "kind=insects"], columns).tolist() == [0.0, 1.0, 0.0]
    assert row_of(["good=false"], columns).tolist() == row_of(["good=False"], columns).tolist()
    assert row_of(["good=true"], columns).tolist() == [1.0, 0.0, 0.0]
    with pytest.raises(ValueError, match="given: kind: expected one of insects, mammals, found 'False'"):
        row_of(["kind=False"], columns)
    with pytest.raises(ValueError, match="given: good: expected True or False, found 'yes'"):
        row_of(["good=yes"], columns)


def test_a_document_has_one_value_unless_it_has_a_set_of_them():
    columns = (Column("kind", "insects"), Column("kind", "mammals"), Column("rating", "", 3.0, 2.0))
    assert row_of(["kind=insects", "kind=mammals"], columns, frozenset({"kind"})).tolist() == [1.0, 1.0, 0.0]
    for given in (["kind=insects", "kind=mammals"], ["rating=5", "rating=3"]):
        name = given[0].partition("=")[0]
        with pytest.raises(
            ValueError, match=rf"given: {name}: expected one value of it, found another, '{given[1]}'"
        ):
            row_of(given, columns)


def test_shares_are_those_of_the_integral(told):
    from bnpzoo.zoo.inference import corpus_of, latents_of, load, model_of

    tree = load(told / "whdsp.nc")
    model, corpus = model_of(tree), corpus_of(tree)
    found = topics_under_labels(tree, ["kind=insects"])
    (*_, (_, _, latents)) = latents_of(tree)
    theta = model.predictive(latents, corpus).proportions(sparse.csr_array([[1.0, 0.0, 0.0]]))
    np.testing.assert_allclose(np.sort(found.share[-1, 1]), np.sort(theta[0]), rtol=1e-12)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "colour=red",
            "expected NAME=VALUE of a label of the fit, found 'colour=red'; there are kind, rating",
        ),
        ("kind", "given: expected NAME=VALUE of a label of the fit, found 'kind'"),
        ("kind=birds", "given: kind: expected one of insects, mammals, found 'birds'"),
        ("rating=good", "given: rating: expected a number, found 'good'"),
    ],
)
def test_labels_that_there_are_not_are_one_line(run, told, given, message):
    result = run("expect", told / "whdsp.nc", "--given", given)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_a_fit_without_labels_is_an_error(run, fit_file):
    result = run("expect", fit_file)
    assert result.exit_code == 2
    assert "expected a fit of a model with labels" in result.stderr


def test_the_lift_is_the_ratio_of_the_mean_shares():
    """Of a topic that a label rules out in one draw of two, and of one that it rules out in both."""
    share = np.array([[[0.5, 0.3, 0.2], [0.8, 0.0, 0.0]], [[0.5, 0.1, 0.4], [0.5, 0.5, 0.0]]])
    found = TopicsUnderLabels(("no label", "a"), ("x", "y", "z"), share)
    np.testing.assert_allclose(found.lift, [[1.0, 1.0, 1.0], [1.3, 1.25, 0.0]], rtol=1e-14)


def test_a_map_that_exists_in_a_plane_is_found():
    """Labels and topics at known places, their distances being one over the lift."""
    labels, topics = np.array([[0.0, 0.0], [9.0, 0.0]]), np.array([[1.0, 0.0], [8.0, 0.0], [0.0, 1.0]])
    lift = 1.0 / np.linalg.norm(labels[:, None] - topics, axis=2)
    share = np.vstack([np.full(3, 0.01), 0.01 * lift])[None]
    found = TopicsUnderLabels(("no label", "a", "b"), ("x", "y", "z"), share)
    np.testing.assert_allclose(found.lift[1:], lift)
    of_labels, of_topics = map_of(found, np.arange(3))
    distance = np.linalg.norm(of_labels[:, None] - of_topics, axis=2)
    assert distance[0, 1] > 3.0 * distance[0, 0]
    assert distance[1, 0] > 3.0 * distance[1, 1]

"""From texts to topics, documents and new documents."""

import json
import sys

import numpy as np
import pandas as pd
import pytest

FAST = ("--set", "n_topics=2", "--tune", 20, "--draws", 20, "--chains", 2)


@pytest.fixture(scope="module")
def texts(folder):
    """Forty documents of two kinds, with words that say nothing."""
    path = folder / "texts.csv"
    kinds = ("the moon and the star orbit 1999", "the salt of the oven and butter")
    path.write_text("body\n" + "".join(f"{kinds[d % 2]} w{d}\n" for d in range(40)))
    return path


@pytest.fixture(scope="module")
def fit_of_texts(run, texts, folder):
    out = folder / "texts.nc"
    result = run("fit", "lda", texts, "--text-column", "body", *FAST, "--out", out)
    assert result.exit_code == 0, result.output
    return out, result


def test_what_was_dropped_is_said(fit_of_texts):
    _, result = fit_of_texts
    assert "dropped 3 stop words" in result.stderr
    assert "40 words too rare or too common" in result.stderr


def test_fit_says_verdict_topics_and_what_to_do_next(fit_of_texts):
    out, result = fit_of_texts
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= max(80, len(lines[0]), len(lines[-1]))
    for words in ("to look at first", "stability", "Occupied topics", f"Next: bnpzoo topics {out}"):
        assert words in result.stdout
    assert {"moon", "orbit", "star", "butter"} <= set(result.stdout.split())
    assert "the" not in result.stdout.split("Topics")[1].split("Occupied")[0].split()


def test_topics_of_a_document_that_are_not_shown_are_dots(run, folder, texts, tmp_path):
    out = folder / "four.nc"
    run("fit", "lda", texts, "--text-column", "body", "--set", "n_topics=6", *FAST[2:], "--out", out)
    rows = [line for line in run("documents", out).stdout.splitlines() if " to " in line]
    assert rows
    assert all(line.rstrip().endswith("…") and line.count(" to ") <= 3 for line in rows)
    run("documents", out, "--csv", tmp_path / "d.csv")
    table = pd.read_csv(tmp_path / "d.csv")
    means = table[[f"topic {k}" for k in range(6)]]
    assert np.allclose(means.sum(axis=1), 1.0, atol=1e-5)
    assert np.array_equal(means, means.round(6))


def test_topics(run, fit_of_texts, tmp_path):
    out, _ = fit_of_texts
    result = run("topics", out, "--words", 3, "--by", "relevance", "--csv", tmp_path / "t.csv", "--topics", 1)
    assert result.exit_code == 0, result.output
    assert "and 1 smaller ones: --topics 2" in result.stdout
    assert pd.read_csv(tmp_path / "t.csv")["rank"].tolist() == [1, 2, 3] * 2
    found = json.loads(run("topics", out, "--words", 3, "--json").stdout)
    assert [topic["topic"] for topic in found] == [0, 1]
    assert found[0]["words"][0].keys() >= {"word", "probability", "low", "high", "lift"}
    assert run("topics", out, "--csv", tmp_path / "t.pdf").exit_code == 2


def test_arguments_of_pyldavis(run, fit_of_texts, tmp_path):
    out, _ = fit_of_texts
    result = run("export", out, "--to", "pyldavis", "--out", tmp_path / "vis.json")
    assert result.exit_code == 0, result.output
    found = {name: np.array(value) for name, value in json.loads((tmp_path / "vis.json").read_text()).items()}
    assert found["topic_term_dists"].shape == (2, found["vocab"].size)
    assert found["doc_topic_dists"].shape == (40, 2)
    for name in ("topic_term_dists", "doc_topic_dists"):
        np.testing.assert_allclose(found[name].sum(axis=1), 1.0)
    assert found["doc_lengths"].sum() == found["term_frequency"].sum() == 120


def test_documents_and_new_documents(run, fit_of_texts, texts, tmp_path):
    out, _ = fit_of_texts
    result = run("documents", out, "--documents", 2, "--csv", tmp_path / "d.csv")
    assert result.exit_code == 0, result.output
    assert "and 38 more" in result.stdout
    own = pd.read_csv(tmp_path / "d.csv")
    assert own.columns[:4].tolist() == ["document", "topic 0", "topic 0 low", "topic 0 high"]
    result = run("transform", out, texts, "--csv", tmp_path / "n.csv")
    assert result.exit_code == 0, result.output
    assert "the fit knows 120 of 160 tokens" in result.stderr
    new = pd.read_csv(tmp_path / "n.csv")
    assert abs(own["topic 0"] - new["topic 0"]).max() < 0.1
    as_json = json.loads(run("transform", out, texts, "--json").stdout)
    assert len(as_json) == 40
    assert as_json[0].keys() == {"document", "mean", "low", "high"}


def test_new_documents_of_other_words(run, fit_of_texts, tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("body\nother words abound; moon\n")
    result = run("transform", fit_of_texts[0], path)
    assert result.exit_code == 2
    assert "the fit knows 1 of" in result.stderr


def test_new_texts_may_be_in_another_form_than_those_of_the_fit(run, fit_of_texts, texts, tmp_path):
    other = tmp_path / "other.csv"
    lines = texts.read_text().replace("body\n", "id;words\n").replace("the moon", "é;the moon")
    other.write_text(lines.replace("the salt", "é;the salt"), encoding="latin-1")
    form = ("--text-column", "words", "--delimiter", ";", "--encoding", "latin-1")
    for command in (("transform",), ("evaluate",)):
        assert run(*command, fit_of_texts[0], other).exit_code == 2
        result = run(*command, fit_of_texts[0], other, *form, "--coverage", 0.7)
        assert result.exit_code == 0, result.output
    as_before = run("transform", fit_of_texts[0], texts, "--json").stdout
    assert run("transform", fit_of_texts[0], other, *form, "--json").stdout == as_before


def test_a_fit_of_counts_does_not_know_how_texts_are_split(run, texts, tmp_path):
    counts, fit = tmp_path / "counts.npz", tmp_path / "fit.nc"
    assert run("convert", texts, "--text-column", "body", "--out", counts).exit_code == 0
    assert run("fit", "lda", counts, *FAST, "--out", fit).exit_code in (0, 3)
    result = run("transform", fit, texts, "--text-column", "body", "--coverage", 0.3)
    assert result.exit_code == 0, result.output
    assert "does not say how its texts were split" in " ".join(result.stderr.split())
    refused = run("transform", fit, counts, "--encoding", "latin-1")
    assert refused.exit_code == 2
    assert "expected text, for --text-column, --encoding and --delimiter" in " ".join(refused.stderr.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--min-df", "x"), "--min-df: expected a number of documents, or a share"),
        (("--max-df", "1.5"), "--max-df: expected a number of documents"),
        (("--stop-words", "french"), "--stop-words french: expected english, none or a file"),
        (("--min-df", "41"), "expected words that --min-df 41 and --max-df 1.0 leave of 40 documents"),
        (("--max-features", "0"), "--max-features"),
        (("--split", "nope"), "--split nope: the covariates are "),
        (("--set", "alpha=1", "--set", "alpha=2"), "--set alpha=2: alpha is set twice"),
        (("--token-pattern", "("), "token_pattern: expected a regular expression"),
        (("--encoding", "latein"), "encoding: expected one that Python knows"),
    ],
)
def test_options_that_are_wrong(run, texts, options, message):
    result = run("fit", "lda", texts, "--text-column", "body", *options)
    assert result.exit_code == 2
    assert message in result.stderr


def test_options_of_text_are_not_for_counts(run, corpus_file):
    result = run("fit", "lda", corpus_file, "--min-df", "3")
    assert result.exit_code == 2
    assert "holds counts; --min-df and the like are for text" in result.stderr


def test_stop_words_of_ones_own(run, texts, tmp_path):
    path = tmp_path / "stop.txt"
    path.write_text("moon\nstar orbit\n")
    result = run("fit", "lda", texts, "--text-column", "body", "--stop-words", path, "--json", *FAST)
    assert result.exit_code == 0, result.output
    assert "dropped 3 stop words (60 tokens)" in result.stderr


def test_tables_are_written_in_parts(run, fit_of_texts, texts, tmp_path, monkeypatch):
    out, _ = fit_of_texts
    for name in ("whole", "parts"):
        if name == "parts":
            for module in ("documents", "transform"):
                monkeypatch.setattr(sys.modules[f"bnpzoo.diagnostics.topics.{module}"], "BLOCK", 7)
        for command in (("documents", out), ("transform", out, texts)):
            assert run(*command, "--csv", tmp_path / f"{command[0]} {name}.csv").exit_code == 0
    for command in ("documents", "transform"):
        whole, parts = (pd.read_csv(tmp_path / f"{command} {name}.csv") for name in ("whole", "parts"))
        columns = ["document", "topic 0"] if command == "documents" else whole.columns  # intervals are drawn
        pd.testing.assert_frame_equal(whole[columns], parts[columns])

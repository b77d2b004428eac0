"""Pages of sentences: small, whole, inert, and what the tables say."""

import html
import json
import re

import numpy as np
import pytest
from bnpzoo.diagnostics.reports.pages import LARGEST
from bnpzoo.diagnostics.reports.sentences import write_specific, write_subtle
from bnpzoo.diagnostics.topics import match_topics, specific, subtle
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.inference import sample
from bnpzoo.zoo.models import get
from chromium import CHROMIUM, HOSTILE, outcome_on_a_phone


@pytest.fixture(scope="module")
def matched():
    """Two articles of five sentences and two comments on each; their words are hostile, and their names."""
    words = np.random.default_rng(0).integers(0, len(HOSTILE), 72)
    corpus = Corpus(
        words, [0, 30, 33, 36, 66, 69, 72], vocabulary=HOSTILE,
        segment_ptr=np.unique([*range(0, 31, 6), 33, 36, *range(36, 67, 6), 69, 72]),
        covariates={"article": [0, 0, 0, 1, 1, 1], "is_comment": [0, 1, 1] * 2, "file": HOSTILE[:3] * 2},
    )  # fmt: skip
    fit = sample(get("lda", n_topics=3, alpha=0.5, eta=0.5), corpus, chains=2, tune=20, draws=20, seed=1)
    return match_topics(fit)


def data_of(path):
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', path.read_text(), re.S)
    return json.loads(data)


@pytest.mark.parametrize("write", [write_subtle, write_specific])
def test_pages_are_small_and_load_nothing(write, matched, tmp_path):
    options = {"least": 0.2, "most": 0.9} if write is write_subtle else {}
    write(tmp_path / "a.html", matched, **options)
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert len(text.encode()) < LARGEST
    assert "default-src 'none'" in text
    assert text.count("<script") == 2
    assert not re.search(r"<img|<!--", text)
    around = re.sub(r'id="data">.*?</script>', "", text, flags=re.DOTALL)
    assert not re.search(r"@import|url\(|\bsrc=|\bhref=", around)


def test_subtle_topics_are_those_of_the_table(matched, tmp_path):
    write_subtle(tmp_path / "a.html", matched, least=0.2, most=0.9)
    found, table = data_of(tmp_path / "a.html"), subtle(matched, least=0.2, most=0.9)
    assert len(found["finds"]) == len(table) > 3
    assert found["omitted"] == 0
    for find, row in zip(found["finds"], table.to_dict("records"), strict=True):
        document = found["documents"][find["document"]]
        assert document["name"] == row["document"]
        assert find["sentence"] == row["sentence"] - 1
        words, _ = document["sentences"][find["sentence"]]
        assert " ".join(found["words"][w] for w in words) == row["words"]
        assert find["score"] == pytest.approx(row["score"], rel=0.01)


def test_what_was_found_is_counted_in_english(matched, tmp_path):
    found = subtle(matched, least=0.2, most=0.9)["share"].sort_values(ascending=False)
    for least, most, heading in (
        (found.iloc[0], 0.9, "1 sentence that carries a subtle topic"),
        (0.2, 0.0, "0 sentences that carry a subtle topic"),
    ):
        write_subtle(tmp_path / "a.html", matched, least=least, most=most)
        assert f"<h1>{heading}</h1>" in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_comments_stand_beside_their_articles(matched, tmp_path):
    write_specific(tmp_path / "a.html", matched)
    found, table = data_of(tmp_path / "a.html"), specific(matched)
    assert len(found["documents"]) == 2
    for find, row in zip(found["finds"], table.to_dict("records"), strict=True):
        assert find["comment"]["name"] == row["comment"]
        assert len(find["parts"]) == 5
        assert find["parts"][find["sentence"]] == pytest.approx(row["part"], rel=0.01)


def test_nothing_found_is_a_page_too(matched, tmp_path):
    write_subtle(tmp_path / "a.html", matched, most=0.0)
    assert data_of(tmp_path / "a.html")["finds"] == []
    with pytest.raises(ValueError, match="html"):
        write_subtle(tmp_path / "a.txt", matched)


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
def test_it_runs_and_stays_inert_and_fits_a_phone(matched, tmp_path):
    write_specific(tmp_path / "topics.html", matched)
    outcome = outcome_on_a_phone(tmp_path)
    assert outcome["ready"] == "true"
    assert outcome["title"].startswith("Specific comments")
    assert outcome["images"] == "0"
    assert outcome["topics"] == "4"
    assert html.unescape(outcome["chosen"]) in HOSTILE
    assert int(outcome["width"]) <= 390

"""The topic browser: one page, small, whole, and inert whatever the words of the corpus are."""

import html
import json
import re
import shutil

import numpy as np
import pandas as pd
import pytest
from bnpzoo.diagnostics.compare import compare
from bnpzoo.diagnostics.reports.browser import _bars, _Found, write_browser
from bnpzoo.diagnostics.reports.fits import write_report
from bnpzoo.diagnostics.reports.pages import LARGEST, fitting
from bnpzoo.diagnostics.topics import match_topics, topics
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.inference import sample
from bnpzoo.zoo.models import get
from chromium import CHROMIUM, HOSTILE, outcome_on_a_phone


@pytest.fixture(scope="module")
def corpus():
    words = np.random.default_rng(0).integers(0, len(HOSTILE), 60)
    files = [f"{word[:40]}.txt" for word in HOSTILE[:5]] * 2
    return Corpus(
        words, np.arange(0, 61, 6), vocabulary=HOSTILE, group=np.arange(10) % 2, group_names=HOSTILE[:2],
        covariates={"file": files}, in_order=True,
    )  # fmt: skip


@pytest.fixture(scope="module")
def fit(corpus):
    return sample(get("lda", n_topics=3, alpha=0.5, eta=0.5), corpus, chains=2, tune=20, draws=20, seed=1)


@pytest.fixture(scope="module")
def page(fit, tmp_path_factory):
    path = tmp_path_factory.mktemp("browser") / "topics.html"
    write_browser(path, fit)
    return path


def data_of(page):
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(data)


def test_the_page_is_small_and_loads_nothing(page):
    text = page.read_text(encoding="utf-8")
    assert len(text.encode()) < LARGEST
    assert not re.search(r"@import|url\(|\bsrc=|\bhref=|https?://(?!www\.w3\.org/)", without_data(text))
    assert "default-src 'none'" in text
    assert "unsafe" not in text


def test_words_of_thousands_of_letters_are_cut(tmp_path):
    """What is coded in letters, as pictures in mails are, was once a page of a megabyte."""
    rng = np.random.default_rng(0)
    words = [f"{w}{'x' * 3000}" for w in range(300)]
    corpus = Corpus(rng.integers(0, 300, 3000), np.arange(0, 3001, 10), vocabulary=words)
    fit = sample(get("lda", n_topics=20), corpus, chains=1, tune=2, draws=2, seed=1)
    write_browser(tmp_path / "topics.html", fit)
    text = (tmp_path / "topics.html").read_text(encoding="utf-8")
    assert len(text.encode()) < LARGEST
    shown = data_of(text)["words"]
    assert max(map(len, shown)) == 300
    assert all(word.endswith("…") for word in shown)


def without_data(text):
    return re.sub(r'(<script type="application/json" id="data">).*?(</script>)', r"\1\2", text, flags=re.S)


def test_words_are_data_and_nothing_else(page, corpus):
    text = page.read_text(encoding="utf-8")
    assert text.count("<script") == 2
    assert "<img" not in text
    assert "<!--" not in text
    assert sorted(data_of(text)["words"]) == sorted(HOSTILE)
    assert data_of(text)["groups"] == HOSTILE[:2]


def test_it_says_what_the_tables_say(page, fit):
    found, table = data_of(page.read_text(encoding="utf-8")), topics(fit)
    assert len(found["topics"]) == 3
    for topic, (_, row) in zip(found["topics"], table.iterrows(), strict=True):
        assert topic["share"] == pytest.approx([row["share"], row["share_low"], row["share_high"]], rel=1e-2)
        assert all(low <= p <= high for _, p, low, high in topic["words"])
        assert sum(p for _, p, *_ in topic["words"]) == pytest.approx(1.0, abs=0.02)
    assert sum(share for *_, share in found["numbers"]) == pytest.approx(1.0, abs=0.01)
    assert sum(found["frequency"]) == found["tokens"] == 60
    assert {document["length"] for document in found["documents"]} == {6}


@pytest.mark.parametrize(
    ("first", "last", "width"), [(1, 1, 1), (2, 21, 1), (3, 23, 2), (80, 128, 5), (1, 4000, 500)]
)
def test_bars_of_numbers_leave_nothing_out(first, last, width):
    numbers = np.arange(first, last + 1)
    probability = pd.Series(np.random.default_rng(0).dirichlet(np.ones(numbers.size)), numbers)
    bars = _bars(probability.to_frame("probability"))
    assert len(bars) <= 20
    assert [start for start, *_ in bars] == list(range(bars[0][0], last + 1, width))
    for start, end, share in bars:
        assert end == start + width - 1
        assert share == pytest.approx(probability.loc[start:end].sum(), rel=1e-2)
    assert bars[0][0] <= first <= bars[0][1]


def with_numbers_of_topics(fit, numbers):
    """Return the fit as if it had had these numbers of topics, in turn."""
    out = fit.copy()
    posterior = fit["posterior"].to_dataset()
    drawn = np.resize(numbers, posterior["n_topics"].shape)
    out["posterior"] = posterior.assign(n_topics=(posterior["n_topics"].dims, drawn))
    return out


def test_percentages_of_a_list_have_as_many_decimals(page):
    """They were once 4.4% above 3%."""
    text = page.read_text(encoding="utf-8")
    assert 'style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1' in text
    assert not re.search(r"[\d}] %[^}]", without_data(text))


def visible(path):
    text = re.sub(r"<(style|script)\b.*?</\1>", "", path.read_text(encoding="utf-8"), flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())


def test_it_says_first_what_a_report_says_of_the_chains(page, fit, tmp_path):
    """Chains of twenty draws, one chain, and chains that have met."""
    text, verdict = visible(page), compare([fit])
    assert f"{verdict.heading} {verdict.under_heading()} Shares, words and intervals on this page may" in text
    write_report(tmp_path / "report.html", {"one": fit})
    assert f"{verdict.heading} {verdict.under_heading()}" in visible(tmp_path / "report.html")
    write_browser(tmp_path / "one.html", match_topics(fit.isel(chain=[0])))
    assert "Not enough evidence R-hat takes two chains or more" in visible(tmp_path / "one.html")
    met = fit.copy()
    met["posterior"] = fit["posterior"].to_dataset().map(np.zeros_like)
    write_browser(tmp_path / "met.html", met)
    text = visible(tmp_path / "met.html")
    assert compare([met]).headline() in text
    assert 'class="verdict agree"' not in (tmp_path / "met.html").read_text(encoding="utf-8")
    assert "may be far off" not in text


def test_what_has_no_room_is_left_out(fit):
    found = _Found(match_topics(fit), 0.9)
    whole = json.loads(fitting(found.content, LARGEST))
    part = json.loads(fitting(found.content, 2_000))
    assert all(document["text"] for document in whole["documents"])
    assert len(part["documents"]) < len(whole["documents"])
    assert len(part["topics"]) == len(whole["topics"])


def test_a_failed_page_leaves_the_old_one(tmp_path, fit):
    path = tmp_path / "topics.html"
    path.write_text("old")
    with pytest.raises(ValueError, match="interval"):
        write_browser(path, fit, interval=1.5)
    assert path.read_text() == "old"
    with pytest.raises(ValueError, match="html"):
        write_browser(tmp_path / "topics.txt", fit)


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
def test_it_runs_and_stays_inert_and_fits_a_phone(page, tmp_path):
    shutil.copy(page, tmp_path / "topics.html")
    outcome = outcome_on_a_phone(tmp_path)
    assert outcome["ready"] == "true"
    assert outcome["title"].startswith("Topics")
    assert outcome["images"] == "0"
    assert outcome["topics"] == "3"
    assert outcome["chosen"] == "Topic 1"
    assert html.unescape(outcome["word"]) in HOSTILE
    assert int(outcome["width"]) <= 390


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
@pytest.mark.parametrize(
    ("numbers", "labels"), [(np.arange(80, 129), 10), (np.arange(80, 98), 9), ([3, 4], 2)]
)
def test_the_number_of_topics_is_one_row_on_a_phone(numbers, labels, fit, tmp_path):
    write_browser(tmp_path / "topics.html", with_numbers_of_topics(fit, numbers))
    outcome = outcome_on_a_phone(tmp_path)
    assert outcome["rows"] == "1"
    assert len(outcome["numbers"].split(",")) == labels
    assert int(outcome["width"]) <= 390


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
def test_a_long_word_does_not_widen_a_report(fit, tmp_path):
    write_report(tmp_path / "topics.html", {HOSTILE[0]: fit})
    outcome = outcome_on_a_phone(tmp_path)
    assert int(outcome["width"]) <= 390

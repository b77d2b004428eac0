"""The topic browser: one page, small, whole, and inert whatever the words of the corpus are."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from bnpzoo.diagnostics.reports.browser import LARGEST, _fitting, _Found, write_browser
from bnpzoo.diagnostics.reports.fits import write_report
from bnpzoo.diagnostics.topics import match_topics, topics
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.inference import sample
from bnpzoo.zoo.models import get

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
HOSTILE = [
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "<!--<script>",
    "'\"><svg onload=document.title='owned'>",
    "a & b\u2028\\u003c",
    "w" * 300,
]


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
    assert sum(share for _, share in found["numbers"]) == pytest.approx(1.0, abs=0.01)
    assert sum(found["frequency"]) == found["tokens"] == 60
    assert {document["length"] for document in found["documents"]} == {6}


def test_what_has_no_room_is_left_out(fit):
    found = _Found(match_topics(fit), 0.9)
    whole = json.loads(_fitting(found, LARGEST))
    part = json.loads(_fitting(found, 2_000))
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
    (tmp_path / "phone.html").write_text(PHONE, encoding="utf-8")
    outcome = dict(re.findall(r"<li>(\w+): (.*?)</li>", rendered(tmp_path / "phone.html", tmp_path)))
    assert outcome["ready"] == "true"
    assert outcome["title"].startswith("Topics")
    assert outcome["images"] == "0"
    assert outcome["topics"] == "3"
    assert outcome["chosen"] == "Topic 1"
    assert html.unescape(outcome["word"]) in HOSTILE
    assert int(outcome["width"]) <= 390


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
def test_a_long_word_does_not_widen_a_report(fit, tmp_path):
    write_report(tmp_path / "topics.html", {HOSTILE[0]: fit})
    (tmp_path / "phone.html").write_text(PHONE, encoding="utf-8")
    outcome = dict(re.findall(r"<li>(\w+): (.*?)</li>", rendered(tmp_path / "phone.html", tmp_path)))
    assert int(outcome["width"]) <= 390


PHONE = """<!DOCTYPE html><ul></ul>
<iframe src="topics.html" style="width:390px;height:800px;border:0"></iframe>
<script>
addEventListener("load", () => {
  const frame = document.querySelector("iframe").contentWindow, page = frame.document;
  const next = new frame.KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true });
  page.querySelector("#list button")?.focus();
  page.activeElement.dispatchEvent(next);
  page.querySelectorAll("summary").forEach((each) => each.click());
  setTimeout(() => {
    const outcome = {
      ready: page.body.classList.contains("ready"),
      title: page.title,
      images: page.querySelectorAll("img, svg svg, iframe").length,
      topics: page.querySelectorAll("#list button").length,
      chosen: page.getElementById("title")?.textContent,
      word: page.querySelector("#words button")?.textContent,
      width: page.documentElement.scrollWidth,
    };
    for (const [name, value] of Object.entries(outcome)) {
      const line = document.createElement("li");
      line.textContent = `${name}: ${value}`;
      document.querySelector("ul").append(line);
    }
  }, 200);
});
</script>"""


def rendered(path: Path, profile: Path) -> str:
    """Return the page's elements after its script has run."""
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
        f"--user-data-dir={profile / 'profile'}", "--virtual-time-budget=5000", "--dump-dom", path.as_uri(),
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout

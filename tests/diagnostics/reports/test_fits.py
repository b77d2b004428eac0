import html
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from bnpzoo.diagnostics.compare import compare, labelled
from bnpzoo.diagnostics.heldout.scores import document_completion, posterior_topics, unigram
from bnpzoo.diagnostics.reports.fits import write_report
from bnpzoo.diagnostics.reports.plots import convergence_plots, equation
from bnpzoo.zoo.contract import Gamma
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.inference import sample
from bnpzoo.zoo.models import MODELS, get

ATTACK = "<script>alert(1)</script>"
VOID = {"meta", "br", "img", "link", "hr", "input"}


class Reader(HTMLParser):
    """Tags with their attributes, visible text, and whether all tags are closed in order."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.text, self.links = [], set(), "", []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.links += [value for name, value in attrs if name in ("href", "src", "xlink:href", "action")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)
        self.links += [value for name, value in attrs if name in ("href", "src", "xlink:href", "action")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data if not self.open or self.open[-1] not in ("style", "script") else ""


@pytest.fixture(scope="module")
def corpus():
    vocabulary = [ATTACK, "a & b", "\"><img src=x onerror='alert(2)'>", "river", "bank"]
    words = np.random.default_rng(0).integers(0, 5, 60)
    return Corpus(words, np.arange(0, 61, 6), vocabulary=vocabulary, group=np.arange(10) % 2)


@pytest.fixture(scope="module")
def fits(corpus):
    model = get("hdp", alpha=Gamma(1.0, 1.0), gamma=1.0, eta=0.5)
    runs = [
        sample(model, corpus, variant=v, chains=2, tune=50, draws=200, thin=20, seed=s)
        for s, v in enumerate(["sparse", "dense"])
    ]
    return labelled(runs)


@pytest.fixture(scope="module")
def page(fits, corpus, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    scores = {
        label: document_completion(posterior_topics(fit, corpus), corpus) for label, fit in fits.items()
    }
    write_report(path, fits, heldout=scores | {"unigram": document_completion([unigram(corpus)], corpus)})
    return path.read_text(encoding="utf-8")


@pytest.mark.slow
def test_every_tag_is_closed_and_nothing_is_loaded(page):
    reader = Reader(page)
    assert "script" not in reader.tags
    assert "img" not in reader.tags
    assert all(link.startswith("#") for link in reader.links)
    assert not re.search(r"@import|url\((?!#)", page)


def test_words_of_the_corpus_are_escaped(page):
    assert "<script" not in page
    assert "onerror='" not in page
    assert html.escape(ATTACK) in page
    assert ATTACK in Reader(page).text


def test_it_says_what_was_run_and_what_came_of_it(page, fits):
    text = " ".join(Reader(page).text.split())
    assert f"{compare(fits).heading} {compare(fits).under_heading()}" in text
    expected = [
        "kernel (sparse)", "kernel (dense)", "log_joint", "topic_entropy[0]", "sampled, prior Gamma(1, 1)",
        "fixed at 0.5", "document completion", "unigram", get("hdp").card.title, get("hdp").card.citation,
    ]  # fmt: skip
    for words in expected:
        assert words in text
    for equation_ in get("hdp").card.equations:
        assert html.escape(equation_.meaning) in page


def test_all_plots_are_of_one_size(page):
    """So that what is written in them is, on a phone."""
    assert len(set(re.findall(r'<svg viewBox="(0 0 [\d.]+ [\d.]+)" role="img"><defs>', page))) == 1


def test_tables_show_where_they_go_on(page):
    assert page.count("<table") == page.count('<div class="scroll">\n<table')
    assert "background-attachment: local, local, scroll, scroll" in page


def test_topics_come_first_and_contents_lead_to_all(page):
    anchors = re.findall(r'<a href="#([\w-]+)">', page)
    assert anchors[0] == "topics"
    places = [page.index(f'id="{anchor}"') for anchor in anchors]
    assert places == sorted(places)
    assert 'id="topic-0"' in page


def test_it_links_to_the_browser(fits, tmp_path):
    write_report(tmp_path / "r.html", {"one": fits["kernel (sparse)"]}, browser="topics.html")
    assert '<a href="topics.html">' in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_labels_are_escaped_too(fits, tmp_path):
    write_report(tmp_path / "r.html", {ATTACK: fits["kernel (sparse)"]})
    assert "<script" not in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_draws_of_an_approximation_have_no_warm_up(fits, page, tmp_path):
    assert "From the start" in page
    approximate = fits["kernel (sparse)"].copy()
    approximate.attrs["backend"] = "vi"
    write_report(tmp_path / "vi.html", {"vi": approximate})
    text = (tmp_path / "vi.html").read_text(encoding="utf-8")
    assert "From the start" not in text
    assert '<td class="n">200</td><td class="n">–</td>' in text


def test_a_setting_that_is_empty_is_a_dash(fits, tmp_path, monkeypatch):
    monkeypatch.setattr(MODELS["hdp"], "settings", lambda self: {"missing": "", "level": 0.0})
    write_report(tmp_path / "r.html", {"one": fits["kernel (sparse)"]})
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<code>missing</code><span>–</span>" in text
    assert "<code>level</code><span>0.0</span>" in text


@pytest.mark.slow
def test_one_fit_and_a_disagreement(fits, tmp_path):
    one = fits["kernel (sparse)"]
    write_report(tmp_path / "one.html", {"one": one})
    text = " ".join(Reader((tmp_path / "one.html").read_text(encoding="utf-8")).text.split())
    found = compare({"one": one})
    assert f"{found.heading} {found.under_heading()}" in text
    assert text.count(found.heading) == 1
    assert "difference, MCSE" not in text
    wrong = one.copy()
    wrong["posterior"] = one["posterior"].to_dataset().assign(log_joint=lambda x: x["log_joint"] + 100.0)
    write_report(tmp_path / "two.html", {"one": one, "wrong": wrong})
    page = (tmp_path / "two.html").read_text(encoding="utf-8")
    assert "Disagreement" in page
    assert 'class="beyond"' in page


def test_the_same_fits_give_the_same_bytes(fits, tmp_path):
    for name in ("a.html", "b.html"):
        write_report(tmp_path / name, {"one": fits["kernel (sparse)"]})
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_a_failed_report_leaves_the_old_one(fits, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old")
    other = fits["kernel (dense)"].copy()
    other.attrs["corpus_sha256"] = "0" * 64
    with pytest.raises(ValueError, match="corpus"):
        write_report(path, {"one": fits["kernel (sparse)"], "other": other})
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("shape", [(1, 50), (2, 3), (4, 600)])
def test_plots_of_short_long_and_tied_chains(shape):
    draws = np.random.default_rng(1).poisson(2.0, shape).astype(float)
    for fits in ([draws], [draws, draws[:, ::-1], np.full((2, 10), 2.0)]):
        plots = convergence_plots(fits)
        assert set(plots) == {"trace", "rank", "ecdf"}
        for svg in plots.values():
            assert svg.startswith("<svg")
            assert svg.rstrip().endswith("</svg>")
            Reader(svg)


def test_formulas_are_drawn_and_what_cannot_be_drawn_is_escaped():
    drawn = equation(r"p(z_i = k) \propto \frac{n_{kw} + \eta}{n_k + V\eta}")
    assert drawn.startswith("<svg")
    assert "currentColor" in drawn
    assert equation(r"\nonsense{<b>}") == r"<code>\nonsense{&lt;b&gt;}</code>"


@pytest.mark.parametrize("name", list(MODELS))
def test_every_equation_of_every_card_can_be_drawn(name):
    for each in MODELS[name].card.equations:
        assert equation(each.latex).startswith("<svg"), each.latex

"""The layers of topics of a fit, and the page of them: small, whole, inert, and what the table says."""

import json
import re

import numpy as np
import pytest
from bnpzoo.diagnostics.reports.hierarchy import spread_of, write_hierarchy
from bnpzoo.diagnostics.reports.pages import LARGEST
from bnpzoo.diagnostics.topics import hierarchy_of
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.families.belief_network import network
from bnpzoo.zoo.inference import latents_of, sample
from bnpzoo.zoo.inference.results import ResultsError
from bnpzoo.zoo.models import get
from chromium import HOSTILE


@pytest.fixture(scope="module")
def fit():
    words = np.random.default_rng(0).integers(0, len(HOSTILE), 72)
    corpus = Corpus(words, np.arange(0, 73, 12), vocabulary=HOSTILE)
    model = get("lda", topics="belief-network", n_topics=4, width=5, layer_mass=2.0, alpha=0.5)
    return sample(model, corpus, chains=2, tune=20, draws=20, seed=1, workers=1)


def data_of(path):
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', path.read_text(), re.S)
    return json.loads(data)


def test_layers_are_those_of_the_last_draw(fit):
    found = hierarchy_of(fit, n_words=3, chain=1, least=0.0)
    *_, latents = (latents for c, _, latents in latents_of(fit) if c == 1)
    sizes = np.bincount(latents["z"], minlength=4)
    shares = [sizes / 72, *network.token_shares(latents, sizes)]
    assert len(found.layers) == 3
    assert len(found.links) == 2
    for layer, share in zip(found.layers, shares, strict=True):
        assert [topic.share for topic in layer] == sorted((s for s in share if s * 72 >= 1.0), reverse=True)
        assert all(len(topic.words) <= 3 for topic in layer)
    for t, own in enumerate(found.links):
        links = np.exp(network.links_below(latents, t))
        for link in own:
            j, k = found.layers[t][link.lower].topic, found.layers[t + 1][link.upper].topic
            assert link.share == pytest.approx(links[k, j] / links[:, j].sum())
        assert [link.share for link in own] == sorted((link.share for link in own), reverse=True)


def test_weak_links_are_left_out(fit):
    found = hierarchy_of(fit, least=0.5)
    assert all(link.share >= 0.5 for own in found.links for link in own)


def test_the_page_is_small_and_loads_nothing(fit, tmp_path):
    write_hierarchy(tmp_path / "a.html", fit)
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert len(text.encode()) < LARGEST
    assert "default-src 'none'" in text
    assert text.count("<script") == 2
    assert not re.search(r"<img|<!--", text)
    around = re.sub(r'id="data">.*?</script>', "", text, flags=re.DOTALL)
    assert not re.search(r"@import|url\(|\bsrc=|\bhref=", around)
    assert not re.search(r'\bstyle="', around)


def test_the_page_has_the_topics_and_links_of_the_table(fit, tmp_path):
    write_hierarchy(tmp_path / "a.html", fit, n_words=4)
    data, found = data_of(tmp_path / "a.html"), hierarchy_of(fit, 4)
    for layer, told in zip(found.layers, data["layers"], strict=True):
        for topic, (number, share, words) in zip(layer, told, strict=True):
            assert topic.topic == number
            assert share == pytest.approx(topic.share, rel=0.01)
            assert tuple(data["words"][w] for w in words) == topic.words
    assert [[link[:2] for link in own] for own in data["links"]] == [
        [[link.lower, link.upper] for link in own] for own in found.links
    ]
    assert data["omitted"] == 0


def test_what_a_layer_needs_is_told_with_its_spread(fit):
    spread = spread_of(fit, 0)
    middle, low, high = map(float, re.findall(r"[\d.]+", spread["upper_topics"]))
    assert 1.0 <= low <= middle <= high <= 5.0
    assert spread["layer_mass"] == "fixed"


def test_a_fit_without_layers_is_told_in_a_line(tmp_path):
    corpus = Corpus([0, 1, 1, 0], [0, 2, 4])
    for arguments in ({}, {"topics": "belief-network", "layers": 1}):
        other = sample(get("lda", n_topics=2, **arguments), corpus, chains=1, tune=2, draws=2, seed=1)
        with pytest.raises(ResultsError, match="expected a fit with topics of belief-network, of two layers"):
            hierarchy_of(other)
    with pytest.raises(ValueError, match="html"):
        write_hierarchy(tmp_path / "a.txt", other)

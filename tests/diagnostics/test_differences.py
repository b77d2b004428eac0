"""Topics side by side: on a corpus whose groups are known to differ, and against sums by hand."""

import numpy as np
import pytest
from bnpzoo.diagnostics.differences import Association, aligned_topics, as_table, likeness
from bnpzoo.diagnostics.reports.differences import plot_differences
from bnpzoo.diagnostics.reports.fits import write_report
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.corpus.associations import Associations
from bnpzoo.zoo.inference import ResultsError, sample
from bnpzoo.zoo.models import get
from samplers import AS_PLAIN_PYTHON

pytestmark = AS_PLAIN_PYTHON

WORDS = ["ball", "goal", "football", "soccer", "<vote>", "$law$", "congress", "parliament"]
# words that only one group has are the last two of each four
SPORT, POLITICS = [[0, 1, 2], [0, 1, 3]], [[4, 5, 6], [4, 5, 7]]
GROUPS = np.arange(20) % 2


def sampled(model, associations=None):
    """Fit to documents of two countries on two topics, two of whose three words are the same in both."""
    rng = np.random.default_rng(0)
    topics = np.arange(20) // 2 % 2
    words = [
        rng.choice((SPORT, POLITICS)[topic][group], 12) for topic, group in zip(topics, GROUPS, strict=True)
    ]
    corpus = Corpus(
        np.concatenate(words),
        12 * np.arange(21),
        vocabulary=WORDS,
        group=GROUPS,
        group_names=["US", "UK"],
        associations=associations,
    )
    return sample(model, corpus, chains=2, tune=100, draws=4, keep=2, seed=3, workers=1)


@pytest.fixture(scope="module")
def tree():
    """Its kept draws are what the documents were made with."""
    tree = sampled(get("cclda", n_topics=2, alpha=0.1, eta=0.1, delta=0.1, gamma0=1.0, gamma1=1.0))
    words = tree["observed_data"]["words"].values
    tree["latents"]["z"][:] = words // 4
    tree["latents"]["own"][:] = words % 4 >= 2
    return tree


@pytest.fixture(scope="module")
def transformed():
    exchange = np.eye(8)
    exchange[np.ix_([2, 3], [2, 3])] = exchange[np.ix_([6, 7], [6, 7])] = 0.5
    model = get("tpyp", n_topics=2, alpha=0.1, eta=0.1, b=10.0, a=0.3)
    return sampled(model, Associations.of([exchange, exchange]))


def test_groups_share_topics_and_differ_in_words(tree):
    topics = aligned_topics(tree)
    assert len(topics) == 2
    assert sum(topic.share for topic in topics) == pytest.approx(1.0)
    (sport,) = [topic for topic in topics if "goal" in topic.shared[:2]]
    assert set(sport.shared[:2]) == {"ball", "goal"}
    assert [version.group for version in sport.versions] == ["US", "UK"]
    assert [version.divergent[0] for version in sport.versions] == ["football", "soccer"]
    assert {word.word for word in sport.versions[0].words[:3]} == {"ball", "goal", "football"}
    assert 0.5 < sport.likeness < 0.95
    assert np.isnan(sport.concentration)
    assert sport.versions[0].associations == ()


def test_likeness():
    assert likeness(np.array([[0.3, 0.7], [0.3, 0.7]])) == pytest.approx(1.0)
    assert likeness(np.eye(3)) == pytest.approx(0.0)
    p, q = np.array([0.5, 0.5, 0.0]), np.array([0.5, 0.0, 0.5])
    # half of the words are the same; the other half tell the groups apart
    assert likeness(np.array([p, q])) == pytest.approx(0.5)


def test_associations_are_counted_at_the_tables(transformed):
    for topic in aligned_topics(transformed):
        assert topic.concentration == 10.0
        found = {pair for version in topic.versions for pair in version.associations}
        for pair in found:
            assert {pair.source, pair.word} in ({"football", "soccer"}, {"congress", "parliament"})
            assert 0.0 < pair.share <= 1.0
    latents = transformed["latents"].to_dataset().isel(chain=0, kept=-1)
    words, group = transformed["observed_data"]["words"].values, np.repeat(GROUPS, 12)
    source, z = latents["association"].values.astype(int), latents["z"].values
    for topic in aligned_topics(transformed):
        for g, version in enumerate(topic.versions):
            at = (z == topic.topic) & (group == g) & (source >= 0)
            for v, w in ((2, 3), (3, 2), (6, 7), (7, 6)):
                tables = np.count_nonzero(at & (source == v) & (words == w))
                if tables:
                    share = tables / np.count_nonzero(at & (source == v))
                    assert Association(WORDS[v], WORDS[w], tables, share) in version.associations


def test_table_has_a_row_a_topic_and_group(tree):
    table = as_table(aligned_topics(tree, n_words=3))
    assert list(table["group"]) == ["US", "UK"] * 2
    assert table["words"].str.split().str.len().max() == 3
    assert table.groupby("group")["share"].sum().to_numpy() == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_picture_is_drawn(tree, tmp_path, suffix):
    path = tmp_path / f"topics.{suffix}"
    plot_differences(aligned_topics(tree), path)
    assert path.stat().st_size > 1000


def test_report_shows_versions_and_escapes_their_words(tree, tmp_path):
    write_report(tmp_path / "report.html", {"cclda": tree})
    text = (tmp_path / "report.html").read_text()
    assert "Topics side by side" in text
    assert "&lt;vote&gt;" in text
    assert "<vote>" not in text


def test_models_without_versions_are_refused():
    with pytest.raises(ResultsError, match="lda: expected a model whose groups have versions"):
        aligned_topics(sampled(get("lda", n_topics=2)))


def test_chains_that_were_not_kept_are_refused(tree):
    with pytest.raises(ResultsError, match="chain 2: expected a fit with a kept draw"):
        aligned_topics(tree, chain=2)

"""Topics and their words as tables."""

import numpy as np
import pytest
from bnpzoo import Corpus
from bnpzoo.diagnostics.topics import (
    correlations,
    documents,
    match_topics,
    number_of_topics,
    ranked_words,
    representatives,
    tokens,
    topic_words,
    topics,
)  # fmt: skip
from bnpzoo.diagnostics.topics.summaries import rank_words, relevance, word_intervals
from bnpzoo.zoo.inference import latents_of, load, model_of, save
from scipy.stats import beta

ONE = [0] * 8 + [1] * 4
TWO = [0] * 7 + [1] * 5


@pytest.fixture
def matched(corpus, fit_of):
    return match_topics(fit_of(corpus, [[ONE, TWO], [ONE, ONE]], n_topics=2))


def test_topics_largest_first(matched):
    table = topics(matched, 2)
    assert table["tokens"].tolist() == [7.75, 4.25]
    assert table["share"].sum() == 1.0
    assert table["documents"].tolist() == [2.0, 1.25]
    assert table["found"].tolist() == [1.0, 1.0]
    assert table["words"].tolist() == ["a b", "c d"]
    assert (table["share_low"] <= table["share"]).all()
    assert (table["share"] <= table["share_high"]).all()


def test_words_are_the_mean_over_draws(matched):
    found = topic_words(matched, interval=0.5)
    expected = np.mean(
        [model_of(matched.fit).frozen_topics(z, matched.corpus).words for *_, z in latents_of(matched.fit)],
        axis=0,
    )
    np.testing.assert_allclose(found.mean, expected)
    np.testing.assert_allclose(found.mean.sum(axis=1), 1.0)
    assert found.mean.columns.tolist() == [*"abcde"]
    assert (found.low.to_numpy() <= found.high.to_numpy()).all()


def test_intervals_of_words_are_those_of_a_mixture_of_betas(corpus, fit_of):
    """In the one draw, 4 of topic 0's 8 tokens are a word, of 5 in all: Beta(4.1, 4.4) with eta 0.1."""
    matched = match_topics(fit_of(corpus, [[ONE]], n_topics=2))
    (low, high), law = word_intervals(matched, np.array([[0]]), 0.5), beta(4.1, 4.4)
    assert abs(law.cdf(low[0, 0]) - 0.25) < 4.5 * np.sqrt(0.25 * 0.75 / 200)
    assert abs(law.cdf(high[0, 0]) - 0.75) < 4.5 * np.sqrt(0.25 * 0.75 / 200)


def test_a_vocabulary_of_one_word(fit_of):
    matched = match_topics(fit_of(Corpus([0, 0, 0, 0], [0, 3, 4], ["only"]), [[[0, 0, 1, 1]]], n_topics=2))
    np.testing.assert_allclose(word_intervals(matched, np.array([[0], [0]]), 0.5), 1.0)
    assert topics(matched, 3)["words"].tolist() == ["only", "only"]


def test_ranked_words(matched):
    found = ranked_words(matched, 2, by="lift")
    assert found["topic"].tolist() == [0, 0, 1, 1]
    assert found["rank"].tolist() == [1, 2, 1, 2]
    assert found["word"].tolist() == ["a", "b", "c", "d"]
    words, (low, _) = topic_words(matched), word_intervals(matched, rank_words(matched, 2, by="lift"))
    assert found["low"].tolist() == low.ravel().tolist()
    for row in found.itertuples():
        assert row.probability == words.mean.at[row.topic, row.word]
        assert row.low < row.probability < row.high
        share = np.mean(matched.corpus.vocabulary[matched.corpus.words] == row.word)
        assert row.lift == pytest.approx(row.probability / share)


def test_words_by_relevance_and_lift():
    probability = np.array([[0.6, 0.3, 0.1, 1e-9]])
    corpus = Corpus([0] * 8 + [1] + [2], [0, 10], n_words=4)
    frequency = np.array([0.8, 0.1, 0.1])
    by_hand = 0.6 * np.log(probability[0, :3]) + 0.4 * np.log(probability[0, :3] / frequency)
    np.testing.assert_allclose(relevance(probability, corpus, 0.6)[0, :3], by_hand)
    np.testing.assert_allclose(relevance(probability, corpus, 1.0), np.log(probability))
    assert np.argsort(-relevance(probability, corpus, 0.0)[0]).tolist() == [1, 2, 0, 3]


def test_ranks_that_there_are_not(matched):
    with pytest.raises(ValueError, match="by: expected one of probability, relevance, lift, found 'weight'"):
        rank_words(matched, by="weight")
    with pytest.raises(ValueError, match="weight: expected a number from 0 to 1"):
        rank_words(matched, by="relevance", weight=2.0)
    with pytest.raises(ValueError, match="n_words: expected a whole number, 1 or more, found -1"):
        topics(matched, n_words=-1)
    with pytest.raises(ValueError, match="interval: expected a probability between 0 and 1"):
        topics(matched, interval=90)


def test_documents_by_topics(matched):
    found = documents(matched)
    assert found.mean.index.tolist() == ["x.txt", "y.txt", "z.txt"]
    np.testing.assert_allclose(found.mean.sum(axis=1), 1.0)
    np.testing.assert_allclose(found.mean.loc["x.txt"], [4.5 / 5, 0.5 / 5])
    np.testing.assert_allclose(found.mean.loc["y.txt"], [(3 * 4.5 + 3.5) / 20, (3 * 0.5 + 1.5) / 20])
    assert ((found.low < found.mean) & (found.mean < found.high)).to_numpy().all()


def test_intervals_of_documents_are_those_of_a_mixture_of_betas(corpus, fit_of):
    """In the one draw the first document's share is Beta(4.5, 0.5)."""
    found = documents(fit_of(corpus, [[ONE]], n_topics=2), interval=0.5)
    law = beta(4.5, 0.5)
    assert abs(law.cdf(found.low.iat[0, 0]) - 0.25) < 4.5 * np.sqrt(0.25 * 0.75 / 200)
    assert abs(law.cdf(found.high.iat[0, 0]) - 0.75) < 4.5 * np.sqrt(0.25 * 0.75 / 200)


def test_tokens(matched):
    found = tokens(matched)
    assert found["topic"].tolist() == ONE
    assert found["probability"].tolist() == [1.0] * 7 + [0.75] + [1.0] * 4
    assert found["document"].tolist() == ["x.txt"] * 4 + ["y.txt"] * 4 + ["z.txt"] * 4
    assert found["word"].iloc[-1] == "d"


def test_representatives_and_correlations(matched):
    found = representatives(matched, 1)
    assert found["document"].tolist() == ["x.txt", "z.txt"]
    assert found["topic"].tolist() == [0, 1]
    np.testing.assert_allclose(correlations(matched), [[1, -1], [-1, 1]])


def test_number_of_topics(matched):
    found = number_of_topics(matched.fit)
    assert found.index.tolist() == [2]
    assert found.columns.tolist() == ["probability", "chain 0", "chain 1"]
    assert found.to_numpy().tolist() == [[1.0] * 3]


def test_a_fit_from_a_file(matched, tmp_path):
    matched.fit.attrs |= {"backend_version": "", "bnpzoo_version": "", "seed": 0, "tune": 0, "thin": 1}
    matched.fit.attrs |= {"truncation": "", "interrupted": 0}
    save(matched.fit, tmp_path / "fit.nc")
    assert topics(load(tmp_path / "fit.nc")).equals(topics(matched))

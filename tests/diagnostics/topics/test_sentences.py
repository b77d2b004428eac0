"""Subtle topics of sentences, and comments on parts of an article: by hand, and on planted ones."""

import numpy as np
import pytest
from bnpzoo.diagnostics.topics import Sentences, comments, match_topics, sentence_topics, specific, subtle
from bnpzoo.zoo.corpus import Corpus, CorpusError
from bnpzoo.zoo.designs import SubtleTopics


@pytest.fixture
def article():
    """An article of three sentences, of 4, 2 and 2 tokens; an empty one; two comments on the first."""
    return Corpus(
        [0, 1, 0, 1, 2, 2, 0, 1, 2, 2, 0, 3],
        [0, 8, 8, 10, 12],
        [*"abcd"],
        segment_ptr=[0, 4, 6, 8, 10, 12],
        covariates={"article": [7, 8, 7, 7], "is_comment": [0, 0, 1, 1], "file": [*"ABCD"]},
    )


Z = np.array([0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 0, 2])
"""Sentence 2 is about topic 1, as the first comment; the second comment is half on what the article lacks."""


def test_sentences_know_their_place(article):
    sentences = Sentences.of(article)
    assert sentences.lengths.tolist() == [4, 2, 2, 2, 2]
    assert sentences.document.tolist() == [0, 0, 0, 2, 3]
    assert sentences.number.tolist() == [1, 2, 3, 1, 1]
    assert sentences.first.tolist() == [0, 3, 3, 4, 5]
    assert sentences.words(1) == "c c"


def test_topics_of_sentences_are_means_over_draws(fit_of, article):
    other = np.where(np.arange(12) == 4, 0, Z)
    matched = match_topics(fit_of(article, [[Z, other]], n_topics=3))
    expected = [[4, 0, 0], [0.5, 1.5, 0], [2, 0, 0], [0, 2, 0], [1, 0, 1]]
    np.testing.assert_allclose(sentence_topics(matched), expected)


def test_subtle_topics_by_hand(fit_of, article):
    other = np.where(np.arange(12) == 4, 0, Z)
    found = subtle(fit_of(article, [[Z, other]], n_topics=3), most=0.25)
    assert len(found) == 1
    row = found.iloc[0]
    assert (row["document"], row["sentence"], row["topic"], row["words"]) == ("A", 2, 1, "c c")
    assert (row["share"], row["of_document"], row["tokens"]) == (0.75, 1.5 / 8, 2)
    assert row["score"] == pytest.approx(1.5 * np.log(0.75 / (1.5 / 8)))
    assert (row["low"], row["high"]) == pytest.approx((0.525, 0.975))
    whole = fit_of(article, [[Z]], n_topics=3)
    assert subtle(whole, most=0.1).empty
    scores = subtle(whole, least=0.0, most=1.0)["score"]
    assert scores.is_monotonic_decreasing
    assert len(scores) == 6  # topics that the five sentences have


def test_comments_by_hand(fit_of, article):
    fit = fit_of(article, [[Z]], n_topics=3)
    first, second = comments(fit)
    assert (first.document, first.article, first.sentence) == (2, 0, 1)
    np.testing.assert_allclose(first.parts, [0, 1, 0])
    assert first.specificity == pytest.approx(np.log(4))
    # Half of the second is on topic 0, of whose six tokens four stand in sentence 1 and two in sentence 3
    np.testing.assert_allclose(second.parts, [1 / 3, 0, 1 / 6])
    lengths = np.array([1 / 2, 1 / 4])
    parts = np.array([1 / 3, 1 / 6])
    assert second.specificity == pytest.approx(np.sum(parts * np.log(parts / (lengths / 2))))
    table = specific(fit)
    assert list(table["comment"]) == ["C", "D"]
    assert list(table["sentence"]) == [2, 1]
    assert list(table["covered"]) == [1.0, 0.5]
    assert list(table["words"]) == ["c c", "a b a b"]


def test_a_comment_on_all_of_its_article_is_not_specific(fit_of):
    corpus = Corpus(
        [0] * 9,
        [0, 6, 9],
        n_words=4,
        segment_ptr=[0, 2, 6, 9],
        covariates={"article": ["x", "x"], "is_comment": [0, 1]},
    )
    (found,) = comments(fit_of(corpus, [[np.zeros(9, int)]], n_topics=3))
    np.testing.assert_allclose(found.parts, [1 / 3, 2 / 3])
    assert found.specificity == pytest.approx(0.0, abs=1e-12)
    assert found._replace(contributions=np.array([-2e-16, 1e-17])).specificity == 0.0


def test_planted_topics_are_found_where_the_topics_are_known(fit_of):
    problem = SubtleTopics(n_documents=12, n_words=60, n_comments=6).draw(np.random.default_rng(0))
    corpus = problem.simulation.corpus
    fit = fit_of(corpus, [[problem.simulation.latents["z"]]], n_topics=15)
    rows = subtle(fit, most=0.15)
    sentences = Sentences.of(corpus)
    place = {(d, n): s for s, (d, n) in enumerate(zip(sentences.document, sentences.number, strict=True))}
    found = {place[key] for key in zip(rows["document"], rows["sentence"], strict=True)}
    in_articles = ~corpus.flag("is_comment")[sentences.document]
    planted = set(np.flatnonzero((problem.carried >= 0) & in_articles))
    assert len(found & planted) >= 0.95 * len(planted)
    scores = comments(fit)
    of_specific = [c.specificity for c in scores if problem.about[c.document] >= 0]
    of_others = [c.specificity for c in scores if problem.about[c.document] < 0]
    assert min(of_specific) > max(of_others)
    for each in scores:
        if problem.about[each.document] >= 0:
            sentence = sentences.first[each.article] + each.sentence
            assert problem.carried[sentence] == problem.about[each.document]


def test_what_is_missing_is_said(fit_of, article, corpus):
    plain = fit_of(corpus, [[np.zeros(12, int)]], n_topics=2)
    for ask in (subtle, comments, specific):
        with pytest.raises(CorpusError, match="expected sentences, found none"):
            ask(plain)
    fit = fit_of(article, [[Z]], n_topics=3)
    with pytest.raises(ValueError, match=r"least: expected a share from 0 to 1, found 1\.5"):
        subtle(fit, least=1.5)
    with pytest.raises(CorpusError, match=r"covariates\['reply'\]: expected a truth value"):
        comments(fit, comment="reply")
    with pytest.raises(CorpusError, match=r"covariates\['thread'\]: expected a whole number or text"):
        comments(fit, article="thread")
    with pytest.raises(
        CorpusError, match=r"covariates\['file'\]: C: expected one document that is no comment"
    ):
        comments(fit, article="file")

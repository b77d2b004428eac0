"""Corpora with planted subtle topics: what is planted is there, and nowhere else."""

import numpy as np
import pytest
from bnpzoo.zoo.designs import SubtleTopics


def drawn(seed=0, **sizes):
    return SubtleTopics(**sizes).draw(np.random.default_rng(seed))


def test_sizes_are_as_asked():
    problem = drawn(n_documents=7, n_sentences=6, sentence_length=5, n_words=50, n_comments=3)
    corpus, latents = problem.simulation.corpus, problem.simulation.latents
    assert corpus.doc_lengths.tolist() == [30, 5, 5, 5] * 7
    assert np.diff(corpus.segment_ptr).tolist() == [5] * (7 * 9)
    assert corpus.covariates["article"].tolist() == np.repeat(np.arange(7), 4).tolist()
    assert corpus.covariates["is_comment"].tolist() == [False, True, True, True] * 7
    assert problem.topics.shape == (15, 50)
    assert latents["theta"].shape == (28, 5)
    assert problem.carried.shape == (63,)
    assert problem.about.shape == (28,)


def test_each_document_has_its_subtle_topics_in_so_many_sentences():
    problem = drawn(n_documents=20, n_sentences=8, per_document=2, carriers=3)
    for own in problem.carried.reshape(20, 8):
        topics, counts = np.unique(own[own >= 0], return_counts=True)
        assert counts.tolist() == [3, 3]
        assert topics.min() >= 5


def test_subtle_topics_are_where_they_were_planted():
    problem = drawn(n_comments=2)
    z, corpus = problem.simulation.latents["z"], problem.simulation.corpus
    planted = problem.carried[corpus.segment_of]
    subtle = z >= 5
    assert np.all(z[subtle] == planted[subtle])
    # 0.8 of the tokens of sentences that carry one, within 5 standard errors: false alarm 6e-7
    n = np.count_nonzero(planted >= 0)
    assert abs(subtle[planted >= 0].mean() - 0.8) < 5 * np.sqrt(0.16 / n)
    assert np.all(problem.topics[z, corpus.words] > 0)


def test_comments_are_on_their_article():
    problem = drawn(n_documents=200, n_comments=4, sentence_length=2)
    carried = problem.carried.reshape(200, 24)
    about = problem.about.reshape(200, 5)
    assert np.all(about[:, 0] == -1)
    assert np.array_equal(about[:, 1:], carried[:, 20:])
    for own, comments in zip(carried[:, :20], about, strict=True):
        assert {*comments} <= {-1, *own}
    # Half of 800 comments are specific, within 5 standard errors
    assert abs(np.mean(about[:, 1:] >= 0) - 0.5) < 5 * np.sqrt(0.25 / 800)


def test_there_need_be_no_subtle_topic():
    problem = drawn(per_document=0, n_comments=1, n_documents=3)
    assert np.all(problem.carried == -1)
    assert np.all(problem.simulation.latents["z"] < 5)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"n_documents": 0}, "n_documents: expected at least 1, found 0"),
        ({"carriers": -1}, "carriers: expected at least 0"),
        ({"prominence": 1.5}, "prominence: expected a probability"),
        ({"smoothness": 0.0}, "smoothness: expected a positive number"),
        ({"per_document": 11}, "per_document: expected at most the 10 subtle topics"),
        ({"carriers": 11}, "carriers: expected at most the 20 sentences of a document for 2 topics"),
    ],
)
def test_sizes_that_cannot_be(sizes, message):
    with pytest.raises(ValueError, match=message):
        SubtleTopics(**sizes)

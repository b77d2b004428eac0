"""Laws and counts in one pass, against slower ones."""

import numpy as np
import pytest
from bnpzoo.kernels.toolbox.tally import counts_of_counts, counts_of_words, log_urns, recount
from bnpzoo.zoo.toolbox.laws import log_sequences, topic_word_counts
from scipy.special import gammaln

PLAIN = getattr(log_urns, "py_func", log_urns)
"""Uncompiled, also where nothing is compiled."""


@pytest.mark.parametrize("function", [log_urns, PLAIN])
@pytest.mark.parametrize("scale", [1e-300, 1e-3, 1.0, 1e4, 1e280])
def test_urns_have_the_law_of_dirichlet_proportions(function, scale):
    rng = np.random.default_rng(1)
    lengths, prior = np.array([0, 40, 1, 0, 300]), scale * rng.random((2, 6))
    doc_ptr, row = np.concatenate([[0], np.cumsum(lengths)]), np.array([0, 1, 0, 1, 1])
    topic = rng.integers(6, size=doc_ptr[-1])
    document = np.repeat(np.arange(5), lengths)
    mass = prior.sum(axis=1)[row]
    all_ways = np.sum((gammaln(mass + lengths) - gammaln(mass))[lengths > 0])
    expected = sum(
        log_sequences(document[part], topic[part], prior[r])
        for r in range(2)
        for part in (row[document] == r,)
    )
    found = function(doc_ptr, row, topic, prior)
    if scale < 1e200:  # beyond, the difference of two log-gammas has no digits left
        assert found - all_ways == pytest.approx(expected, rel=1e-10)
    else:
        assert found == pytest.approx(np.sum(np.log(prior[row[document], topic])), rel=1e-12)


def test_a_topic_of_no_weight_is_impossible():
    arguments = np.array([0, 2]), np.array([0]), np.array([0, 1]), np.array([[1.0, 0.0]])
    assert log_urns(*arguments) == PLAIN(*arguments) == -np.inf


def test_recount():
    rng = np.random.default_rng(2)
    words, topic = rng.integers(7, size=60), rng.integers(4, size=60)
    counts, among = recount(words, topic, 8, 5), np.array([3, 7, 3])
    dense = topic_word_counts(topic, words, 5, np.arange(8))
    assert np.array_equal(counts.total, dense.sum(axis=1))
    assert np.array_equal(counts_of_words(counts, among), dense[:, among])
    histogram = counts_of_counts(counts)
    assert histogram[0] == 0
    assert np.array_equal(histogram[1:], np.bincount(dense.ravel())[1:])


def test_without_tokens_none_is_counted():
    assert counts_of_counts(recount(np.zeros(0, np.int64), np.zeros(0, np.int64), 3, 2)).tolist() == [0]

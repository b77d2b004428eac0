import numpy as np
import pytest
from bnpzoo.diagnostics.coherence import npmi, top_words, umass
from bnpzoo.zoo.corpus import Corpus

# Documents {0, 1}, {0, 1}, {0, 2}, {2} over a vocabulary of four words. Word 3 never occurs.
# Documents with word 0: 3, word 1: 2, word 2: 2; with 0 and 1: 2, 0 and 2: 1, 1 and 2: 0.
REFERENCE = Corpus(np.array([0, 1, 1, 0, 1, 0, 2, 2, 2]), np.array([0, 3, 5, 7, 9]), n_words=4)


def test_top_words_fall_in_probability_and_break_ties_by_id():
    words = np.array([[0.1, 0.4, 0.1, 0.4], [0.7, 0.1, 0.2, 0.0]])
    np.testing.assert_array_equal(top_words(words, 3), [[1, 3, 0], [0, 2, 1]])


def test_umass_by_hand():
    # Pairs (later, earlier) of 0, 1, 2: (1, 0): log 3/3; (2, 0): log 2/3; (2, 1): log 1/2.
    # In the order 2, 1, 0: (1, 2): log 1/2; (0, 2): log 2/2; (0, 1): log 3/2.
    scores = umass(np.array([[0, 1, 2], [2, 1, 0]]), REFERENCE)
    np.testing.assert_allclose(scores, [np.log(2 / 3) + np.log(1 / 2), np.log(1 / 2) + np.log(3 / 2)])


def test_umass_of_words_that_the_reference_lacks():
    scores = umass(np.array([[3, 0], [0, 3]]), REFERENCE)
    assert np.isnan(scores[0])
    assert scores[1] == pytest.approx(np.log(1 / 3))


@pytest.mark.parametrize("odd", [-1, 4])
def test_words_that_there_are_not(odd):
    with pytest.raises(ValueError, match=f"expected ids of the reference's 4 words, found {odd}$"):
        umass(np.array([[odd, 2]]), REFERENCE)


def test_npmi_by_hand():
    # p(0) = 3/4, p(1) = p(2) = 1/2, p(0, 1) = 1/2, p(0, 2) = 1/4, p(1, 2) = 0.
    both = np.log((1 / 2) / (3 / 4 * 1 / 2)) / -np.log(1 / 2)
    rare = np.log((1 / 4) / (3 / 4 * 1 / 2)) / -np.log(1 / 4)
    scores = npmi(np.array([[0, 1, 2], [0, 2, 1]]), REFERENCE)
    np.testing.assert_allclose(scores, [(both + rare - 1.0) / 3] * 2)
    np.testing.assert_allclose(npmi(np.array([[0, 3], [1, 0]]), REFERENCE), [-1.0, both])


def test_npmi_of_words_that_are_everywhere_is_one():
    everywhere = Corpus(np.array([0, 1, 0, 1]), np.array([0, 2, 4]))
    np.testing.assert_array_equal(npmi(np.array([[0, 1]]), everywhere), [1.0])


@pytest.mark.parametrize("measure", [umass, npmi])
def test_misuse_is_refused(measure):
    with pytest.raises(ValueError, match="at least two words"):
        measure(np.array([[0]]), REFERENCE)
    with pytest.raises(ValueError, match="found 4"):
        measure(np.array([[0, 4]]), REFERENCE)
    with pytest.raises(ValueError, match="at least one document"):
        measure(np.array([[0, 1]]), Corpus(np.array([], int), np.array([0]), n_words=4))
    empty = Corpus(np.array([], int), np.array([0, 0]), n_words=4, segment_ptr=np.array([0]))
    with pytest.raises(ValueError, match="at least one sentence"):
        measure(np.array([[0, 1]]), empty, unit="sentence")


@pytest.mark.parametrize("measure", [umass, npmi])
def test_sentences_count_as_documents_would(measure):
    sentences = Corpus(REFERENCE.words, [0, 5, 9], n_words=4, segment_ptr=REFERENCE.doc_ptr)
    top = np.array([[0, 1, 2], [0, 2, 1]])
    np.testing.assert_array_equal(measure(top, sentences, unit="sentence"), measure(top, REFERENCE))
    assert not np.array_equal(measure(top, sentences), measure(top, REFERENCE))
    with pytest.raises(ValueError, match="expected sentences, found none"):
        measure(top, REFERENCE, unit="sentence")
    with pytest.raises(ValueError, match="unit: expected one of document, sentence, found 'word'"):
        measure(top, REFERENCE, unit="word")

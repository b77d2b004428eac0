"""Associations from text, embeddings and matrices, against counts by hand; and input that is wrong."""

import gzip

import numpy as np
import pytest
from bnpzoo.zoo.corpus import Corpus, CorpusError
from bnpzoo.zoo.corpus.associate import associations_of, cooccurrence, similarity
from bnpzoo.zoo.formats.embeddings import read_embeddings
from scipy import sparse

TEXT = ["the cat sat on the mat", "a dog and a cat sat", "the mat"]
VOCABULARY = np.array(["cat", "dog", "mat", "sat", "bird"])


@pytest.fixture
def reference():
    words = [text.split() for text in TEXT]
    vocabulary = sorted({word for text in words for word in text})
    return Corpus(
        [vocabulary.index(word) for text in words for word in text],
        np.cumsum([0, *map(len, words)]),
        vocabulary=vocabulary,
        in_order=True,
    )


@pytest.fixture
def corpus():
    return Corpus([0, 1, 2, 3], [0, 2, 4], vocabulary=VOCABULARY, group=[0, 1])


def by_hand(window):
    """Pairs of tokens less than `window` apart, over the square root of both words' tokens."""
    known = VOCABULARY.tolist()
    pairs, alone = np.zeros((5, 5)), np.zeros(5)
    for text in TEXT:
        words = text.split()
        for i, first in enumerate(words):
            if first in known:
                alone[known.index(first)] += 1
            for second in words[i + 1 : i + window]:
                if {first, second} <= set(known):
                    a, b = known.index(first), known.index(second)
                    pairs[a, b] += 1
                    pairs[b, a] += 1
    return pairs / np.sqrt(np.maximum(1, np.outer(alone, alone)))


@pytest.mark.parametrize("window", [2, 3, 5, 20])
def test_words_in_a_window_stand_together(reference, corpus, window):
    found = cooccurrence(reference, corpus, window).toarray()
    np.testing.assert_allclose(found, by_hand(window))


def test_words_in_a_document_stand_together(reference, corpus):
    found = cooccurrence(reference, corpus, None).toarray()
    assert found[0, 3] == pytest.approx(1.0)  # cat and sat: both in the same two documents
    assert found[0, 2] == pytest.approx(1 / 2)  # cat and mat: one document of two each
    assert found[1, 0] == pytest.approx(1 / np.sqrt(2))
    assert not found[4].any()


def test_columns_are_shares_of_the_words_that_have_it_as_a_neighbour():
    strength = np.array([[9.0, 1.0, 2.0, 0.0], [1.0, 0.0, 1.0, 1.0], [0.0] * 4, [1.0, 5.0, 0.0, 0.0]])
    found = associations_of(strength, 2, most=2)
    assert found.n_groups == 2
    # neighbours: 0 and 2; 1 and 0, the first of three that are as strong; 2; 3 and 1
    expected = np.array([[1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 1, 0, 1]]) / [2, 2, 2, 1]
    for g in range(2):
        np.testing.assert_array_equal(found.matrix(g).toarray(), expected)


def test_sparse_and_dense_matrices_have_the_same_associations():
    rng = np.random.default_rng(0)
    dense = rng.random((30, 30)) * (rng.random((30, 30)) < 0.4)
    a, b = associations_of(dense, 1), associations_of(sparse.csc_matrix(dense), 1)
    np.testing.assert_array_equal(a.matrix(0).toarray(), b.matrix(0).toarray())
    in_rows = (a.matrix(0).toarray() > 0).sum(axis=1)
    assert in_rows.max() == 10
    assert np.all(a.matrix(0).diagonal() > 0)


@pytest.mark.parametrize("seed", range(3))
def test_nearest_words_are_those_of_the_largest_cosine(seed, monkeypatch):
    monkeypatch.setattr("bnpzoo.zoo.corpus.associate.BLOCK", 7)
    vectors = np.random.default_rng(seed).normal(size=(40, 3))
    vectors[5] = 0.0
    found = similarity(vectors, 4).toarray()
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
    cosine = unit @ unit.T
    for w in range(40):
        if w != 5:
            nearest = np.argsort(-cosine[w])[:4]
            expected = np.zeros(40)
            expected[nearest] = np.maximum(cosine[w, nearest], 0.0)
            np.testing.assert_allclose(found[w], expected, atol=1e-15)
    assert associations_of(found, 1, 4).matrix(0)[5].nnz == 1


def test_embeddings_are_read_by_word(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("3 2\ncat 1 2.5\nfish 0 0\nsat -1 1e-3\n")
    expected = np.zeros((5, 2))
    expected[0], expected[3] = (1.0, 2.5), (-1.0, 1e-3)
    np.testing.assert_array_equal(read_embeddings(path, VOCABULARY), expected)


@pytest.mark.parametrize(
    "content",
    [
        "cat 1 2.5\n. . . 1 1\n\xa0 1 1\nsat -1 1e-3\n",
        "2 2\r\ncat 1 2.5\r\nsat -1 1e-3\r\n\r\n",
        "\ncat\t1\t2.5\n\nsat\t-1\t1e-3 \n",
    ],
)
@pytest.mark.parametrize("name", ["a.vec", "a.vec.gz"])
def test_embeddings_as_they_are_about(tmp_path, content, name):
    data = content.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    found = read_embeddings(tmp_path / name, VOCABULARY)
    assert found.sum(0).tolist() == [0.0, 2.501]


def test_embeddings_of_a_word_with_accents_and_of_one_number(tmp_path):
    (tmp_path / "a.vec").write_text("e\u0301te\u0301 2\n", encoding="utf-8")
    assert read_embeddings(tmp_path / "a.vec", np.array(["été"])).tolist() == [[2.0]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("cat 1 2\nsat 1\n", "line 2: expected a word and 2 numbers, found 1 numbers"),
        ("cat 1 two\n", "line 1: expected numbers after the word"),
        ("cat 1 nan\n", "line 1: expected finite numbers"),
        ("fish 1 2\n", "expected some of the 5 words of the corpus, found none"),
        ("", "expected some of the 5 words"),
        ("\n", "expected some of the 5 words"),
        ("cat\n", "line 1: expected a word and 1 numbers"),
    ],
)
def test_embeddings_that_cannot_be_read(tmp_path, content, message):
    path = tmp_path / "vectors.txt"
    path.write_text(content)
    with pytest.raises(CorpusError, match=f"vectors.txt: {message}"):
        read_embeddings(path, VOCABULARY)


def test_embeddings_in_other_bytes(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_bytes(b"caf\xe9 1\n")
    with pytest.raises(CorpusError, match="expected UTF-8"):
        read_embeddings(path, VOCABULARY)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: associations_of(np.ones((2, 3)), 1), "strength: expected a square matrix"),
        (lambda: associations_of([[0.0, np.inf], [0.0, 0.0]], 1), r"strength\[0, 1\]: expected a finite"),
        (
            lambda: associations_of([[0.0, 0.0], [-0.5, 0.0]], 1),
            r"strength\[1, 0\]: .* 0 or more, found -0.5",
        ),
        (lambda: associations_of(np.eye(2), 1, most=0), "most: expected at least 1"),
        (lambda: similarity(np.ones(3)), r"vectors: expected numbers \(V, n\)"),
        (lambda: similarity([[1.0], [np.nan]]), r"vectors\[1\]: expected finite"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(CorpusError, match=message):
        call()


def test_bad_references_are_named(reference, corpus):
    with pytest.raises(CorpusError, match="window: expected at least 2"):
        cooccurrence(reference, corpus, 1)
    unordered = Corpus(reference.words, reference.doc_ptr, vocabulary=reference.vocabulary)
    with pytest.raises(CorpusError, match="reading order"):
        cooccurrence(unordered, corpus)
    with pytest.raises(CorpusError, match="expected some words of the corpus, found none"):
        cooccurrence(Corpus([0], [0, 1], vocabulary=["fish"]), corpus, None)

"""What would not fit into memory is refused in one line, before anything is allocated."""

import numpy as np
import pytest
from bnpzoo import Corpus
from bnpzoo.zoo import memory, models
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus import CorpusError
from bnpzoo.zoo.corpus.associate import associations_of, cooccurrence
from bnpzoo.zoo.corpus.associations import Associations
from bnpzoo.zoo.formats import read_corpus
from bnpzoo.zoo.inference import sample
from bnpzoo.zoo.memory import TooLarge, in_words, require_memory
from scipy import sparse


@pytest.fixture(autouse=True)
def one_gibibyte(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 2**30)


def test_what_is_asked_for_is_compared_with_what_there_is():
    require_memory(2**30, "a")
    with pytest.raises(TooLarge, match=r"^a: would take 1.5 GiB of memory; 1.0 GiB are available$"):
        require_memory(3 * 2**29, "a")
    with pytest.raises(TooLarge, match=r"a: would take 2.5 GiB of memory \(for x 2.0 GiB\)"):
        require_memory({"x": 2**31, "y": 2**29}, "a")
    require_memory({}, "nothing")


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [
        (0, "0 bytes"),
        (1023, "1,023 bytes"),
        (2**20, "1.0 MiB"),
        (10**12, "931.3 GiB"),
        (2**70, "1,024.0 EiB"),
    ],
)
def test_bytes_in_words(n_bytes, text):
    assert in_words(n_bytes) == text


def test_memory_of_this_machine(monkeypatch):
    monkeypatch.undo()
    assert 0 < memory.available_memory() <= 2**62


def test_files_that_a_container_has_read_can_be_given_up(tmp_path, monkeypatch):
    monkeypatch.undo()

    def left(**files):
        for name, text in files.items():
            (tmp_path / name.replace("_", ".")).write_text(text)
        return memory._of_control_group(tmp_path)

    assert left() == 2**62
    assert left(memory_max="max\n", memory_current="5000\n") == 2**62
    assert left(memory_max="8000\n") == 3000
    assert left(memory_stat="anon 600\nactive_file 1500\ninactive_file 2500\n") == 7000
    assert left(memory_stat="anon 600\n") == 3000
    assert left(memory_current="9000\n") == 0


def test_numbers_without_names():
    with pytest.raises(CorpusError, match=r"group_names: .* as many as 1,000,000,001, .* 59.6 GiB"):
        Corpus([0], [0, 1], group=[10**9])
    with pytest.raises(
        CorpusError, match=r"vocabulary: expected one for as many as 16,777,217, .* 576.0 MiB"
    ):
        Corpus([2**24], [0, 1])


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("docword.a.txt", "999999999\n2\n1\n1 1 1\n", "999,999,999 documents: would take 44.7 GiB"),
        ("docword.a.txt", "1\n999999999\n1\n1 1 1\n", "as many as 999,999,999"),
        (
            "docword.a.txt",
            "1\n1\n1\n1 1 2000000000\n",
            r"expected a whole number in 0\.\.10000000, found 2000000000",
        ),
        ("a.ldac", "1 16777216:1\n", "as many as 16,777,217"),
    ],
)
def test_files_that_promise_too_much(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(CorpusError, match=message):
        read_corpus(tmp_path / name)


def test_authors_that_are_too_many(tmp_path):
    arrays = {"words": [0], "doc_ptr": [0, 1], "vocab": ["a"], "author_ptr": [0, 1], "author_ids": [10**9]}
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(CorpusError, match=r"covariate_names\['author'\]: .* 1,000,000,001, .* 63.3 GiB"):
        read_corpus(tmp_path / "a.npz")


def test_topics_that_are_too_many():
    with pytest.raises(
        ValueError, match=r"n_topics: expected at most 1,048,576, found 1,000,000,000, .* 59.6 GiB"
    ):
        models.get("lda", n_topics=10**9)


def test_words_of_a_design_that_are_too_many():
    with pytest.raises(ValueError, match="n_words: expected at most 4,194,304, found 1,000,000,000,000"):
        Design(np.ones(1, int), 10**12)


def test_dense_counts_that_do_not_fit():
    corpus = Corpus([0], [0, 1] + [1] * 10**5, n_words=10**4)
    with pytest.raises(TooLarge, match=r"counts of 100,001 documents and 10,000 words: would take 7.5 GiB"):
        corpus.counts()


@pytest.mark.parametrize(
    ("model", "corpus", "options", "message"),
    [
        ("lda", Corpus([0], [0, 1]), {"chains": 10**23}, "chains of lda, 500 draws each"),
        ("lda", Corpus([0], [0, 1]), {"draws": 10**12}, "for test quantities"),
        ("hpyp", Corpus([0] * 30_000, [0, 30_000]), {}, r"for the table of Stirling ratios 1.7 GiB"),
        ("lda", Corpus([10**4], [0] + [1] * 10**4), {"backend": "numpyro"}, "for draws of the program"),
    ],
)
def test_fits_that_do_not_fit(model, corpus, options, message):
    with pytest.raises(TooLarge, match=message):
        sample(models.get(model), corpus, **options)


def test_kernels_of_counts_that_do_not_fit():
    corpus = Corpus([10**5], [0, 1], group=[0])
    with pytest.raises(TooLarge, match="for counts of words"):
        sample(models.get("cclda", n_topics=10**4), corpus, chains=1)


def test_a_window_wider_than_all_documents_is_all_of_each():
    reference = Corpus([0, 1, 2, 1, 0, 2], [0, 4, 6], in_order=True)
    narrow, wide = (cooccurrence(reference, reference, window) for window in (4, 10**9))
    assert np.array_equal(narrow.toarray(), wide.toarray())
    plain = np.zeros((3, 3))
    for words in ([0, 1, 2, 1], [0, 2]):
        for i, v in enumerate(words):
            for j, w in enumerate(words):
                plain[v, w] += i != j
    scale = np.sqrt(np.bincount(reference.words))
    np.testing.assert_allclose(wide.toarray(), plain / np.outer(scale, scale))


@pytest.mark.parametrize("make", [lambda m: associations_of(m, 2), lambda m: Associations.of([m])])
def test_associations_of_more_words_than_there_are(make):
    """Formats of scipy that hold few numbers take memory for empty rows as they are changed into others."""
    matrix = sparse.dia_array((np.ones((1, 3)), [0]), shape=(2**31, 2**31))
    with pytest.raises(TooLarge, match=r"associations of 2,147,483,648 words.*: would take"):
        make(matrix)


def test_topics_that_open_have_room_for_a_long_document():
    corpus = Corpus(np.arange(3_000) % 50, [0, 2_990, 3_000], n_words=50)
    needed = models.get("hdp", topics="belief-network").memory_of_chain(corpus)
    assert needed["words of topics"] >= 8 * 50 * 2_990

"""Corpus: invariants, parts and digest."""

import numpy as np
import pytest
from bnpzoo.zoo.corpus import Corpus, CorpusError
from scipy import sparse


@pytest.fixture
def corpus():
    return Corpus(
        words=[0, 1, 2, 0, 2, 2],
        doc_ptr=[0, 2, 2, 5, 6],
        vocabulary=["a", "b", "c", "unused"],
        group=[0, 1, 1, 0],
        segment_ptr=[0, 1, 2, 4, 5, 6],
        covariates={"is_test": [False, True, False, True], "author": sparse.coo_array(np.eye(4, 5))},
        in_order=True,
    )


def test_shapes_and_counts(corpus):
    assert (corpus.n_tokens, corpus.n_documents, corpus.n_words, corpus.n_groups) == (6, 4, 4, 2)
    np.testing.assert_array_equal(corpus.doc_lengths, [2, 0, 3, 1])
    np.testing.assert_array_equal(corpus.doc_of, [0, 0, 2, 2, 2, 3])
    np.testing.assert_array_equal(corpus.counts(), [[1, 1, 0, 0], [0, 0, 0, 0], [1, 0, 2, 0], [0, 0, 1, 0]])


def test_defaults():
    corpus = Corpus([2, 0], [0, 2])
    assert corpus.vocabulary.tolist() == ["w0", "w1", "w2"]
    assert corpus.n_groups == 1
    assert corpus.group_of_doc.tolist() == [0]
    assert Corpus([], [0, 0], n_words=1).n_tokens == 0


def test_names_of_groups_and_sparse_covariates_default_to_numbers(corpus):
    assert corpus.group_names.tolist() == ["group 0", "group 1"]
    assert corpus.covariate_names["author"].tolist() == [f"author {a}" for a in range(5)]


def test_arrays_are_read_only_copies():
    words = np.array([0, 1], np.int32)
    corpus = Corpus(words, [0, 2], covariates={"rating": np.ones(1)})
    words[0] = 1
    assert corpus.words[0] == 0
    for array in (
        corpus.words,
        corpus.doc_ptr,
        corpus.vocabulary,
        corpus.doc_of,
        corpus.covariates["rating"],
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize("documents", [[2, 0], [False, True, True, False], slice(1, 4), [3, 3], slice(0)])
def test_take_agrees_with_a_loop(corpus, documents):
    part = corpus.take(documents)
    chosen = np.arange(4)[documents]
    np.testing.assert_array_equal(part.counts(), corpus.counts()[chosen])
    np.testing.assert_array_equal(part.group, corpus.group[chosen])
    assert part.covariates["author"].shape == (len(chosen), 5)
    assert part.n_groups == 2
    assert part.in_order
    assert [_sentences(part, i) for i in range(len(chosen))] == [_sentences(corpus, d) for d in chosen]


def _sentences(corpus, d):
    pairs = zip(corpus.segment_ptr[:-1], corpus.segment_ptr[1:], strict=True)
    start, end = corpus.doc_ptr[d : d + 2]
    return [corpus.words[a:b].tolist() for a, b in pairs if start <= a < end]


def test_split(corpus):
    train, test = corpus.split()
    assert train.doc_lengths.tolist() == [2, 3]
    assert test.doc_lengths.tolist() == [0, 1]
    with pytest.raises(CorpusError, match="'author'"):
        corpus.split("author")
    with pytest.raises(CorpusError, match="'absent'"):
        corpus.split("absent")


def test_digest_is_stable():
    """Stored draws name their corpus by it: a change makes all of them orphans."""
    corpus = Corpus([0, 1, 1], [0, 1, 3], vocabulary=["é", "b"], group=[0, 1], covariates={"y": [0.5, 1.0]})
    assert corpus.digest() == "42b6b8160d473c6aadf717ef1350a84255207f0e2929583085831efe004060f9"


@pytest.mark.parametrize(
    "change",
    [
        {"words": [1, 0, 2, 0, 2, 2]},
        {"doc_ptr": [0, 2, 3, 5, 6], "segment_ptr": None},
        {"vocabulary": ["a", "b", "c", "d"]},
        {"group": [0, 1, 1, 1]},
        {"segment_ptr": [0, 2, 4, 5, 6]},
        {"covariates": {}, "covariate_names": {}},
    ],
)
def test_digest_notices(corpus, change):
    fields = {name: getattr(corpus, name) for name in corpus.__dataclass_fields__}
    assert Corpus(**fields).digest() == corpus.digest()
    assert Corpus(**fields | change).digest() != corpus.digest()


def test_digest_ignores_the_width_of_text():
    assert (
        Corpus([0], [0, 1], np.array(["a", "b"])).digest()
        == Corpus([0], [0, 1], np.array(["a", "b"], "U9")).digest()
    )


OK = {"words": [0, 1, 1], "doc_ptr": [0, 2, 3], "vocabulary": ["a", "b"]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"words": [0, 2, 1]}, r"words\[1\]: expected an id in 0..1, found 2"),
        ({"words": [0, -1, 1]}, r"words\[1\]: .* found -1"),
        ({"words": [0, 1, 0.5]}, r"words\[2\]: expected a whole number, found 0.5"),
        ({"words": [0, np.nan, 1]}, r"words\[1\]: expected a whole number, found nan"),
        ({"words": [0, 2**40, 1]}, r"words\[1\]: expected a number that fits int32"),
        ({"words": ["a", "b", "a"]}, "words: expected whole numbers"),
        ({"words": [[0, 1], [1]]}, "words: .* different lengths"),
        ({"words": [[0, 1, 1]]}, r"words: expected one dimension, found shape \(1, 3\)"),
        ({"words": None}, "words: expected one dimension"),
        ({"doc_ptr": []}, "doc_ptr: .* found nothing"),
        ({"doc_ptr": [0, 2]}, "doc_ptr: expected to run from 0 to .*3.*found 0 to 2"),
        ({"doc_ptr": [1, 3]}, "doc_ptr: .* found 1 to 3"),
        ({"doc_ptr": [0, 2, 1, 3]}, r"doc_ptr\[2\]: expected no less than the entry before, found 1"),
        ({"vocabulary": []}, "vocabulary: expected at least one word"),
        ({"vocabulary": ["a", 1]}, r"vocabulary\[1\]: expected text, found 1"),
        ({"vocabulary": ["a", "\ud800"]}, r"vocabulary\[1\]: expected text"),
        ({"vocabulary": "ab"}, "vocabulary: expected one dimension"),
        ({"n_words": 3}, "n_words: expected the vocabulary's 2, found 3"),
        ({"vocabulary": None, "n_words": 2.5}, "n_words: expected a whole number"),
        ({"vocabulary": None, "n_words": 2**30}, "vocabulary: expected one"),
        ({"group": [0]}, r"group: expected one entry a document \(2\), found 1"),
        ({"group": [0, -1]}, r"group\[1\]: expected 0 or more, found -1"),
        ({"group": [0, 1], "group_names": ["x"]}, r"group\[1\]: expected one of 1 named groups, found 1"),
        ({"group_names": ["x"]}, "group_names: expected none"),
        ({"segment_ptr": [0, 1, 3]}, r"segment_ptr: .* doc_ptr\[1\]"),
        ({"segment_ptr": [0, 2, 2, 3]}, r"segment_ptr\[2\]: expected no empty segment"),
        ({"covariates": {"y": [1]}}, r"covariates\['y'\]: expected 2 rows"),
        ({"covariates": {"y": 1}}, r"covariates\['y'\]: expected 2 rows"),
        ({"covariates": {"y": [1, np.nan]}}, r"covariates\['y'\]\[1\]: expected a finite number, found nan"),
        ({"covariates": {"y": [1, None]}}, r"covariates\['y'\]\[0\]: expected text, found 1"),
        ({"covariates": {"y": [1j, 0]}}, r"covariates\['y'\]: expected numbers or text, found complex"),
        ({"covariates": {"y": sparse.eye_array(3)}}, r"covariates\['y'\]: expected 2 rows"),
        ({"covariates": {"y": 2 * sparse.eye_array(2)}}, r"covariates\['y'\]: .* zeros and ones"),
        ({"covariate_names": {"y": ["x"]}}, r"covariate_names\['y'\]: expected the name of a covariate"),
        ({"covariates": {"y": [0, 1]}, "covariate_names": {"y": ["x"]}}, "expected one of 1 named"),
        ({"covariates": {"y": [0.5, 1]}, "covariate_names": {"y": ["x"]}}, "of integers or of columns"),
        ({"covariates": {"y": sparse.eye_array(2)}, "covariate_names": {"y": ["x"]}}, "one a column"),
        ({"in_order": 1}, "in_order: expected True or False, found 1"),
    ],
)  # fmt: skip
def test_each_broken_invariant_is_named(change, message):
    Corpus(**OK)
    with pytest.raises(CorpusError, match=message) as error:
        Corpus(**OK | change)
    assert "\n" not in str(error.value)


def test_groups_are_values_of_a_covariate():
    corpus = Corpus(
        [0, 1, 2, 0],
        np.arange(5),
        covariates={"year": [2001, 1999, 2001, 1999], "name": ["x", "y", "z", "x"], "kind": [1, 0, 1, 1]},
        covariate_names={"kind": ["old", "new"]},
    )
    assert corpus.grouped("year").group.tolist() == [1, 0, 1, 0]
    assert corpus.grouped("year").group_names.tolist() == ["year 1999", "year 2001"]
    assert corpus.grouped("name").group_names.tolist() == ["x", "y", "z"]
    assert corpus.grouped("kind").group_names.tolist() == ["old", "new"]
    with pytest.raises(CorpusError, match=r"covariates\['age'\]: .*; there are 'year', 'name', 'kind'"):
        corpus.grouped("age")


@pytest.mark.parametrize("names", [{}, {"kind": ["x", ""]}])
def test_no_group_is_nameless(names):
    kind = [0, 1, 0] if names else ["x", "", "x"]
    corpus = Corpus([0], [0, 1, 1, 1], covariates={"kind": kind}, covariate_names=names)
    with pytest.raises(CorpusError, match=r"covariates\['kind'\]: .* found none for document 2"):
        corpus.grouped("kind")


def test_groups_take_the_numbers_of_their_namesakes():
    fitted = Corpus([0, 1], [0, 1, 2], group=[0, 1], group_names=["a", "b"])
    other = Corpus([1, 0, 1], np.arange(4), group=[0, 1, 0], group_names=["b", "a"])
    found = other.with_groups_of(fitted)
    assert found.group.tolist() == [1, 0, 1]
    assert found.group_names.tolist() == ["a", "b"]
    plain = Corpus([0, 1], [0, 1, 2])
    assert plain.with_groups_of(fitted) is plain
    assert fitted.with_groups_of(plain) is fitted
    stranger = Corpus([0, 1], [0, 1, 2], group=[0, 1], group_names=["a", "c"])
    assert stranger.take([0]).with_groups_of(fitted).group.tolist() == [0]
    with pytest.raises(CorpusError, match="group 'c': expected one of a, b"):
        stranger.with_groups_of(fitted)


@pytest.mark.parametrize("name", ["a\0b", "\ud800", None])
def test_names_of_covariates_can_be_written(name):
    with pytest.raises(CorpusError, match=r"^names of covariates\[0\]: expected text"):
        Corpus([0], [0, 1], covariates={name: [1.0]})


def test_whole_numbers_of_every_kind_of_float():
    assert Corpus(np.zeros(3, np.float16), np.array([0, 1, 3], np.float16)).n_documents == 2
    with pytest.raises(CorpusError, match=r"doc_ptr\[1\]: expected a number that fits int64, found 9\.2"):
        Corpus([0], np.array([0.0, 2.0**63]))

"""Corpora in files: what is written is read back, and no file, however damaged, ends in a stray exception."""

import gzip
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from bnpzoo.zoo.corpus import Corpus, CorpusError
from bnpzoo.zoo.formats import (
    from_counts,
    from_gensim,
    from_texts,
    read_corpus,
    to_counts,
    to_gensim,
    write_corpus,
)
from bnpzoo.zoo.formats.archive import read_npz
from bnpzoo.zoo.formats.plain import vocabulary_path
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

BAG_NAMES = ["a.ldac", "b.dat", "docword.a.txt", "c.uci"]


def random_corpus(seed, **fields):
    """Corpus with empty documents, unused words and awkward names, out of order within documents."""
    rng = np.random.default_rng(seed)
    n_documents, n_words = rng.integers(1, 9), rng.integers(1, 12)
    doc_ptr = np.concatenate([[0], np.cumsum(rng.poisson(3, n_documents) * rng.integers(0, 2, n_documents))])
    words = rng.integers(n_words, size=doc_ptr[-1])
    vocabulary = [f"Wörd {w}\u2028\x85" for w in range(n_words - 1)] + ["null"]
    return Corpus(words, doc_ptr, vocabulary, **fields)


def assert_same_bag(a, b):
    np.testing.assert_array_equal(a.counts(), b.counts())
    np.testing.assert_array_equal(a.vocabulary, b.vocabulary)
    assert not b.in_order


@pytest.mark.parametrize("seed", range(10))
class TestRoundTrip:
    def test_npz_keeps_everything(self, tmp_path, seed, full_corpus, differences):
        for corpus in (random_corpus(seed), full_corpus(seed)):
            write_corpus(corpus, tmp_path / "a.npz")
            back = read_corpus(tmp_path / "a.npz")
            assert not differences(back, corpus)
            assert back.digest() == corpus.digest()
            np.load(tmp_path / "a.npz", allow_pickle=False)["words"]

    @pytest.mark.parametrize("name", BAG_NAMES)
    def test_bags_keep_counts_and_vocabulary(self, tmp_path, seed, name, full_corpus):
        corpus = full_corpus(seed)
        write_corpus(corpus, tmp_path / name)
        assert_same_bag(corpus, read_corpus(tmp_path / name))
        assert len(list(tmp_path.iterdir())) == 2

    @pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float32])
    def test_matrices(self, tmp_path, seed, dtype):
        corpus = random_corpus(seed)
        for convert in (
            sparse.csr_array,
            sparse.csc_matrix,
            sparse.coo_array,
            sparse.dok_array,
            sparse.csr_array.toarray,
        ):
            matrix = convert(to_counts(corpus).astype(dtype))
            assert_same_bag(corpus, from_counts(matrix, corpus.vocabulary))
        sparse.save_npz(tmp_path / "a.npz", sparse.csc_array(matrix))
        (tmp_path / "a.vocab").write_text("\n".join(corpus.vocabulary), encoding="utf-8")
        assert_same_bag(corpus, read_corpus(tmp_path / "a.npz"))

    def test_gensim(self, seed):
        pytest.importorskip("gensim")
        corpus = random_corpus(seed)
        bow, dictionary = to_gensim(corpus)
        assert len(dictionary) == corpus.n_words
        assert_same_bag(corpus, from_gensim(bow, dictionary))


def test_same_corpus_same_bytes(tmp_path, full_corpus):
    for name in ("a.npz", "b.npz"):
        write_corpus(full_corpus(3), tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@pytest.mark.parametrize("name", BAG_NAMES)
def test_compressed_and_windows_text(tmp_path, name):
    corpus = random_corpus(1)
    write_corpus(corpus, tmp_path / name)
    data = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"))
    assert_same_bag(corpus, read_corpus(tmp_path / name))
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(data))
    assert_same_bag(corpus, read_corpus(tmp_path / f"{name}.gz"))
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(data)[:-9])
    with pytest.raises(CorpusError, match="whole gzip"):
        read_corpus(tmp_path / f"{name}.gz")


@pytest.mark.parametrize("name", ["a.npz.gz", "a.arrays.gz"])
def test_what_is_compressed_inside_is_not_compressed_again(tmp_path, name):
    (tmp_path / name).write_bytes(gzip.compress(b"something"))
    with pytest.raises(CorpusError, match=rf"expected a name that ends in \.\w+, found {name}"):
        read_corpus(tmp_path / name)
    with pytest.raises(CorpusError, match=rf"expected a name that ends in \.\w+, found {name}"):
        write_corpus(random_corpus(1), tmp_path / name)
    assert (tmp_path / name).read_bytes() == gzip.compress(b"something")


@pytest.mark.parametrize(
    ("name", "vocabulary"),
    [("docword.a.txt.gz", "vocab.a.txt.gz"), ("a.ldac", "a.ldac.vocab.gz"), ("a.ldac.gz", "vocab.txt.gz")],
)
def test_compressed_vocabulary(tmp_path, name, vocabulary):
    corpus = random_corpus(1)
    plainly = tmp_path / name.removesuffix(".gz")
    write_corpus(corpus, plainly)
    if name.endswith(".gz"):
        (tmp_path / name).write_bytes(gzip.compress(plainly.read_bytes()))
    words = vocabulary_path(plainly)
    (tmp_path / vocabulary).write_bytes(gzip.compress(words.read_bytes()))
    words.unlink()
    assert_same_bag(corpus, read_corpus(tmp_path / name))


def test_gensim_reads_what_we_write_and_we_read_what_it_writes(tmp_path):
    corpora = pytest.importorskip("gensim.corpora")
    corpus = from_texts(["a cat and a dog", "", "dog dog cat"], CountVectorizer(token_pattern=r"\w+"))
    write_corpus(corpus, tmp_path / "a.ldac")
    bow = list(corpora.BleiCorpus(str(tmp_path / "a.ldac")))
    assert [dict(document) for document in bow] == [
        {w: c for w, c in enumerate(row) if c} for row in corpus.counts().tolist()
    ]
    corpora.BleiCorpus.serialize(
        str(tmp_path / "b.ldac"), bow, id2word=dict(enumerate(corpus.vocabulary.tolist()))
    )
    assert_same_bag(corpus, read_corpus(tmp_path / "b.ldac"))
    corpora.UciCorpus.serialize(
        str(tmp_path / "b.uci"), bow, id2word=dict(enumerate(corpus.vocabulary.tolist()))
    )
    assert_same_bag(corpus, read_corpus(tmp_path / "b.uci"))


def test_ragged_ids_listed_twice_count_once(tmp_path):
    np.savez(
        tmp_path / "a.npz", words=[0], doc_ptr=[0, 1], vocab=["a"], author_ptr=[0, 3], author_ids=[4, 1, 4]
    )
    assert read_corpus(tmp_path / "a.npz").covariates["author"].toarray().tolist() == [[0, 1, 0, 0, 1]]


AWKWARD = ("words", "vocab", "group_names", "covariates", "covariate_0", "", "a/b", "x", "x_names", "क" * 99)


@pytest.mark.parametrize("name", ["a.npz", "a.arrays"])
def test_covariates_may_have_any_name_and_keep_their_order(tmp_path, name):
    author = sparse.csr_array([[True, False]])
    covariates = {"weight": [1.5], "author": author, "age": [2], **{key: [3] for key in AWKWARD}}
    corpus = Corpus([0], [0, 1], covariates=covariates, covariate_names={"age": ["a", "b", "c"]})
    write_corpus(corpus, tmp_path / name)
    found = read_corpus(tmp_path / name)
    assert [*found.covariates] == [*covariates]
    assert found.covariate_names.keys() == {"author", "age"}
    assert found.digest() == corpus.digest()


def test_archives_with_covariates_under_their_own_names(tmp_path):
    arrays = {"size": [1], "size_names": ["s", "m"], "covariates": ["x"], "by_ptr": [0, 1], "by_ids": [1]}
    found = read_corpus(archive(tmp_path, **arrays))
    assert {name: values.shape for name, values in found.covariates.items()} == {
        "by": (1, 2),
        "size": (1,),
        "covariates": (1,),
    }
    assert found.covariate_names["size"].tolist() == ["s", "m"]


def archive(tmp_path, **arrays):
    path = tmp_path / "a.npz"
    np.savez(path, **({"words": [0, 1], "doc_ptr": [0, 2], "vocab": ["a", "b"]} | arrays))
    return path


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"words": [0, 2]}, r"a.npz: words\[1\]: expected an id in 0..1, found 2"),
        ({"vocab": "ab"}, "a.npz: vocabulary: expected one dimension"),
        ({"vocab": np.zeros(0, str)}, "a.npz: vocabulary: expected at least one word"),
        ({"vocab": np.array([97, 2**31 - 1], "<u4").view("<U1")}, "a.npz: vocabulary: .* not Unicode"),
        ({"group": [[0]]}, "a.npz: group: expected one dimension"),
        ({"in_order": [True, False]}, "a.npz: in_order: expected True or False"),
        ({"stray": [1, 2, 3]}, r"a.npz: covariates\['stray'\]: expected 1 rows"),
        ({"stray_names": ["a", "b"]}, r"a.npz: covariates\['stray_names'\]: expected 1 rows"),
        ({"covariates": ["x", "x"], "covariate_0": [1]}, "a.npz: covariates: expected different names"),
        ({"covariates": ["x", "y"], "covariate_0": [1]}, r"\['y'\]: .* covariate_1; it is missing"),
        ({"author_ptr": [0, 2], "author_ids": [1]}, "a.npz: author_ptr: expected to run from 0"),
        ({"author_ptr": [0, 1], "author_ids": [-1]}, r"a.npz: author_ids\[0\]: expected an id in 0"),
        ({"author_ptr": [0, 1], "author_ids": [1], "author_names": ["x"]}, "an id in 0..0, found 1"),
        ({"words": np.array([0, None])}, "a.npz: words.npy: .* holds a pickle"),
    ],
)  # fmt: skip
def test_bad_archives(tmp_path, arrays, message):
    read_corpus(archive(tmp_path))
    path = archive(tmp_path, **arrays)
    with pytest.raises(CorpusError, match=message):
        read_corpus(path)


@pytest.mark.parametrize("missing", ["words", "doc_ptr", "vocab"])
def test_missing_arrays(tmp_path, missing):
    arrays = {"words": [0], "doc_ptr": [0, 1], "vocab": ["a"]}
    del arrays[missing]
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(
        CorpusError, match=f"a.npz: expected arrays words, doc_ptr, vocab; {missing} is missing"
    ):
        read_corpus(tmp_path / "a.npz")


class Bomb:
    """An object whose pickle leaves a file where it is loaded."""

    def __reduce__(self):
        return Path.touch, (Path("exploded"),)


def test_pickles_are_refused_and_never_loaded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bomb = np.array([Bomb()], dtype=object)
    np.savez(tmp_path / "direct.npz", words=[0], doc_ptr=[0, 1], vocab=["a"], extra=bomb)
    np.save(tmp_path / "bare.npz.npy", bomb)
    (tmp_path / "bare.npz.npy").rename(tmp_path / "bare.npz")
    np.savez(tmp_path / "sparse.npz", format=b"csr", shape=[1, 1], data=bomb, indices=[0], indptr=[0, 1])
    for name in ("direct.npz", "bare.npz", "sparse.npz"):
        with pytest.raises(CorpusError, match=name):
            read_corpus(name)
    assert not Path("exploded").exists()
    np.load("direct.npz", allow_pickle=True)["extra"]
    assert Path("exploded").exists()


@pytest.mark.parametrize("compress", [np.savez, np.savez_compressed])
def test_damaged_archives_end_in_a_corpus_error(tmp_path, compress):
    buffer = io.BytesIO()
    compress(buffer, words=[0, 1, 1], doc_ptr=[0, 2, 3], vocab=["a", "b"])
    whole = buffer.getvalue()
    rng = np.random.default_rng(0)
    damaged = [whole[:n] for n in range(0, len(whole), 23)]
    for _ in range(300):
        spoilt = bytearray(whole)
        for at in rng.integers(len(whole), size=rng.integers(1, 4)):
            spoilt[at] = rng.integers(256)
        damaged.append(bytes(spoilt))
    refused = 0
    for data in damaged:
        (tmp_path / "a.npz").write_bytes(data)
        try:
            read_corpus(tmp_path / "a.npz")
        except CorpusError:
            refused += 1
    assert refused > 150


def test_damaged_inner_file_without_checksum(tmp_path):
    """An archive that is sound around an array that is not."""
    for header in (
        b"",
        b"garbage",
        b"\x93NUMPY\x01\x00v\x00{'descr': '<i8', 'fortran_order': False, 'shape': (9",
    ):
        with zipfile.ZipFile(tmp_path / "a.npz", "w") as file:
            file.writestr("words.npy", header)
        with pytest.raises(CorpusError, match=r"a.npz: words.npy: expected an array"):
            read_corpus(tmp_path / "a.npz")


def test_unsound_sparse_archives(tmp_path):
    parts = {"format": b"csr", "shape": [2, 2], "data": [1, 1], "indices": [0, 1], "indptr": [0, 1, 2]}
    np.savez(tmp_path / "a.npz", **parts)
    assert read_corpus(tmp_path / "a.npz").counts().tolist() == [[1, 0], [0, 1]]
    for change in (
        {"indices": [0, 7]},
        {"indptr": [0, 5, 2]},
        {"indptr": [0, 1]},
        {"format": b"nonsense"},
        {"shape": [2]},
    ):
        np.savez(tmp_path / "a.npz", **parts | change)
        with pytest.raises(CorpusError, match=r"a.npz: .*expected"):
            read_corpus(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([[1, 0], [0, -1]], r"counts\[1, 1\]: expected a whole number .* found -1"),
        ([[1, 0], [0.5, 0]], r"counts\[1, 0\]: .* found 0.5"),
        ([[1, np.nan]], r"counts\[0, 1\]: .* found nan"),
        ([[1, np.inf]], r"counts\[0, 1\]: .* found inf"),
        ([[10**7] * 215], "counts: expected at most 2,147,483,647 tokens"),
        ([1, 2], "counts: expected two dimensions"),
        ([[1, 2], [3]], "counts: .* different lengths"),
        ([["a"]], "counts: expected numbers"),
        (np.zeros((3, 0)), "vocabulary: expected at least one word"),
        (sparse.coo_array(([1, -1], ([0, 0], [0, 0])), shape=(1, 1)), r"counts\[0, 0\]: .* found -1"),
    ],
)
def test_bad_counts(counts, message):
    with pytest.raises(CorpusError, match=message):
        from_counts(counts)


def test_repeated_cells_add_up_without_overflow():
    cells = sparse.coo_array((np.array([200, 200], np.uint8), ([0, 0], [1, 1])), shape=(1, 2))
    assert from_counts(cells).counts().tolist() == [[0, 400]]


def test_bad_gensim_input():
    names = {0: "a", 1: "b"}
    assert from_gensim([[(1, 2)], []], names).counts().tolist() == [[0, 2], [0, 0]]
    for bow, id2word, message in [
        ([[], [(2, 1)]], names, r"bow\[1\]: expected word ids in 0..1, found 2"),
        ([[(0.5, 1)]], names, r"bow\[0\]: .* found 0.5"),
        ([[(0, -1)]], names, r"counts\[0, 0\]: .* found -1"),
        ([[0, 1]], names, "bow: expected lists of pairs"),
        ([["ab"]], names, "bow: expected lists of pairs"),
        ([[]], {0: "a", 2: "b"}, "id2word: expected ids 0..1 without gaps, 1 is missing"),
        ([[]], {}, "vocabulary: expected at least one word"),
    ]:
        with pytest.raises(CorpusError, match=message):
            from_gensim(bow, id2word)
    pytest.importorskip("gensim")
    with pytest.raises(CorpusError, match="'a' again"):
        to_gensim(Corpus([0], [0, 1], vocabulary=["a", "a"]))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.ldac", "1 0:2\n2 0:1\n", "line 2: expected 2 pairs id:count, found 1"),
        ("a.ldac", "1 0:2\n1 0:-1\n", "line 2: .*whole numbers of at least 0, found '1 0:-1'"),
        ("a.ldac", "1 0:1.5\n", "line 1: .* found '1 0:1.5'"),
        ("a.ldac", "1 0:nan\n", "line 1"),
        ("a.ldac", "0\n\n0\n", "line 2: .* found ''"),
        ("a.ldac", "1 0 2\n", "line 1"),
        ("a.ldac", "2 1 2:0:1\n", "line 1"),
        ("a.ldac", "0\n1 9:1\n", r"line 2: expected ids in 0..1, found 9"),
        ("a.ldac", "", "at least one document"),
        ("a.ldac", "1 0:9999999999999\n", r"counts\[0, 0\]: expected"),
        ("a.ldac", "1 99999999999999999999:1\n", "line 1"),
        ("a.uci", "1\n2\n1\n1 1 1\n1 2 1\n", "expected 1 rows, as line 3 says, found 2"),
        ("a.uci", "1\n2\n2\n1 1 1\n", "expected 2 rows, as line 3 says, found 1"),
        ("a.uci", "1\n3\n0\n", "expected a vocabulary of 3, as line 2 says, found 2"),
        ("a.uci", "1\n2\n", "line 3: expected a header of three lines"),
        ("a.uci", "1 2 3\n2\n1\n", "line 1: expected a header"),
        ("a.uci", "", "line 1: expected a header"),
        ("a.uci", "1\n2\n1\n2 1 1\n", r"line 4: expected a document in 1..1, found 2"),
        ("a.uci", "1\n2\n1\n1 0 1\n", r"line 4: expected a word in 1..2, found 0"),
        ("a.uci", "1\n2\n1\n1 1 -1\n", "line 4: .* found '1 1 -1'"),
        ("a.uci", "2\n2\n2\n1 1 1\n1 1\n", "line 5: .* found '1 1'"),
        ("a.uci", "0\n2\n0\n", "at least one document"),
    ],
)  # fmt: skip
def test_bad_bags(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    (tmp_path / f"{name}.vocab").write_text("a\nb\n")
    with pytest.raises(CorpusError, match=f"{name}: .*{message}"):
        read_corpus(tmp_path / name)


def test_bags_without_vocabulary_and_with_empty_documents(tmp_path):
    (tmp_path / "a.ldac").write_text("0\n1 2:3\n0 \n")
    corpus = read_corpus(tmp_path / "a.ldac")
    assert corpus.doc_lengths.tolist() == [0, 3, 0]
    assert corpus.vocabulary.tolist() == ["w0", "w1", "w2"]
    (tmp_path / "vocab.txt").write_text("a\nb\nc\nd\n")
    assert read_corpus(tmp_path / "a.ldac").vocabulary.tolist() == ["a", "b", "c", "d"]
    (tmp_path / "a.ldac.vocab").write_bytes(b"a\n\xff\n")
    with pytest.raises(CorpusError, match=r"a.ldac.vocab: line 2: expected UTF-8, found byte 0xff"):
        read_corpus(tmp_path / "a.ldac")
    (tmp_path / "empty.ldac").write_text("0\n0\n")
    (tmp_path / "vocab.txt").unlink()
    with pytest.raises(CorpusError, match=r"empty.ldac: vocabulary: expected at least one word"):
        read_corpus(tmp_path / "empty.ldac")


def test_other_names_and_the_wrong_kind_of_thing(tmp_path):
    write_corpus(random_corpus(0), tmp_path / "counts.txt", format="uci")
    assert_same_bag(random_corpus(0), read_corpus(tmp_path / "counts.txt", format="uci"))
    (tmp_path / "folder.npz").mkdir()
    for path, options, message in [
        ("counts.txt", {}, "counts.txt: expected docword"),
        ("absent.npz", {}, "absent.npz: no such file"),
        ("counts.txt", {"format": "json"}, "format: expected one of npz, ldac"),
        (
            "counts.txt",
            {"format": "uci", "vectorizer": CountVectorizer()},
            "expected text to use a vectorizer on",
        ),
        ("counts.txt", {"format": "npz"}, "expected a whole .npz archive"),
        ("folder.npz", {"format": "ldac"}, "folder.npz: Is a directory"),
        ("folder.npz", {}, r"expected files \*.txt, found none"),
    ]:
        with pytest.raises(CorpusError, match=message):
            read_corpus(tmp_path / path, **options)
    told = r"a.foo: expected docword.\* or a name that ends in .npz, .ldac, .dat, .uci, .arrays$"
    with pytest.raises(CorpusError, match=told):
        write_corpus(random_corpus(0), tmp_path / "a.foo")


def test_a_folder_that_is_absent_is_told_once(tmp_path):
    path = tmp_path / "absent" / "a.npz"
    with pytest.raises(CorpusError, match=rf"^{path}: expected the folder {path.parent} to exist$"):
        write_corpus(Corpus([0], [0, 1]), path)


def test_failed_writing_leaves_nothing_behind(tmp_path, monkeypatch):
    corpus = random_corpus(0)
    for name, message in [
        ("absent/a.npz", "expected the folder"),
        ("a.csv", "cannot write csv"),
        ("a.ldac.gz", "compress"),
    ]:
        with pytest.raises(CorpusError, match=message):
            write_corpus(corpus, tmp_path / name)
    with pytest.raises(CorpusError, match=r"vocabulary\[0\]: expected a word without line breaks"):
        write_corpus(Corpus([0], [0, 1], ["a\nb"]), tmp_path / "a.ldac")
    assert list(tmp_path.iterdir()) == []

    write_corpus(corpus, tmp_path / "a.npz")
    before = (tmp_path / "a.npz").read_bytes()

    def full_disk(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", full_disk)
    with pytest.raises(CorpusError, match=r"a.npz: No space left on device"):
        write_corpus(random_corpus(1), tmp_path / "a.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]
    assert (tmp_path / "a.npz").read_bytes() == before


@pytest.mark.parametrize("name", ["web_snippets", "tag_my_news", "movie_reviews", "citeseer_authors"])
def test_real_corpora(tmp_path, name, differences):
    path = Path(__file__).parents[3] / "shared" / "data" / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    corpus = read_corpus(path)
    expected = {  # documents, words, tokens
        "web_snippets": (12337, 9936, 192173),
        "tag_my_news": (32597, 13370, 592984),
        "movie_reviews": (5006, 9283, 758070),
        "citeseer_authors": (2876, 17059, 94630),
    }
    assert (corpus.n_documents, corpus.n_words, corpus.n_tokens) == expected[name]
    write_corpus(corpus, tmp_path / "a.npz")
    assert not differences(read_corpus(tmp_path / "a.npz"), corpus)
    write_corpus(corpus, tmp_path / "a.ldac")
    assert (to_counts(read_corpus(tmp_path / "a.ldac")) != to_counts(corpus)).nnz == 0


def test_reader_of_archives_is_not_numpy_load(tmp_path, monkeypatch):
    """`numpy.load` could be told to unpickle; the reader of our own layout must not depend on it."""
    path = archive(tmp_path)
    monkeypatch.delattr(np, "load")
    assert read_npz(path).n_tokens == 2

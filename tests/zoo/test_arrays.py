"""Folders of arrays: the corpus that the eager readers read, from the disk, made bit by bit."""

import csv
import json
import os
import signal
import subprocess
import sys
import time

import bnpzoo
import numpy as np
import pytest
from bnpzoo.zoo.corpus import Corpus, CorpusError, mapped
from bnpzoo.zoo.folders import new_folder
from bnpzoo.zoo.formats import (
    TextOptions,
    arrays,
    bags,
    convert_corpus,
    plain,
    read_corpus,
    spill,
    write_corpus,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.disks import files_of_at_most

WORDS = ["aa", "Bb", "cc", "the", "dd", "ée", "e\u0301e", "a\u00ada", "कि", "x1"]
NAMES = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)


@pytest.fixture(params=[7, 64, 2**22], ids=["tiny", "small", "usual"])
def blocks(request, monkeypatch):
    """Sizes of what is read and looked at together; headers of UCI need a few bytes."""
    monkeypatch.setattr(plain, "BLOCK", max(request.param, 16))
    for module in (mapped, bags, spill):
        monkeypatch.setattr(module, "BLOCK", request.param)


def assert_same(found, expected, differences):
    assert not differences(found, expected)
    assert found.digest() == expected.digest()
    assert found.words.dtype == np.int32
    assert found.doc_ptr.dtype == np.int64
    assert type(found.words) is np.ndarray
    assert not found.words.flags.writeable
    assert not found.doc_ptr.flags.writeable


@pytest.mark.parametrize("seed", range(5))
def test_all_of_a_corpus(tmp_path, seed, full_corpus, differences):
    corpus = full_corpus(seed)
    write_corpus(corpus, tmp_path / "a.arrays")
    found = read_corpus(tmp_path / "a.arrays")
    assert_same(found, corpus, differences)
    assert isinstance(found.words.base, np.memmap)
    convert_corpus(tmp_path / "a.arrays", tmp_path / "b.arrays")
    assert_same(read_corpus(tmp_path / "b.arrays"), corpus, differences)
    write_corpus(found, tmp_path / "a.npz")
    assert_same(read_corpus(tmp_path / "a.npz"), corpus, differences)


@pytest.mark.parametrize("name", ["a.ldac", "docword.a", "docword.a.gz"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.usefixtures("blocks")
def test_bags(tmp_path, seed, name, full_corpus, differences):
    plainly = tmp_path / name.removesuffix(".gz")
    write_corpus(full_corpus(seed, 40), plainly)
    if name.endswith(".gz"):
        import gzip

        (tmp_path / name).write_bytes(gzip.compress(plainly.read_bytes()))
    convert_corpus(tmp_path / name, tmp_path / "a.arrays")
    assert_same(read_corpus(tmp_path / "a.arrays"), read_corpus(tmp_path / name), differences)


@settings(max_examples=100, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(1, 5), st.integers(1, 4), st.integers(0, 9)), max_size=30),
    block=st.integers(16, 80),
)
def test_rows_in_any_order_and_repeated(tmp_path_factory, rows, block):
    folder = tmp_path_factory.mktemp("uci")
    lines = ["5", "4", str(len(rows)), *(" ".join(map(str, row)) for row in rows)]
    (folder / "docword.a").write_text("\n".join(lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain, "BLOCK", block)
        patch.setattr(bags, "BLOCK", 3)
        convert_corpus(folder / "docword.a", folder / "a.arrays")
    assert read_corpus(folder / "a.arrays").digest() == read_corpus(folder / "docword.a").digest()


def write_texts(folder, kind, texts):
    path = folder / f"a.{kind}"
    if kind == "csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("year", "text", "group"), *((d, t, "xy"[d % 2]) for d, t in texts)])
    elif kind == "jsonl":
        lines = (json.dumps({"text": text.split("\n"), "year": d}) for d, text in texts)
        path.write_text("\n".join(lines), encoding="utf-8")
    else:
        path = folder / "texts"
        for d, text in texts:
            (path / "xy"[d % 2]).mkdir(parents=True, exist_ok=True)
            (path / "xy"[d % 2] / f"{d:02}.txt").write_text(text, encoding="utf-8")
    return path


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(st.lists(NAMES, min_size=1, max_size=3).map("\n".join), min_size=1, max_size=12),
    kind=st.sampled_from(["csv", "jsonl", "folder"]),
    options=st.builds(
        TextOptions,
        stop_words=st.sampled_from(["english", None, ("aa", "cc")]),
        min_df=st.sampled_from([1, 2, 0.0, 0.3]),
        max_df=st.sampled_from([1.0, 0.8, 3]),
        max_features=st.sampled_from([None, 1, 2, 3]),
        token_pattern=st.sampled_from([TextOptions().token_pattern, r"(?u)\b\w\s?\w+\b"]),
        sentences=st.sampled_from(["none", "lines"]),
    ),
    block=st.integers(1, 40),
)
def test_texts(tmp_path_factory, texts, kind, options, block):
    """With the same vocabulary as scikit-learn chooses, or the same complaint."""
    folder = tmp_path_factory.mktemp("texts")
    path = write_texts(folder, kind, list(enumerate(texts)))

    def outcome(read):
        try:
            return read().digest()
        except CorpusError as error:
            return str(error)

    def streamed():
        convert_corpus(path, folder / "a.arrays", options=options)
        return read_corpus(folder / "a.arrays")

    expected = outcome(lambda: read_corpus(path, options=options))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain, "BLOCK", block)
        patch.setattr(spill, "BLOCK", 3)
        assert outcome(streamed) == expected
    assert (folder / "a.arrays").exists() == (len(expected) == 64)


def test_columns_keep_their_order(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("weight,text,age,words,\n1,cat dog,2,3,4\n")
    convert_corpus(path, tmp_path / "a.arrays")
    assert [*read_corpus(tmp_path / "a.arrays").covariates] == ["weight", "age", "words", ""]


def test_folders_with_covariates_under_their_own_names(tmp_path):
    write_corpus(Corpus([0], [0, 1]), tmp_path / "a.arrays")
    for name in ("", "a%2Fb", "size"):
        np.save(tmp_path / "a.arrays" / f"{name}.npy", [1])
    assert {*read_corpus(tmp_path / "a.arrays").covariates} == {"", "a/b", "size"}


def test_without_options_all_words_stay(tmp_path):
    path = write_texts(tmp_path, "csv", [(0, "the cat and the dog"), (1, "42")])
    convert_corpus(path, tmp_path / "a.arrays")
    assert read_corpus(tmp_path / "a.arrays").digest() == read_corpus(path).digest()


def test_no_documents_are_told_from_no_words(tmp_path):
    (tmp_path / "a.csv").write_text("text\n")
    for read in (read_corpus, lambda path: convert_corpus(path, tmp_path / "a.arrays")):
        with pytest.raises(CorpusError, match="expected one document or more, found none"):
            read(tmp_path / "a.csv")


def test_what_was_dropped_is_told(tmp_path):
    path = write_texts(tmp_path, "csv", [(0, "the cat and the dog"), (1, "a dog; a cat; a dog")])
    dropped = convert_corpus(path, tmp_path / "a.arrays", options=TextOptions())
    assert str(dropped) == "kept 5 of 8 tokens; dropped 2 stop words (3 tokens)"


def test_limits_of_numpy_are_numbers_of_documents(tmp_path):
    path, options = tmp_path / "a.jsonl", TextOptions(min_df=np.int64(2), max_df=np.int64(3))
    path.write_text("".join(f'{{"text": "{text}"}}\n' for text in ("cat dog", "cat dog", "cat", "cat")))
    convert_corpus(path, tmp_path / "a.arrays", options=options)
    assert read_corpus(tmp_path / "a.arrays").digest() == read_corpus(path, options=options).digest()


def test_the_same_bits_in_a_fit(tmp_path, full_corpus):
    corpus = full_corpus(3)
    write_corpus(corpus, tmp_path / "a.arrays")
    fits = [
        bnpzoo.sample(bnpzoo.get("lda", n_topics=2), one, chains=1, tune=3, draws=4)
        for one in (corpus, read_corpus(tmp_path / "a.arrays"))
    ]
    for group in ("posterior", "latents", "observed_data"):
        assert fits[0][group].dataset.equals(fits[1][group].dataset)


BAD = [
    ("words", np.array([0, 9], np.int32), r"words\[1\]: expected an id in 0..1, found 9"),
    ("words", np.array([0, 1], np.int64), "words: expected one dimension of int32, found 1 of int64"),
    ("doc_ptr", np.array([0, 3]), "doc_ptr: expected to run from 0 to the number of entries"),
    ("segment_ptr", np.array([0, 2, 2]), "expected no empty segment"),
    ("vocab", np.array(["a", None], object), "vocab.npy: .*pickle"),
]


@pytest.mark.parametrize(("name", "values", "message"), BAD)
def test_bad_arrays(tmp_path, name, values, message):
    path = tmp_path / "a.arrays"
    write_corpus(Corpus([0, 1], [0, 2]), path)
    np.save(path / f"{name}.npy", values)
    with pytest.raises(CorpusError, match=f"a.arrays: .*{message}"):
        read_corpus(path)


def test_damage_and_missing_files(tmp_path):
    path = tmp_path / "a.arrays"
    write_corpus(Corpus([0, 1], [0, 2]), path)
    whole = (path / "words.npy").read_bytes()
    for size in range(len(whole)):
        (path / "words.npy").write_bytes(whole[:size])
        with pytest.raises(CorpusError, match=r"a.arrays: words.npy: expected an array"):
            read_corpus(path)
    (path / "words.npy").write_bytes(whole)
    (path / "vocab.npy").unlink()
    with pytest.raises(CorpusError, match=r"expected files words.npy, .*; vocab.npy is missing"):
        read_corpus(path)


def test_nothing_is_replaced_and_nothing_left_behind(tmp_path, monkeypatch):
    (tmp_path / "a.ldac").write_text("1 0:1\n1 0:x\n")
    with pytest.raises(CorpusError, match=r"a.ldac: line 2: expected 'n id:count"):
        convert_corpus(tmp_path / "a.ldac", tmp_path / "a.arrays")
    (tmp_path / "b.arrays").mkdir()
    with pytest.raises(CorpusError, match="expected the name of a new folder"):
        convert_corpus(tmp_path / "a.ldac", tmp_path / "b.arrays")
    with pytest.raises(CorpusError, match=r"expected the folder .* to exist"):
        convert_corpus(tmp_path / "a.ldac", tmp_path / "absent" / "b.arrays")

    def interrupted(*arguments):
        raise KeyboardInterrupt

    (tmp_path / "a.ldac").write_text("1 0:1\n")
    monkeypatch.setattr(bags, "_sort", interrupted)
    with pytest.raises(KeyboardInterrupt):
        convert_corpus(tmp_path / "a.ldac", tmp_path / "a.arrays")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.ldac", "b.arrays"]


KILLED = """
import sys, time
from bnpzoo.zoo.folders import new_folder
with new_folder(sys.argv[1]) as folder:
    (folder / "words.npy").touch()
    print(folder, flush=True)
    time.sleep(60)
"""


def test_what_is_left_of_a_killed_process_is_no_corpus_and_goes_with_the_next(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, tmp_path / "a.arrays"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    left = process.stdout.readline().strip()
    with new_folder(tmp_path / "a.arrays"):
        assert os.path.exists(left)  # of a process that runs
    (tmp_path / "a.arrays").rmdir()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert os.path.exists(left)
    assert not (tmp_path / "a.arrays").exists()
    for _ in range(2):
        with new_folder(tmp_path / f"a{time.monotonic_ns()}.arrays"):
            assert os.path.exists(left)  # of another name
    with new_folder(tmp_path / "a.arrays"):
        assert not os.path.exists(left)


def test_no_room_for_the_last_bytes_is_noticed(tmp_path):
    corpus = Corpus(np.zeros(900, np.int32), np.array([0, 900]), n_words=1)
    with files_of_at_most(3000), pytest.raises(CorpusError, match=r"a.arrays: No space left on device$"):
        write_corpus(corpus, tmp_path / "a.arrays")
    assert not list(tmp_path.iterdir())


def test_no_room_on_the_disk_is_noticed_before_anything_is_mapped(tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    (tmp_path / "a.ldac").write_text("1 0:1\n")
    with pytest.raises(CorpusError, match=r"^\S*a.arrays: No space left on device$"):
        convert_corpus(tmp_path / "a.ldac", tmp_path / "a.arrays")
    assert not arrays.is_folder_of_arrays(tmp_path / "a.arrays")

"""Corpora: bytes that are damaged, arrays that are not what they should be, hostile words."""

import gzip
import os
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
from bnpzoo import Corpus
from bnpzoo.zoo.corpus import CorpusError
from bnpzoo.zoo.corpus.associate import associations_of
from bnpzoo.zoo.formats import from_counts, read_corpus, write_corpus
from bnpzoo.zoo.formats.archive import read_sparse
from bnpzoo.zoo.formats.embeddings import read_embeddings
from bnpzoo.zoo.memory import TooLarge
from hypothesis import given
from hypothesis import strategies as st
from malformed import arrays, damaged, numbers, words
from scipy import sparse

FILES = {
    "ldac": ("c.ldac", b"2 0:1 1:2\n0\n1 2:3\n"),
    "uci": ("docword.c.txt", b"3\n3\n3\n1 1 1\n1 2 2\n3 3 3\n"),
    "csv": ("c.csv", b'text,group,is_test,age\n"a cat, a dog",x,0,1.5\nthe dog,y,1,2\n,y,1,3\n'),
    "folder": ("c/x/a.txt", "the cat and the dog é".encode()),
    "embeddings": ("c.vec", b"2 3\ncat 0.1 0.2 0.3\ndog 1 2 3\n"),
}

MATRICES = {
    kind: sparse.csr_array([[1, 0, 2], [0, 0, 3], [0, 4, 0]]).asformat(kind)
    for kind in ("csr", "csc", "coo", "bsr", "dia")
}


@contextmanager
def folder():
    """Fresh folder, in which nothing half-written may be left."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)
        hidden = [file for file in os.listdir(name) if file.startswith(".")]
        assert not hidden, f"left behind: {hidden}"


def taken(function, *arguments):
    """Result of a function, or None where it refuses its arguments in one line."""
    try:
        return function(*arguments)
    except (CorpusError, TooLarge) as error:
        message = str(error)
    assert "\n" not in message
    assert message
    return None


def check(corpus: Corpus | None) -> None:
    """What holds for every corpus, however it came to be."""
    if corpus is None:
        return
    assert corpus.words.size == corpus.doc_ptr[-1]
    assert corpus.words.size == 0 or 0 <= corpus.words.min() <= corpus.words.max() < corpus.n_words
    assert corpus.group_of_doc.size == corpus.n_documents
    backwards = corpus.take(slice(None, None, -1)).take(slice(None, None, -1))
    assert backwards.digest() == corpus.digest()
    assert taken(corpus.in_terms_of, corpus.vocabulary[::-1]) is None or corpus.n_tokens >= 0
    for name in corpus.covariates:
        taken(corpus.split, name)
        taken(corpus.grouped, name)
    with folder() as here:
        if taken(lambda: write_corpus(corpus, here / "again.npz") or True) and corpus.n_documents:
            assert read_corpus(here / "again.npz").digest() == corpus.digest()
        for name in ("again.ldac", "docword.again.txt"):
            if taken(lambda path=here / name: write_corpus(corpus, path) or True) and corpus.n_documents:
                again = taken(read_corpus, here / name)
                assert again is None or again.n_tokens == corpus.n_tokens


@given(st.sampled_from(sorted(FILES)), st.data())
def test_damaged_text(kind, data):
    name, sound = FILES[kind]
    content = data.draw(damaged(sound) | st.binary(max_size=60))
    with folder() as here:
        path = here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if data.draw(st.booleans()) and kind in ("ldac", "uci", "csv"):
            packed = gzip.compress(content)
            path = path.with_name(path.name + ".gz")
            content = data.draw(damaged(packed)) if data.draw(st.booleans()) else packed
        path.write_bytes(content)
        if data.draw(st.booleans()) and kind == "uci":
            (here / "vocab.c.txt").write_bytes(data.draw(damaged(b"a\nb\nc\n")))
        if kind == "embeddings":
            taken(read_embeddings, path, np.array(["cat", "dog", "cow"]))
        else:
            check(taken(read_corpus, here / "c" if kind == "folder" else path))


@given(st.data())
def test_damaged_archive(corpus, data):
    with folder() as here:
        path = here / "c.npz"
        if data.draw(st.booleans()):
            write_corpus(corpus, path)
        else:
            sparse.save_npz(path, MATRICES[data.draw(st.sampled_from(sorted(MATRICES)))])
        path.write_bytes(data.draw(damaged(path.read_bytes()) | st.binary(max_size=60)))
        check(taken(read_corpus, path))
        taken(read_sparse, path)


@given(st.data())
def test_archive_of_other_arrays(corpus, data):
    with folder() as here:
        path = here / "c.npz"
        write_corpus(corpus, path)
        with np.load(path, allow_pickle=False) as archive:
            members = dict(archive)
        members["author_ptr"] = np.arange(corpus.n_documents + 1)
        members["author_ids"] = np.arange(corpus.n_documents) % 3
        for name in data.draw(st.lists(st.sampled_from(sorted(members)), min_size=1, max_size=3)):
            if data.draw(st.integers(0, 5)) == 0:
                members.pop(name, None)
            elif name in members:
                members[name] = data.draw(arrays(members[name]))
        np.savez(path, **members)
        check(taken(read_corpus, path))


@given(st.sampled_from(sorted(MATRICES)), st.data())
def test_matrix_of_other_arrays(kind, data):
    with folder() as here:
        path = here / "m.npz"
        sparse.save_npz(path, MATRICES[kind])
        with np.load(path, allow_pickle=False) as archive:
            members = dict(archive)
        name = data.draw(st.sampled_from(sorted(members)))
        members[name] = data.draw(arrays(members[name]))
        np.savez(path, **members)
        check(taken(read_corpus, path))
        found = taken(read_sparse, path)
        if found is not None:
            taken(associations_of, found, 2, data.draw(st.sampled_from([1, 2, 10, 10**23])))


@given(st.data())
def test_fields_of_any_kind(corpus, data):
    fields = {
        "words": corpus.words, "doc_ptr": corpus.doc_ptr, "vocabulary": corpus.vocabulary,
        "group": corpus.group,        "group_names": corpus.group_names, "segment_ptr": corpus.doc_ptr,
    }  # fmt: skip
    for name in data.draw(st.lists(st.sampled_from(sorted(fields)), min_size=1, max_size=3)):
        fields[name] = data.draw(arrays(fields[name]))
    covariates = {data.draw(words): data.draw(arrays(corpus.covariates["age"]))}
    check(taken(lambda: Corpus(**fields, covariates=covariates, n_words=data.draw(st.none() | numbers))))


@given(st.data())
def test_counts_of_any_kind(data):
    counts = data.draw(arrays(np.array([[1, 0, 2], [0, 0, 3]])))
    check(taken(from_counts, counts, data.draw(st.none() | st.lists(words, max_size=4))))


@given(st.lists(words, min_size=1, max_size=6))
def test_hostile_words_survive_or_are_refused(vocabulary):
    corpus = taken(lambda: Corpus(np.arange(len(vocabulary)), [0, len(vocabulary)], vocabulary=vocabulary))
    check(corpus)
    if corpus is not None:
        assert corpus.vocabulary.tolist() == vocabulary


@given(st.permutations(range(12)))
def test_the_order_of_documents_is_that_of_the_corpus(corpus, order):
    permuted = corpus.take(order)
    assert permuted.take(np.argsort(order)).digest() == corpus.digest()
    assert np.array_equal(permuted.counts(), corpus.counts()[order])


@given(st.permutations(range(8)))
def test_the_order_of_a_vocabulary_is_no_more_than_names(corpus, order):
    renamed = replace(corpus, associations=None).in_terms_of(corpus.vocabulary[order])
    assert np.array_equal(renamed.vocabulary[renamed.words], corpus.vocabulary[corpus.words])

"""Sweeps in parts: how a corpus is cut, what parts find, and the order of it."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from bnpzoo.kernels.poisson.features import FeaturedDocuments, Features
from bnpzoo.kernels.toolbox import parts, threads
from bnpzoo.kernels.toolbox.sides import draw_tables, scratch, tokens_of
from bnpzoo.kernels.toolbox.threads import in_parts

N_TOPICS = 3
THREADS = pytest.mark.parametrize("n_threads", [1, 2, 3, 20])


def tokens_in_groups(n_documents=300, n_groups=7, seed=0):
    rng = np.random.default_rng(seed)
    doc_ptr = np.append(0, rng.integers(0, 9, n_documents).cumsum())
    group = rng.integers(0, n_groups, n_documents)
    group[group == 3] = 4  # a group without documents
    n = doc_ptr[-1]
    return tokens_of(rng.integers(0, 50, n), doc_ptr, group, rng.integers(0, N_TOPICS, n))


def documents_of_groups(n_groups, prior):
    nothing = np.zeros(0, np.int64)
    features = Features(nothing, nothing, nothing, nothing)
    prior = np.full((n_groups, N_TOPICS), prior)
    return FeaturedDocuments(prior, np.zeros(n_groups), np.zeros((1, N_TOPICS)), np.ones(2), features)


def cut_of(tokens, n_words=50):
    word_ptr = np.append(0, np.bincount(tokens.words, minlength=n_words).cumsum())
    return parts.cut(np.random.default_rng(1), tokens, word_ptr, N_TOPICS)


@pytest.mark.parametrize("n_documents", [0, 1, 2, 300, 9000])
def test_parts_have_everything_once(n_documents):
    tokens = tokens_in_groups(n_documents)
    cut = cut_of(tokens)
    for of, n in ((cut.documents, n_documents), (cut.words, 50)):
        covered = [i for part in of for i in range(part.first, part.end)]
        assert covered == list(range(n))
        assert all(part.first < part.end for part in of)
        assert len(of) <= parts.MOST_PARTS
    assert len(cut.words) >= parts.FEWEST_PARTS


def test_generators_of_parts_differ():
    cut = cut_of(tokens_in_groups(9000))
    for of in (cut.documents, cut.words):
        assert len({part.rng.integers(2**63) for part in of}) == len(of) == parts.MOST_PARTS


@THREADS
def test_results_are_in_the_order_of_the_parts(monkeypatch, n_threads):
    monkeypatch.setenv("BNPZOO_THREADS", str(n_threads))
    assert in_parts(lambda i, name: (i, name), range(9), "abcdefghi") == list(enumerate("abcdefghi"))
    assert in_parts(lambda i: i, []) == []


def test_seconds_of_all_threads_count(monkeypatch):
    monkeypatch.setenv("BNPZOO_THREADS", "3")
    clock = itertools.count()
    monkeypatch.setattr(threads.time, "thread_time", lambda: float(next(clock)))
    meet = Barrier(3)  # so that each of three threads has one part
    before = threads.processor_seconds()
    in_parts(lambda i: meet.wait(), range(3))
    # five ticks, and those that others had
    assert threads.processor_seconds() - before > 5 + 1


def test_a_thread_that_nobody_has_helped_has_its_own_seconds():
    with ThreadPoolExecutor(1) as fresh:
        before, found, after = fresh.submit(
            lambda: (threads.time.thread_time(), threads.processor_seconds(), threads.time.thread_time())
        ).result()
    assert before <= found <= after


@THREADS
@pytest.mark.parametrize("wrong", [0, 4, 8])
def test_errors_of_parts_are_raised(monkeypatch, n_threads, wrong):
    monkeypatch.setenv("BNPZOO_THREADS", str(n_threads))

    def fail(i):
        if i == wrong:
            raise ValueError(f"part {i}")

    with pytest.raises(ValueError, match=f"part {wrong}"):
        in_parts(fail, range(9))


@THREADS
@pytest.mark.parametrize(("prior", "tables_of"), [(1e12, lambda n: n), (1e-12, lambda n: n > 0)])
def test_tables_of_all_parts_are_counted(monkeypatch, n_threads, prior, tables_of):
    """As many as customers where the prior is huge, one a topic of a document where it is tiny."""
    monkeypatch.setenv("BNPZOO_THREADS", str(n_threads))
    tokens, expected = tokens_in_groups(), np.zeros((7, N_TOPICS), np.int64)
    for d, topics in enumerate(np.split(tokens.topic, tokens.doc_ptr[1:-1])):
        expected[tokens.group[d]] += tables_of(np.bincount(topics, minlength=N_TOPICS))
    found = parts.tables_in_parts(tokens, documents_of_groups(7, prior), cut_of(tokens).documents)
    np.testing.assert_array_equal(found, expected)


def test_one_part_has_the_tables_of_all_documents():
    tokens, documents = tokens_in_groups(), documents_of_groups(7, 0.8)
    (whole,) = [parts.Part(np.random.default_rng(3), 0, len(tokens.group))]
    found = parts.tables_in_parts(tokens, documents, [whole])
    rng = np.random.default_rng(3)
    np.testing.assert_array_equal(found, draw_tables(rng, tokens, documents, scratch(N_TOPICS), N_TOPICS))

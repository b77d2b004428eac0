"""Nothing that is known of a corpus is lost in its parts, its design, or the tree of a fit."""

from dataclasses import fields, replace
from itertools import pairwise

import numpy as np
import pytest
from bnpzoo import Corpus, get, sample
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus import CorpusError
from bnpzoo.zoo.inference import corpus_of, load, save

SHARED = {"vocabulary", "n_words", "group_names", "covariate_names", "in_order", "associations"}
"""Fields that do not belong to single documents or tokens."""

OF_TOKENS = {"words", "doc_ptr", "segment_ptr"}
OF_DOCUMENTS = {"group", "covariates"}


def documents(corpus):
    """List all that is known of each document, in plain Python."""
    out = []
    for d in range(corpus.n_documents):
        start, end = corpus.doc_ptr[d : d + 2]
        inner = [p for p in corpus.segment_ptr if start < p < end]
        edges = [start, *inner, end] if start < end else []
        sentences = [[(i, int(corpus.words[i])) for i in range(a, b)] for a, b in pairwise(edges)]
        rows = {
            name: values[[d]].toarray().tolist() if hasattr(values, "toarray") else values[d].tolist()
            for name, values in corpus.covariates.items()
        }
        out.append((sentences, int(corpus.group[d]), rows))
    return out


def without_positions(described):
    return [([[w for _, w in sentence] for sentence in sentences], *known) for sentences, *known in described]


@pytest.fixture(params=range(10))
def corpus(request, full_corpus):
    return full_corpus(request.param)


@pytest.fixture
def rng(corpus):
    return np.random.default_rng(corpus.n_tokens)


def test_every_field_is_thought_of():
    assert {f.name for f in fields(Corpus)} == SHARED | OF_TOKENS | OF_DOCUMENTS
    assert {f.name for f in fields(Corpus)} - {"words", "doc_ptr"} < {f.name for f in fields(Design)}


def test_sentences_become_documents_with_all_that_is_known_of_theirs(corpus, differences):
    known = [
        ([sentence], *rest)
        for sentences, *rest in without_positions(documents(corpus))
        for sentence in sentences
    ]
    part = corpus.of_sentences()
    assert [(s, *rest) for s, *rest in without_positions(documents(part))] == known
    assert not SHARED & {*differences(part, corpus)}
    assert not differences(part.of_sentences(), part)
    with pytest.raises(CorpusError, match="expected sentences, found none"):
        replace(corpus, segment_ptr=None).of_sentences()


def test_documents_are_taken_with_all_that_is_known_of_them(corpus, rng, differences):
    known = without_positions(documents(corpus))
    mask = rng.random(8) < 0.5
    for chosen in (np.arange(8), rng.permutation(8), rng.integers(8, size=11), mask, slice(2, 6), []):
        part = corpus.take(chosen)
        indices = np.arange(8)[chosen]
        assert without_positions(documents(part)) == [known[d] for d in indices]
        assert not SHARED & {*differences(part, corpus)}
    assert not differences(corpus.take(slice(None)), corpus)
    order = rng.permutation(8)
    assert not differences(corpus.take(order).take(np.argsort(order)), corpus)


def test_tokens_are_kept_in_their_places(corpus, rng, differences):
    n = corpus.n_tokens
    for mask in (rng.random(n) < 0.5, rng.random(n) < 0.1, np.ones(n, bool), np.zeros(n, bool)):
        part = corpus.keep(mask)
        expected = []
        for sentences, *known in documents(corpus):
            thinned = [[word for i, word in sentence if mask[i]] for sentence in sentences]
            expected.append(([sentence for sentence in thinned if sentence], *known))
        assert without_positions(documents(part)) == expected
        assert not (SHARED | OF_DOCUMENTS) & {*differences(part, corpus)}
        assert not differences(corpus.keep(np.flatnonzero(mask)), part)
    assert not differences(corpus.keep(slice(None)), corpus)


def test_parts_of_parts_are_parts(corpus, rng, differences):
    mask = rng.random(corpus.n_tokens) < 0.6
    again = rng.random(mask.sum()) < 0.6
    both = np.flatnonzero(mask)[again]
    assert not differences(corpus.keep(mask).keep(again), corpus.keep(both))
    chosen = rng.permutation(8)[:5]
    tokens = np.concatenate([np.arange(*corpus.doc_ptr[d : d + 2]) for d in chosen])
    assert not differences(corpus.keep(mask).take(chosen), corpus.take(chosen).keep(mask[tokens]))


def test_split_shares_out_all_documents(corpus, differences):
    train, test = corpus.split()
    is_test = corpus.covariates["is_test"]
    order = np.argsort(np.concatenate([np.flatnonzero(~is_test), np.flatnonzero(is_test)]))
    parts = without_positions(documents(train)) + without_positions(documents(test))
    assert [parts[i] for i in order] == without_positions(documents(corpus))
    for part in (train, test):
        assert not SHARED & {*differences(part, corpus)}


def test_a_design_fixes_all_but_the_words(corpus, rng, differences):
    design = Design.of(corpus)
    assert not differences(design.corpus(corpus.words), corpus)
    other = rng.permutation(corpus.words)
    assert not differences(design.corpus(other), replace(corpus, words=other))
    for name in {f.name for f in fields(Design)} - {"doc_lengths", "n_words", "n_groups", "in_order"}:
        assert getattr(design, name) is getattr(corpus, name), name


def test_other_lengths_have_no_segments(corpus):
    design = Design.of(corpus).with_lengths(np.arange(8))
    found = design.corpus(np.zeros(28, int))
    assert found.segment_ptr is None
    assert found.doc_lengths.tolist() == [*range(8)]
    assert found.group_names.tolist() == corpus.group_names.tolist()


def test_names_for_fewer_groups_than_there_are():
    with pytest.raises(CorpusError, match="group_names: expected 3, one a group, found 2"):
        Design(np.ones(2), 1, group=np.array([0, 2]), group_names=np.array(["a", "b"]))


def test_the_tree_of_a_fit_holds_everything(corpus, tmp_path, differences):
    tree = sample(get("lda", n_topics=2), corpus, chains=1, tune=0, draws=1)
    assert not differences(corpus_of(tree), corpus)
    save(tree, tmp_path / "fit.nc")
    back = load(tmp_path / "fit.nc")
    assert not differences(corpus_of(back), corpus)
    assert corpus_of(back).digest() == corpus.digest() == back.attrs["corpus_sha256"]


@pytest.mark.parametrize("dtype", ["?", "u8", "<i2", ">i4", "f2", "f4", ">f8", "g"])
def test_the_tree_of_a_fit_holds_numbers_of_any_kind(dtype, tmp_path):
    corpus = Corpus([0, 1, 1], [0, 1, 3], covariates={"y": np.array([0, 1], dtype)})
    save(sample(get("lda", n_topics=2), corpus, chains=1, tune=0, draws=1), tmp_path / "fit.nc")
    assert corpus_of(load(tmp_path / "fit.nc")).digest() == corpus.digest()


@pytest.mark.parametrize("chosen", [[4], [[0, 1]], 2, "ab", [True], [0.5], None])
def test_what_is_no_part_is_refused(chosen):
    corpus = Corpus([0, 1, 1], [0, 1, 3, 3])
    with pytest.raises(
        CorpusError, match=r"documents: expected a slice, a mask of 3, or a list of indices below 3"
    ):
        corpus.take(chosen)
    with pytest.raises(CorpusError, match="tokens: expected a slice, a mask of 3"):
        corpus.keep(chosen)


@pytest.mark.parametrize("chosen", [[1, 0], [0, 0], slice(None, None, -1)])
def test_tokens_are_not_reordered(chosen):
    with pytest.raises(CorpusError, match="tokens: expected increasing indices, or a mask"):
        Corpus([0, 1, 1], [0, 3]).keep(chosen)


def test_associations_go_with_their_groups(full_corpus):
    corpus = full_corpus(0)
    names = ["p", "q", "r"]
    assert corpus.with_groups(corpus.group, names).associations is corpus.associations
    assert corpus.with_groups(corpus.group, [*names, "s"]).associations is None
    moved = corpus.group.copy()
    moved[0] = (moved[0] + 1) % 3
    assert corpus.with_groups(moved, names).associations is None
    assert corpus.grouped("file").associations is None

"""``bnpzoo associate``: what it writes and what it refuses."""

import numpy as np
import pytest
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.formats import read_corpus, write_corpus
from scipy import sparse


@pytest.fixture
def text(tmp_path):
    corpus = Corpus([0, 1, 2, 0, 1], [0, 3, 5], vocabulary=["a", "b", "c"], group=[0, 1], in_order=True)
    write_corpus(corpus, tmp_path / "text.npz")
    return tmp_path / "text.npz"


@pytest.fixture
def sources(tmp_path, text):
    (tmp_path / "vectors.txt").write_text("a 1 0\nb 1 0.1\nc 0 1\n")
    sparse.save_npz(tmp_path / "strengths.npz", sparse.csr_array(np.ones((3, 3))))
    return {
        "documents": ("--reference", text),
        "window": ("--reference", text, "--window", 2),
        "embeddings": ("--embeddings", tmp_path / "vectors.txt"),
        "strengths": ("--strengths", tmp_path / "strengths.npz"),
    }


@pytest.mark.parametrize("source", ["documents", "window", "embeddings", "strengths"])
def test_associations_are_written(run, text, sources, source, tmp_path):
    out = tmp_path / "out.npz"
    result = run("associate", text, *sources[source], "--most", 2, "--out", out)
    assert result.exit_code == 0, result.output
    found = read_corpus(out)
    assert found.associations.n_groups == 2
    assert found.associations.matrix(1)[0, 1] > 0  # a stands beside b more than beside c, in every source
    np.testing.assert_array_equal(found.words, read_corpus(text).words)


def test_a_format_without_associations_is_refused(run, text, sources, tmp_path):
    refused = run("associate", text, *sources["documents"], "--out", tmp_path / "out.ldac")
    assert refused.exit_code == 2
    assert "out.ldac: expected a name that ends in .npz or .arrays" in " ".join(refused.stderr.split())
    assert not (tmp_path / "out.ldac").exists()
    result = run("associate", text, *sources["documents"], "--out", tmp_path / "out.arrays")
    assert result.exit_code == 0, result.output
    assert read_corpus(tmp_path / "out.arrays").associations.n_groups == 2


def test_one_source_is_needed(run, text, sources, tmp_path):
    for options in ((), (*sources["documents"], *sources["embeddings"])):
        result = run("associate", text, *options, "--out", tmp_path / "out.npz")
        assert result.exit_code == 2
        assert "expected one of --reference, --embeddings and --strengths" in result.stderr
    for source in ("embeddings", "strengths"):
        result = run("associate", text, *sources[source], "--window", 5, "--out", tmp_path / "out.npz")
        assert result.exit_code == 2
        assert "--window: expected --reference" in result.stderr


def test_a_matrix_of_other_words_is_refused(run, text, tmp_path):
    sparse.save_npz(tmp_path / "other.npz", sparse.csr_array(np.ones((4, 4))))
    result = run("associate", text, "--strengths", tmp_path / "other.npz", "--out", tmp_path / "out.npz")
    assert result.exit_code == 2
    assert "expected 2 groups and 3 words, found 2 and 4" in result.stderr


def test_texts_are_split_as_those_of_a_corpus_are(run, tmp_path):
    """Words in a script with combining marks are whole."""
    path = tmp_path / "texts.csv"
    path.write_text("text\nहिन्दी भाषा नदी\nहिन्दी किताब\n", encoding="utf-8")
    assert run("convert", path, "--min-df", 1, "--out", tmp_path / "corpus.npz").exit_code == 0
    for corpus in (path, tmp_path / "corpus.npz"):
        result = run("associate", corpus, "--reference", path, "--out", tmp_path / "out.npz")
        assert result.exit_code == 0, result.output
        found = read_corpus(tmp_path / "out.npz")
        assert set(found.vocabulary) == {"हिन्दी", "भाषा", "नदी", "किताब"}
        river, language = (found.number_of_word[word] for word in ("नदी", "भाषा"))
        assert found.associations.matrix(0)[river, language] > 0

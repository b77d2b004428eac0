import numpy as np
import pytest
from bnpzoo.zoo.formats import TextOptions, read_corpus


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.csv"
    path.write_text("text,year\nthe cat and the dog,1999\na dog; a cat; a dog,2001\n")
    return path


@pytest.mark.parametrize("name", ["c.npz", "c.ldac", "docword.c"])
def test_text_for_other_programs(run, text, tmp_path, name):
    result = run("convert", text, "--out", tmp_path / name)
    assert result.exit_code == 0, result.output
    assert "2 documents, 5 tokens, 2 words" in result.stdout
    found, expected = read_corpus(tmp_path / name), read_corpus(text, options=TextOptions())
    np.testing.assert_array_equal(found.counts(), expected.counts())
    np.testing.assert_array_equal(found.vocabulary, ["cat", "dog"])
    assert ("year" in found.covariates) == (name == "c.npz")
    assert (f"{tmp_path / name} has no place for year: left out" in result.stderr) == (name != "c.npz")


def test_bags_of_words_say_what_they_leave_out(run, tmp_path):
    path = tmp_path / "text.csv"
    path.write_text('text,group\n"dogs bark\ncats bark",a\n"cats sleep",b\n')
    result = run("convert", path, "--out", tmp_path / "c.ldac", "--sentences", "lines")
    assert result.exit_code == 0, result.output
    assert f"{tmp_path / 'c.ldac'} has no place for groups, sentences: left out" in result.stderr
    assert "no place" not in run("convert", tmp_path / "c.ldac", "--out", tmp_path / "d.ldac").stderr


def test_options_of_text(run, text, tmp_path):
    assert run("convert", text, "--out", tmp_path / "c.npz", "--stop-words", "none").exit_code == 0
    assert read_corpus(tmp_path / "c.npz").vocabulary.tolist() == ["cat", "dog"]
    assert (
        run("convert", text, "--out", tmp_path / "c.npz", "--max-df", "0.5", "--min-df", "1").exit_code == 2
    )
    assert run("convert", text, "--out", tmp_path / "c.xyz").exit_code == 2


def test_sentences_are_kept(run, tmp_path):
    path = tmp_path / "text.csv"
    path.write_text('text\n"dogs bark\ncats bark"\n"cats sleep\nthe dogs sleep"\n')
    result = run("convert", path, "--out", tmp_path / "c.npz", "--sentences", "lines")
    assert result.exit_code == 0, result.output
    assert f"{path}: 4 sentences" in result.stderr
    assert read_corpus(tmp_path / "c.npz").segment_ptr.tolist() == [0, 1, 2, 3, 4]
    options = ("--sentences", "lines", "--by-sentence")
    assert "4 documents" in run("convert", path, "--out", tmp_path / "s.npz", *options).stdout
    assert read_corpus(tmp_path / "s.npz").doc_ptr.tolist() == [0, 1, 2, 3, 4]
    assert run("convert", path, "--out", tmp_path / "d.npz", "--sentences", "verses").exit_code == 2
    assert not (tmp_path / "d.npz").exists()


def test_text_and_counts_as_arrays(run, text, tmp_path):
    result = run("convert", text, "--out", tmp_path / "c.arrays", "--min-df", "1")
    assert result.exit_code == 0, result.output
    assert "2 documents, 5 tokens, 2 words" in result.stdout
    assert "kept 5 of 8 tokens; dropped 2 stop words (3 tokens)" in " ".join(result.stderr.split())
    expected = read_corpus(text, options=TextOptions(min_df=1)).digest()
    assert read_corpus(tmp_path / "c.arrays").digest() == expected
    assert run("convert", text, "--out", tmp_path / "c.arrays").exit_code == 2
    assert run("convert", tmp_path / "c.arrays", "--out", tmp_path / "c.ldac").exit_code == 0
    refused = run("convert", tmp_path / "c.ldac", "--out", tmp_path / "d.arrays", "--min-df", "1")
    assert refused.exit_code == 2
    assert "holds counts" in refused.stderr
    assert run("convert", tmp_path / "c.ldac", "--out", tmp_path / "d.arrays").exit_code == 0
    fit = run("fit", "lda", tmp_path / "d.arrays", "--set", "n_topics=2", "--tune", "2", "--draws", "4")
    assert fit.exit_code == 0, fit.output

"""Sentences of texts and statements of programs, on their way into a corpus."""

import importlib.util
import sys
import types

import numpy as np
import pytest
from bnpzoo import Corpus
from bnpzoo.zoo.corpus import CorpusError
from bnpzoo.zoo.formats import TextOptions, from_texts, read_corpus
from bnpzoo.zoo.formats.sentences import sentence_a_line, statements, words_of_name
from sklearn.feature_extraction.text import CountVectorizer

PROGRAM = '''"""Not a word of this."""
from os.path import joinPath as join  # nor of this
class StringCopy(HTTPServer2):
    buffer_size = 42; x = "words"
    def send(self,
             other):
        return f"{self.buffer_size} bytes"
'''


def sentences_of(corpus):
    return [
        " ".join(corpus.vocabulary[corpus.words[a:b]])
        for a, b in zip(corpus.segment_ptr[:-1], corpus.segment_ptr[1:], strict=True)
    ]


def test_a_line_is_a_sentence():
    corpus = from_texts(["One two.\n\nthree", "", "...\ntwo"], sentences=True)
    assert sentences_of(corpus) == ["one two", "three", "two"]
    assert corpus.doc_ptr.tolist() == [0, 3, 3, 4]
    assert corpus.segment_of.tolist() == [0, 0, 1, 2]
    assert corpus.n_segments == 3


@pytest.mark.parametrize("options", [{}, {"stop_words": ["two"]}, {"min_df": 2}, {"max_features": 1}])
def test_sentences_outlive_what_is_dropped(options):
    texts = ["one two\ntwo\nthree one", "two three\nfour", "four"]
    corpus = from_texts(texts, CountVectorizer(**options), sentences=True)
    without = from_texts(texts, CountVectorizer(**options))
    assert corpus.words.tolist() == without.words.tolist()
    assert corpus.doc_ptr.tolist() == without.doc_ptr.tolist()
    lines = [line.split() for text in texts for line in text.split("\n")]
    known = [" ".join(word for word in line if word in corpus.vocabulary) for line in lines]
    assert sentences_of(corpus) == [line for line in known if line]


@pytest.mark.parametrize(
    ("texts", "vectorizer"), [([["one"]], None), (["one two"], CountVectorizer(ngram_range=(1, 2)))]
)
def test_sentences_are_lines_of_single_words(texts, vectorizer):
    with pytest.raises(CorpusError, match="sentences: expected lines of text and single words"):
        from_texts(texts, vectorizer, sentences=True)


def test_a_corpus_without_sentences_says_how_to_get_them():
    corpus = Corpus([0], [0, 1])
    assert corpus.n_segments == 0
    with pytest.raises(CorpusError, match="expected sentences, found none: read text with --sentences lines"):
        _ = corpus.segment_of


def test_lists_of_sentences_in_json_lines(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": ["Dogs bark.", "Cats\\ndo not"], "year": 1}\n{"text": [], "year": 2}\n')
    corpus = read_corpus(path)
    assert sentences_of(corpus) == ["dogs bark", "cats do not"]
    assert corpus.covariates["year"].tolist() == [1, 2]
    path.write_text('{"text": ["dogs"]}\n{"text": "cats"}\n')
    with pytest.raises(CorpusError, match=r"a.jsonl: text: expected a list of sentences in all lines"):
        read_corpus(path)
    path.write_text('{"text": ["dogs", 3]}\n')
    with pytest.raises(CorpusError, match="line 1: text: expected text, found"):
        read_corpus(path)


def test_lines_of_files_and_columns(tmp_path):
    (tmp_path / "a.txt").write_text("dogs bark\ncats\n")
    (tmp_path / "b.csv").write_text('text\n"dogs bark\ncats"\n')
    for path in (tmp_path, tmp_path / "b.csv"):
        options = TextOptions(min_df=1, sentences="lines")
        assert sentences_of(read_corpus(path, options=options)) == ["dogs bark", "cats"]


def test_sentences_are_found_by_a_library(monkeypatch):
    library = types.ModuleType("sentencex")
    library.segment = lambda language, text: [language, *text.replace(". ", ". |").split("|"), "\n"]
    monkeypatch.setitem(sys.modules, "sentencex", library)
    assert sentence_a_line("One\ntwo. Three.", "de") == "de\nOne two.\nThree."
    monkeypatch.setitem(sys.modules, "sentencex", None)
    with pytest.raises(CorpusError, match=r"pip install 'bnpzoo\[sentences\]'"):
        sentence_a_line("One", "en")


@pytest.mark.skipif(importlib.util.find_spec("sentencex") is None, reason="sentencex is not installed")
def test_the_library_knows_abbreviations():
    found = sentence_a_line("Dr. Smith met the\nU.S. team. They won.\n\nYes!", "en")
    assert found.split("\n") == ["Dr. Smith met the U.S. team.", "They won.", "Yes!"]


@pytest.mark.parametrize("how", ["line", "EN", "", "english"])
def test_other_sentences_are_refused(how):
    with pytest.raises(CorpusError, match="sentences: expected none, lines, statements, or the code"):
        TextOptions(sentences=how)


def test_statements_hold_the_words_of_names():
    assert statements(PROGRAM) == [
        "os path join Path join",
        "String Copy HTTP Server",
        "buffer size",
        "x",
        "send self other",
        "self buffer size",
    ]
    assert words_of_name("_parseXMLDoc2_x") == ["parse", "XML", "Doc", "x"]


@pytest.mark.parametrize(
    ("source", "line"), [("x = (1,\n", 1), ("if x:\n    a\n  b\n", 3), ("a = 1\0", 1), ("'open\n", 1)]
)
def test_what_is_no_program(source, line):
    with pytest.raises(CorpusError, match=f"line {line}: expected Python: "):
        statements(source)


def test_a_folder_of_programs(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner/a.py").write_text(PROGRAM)
    (tmp_path / "b.py").write_text("def sendCopy(): pass\n")
    (tmp_path / "notes.txt").write_text("no program")
    corpus = read_corpus(tmp_path, options=TextOptions(min_df=1, sentences="statements"))
    assert corpus.covariates["file"].tolist() == ["b.py", "inner/a.py"]
    assert corpus.group is None
    assert sentences_of(corpus)[:3] == ["send copy", "os path join path join", "string copy http server"]
    assert np.isin(corpus.doc_ptr, corpus.segment_ptr).all()
    (tmp_path / "b.py").write_text("def (\n")
    with pytest.raises(CorpusError, match=r"b.py: line 1: expected Python: "):
        read_corpus(tmp_path, options=TextOptions(sentences="statements"))

"""Corpora from plain text."""

import errno
import gzip
import json
import math
import os
import re
import unicodedata
from dataclasses import replace

import numpy as np
import pytest
from bnpzoo import Corpus
from bnpzoo.zoo.corpus import CorpusError
from bnpzoo.zoo.corpus.texts import Dropped, dropped
from bnpzoo.zoo.formats import (
    TextOptions,
    from_counts,
    from_texts,
    is_text,
    read_corpus,
    read_texts,
    to_counts,
    write_corpus,
)
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

TEXTS = ["The dog saw the cat.", "", "Cat, cat, dog!", "unique"]


def decode(corpus):
    return [
        corpus.vocabulary[corpus.words[a:b]].tolist()
        for a, b in zip(corpus.doc_ptr[:-1], corpus.doc_ptr[1:], strict=True)
    ]


def test_tokens_stand_in_reading_order():
    corpus = from_texts(TEXTS)
    assert decode(corpus) == [["the", "dog", "saw", "the", "cat"], [], ["cat", "cat", "dog"], ["unique"]]
    assert corpus.in_order


@pytest.mark.parametrize(
    "options", [{}, {"stop_words": "english"}, {"min_df": 2}, {"ngram_range": (1, 2)}, {"analyzer": "char"}]
)
def test_counts_are_those_of_the_vectorizer(options):
    vectorizer = CountVectorizer(**options)
    corpus = from_texts(TEXTS, vectorizer)
    assert not hasattr(vectorizer, "vocabulary_")
    counts = vectorizer.fit_transform(TEXTS)
    np.testing.assert_array_equal(corpus.counts(), counts.toarray())
    np.testing.assert_array_equal(corpus.vocabulary, vectorizer.get_feature_names_out())
    assert corpus.in_order == (options.get("ngram_range") is None)
    bag = from_counts(counts, vectorizer.get_feature_names_out())
    np.testing.assert_array_equal(bag.counts(), corpus.counts())


def test_vocabulary_of_training_documents_can_be_kept():
    training = from_texts(TEXTS)
    test = from_texts(["a new cat"], CountVectorizer(vocabulary=training.vocabulary))
    assert decode(test) == [["cat"]]
    np.testing.assert_array_equal(test.vocabulary, training.vocabulary)


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        (["", "!"], {}, "vectorizer: empty vocabulary"),
        ([], {}, "texts: expected one document or more, found none"),
        (["one two", "three"], {"min_df": 2}, "vectorizer: "),
        (["one"], {"max_features": -1}, "vectorizer: "),
        (["one", None], {}, r"texts\[1\]: expected text, found None"),
        ("one", {}, "texts: expected a sequence"),
    ],
)
def test_bad_texts(texts, options, message):
    with pytest.raises(CorpusError, match=message):
        from_texts(texts, CountVectorizer(**options))


def test_folder(tmp_path):
    (tmp_path / "b.txt").write_text("Dog bites man", encoding="utf-8")
    (tmp_path / "a.txt").write_text("", encoding="utf-8")
    (tmp_path / "notes.md").write_text("not a document", encoding="utf-8")
    corpus = read_corpus(tmp_path)
    assert decode(corpus) == [[], ["dog", "bites", "man"]]
    assert corpus.covariates["file"].tolist() == ["a.txt", "b.txt"]
    assert corpus.group is None


def test_folder_with_compressed_texts(tmp_path):
    (tmp_path / "b.txt").write_text("man bites", encoding="utf-8")
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"dog"))
    (tmp_path / "._b.txt").write_bytes(b"\x00\x05\x16\x07\xff")  # as macOS leaves them
    corpus = read_corpus(tmp_path)
    assert decode(corpus) == [["dog"], ["man", "bites"]]
    assert corpus.covariates["file"].tolist() == ["a.txt.gz", "b.txt"]
    (tmp_path / "a.txt").write_text("dog", encoding="utf-8")
    with pytest.raises(CorpusError, match=r"expected a\.txt or a\.txt\.gz, found both"):
        read_corpus(tmp_path)


def test_folder_of_groups(tmp_path):
    for name in ("news/1.txt", "letters/1.txt", "letters/old/2.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name.replace("/", " "), encoding="utf-8")
    corpus = read_corpus(tmp_path, vectorizer=CountVectorizer(max_features=2))
    assert corpus.n_words == 2
    assert corpus.group_names.tolist() == ["letters", "news"]
    assert corpus.group.tolist() == [0, 0, 1]
    (tmp_path / "stray.txt").write_text("stray", encoding="utf-8")
    with pytest.raises(CorpusError, match=f"{tmp_path.name}: expected all .* found both"):
        read_corpus(tmp_path)


def test_folder_has_the_documents_that_links_lead_to(tmp_path):
    folder, elsewhere = tmp_path / "texts", tmp_path / "elsewhere"
    (folder / "a").mkdir(parents=True)
    elsewhere.mkdir()
    (folder / "a" / "1.txt").write_text("dog", encoding="utf-8")
    (elsewhere / "2.txt").write_text("cat", encoding="utf-8")
    (folder / "b").symlink_to(elsewhere)
    (folder / "a" / "again").symlink_to(folder / "a")
    (elsewhere / "up").symlink_to(elsewhere)
    corpus = read_corpus(folder)
    assert corpus.covariates["file"].tolist() == ["a/1.txt", "b/2.txt"]
    assert corpus.group_names.tolist() == ["a", "b"]
    (folder / "a" / "3.txt").symlink_to("nowhere")
    with pytest.raises(CorpusError, match=r"a/3\.txt: No such file"):
        read_corpus(folder)


def test_folder_that_cannot_be_listed_is_no_empty_one(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "1.txt").write_text("dog", encoding="utf-8")
    scandir = os.scandir

    def refusing(path):
        if os.fspath(path) == str(tmp_path / "b"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(CorpusError, match=f"{tmp_path.name}: b: Permission denied"):
        read_corpus(tmp_path)


def test_folder_takes_suffixes_in_capitals(tmp_path):
    (tmp_path / "a.txt").write_text("dog", encoding="utf-8")
    (tmp_path / "B.TXT").write_text("cat", encoding="utf-8")
    assert read_corpus(tmp_path).covariates["file"].tolist() == ["B.TXT", "a.txt"]


def test_folder_names_the_file_that_is_not_utf8(tmp_path):
    (tmp_path / "a.txt").write_text("fine", encoding="utf-8")
    (tmp_path / "b.txt").write_bytes("first\nnaïve".encode("latin-1"))
    with pytest.raises(CorpusError, match=r"b.txt: line 2: expected UTF-8, found byte 0xef"):
        read_corpus(tmp_path)


def test_csv(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(
        "group,text,rating,year,is_test,title\r\n"
        'north,"The dog, ""Rex"",\r\nbarks",0.5,1999,True,one\r\n'
        "south,,1,2001,False,two\r\n\r\n",
        encoding="utf-8-sig",
        newline="",
    )
    corpus = read_corpus(path)
    assert decode(corpus) == [["the", "dog", "rex", "barks"], []]
    assert corpus.group_names.tolist() == ["north", "south"]
    assert {name: values.dtype.kind for name, values in corpus.covariates.items()} == {
        "rating": "f",
        "year": "i",
        "is_test": "b",
        "title": "U",
    }
    assert [part.n_documents for part in corpus.split()] == [1, 1]


def test_csv_with_a_long_document(tmp_path):
    (tmp_path / "a.csv").write_text("text\n" + "word " * 50_000, encoding="utf-8")
    assert read_corpus(tmp_path / "a.csv").n_tokens == 50_000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "line 1: expected a column 'text', found nothing"),
        (b"body\nx\n", "line 1: expected a column 'text', found body"),
        (b"text,text\nx,y\n", "line 1: expected a different name for each column"),
        (b"text,y\nword,1\nword\n", "line 3: expected 2 fields, found 1"),
        (b'text\n"open\n', "expected CSV: in the row of line 2 a quote is not closed"),
        (b'text\nred\n"open,\nred\nblue\n', "expected CSV: in the row of line 3 a quote is not closed"),
        (b'"text\nred\n', "expected CSV: in the row of line 1 a quote is not closed"),
        (b'text\n"red" x\n', "line 2: expected CSV: "),
        (b"text\n\xe9t\xe9\n", "line 2: expected UTF-8, found byte 0xe9"),
        (b"text,y\nword,nan\n", r"covariates\['y'\]\[0\]: expected a finite number, found nan"),
        (b"text,group\nword,a\nword,\n", "group: expected that of every document, found none of document 2"),
        (b"text,group\nword, \n", "group: expected that of every document, found none of document 1"),
        (b"text\n", "texts: expected one document or more, found none"),
    ],
)
def test_bad_csv(tmp_path, content, message):
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(CorpusError, match=f"a.csv: {message}"):
        read_corpus(tmp_path / "a.csv")


def test_lists_of_tokens():
    corpus = Corpus.from_texts([["The", "cat"], [], ("cat", "of mine")])
    assert decode(corpus) == [["The", "cat"], [], ["cat", "of mine"]]
    with pytest.raises(CorpusError, match=r"texts\[1\]: expected a list of tokens, found 'a b'"):
        Corpus.from_texts([["a"], "a b"])
    with pytest.raises(CorpusError, match="vectorizer: expected none"):
        Corpus.from_texts([["a"]], CountVectorizer())


def test_a_corpus_of_what_is_at_hand(differences):
    corpus = Corpus.from_texts(TEXTS)
    assert Corpus.of(corpus) is corpus
    assert not differences(Corpus.of(TEXTS), corpus)
    for counts in (corpus.counts(), to_counts(corpus)):
        np.testing.assert_array_equal(Corpus.of(counts).counts(), corpus.counts())


def test_a_corpus_is_one_line():
    assert repr(Corpus([0, 1, 0], [0, 3])) == "Corpus(1 documents, 3 tokens, 2 words)"
    assert str(Corpus([0], [0, 1], group=[1])) == "Corpus(1 documents, 1 tokens, 1 words, 2 groups)"


def test_words_in_any_script(tmp_path):
    words = ["किताब", "हिन्दी", "विद्यालय", "שָׁלוֹם", "ශ්\u200dරී"]
    (tmp_path / "a.txt").write_text(" ".join([*words, "é", "1\u0301"]), encoding="utf-8")
    found = decode(read_corpus(tmp_path, options=TextOptions(min_df=1)))
    assert found == [[unicodedata.normalize("NFC", word) for word in words]]


def test_a_word_is_the_same_however_its_accents_are_written(tmp_path):
    for name, form in (("a", "NFC"), ("b", "NFD")):
        text = unicodedata.normalize(form, "économie") + " eco\u00adnomy"
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    assert decode(read_corpus(tmp_path)) == [["économie", "economy"]] * 2


def test_stop_words_and_vocabularies_with_accents_apart(tmp_path):
    (tmp_path / "a.txt").write_text("été chaud", encoding="utf-8")
    apart = unicodedata.normalize("NFD", "été")
    options = TextOptions(min_df=1, stop_words=(apart,))
    assert decode(read_corpus(tmp_path, options=options)) == [["chaud"]]
    known = read_corpus(tmp_path).in_terms_of(np.array(["froid", apart]))
    assert known.words.tolist() == [1]
    assert Corpus([0], [0, 1], [apart]).in_terms_of(np.array(["été"])).words.tolist() == [0]


@given(st.text(st.characters(max_codepoint=127)))
def test_tokens_of_ascii_are_those_of_a_plain_pattern(text):
    plainly = re.findall(r"\b(?=\w*[^\W\d_])\w\w+\b", text.lower())
    assert TextOptions().vectorizer().build_tokenizer()(text.lower()) == plainly


def test_options_drop_what_is_no_help_to_read_topics(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("text\nThe 3 dogs and 12 cats of 2026\nthe dogs and a bird\nthe cats; B52\n")
    options = TextOptions()
    corpus = read_corpus(path, options=options)
    assert decode(corpus) == [["dogs", "cats"], ["dogs"], ["cats"]]
    texts, _ = read_texts(path, options=options)
    found = dropped(texts, options.vectorizer(), corpus.vocabulary)
    assert found == Dropped(12, 7, stop_tokens=6, stop_words=3, other_tokens=2, other_words=2)
    assert str(found).startswith("kept 4 of 12 tokens; dropped 3 stop words (6 tokens) and 2 words too rare")
    everything = TextOptions(stop_words=("Dogs",), min_df=1, token_pattern=r"\w+")
    assert decode(read_corpus(path, options=everything))[2] == ["the", "cats", "b52"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_df": 0}, "min_df: expected a number of documents, 1 or more, or a share .*, found 0"),
        ({"max_df": 1.5}, "max_df: .* found 1.5"),
        ({"max_features": 0}, "max_features: expected 1 or more, found 0"),
        ({"token_pattern": "("}, r"token_pattern: expected a regular expression, found '\(': "),
        ({"token_pattern": "(a)(b)"}, "token_pattern: expected at most one group to capture, found 2"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(CorpusError, match=message):
        TextOptions(**options)


def test_other_columns_delimiters_and_encodings(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_bytes("body\tyear\nnaïve\t1999\n".encode("latin-1"))
    options = TextOptions(min_df=1, column="body", encoding="latin-1")
    corpus = read_corpus(path, options=options)
    assert decode(corpus) == [["naïve"]]
    assert corpus.covariates["year"].tolist() == [1999]
    with pytest.raises(CorpusError, match="line 1: expected a column 'body', found body\tyear"):
        read_corpus(path, options=replace(options, delimiter=";"))
    with pytest.raises(CorpusError, match=r"a.tsv: encoding: expected one that Python knows, found 'latein'"):
        read_corpus(path, options=replace(options, encoding="latein"))
    with pytest.raises(CorpusError, match="delimiter: expected one character"):
        read_corpus(path, options=replace(options, delimiter="::"))


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["3", " -2", "+7"], [3, -2, 7]),
        (["3", "1e3", "-.5"], [3.0, 1000.0, -0.5]),
        (["00.5", "1"], [0.5, 1.0]),
        (["007", "7"], ["007", "7"]),
        (["007", "1.5"], ["007", "1.5"]),
        (["12345678901234567890", "1.5"], ["12345678901234567890", "1.5"]),
        (["١", "٢"], ["١", "٢"]),
        (["12_3", "1_23"], ["12_3", "1_23"]),
        (["1_0.5", "2"], ["1_0.5", "2"]),
        (["12345678901234567890", "12345678901234567891"], ["12345678901234567890", "12345678901234567891"]),
        (["1", ""], ["1", ""]),
        (["True", "false"], [True, False]),
        (["true", "", "false"], ["True", "", "False"]),
        (["true", "yes", ""], ["true", "yes", ""]),
    ],
)
def test_cells_are_numbers_only_where_they_come_out_as_they_were(tmp_path, cells, expected):
    path = tmp_path / "a.csv"
    path.write_text("text,id\n" + "".join(f"word,{cell}\n" for cell in cells))
    found = read_corpus(path).covariates["id"]
    assert found.dtype.kind == np.array(expected).dtype.kind
    np.testing.assert_array_equal(found, expected)


def test_utf_16_without_a_mark_is_one_line(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text\nword\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=r"a\.csv: expected UTF-16: "):
        read_corpus(path, options=TextOptions(encoding="utf-16"))


def test_json_lines(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"text": "The dog\\nbarks", "group": "north", "year": 1999, "tags": ["x"], "is_test": true}\n\n'
        '{"text": "", "group": "south", "year": 2001, "tags": [], "is_test": false, "more": 1}\n',
        encoding="utf-8",
    )
    corpus = read_corpus(path)
    assert decode(corpus) == [["the", "dog", "barks"], []]
    assert corpus.group_names.tolist() == ["north", "south"]
    assert {name: values.tolist() for name, values in corpus.covariates.items()} == {
        "year": [1999, 2001],
        "is_test": [True, False],
        "more": ["", "1"],
    }


def test_json_lines_have_gaps_as_csv_has(tmp_path):
    rows = [{"text": "a dog", "rating": 1.5, "good": True}, {"text": "a cat", "rating": None}, {"text": "x"}]
    rows[2]["rating"] = math.nan
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (tmp_path / "a.csv").write_text("text,rating,good\na dog,1.5,True\na cat,,\nx,,\n")
    found, expected = (read_corpus(tmp_path / name).covariates for name in ("a.jsonl", "a.csv"))
    assert found.keys() == expected.keys() == {"rating", "good"}
    for name, values in found.items():
        assert values.tolist() == expected[name].tolist()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"text": "a"}\n{', "line 2: expected JSON"),
        ('["text"]', "line 1: expected an object of JSON"),
        ('{"text": 3}', "line 1: text: expected text, found 3"),
        ('{"body": "a"}', "every line: expected a column 'text', found body"),
        ('{"text": "a"}\n{"body": "a"}', "every line: expected a column 'text', found body"),
        (
            '{"text": "a", "group": "x"}\n{"text": "b", "group": null}',
            "group: expected that of every document",
        ),
        ('{"text": "a", "group": "x"}\n{"text": "b"}', "group: .*, found none of document 2"),
        ("[" * 100_000, "line 1: expected JSON"),
    ],
)
def test_bad_json_lines(tmp_path, content, message):
    path = tmp_path / "a.jsonl"
    path.write_text(content)
    with pytest.raises(CorpusError, match=f"a.jsonl: {message}"):
        read_corpus(path)


def test_counts_are_no_texts(tmp_path):
    write_corpus(Corpus([0], [0, 1]), tmp_path / "a.npz")
    with pytest.raises(CorpusError, match="expected text, found counts"):
        read_texts(tmp_path / "a.npz")
    assert is_text(tmp_path)
    assert not is_text(tmp_path / "a.npz")
    with pytest.raises(CorpusError, match=r"a.nc: expected .* this is the name of a fit"):
        is_text(tmp_path / "a.nc")

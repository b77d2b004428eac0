"""Sentences of texts: lines, what a library finds, or the statements of source code."""

import io
import keyword
import re
import tokenize

from ..corpus import CorpusError

KINDS = ("none", "lines", "statements")
"""What ``TextOptions.sentences`` can be, beside the code of a language."""

_LANGUAGE = re.compile(r"[a-z]{2,3}")
_LETTERS = re.compile(r"[^\W\d_]+")
_CAPITALS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def check_sentences(how: str) -> None:
    """Raise CorpusError unless `how` is one of `KINDS` or the code of a language."""
    if how not in KINDS and not _LANGUAGE.fullmatch(how):
        raise CorpusError(
            f"sentences: expected {', '.join(KINDS)}, or the code of a language such as en, found {how!r}"
        )


def sentence_a_line(text: str, how: str) -> str:
    """Text whose lines are its sentences.

    Parameters
    ----------
    text : str
    how : str
        ``"lines"`` leaves it as it is; for ``"statements"`` see `statements`; the code of a language has
        sentences found by the library sentencex.

    Raises
    ------
    CorpusError
        The text is not Python where statements are asked for, or the library is not installed.
    """
    if how == "lines":
        return text
    return as_lines(statements(text) if how == "statements" else _by_language(text, how))


def as_lines(sentences: list[str]) -> str:
    """Text of some sentences, each a line, whatever line breaks are in them."""
    return "\n".join(" ".join(sentence.split()) for sentence in sentences)


def statements(source: str) -> list[str]:
    """Words of each statement of a Python program.

    A statement is a logical line, or what a semicolon ends. Its words are the names in it, cut where words
    were joined: of ``StringCopy(buffer_size2)`` they are String, Copy, buffer and size. Keywords, numbers,
    strings and comments are left out. Das & Bhattacharyya treat Java so (Section V-A).

    Raises
    ------
    CorpusError
        Names the line that is not Python.
    """
    found: list[str] = []
    words: list[str] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.NAME and not keyword.iskeyword(token.string):
                words += words_of_name(token.string)
            elif token.type == tokenize.NEWLINE or token.string == ";":
                found.append(" ".join(words))
                words = []
    except tokenize.TokenError as error:
        message, (line, _) = error.args
        raise CorpusError(f"line {line}: expected Python: {message}") from None
    except SyntaxError as error:
        raise CorpusError(f"line {error.lineno}: expected Python: {error.msg}") from None
    return [statement for statement in found if statement]


def words_of_name(name: str) -> list[str]:
    """Words that a name is made of, without digits: of ``HTTPServer_v2``, HTTP, Server and v."""
    return [word for letters in _LETTERS.findall(name) for word in _CAPITALS.split(letters)]


def _by_language(text: str, language: str) -> list[str]:
    try:
        from sentencex import segment  # type: ignore[import]
    except ImportError:
        raise CorpusError(
            f"sentences: {language}: expected the library sentencex: pip install 'bnpzoo[sentences]'; "
            "or texts with a sentence a line, and sentences=lines"
        ) from None
    return [sentence for sentence in segment(language, text) if sentence.strip()]

"""Plain text on disk: bytes to str, rows of numbers, and vocabularies, one word a line."""

import codecs
import gzip
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from ..corpus import CorpusError
from ..files import replace_on_success
from ..memory import TooLarge

BLOCK = 2**22
"""Bytes of a file that are read at once."""


@contextmanager
def located(path: Path) -> Iterator[None]:
    """Begin every message with the file that it is about, and say in one line what the system refuses."""
    with access_to(path), content_of(path):
        yield


@contextmanager
def content_of(path: Path) -> Iterator[None]:
    """Begin messages about what is in a file with its name."""
    try:
        yield
    except (CorpusError, TooLarge) as error:
        message = str(error).replace("\n", " ")  # of a name inside a damaged archive, say
        raise CorpusError(f"{path}: {message}") from None


@contextmanager
def access_to(path: Path) -> Iterator[None]:
    """Say in one line, with the name of the file, what the system refuses."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error).removeprefix(f"{path}: ")  # which is in messages of our own
        raise CorpusError(f"{path}: {reason}") from None


def read_text(path: Path, encoding: str = "utf-8") -> str:
    """Read text, perhaps compressed, with a byte order mark or not; lines end in a line feed."""
    return "".join(text for _, text in text_blocks(path, encoding))


def text_blocks(path: Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Read text as `read_text` does, in blocks of whole lines, each with the number of its first line.

    No block ends in an empty line, unless it is the last.
    """
    line, pending = 1, ""
    for text in _decoded(path, encoding):
        pending += text
        filled = len(pending[: pending.rfind("\n") + 1].rstrip())
        if filled:
            end = pending.index("\n", filled) + 1
            block, pending = pending[:end].replace("\r\n", "\n"), pending[end:]
            yield line, block
            line += block.count("\n")
    yield line, pending.replace("\r\n", "\n")


def _decoded(path: Path, encoding: str) -> Iterator[str]:
    """Text of a file, piece by piece, without its byte order mark."""
    try:
        "a".encode(encoding)  # refuses codecs that are no encodings of text, such as hex
        decoder = codecs.getincrementaldecoder(encoding)()
    except LookupError:
        raise CorpusError(f"encoding: expected one that Python knows, found {encoding!r}") from None
    n_lines, is_first = 0, True
    for data in _bytes(path):
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            line = n_lines + error.object.count(b"\n", 0, error.start) + 1
            found = f"found byte {error.object[error.start]:#04x}"
            raise CorpusError(f"line {line}: expected {encoding.upper()}, {found}") from None
        except UnicodeError as error:  # of UTF-16, without a mark at the beginning
            raise CorpusError(f"expected {encoding.upper()}: {error}") from None
        n_lines += text.count("\n")
        if text:
            yield text.removeprefix("\ufeff") if is_first else text
            is_first = False


def _bytes(path: Path) -> Iterator[bytes]:
    """Bytes of a file, perhaps compressed; the last piece is empty."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            data = None
            while data != b"":
                data = file.read(BLOCK)
                yield data
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise CorpusError("expected a whole gzip file, found one that is damaged or cut off") from None
    except OSError as error:  # which is not to be taken for one of a file that is written meanwhile
        raise CorpusError(error.strerror or str(error)) from None


def read_numbers(body: str, row: str, expected: str, first_line: int = 1) -> np.ndarray:
    """Read all numbers of `body`, int64, whose every line must match the regular expression `row`.

    The expression is applied to the whole text at once, and where its match ends the first bad line begins.
    """
    body = body.rstrip() + "\n" if body.strip() else ""
    end = re.compile(rf"(?:[ \t]*{row}[ \t]*\n)*+", re.ASCII).match(body).end()  # type: ignore[union-attr]
    if end < len(body):
        line = first_line + body.count("\n", 0, end)
        found = body[end : body.index("\n", end)]
        raise CorpusError(f"line {line}: expected {expected}, found {found[:60]!r}")
    return np.array(body.replace(":", " ").split(), dtype=np.int64)


def read_vocabulary(path: Path) -> np.ndarray | None:
    """Read the vocabulary that belongs to a file of counts, or None where it has none.

    It is ``vocab.X`` for a file ``docword.X``; else the file's name with ``.vocab`` after it or in place of
    its suffix, or ``vocab.txt`` in the same folder; each perhaps compressed, with ``.gz`` after it.
    """
    plain = path.with_name(path.name.removesuffix(".gz"))
    candidates = [vocabulary_path(plain), plain.with_suffix(".vocab"), plain.with_name("vocab.txt")]
    files = [file for name in candidates for file in (name, name.with_name(f"{name.name}.gz"))]
    found = next((file for file in files if file.is_file()), None)
    if found is None:
        return None
    with located(found):
        lines = read_text(found).split("\n")
    return np.array(lines[:-1] if lines[-1] == "" else lines, dtype=str)


def vocabulary_path(path: Path) -> Path:
    """Where the vocabulary of a file of counts is written."""
    if path.name.startswith("docword."):
        return path.with_name("vocab." + path.name.removeprefix("docword."))
    return path.with_name(path.name + ".vocab")


def write_with_vocabulary(path: Path, lines: Iterable[str], vocabulary: np.ndarray) -> None:
    """Write a file of counts and its vocabulary: both or, if that fails, neither."""
    if path.suffix == ".gz":
        raise CorpusError("expected the name of a file without compression")
    for i, word in enumerate(vocabulary.tolist()):
        if "\n" in word or "\r" in word:
            raise CorpusError(f"vocabulary[{i}]: expected a word without line breaks, found {word!r}")
    with replace_on_success(path) as counts, replace_on_success(vocabulary_path(path)) as words:
        _write_lines(counts, lines)
        _write_lines(words, vocabulary.tolist())


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)

"""Plain text in files: folders, CSV and JSON lines."""

import csv
import io
import json
import re
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..corpus import CorpusError
from ..corpus.texts import composed
from .marks import with_marks
from .plain import located, read_text, text_blocks
from .sentences import as_lines, check_sentences, sentence_a_line

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer

LONGEST_CELL = 2**31 - 1
"""Characters of a cell of CSV."""


@dataclass(frozen=True)
class TextOptions:
    r"""How texts are read and split into words: defaults with which topics of English texts can be read.

    Parameters
    ----------
    stop_words : {"english"} or tuple of str, optional
        Words that are dropped.
    min_df, max_df : int or float
        Words in fewer, or more, documents are dropped; a float is a share of the documents.
    max_features : int, optional
        Only so many words are kept, the most frequent ones.
    token_pattern : str
        Regular expression of a token: two characters or more, a letter among them. In it ``\p{M}`` is a
        combining mark; not within brackets.
    column : str
        Of a CSV file or of JSON lines: the one with the text.
    encoding : str
    delimiter : str, optional
        Of a CSV file: a comma, or a tab for ``*.tsv``, unless given.
    sentences : str
        Segments of the corpus: ``"none"``; ``"lines"`` where a line is a sentence; the code of a language,
        such as ``"en"``, to have sentences found by the library sentencex; or ``"statements"`` of Python
        programs, for a folder of ``*.py``. Lists of sentences in JSON lines are always kept.

    Raises
    ------
    CorpusError
        An option is none of what it can be; names it.
    """

    stop_words: str | tuple[str, ...] | None = "english"
    min_df: int | float = 2
    max_df: int | float = 1.0
    max_features: int | None = None
    token_pattern: str = r"(?u)\b(?=[\d_]*[^\W\d_])\w(?:\w+|(?=\p{M}))(?:\p{M}\w*)*+"
    column: str = "text"
    encoding: str = "utf-8"
    delimiter: str | None = None
    sentences: str = "none"

    def __post_init__(self):
        check_sentences(self.sentences)
        _check_limit("min_df", self.min_df)
        _check_limit("max_df", self.max_df)
        if self.max_features is not None and self.max_features < 1:
            raise CorpusError(f"max_features: expected 1 or more, found {self.max_features}")
        _check_pattern(self.token_pattern)

    def vectorizer(self) -> "CountVectorizer":
        """Return what splits the texts and chooses the vocabulary."""
        from sklearn.feature_extraction.text import CountVectorizer  # slow to import

        names = ("min_df", "max_df", "max_features")
        options: dict[str, Any] = {name: getattr(self, name) for name in names}
        stop_words: Any = self.stop_words
        if isinstance(stop_words, tuple):
            stop_words = [composed(word).lower() for word in stop_words]  # as the texts are
        return CountVectorizer(stop_words=stop_words, token_pattern=with_marks(self.token_pattern), **options)

    def of_new_documents(self) -> "TextOptions":
        """Return the options with which documents are read whose words are looked up in a vocabulary."""
        return replace(self, min_df=1, max_df=1.0, max_features=None)


def _check_limit(name: str, value: float) -> None:
    is_share = isinstance(value, float) and 0 <= value <= 1
    if not is_share and not (isinstance(value, int | np.integer) and value >= 1):
        raise CorpusError(
            f"{name}: expected a number of documents, 1 or more, or a share from 0.0 to 1.0, found {value!r}"
        )


def _check_pattern(pattern: str) -> None:
    try:
        n_groups = re.compile(with_marks(pattern)).groups
    except re.error as error:
        raise CorpusError(
            f"token_pattern: expected a regular expression, found {pattern!r}: {error}"
        ) from None
    if n_groups > 1:
        raise CorpusError(f"token_pattern: expected at most one group to capture, found {n_groups}")


type Texts = tuple[list[str], dict[str, Any]]
"""Texts, one a document, and other arguments of `Corpus.from_texts`."""


class Document(NamedTuple):
    """Text of a document.

    Attributes
    ----------
    text : str
    name : str
        For messages.
    in_sentences : bool
        Whether each line is a sentence.
    """

    text: str
    name: str
    in_sentences: bool = False


type Documents = Generator[Document, None, dict[str, Any]]
"""Documents one by one; returns what else the file says of them, as arguments of `Corpus`."""


class Reading:
    """Documents of a file or folder, one by one, their texts `composed`; can be gone through once.

    Where sentences are asked for, or given, each is a line of its text.

    Parameters
    ----------
    documents : Documents
    options : TextOptions

    Attributes
    ----------
    fields : dict
        What else the file says, as arguments of `Corpus`; there is something in it after the last document.
    """

    def __init__(self, documents: Documents, options: TextOptions):
        self._documents, self._options = documents, options
        self.fields: dict[str, Any] = {}

    def __iter__(self) -> Iterator[Document]:
        for read in self._read():
            document = read._replace(text=composed(read.text))
            if self._options.sentences == "none" or document.in_sentences:
                yield document
                continue
            with located(Path(document.name)):
                text = sentence_a_line(document.text, self._options.sentences)
            yield Document(text, document.name, in_sentences=True)

    def _read(self) -> Iterator[Document]:
        self.fields = yield from self._documents


def read_folder(path: Path, options: TextOptions) -> Documents:
    """Read a folder of ``*.txt``, perhaps compressed, each a document, in the order of their names.

    Where the files lie in sub-folders, the first sub-folder is the document's group. The covariate ``file``
    holds each document's path within the folder. Where sentences are statements, files are ``*.py``, and
    sub-folders are no groups. What is hidden, by a name that begins with a dot, is passed over.
    """
    is_source = options.sentences == "statements"
    suffix = ".py" if is_source else ".txt"
    inner = sorted(file.relative_to(path) for file in _files_in(path, suffix))
    if not inner:
        raise CorpusError(f"expected files *{suffix}, found none")
    for name in {name.with_name(f"{name.name}.gz") for name in inner}.intersection(inner):
        raise CorpusError(f"expected {name.with_suffix('')} or {name}, found both")
    depths = {len(name.parts) > 1 for name in inner}
    if len(depths) > 1 and not is_source:
        raise CorpusError("expected all *.txt in sub-folders, one a group, or none; found both")
    for name in inner:
        yield Document(_read_entry(path / name, name, options.encoding), name.as_posix())
    fields: dict[str, Any] = {"covariates": {"file": [name.as_posix() for name in inner]}}
    if depths == {True} and not is_source:
        fields |= _groups([name.parts[0] for name in inner])
    return fields


def _files_in(path: Path, suffix: str) -> Iterator[Path]:
    """Files with a suffix in a folder and those within, or that links lead to; each folder once.

    Raises
    ------
    CorpusError
        A folder cannot be listed: its documents would be missing.
    """

    def refuse(error: OSError) -> None:
        raise CorpusError(f"{Path(error.filename).relative_to(path)}: {error.strerror}")

    seen, starts = set(), [path]
    for start in starts:
        for folder, inner, names in start.walk(on_error=refuse):
            inner[:] = [name for name in inner if not name.startswith(".")]
            if (real := folder.resolve()) in seen:  # by another link, which may lead in a circle
                inner.clear()
                continue
            seen.add(real)
            for file in (folder / name for name in names if not name.startswith(".")):
                if file.is_dir():  # walk takes a link for a file; what is no link comes first
                    starts.append(file)
                elif _has_suffix(file, suffix) and (file.is_file() or file.is_symlink()):
                    yield file


def _has_suffix(file: Path, suffix: str) -> bool:
    return Path(file.name.removesuffix(".gz")).suffix.lower() == suffix


def read_csv(path: Path, options: TextOptions) -> Documents:
    """Read a CSV file with a header: a column of text, perhaps ``group``; all others are covariates."""
    is_tabbed = path.name.lower().removesuffix(".gz").endswith(".tsv")
    delimiter = options.delimiter or ("\t" if is_tabbed else ",")
    if len(delimiter) != 1:
        raise CorpusError(f"delimiter: expected one character, found {delimiter!r}")
    rows = _rows_of_csv(path, options.encoding, delimiter)
    header = next(rows)
    if options.column not in header:
        raise _no_column("line 1", options.column, header)
    place = header.index(options.column)
    others: list[list[str]] = []
    for row in rows:
        yield Document(row.pop(place), f"document {len(others) + 1}")
        others.append(row)
    names = [name for name in header if name != options.column]
    return _fields_of({name: [row[j] for row in others] for j, name in enumerate(names)})


def read_json_lines(path: Path, options: TextOptions) -> Documents:
    """Read JSON lines: an object a document, with its text, perhaps ``group``.

    Other keys with text, numbers or truth values are covariates; where a line has null or NaN, or not the
    key, there is an empty cell. Those that hold a list or an object in any line are left out. The text may be
    a list of sentences, in all lines or in none.
    """
    rows: list[dict[str, Any]] = []
    column, are_lists, have_text = options.column, None, True
    for first, block in text_blocks(path, options.encoding):
        for number, line in enumerate(block.split("\n"), first):
            if not line.strip():
                continue
            row, is_list = _row_of_json(line, number, column)
            if is_list is not (is_list if are_lists is None else are_lists):
                raise CorpusError(f"{column}: expected a list of sentences in all lines, or text in all")
            are_lists = is_list
            have_text = have_text and column in row
            yield Document(row.pop(column, ""), f"document {len(rows) + 1}", is_list)
            rows.append(row)
    keys = dict.fromkeys(key for row in rows for key in row)
    plain = [key for key in keys if not any(isinstance(row.get(key), list | dict) for row in rows)]
    if not have_text:
        raise _no_column("every line", column, plain)
    return _fields_of({key: [_cell(row.get(key)) for row in rows] for key in plain})


def _cell(value: Any) -> str:
    """Cell of CSV that holds a value of JSON."""
    is_missing = value is None or value != value  # NaN, which Python writes, though JSON does not have it
    return "" if is_missing else str(value)


def _row_of_json(line: str, number: int, column: str) -> tuple[dict[str, Any], bool]:
    """Row, with its text as one string, and whether that was a list of sentences, which are now its lines."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"line {number}: expected JSON: {error}") from None
    if not isinstance(row, dict):
        raise CorpusError(f"line {number}: expected an object of JSON, found {line[:60]!r}")
    text = row.get(column, "")
    if isinstance(text, list) and all(isinstance(sentence, str) for sentence in text):
        return row | {column: as_lines(text)}, True
    if not isinstance(text, str):
        raise CorpusError(f"line {number}: {column}: expected text, found {text!r}")
    return row, False


def _no_column(where: str, column: str, found: Iterable[str]) -> CorpusError:
    return CorpusError(f"{where}: expected a column {column!r}, found {', '.join(found) or 'nothing'}")


def _fields_of(columns: dict[str, list[str]]) -> dict[str, Any]:
    """Return groups and covariates of named columns."""
    fields: dict[str, Any] = {}
    if "group" in columns:
        names = columns.pop("group")
        for d, name in enumerate(names, start=1):
            if not name.strip():
                raise CorpusError(f"group: expected that of every document, found none of document {d}")
        fields = _groups(names)
    return fields | {"covariates": {name: typed(values) for name, values in columns.items()}}


def _read_entry(path: Path, name: Path, encoding: str) -> str:
    with located(name):
        return read_text(path, encoding)


def _groups(names: list[str]) -> dict[str, np.ndarray]:
    group_names, group = np.unique(names, return_inverse=True)
    return {"group": group, "group_names": group_names}


def _rows_of_csv(path: Path, encoding: str, delimiter: str) -> Iterator[list[str]]:
    """Rows, the header first. Raises CorpusError for the first row that is not as the header says."""
    blocks = text_blocks(path, encoding)
    lines = (line for _, block in blocks for line in io.StringIO(block, newline=""))
    reader, begins = csv.reader(lines, delimiter=delimiter, strict=True), 1
    usual_limit = csv.field_size_limit(LONGEST_CELL)  # the default would refuse long documents
    try:
        header = next(reader, [])
        begins = reader.line_num + 1
        if len(set(header)) < len(header):
            raise CorpusError("line 1: expected a different name for each column")
        yield list(header)
        for row in reader:
            begins = reader.line_num + 1
            if row and len(row) != len(header):
                raise CorpusError(f"line {reader.line_num}: expected {len(header)} fields, found {len(row)}")
            if row:
                yield row
    except csv.Error as error:
        if str(error) == "unexpected end of data":
            raise CorpusError(f"expected CSV: in the row of line {begins} a quote is not closed") from None
        raise CorpusError(f"line {reader.line_num}: expected CSV: {error}") from None
    finally:
        csv.field_size_limit(usual_limit)


WHOLE = re.compile(r"[+-]?(0|[1-9][0-9]*)")
DIGITS = re.compile(r"[+-]?[0-9]+")


def typed(cells: list[str]) -> np.ndarray:
    """Truth values, whole numbers or numbers where all cells are such, else text.

    Digits that would not come out as they were written, as 007, or more than 64 bits hold, are names. Truth
    values with gaps are text, in Python's spelling.
    """
    known = {cell.lower() for cell in cells}
    if known <= {"true", "false"}:
        return np.array([cell.lower() == "true" for cell in cells])
    if {""} < known <= {"true", "false", ""}:
        return np.array([cell.capitalize() for cell in cells])
    told = [cell.strip() for cell in cells]
    digits = [cell for cell in told if DIGITS.fullmatch(cell)]
    text = "".join(told)
    try:
        if all(map(WHOLE.fullmatch, digits)) and "_" not in text and text.isascii():
            whole = np.array(digits, dtype=np.int64)
            return whole if len(digits) == len(told) else np.array(told, dtype=np.float64)
    except (ValueError, OverflowError):
        pass
    return np.array(cells, dtype=str)

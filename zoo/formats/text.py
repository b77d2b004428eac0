"""Plain text, through scikit-learn's vectoriser."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..corpus import Corpus, CorpusError
from .plain import located, read_text

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer


def from_texts(texts: Iterable[str], vectorizer: "CountVectorizer | None" = None, **fields: Any) -> Corpus:
    """Corpus of texts, its tokens in reading order.

    Parameters
    ----------
    texts : iterable of str
        One a document; a document none of whose words are in the vocabulary is empty.
    vectorizer : CountVectorizer, optional
        Its analyser splits the texts, its options choose the vocabulary (``stop_words``, ``min_df``,
        ``max_features``, ``vocabulary``, …). A copy of it is fitted. With n-grams beyond words the order of
        the tokens is the analyser's, and the corpus is not marked `in_order`.
    **fields
        Other fields of `Corpus`.

    Raises
    ------
    CorpusError
        If no word is left in the vocabulary.
    """
    from sklearn.base import clone  # slow to import, and only text needs it
    from sklearn.feature_extraction.text import CountVectorizer

    texts = _checked_texts(texts)
    chosen: Any = CountVectorizer() if vectorizer is None else clone(vectorizer)
    try:
        chosen.fit(texts)
    except ValueError as error:
        raise CorpusError(f"vectorizer: {error}") from None
    analyse, id_of = chosen.build_analyzer(), chosen.vocabulary_
    documents = [[id_of[token] for token in analyse(text) if token in id_of] for text in texts]
    lengths = [len(document) for document in documents]
    return Corpus(
        words=np.concatenate([np.zeros(0, np.int32), *(np.array(ids, np.int32) for ids in documents)]),
        doc_ptr=np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]),
        vocabulary=np.array(chosen.get_feature_names_out(), dtype=str),
        in_order=tuple(chosen.ngram_range) == (1, 1),
        **fields,
    )


def read_folder(path: Path, vectorizer: "CountVectorizer | None") -> Corpus:
    """Read a folder of ``*.txt``, each a document, in the order of their names.

    Where the files lie in sub-folders, the first sub-folder is the document's group. The covariate ``file``
    holds each document's path within the folder.
    """
    inner = sorted(file.relative_to(path) for file in path.rglob("*.txt") if file.is_file())
    if not inner:
        raise CorpusError("expected files *.txt, found none")
    depths = {len(name.parts) > 1 for name in inner}
    if len(depths) > 1:
        raise CorpusError("expected all *.txt in sub-folders, one a group, or none; found both")
    fields: dict[str, Any] = {"covariates": {"file": [name.as_posix() for name in inner]}}
    if depths == {True}:
        fields |= _groups([name.parts[0] for name in inner])
    return from_texts([_read_entry(path / name, name) for name in inner], vectorizer, **fields)


def read_csv(path: Path, vectorizer: "CountVectorizer | None") -> Corpus:
    """Read a CSV file with a header: ``text``, perhaps ``group``; every other column is a covariate."""
    columns = _columns(read_text(path))
    if "text" not in columns:
        raise CorpusError(f"line 1: expected a column 'text', found {', '.join(columns) or 'nothing'}")
    texts = columns.pop("text")
    fields = _groups(columns.pop("group")) if "group" in columns else {}
    covariates = {name: _typed(values) for name, values in columns.items()}
    return from_texts(texts, vectorizer, covariates=covariates, **fields)


def _checked_texts(texts: Iterable[str]) -> list[str]:
    if isinstance(texts, str):
        raise CorpusError("texts: expected a sequence of documents, found one text")
    texts = list(texts)
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise CorpusError(f"texts[{i}]: expected text, found {text!r}")
    return texts


def _read_entry(path: Path, name: Path) -> str:
    with located(name):
        return read_text(path)


def _groups(names: list[str]) -> dict[str, np.ndarray]:
    group_names, group = np.unique(names, return_inverse=True)
    return {"group": group, "group_names": group_names}


def _columns(text: str) -> dict[str, list[str]]:
    """Cells of each column. Raises CorpusError for the first row that is not as the header says."""
    usual_limit = csv.field_size_limit(max(len(text), 1))  # the default would refuse long documents
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, [])
        if len(set(header)) < len(header):
            raise CorpusError("line 1: expected a different name for each column")
        rows = []
        for row in reader:
            if row and len(row) != len(header):
                raise CorpusError(f"line {reader.line_num}: expected {len(header)} fields, found {len(row)}")
            rows += [row] if row else []
    except csv.Error as error:
        raise CorpusError(f"line {reader.line_num}: expected CSV: {error}") from None
    finally:
        csv.field_size_limit(usual_limit)
    return {name: [row[j] for row in rows] for j, name in enumerate(header)}


def _typed(cells: list[str]) -> np.ndarray:
    """Truth values, whole numbers or numbers where all cells are such, else text."""
    if {cell.lower() for cell in cells} <= {"true", "false"}:
        return np.array([cell.lower() == "true" for cell in cells])
    for dtype in (np.int64, np.float64):
        try:
            return np.array(cells, dtype=dtype)
        except (ValueError, OverflowError):
            continue
    return np.array(cells, dtype=str)

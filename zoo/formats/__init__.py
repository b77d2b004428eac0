"""Corpora from files and into files.

====================  ===========================================================  =====  =====
format                files                                                        reads  writes
====================  ===========================================================  =====  =====
``npz``               ``*.npz``: this package's archive; `scipy.sparse.save_npz`   yes    yes
``ldac``              ``*.ldac``, ``*.dat`` (+ ``*.vocab`` or ``vocab.txt``)       yes    yes
``uci``               ``docword.*``, ``*.uci`` (+ ``vocab.*``, ``*.vocab``)        yes    yes
``csv``               ``*.csv`` with a column ``text``                             yes    no
``folder``            a folder of ``*.txt``                                        yes    no
====================  ===========================================================  =====  =====

Only ``npz`` holds all of a corpus. LDA-C and UCI hold words, counts and vocabulary: reading order, groups,
segments and covariates are lost. Text files may be compressed (``*.gz``) for reading.
"""

from collections.abc import Callable
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..corpus import Corpus, CorpusError
from ..corpus.counts import to_counts
from .archive import read_npz, write_npz
from .bow import from_counts, from_gensim, to_gensim
from .ldac import read_ldac, write_ldac
from .plain import located
from .text import from_texts, read_csv, read_folder
from .uci import read_uci, write_uci

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer

__all__ = [
    "from_counts",
    "from_gensim",
    "from_texts",
    "read_corpus",
    "to_counts",
    "to_gensim",
    "write_corpus",
]


class Format(NamedTuple):
    """How a kind of file is recognised by its name, read and written."""

    suffixes: tuple[str, ...]
    read: Callable[..., Corpus]
    write: Callable[[Corpus, Path], None] | None = None
    is_text: bool = False


FORMATS = {
    "npz": Format((".npz",), read_npz, write_npz),
    "ldac": Format((".ldac", ".dat"), read_ldac, write_ldac),
    "uci": Format((".uci",), read_uci, write_uci),
    "csv": Format((".csv",), read_csv, is_text=True),
    "folder": Format((), read_folder, is_text=True),
}


def read_corpus(
    path: str | PathLike[str], *, format: str | None = None, vectorizer: "CountVectorizer | None" = None
) -> Corpus:
    """Read a corpus from a file or folder.

    Parameters
    ----------
    path : path
    format : {"npz", "ldac", "uci", "csv", "folder"}, optional
        Found from the name where it is not given.
    vectorizer : sklearn.feature_extraction.text.CountVectorizer, optional
        For text: splits it into tokens and chooses the vocabulary; a copy is fitted. The default is
        ``CountVectorizer()``. For test documents, ``CountVectorizer(vocabulary=training.vocabulary)``.

    Raises
    ------
    CorpusError
        One line: the file, the place in it, and what was expected.
    """
    path = as_path(path)
    with located(path):
        if not path.exists():
            raise CorpusError("no such file or folder")
        chosen = FORMATS[_format_of(path, format)]
        if vectorizer is not None and not chosen.is_text:
            raise CorpusError("expected text to use a vectorizer on, found counts")
        corpus = chosen.read(path, vectorizer) if chosen.is_text else chosen.read(path)
        if corpus.n_documents == 0:
            raise CorpusError("expected at least one document, found none")
    return corpus


def write_corpus(corpus: Corpus, path: str | PathLike[str], *, format: str | None = None) -> None:
    """Write a corpus; `path` is replaced at once when all is written, and stays as it was if that fails.

    Parameters
    ----------
    corpus : Corpus
    path : path
        For LDA-C and UCI the vocabulary goes into a second file beside it.
    format : {"npz", "ldac", "uci"}, optional
        Found from the name where it is not given.

    Raises
    ------
    CorpusError
        If the format cannot hold this corpus, or if the file cannot be written.
    """
    path = as_path(path)
    with located(path):
        name = _format_of(path, format)
        write = FORMATS[name].write
        if write is None:
            raise CorpusError(f"cannot write {name}: a corpus does not keep its text")
        write(corpus, path)


def as_path(path: str | PathLike[str]) -> Path:
    """Path, unless it is empty: that would be taken for the current folder."""
    if not fspath(path):
        raise CorpusError("path: expected the name of a file or folder, found an empty one")
    return Path(path)


def _format_of(path: Path, format: str | None) -> str:
    if format is not None:
        if format not in FORMATS:
            raise CorpusError(f"format: expected one of {', '.join(FORMATS)}, found {format!r}")
        return format
    if path.is_dir():
        return "folder"
    if path.name.startswith("docword."):
        return "uci"
    suffix = Path(path.name.removesuffix(".gz")).suffix.lower()
    for name, candidate in FORMATS.items():
        if suffix in candidate.suffixes:
            return name
    known = ", ".join(suffix for candidate in FORMATS.values() for suffix in candidate.suffixes)
    raise CorpusError(f"expected docword.*, a folder or a name that ends in {known}; else say its format")

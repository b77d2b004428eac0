"""Corpora from files and into files.

====================  ===========================================================  =====  =====
format                files                                                        reads  writes
====================  ===========================================================  =====  =====
``npz``               ``*.npz``: this package's archive; `scipy.sparse.save_npz`   yes    yes
``ldac``              ``*.ldac``, ``*.dat`` (+ ``*.vocab`` or ``vocab.txt``)       yes    yes
``uci``               ``docword.*``, ``*.uci`` (+ ``vocab.*``, ``*.vocab``)        yes    yes
``csv``               ``*.csv`` and ``*.tsv`` with a column ``text``               yes    no
``jsonl``             ``*.jsonl``, ``*.ndjson``: objects with a ``text``           yes    no
``folder``            a folder of ``*.txt``, or of ``*.py`` for their statements   yes    no
``arrays``            a folder ``*.arrays`` of ``*.npy``, mapped into memory       yes    yes
====================  ===========================================================  =====  =====

Only ``npz`` and ``arrays`` hold all of a corpus. LDA-C and UCI hold words, counts and vocabulary: reading
order, groups, segments and covariates are lost. Text files and vocabularies may be compressed (``*.gz``) for
reading.
"""

from collections.abc import Callable
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..corpus import Corpus, CorpusError
from ..corpus.counts import to_counts
from ..corpus.texts import Dropped
from ..folders import checked_new, new_folder
from .archive import read_npz, write_npz
from .arrays import is_folder_of_arrays, read_arrays, write_arrays
from .bags import Bags, write_bags
from .bow import from_counts, from_gensim, to_gensim
from .ldac import open_ldac, read_ldac, write_ldac
from .plain import access_to, content_of, located
from .spill import write_texts
from .text import Documents, Reading, TextOptions, Texts, read_csv, read_folder, read_json_lines
from .uci import open_uci, read_uci, write_uci

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import CountVectorizer

from_texts = Corpus.from_texts

__all__ = [
    "TextOptions",
    "as_path",
    "convert_corpus",
    "from_counts",
    "from_gensim",
    "from_texts",
    "is_text",
    "left_out",
    "read_corpus",
    "read_texts",
    "to_counts",
    "to_gensim",
    "write_corpus",
]


class Format(NamedTuple):
    """How a kind of file is recognised by its name, read and written.

    Text is read as `read_text` says, and counts block by block as `open_bags` does.
    """

    suffixes: tuple[str, ...]
    read: Callable[[Path], Corpus] | None = None
    write: Callable[[Corpus, Path], None] | None = None
    read_text: Callable[[Path, TextOptions], Documents] | None = None
    open_bags: Callable[[Path], Bags] | None = None


FORMATS = {
    "npz": Format((".npz",), read_npz, write_npz),
    "ldac": Format((".ldac", ".dat"), read_ldac, write_ldac, open_bags=open_ldac),
    "uci": Format((".uci",), read_uci, write_uci, open_bags=open_uci),
    "csv": Format((".csv", ".tsv"), read_text=read_csv),
    "jsonl": Format((".jsonl", ".ndjson"), read_text=read_json_lines),
    "folder": Format((), read_text=read_folder),
    "arrays": Format((".arrays",), read_arrays, write_arrays),
}


def read_corpus(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    vectorizer: "CountVectorizer | None" = None,
    options: TextOptions | None = None,
) -> Corpus:
    """Read a corpus from a file or folder.

    Parameters
    ----------
    path : path
    format : {"npz", "ldac", "uci", "csv", "jsonl", "folder", "arrays"}, optional
        Found from the name where it is not given.
    vectorizer : sklearn.feature_extraction.text.CountVectorizer, optional
        For text: splits it into tokens and chooses the vocabulary; a copy is fitted. The default is that of
        `options`, or ``CountVectorizer()``. For test documents,
        ``CountVectorizer(vocabulary=training.vocabulary)``.
    options : TextOptions, optional
        For text: stop words and the like, the column, the encoding.

    Raises
    ------
    CorpusError
        One line: the file, the place in it, and what was expected.
    """
    path = as_path(path)
    with located(path):
        chosen = _chosen(path, format)
        if chosen.read is not None:
            if vectorizer is not None:
                raise CorpusError("expected text to use a vectorizer on, found counts")
            corpus = chosen.read(path)
        else:
            texts, fields = read_texts(path, format=format, options=options)
            if vectorizer is None and options is not None:
                vectorizer = options.vectorizer()
            corpus = Corpus.from_texts(texts, vectorizer, **fields)
        if corpus.n_documents == 0:
            raise CorpusError("expected at least one document, found none")
    return corpus


def read_texts(
    path: str | PathLike[str], *, format: str | None = None, options: TextOptions | None = None
) -> Texts:
    """Read the texts of documents, and what else a file or folder says of them.

    Returns
    -------
    list of str, dict
        A text a document, and other arguments of `Corpus.from_texts`. Where sentences are asked for, or
        given, each is a line of its text.

    Raises
    ------
    CorpusError
        The file holds no text, or is not as it should be.
    """
    reading = _reading(as_path(path), format, options or TextOptions())
    documents = list(reading)
    in_sentences = any(document.in_sentences for document in documents)
    return [document.text for document in documents], reading.fields | (
        {"sentences": True} if in_sentences else {}
    )


def _reading(path: Path, format: str | None, options: TextOptions) -> Reading:
    read_text = _chosen(path, format).read_text
    if read_text is None:
        raise CorpusError(f"{path}: expected text, found counts")
    return Reading(read_text(path, options), options)


def convert_corpus(
    source: str | PathLike[str],
    path: str | PathLike[str],
    *,
    format: str | None = None,
    options: TextOptions | None = None,
) -> Dropped | None:
    """Write a corpus to a new folder of arrays, reading text, LDA-C and UCI bit by bit.

    The arrays are those of the corpus that `read_corpus` reads. In memory are a few numbers a document, what
    is known of documents beside their words, the different words of texts, and a block of the file.

    Parameters
    ----------
    source : path
        What `read_corpus` takes.
    path : path
        The folder. Half-written it has another name, and nothing is left of it if this fails.
    format : str, optional
        Of `source`.
    options : TextOptions, optional
        For text; where there are none, all is as `read_corpus` has it without.

    Returns
    -------
    Dropped or None
        What became of the words of texts; None for counts.

    Raises
    ------
    CorpusError
        As `read_corpus` does; or there is something at `path`, or it cannot be written.
    """
    source, path = as_path(source), as_path(path)
    with located(path):
        checked_new(path)
    with located(source):
        chosen = _chosen(source, format)
    if chosen.open_bags is None and chosen.read_text is None:
        write_corpus(read_corpus(source, format=format), path, format="arrays")
        return None
    with access_to(path), new_folder(path) as folder, content_of(source):
        if chosen.open_bags is not None:
            return write_bags(partial(chosen.open_bags, source), folder)
        vectorizer = _usual_vectorizer() if options is None else options.vectorizer()
        return write_texts(_reading(source, format, options or TextOptions()), vectorizer, folder)


def _usual_vectorizer() -> "CountVectorizer":
    """Return what splits texts where nothing is said of them."""
    from sklearn.feature_extraction.text import CountVectorizer  # slow to import

    return CountVectorizer()


def is_text(path: str | PathLike[str], format: str | None = None) -> bool:
    """Whether a file or folder holds text, and no counts; CorpusError where it is of no format."""
    path = as_path(path)
    with located(path):
        return FORMATS[_format_of(path, format)].read_text is not None


def write_corpus(corpus: Corpus, path: str | PathLike[str], *, format: str | None = None) -> None:
    """Write a corpus; `path` is replaced at once when all is written, and stays as it was if that fails.

    Parameters
    ----------
    corpus : Corpus
    path : path
        For LDA-C and UCI the vocabulary goes into a second file beside it.
    format : {"npz", "ldac", "uci", "arrays"}, optional
        Found from the name where it is not given.

    Raises
    ------
    CorpusError
        If the format cannot hold this corpus, or if the file cannot be written.
    """
    path = as_path(path)
    with located(path):
        name = _format_of(path, format, to_write=True)
        write = FORMATS[name].write
        if write is None:
            raise CorpusError(f"cannot write {name}: a corpus does not keep its text")
        write(corpus, path)


def left_out(corpus: Corpus, path: str | PathLike[str]) -> list[str]:
    """Name what of a corpus `write_corpus` does not write, as the format has no place for it.

    Empty for those that hold all of it. The order of words is not named: no bag of words has one.

    Raises
    ------
    CorpusError
        The name is that of no format.
    """
    path = as_path(path)
    with located(path):
        is_of_bags = FORMATS[_format_of(path, None, to_write=True)].open_bags is not None
    if not is_of_bags:
        return []
    fields = {
        "groups": corpus.group,
        "sentences": corpus.segment_ptr,
        "associations of words": corpus.associations,
    }
    return [name for name, value in fields.items() if value is not None] + list(corpus.covariates)


def as_path(path: str | PathLike[str]) -> Path:
    """Path, unless it is empty: that would be taken for the current folder."""
    if not fspath(path):
        raise CorpusError("path: expected the name of a file or folder, found an empty one")
    return Path(path)


def _chosen(path: Path, format: str | None) -> Format:
    if not path.exists():
        raise CorpusError("no such file or folder")
    return FORMATS[_format_of(path, format)]


def _format_of(path: Path, format: str | None, *, to_write: bool = False) -> str:
    if format is not None:
        if format not in FORMATS:
            raise CorpusError(f"format: expected one of {', '.join(FORMATS)}, found {format!r}")
        return format
    if path.is_dir():
        return "arrays" if is_folder_of_arrays(path) else "folder"
    if path.name.startswith("docword."):
        return "uci"
    suffix = Path(path.name.removesuffix(".gz")).suffix.lower()
    for name, candidate in FORMATS.items():
        if suffix in candidate.suffixes:
            if path.name.endswith(".gz") and candidate.read_text is candidate.open_bags is None:
                raise CorpusError(f"expected a name that ends in {suffix}, found {path.name}")
            return name
    possible = [candidate for candidate in FORMATS.values() if candidate.write is not None or not to_write]
    known = ", ".join(suffix for candidate in possible for suffix in candidate.suffixes)
    others = "docword.*" if to_write else "docword.*, a folder"
    is_fit = "; this is the name of a fit" if suffix == ".nc" else ""
    raise CorpusError(f"expected {others} or a name that ends in {known}{is_fit}")

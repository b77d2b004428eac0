"""How files become corpora and fits, and what is said of them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .console import err, say

if TYPE_CHECKING:  # heavy to import: `bnpzoo --help` must not wait for them
    import numpy as np
    from xarray import DataTree

    from ..zoo.corpus import Corpus
    from ..zoo.corpus.texts import Dropped
    from ..zoo.formats import TextOptions

SPLIT = "is_test"
"""Covariate that tells which documents are held out, unless another is named."""


def text_options(
    *,
    stop_words: str,
    min_df: str,
    max_df: str,
    max_features: int | None,
    token_pattern: str | None,
    text_column: str,
    encoding: str,
    delimiter: str | None,
    sentences: str,
) -> "TextOptions":
    """Options of text as set on the command line."""
    from ..zoo.formats import TextOptions
    from ..zoo.formats.plain import located, read_text

    words: str | tuple[str, ...] | None = None if stop_words == "none" else stop_words
    if stop_words not in ("none", "english"):
        if not Path(stop_words).exists():
            raise ValueError(f"--stop-words {stop_words}: expected english, none or a file, found none there")
        with located(Path(stop_words)):
            words = tuple(read_text(Path(stop_words)).split())
    pattern = {} if token_pattern is None else {"token_pattern": token_pattern}
    return TextOptions(
        stop_words=words,
        min_df=_number_of_documents("--min-df", min_df),
        max_df=_number_of_documents("--max-df", max_df),
        max_features=max_features,
        column=text_column,
        encoding=encoding,
        delimiter=delimiter,
        sentences=sentences,
        **pattern,
    )


def _number_of_documents(option: str, text: str) -> int | float:
    """Read a whole number, or a share."""
    try:
        value = int(text) if text.isdigit() else float(text)
    except ValueError:
        value = -1.0
    if value < 0 or (isinstance(value, float) and not value <= 1.0):
        raise ValueError(
            f"{option}: expected a number of documents, or a share from 0.0 to 1.0, found {text!r}"
        )
    return value


def read_corpus(path: Path, groups: str | None = None, options: "TextOptions | None" = None) -> "Corpus":
    """Corpus in the file or folder `path`; says what was dropped where it is text and there are `options`.

    Parameters
    ----------
    path : Path
    groups : str, optional
        The covariate that tells groups.
    options : TextOptions, optional
        All words are kept unless they are given.
    """
    from ..zoo.corpus.texts import dropped
    from ..zoo.formats import as_path, is_text, read_corpus, read_texts
    from ..zoo.formats.plain import located

    if options is None or not as_path(path).exists() or not is_text(path):
        _check_no_options(path, options)
        corpus = read_corpus(path)
    else:
        with located(path):
            texts, fields = read_texts(path, options=options)
            corpus = _from_texts(texts, options, fields)
        _say_dropped(path, dropped(texts, options.vectorizer(), corpus.vocabulary))
        _say_gaps(path, corpus)
        if corpus.segment_ptr is not None:
            say(f"{path}: {corpus.n_segments:,} sentences", console=err)
    return corpus if groups is None else corpus.grouped(groups)


NO_WORD_LEFT = ("max_df corresponds to < documents", "no terms remain", "empty vocabulary")
"""What scikit-learn says where limits leave no word."""


def _from_texts(texts: "Sequence[str]", options: "TextOptions", fields: "Mapping[str, Any]") -> "Corpus":
    """Make a corpus, or say why no word is left, in terms of the options."""
    from ..zoo.corpus import Corpus, CorpusError

    if not len(texts):
        raise CorpusError("expected at least one document, found none")
    try:
        return Corpus.from_texts(texts, options.vectorizer(), **fields)
    except CorpusError as error:
        if not any(words in str(error) for words in NO_WORD_LEFT):
            raise
        raise CorpusError(
            f"expected words that --min-df {options.min_df} and --max-df {options.max_df} leave of "
            f"{len(texts):,} documents, besides stop words (--stop-words); found none"
        ) from None


def to_arrays(path: Path, folder: Path, options: "TextOptions") -> "Corpus":
    """Convert the corpus in `path` to a folder of arrays, and say what was dropped; return it from there."""
    from ..zoo.formats import as_path, convert_corpus, is_text, read_corpus

    if as_path(path).exists() and not is_text(path):
        _check_no_options(path, options)
    missing = convert_corpus(path, folder, options=options)
    if missing is not None:
        _say_dropped(path, missing)
    corpus = read_corpus(folder)
    _say_gaps(path, corpus)
    if corpus.segment_ptr is not None and missing is not None:
        say(f"{path}: {corpus.n_segments:,} sentences", console=err)
    return corpus


def is_approximation(fit: "DataTree") -> bool:
    """Whether a fit is by variational inference, whose chains are its starts."""
    return "bound" in fit["sample_stats"]


def fit_to_show(path: Path) -> "DataTree":
    """Load a fit whose numbers are shown; say on standard error where it is no draw from the posterior."""
    from ..zoo.inference import load

    fit = load(path)
    if is_approximation(fit):
        starts = fit["posterior"].sizes["chain"]
        over = " of where it ended" if starts == 1 else f" of where its {starts} starts ended, together"
        say(f"{path}: variational inference, an approximation; intervals are{over}", "yellow", err)
    return fit


def say_left_out(corpus: "Corpus", path: Path) -> None:
    """Say what of a corpus is not in the file that it was written to, as the format has no place for it."""
    from ..zoo.formats import left_out

    if lost := left_out(corpus, path):
        say(f"{path} has no place for {', '.join(lost)}: left out; .npz and .arrays hold all.", "yellow", err)


def _check_no_options(path: Path, options: "TextOptions | None") -> None:
    from ..zoo.formats import TextOptions

    if options not in (None, TextOptions()) and path.exists():
        raise ValueError(f"{path}: holds counts; --min-df and the like are for text")


def _say_dropped(path: Path, missing: "Dropped") -> None:
    say(f"{path}: {missing} (--stop-words, --min-df, --max-df, --max-features)", console=err)


GAPS = ("", "nan", "na", "n/a", "none", "null")
"""How a number that is missing is spelled."""


def _say_gaps(path: Path, corpus: "Corpus") -> None:
    """Say of which columns only gaps make text, and so labels of many values: a number would be refused."""
    import numpy as np

    from ..zoo.formats.text import typed

    for name, values in corpus.covariates.items():
        if isinstance(values, np.ndarray) and values.dtype.kind == "U":
            filled = [value for value in values.tolist() if value.strip().lower() not in GAPS]
            if filled and len(filled) < len(values) and typed(filled).dtype.kind in "if":
                gaps = f"{len(values) - len(filled):,} of {len(values):,} documents have no number"
                say(f"{path}: {name}: kept as text, as {gaps}; labels take it for categories", "yellow", err)


def read_new_documents(
    tree: "DataTree",
    path: Path,
    groups: str | None = None,
    *,
    text_column: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
) -> "Corpus":
    """Corpus of documents that a fit has not seen, with all their words.

    Text is split as the fit's was, and read as the fit's was but for what is given.
    """
    from dataclasses import replace

    from ..zoo.formats import is_text, read_corpus

    told = {"column": text_column, "encoding": encoding, "delimiter": delimiter}
    given = {name: value for name, value in told.items() if value is not None}
    if path.exists() and is_text(path):
        options = replace(_options_of_fit(tree, path), **given)
        corpus = read_corpus(path, options=options.of_new_documents())
    elif path.exists() and given:
        raise ValueError(
            f"{path}: expected text, for --text-column, --encoding and --delimiter; found counts"
        )
    else:
        corpus = read_corpus(path)
    return corpus if groups is None else corpus.grouped(groups)


def _options_of_fit(tree: "DataTree", path: Path) -> "TextOptions":
    """How the texts of a fit were read; where it is of counts, how texts are by default, and say so."""
    from ..zoo.formats import TextOptions

    if "text_options" not in tree.attrs:
        unknown = "the fit is of counts, and does not say how its texts were split; this is split by default"
        say(f"{path}: {unknown}", "yellow", err)
        return TextOptions(stop_words=None)
    try:
        stored = json.loads(tree.attrs["text_options"])
        stop_words = stored.pop("stop_words")
        words = tuple(stop_words) if isinstance(stop_words, list) else stop_words
        return TextOptions(stop_words=words, **stored)
    except (ValueError, TypeError, LookupError, AttributeError):
        raise ValueError("attribute text_options: expected how text was read, found something else") from None


def known_part(new: "Corpus", training: "Corpus", path: Path, coverage: float) -> "tuple[Corpus, str]":
    """Part of new documents that a fit knows, and how much that is, in words.

    Raises
    ------
    ValueError
        It is a smaller share of the tokens than `coverage`.
    """
    known = new.in_terms_of(training.vocabulary).with_groups_of(training)
    share = known.n_tokens / max(new.n_tokens, 1)
    said = f"the fit knows {known.n_tokens:,} of {new.n_tokens:,} tokens ({share:.1%})"
    if not share >= coverage:
        raise ValueError(f"{path}: {said}; expected {coverage:.0%}, or --coverage with less")
    return known, said


def read_fits(paths: Sequence[Path]) -> "dict[str, DataTree]":
    """Fits in the files `paths`, by their names: without folder and suffix where that tells them apart."""
    from ..zoo.inference import load

    names = [path.stem for path in paths]
    if len(set(names)) < len(names):
        names = [f"{path} #{i}" if path in paths[:i] else str(path) for i, path in enumerate(paths)]
    return {name: load(path) for name, path in zip(names, paths, strict=True)}


def is_held_out(corpus: "Corpus", split: str | None) -> "np.ndarray":
    """Whether a command is about each document, bool (D,): where `split` is 1.

    Unless that is given, where `SPLIT` is 1; about all where none is.
    """
    import numpy as np

    if split is not None:
        return corpus.flag(split)
    if SPLIT in corpus.covariates and (marked := corpus.flag(SPLIT)).any():
        return marked
    return np.ones(corpus.n_documents, bool)

"""The fields of a corpus: each function takes what a user gave and returns a checked, read-only array."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from scipy import sparse

from ..memory import in_words, require_memory

MOST_NAMES = 2**22
"""Words and groups are numbered up to this many; a larger id without names is taken for a mistake."""

type Covariate = np.ndarray | sparse.csr_array


class CorpusError(ValueError):
    """A corpus, or a file that should hold one, is not as it must be. The message is one line."""


def no_sentences(owner: str, otherwise: str = "") -> CorpusError:
    """Error of `owner`, which needs sentences; says how to get them."""
    return CorpusError(
        f"{owner}: expected sentences, found none: read text with --sentences lines where a line is one, or "
        f"with --sentences en to have those of English text found{otherwise}"
    )


def frozen(array: np.ndarray) -> np.ndarray:
    """Mark `array` read-only, and return it."""
    array.setflags(write=False)
    return array


def as_integers(name: str, values: Any, dtype: type) -> np.ndarray:
    """One-dimensional copy of whole numbers as `dtype`."""
    array = as_array(name, values)
    if array.ndim != 1:
        raise CorpusError(f"{name}: expected one dimension, found shape {array.shape}")
    if array.size == 0:
        return frozen(np.zeros(0, dtype))
    if array.dtype.kind not in "iuf":
        raise CorpusError(f"{name}: expected whole numbers, found {array.dtype}")
    if array.dtype.kind == "f":
        _refuse(name, array, ~np.isfinite(array) | (array != np.floor(array)), "a whole number")
        array = array.astype(np.float64)
    limits = np.iinfo(dtype)
    above = array >= limits.max + 1.0 if array.dtype.kind == "f" else array > limits.max
    _refuse(name, array, (array < limits.min) | above, f"a number that fits {limits.dtype}")
    return frozen(array.astype(dtype))


def as_text(name: str, values: Any) -> np.ndarray:
    """One-dimensional array of str."""
    try:
        items = np.asarray(values, dtype=object)
    except SystemError:  # Python's answer to a code point beyond Unicode, such as a damaged file may hold
        raise CorpusError(f"{name}: expected text, found what is not Unicode") from None
    if items.ndim != 1:
        raise CorpusError(f"{name}: expected one dimension, found shape {items.shape}")
    for i, item in enumerate(items):
        if not (isinstance(item, str) and _is_unicode(item)):
            raise CorpusError(f"{name}[{i}]: expected text, found {item!r}")
        if "\0" in item:  # which netCDF cannot hold
            raise CorpusError(f"{name}[{i}]: expected text without null characters, found {item!r}")
    return frozen(np.array(items, dtype=str))


def _is_unicode(text: str) -> bool:
    """Whether `text` can be written; names of files that are not UTF-8 cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def as_flag(name: str, value: Any) -> bool:
    """Truth value."""
    if not isinstance(value, bool | np.bool_):
        raise CorpusError(f"{name}: expected True or False, found {value!r}")
    return bool(value)


def as_pointers(name: str, values: Any, n_tokens: int) -> np.ndarray:
    """Non-decreasing positions from 0 to `n_tokens`."""
    pointers = as_integers(name, values, np.int64)
    if pointers.size == 0 or pointers[0] != 0 or pointers[-1] != n_tokens:
        found = "nothing" if pointers.size == 0 else f"{pointers[0]} to {pointers[-1]}"
        raise CorpusError(
            f"{name}: expected to run from 0 to the number of entries ({n_tokens}), found {found}"
        )
    falls = np.flatnonzero(np.diff(pointers) < 0)
    if falls.size:
        i = int(falls[0]) + 1
        raise CorpusError(f"{name}[{i}]: expected no less than the entry before, found {pointers[i]}")
    return pointers


def as_positions(name: str, chosen: Any, size: int) -> np.ndarray:
    """Positions in ``0..size - 1`` that indices, a mask or a slice choose."""
    with suppress(IndexError, TypeError, ValueError):
        positions = np.arange(size)[chosen]
        if positions.ndim == 1:
            return positions
    raise CorpusError(f"{name}: expected a slice, a mask of {size}, or a list of indices below {size}")


def as_segments(values: Any, doc_ptr: np.ndarray) -> np.ndarray:
    """Sentence boundaries: every document boundary is one, and no sentence is empty."""
    segment_ptr = as_pointers("segment_ptr", values, int(doc_ptr[-1]))
    empty = np.flatnonzero(np.diff(segment_ptr) == 0)
    if empty.size:
        raise CorpusError(
            f"segment_ptr[{empty[0] + 1}]: expected no empty segment, found {segment_ptr[empty[0]]} again"
        )
    missing = np.flatnonzero(~np.isin(doc_ptr, segment_ptr))
    if missing.size:
        raise CorpusError(
            f"segment_ptr: expected every document boundary, doc_ptr[{missing[0]}] is not among them"
        )
    return segment_ptr


def as_vocabulary(vocabulary: Any, n_words: int | None, words: np.ndarray) -> np.ndarray:
    """Names of the words: those given, or w0, w1, … for `n_words`, or for as many as `words` shows."""
    if vocabulary is not None:
        names = as_text("vocabulary", vocabulary)
        if n_words is not None and n_words != names.size:
            raise CorpusError(f"n_words: expected the vocabulary's {names.size}, found {n_words}")
    else:
        n_words = int(words.max(initial=-1)) + 1 if n_words is None else n_words
        if not isinstance(n_words, int | np.integer):
            raise CorpusError(f"n_words: expected a whole number, found {n_words!r}")
        names = numbered("vocabulary", "w", n_words)
    if names.size == 0:
        raise CorpusError("vocabulary: expected at least one word, found none")
    return names


def as_word_ids(values: Any, vocabulary: Any, n_words: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Word ids, and the vocabulary that they are checked against."""
    words = as_integers("words", values, np.int32)
    names = as_vocabulary(vocabulary, n_words, words)
    _refuse("words", words, (words < 0) | (words >= names.size), f"an id in 0..{names.size - 1}")
    return words, names


def as_groups(group: Any, names: Any, n_documents: int) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Group of each document, and the names of the groups; (None, None) where there are none."""
    if group is None:
        if names is not None:
            raise CorpusError("group_names: expected none where there is no group")
        return None, None
    group = as_integers("group", group, np.int32)
    if group.size != n_documents:
        raise CorpusError(f"group: expected one entry a document ({n_documents}), found {group.size}")
    _refuse("group", group, group < 0, "0 or more")
    if names is None:
        names = numbered("group_names", "group ", int(group.max(initial=-1)) + 1)
    names = as_text("group_names", names)
    _refuse_repeated("group_names", names)
    _refuse("group", group, group >= names.size, f"one of {names.size} named groups")
    return group, names


def as_covariate(name: str, values: Any, n_documents: int) -> Covariate:
    """One row a document: numbers, text, or a sparse indicator matrix (which labels, which authors)."""
    name = f"covariates[{name!r}]"
    covariate: Any = _as_indicators(name, values) if sparse.issparse(values) else _as_rows(name, values)
    if covariate.shape[:1] != (n_documents,):
        raise CorpusError(
            f"{name}: expected {n_documents} rows, one a document, found shape {covariate.shape}"
        )
    return covariate


def as_covariate_names(
    given: Mapping[str, Any], covariates: Mapping[str, Covariate]
) -> dict[str, np.ndarray]:
    """Names of the values of integer covariates, and of the columns of matrices."""
    out = {}
    for key, names in given.items():
        if key not in covariates:
            raise CorpusError(f"covariate_names[{key!r}]: expected the name of a covariate")
        out[key] = as_text(f"covariate_names[{key!r}]", names)
        _check_covariate_names(key, covariates[key], out[key].size)
    for key, covariate in covariates.items():
        if not isinstance(covariate, np.ndarray) and key not in out:
            out[key] = numbered(f"covariate_names[{key!r}]", f"{key} ", covariate.shape[1])  # type: ignore[index]
    return out


def _check_covariate_names(key: str, covariate: Any, n_names: int) -> None:
    if covariate.ndim == 2:
        if covariate.shape[1] != n_names:
            raise CorpusError(
                f"covariate_names[{key!r}]: expected {covariate.shape[1]}, one a column, found {n_names}"
            )
        return
    if covariate.ndim != 1 or covariate.dtype.kind not in "iub":
        raise CorpusError(f"covariate_names[{key!r}]: expected a covariate of integers or of columns")
    outside = (covariate < 0) | (covariate >= n_names)
    _refuse(f"covariates[{key!r}]", covariate, outside, f"one of {n_names} named values")


def _as_indicators(name: str, values: Any) -> sparse.csr_array:
    cells = sound_coo(name, values, "biuf")
    matrix = sparse.csr_array((cells.data.astype(np.float64), (cells.row, cells.col)), shape=cells.shape)
    matrix.eliminate_zeros()
    if not np.all(matrix.data == 1):
        raise CorpusError(f"{name}: expected a sparse matrix of zeros and ones, each given once")
    return sparse.csr_array(matrix, dtype=bool)


def indicators_of(
    name: str, pointers: np.ndarray, ids: np.ndarray, names: np.ndarray | None
) -> sparse.csr_array:
    """Make the indicator matrix (D, A) of ragged ids; one that a document lists twice counts once."""
    ids = as_integers(f"{name}_ids", ids, np.int32)
    pointers = as_pointers(f"{name}_ptr", pointers, ids.size)
    size = int(ids.max(initial=-1)) + 1 if names is None else names.size
    outside = np.flatnonzero((ids < 0) | (ids >= size))
    if outside.size:
        raise CorpusError(
            f"{name}_ids[{outside[0]}]: expected an id in 0..{size - 1}, found {ids[outside[0]]}"
        )
    shape = (pointers.size - 1, size)
    matrix = sparse.csr_array((np.ones(ids.size, bool), ids, pointers), shape=shape, copy=True)
    matrix.sum_duplicates()
    return matrix


def _as_rows(name: str, values: Any) -> np.ndarray:
    array = as_array(name, values)
    if array.dtype.kind in "OTU":
        return as_text(name, array)
    if array.dtype.kind not in "biuf":
        raise CorpusError(f"{name}: expected numbers or text, found {array.dtype}")
    if array.dtype.kind == "f":
        _refuse(name, array, ~np.isfinite(array), "a finite number")
    return frozen(array.copy())


POSITIONS = ("indptr", "indices", "row", "col", "offsets")
"""Arrays of scipy's sparse matrices that say where the entries stand."""


def sound_coo(name: str, matrix: Any, kinds: str = "iuf") -> Any:
    """Cells of a dense or sparse matrix as coo_array; the pointers inside a sparse one are checked first.

    Truth values are refused unless `kinds` has "b": as counts or strengths they are more likely a mistake.
    """
    if matrix.ndim != 2:
        raise CorpusError(f"{name}: expected two dimensions, found shape {matrix.shape}")
    if matrix.dtype.kind not in kinds:
        raise CorpusError(f"{name}: expected numbers, found {matrix.dtype}")
    if matrix.dtype == np.float16:  # which scipy's sparse matrices do not hold
        matrix = matrix.astype(np.float32)
    for part in POSITIONS if sparse.issparse(matrix) else ():
        check_positions(f"{name}: {part}", np.asarray(getattr(matrix, part, 0)))
    try:
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)
        return sparse.coo_array(matrix)
    except (ValueError, TypeError) as error:
        raise CorpusError(f"{name}: expected a sound sparse matrix: {error}") from None


def numbered(name: str, prefix: str, size: int) -> np.ndarray:
    """Names ``prefix0, prefix1, …`` for what is not named, unless that is too many."""
    digits = len(str(max(size - 1, 0)))
    n_bytes = 4 * (len(prefix) + digits) * size
    if size > MOST_NAMES:
        raise CorpusError(
            f"{name}: expected one for as many as {size:,}, found none; to number them would take "
            f"{in_words(n_bytes)} of memory"
        )
    require_memory(2 * n_bytes, f"{name}: {size:,} of them")
    return frozen(np.strings.add(prefix, np.arange(size).astype(f"U{digits}")))


def _refuse_repeated(name: str, values: np.ndarray) -> None:
    """Raise for the first entry that stands in `values` before."""
    first = np.unique(values, return_index=True)[1]
    if first.size < values.size:
        i = int(np.setdiff1d(np.arange(values.size), first)[0])
        raise CorpusError(f"{name}[{i}]: expected a name of its own, found {values[i].item()!r} again")


def check_positions(name: str, positions: np.ndarray) -> None:
    """Raise unless positions in a sparse matrix are whole numbers by their type: scipy cuts others off."""
    if positions.dtype.kind not in "iu":
        raise CorpusError(f"{name}: expected whole numbers, found {positions.dtype}")


def as_array(name: str, values: Any) -> np.ndarray:
    """Array of any kind, but not of ragged rows."""
    try:
        return np.asarray(values)
    except ValueError:
        raise CorpusError(f"{name}: expected an array, found rows of different lengths") from None


def _refuse(name: str, array: np.ndarray, bad: np.ndarray, expected: str) -> None:
    """Raise for the first entry where `bad` holds."""
    if bad.any():
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        where = ", ".join(map(str, at))
        raise CorpusError(f"{name}[{where}]: expected {expected}, found {array[at].item()!r}")

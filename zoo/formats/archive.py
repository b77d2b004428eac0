"""``.npz`` archives without pickles: all of a corpus, or a scipy sparse matrix of counts.

The archive holds ``words``, ``doc_ptr`` and ``vocab``; where there are any ``group``, ``group_names``,
``segment_ptr``; ``in_order``. The names of the covariates are ``covariates``, in their order; covariate i is
``covariate_<i>``, and the names of its values are ``covariate_<i>_names``. A sparse covariate, such as the
authors of each document, is held as ``covariate_<i>_ptr`` (D + 1,) and ``covariate_<i>_ids``. Archives
without ``covariates``, such as `numpy.savez` makes by hand, have each covariate under its own name instead.
Associations are held as ``associations_row_ptr``, ``associations_column`` and ``associations_weight``.
"""

import tokenize
import zipfile
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ..corpus import Corpus, CorpusError
from ..corpus.associations import Associations
from ..corpus.fields import Covariate, as_integers, as_text, check_positions, indicators_of
from ..files import replace_on_success
from .bow import from_counts
from .plain import located, read_vocabulary

REQUIRED = ("words", "doc_ptr", "vocab")
OPTIONAL = ("group", "group_names", "segment_ptr", "in_order")
ASSOCIATIONS = ("row_ptr", "column", "weight")
SPARSE_FORMATS = {
    "csr": ("indices", "indptr"),
    "csc": ("indices", "indptr"),
    "bsr": ("indices", "indptr"),
    "coo": ("row", "col"),
    "dia": ("offsets",),
}
"""Arrays of positions in each format of `scipy.sparse.save_npz`."""

DAMAGE = (
    ArithmeticError, EOFError, LookupError, MemoryError, NotImplementedError, RuntimeError, SyntaxError,
    TypeError, ValueError, tokenize.TokenError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""What zipfile and `numpy.lib.format` raise on bytes that they cannot make sense of."""


def read_npz(path: Path) -> Corpus:
    """Read an archive of this package, or one of `scipy.sparse.save_npz`."""
    arrays = _read_arrays(path)
    if "words" not in arrays and {"format", "shape", "data"} <= arrays.keys():
        return from_counts(_sparse_matrix(arrays), read_vocabulary(path))
    for name in REQUIRED:
        if name not in arrays:
            raise CorpusError(f"expected arrays {', '.join(REQUIRED)}; {name} is missing")
    return Corpus(**fields_of(arrays))


def write_npz(corpus: Corpus, path: Path) -> None:
    """Write all of a corpus; the same corpus makes the same bytes."""
    arrays = arrays_of(corpus)
    with replace_on_success(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy")
            entry.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(entry, "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)


def _read_arrays(path: Path) -> dict[str, np.ndarray]:
    if not zipfile.is_zipfile(path):
        raise CorpusError("expected a whole .npz archive, found a file that is none or is cut off")
    arrays = {}
    name = "its directory"
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                with archive.open(name) as file:
                    arrays[name.removesuffix(".npy")] = np.lib.format.read_array(file, allow_pickle=False)
    except DAMAGE as error:
        raise CorpusError(f"{name}: expected an array of numbers or text: {reason(error)}") from None
    return arrays


def reason(error: Exception) -> str:
    """Say in one line why an array cannot be read."""
    said = str(error).split("\n")[0] or type(error).__name__
    return "it holds a pickle, which may run code when it is read" if "allow_pickle" in said else said


def read_sparse(path: Path) -> Any:
    """Read a matrix that `scipy.sparse.save_npz` wrote."""
    with located(path):
        return _sparse_matrix(_read_arrays(path))


def _sparse_matrix(arrays: dict[str, np.ndarray]) -> Any:
    """Matrix in the arrays of `scipy.sparse.save_npz`, whose own reader takes what it finds for positions."""
    try:
        kind = str(np.char.decode(arrays["format"].astype("S")).item())
        if kind not in SPARSE_FORMATS:
            raise CorpusError(f"format: expected one of {', '.join(SPARSE_FORMATS)}, found {kind!r}")
        names = SPARSE_FORMATS[kind]
        for name in names:
            if name not in arrays:
                raise CorpusError(f"expected arrays {', '.join(names)}; {name} is missing")
            check_positions(name, arrays[name])
        shape = tuple(as_integers("shape", arrays["shape"], np.int64).tolist())
        data, positions = arrays["data"], tuple(arrays[name] for name in names)
        if kind == "coo":
            return sparse.coo_array((data, positions), shape=shape)
        matrix: Any = getattr(sparse, f"{kind}_array")
        return matrix((data, *positions), shape=shape)
    except CorpusError as error:
        raise CorpusError(f"expected a sparse matrix of scipy.sparse.save_npz: {error}") from None
    except DAMAGE as error:
        raise CorpusError(f"expected a sparse matrix of scipy.sparse.save_npz: {reason(error)}") from None


def fields_of(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Fields of the corpus that an archive holds."""
    fields: dict[str, Any] = {
        "words": arrays["words"],
        "doc_ptr": arrays["doc_ptr"],
        "vocabulary": arrays["vocab"],
    }
    fields |= {name: arrays[name][()] for name in OPTIONAL if name in arrays}
    others = {name: array for name, array in arrays.items() if name not in REQUIRED + OPTIONAL}
    if "associations_weight" in others:
        fields["associations"] = _associations(others, arrays["vocab"].size)
    return fields | _covariates(others)


def _covariates(others: dict[str, np.ndarray]) -> dict[str, Any]:
    """Covariates and their names, as fields of the corpus, of the arrays that belong to nothing else."""
    covariates: dict[str, Covariate] = {}
    names: dict[str, np.ndarray] = {}
    for name, stem in _stems(others).items():
        if f"{stem}_names" in others:
            names[name] = others[f"{stem}_names"]
        if stem in others:
            covariates[name] = others[stem]
        elif f"{stem}_ptr" in others and f"{stem}_ids" in others:
            pointers, ids = others[f"{stem}_ptr"], others[f"{stem}_ids"]
            covariates[name] = indicators_of(name, pointers, ids, names.get(name))
        else:
            raise CorpusError(f"covariates[{name!r}]: expected array {stem}; it is missing")
    return {"covariates": covariates, "covariate_names": names}


def _stems(others: dict[str, np.ndarray]) -> dict[str, str]:
    """Name of each covariate, and how the names of its arrays begin."""
    if "covariates" in others and not {"covariate_0", "covariate_0_ptr"}.isdisjoint(others):
        names = as_text("covariates", others["covariates"]).tolist()
        if len(set(names)) < len(names):
            raise CorpusError(f"covariates: expected different names, found {', '.join(names)}")
        return {name: f"covariate_{i}" for i, name in enumerate(names)}
    ragged = [name.removesuffix("_ptr") for name in others if name.endswith("_ptr")]
    ragged = [name for name in ragged if f"{name}_ids" in others]
    parts = {f"{name}_{part}" for name in ragged for part in ("ptr", "ids")}
    stems = dict.fromkeys([*ragged, *(name for name in others if name not in parts)])
    return {name: name for name in stems if not _are_names(name, stems)}


def _are_names(name: str, stems: Collection[str]) -> bool:
    """Whether an array holds the names of the values of another one."""
    return name.endswith("_names") and name.removesuffix("_names") in stems


def _associations(others: dict[str, np.ndarray], n_words: int) -> Associations:
    """Take the associations out of the arrays of an archive."""
    for name in ASSOCIATIONS:
        if f"associations_{name}" not in others:
            raise CorpusError(f"associations: expected array associations_{name}; it is missing")
    return Associations(
        **{name: others.pop(f"associations_{name}") for name in ASSOCIATIONS}, n_words=n_words
    )


def arrays_of(corpus: Corpus) -> dict[str, np.ndarray]:
    """Arrays that hold a corpus, by the names that they have in files."""
    arrays: dict[str, np.ndarray] = {
        "words": corpus.words,
        "doc_ptr": corpus.doc_ptr,
        "vocab": corpus.vocabulary,
    }
    arrays |= {
        name: np.asarray(getattr(corpus, name)) for name in OPTIONAL if getattr(corpus, name) is not None
    }
    if corpus.associations is not None:
        arrays |= {f"associations_{name}": getattr(corpus.associations, name) for name in ASSOCIATIONS}
    if corpus.covariates:
        arrays["covariates"] = np.array([*corpus.covariates], dtype=str)
    for i, (name, values) in enumerate(corpus.covariates.items()):
        stem = f"covariate_{i}"
        if isinstance(values, np.ndarray):
            arrays[stem] = values
        else:
            arrays[f"{stem}_ptr"] = values.indptr.astype(np.int64)
            arrays[f"{stem}_ids"] = values.indices.astype(np.int32)
        if name in corpus.covariate_names:
            arrays[f"{stem}_names"] = corpus.covariate_names[name]
    return arrays

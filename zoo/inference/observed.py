"""A corpus as the groups ``observed_data`` and ``constant_data`` of a tree, and back, with nothing lost.

Covariates are numbered, since netCDF does not allow all names. ``covariates`` lists their names. The values
of the first are in ``covariate_0`` or, where it is sparse, in ``covariate_0_ptr`` (D + 1,) and
``covariate_0_ids``; the names of its values or columns are in ``covariate_0_names``.
"""

from typing import Any

import numpy as np
import xarray as xr

from ..corpus import Corpus
from ..corpus.associations import Associations
from ..corpus.fields import Covariate, indicators_of

ASSOCIATIONS = ("row_ptr", "column", "weight")


def constants_of(corpus: Corpus) -> dict[str, Any]:
    """Variables of ``constant_data``: all of a corpus but its words."""
    constant: dict[str, Any] = {
        "doc_ptr": ("boundary", corpus.doc_ptr),
        "group": ("document", corpus.group_of_doc),
        "vocabulary": ("word", corpus.vocabulary),
        "in_order": ((), corpus.in_order),
    }
    if corpus.group_names is not None:
        constant["group_names"] = ("group_name", corpus.group_names)
    if corpus.segment_ptr is not None:
        constant["segment_ptr"] = ("segment_boundary", corpus.segment_ptr)
    if corpus.associations is not None:
        for name in ASSOCIATIONS:
            dimension = "association_boundary" if name == "row_ptr" else "association"
            constant[f"associations_{name}"] = (dimension, getattr(corpus.associations, name))
    if corpus.covariates:
        constant["covariates"] = ("covariate", np.array([*corpus.covariates], dtype=str))
    for i, (name, values) in enumerate(corpus.covariates.items()):
        constant |= _covariate_variables(f"covariate_{i}", values, corpus.covariate_names.get(name))
    return constant


def _covariate_variables(stem: str, values: Covariate, names: np.ndarray | None) -> dict[str, Any]:
    if isinstance(values, np.ndarray):
        axes = [f"{stem}_axis_{axis}" for axis in range(1, values.ndim)]
        variables: dict[str, Any] = {stem: (["document", *axes], values)}
    else:
        variables = {
            f"{stem}_ptr": ("boundary", values.indptr.astype(np.int64)),
            f"{stem}_ids": (f"{stem}_cell", values.indices.astype(np.int32)),
        }
    return variables if names is None else variables | {f"{stem}_names": (f"{stem}_value", names)}


def corpus_from(words: np.ndarray, constant: xr.Dataset, has_groups: bool) -> Corpus:
    """Corpus of its words and of what `constants_of` made of the rest; old files hold less of it."""
    arrays = {str(name): _plain(variable.to_numpy()) for name, variable in constant.items()}
    names = arrays["covariates"].tolist() if "covariates" in arrays else []
    stems = {name: f"covariate_{i}" for i, name in enumerate(names)}
    return Corpus(
        words,
        arrays["doc_ptr"],
        vocabulary=arrays["vocabulary"],
        group=arrays["group"] if has_groups else None,
        group_names=arrays.get("group_names") if has_groups else None,
        segment_ptr=arrays.get("segment_ptr"),
        covariates={name: _covariate(arrays, stem) for name, stem in stems.items()},
        covariate_names={
            name: arrays[f"{stem}_names"] for name, stem in stems.items() if f"{stem}_names" in arrays
        },
        in_order=bool(arrays.get("in_order", False)),
        associations=_associations(arrays),
    )


def _plain(values: np.ndarray) -> np.ndarray:
    """Text comes from a file as objects."""
    return values.astype(str) if values.dtype.kind == "O" else values


def _covariate(arrays: dict[str, np.ndarray], stem: str) -> Covariate:
    if stem in arrays:
        return arrays[stem]
    pointers, ids, names = (arrays[f"{stem}_{part}"] for part in ("ptr", "ids", "names"))
    return indicators_of(stem, pointers, ids, names)


def _associations(arrays: dict[str, np.ndarray]) -> Associations | None:
    if "associations_weight" not in arrays:
        return None
    own = (arrays[f"associations_{name}"] for name in ASSOCIATIONS)
    return Associations(*own, n_words=arrays["vocabulary"].size)

"""What a fit must hold: groups, variables, attributes, shapes, ranges, and the corpus that it says it is of.

All that reads a fit from a file goes through `check_fit`, so that what is behind it may rely on it.
"""

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
import xarray as xr

from ..contract import Latents, Model, Probes
from ..corpus import Corpus, CorpusError
from .results import CHANGING, DIMENSIONS, ResultsError, corpus_of, latents_of, model_of

OWN = "own"
"""In the place of a back end, where somebody's own sampler has made the draws."""

BACKENDS = ("kernel", "numpyro", "stan", "vi", OWN)

QUANTITIES: Mapping[str, tuple[str, ...]] = {
    "n_topics": (),
    "log_joint": (),
    "log_likelihood": (),
    **{name: dims for name, dims in DIMENSIONS.items() if name != "z"},
}
"""Test quantities of every model, and their axes beside chain and draw."""

SIGNED = ("intercept", "coefficient")
"""Latents that can be negative, beside hyperparameters and those that are logarithms by their name."""


def _is_digest(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 64 and set(value) <= set("0123456789abcdef")


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and int(value) >= 0


def _is_flag(value: Any) -> bool:
    return _is_count(value) and value <= 1


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


ATTRIBUTES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "model": (_is_text, "the name of a model"),
    "hyperparameters": (_is_text, "JSON"),
    "backend": (lambda value: value in BACKENDS, f"one of {', '.join(BACKENDS)}"),
    "variant": (_is_text, "text"),
    "backend_version": (_is_text, "text"),
    "bnpzoo_version": (_is_text, "text"),
    "corpus_sha256": (_is_digest, "64 hexadecimal digits"),
    "seed": (_is_count, "a whole number, 0 or more"),
    "tune": (_is_count, "a whole number, 0 or more"),
    "thin": (_is_count, "a whole number, 0 or more"),
    "truncation": (lambda value: _is_text(value) or _is_count(value), "a whole number or nothing"),
    "interrupted": (_is_flag, "0 or 1"),
    "has_groups": (_is_flag, "0 or 1"),
}
"""Of the root: what each must be, as a test and in words."""


def check_fit(tree: xr.DataTree) -> None:
    """Raise `ResultsError` unless `tree` is a fit as `sample` returns it.

    Parameters
    ----------
    tree : DataTree
        In memory.

    Raises
    ------
    ResultsError
        Names the group, variable or attribute that is wrong, and what was expected.
    """
    for name, (is_sound, expected) in ATTRIBUTES.items():
        if name not in tree.attrs:
            raise ResultsError(f"expected an attribute {name}; it is missing")
        if not is_sound(tree.attrs[name]):
            raise ResultsError(f"attribute {name}: expected {expected}, found {tree.attrs[name]!r}")
    for name in ("posterior", "sample_stats", "observed_data", "constant_data"):
        if name not in tree.children:
            raise ResultsError(f"expected a group {name}; it is missing")
    _check_coordinates(tree)
    model = _checked_model(tree)
    corpus = _checked_corpus(tree)
    start = model.initial_latents(corpus, np.random.default_rng(0))
    _check_draws(tree, model, start, _checked_probes(tree, corpus))
    _check_warmup(tree)
    _check_latents(tree, model, corpus, start)


def _check_coordinates(tree: xr.DataTree) -> None:
    """Check that what numbers chains, draws and the like is 0 or more, unlike the lost parts of a folder."""
    for group, node in tree.children.items():
        for name, numbers in node.coords.items():
            if numbers.dtype.kind == "i" and np.any(numbers.values < 0):
                raise ResultsError(f"{group}: {name}: expected whole numbers, 0 or more, found others")


def _checked_model(tree: xr.DataTree) -> Model:
    try:
        model = model_of(tree)
        if tree.attrs["backend"] == "kernel":
            model.kernel(tree.attrs["variant"])
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ResultsError(f"expected a model of this package, found none: {error}") from None
    return model


def _checked_corpus(tree: xr.DataTree) -> Corpus:
    """Corpus in a fit, which must be the one that was fitted."""
    observed, constant = tree["observed_data"].dataset, tree["constant_data"].dataset
    _variable("observed_data", observed, "words", ("token",), "iu")
    _variable("constant_data", constant, "doc_ptr", ("boundary",), "iu")
    _variable("constant_data", constant, "vocabulary", ("word",), "OTU")
    if tree.attrs["has_groups"]:
        _variable("constant_data", constant, "group", ("document",), "iu")
        _variable("constant_data", constant, "group_names", ("group_name",), "OTU")
    if "in_order" in constant:  # files of old have none
        _variable("constant_data", constant, "in_order", (), "biu")
    try:
        corpus = corpus_of(tree)
    except (CorpusError, KeyError) as error:
        raise ResultsError(f"expected a corpus: {error}") from None
    if corpus.n_tokens == 0:
        raise ResultsError("observed_data: expected at least one token, found none")
    if corpus.digest() != tree.attrs["corpus_sha256"]:
        raise ResultsError("expected the corpus that was fitted; words, documents or groups are others")
    return corpus


def _checked_probes(tree: xr.DataTree, corpus: Corpus) -> Probes:
    """Probes of a fit, which other versions of this package may have chosen in another way."""
    limits = {
        "pairs": np.full((1, 2), corpus.n_tokens),
        "probed_documents": np.array([corpus.n_documents]),
        "cells": np.array([[corpus.n_documents, corpus.n_words]]),
    }
    dims = {"pairs": ("pair", "two"), "probed_documents": ("probed_document",), "cells": ("cell", "two")}
    constant, found = tree["constant_data"].dataset, []
    for name, limit in limits.items():
        _variable("constant_data", constant, name, dims[name], "i")
        values = constant[name].values
        if values.shape[1:] != limit.shape[1:] or np.any((values < 0) | (values >= limit)):
            raise ResultsError(f"constant_data: {name}: expected places in the corpus, found others")
        found.append(values)
    return Probes(*found)


def _check_draws(tree: xr.DataTree, model: Model, start: Latents, probes: Probes) -> None:
    """Check test quantities and sample statistics: their axes and sizes."""
    posterior, stats = tree["posterior"].dataset, tree["sample_stats"].dataset
    sizes = {"pair": len(probes.pairs), "probed_document": len(probes.documents), "cell": len(probes.cells)}
    for name, dims in QUANTITIES.items():
        if any(sizes[dim] == 0 for dim in dims):
            continue  # as in a corpus of one token, which has no pair
        _variable("posterior", posterior, name, ("chain", "draw", *dims), "f")
        if posterior[name].shape[2:] != tuple(sizes[dim] for dim in dims):
            raise ResultsError(f"posterior: {name}: expected one for each of the corpus' probes")
    for name in model.sampled():
        if np.size(start[name]) == 0:
            continue
        dims = model.dimensions.get(name, ())[: np.ndim(start[name])]
        if CHANGING & set(dims):
            _variable("posterior", posterior, f"mean_log_{name}", ("chain", "draw"), "f")
            continue
        _variable("posterior", posterior, name, ("chain", "draw", *dims), "f")
        if posterior[name].shape[2:] != np.shape(start[name]):
            raise ResultsError(f"posterior: {name}: expected shape {np.shape(start[name])} in a draw")
    _variable("sample_stats", stats, "seconds", ("chain", "draw"), "f")
    for group, dataset in (("posterior", posterior), ("sample_stats", stats)):
        for name, variable in dataset.data_vars.items():
            if variable.dims[:2] != ("chain", "draw") or variable.dtype.kind not in "biuf":
                raise ResultsError(f"{group}: {name}: expected numbers for each chain and draw")
            if tree.attrs["backend"] == "kernel":  # whose chains end where a number is not finite
                _check_finite(group, str(name), variable)
    if min(posterior.sizes["chain"], posterior.sizes["draw"]) < 1:
        raise ResultsError("posterior: expected at least one draw of one chain, found none")
    if any(stats.sizes[dim] != posterior.sizes[dim] for dim in ("chain", "draw")):
        raise ResultsError("sample_stats: expected as many chains and draws as in posterior")
    seconds = stats["seconds"].values
    if not np.all(np.isfinite(seconds) & (seconds >= 0)):
        raise ResultsError("sample_stats: seconds: expected numbers, 0 or more")


def _check_finite(group: str, name: str, variable: xr.DataArray) -> None:
    """Raise where a number is none, as where a folder has lost a part of its draws."""
    n = np.count_nonzero(~np.isfinite(variable.values))
    if n:
        raise ResultsError(
            f"{group}: {name}: expected finite numbers, found {n:,} that are not: a part is lost"
        )


def _check_warmup(tree: xr.DataTree) -> None:
    """Check the trace of the tuning, which kernels leave."""
    if "warmup_posterior" not in tree.children:
        return
    warmup = tree["warmup_posterior"].dataset
    if warmup.sizes.get("chain") != tree["posterior"].sizes["chain"]:
        raise ResultsError("warmup_posterior: expected as many chains as in posterior")
    for name, variable in warmup.data_vars.items():
        draws = tree["posterior"].dataset.get(str(name))
        if draws is None or variable.dims != draws.dims or variable.shape[2:] != draws.shape[2:]:
            raise ResultsError(
                f"warmup_posterior: {name}: expected a quantity as in posterior, found another"
            )
        if variable.dtype.kind != "f":
            raise ResultsError(f"warmup_posterior: {name}: expected numbers, found {variable.dtype}")
        _check_finite("warmup_posterior", str(name), variable)
    sweep = warmup.coords.get("sweep")
    if sweep is None or sweep.dims != ("draw",) or sweep.dtype.kind not in "iu":
        raise ResultsError("warmup_posterior: expected a coordinate sweep, a whole number for each draw")


def _check_latents(tree: xr.DataTree, model: Model, corpus: Corpus, start: Latents) -> None:
    """Check the kept latents, which have the names and axes of those that a chain starts with."""
    kept = tree["latents"].dataset if "latents" in tree.children else xr.Dataset()
    if not kept.data_vars:
        return
    axes = {**DIMENSIONS, **model.dimensions}
    if set(kept.data_vars) != set(start):
        found = ", ".join(map(str, kept.data_vars))
        raise ResultsError(f"latents: expected {', '.join(start)}, found {found}")
    for name, value in start.items():
        dims = axes.get(name, ())[: np.ndim(value)]
        _variable("latents", kept, name, ("chain", "kept", *dims), np.asarray(value).dtype.kind)
        for dim, size in zip(dims, np.shape(value), strict=True):
            if dim not in CHANGING and kept.sizes[dim] != size:
                raise ResultsError(
                    f"latents: {name}: expected {size} for the axis {dim}, found {kept.sizes[dim]}"
                )
        if CHANGING & set(dims):
            _check_padding(name, kept[name].values)
    if kept.sizes["chain"] > tree["posterior"].sizes["chain"]:
        raise ResultsError("latents: expected no more chains than in posterior")
    for chain, draw, latents in latents_of(tree):
        try:
            check_values(latents, model, corpus)
        except ResultsError as error:
            raise ResultsError(f"latents: chain {chain}, kept draw {draw}: {error}") from None


def _check_padding(name: str, values: np.ndarray) -> None:
    """Check that arrays over topics are padded with NaN after the last topic, and nowhere else."""
    if values.size == 0:
        return
    padding = np.isnan(values).reshape(*values.shape[:2], -1, values.shape[-1])
    if np.any(padding.any(axis=2) != padding.all(axis=2)) or np.any(padding[..., :-1] & ~padding[..., 1:]):
        raise ResultsError(f"latents: {name}: expected a number for each topic")


def check_values(latents: Latents, model: Model, corpus: Corpus) -> None:
    """Check the ranges of the latents of one draw."""
    for name, value in latents.items():
        if value.dtype.kind == "i":
            least, most = model.range_of_tokens(name, corpus)
            if name == "z":  # of as many topics as there are, which can be more than tokens
                most = np.maximum(most, model.n_topics_of(latents) - 1)
            sound = (value >= least) & (value <= most)
        elif name.startswith("log_"):
            sound = value < np.inf  # not for NaN
        elif name in SIGNED:
            sound = np.isfinite(value)
        else:
            sound = np.isfinite(value) & ((value >= 0) | (name in model.hyperparameters()))
        if np.size(value) and not np.all(sound):
            raise ResultsError(f"{name}: expected values in its range, found others")
    for name, given in model.hyperparameters().items():
        if isinstance(given, Real) and np.any(latents[name] != given):
            raise ResultsError(f"{name}: expected {given}, at which it is fixed, found others")
    sizes = {latents[name].shape[-1] for name in latents if "stick" in model.dimensions.get(name, ())}
    if len(sizes) > 1:
        raise ResultsError("expected as many topics in all arrays over topics")
    n_topics = model.n_topics_of(latents)
    for name in latents:
        if "represented" in model.dimensions.get(name, ()) and latents[name].shape[-1] != n_topics:
            raise ResultsError(f"{name}: expected one for each of {n_topics} topics")
    if latents["z"].max() >= n_topics:
        raise ResultsError(f"z: expected topics in 0..{n_topics - 1}, found {latents['z'].max()}")


def _variable(group: str, dataset: Any, name: str, dims: tuple[str, ...], kinds: str) -> None:
    """Raise unless a data set has a variable of these axes and one of these kinds of type."""
    if name not in dataset.data_vars:
        raise ResultsError(f"{group}: expected a variable {name}; it is missing")
    found = dataset[name]
    if found.dims != dims or found.dtype.kind not in kinds:
        raise ResultsError(
            f"{group}: {name}: expected axes ({', '.join(dims)}), found {found.dtype} "
            f"with axes ({', '.join(map(str, found.dims))})"
        )

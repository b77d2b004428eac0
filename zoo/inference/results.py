"""Draws as an ``xarray.DataTree`` in the conventions of ArviZ 1.x, and back."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr

from ..._version import __version__
from ..contract import Latents, Model, Prior, Probes
from ..corpus import Corpus
from ..models import get
from ..priors import PRIORS
from .observed import constants_of, corpus_from
from .record import Record, stacked

DIMENSIONS = {
    "z": ("token",),
    "same_topic": ("pair",),
    "topic_entropy": ("probed_document",),
    "predictive": ("cell",),
}
"""Of what every model has; see `Model.dimensions` for the others."""


CHANGING = {"stick", "represented"}
"""Axes over topics whose length changes from draw to draw; see `Model.dimensions`."""


class ResultsError(ValueError):
    """A file or a tree does not hold the draws that it should; the message is one line."""


def assemble(
    model: Model,
    corpus: Corpus,
    probes: Probes,
    records: list[Record],
    stats: dict[str, np.ndarray],
    attributes: dict[str, Any],
) -> xr.DataTree:
    """Tree of the draws that all chains have.

    Parameters
    ----------
    stats : dict of array (chain, draw)
        Further sample statistics.
    attributes : dict
        Of the root, as `attributes_of` takes them.
    """
    n_draws = min(len(record.seconds) for record in records)
    of_chains = [stacked(record.quantities[:n_draws]) for record in records]
    posterior = {name: np.stack([chain[name] for chain in of_chains]) for name in with_entries(of_chains[0])}
    sample_stats = {
        "seconds": np.array([record.seconds[:n_draws] for record in records]),
        "log_joint": posterior["log_joint"],
        "occupied_topics": posterior["n_topics"],
    } | {name: values[:, :n_draws] for name, values in stats.items()}
    tree = xr.DataTree.from_dict(
        {
            "posterior": _dataset(posterior, "draw", model),
            **warmup_of(records, model),
            "sample_stats": _dataset(sample_stats, "draw", model),
            "latents": _kept_dataset(records, n_draws, model),
            **groups_of(corpus, probes),
        }
    )
    tree.attrs = attributes_of(model, corpus, attributes)
    return tree


def attributes_of(model: Model, corpus: Corpus, given: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes of the root: the model, the corpus, and how one was fitted to the other.

    Parameters
    ----------
    given : mapping
        Of the run, by name; what has no use in it may be None or left out.
    """
    names = dict.fromkeys(("variant", "truncation", "start", "until", "within"))
    return {name: "" if value is None else value for name, value in (names | dict(given)).items()} | {
        "bnpzoo_version": __version__,
        "model": model.card.id,
        "hyperparameters": json.dumps(describe(model)),
        "corpus_sha256": corpus.digest(),
        "has_groups": int(corpus.group is not None),
    }


def groups_of(corpus: Corpus, probes: Probes) -> dict[str, xr.Dataset]:
    """Return ``observed_data`` and ``constant_data``: the corpus, and the places that quantities look at."""
    constant = constants_of(corpus) | {
        "pairs": (("pair", "two"), probes.pairs),
        "probed_documents": ("probed_document", probes.documents),
        "cells": (("cell", "two"), probes.cells),
    }
    return {
        "observed_data": xr.Dataset({"words": ("token", corpus.words)}),
        "constant_data": xr.Dataset(constant),
    }


def warmup_of(records: list[Record], model: Model) -> dict[str, xr.Dataset]:
    """Group ``warmup_posterior``: global quantities in the tuning; the coordinate ``sweep`` says when."""
    traced = records[0].traced
    if not traced:
        return {}
    of_chains = [stacked(record.trace) for record in records]
    arrays = {name: np.stack([chain[name] for chain in of_chains]) for name in with_entries(of_chains[0])}
    dataset = _dataset(arrays, "draw", model).assign_coords(sweep=("draw", np.array(traced)))
    return {"warmup_posterior": dataset}


def with_entries(quantities: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Those of quantities (n, …) that have any in a draw: ArviZ has no picture of none."""
    return {name: values for name, values in quantities.items() if 0 not in values.shape[1:]}


def _dataset(arrays: dict[str, np.ndarray], draw: str, model: Model) -> xr.Dataset:
    dimensions = {**DIMENSIONS, **model.dimensions}
    variables = {
        name: (["chain", draw, *dimensions.get(name, ())[: values.ndim - 2]], values)
        for name, values in arrays.items()
    }
    dataset = xr.Dataset(variables)
    numbered = dataset.sizes if draw == "draw" else ("chain", draw)  # ArviZ asks for those of all axes
    return dataset.assign_coords({axis: np.arange(dataset.sizes.get(axis, 0)) for axis in numbered})


def _kept_dataset(records: list[Record], n_draws: int, model: Model) -> xr.Dataset:
    """Kept latents; arrays over topics are padded with NaN to the largest number of topics."""
    kept = [[latents for draw, latents in record.kept if draw < n_draws] for record in records]
    n_kept = min(len(chain) for chain in kept)
    if n_kept == 0:
        return xr.Dataset()
    variables = {}
    for name in kept[0][0]:
        values = [[chain[j][name] for j in range(n_kept)] for chain in kept]
        if values[0][0].dtype.kind == "i":  # of tokens, whose number does not change
            variables[name] = np.array(values, np.int32)
            continue
        shape = tuple(np.max([value.shape for chain in values for value in chain], axis=0).astype(int))
        padded = np.full((len(kept), n_kept, *shape), np.nan)
        for c, chain in enumerate(values):
            for j, value in enumerate(chain):
                padded[(c, j, *(slice(size) for size in value.shape))] = value
        variables[name] = padded
    return _dataset(variables, "kept", model)


def describe(model: Model) -> dict[str, Any]:
    """Return the constructor arguments of a model in JSON's types; a prior is its name and parameters."""
    return {name: _in_json(value) for name, value in model.spelled().items()}


def _in_json(value: Any) -> Any:
    match value:
        case Prior():
            return [type(value).__name__, *value.parameters]
        case tuple():
            return [_in_json(part) for part in value]
    return value


def model_of(tree: xr.DataTree) -> Model:
    """Model that the draws of `tree` are from."""
    if "model" not in tree.attrs:
        raise ResultsError("expected draws of a bnpzoo model, found a tree without the attribute 'model'")
    arguments = json.loads(tree.attrs["hyperparameters"])
    return get(tree.attrs["model"], **{name: _argument(value) for name, value in arguments.items()})


def _argument(value: Any) -> Any:
    """Argument of a model as `describe` tells it."""
    match value:
        case [str(name), *parameters]:
            return PRIORS[name](*parameters)
    return value


def corpus_of(tree: xr.DataTree) -> Corpus:
    """Corpus that `tree` was fitted to."""
    words = tree["observed_data"].to_dataset()["words"].to_numpy()
    return corpus_from(words, tree["constant_data"].to_dataset(), bool(tree.attrs.get("has_groups", 0)))


def latents_of(tree: xr.DataTree) -> Iterator[tuple[int, int, Latents]]:
    """Kept latents of `tree`.

    Yields
    ------
    chain, kept : int
    latents : dict
        Without the padding.
    """
    kept = tree["latents"].to_dataset() if "latents" in tree else xr.Dataset()
    without_rows = [name for name in map(str, kept.data_vars) if 0 in kept[name].shape[2:-1]]
    for c in range(kept.sizes.get("chain", 0)):
        for j in range(kept.sizes.get("kept", 0)):
            latents: Latents = {}
            for name in map(str, kept.data_vars):
                value = kept[name].values[c, j]
                if CHANGING & set(kept[name].dims):
                    value = value[..., ~np.isnan(value).reshape(-1, value.shape[-1]).any(axis=0)]
                latents[name] = value.astype(np.int64) if value.dtype.kind == "i" else np.asarray(value)
            for name in without_rows:  # which show no padding
                latents[name] = latents[name][..., : model_of(tree).n_topics_of(latents)]
            yield c, j, latents

"""Draws of somebody's own sampler as a fit, so that all that reads fits can read them."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import xarray as xr

from ..contract import Latents, Model, Probes
from ..corpus import Corpus
from .record import Record
from .results import ResultsError, assemble
from .schedule import Schedule
from .schema import OWN, check_fit, check_values

KEPT = 10
"""Draws of a chain whose latents are kept, as by `sample`."""


def as_fit(
    model: Model,
    corpus: Corpus,
    chains: Iterable[Iterable[Mapping[str, Any] | np.ndarray]],
    *,
    name: str = "",
    seconds: float = 0.0,
) -> xr.DataTree:
    """Make a fit of what your own sampler has drawn from the posterior of `model` given `corpus`.

    Test quantities are computed by the same code as those of `sample`, so that `compare` and `bnpzoo compare`
    tell whether your sampler agrees with those of the package.

    Parameters
    ----------
    model : Model
        With your hyperparameters: a number for what is fixed, a prior for what you sample.
    corpus : Corpus
    chains : iterable of iterables of draws
        A draw is a mapping with the latents of the model, which its class lists. Hyperparameters that are
        fixed may be left out; where nothing else is missing, a draw may be ``z`` alone, the topics of the
        tokens. Chains are cut to the length of the shortest.
    name : str
        Of your sampler, for tables and reports.
    seconds : float
        CPU seconds that all draws took together, for effective draws a second.

    Returns
    -------
    DataTree
        As `sample` returns it, of the back end ``own``.

    Raises
    ------
    ResultsError
        A draw is not one of the model's latents; the message says which, and why. A ValueError.
    """
    if not isinstance(model, Model):
        raise ResultsError(f"model: expected one that `bnpzoo.get` makes, found {model!r:.40}")
    given = list(chains)
    if any(isinstance(chain, Mapping) for chain in given):
        raise ResultsError("chains: expected a sequence of draws for each, found a single draw")
    drawn = [list(chain) for chain in given]
    if not drawn or not all(drawn):
        raise ResultsError("chains: expected at least one draw of each chain, found none")
    template = model.initial_latents(corpus, np.random.default_rng(0))
    probes = Probes.of(corpus)
    n_draws = min(map(len, drawn))
    schedule = Schedule(tune=0, draws=n_draws, thin=1, keep=KEPT)
    each = seconds / (n_draws * len(drawn))
    records = []
    for c, chain in enumerate(drawn):
        record = Record()
        for j in range(n_draws):
            try:
                latents = _latents_of(chain[j], template, model)
                check_values(latents, model, corpus)
            except ResultsError as error:
                raise ResultsError(f"chain {c}, draw {j}: {error}") from None
            record.quantities.append(model.quantities(latents, corpus, probes))
            record.seconds.append(each)
            if schedule.keeps(j):
                record.kept.append((j, latents))
        records.append(record)
    attributes = {"seed": 0, "tune": 0, "thin": 1, "interrupted": 0, "wall_seconds": seconds}
    own = {"backend": OWN, "variant": name, "backend_version": "", "compile_seconds": 0.0}
    tree = assemble(model, corpus, probes, records, {}, attributes | own)
    check_fit(tree)
    return tree


def _latents_of(draw: Mapping[str, Any] | np.ndarray, template: Latents, model: Model) -> Latents:
    """Return a draw with the names and types of `template`, and the hyperparameters that are fixed."""
    told = {str(name): value for name, value in draw.items()} if isinstance(draw, Mapping) else {"z": draw}
    fixed = {name: template[name] for name in model.hyperparameters() if name not in model.sampled()}
    given = {name: value for name, value in fixed.items() if name in template} | told
    if given.keys() != template.keys():
        raise ResultsError(f"expected {', '.join(template)}, found {', '.join(given)}")
    return {name: _like(template[name], np.asarray(given[name]), name) for name in template}


def _like(expected: np.ndarray, value: np.ndarray, name: str) -> np.ndarray:
    """Return `value` in the type of `expected`; a float that is whole is a whole number."""
    if value.dtype.kind not in "biuf" or value.ndim != expected.ndim:
        axes = "axis" if expected.ndim == 1 else "axes"
        found = f"{value.dtype} of shape {value.shape}"
        raise ResultsError(f"{name}: expected numbers on {expected.ndim} {axes}, found {found}")
    if expected.dtype.kind == "i" and value.shape != expected.shape:
        raise ResultsError(f"{name}: expected one a token ({expected.size}), found shape {value.shape}")
    with np.errstate(invalid="ignore"):
        found = value.astype(expected.dtype)
    if expected.dtype.kind == "i" and not np.array_equal(found, value):
        raise ResultsError(f"{name}: expected whole numbers, found others")
    return found

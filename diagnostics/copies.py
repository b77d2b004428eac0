"""Fits that cannot but agree, since one has draws of the other."""

import itertools
from collections.abc import Mapping

import numpy as np
import xarray as xr

from .compare import elements


def refuse_copies(trees: Mapping[str, xr.DataTree]) -> None:
    """Raise ValueError for fewer than two fits, or where one has draws of another.

    Runs of one seed that differ in how many draws or chains there are, in ``tune`` or in ``thin``, go through
    the same states: they are compared at the sweeps of which both have draws.
    """
    if len(trees) < 2:
        raise ValueError(f"{', '.join(trees)}: expected two fits or more to compare, found one")
    draws = {label: dict(elements(tree)) for label, tree in trees.items()}
    for a, b in itertools.combinations(draws, 2):
        names = draws[a].keys() & draws[b].keys()
        if len(names) < len(draws[a]):
            continue
        places = np.intersect1d(_sweeps(trees[a]), _sweeps(trees[b]), return_indices=True)[1:]
        common = [_at(draws[a][name], draws[b][name], *places) for name in names]
        if _move(common) and all(np.array_equal(x, y) for x, y in common):
            raise ValueError(
                f"{b}: it has draws of {a}, those of the same sweeps of one seed; expected fits of different "
                "runs, which differ in --seed"
            )


def _sweeps(tree: xr.DataTree) -> np.ndarray:
    """Sweep, or iteration, after which each draw was made; int (draw,)."""
    tune, thin = tree.attrs.get("tune", 0), tree.attrs.get("thin", 1)
    return tune + thin * (1 + np.arange(tree["posterior"].sizes["draw"]))


def _at(x: np.ndarray, y: np.ndarray, of_x: np.ndarray, of_y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Draws (chain, draw) of two fits at some places, of the chains that both have."""
    chains = min(len(x), len(y))
    return x[:chains, of_x], y[:chains, of_y]


def _move(common: list[tuple[np.ndarray, np.ndarray]]) -> bool:
    return any(x.size and np.ptp(x) > 0.0 for x, _ in common)

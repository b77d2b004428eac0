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
        chains = np.intersect1d(_chains(trees[a]), _chains(trees[b]), return_indices=True)[1:]
        sweeps = np.intersect1d(_sweeps(trees[a]), _sweeps(trees[b]), return_indices=True)[1:]
        of_a, of_b = (np.ix_(*places) for places in zip(chains, sweeps, strict=True))
        common = [(draws[a][name][of_a], draws[b][name][of_b]) for name in names]
        if _move(common) and all(np.array_equal(x, y) for x, y in common):
            raise ValueError(
                f"{b}: it has draws of {a}, those of the same sweeps of one seed; expected fits of different "
                "runs, which differ in --seed"
            )


def _chains(tree: xr.DataTree) -> np.ndarray:
    """Numbers of the chains, of which some may have been left out; int (chain,)."""
    left_out = [int(number) for number in tree.attrs.get("left_out", "").split(",") if number]
    return np.setdiff1d(np.arange(tree["posterior"].sizes["chain"] + len(left_out)), left_out)


def _sweeps(tree: xr.DataTree) -> np.ndarray:
    """Sweep, or iteration, after which each draw was made; int (draw,)."""
    tune, thin = tree.attrs.get("tune", 0), tree.attrs.get("thin", 1)
    return tune + thin * (1 + np.arange(tree["posterior"].sizes["draw"]))


def _move(common: list[tuple[np.ndarray, np.ndarray]]) -> bool:
    return any(x.size and np.ptp(x) > 0.0 for x, _ in common)

"""Posterior means with their errors, as benchmarks of samplers take ground truth."""

import json
from typing import Any

import numpy as np
import xarray as xr

from ..._version import __version__
from ...zoo.inference.convergence import ess, mcse, moves, rhat
from ..compare import elements

LEAST_DRAWS = 4
"""Of all chains, for which there are standard errors."""


def ground_truth(fit: xr.DataTree) -> dict[str, Any]:
    """Means and standard deviations of all test quantities, with Monte Carlo standard errors.

    Parameters
    ----------
    fit : DataTree
        As `sample` returns it; the longer, the better.

    Returns
    -------
    dict
        In JSON's types. What the fit is of, and under ``sample_transformations`` for each quantity, which
        does not depend on how topics are numbered, the four numbers that a sample transformation of the
        Inference Gym has [1]_, with R-hat and the effective sample size. What cannot be told is None: errors
        of fewer draws than four, R-hat and effective draws of what never moves.

    References
    ----------
    .. [1] P. Sountsov, A. Radul and contributors (2020). Inference Gym.
       Part of TensorFlow Probability.
    """
    return {
        "model": fit.attrs["model"],
        "hyperparameters": json.loads(fit.attrs["hyperparameters"]),
        "corpus_sha256": fit.attrs["corpus_sha256"],
        "made_with": f"bnpzoo {__version__}, {fit.attrs['backend']} {fit.attrs['variant']}".strip(),
        "chains": int(fit["posterior"].sizes["chain"]),
        "draws": int(fit["posterior"].sizes["draw"]),
        "sample_transformations": {name: _moments(draws) for name, draws in elements(fit)},
    }


def _moments(draws: np.ndarray) -> dict[str, float | None]:
    is_moving, tells = moves(draws), draws.size >= LEAST_DRAWS
    found = {
        "ground_truth_mean": float(draws.mean()),
        "ground_truth_mean_standard_error": mcse(draws) if tells else np.nan,
        "ground_truth_standard_deviation": float(draws.std(ddof=1)) if is_moving else 0.0,
        "ground_truth_standard_deviation_standard_error": mcse(draws, "sd") if tells else np.nan,
        "r_hat": rhat([draws]) if is_moving and tells else np.nan,
        "ess": ess(draws) if tells else np.nan,
    }
    return {name: value if np.isfinite(value) else None for name, value in found.items()}

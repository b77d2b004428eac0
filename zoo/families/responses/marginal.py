"""Probabilities of the responses of micro corpora given topics, coefficients integrated out."""

from functools import lru_cache

import numpy as np
from scipy.special import logsumexp, ndtri
from scipy.stats import multivariate_normal, qmc

POINTS_LOG2 = 15
"""Of the lattice, which is scrambled so that no point lies on an edge."""


@lru_cache(maxsize=65_536)
def log_numbers(
    y: tuple[float, ...], shares: tuple[tuple[float, ...], ...], deviations: tuple[float, ...], noise: float
) -> float:
    """Log density of numbers, exact: they are normal together.

    Parameters
    ----------
    y : n numbers
    shares : n tuples of K + 1 numbers
        One, and the share of each topic.
    deviations : K + 1 numbers
        Of the intercept, and of each coefficient.
    noise : float
        Standard deviation of the errors.
    """
    x = np.array(shares) * np.array(deviations)
    covariance = x @ x.T + noise**2 * np.eye(len(y))
    return float(multivariate_normal.logpdf(np.array(y), cov=covariance)) if y else 0.0  # type: ignore[arg-type]


@lru_cache(maxsize=65_536)
def log_categories(
    y: tuple[int, ...],
    shares: tuple[tuple[float, ...], ...],
    deviations: tuple[float, ...],
    n_categories: int,
) -> float:
    """Log probability of categories; by a lattice over the coefficients, so that it has an error.

    Parameters
    ----------
    y : n numbers
        Below `n_categories`.
    shares, deviations
        As in `log_numbers`.
    n_categories : int
    """
    if not y:
        return 0.0
    predictors = np.einsum("nx,sxp->snp", np.array(shares), _coefficients(deviations, n_categories - 1))
    weights = np.pad(predictors, ((0, 0), (0, 0), (1, 0)))
    log_p = weights[:, np.arange(len(y)), list(y)] - logsumexp(weights, axis=2)
    return float(logsumexp(log_p.sum(axis=1)) - np.log(len(log_p)))


@lru_cache(maxsize=8)
def _coefficients(deviations: tuple[float, ...], n_predictors: int) -> np.ndarray:
    """Points of the prior of intercepts and coefficients, float (S, K + 1, P)."""
    scale = np.array(deviations)[:, None]
    points = qmc.Sobol(scale.size * n_predictors, rng=np.random.default_rng(0)).random_base2(POINTS_LOG2)
    return ndtri(points).reshape(-1, scale.size, n_predictors) * scale

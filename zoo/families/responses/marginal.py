"""Probabilities of the responses of micro corpora given topics, coefficients integrated out."""

from functools import lru_cache

import numpy as np
from scipy.special import logsumexp, ndtri
from scipy.stats import multivariate_normal, qmc

from . import law
from .responses import Response

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
    if not y:
        return 0.0
    x = np.array(shares) * np.array(deviations)
    covariance = x @ x.T + noise**2 * np.eye(len(y))
    return float(multivariate_normal.logpdf(np.array(y), cov=covariance))  # type: ignore[arg-type]


@lru_cache(maxsize=65_536)
def log_categories(
    y: tuple[int, ...],
    shares: tuple[tuple[float, ...], ...],
    deviations: tuple[float, ...],
    response: Response,
) -> float:
    """Log probability, or mean factor, of categories; by a lattice over the coefficients, with an error.

    Parameters
    ----------
    y : n numbers
        Places of categories.
    shares, deviations
        As in `log_numbers`.
    response : Response
    """
    if not y:
        return 0.0
    points = _coefficients(deviations, response.n_predictors)
    log_p = law.log_category(response, np.einsum("nx,sxp->snp", np.array(shares), points), np.array(y))
    return float(logsumexp(log_p.sum(axis=1)) - np.log(len(log_p)))


@lru_cache(maxsize=8)
def _coefficients(deviations: tuple[float, ...], n_predictors: int) -> np.ndarray:
    """Points of the prior of intercepts and coefficients, float (S, K + 1, P)."""
    scale = np.array(deviations)[:, None]
    points = qmc.Sobol(scale.size * n_predictors, rng=np.random.default_rng(0)).random_base2(POINTS_LOG2)
    return ndtri(points).reshape(-1, scale.size, n_predictors) * scale

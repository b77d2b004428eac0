"""Whether chains have met: R-hat and effective sample size of the global quantities."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from arviz_stats.base.array import array_stats

_stats: Any = array_stats  # its annotations are wider than what it returns for one quantity

RHAT_LIMIT = 1.05
ESS_LIMIT = 100.0
"""Beyond these a Monte Carlo standard error is not to be trusted, and no difference in its units either."""

ROUNDING = 1e-10
"""Relative difference that two draws may have by rounding alone."""

LOCAL = frozenset({"same_topic", "topic_entropy", "predictive", "probed_log_u", "probed_label"})
"""Test quantities that look at single places of the corpus; the others are global."""


class Worst(NamedTuple):
    """The global quantity that is furthest from having converged.

    Attributes
    ----------
    quantity : str
    rhat, ess : float
    """

    quantity: str
    rhat: float
    ess: float

    def meets(self, target: float) -> bool:
        """Whether R-hat is at most `target`, and the effective sample size enough for that to mean much."""
        return self.rhat <= target and self.ess >= ESS_LIMIT

    def __str__(self) -> str:
        return f"{self.quantity}: R-hat {self.rhat:.3f}, ESS {self.ess:.0f}"


def rhat(draws: Iterable[np.ndarray]) -> float:
    """Rank-normalised split R-hat [1]_ of one quantity over chains of several fits.

    Parameters
    ----------
    draws : iterable of float (chain, draw)
        Thinned evenly to the length of the shortest.

    Returns
    -------
    float
        Infinite where chains differ and none of them moves; NaN where all are one constant.

    References
    ----------
    .. [1] A. Vehtari, A. Gelman, D. Simpson, B. Carpenter, P.-C. Bürkner (2021). Rank-normalization, folding,
       and localization: an improved R-hat for assessing convergence of MCMC. Bayesian Analysis 16(2).
    """
    draws = list(draws)
    length = min(x.shape[1] for x in draws)
    even = [x[:, np.linspace(0, x.shape[1] - 1, length).astype(int)] for x in draws]
    chains = np.concatenate(even)
    with np.errstate(all="ignore"):  # chains that never move have no variance within, but for rounding
        found = float(_stats.rhat(chains, method="rank"))
    return np.inf if np.isfinite(found) and moves(chains) and not any(map(moves, chains)) else found


def moves(draws: np.ndarray) -> bool:
    """Whether draws differ by more than rounding does, which is taken to reach the eleventh digit.

    True where one of them is not finite.
    """
    with np.errstate(invalid="ignore"):
        return not np.ptp(draws) <= ROUNDING * np.abs(draws).max() < np.inf


def ess(draws: np.ndarray) -> float:
    """Bulk effective sample size of (chain, draw); NaN for a constant, of which one draw says all."""
    if not np.isfinite(draws).all() or not moves(draws):
        return np.nan
    return float(_stats.ess(draws, method="bulk"))


def mcse(draws: np.ndarray, method: str = "mean") -> float:
    """Monte Carlo standard error of the ``"mean"`` or of the ``"sd"`` of draws (chain, draw).

    It is in the unit of the draws, and 0 where they never move.
    """
    return float(_stats.mcse(draws, method=method)) if moves(draws) else 0.0


def worst_of(chains: Sequence[Mapping[str, np.ndarray]], target: float = RHAT_LIMIT) -> Worst:
    """Find the global quantity with the largest R-hat or, where all of these are low, the least ESS.

    Parameters
    ----------
    chains : sequence of mapping of str to float (draw, …)
        Quantities of each chain; at least four draws each.
    target : float
        R-hat that is low.

    Returns
    -------
    Worst
        Of R-hat 1 and infinite ESS where all quantities are constant.
    """
    found = []
    for name in chains[0].keys() - LOCAL:
        values = np.array([chain[name] for chain in chains])
        for element in np.moveaxis(values.reshape(*values.shape[:2], -1), 2, 0):
            if moves(element):
                apart, size = rhat([element]), ess(element)
                found.append(
                    Worst(name, np.inf if np.isnan(apart) else apart, 0.0 if np.isnan(size) else size)
                )
    if not found:
        return Worst("nothing moves", 1.0, np.inf)
    least = min(found, key=lambda one: (one.ess, one.quantity))
    largest = max(found, key=lambda one: (one.rhat, one.quantity))
    return least if largest.rhat <= target else largest

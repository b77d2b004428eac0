"""NumPyro programs of the hierarchical Dirichlet processes, their root truncated."""

from collections.abc import Callable

import numpy as np

from ...contract import Hyperparameter


def hdp(
    counts: np.ndarray, truncation: int, gamma: Hyperparameter, alpha: Hyperparameter, eta: Hyperparameter
) -> Callable[[], None]:
    """Hierarchical Dirichlet process, its root truncated at `truncation` sticks.

    Parameters
    ----------
    counts : int (D, V)
    truncation : int
    gamma, alpha, eta : float or Gamma

    Returns
    -------
    callable
        NumPyro program with sites ``root`` (T,), ``theta`` (D, T), ``phi`` (T, V), ``gamma``, ``alpha``
        and ``eta``. The T topics are exchangeable: see `blocks.StickWeights`.
    """
    from ...toolbox import blocks

    def program() -> None:
        log_root = blocks.log_root(gamma, truncation)
        log_alpha = blocks.log_hyperparameter("alpha", alpha)
        log_theta = blocks.log_dirichlet("theta", log_alpha + log_root, (counts.shape[0], truncation))
        blocks.words(counts, log_theta, eta)

    return program


def mt_hdp(
    counts: np.ndarray,
    group: np.ndarray,
    n_groups: int,
    truncation: int,
    gamma: Hyperparameter,
    alpha0: Hyperparameter,
    alpha: Hyperparameter,
    eta: Hyperparameter,
) -> Callable[[], None]:
    """Multi-task hierarchical Dirichlet process, its root truncated at `truncation` sticks.

    Parameters
    ----------
    counts : int (D, V)
    group : int (D,)
        Task of each document, in ``0..n_groups - 1``.
    n_groups, truncation : int
    gamma, alpha0, alpha, eta : float or Gamma
        Each task has an alpha of its own.

    Returns
    -------
    callable
        NumPyro program with sites ``root`` (T,), ``tasks`` (C, T), ``theta`` (D, T), ``phi`` (T, V),
        ``gamma``, ``alpha0``, ``alpha`` (C,) and ``eta``.
    """
    from ...toolbox import blocks

    def program() -> None:
        log_root = blocks.log_root(gamma, truncation)
        log_alpha0 = blocks.log_hyperparameter("alpha0", alpha0)
        log_tasks = blocks.log_dirichlet("tasks", log_alpha0 + log_root, (n_groups, truncation))
        log_alpha = blocks.log_hyperparameter("alpha", alpha, n_groups)[:, None]
        log_theta = blocks.log_dirichlet("theta", (log_alpha + log_tasks)[group], (len(group), truncation))
        blocks.words(counts, log_theta, eta)

    return program

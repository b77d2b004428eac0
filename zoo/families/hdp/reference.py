"""Documents of the hierarchical Dirichlet processes in NumPyro programs, their root truncated."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...contract import Hyperparameter


def hdp(n_documents: int, truncation: int, gamma: Hyperparameter, alpha: Hyperparameter) -> Callable[[], Any]:
    """Documents of a hierarchical Dirichlet process; see `TwoSidedModel.document_block`.

    Parameters
    ----------
    n_documents : int
    truncation : int
        T, sticks of the root.
    gamma, alpha : float or Gamma

    Returns
    -------
    callable
        Part of a NumPyro program with sites ``root`` (T,), ``theta`` (D, T), ``gamma`` and ``alpha``. The T
        topics are exchangeable: see `blocks.StickWeights`.
    """

    def program() -> Any:
        from ...toolbox import blocks

        log_root = blocks.log_root(gamma, truncation)
        log_alpha = blocks.log_hyperparameter("alpha", alpha)
        return blocks.log_dirichlet("theta", log_alpha + log_root, (n_documents, truncation))

    return program


def mt_hdp(
    group: np.ndarray,
    n_groups: int,
    truncation: int,
    gamma: Hyperparameter,
    alpha0: Hyperparameter,
    alpha: Hyperparameter,
) -> Callable[[], Any]:
    """Documents of a multi-task hierarchical Dirichlet process; see `TwoSidedModel.document_block`.

    Parameters
    ----------
    group : int (D,)
        Task of each document, in ``0..n_groups - 1``.
    n_groups : int
    truncation : int
        T, sticks of the root.
    gamma, alpha0, alpha : float or Gamma
        Each task has an alpha of its own.

    Returns
    -------
    callable
        Part of a NumPyro program with sites ``root`` (T,), ``tasks`` (C, T), ``theta`` (D, T), ``gamma``,
        ``alpha0`` and ``alpha`` (C,).
    """

    def program() -> Any:
        from ...toolbox import blocks

        log_root = blocks.log_root(gamma, truncation)
        log_alpha0 = blocks.log_hyperparameter("alpha0", alpha0)
        log_tasks = blocks.log_dirichlet("tasks", log_alpha0 + log_root, (n_groups, truncation))
        log_alpha = blocks.log_hyperparameter("alpha", alpha, n_groups)[:, None]
        return blocks.log_dirichlet("theta", (log_alpha + log_tasks)[group], (len(group), truncation))

    return program

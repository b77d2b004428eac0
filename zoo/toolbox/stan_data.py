"""The references: finite-truncation programs in NumPyro, and the data of the same programs in Stan.

The two languages share names, parameterisation and density. Everything is in logarithms: at the second and
third level the shapes of a Dirichlet distribution fall below 1e-3 as a matter of course, where its weights
underflow.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..contract import Hyperparameter, Model
from ..corpus import Corpus
from ..priors import Prior

# JAX takes seconds to load, so that each builder imports the blocks when it is called.


def lda(counts: np.ndarray, n_topics: int, alpha: Hyperparameter, eta: Hyperparameter) -> Callable[[], None]:
    """Latent Dirichlet allocation, the topics of the tokens summed out.

    Parameters
    ----------
    counts : int (D, V)
    n_topics : int
    alpha, eta : float or Gamma

    Returns
    -------
    callable
        NumPyro program with sites ``theta`` (D, K), ``phi`` (K, V), ``alpha`` and ``eta``.
    """
    from . import blocks

    def program() -> None:
        log_alpha = blocks.log_hyperparameter("alpha", alpha)
        log_theta = blocks.log_dirichlet("theta", log_alpha, (counts.shape[0], n_topics))
        blocks.words(counts, log_theta, eta)

    return program


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
        and ``eta``. The T topics are exchangeable: see `numpyro_blocks.StickWeights`.
    """
    from . import blocks

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
    from . import blocks

    def program() -> None:
        log_root = blocks.log_root(gamma, truncation)
        log_alpha0 = blocks.log_hyperparameter("alpha0", alpha0)
        log_tasks = blocks.log_dirichlet("tasks", log_alpha0 + log_root, (n_groups, truncation))
        log_alpha = blocks.log_hyperparameter("alpha", alpha, n_groups)[:, None]
        log_theta = blocks.log_dirichlet("theta", (log_alpha + log_tasks)[group], (len(group), truncation))
        blocks.words(counts, log_theta, eta)

    return program


def stan_counts(corpus: Corpus) -> dict[str, Any]:
    """Return what every Stan program asks of the words: ``D``, ``V`` and ``counts`` (D, V)."""
    return {"D": corpus.n_documents, "V": corpus.n_words, "counts": corpus.counts()}


def stan_priors(model: Model) -> dict[str, Any]:
    """How Stan is told of each hyperparameter: ``*_is_random``; ``*_given``, its value or its prior's two."""
    data: dict[str, Any] = {}
    for name, value in model.hyperparameters().items():
        random = isinstance(value, Prior)
        data[f"{name}_is_random"] = int(random)
        data[f"{name}_given"] = list(value.parameters) if random else [float(value)]
    return data

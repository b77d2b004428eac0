"""References of models with a fixed number of topics: NumPyro programs, and the data of the Stan programs."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...contract import Hyperparameter
from ...corpus import Corpus
from ...toolbox.stan_data import stan_counts


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
    from ...toolbox import blocks

    def program() -> None:
        log_alpha = blocks.log_hyperparameter("alpha", alpha)
        log_theta = blocks.log_dirichlet("theta", log_alpha, (counts.shape[0], n_topics))
        blocks.words(counts, log_theta, eta)

    return program


def group_lda(
    counts: np.ndarray,
    group: np.ndarray,
    n_groups: int,
    n_topics: int,
    alpha: Hyperparameter,
    eta: Hyperparameter,
) -> Callable[[], None]:
    """LDA of each collection by itself.

    Parameters
    ----------
    counts : int (D, V)
    group : int (D,)
        Collection of each document, in ``0..n_groups - 1``.
    n_groups, n_topics : int
    alpha, eta : float or Gamma
        Each collection has an alpha of its own.

    Returns
    -------
    callable
        NumPyro program with sites ``theta`` (D, K), ``phi`` (G, K, V), ``alpha`` (G,) and ``eta``.
    """
    from ...toolbox import blocks

    def program() -> None:
        log_alpha = blocks.log_hyperparameter("alpha", alpha, n_groups)[:, None]
        log_theta = blocks.log_dirichlet("theta", log_alpha[group], (len(group), n_topics))
        log_eta = blocks.log_hyperparameter("eta", eta)
        log_phi = blocks.log_dirichlet("phi", log_eta, (n_groups, n_topics, counts.shape[1]))
        blocks.see_words(counts, log_theta, log_phi, group)

    return program


def cclda(
    counts: np.ndarray,
    group: np.ndarray,
    n_groups: int,
    n_topics: int,
    hyper: Mapping[str, Hyperparameter],
) -> Callable[[], None]:
    """Cross-collection LDA, topics of tokens and origins of words summed out.

    Parameters
    ----------
    counts : int (D, V)
    group : int (D,)
        Collection of each document, in ``0..n_groups - 1``.
    n_groups, n_topics : int
    hyper : mapping of str to float or Gamma
        ``alpha``, of which each collection has its own, ``eta``, ``delta``, ``gamma0``, ``gamma1``.

    Returns
    -------
    callable
        NumPyro program with sites ``theta`` (D, K), ``phi`` (K, V), ``sigma`` (G, K, V), ``psi`` (G, K), the
        probability of a collection's own words, and the hyperparameters.
    """

    def program() -> None:
        import jax.numpy as jnp
        import numpyro

        from ...toolbox import blocks

        n_words = counts.shape[1]
        log_alpha = blocks.log_hyperparameter("alpha", hyper["alpha"], n_groups)[:, None]
        log_theta = blocks.log_dirichlet("theta", log_alpha[group], (len(group), n_topics))
        log_eta, log_delta, log_gamma0, log_gamma1 = (
            blocks.log_hyperparameter(name, hyper[name]) for name in ("eta", "delta", "gamma0", "gamma1")
        )
        log_phi = blocks.log_dirichlet("phi", log_eta, (n_topics, n_words))
        log_sigma = blocks.log_dirichlet("sigma", log_delta, (n_groups, n_topics, n_words))
        origins = jnp.stack([log_gamma0, log_gamma1])
        log_origin = blocks.log_dirichlet("origin", origins, (n_groups, n_topics, 2))
        numpyro.deterministic("psi", jnp.exp(log_origin[..., 1]))
        log_shared = log_origin[..., :1] + log_phi
        log_own = log_origin[..., 1:] + log_sigma
        blocks.see_words(counts, log_theta, jnp.logaddexp(log_shared, log_own), group)

    return program


def stan_data(corpus: Corpus, group: np.ndarray, n_topics: int) -> dict[str, Any]:
    """Return the data of both Stan programs but those of the hyperparameters."""
    return stan_counts(corpus) | {"K": n_topics, "G": corpus.n_groups, "group": group + 1}

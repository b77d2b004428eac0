"""References of models with a fixed number of topics: NumPyro programs, parts of them, and data of Stan."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...contract import Hyperparameter
from ...corpus import Corpus
from ...toolbox.stan_data import stan_counts


def documents(
    rows: np.ndarray, n_alphas: int, n_topics: int, alpha: Hyperparameter, *, is_symmetric: bool = True
) -> Callable[[], Any]:
    """Dirichlet documents; see `TwoSidedModel.document_block`.

    Parameters
    ----------
    rows : int (D,)
        Which alpha each document has.
    n_alphas, n_topics : int
    alpha : float or Gamma
    is_symmetric : bool
        Or each topic has an alpha of its own, and all documents the same.

    Returns
    -------
    callable
        Part of a NumPyro program with sites ``theta`` (D, K) and ``alpha`` (n_alphas,).
    """

    def program() -> Any:
        from ...toolbox import blocks

        log_alpha = blocks.log_hyperparameter("alpha", alpha, n_alphas)
        log_shape = log_alpha[rows, None] if is_symmetric else log_alpha
        return blocks.log_dirichlet("theta", log_shape, (len(rows), n_topics))

    return program


def topics_of_collections(
    group: np.ndarray, shape: tuple[int, int, int], eta: Hyperparameter
) -> Callable[[], tuple[Any, np.ndarray]]:
    """Dirichlet topics of each collection by itself; see `TopicSide.block`.

    Parameters
    ----------
    group : int (D,)
        Collection of each document.
    shape : tuple of int
        Collections, topics of each, words.
    eta : float or Gamma

    Returns
    -------
    callable
        Part of a NumPyro program with sites ``phi`` (G, K, V) and ``eta``.
    """

    def program() -> tuple[Any, np.ndarray]:
        from ...toolbox import blocks

        return blocks.log_dirichlet("phi", blocks.log_hyperparameter("eta", eta), shape), group

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
    """Return the data of ``stan/cclda.stan`` but those of the hyperparameters."""
    return stan_counts(corpus) | {"K": n_topics, "G": corpus.n_groups, "group": group + 1}

"""Labelled documents in NumPyro programs."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...contract import Hyperparameter


def own_topics(
    may_have: np.ndarray, label: np.ndarray, n_alphas: int, alpha: Hyperparameter
) -> Callable[[], Any]:
    """Dirichlet documents over some of the topics; see `TwoSidedModel.document_block`.

    Parameters
    ----------
    may_have : bool (D, K)
        Which topics each document may have.
    label : int (K,)
        Entry of alpha that a topic belongs to.
    n_alphas : int
    alpha : float or Gamma

    Returns
    -------
    callable
        Part of a NumPyro program with sites ``theta`` (D, K) and ``alpha`` (n_alphas,).
    """

    def program() -> Any:
        import jax.numpy as jnp

        from ...toolbox import blocks

        log_alpha = blocks.log_hyperparameter("alpha", alpha, n_alphas)[label]
        log_shape = jnp.where(may_have, log_alpha, blocks.LOG_SHAPE_FLOOR)
        return blocks.log_dirichlet("theta", log_shape, may_have.shape)

    return program


def regression(
    features: np.ndarray, n_topics: int, intercept_precision: Hyperparameter, precision: Hyperparameter
) -> Callable[[], Any]:
    """Dirichlet documents whose log parameters are linear in features; see `TwoSidedModel.document_block`.

    Parameters
    ----------
    features : float (D, J)
        The first is 1 in every document.
    n_topics : int
    intercept_precision, precision : float or Gamma

    Returns
    -------
    callable
        Part of a NumPyro program with sites ``theta`` (D, K), ``log_factor`` (J, K) and the precisions.
    """

    def program() -> Any:
        import jax.numpy as jnp
        import numpyro
        import numpyro.distributions as dist

        from ...toolbox import blocks

        log_precision = jnp.append(
            jnp.full(features.shape[1] - 1, blocks.log_hyperparameter("precision", precision)),
            blocks.log_hyperparameter("intercept_precision", intercept_precision),
        )
        deviation = jnp.exp(-0.5 * jnp.roll(log_precision, 1))
        shape = (features.shape[1], n_topics)
        standard = numpyro.sample("standard_coefficients", dist.Normal().expand(shape).to_event())
        coefficients = numpyro.deterministic("log_factor", deviation[:, None] * standard)
        log_shape = jnp.asarray(features) @ jnp.asarray(coefficients)
        return blocks.log_dirichlet("theta", log_shape, (len(features), n_topics))

    return program


def authors(share: np.ndarray, n_topics: int, alpha: Hyperparameter) -> Callable[[], Any]:
    """Documents whose proportions are means over those of their authors; see `TwoSidedModel.document_block`.

    Parameters
    ----------
    share : float (D, A)
        Of each author in a document; rows sum to one.
    n_topics : int
    alpha : float or Gamma

    Returns
    -------
    callable
        Part of a NumPyro program with sites ``of_author`` (A, K), ``theta`` (D, K) and ``alpha``.
    """

    def program() -> Any:
        import jax.numpy as jnp
        import numpyro
        from jax.scipy.special import logsumexp

        from ...toolbox import blocks

        log_alpha = blocks.log_hyperparameter("alpha", alpha)
        log_author = blocks.log_dirichlet("of_author", log_alpha, (share.shape[1], n_topics))
        log_theta = logsumexp(log_author[None], axis=1, b=jnp.asarray(share)[:, :, None])
        numpyro.deterministic("theta", jnp.exp(log_theta))
        return log_theta

    return program


def measures(
    has: np.ndarray,
    row: np.ndarray,
    truncation: int,
    gamma: Hyperparameter,
    alpha: Hyperparameter,
    tau: Hyperparameter,
) -> Callable[[], Any]:
    """Documents that mix the Dirichlet processes of labels; see `TwoSidedModel.document_block`.

    Parameters
    ----------
    has : bool (R, J)
        Which labels each row has.
    row : int (D,)
        Of each document.
    truncation : int
        T, sticks of a label, the last of which is what is left.
    gamma, alpha, tau : float or Gamma

    Returns
    -------
    callable
        Part of a NumPyro program with sites ``root`` (J, T), ``share`` (R, J), ``theta`` (D, J T), ``gamma``,
        ``alpha`` and ``tau``.
    """

    def program() -> Any:
        import jax.numpy as jnp
        import numpyro
        import numpyro.distributions as dist

        from ...toolbox import blocks

        value = {"gamma": gamma, "alpha": alpha, "tau": tau}
        log_value = {name: blocks.log_hyperparameter(name, x) for name, x in value.items()}
        n_labels = has.shape[1]
        law = dist.Beta(1.0, jnp.exp(log_value["gamma"])).expand((n_labels, truncation - 1)).to_event()
        cut = jnp.asarray(numpyro.sample("cut", law))
        ones = jnp.ones((n_labels, 1))
        before = jnp.cumsum(jnp.log1p(-cut), axis=1)
        log_root = jnp.log(jnp.append(cut, ones, axis=1)) + jnp.append(0.0 * ones, before, axis=1)
        numpyro.deterministic("root", jnp.exp(log_root))
        log_shape = jnp.where(has, log_value["tau"], blocks.LOG_SHAPE_FLOOR)
        log_share = blocks.log_dirichlet("share", log_shape, has.shape)
        log_weight = (log_share[:, :, None] + log_root).reshape(len(has), -1)[row]
        shape = (len(row), n_labels * truncation)
        return blocks.log_dirichlet("theta", log_value["alpha"] + log_weight, shape)

    return program

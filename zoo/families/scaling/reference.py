"""Documents of the scaling processes in NumPyro programs, their root truncated."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...contract import Hyperparameter
from .laws import ScaleLaw


def documents(
    labels: np.ndarray, truncation: int, gamma: Hyperparameter, alpha: Hyperparameter, law: ScaleLaw
) -> Callable[[], Any]:
    """Documents whose labels scale their topics; see `TwoSidedModel.document_block`.

    Parameters
    ----------
    labels : float (D, J)
    truncation : int
        T, sticks of the root.
    gamma, alpha : float or Gamma
    law : ScaleLaw

    Returns
    -------
    callable
        Part of a NumPyro program with sites ``root`` (T,), ``log_scale`` (J, T), ``theta`` (D, T), ``gamma``
        and ``alpha``. The T topics are exchangeable: see `blocks.StickWeights`.
    """

    def program() -> Any:
        import jax
        import jax.numpy as jnp
        import numpyro

        from ...toolbox import blocks

        log_root = blocks.log_root(gamma, truncation)
        log_alpha = blocks.log_hyperparameter("alpha", alpha)
        log_scale = numpyro.deterministic("log_scale", law.block((labels.shape[1], truncation)))
        shape = (len(labels), truncation)
        log_pi = blocks.log_gamma("theta", log_alpha + log_root, shape) + labels @ jnp.asarray(log_scale)
        log_theta = jax.nn.log_softmax(log_pi)
        numpyro.deterministic("theta", jnp.exp(log_theta))
        return log_theta

    return program

"""Documents of the scaling processes in NumPyro programs, their root truncated."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...contract import Hyperparameter
from .laws import ScaleLaw


def documents(
    labels: np.ndarray,
    truncation: int,
    hyper: Mapping[str, Hyperparameter],
    law: type[ScaleLaw],
) -> Callable[[], Any]:
    """Documents whose labels scale their topics; see `TwoSidedModel.document_block`.

    Parameters
    ----------
    labels : float (D, J)
    truncation : int
        T, sticks of the root.
    hyper : mapping of str to (float or Gamma)
    law : type of ScaleLaw

    Returns
    -------
    callable
        Part of a NumPyro program with sites ``root`` (T,), ``log_scale`` (J, T), ``theta`` (D, T), ``gamma``,
        ``alpha`` and the parameters of the law. The T topics are exchangeable: see `blocks.StickWeights`.
    """

    def program() -> Any:
        import jax
        import jax.numpy as jnp
        import numpyro

        from ...toolbox import blocks

        log_root = blocks.log_root(hyper["gamma"], truncation)
        log_alpha = blocks.log_hyperparameter("alpha", hyper["alpha"])
        law_of_scales = law(*(blocks.hyperparameter(name, hyper[name]) for name in law.names))
        log_scale = numpyro.deterministic("log_scale", law_of_scales.block((labels.shape[1], truncation)))
        shape = (len(labels), truncation)
        log_pi = blocks.log_gamma("theta", log_alpha + log_root, shape) + labels @ jnp.asarray(log_scale)
        log_theta = jax.nn.log_softmax(log_pi)
        numpyro.deterministic("theta", jnp.exp(log_theta))
        return log_theta

    return program

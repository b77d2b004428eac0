"""The NumPyro back end: NUTS on a model's reference program."""

import time
from typing import Any

import jax
import numpy as np
import numpyro
from numpyro.infer import MCMC, NUTS, init_to_uniform

from ..contract import Model
from ..corpus import Corpus
from .progress import Report, silent

TARGET_ACCEPT = 0.9
INIT_RADIUS = 1


def run(
    model: Model,
    corpus: Corpus,
    truncation: int,
    chains: int,
    tune: int,
    draws: int,
    seed: int,
    progress: Report = silent,
) -> dict[str, Any]:
    """Draw from the reference posterior of `model` given `corpus`, one chain after the other.

    Computes in double precision, whatever JAX is set to outside.

    Parameters
    ----------
    model : Model
    corpus : Corpus
    truncation : int
    chains, tune, draws : int
    seed : int
        Gives the same draws to the last bit; chains do not depend on how many there are.
    progress : callable
        Called before the first and after each chain.

    Returns
    -------
    dict
        ``draws``: arrays (chains, draws, …) by the names of ``model.reference_parameters``;
        ``stats``: ``diverging``, ``n_steps`` and ``acceptance_rate``, each (chains, draws);
        ``seconds``: wall seconds of each chain, with compilation in the first; ``backend_version``.
    """
    with jax.enable_x64(True):
        kernel = NUTS(
            model.numpyro(corpus, truncation),
            target_accept_prob=TARGET_ACCEPT,
            init_strategy=init_to_uniform(radius=INIT_RADIUS),
        )
        mcmc = MCMC(kernel, num_warmup=tune, num_samples=draws, progress_bar=False)
        results, seconds = [], []
        for chain in range(chains):
            progress(chain, 0, tune + draws)
            start = time.perf_counter()
            mcmc.run(
                jax.random.fold_in(jax.random.key(seed), chain),
                extra_fields=("diverging", "num_steps", "accept_prob"),
            )
            results.append(_to_numpy(mcmc, model.reference_parameters))
            seconds.append(time.perf_counter() - start)
            progress(chain, tune + draws, tune + draws)
    stacked = {name: np.stack([result[name] for result in results]) for name in results[0]}
    return {
        "draws": {name: stacked[name] for name in model.reference_parameters},
        "stats": {name: stacked[name] for name in ("diverging", "n_steps", "acceptance_rate")},
        "seconds": np.array(seconds),
        "backend_version": f"numpyro {numpyro.__version__}, jax {jax.__version__}",
    }


def _to_numpy(mcmc: MCMC, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    samples, extra = mcmc.get_samples(), mcmc.get_extra_fields()
    return {name: np.asarray(samples[name]) for name in names} | {
        "diverging": np.asarray(extra["diverging"]),
        "n_steps": np.asarray(extra["num_steps"]),
        "acceptance_rate": np.asarray(extra["accept_prob"]),
    }

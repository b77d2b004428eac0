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
STATISTICS = {"diverging": "diverging", "num_steps": "n_steps", "accept_prob": "acceptance_rate"}


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
    """Draw from the reference posterior of `model` given `corpus`, all chains side by side.

    Computes in double precision, whatever JAX is set to outside.

    Parameters
    ----------
    model : Model
    corpus : Corpus
    truncation : int
    chains, tune, draws : int
    seed : int
        The same seed and number of chains give the same draws to the last bit.
    progress : callable
        Called for each chain, before and after the run.

    Returns
    -------
    dict
        ``draws``: arrays (chains, draws, …) by the names of ``model.reference.parameters``;
        ``stats``: ``diverging``, ``n_steps`` and ``acceptance_rate``, each (chains, draws);
        ``seconds``: wall seconds of the run, compilation included, shared out among the chains;
        ``backend_version``.
    """
    reference = model.require_reference()
    total = tune + draws
    for chain in range(chains):
        progress(chain, 0, total)
    start = time.perf_counter()
    with jax.enable_x64(True):
        mcmc = MCMC(
            NUTS(
                reference.numpyro(corpus, truncation),
                target_accept_prob=TARGET_ACCEPT,
                init_strategy=init_to_uniform(radius=INIT_RADIUS),
            ),
            num_warmup=tune,
            num_samples=draws,
            num_chains=chains,
            chain_method="vectorized",
            progress_bar=False,
        )

        # Compiled as a whole: most of the time of a small run would go into compiling its start bit by bit.
        @jax.jit
        def sample(key: jax.Array) -> tuple[dict[str, jax.Array], dict[str, jax.Array]]:
            mcmc.run(key, extra_fields=tuple(STATISTICS))
            samples = mcmc.get_samples(group_by_chain=True)
            wanted = {name: samples[name] for name in reference.parameters}
            return wanted, mcmc.get_extra_fields(group_by_chain=True)

        found, extra = jax.device_get(sample(jax.random.key(seed)))
    seconds = time.perf_counter() - start
    for chain in range(chains):
        progress(chain, total, total)
    return {
        "draws": found,
        "stats": {ours: extra[theirs] for theirs, ours in STATISTICS.items()},
        "seconds": np.full(chains, seconds / chains),
        "backend_version": f"numpyro {numpyro.__version__}, jax {jax.__version__}",
    }

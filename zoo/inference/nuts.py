"""The NumPyro back end: NUTS on a model's reference program."""

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from numpyro.infer import NUTS, init_to_uniform

from ..contract import Model, Reference
from ..corpus import Corpus
from .interrupt import held_signals
from .progress import Report, silent

TARGET_ACCEPT = 0.9
INIT_RADIUS = 1
STATISTICS = {"diverging": "diverging", "num_steps": "n_steps", "accept_prob": "acceptance_rate"}
MOST_AT_ONCE, SECONDS_AT_ONCE = 50, 0.5
"""Iterations between two looks at whether the user wants to stop: as many as take about this long."""

type Found = dict[str, jax.Array]


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

    Computes in double precision, whatever JAX is set to outside. After Ctrl-C or SIGTERM there are fewer
    draws, or none.

    Parameters
    ----------
    model : Model
    corpus : Corpus
    truncation : int
    chains, tune, draws : int
    seed : int
        The same seed and number of chains give the same draws to the last bit.
    progress : callable
        Called for each chain, several times in a second where iterations are quick.

    Returns
    -------
    dict
        ``draws``: arrays (chains, draws, …) by the names of ``model.reference.parameters``;
        ``stats``: ``diverging``, ``n_steps`` and ``acceptance_rate``, each (chains, draws);
        ``lengths``: draws of each chain, behind which there is nothing of use;
        ``seconds``: CPU seconds of the run, shared out among the chains; ``compile_seconds``: wall seconds
        before it;
        ``backend_version``.
    """
    reference = model.require_reference()
    total = tune + draws
    for chain in range(chains):
        progress(chain, 0, total, "compiling")
    start = time.perf_counter()
    parts: list[dict[str, np.ndarray]] = []
    with jax.enable_x64(True), held_signals() as stop:
        begin, advance = _compiled(reference, corpus, truncation, chains, tune)
        key = jax.random.key(seed)
        state = begin(jax.random.split(key, chains) if chains > 1 else key)
        jax.block_until_ready(advance(state, 0))  # compiles it
        compile_seconds = time.perf_counter() - start
        cpu_start = time.process_time()
        done, at_once = 0, 1
        while done < total and not (stop.asked and parts):
            started = time.perf_counter()
            size = min(at_once, (tune if done < tune else total) - done)
            state, found = advance(state, size)
            parts = parts if done >= tune else []
            kept = slice(size if done >= tune else 0)
            parts.append({name: values[:, kept] for name, values in jax.device_get(found).items()})
            done += size
            seconds = time.perf_counter() - started
            if seconds < SECONDS_AT_ONCE / 2:
                at_once = min(2 * at_once, MOST_AT_ONCE)
            elif seconds > SECONDS_AT_ONCE:
                at_once = max(1, at_once // 2)
            for chain in range(chains):
                progress(chain, done, total, "tuning" if done <= tune else "")
    cpu_seconds = time.process_time() - cpu_start
    found = {name: np.concatenate([part[name] for part in parts], axis=1) for name in parts[0]}
    return {
        "draws": {name: found[name] for name in reference.parameters},
        "stats": {name: found[name] for name in STATISTICS.values()},
        "lengths": [found["diverging"].shape[1]] * chains,
        "seconds": np.full(chains, cpu_seconds / chains),
        "compile_seconds": compile_seconds,
        "backend_version": f"numpyro {numpyro.__version__}, jax {jax.__version__}",
    }


def _compiled(
    reference: Reference, corpus: Corpus, truncation: int, chains: int, tune: int
) -> tuple[Callable[[jax.Array], Any], Callable[[Any, int], tuple[Any, Found]]]:
    """Make NUTS in two functions: its first state, and so many iterations from a state on, with their draws.

    The draws are the same to the last bit however many iterations are asked for at once. They follow those of
    `numpyro.infer.MCMC` with chains side by side, and part from them only as rounding makes them.
    """
    program = reference.numpyro(corpus, truncation)

    def begin(keys: jax.Array) -> tuple[NUTS, Any]:
        sampler = NUTS(
            program, target_accept_prob=TARGET_ACCEPT, init_strategy=init_to_uniform(radius=INIT_RADIUS)
        )
        return sampler, sampler.init(keys, tune, None, (), {})

    def advance(state: Any, size: int) -> tuple[Any, Found]:
        sampler, _ = begin(state.rng_key)  # only for what `sample` needs besides the state

        def found(state: Any) -> Found:
            constrain = sampler.postprocess_fn((), {})
            sites = jax.vmap(constrain)(state.z) if chains > 1 else constrain(state.z)
            out = {name: sites[name] for name in reference.parameters}
            out |= {ours: getattr(state, theirs) for theirs, ours in STATISTICS.items()}
            return out if chains > 1 else {name: values[None] for name, values in out.items()}

        def body(i: jax.Array, carry: tuple[Any, Found]) -> tuple[Any, Found]:
            state = sampler.sample(carry[0], (), {})
            return state, jax.tree.map(lambda room, x: room.at[:, i].set(x), carry[1], found(state))

        room = {
            name: jnp.zeros((chains, MOST_AT_ONCE, *values.shape[1:]), values.dtype)
            for name, values in jax.eval_shape(found, state).items()
        }
        return jax.lax.fori_loop(0, size, body, (state, room))

    return jax.jit(lambda keys: begin(keys)[1]), jax.jit(advance)

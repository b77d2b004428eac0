"""Short chains, each state of which is checked."""

import numpy as np


def chain(model, corpus, n, seed=1, kernel=None):
    """Latents after each of `n` sweeps of a model's sampler, the first unless given, from initial ones."""
    rng, kernel = np.random.default_rng(seed), kernel or model.kernel()
    state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
    for _ in range(n):
        state = kernel.step(rng, state)
        kernel.check(state)
        yield kernel.snapshot(state)


def end_of(model, corpus, kernel, n_sweeps):
    """Latents after some sweeps, with one seed."""
    *_, last = chain(model, corpus, n_sweeps, kernel=kernel)
    return last

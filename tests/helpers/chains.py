"""Short chains, for tests that compare their ends."""

import numpy as np


def end_of(model, corpus, kernel, n_sweeps):
    """Latents after some sweeps, whose states are all checked, from initial ones and with one seed."""
    rng = np.random.default_rng(1)
    state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
    for _ in range(n_sweeps):
        state = kernel.step(rng, state)
        kernel.check(state)
    return kernel.snapshot(state)

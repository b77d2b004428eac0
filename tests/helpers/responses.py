"""Corpora with responses, and short runs on them."""

import numpy as np
from bnpzoo import Corpus, get


def two_kinds(n=60, **covariates):
    """Documents of two kinds, which share no word."""
    rng = np.random.default_rng(0)
    kind = np.arange(n) % 2
    words = rng.integers(20, size=n * 20) + 20 * np.repeat(kind, 20)
    return Corpus(words, 20 * np.arange(n + 1), n_words=40, covariates=covariates)


def run(which, corpus, sweeps=300, **arguments):
    """Model, and the latents of the second half of a chain."""
    model, rng = get(which, **arguments), np.random.default_rng(0)
    kernel = model.kernel()
    state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
    kept = []
    for sweep in range(sweeps):
        state = kernel.step(rng, state)
        if sweep >= sweeps // 2:
            kept.append(kernel.snapshot(state))
    kernel.check(state)
    return model, kept

"""Corpora with responses, their density by hand, and short runs on them."""

import math

import numpy as np
from bnpzoo import Corpus, get
from scipy import stats

RATED = Corpus(
    [0, 1, 2, 0, 1, 2, 2],
    [0, 3, 5, 5, 7],
    n_words=3,
    covariates={"rating": np.array([1.5, -0.5, 2.0, 0.3]), "kind": np.array(["b", "", "a", "c"])},
)
"""The third document has no tokens, the second is of no kind."""

OF_RATED = np.array([0, 1, 1, 0, 1, 1, 1])
"""A topic for each of its tokens."""

PRECISIONS = {"intercept_precision": 0.9, "precision": 0.4, "noise_precision": 1.8}


def log_density_of_rated(intercept, coefficient):
    """Of ratings, kinds and their coefficients, given topics `OF_RATED` and `PRECISIONS`."""
    total = stats.norm.logpdf(intercept, scale=0.9**-0.5).sum()
    total += stats.norm.logpdf(coefficient, scale=0.4**-0.5).sum()
    shares = [[1 / 3, 2 / 3], [1 / 2, 1 / 2], [0.0, 0.0], [0.0, 1.0]]
    for share, rating, kind in zip(shares, [1.5, -0.5, 2.0, 0.3], [1, None, 0, 2], strict=True):
        predicted = intercept + coefficient @ share
        total += stats.norm.logpdf(rating, predicted[0], 1.8**-0.5)
        if kind is not None:
            log_odds = [0.0, predicted[1], predicted[2]]
            total += log_odds[kind] - math.log(sum(map(math.exp, log_odds)))
    return total


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

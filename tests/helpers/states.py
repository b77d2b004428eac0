"""Chains of two states, which are right and may be slow."""

import numpy as np


def two_states(rng, chains, draws, probability, lasts):
    """Right chains (chain, draw) of an event, 0.0 or 1.0, each from an independent draw.

    A state is drawn anew every `lasts` draws on average: with 1, draws are independent.
    """
    renewed = rng.random((chains, draws)) < 1.0 / lasts
    renewed[:, 0] = True
    states = rng.random((chains, draws)) < probability
    last = np.maximum.accumulate(np.where(renewed, np.arange(draws), 0), axis=1)
    return np.take_along_axis(states, last, axis=1) * 1.0

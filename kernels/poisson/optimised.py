"""Sweeps that optimise where the exact ones draw: eta by MALLET's fixed point. Not exact."""

import numpy as np

from ..toolbox.jit import kernel
from ..toolbox.random import is_sampled
from ..toolbox.sides import finish_pass, move_documents
from .sweeps import guarded_pass

MOST_STEPS = 200
"""Of the fixed point, as in MALLET."""

LEAST, MOST = 1e-100, 1e100
"""Where eta is kept: where every topic has one word, the likelihood has its maximum at zero."""


@kernel
def more_than(sizes):
    """Count how many of `sizes` are above 0, 1, 2 and so on."""
    return np.bincount(sizes.astype(np.int64))[::-1].cumsum()[::-1][1:]


@kernel
def rising_slope(above, x):
    """Return the derivative of the sum of log Γ(x + n) / Γ(x) over sizes n; `above` is by `more_than`."""
    out = 0.0
    for j in range(above.size):
        out += above[j] / (x + j)
    return out


@kernel
def climb_smoothing(topics):
    """Bring eta to a maximum of the likelihood of the words given their topics, unless it is fixed.

    By ``learnSymmetricConcentration`` of MALLET, a fixed point of Minka's (2000): it climbs in each step.
    The prior of eta plays no part.
    """
    if not is_sampled(topics.eta_prior) or topics.listed_count.size == 0:
        return
    n_words = topics.n_listed.size
    listed = np.zeros(topics.listed_count.size, np.int64)
    for w in range(n_words):
        for j in range(topics.word_ptr[w], topics.word_ptr[w] + topics.n_listed[w]):
            listed[j] = topics.listed_count[j]
    of_words, of_topics = more_than(listed), more_than(topics.total)
    for _ in range(MOST_STEPS):
        eta = topics.eta[0]
        mean = n_words * rising_slope(of_topics, n_words * eta)
        topics.eta[0] = min(max(eta * rising_slope(of_words, eta) / mean, LEAST), MOST)


@kernel
def optimised_sweep(rng, state):
    """Do what the guarded sweep does, but with eta optimised. Mutates `state`; False for want of room."""
    tokens, documents, topics, scratch = state
    through = guarded_pass(rng, tokens, documents, topics, scratch)
    if through:
        finish_pass(rng, topics)
        move_documents(rng, tokens, documents, topics, scratch)
        climb_smoothing(topics)
    return through

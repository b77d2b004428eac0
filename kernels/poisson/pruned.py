"""A sweep of a gamma belief network that prunes: empty topics never come back. Not exact."""

import numpy as np

from ..toolbox.jit import kernel
from ..toolbox.sides import finish_pass, move_topics
from .layers import draw_downwards, draw_upwards
from .sweeps import guarded_pass


@kernel
def prune(documents):
    """Cut topics without a token or table out of all layers: the links to them or, in the highest, their r.

    The links that are left, made to sum to one again, have the law of links that are drawn among these
    topics alone. Layers are drawn downwards after this, and give nothing to a topic without links or r.
    """
    counts = documents.counts
    for s in range(counts.shape[0]):
        tables = counts[s].sum(axis=0)
        if tables.sum() == 0:
            return
        for k in np.flatnonzero(tables == 0):
            if s < counts.shape[0] - 1:
                documents.link[s, :, k] = 0.0
            else:
                documents.r[k] = 0.0
        if s < counts.shape[0] - 1:
            normalise(documents.link[s], tables > 0)


@kernel
def normalise(links, kept):
    """Make rows of `links` (K, K) sum to one; a row of which nothing is left is uniform over `kept` (K,)."""
    for k in range(links.shape[0]):
        total = links[k].sum()
        if total > 0.0:
            links[k] /= total
        else:
            links[k] = kept.astype(np.float64) / kept.sum()


@kernel
def pruned_sweep(rng, state):
    """Do what the guarded sweep does, and prune. Mutates `state`; returns whether there was room."""
    tokens, documents, topics, scratch = state
    through = guarded_pass(rng, tokens, documents, topics, scratch)
    if through:
        finish_pass(rng, topics)
        draw_upwards(rng, tokens, documents, scratch)
        prune(documents)
        draw_downwards(rng, documents)
        move_topics(rng, topics)
    return through

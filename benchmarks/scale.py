"""Sweeps in blocks against the sparse sweep: speed out of cache, what a second thread gains, and mixing.

    python -m benchmarks.scale [--tokens 10000000] [--parts speed threads mixing]

``speed``: million tokens per CPU-second of one thread, `lda` with all hyperparameters fixed, on a synthetic
corpus of `N_WORDS` words by Zipf's law, from the topics that made it. ``threads``: wall time of the same
sweeps in one thread and in two. ``mixing``: effective sample size of global quantities per CPU-second, all
hyperparameters sampled, on a simulated corpus on which chains meet. Prints what it finds.
"""

import argparse
import os
import time
from typing import Any

import bnpzoo
import numpy as np
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.inference.convergence import ess, rhat

from .speed import processor

N_WORDS, N_TOPICS, LENGTH = 90_000, 500, 100
ALPHA, ETA = 0.1, 0.01
VARIANTS = ("sparse", "blocked")


def zipf_corpus(n_tokens: int, seed: int = 0) -> tuple[Any, np.ndarray]:
    """Corpus of documents of `LENGTH` tokens and eight topics or so, and the topics of its tokens.

    Words of a topic are Dirichlet about Zipf's law, and so are those of all topics together.
    """
    rng = np.random.default_rng(seed)
    zipf = 1.0 / np.arange(1, N_WORDS + 1)
    zipf /= zipf.sum()
    n_documents = n_tokens // LENGTH
    theta = rng.standard_gamma(0.02, (n_documents, N_TOPICS)) + 1e-12
    running = np.cumsum(theta, axis=1)
    u = rng.random((n_documents, LENGTH)) * running[:, -1:]
    z = np.concatenate([np.searchsorted(row, points) for row, points in zip(running, u, strict=True)])
    words = np.empty(z.size, np.int32)
    by_topic = np.split(np.argsort(z, kind="stable"), np.cumsum(np.bincount(z, minlength=N_TOPICS))[:-1])
    for tokens in by_topic:
        phi = np.cumsum(rng.standard_gamma(1000.0 * zipf))
        words[tokens] = np.searchsorted(phi, rng.random(tokens.size) * phi[-1])
    return bnpzoo.Corpus(words, np.arange(0, z.size + 1, LENGTH), n_words=N_WORDS), z

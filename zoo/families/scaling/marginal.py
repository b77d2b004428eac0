"""Probabilities of topics of micro corpora, all else integrated out, by simulating proportions.

Given proportions, the probability of topics is a product, whose mean over many draws is what is asked for.
Where topics have no numbers, the probability of a partition sums this over all ways to give its blocks
different topics: by inversion over the coarser partitions, as where blocks may share a topic the sum over
topics is a product of sums.
"""

from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from math import factorial

import numpy as np

from ...toolbox.enumeration import restricted_growth_strings
from .laws import ScaleLaw

CHUNK = 20_000

LEFT_OUT = 1e-5
"""Expected weight of the topics that are left out where there is no limit to their number."""

type Blocks = tuple[tuple[int, ...], ...]
"""How many tokens each block has in each document; blocks are sorted, as their order does not count."""


def blocks_of(z: np.ndarray, document: np.ndarray, n_documents: int) -> Blocks:
    """Blocks of tokens that share their topic."""
    counts = np.zeros((int(z.max(initial=-1)) + 1, n_documents), np.int64)
    np.add.at(counts, (z, document), 1)
    return tuple(sorted(tuple(map(int, row)) for row in counts if row.any()))


def log_partitions(
    draw_theta: Callable[[int], np.ndarray], document: np.ndarray, draws: int
) -> dict[Blocks, float]:
    """Log probability of a partition of tokens, by its blocks.

    Parameters
    ----------
    draw_theta : (n) -> float (n, D, K)
        Draws proportions of all documents.
    document : int (N,)
        Of the tokens, few of them.
    draws : int
    """
    n_documents = int(document.max(initial=-1)) + 1
    partitions = [blocks_of(z, document, n_documents) for z in restricted_growth_strings(document.size)]
    coarser = {blocks: 0.0 for blocks in partitions}
    for theta in _chunks(draw_theta, draws):
        together: dict[tuple[int, ...], np.ndarray] = {}
        for blocks in coarser:
            product = 1.0
            for block in blocks:
                if block not in together:
                    together[block] = _powers(theta, block).sum(axis=1)
                product = product * together[block]
            coarser[blocks] += float(np.sum(product)) / draws
    with np.errstate(divide="ignore"):
        return {blocks: float(np.log(max(_apart(blocks, coarser), 0.0))) for blocks in coarser}


def log_topics(
    draw_theta: Callable[[int], np.ndarray], document: np.ndarray, n_topics: int, draws: int
) -> Callable[[np.ndarray], float]:
    """Log probability of topics that have numbers, as a function of ``z``; see `log_partitions`."""
    n_documents = int(document.max(initial=-1)) + 1
    chunks = list(_chunks(draw_theta, draws))

    @cache
    def log_mean(counts: tuple[tuple[int, ...], ...]) -> float:
        total = 0.0
        for theta in chunks:
            product = np.ones(len(theta))
            for k, block in enumerate(counts):
                product *= _powers(theta[:, :, k : k + 1], block)[:, 0]
            total += float(product.sum())
        return float(np.log(total / draws))

    def log_probability(z: np.ndarray) -> float:
        counts = np.zeros((n_topics, n_documents), np.int64)
        np.add.at(counts, (z, document), 1)
        return log_mean(tuple(tuple(map(int, row)) for row in counts))

    return log_probability


def _chunks(draw_theta: Callable[[int], np.ndarray], draws: int) -> Iterator[np.ndarray]:
    for start in range(0, draws, CHUNK):
        yield draw_theta(min(CHUNK, draws - start))


def _powers(theta: np.ndarray, counts: tuple[int, ...]) -> np.ndarray:
    """Product over documents of proportions to the power of counts, float (n, K)."""
    out = np.ones(theta[:, 0].shape)
    for d, n in enumerate(counts):
        if n:
            out *= theta[:, d] ** n
    return out


def _apart(blocks: Blocks, coarser: dict[Blocks, float]) -> float:
    """Probability of a partition, given that of its blocks where they may share topics."""
    out = 0.0
    for merged in restricted_growth_strings(len(blocks)):
        sums = np.zeros((int(merged.max(initial=-1)) + 1, len(blocks[0]) if blocks else 0), np.int64)
        np.add.at(sums, merged, np.array(blocks, np.int64).reshape(len(blocks), -1))
        sign = 1.0
        for size in np.bincount(merged):
            sign *= (-1) ** (int(size) - 1) * factorial(int(size) - 1)
        out += sign * coarser[tuple(sorted(tuple(map(int, row)) for row in sums))]
    return out


@lru_cache(maxsize=8)
def law_of_topics(
    law: ScaleLaw,
    hyper: tuple[float, float],
    n_topics: int,
    lengths: tuple[int, ...],
    labels: tuple[tuple[float, ...], ...],
    draws: int,
) -> Callable[[np.ndarray], float]:
    """Log probability of topics of short documents, as a function of ``z``.

    Parameters
    ----------
    law : ScaleLaw
    hyper : (float, float)
        gamma and alpha, which also seed the simulation.
    n_topics : int
        0 for no limit: then the law is of partitions.
    lengths : tuple of int (D,)
    labels : tuple of tuple of float (D, J)
    draws : int
    """
    gamma, alpha = hyper
    filled = np.flatnonzero(lengths)
    rows = np.array(labels, float)[filled]
    document = np.repeat(np.arange(filled.size), np.array(lengths)[filled])
    rng = np.random.default_rng(np.array(hyper).view(np.uint32).tolist())
    n_sticks = n_topics or max(2, int(np.ceil(np.log(LEFT_OUT) / np.log(gamma / (1.0 + gamma)))))

    def draw_theta(n: int) -> np.ndarray:
        sticks = rng.beta(1.0, gamma, (n, n_sticks))
        sticks[:, -1] = 1.0
        left = np.cumprod(1.0 - sticks, axis=1)
        root = sticks * np.hstack([np.ones((n, 1)), left[:, :-1]])
        scale = np.exp(rows @ law.draw(rng, (n, rows.shape[1], n_sticks)))
        pi = np.maximum(rng.gamma(alpha * root[:, None], size=scale.shape), 1e-300) * scale
        return pi / pi.sum(axis=2, keepdims=True)

    if n_topics:
        return log_topics(draw_theta, document, n_topics, draws)
    of_partitions = log_partitions(draw_theta, document, draws)
    return lambda z: of_partitions[blocks_of(z, document, filled.size)]

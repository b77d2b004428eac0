"""The generator of models whose tasks mask their topics: masks and weights, given the documents' lengths."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from .collapsed import draw_categorical
from .contract import Latents
from .ibp import draw_masks, first_rows
from .length_models import highest_log_lengths, log_lengths

MOST_ATTEMPTS = 2_000_000


class MaskPrior(Protocol):
    """What the generator needs to know of a model."""

    epsilon: float
    a1: float
    a2: float
    lengths: str


class Configuration(NamedTuple):
    """Topics that some task has: ``alpha``, float; ``log_weight`` (C, K), -inf where off; ``shape`` (K,)."""

    alpha: float
    log_weight: np.ndarray
    shape: np.ndarray


def draw_configuration(
    task_lengths: Sequence[np.ndarray],
    prior: MaskPrior,
    alpha: float | Callable[[np.random.Generator, int], np.ndarray],
    rng: np.random.Generator,
) -> Configuration:
    """Draw masks and weights given the lengths of each task's documents, by rejection.

    Parameters
    ----------
    task_lengths : sequence of int (D_c,)
    prior : MaskPrior
    alpha : float or (rng, n) -> float (n,)
        A number, or a sampler of its prior.
    rng : numpy.random.Generator

    Raises
    ------
    ValueError
        No draw had such lengths.
    """
    highest = sum(highest_log_lengths(lengths, prior.lengths) for lengths in task_lengths)
    n_tasks = len(task_lengths)
    expected = first_rows(n_tasks, prior.epsilon).sum()
    attempts, n = 0, 64
    while attempts < MOST_ATTEMPTS:
        alphas = alpha(rng, n) if callable(alpha) else np.full(n, alpha)
        n_topics = rng.poisson(alphas * expected)
        owner = np.repeat(np.arange(n), n_topics)
        mask = draw_masks(owner.size, n_tasks, prior.epsilon, rng)
        shape = rng.gamma(prior.a1, prior.a2, owner.size)
        log_weight = np.where(mask, _log_gamma(shape[:, None], mask.shape, rng), -np.inf)
        mass = np.zeros((n, n_tasks))
        np.add.at(mass, owner, np.exp(log_weight))
        log_ratio = -highest + sum(
            log_lengths(mass[:, c], lengths, prior.lengths) for c, lengths in enumerate(task_lengths)
        )
        accepted = np.flatnonzero(np.log(1.0 - rng.random(n)) < log_ratio)
        if accepted.size:
            mine = owner == accepted[0]
            return Configuration(float(alphas[accepted[0]]), log_weight[mine].T, shape[mine])
        attempts += n
        n = min(2 * n, 8192)
    raise ValueError(
        f"sparse_transfer: none of {attempts:,} draws from the prior had documents of the design's lengths; "
        'expected lengths that alpha, epsilon, a1 and a2 make likely, or lengths="none"'
    )


def _log_gamma(shape: np.ndarray, size: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Log of gamma variates, safe for tiny shapes."""
    return np.log(rng.gamma(shape + 1.0, size=size)) - rng.exponential(size=size) / shape


def seat_tokens(
    configuration: Configuration, doc_lengths: np.ndarray, group: np.ndarray, rng: np.random.Generator
) -> Latents:
    """Draw each document's topic proportions and its tokens' topics; ghosts come after the topics in use."""
    log_weight, shape = configuration.log_weight, configuration.shape
    labels = [np.zeros(0, np.int64)]
    for c, n in zip(group, doc_lengths, strict=True):
        if n > 0:
            on = np.flatnonzero(log_weight[c] > -np.inf)
            gammas = _log_gamma(np.exp(log_weight[c, on]), on.shape, rng)
            share = np.exp(gammas - gammas.max())
            labels.append(on[draw_categorical(np.tile(share, (n, 1)), rng)])
    z = np.concatenate(labels)
    used, first = np.unique(z, return_index=True)
    order = np.concatenate([used[np.argsort(first)], np.setdiff1d(np.arange(shape.size), used)])
    rank = np.empty(shape.size, np.int64)
    rank[order] = np.arange(shape.size)
    return {
        "z": rank[z],
        "log_weight": log_weight[:, order],
        "shape": shape[order],
        "alpha": np.asarray(configuration.alpha),
    }

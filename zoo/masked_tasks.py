"""The generator of models whose tasks mask their topics: masks and weights, given the documents' lengths."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from .collapsed import by_first_appearance, draw_categorical, draw_dirichlet, log_gamma
from .contract import Latents
from .ibp import draw_masks, first_rows
from .length_models import highest_log_lengths, log_lengths
from .rejection import first_accepted


class Configuration(NamedTuple):
    """Topics that some task has: ``alpha``, float; ``log_weight`` (C, K), -inf where off; ``shape`` (K,)."""

    alpha: float
    log_weight: np.ndarray
    shape: np.ndarray


class _Batch(NamedTuple):
    """Proposals: ``alpha`` (n,), and their topics one below the other, with the proposal that owns each."""

    alpha: np.ndarray
    owner: np.ndarray
    log_weight: np.ndarray
    shape: np.ndarray


def draw_configuration(
    task_lengths: Sequence[np.ndarray],
    lengths: str,
    alpha: float | Callable[[np.random.Generator, int], np.ndarray],
    epsilon: float,
    a1: float,
    a2: float,
    rng: np.random.Generator,
) -> Configuration:
    """Draw masks and weights given the lengths of each task's documents, by rejection.

    Parameters
    ----------
    task_lengths : sequence of int (D_c,)
    lengths : {"task", "document", "none"}
    alpha : float or (rng, n) -> float (n,)
        A number, or a sampler of its prior.
    epsilon, a1, a2 : float
    rng : numpy.random.Generator

    Raises
    ------
    ValueError
        No draw had such lengths.
    """
    highest = sum(highest_log_lengths(of_task, lengths) for of_task in task_lengths)
    n_tasks = len(task_lengths)
    expected = first_rows(n_tasks, epsilon).sum()

    def propose(n: int) -> tuple[_Batch, np.ndarray]:
        alphas = alpha(rng, n) if callable(alpha) else np.full(n, alpha)
        owner = np.repeat(np.arange(n), rng.poisson(alphas * expected))
        mask = draw_masks(owner.size, n_tasks, epsilon, rng)
        shape = rng.gamma(a1, a2, owner.size)
        log_weight = np.where(mask, log_gamma(shape[:, None], mask.shape, rng), -np.inf)
        mass = np.zeros((n, n_tasks))
        np.add.at(mass, owner, np.exp(log_weight))
        log_probability = np.full(n, -highest)
        for c, of_task in enumerate(task_lengths):
            log_probability += log_lengths(mass[:, c], of_task, lengths)
        return _Batch(alphas, owner, log_weight, shape), log_probability

    wanted = "documents of the design's lengths: expected some that alpha, epsilon, a1 and a2 make likely"
    batch, i = first_accepted(propose, rng, wanted)
    mine = batch.owner == i
    return Configuration(float(batch.alpha[i]), batch.log_weight[mine].T, batch.shape[mine])


def seat_tokens(
    configuration: Configuration, doc_lengths: np.ndarray, group: np.ndarray, rng: np.random.Generator
) -> Latents:
    """Draw each document's topic proportions and its tokens' topics; ghosts come after the topics in use."""
    log_weight, shape = configuration.log_weight, configuration.shape
    labels = [np.zeros(0, np.int64)]
    for c, n in zip(group, doc_lengths, strict=True):
        if n > 0:
            on = np.flatnonzero(log_weight[c] > -np.inf)
            share = draw_dirichlet(np.exp(log_weight[c, on]), rng)
            labels.append(on[draw_categorical(np.tile(share, (n, 1)), rng)])
    z = np.concatenate(labels)
    return latents_of_tasks(z, log_weight, shape) | {"alpha": np.asarray(configuration.alpha)}


def latents_of_tasks(z: np.ndarray, log_weight: np.ndarray, shape: np.ndarray) -> Latents:
    """Renumber topics: those in use by first appearance, then ghosts; others, off in all tasks, are dropped.

    Parameters
    ----------
    z : int (N,)
    log_weight : float (C, K)
        -inf where a topic is off.
    shape : float (K,)
    """
    z, used = by_first_appearance(z)
    ghosts = np.setdiff1d(np.flatnonzero((log_weight > -np.inf).any(axis=0)), used)
    order = np.concatenate([used, ghosts])
    return {"z": z, "log_weight": log_weight[:, order], "shape": shape[order]}

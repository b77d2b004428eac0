"""Generators of models where the weights of a task's topics say how long its documents are."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...contract import Hyperparameter, Latents, Prior
from ...toolbox.draws import draw_categorical, draw_dirichlet
from ...toolbox.laws import by_first_appearance
from .ibp import draw_masks, first_rows
from .lengths import highest_log_lengths, log_lengths

MOST_ATTEMPTS, MOST_NUMBERS = 2_000_000, 500_000_000
"""Draws from the prior before a generator gives up, and numbers in them."""
LARGEST_BATCH, LARGEST_ARRAY = 8192, 2_000_000
"""Draws that are made at once, and numbers in an array of them."""
FEWEST_POSSIBLE = 1000
"""Draws under which the lengths are possible, before their mean probability is relied on."""


class Draws(NamedTuple):
    """Draws from a prior, with their topics one below the other.

    Attributes
    ----------
    hyper : mapping of str to float (n,)
    owner : int (T,)
        The draw that a topic belongs to.
    topics : mapping of str to array (T, …)
    mass : float (n, C)
        Sum of the weights of the topics that a task has.
    """

    hyper: Mapping[str, np.ndarray]
    owner: np.ndarray
    topics: Mapping[str, np.ndarray]
    mass: np.ndarray

    def one(self, i: int) -> Latents:
        """Hyperparameters of draw `i`, and its topics."""
        mine = self.owner == i
        hyper = {name: np.asarray(values[i]) for name, values in self.hyper.items()}
        return hyper | {name: values[mine] for name, values in self.topics.items()}


def draw_topics(
    alpha: np.ndarray, n_tasks: int, epsilon: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw an Indian buffet process for each `alpha` (n,): the topics that some task has.

    Returns
    -------
    owner, mask, stick : int (T,), bool (T, C), float (T,)
    """
    owner = np.repeat(np.arange(alpha.size), rng.poisson(alpha * first_rows(n_tasks, epsilon).sum()))
    return owner, *draw_masks(owner.size, n_tasks, epsilon, rng)


def expected_topics(alpha: Hyperparameter, n_tasks: int, epsilon: float) -> float:
    """Return how many topics are expected that some task has."""
    mean = alpha.mean if isinstance(alpha, Prior) else alpha
    return float(mean * first_rows(n_tasks, epsilon).sum())


def total_by_owner(weight: np.ndarray, owner: np.ndarray, n: int) -> np.ndarray:
    """Sum of the topics' weights (T, C) in each draw, float (n, C)."""
    out = np.zeros((n, weight.shape[1]))
    np.add.at(out, owner, weight)
    return out


def draw_given_lengths(
    draw_prior: Callable[[int], Draws],
    task_lengths: Sequence[np.ndarray] | np.ndarray,
    lengths: str,
    n_topics: float,
    rng: np.random.Generator,
    model_id: str,
) -> Latents:
    """Draw hyperparameters and topics given the lengths of each task's documents, by rejection.

    It gives up early where the probability of acceptance, known for every draw, is on average so small that
    a success is not to be expected. That depends on rejected draws only: those accepted keep their law.

    Parameters
    ----------
    draw_prior : (n) -> Draws
    task_lengths : sequence of int (D_c,)
    lengths : {"task", "document", "none"}
    n_topics : float
        Expected number of topics of a draw; bounds how many are drawn at once.
    rng : numpy.random.Generator
    model_id : str
        For the message.

    Raises
    ------
    ValueError
        No draw had such lengths.
    """
    highest = sum(highest_log_lengths(tuple(of_task.tolist()), lengths) for of_task in task_lengths)
    numbers = max(1, int(n_topics + 1.0) * len(task_lengths))
    most_attempts = min(MOST_ATTEMPTS, max(1, MOST_NUMBERS // numbers))
    attempts, possible, total, n = 0, 0, 0.0, 64
    while attempts < most_attempts:
        n = max(1, min(n, LARGEST_BATCH, LARGEST_ARRAY // numbers))
        draws = draw_prior(n)
        log_p = np.full(n, -highest)
        for c, of_task in enumerate(task_lengths):
            log_p += log_lengths(draws.mass[:, c], of_task, lengths)
        accepted = np.flatnonzero(-rng.standard_exponential(n) < log_p)
        if accepted.size:
            return draws.one(int(accepted[0]))
        attempts += n
        possible += np.count_nonzero(log_p > -np.inf)
        total += np.exp(log_p).sum()
        if possible >= FEWEST_POSSIBLE and most_attempts * total < 1e-3 * attempts:
            break
        n *= 2
    raise ValueError(
        f"{model_id}: none of {attempts:,} draws from the prior had documents of the design's lengths; "
        "expected fewer or shorter documents, or hyperparameters that make them likely; simulate_lengths "
        "(bnpzoo simulate without --length) draws the lengths too"
    )


def seat_tokens(
    draw: Latents, doc_lengths: np.ndarray, group: np.ndarray, rng: np.random.Generator
) -> Latents:
    """Draw each document's topic proportions and its tokens' topics; ghosts come after the topics in use.

    Parameters
    ----------
    draw : Latents
        ``alpha``, ``log_weight`` (K, C), -inf where off, and ``shape`` (K,).
    doc_lengths, group : int (D,)
    rng : numpy.random.Generator
    """
    log_weight = draw["log_weight"].T
    labels = [np.zeros(0, np.int64)]
    for c, n in zip(group, doc_lengths, strict=True):
        if n > 0:
            on = np.flatnonzero(log_weight[c] > -np.inf)
            share = draw_dirichlet(np.exp(log_weight[c, on]), rng)
            labels.append(on[draw_categorical(np.tile(share, (n, 1)), rng)])
    return latents_of_tasks(np.concatenate(labels), log_weight, draw["shape"]) | {"alpha": draw["alpha"]}


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

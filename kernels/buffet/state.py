"""State of the samplers of the sparse transfer topic model.

    rho_k                       Poisson process of intensity alpha / rho on (0, epsilon)
    mask_ck ~ Bernoulli(rho_k)
    shape_k ~ Gamma(a1, scale a2),   weight_ck ~ Gamma(shape_k, 1)
    theta_d ~ Dirichlet(mask_c · weight_c),   c = task of d

The theta are integrated out, and the lengths of a task's documents weigh its mass S, the sum of its weights,
by a factor h(S) (`zoo.families.buffet.lengths`). Represented are the topics that some task has on: those in
use, and *ghosts*, which no token is in. A slot of the arrays over topics whose `n_on` is 0 is free. Sweeps
end with the topics in use in front, then the ghosts, then nothing.
"""

import math
from typing import NamedTuple

import numpy as np

from ..toolbox.dirichlet import DirichletTopics
from ..toolbox.jit import borrowing_kernel, kernel
from ..toolbox.random import log_gamma_variate
from ..toolbox.sides import Tokens

LEAST = 1e-300
"""What a weight or shape below it counts as where its logarithm is not at hand: sums stay positive."""


class TaskMasks(NamedTuple):
    """Masks and weights of topics in tasks.

    Attributes
    ----------
    weight : float64 (C, capacity)
        phi, at least `LEAST`; 0 where the mask is off.
    log_weight : float64 (C, capacity)
        -inf where the mask is off. Exact also where phi underflows.
    count : int64 (C, capacity)
        Tokens, n_ck.
    n_on : int64 (capacity,)
        Tasks that have the topic on.
    shape : float64 (capacity,)
        gamma_k.
    stick : float64 (capacity,)
        rho_k, in samplers that draw it.
    version : int64 (1,)
        Grows whenever a mask changes.
    """

    weight: np.ndarray
    log_weight: np.ndarray
    count: np.ndarray
    n_on: np.ndarray
    shape: np.ndarray
    stick: np.ndarray
    version: np.ndarray


class TaskLengths(NamedTuple):
    """Documents of each task, and ``log h(S)`` as a sum of log-gamma functions (the zoo's `lengths.Weight`).

    Attributes
    ----------
    n_tokens : int64 (C,)
    rate : float64 (C,)
    ptr : int64 (C + 1,)
        Terms of task c are ``ptr[c]:ptr[c + 1]``; there are none where h is an exponential.
    offset, coefficient : float64 (terms,)
    doc_order : int64 (D,)
        Documents, task by task.
    doc_ptr : int64 (C + 1,)
    """

    n_tokens: np.ndarray
    rate: np.ndarray
    ptr: np.ndarray
    offset: np.ndarray
    coefficient: np.ndarray
    doc_order: np.ndarray
    doc_ptr: np.ndarray


class BuffetPrior(NamedTuple):
    """Prior of masks and weights.

    Attributes
    ----------
    alpha : float64 (1,)
    alpha_prior : float64 (2,)
        (shape, rate), or zeros for a fixed value.
    epsilon, a1, a2 : float
    log_reach : float64 (C + 1,)
        `zoo.families.buffet.ibp.log_reach`.
    log_join : float64 (C,)
        Log odds, the stick integrated out, that one more task has a topic that s others have:
        ``log_reach[s + 1] - log_reach[s]``; entry 0 is not used.
    first_rows : float64 (C,)
        `zoo.families.buffet.ibp.first_rows`.
    """

    alpha: np.ndarray
    alpha_prior: np.ndarray
    epsilon: float
    a1: float
    a2: float
    log_reach: np.ndarray
    log_join: np.ndarray
    first_rows: np.ndarray

    FIXED = ("alpha_prior", "epsilon", "a1", "a2", "log_reach", "log_join", "first_rows")


class MaskScratch(NamedTuple):
    """Working memory of a sweep.

    Attributes
    ----------
    doc_count : int64 (capacity,)
        n_dk of the current document; zero between documents.
    unseen : float64 (capacity,)
        Probability, under each topic, of a word that it has no token of; holds in a pass over the tokens.
    scores : float64 (capacity + 1,)
    closed : float64 (C, capacity)
        Weight of a topic for a token of a task that does not have it, before its word is seen.
    opening : float64 (C,)
        Weight of a new topic, over alpha, where everything without tokens is integrated out.
    block : int64 (V,)
        Tokens of each word that move together; zero between moves.
    mass, rate : float64 (C,)
        Mass of each task and the `tilt` there, as of `version`.
    version : int64 (C,)
        Version of the masks for which `mass`, `rate` and `closed` hold, where they are kept.
    progress : int64 (3,)
        Where a sweep that ran out of room for new topics goes on: stage; document; and how many new topics
        are to be made, once that has been drawn, else -1.
    level : float64 (1,)
        Height of the slice through the sticks.
    """

    doc_count: np.ndarray
    unseen: np.ndarray
    scores: np.ndarray
    closed: np.ndarray
    opening: np.ndarray
    block: np.ndarray
    mass: np.ndarray
    rate: np.ndarray
    version: np.ndarray
    progress: np.ndarray
    level: np.ndarray


class SparseTransferState(NamedTuple):
    """State of a chain."""

    tokens: Tokens
    topics: DirichletTopics
    masks: TaskMasks
    lengths: TaskLengths
    prior: BuffetPrior
    scratch: MaskScratch

    FIXED = ("lengths",)


@borrowing_kernel
def sum_of_log_rising(log_mass, mass, offset, coefficient):
    """``sum_j coefficient[j] (log Γ(mass + offset[j]) - log Γ(mass))``, also for a mass that underflows."""
    out = 0.0
    total = 0.0
    for j in range(offset.size):
        out += coefficient[j] * math.lgamma(mass + offset[j])
        total += coefficient[j]
    if total != 0.0:
        out += total * (log_mass - math.lgamma(mass + 1.0))
    return out


@borrowing_kernel
def log_h(lengths, c, mass):
    """Log weight of the mass of task `c`."""
    if mass <= 0.0:
        return -math.inf if lengths.n_tokens[c] > 0 else 0.0
    out = -lengths.rate[c] * mass
    at = slice(lengths.ptr[c], lengths.ptr[c + 1])
    return out + sum_of_log_rising(math.log(mass), mass, lengths.offset[at], lengths.coefficient[at])


@borrowing_kernel
def is_exponential(lengths, c):
    """Whether h of task `c` is ``exp(-rate S)``, so that topics do not depend on each other by it."""
    return lengths.ptr[c] == lengths.ptr[c + 1]


@borrowing_kernel
def tilt(lengths, c, mass):
    """Rate of an exponential that is close to h of task `c` above `mass`; any function of them would do."""
    if is_exponential(lengths, c):
        return lengths.rate[c]
    if mass <= 0.0:
        return 0.0
    return max(0.0, log_h(lengths, c, mass) - log_h(lengths, c, mass + 1.0))


@borrowing_kernel
def mass_without(masks, c, k, n_topics):
    """Mass of task `c` but for topic `k` (-1: all of it), summed anew: differences would lose digits."""
    out = 0.0
    for j in range(n_topics):
        if j != k:
            out += masks.weight[c, j]
    return out


@borrowing_kernel
def log_mass_without(masks, c, k, n_topics):
    """Logarithm of `mass_without`, exact also where weights underflow."""
    mass = mass_without(masks, c, k, n_topics)
    if mass > 1e10 * LEAST:
        return math.log(mass)
    out = -math.inf
    for j in range(n_topics):
        if j != k:
            out = np.logaddexp(out, masks.log_weight[c, j])
    return out


@borrowing_kernel
def at_least(log_value):
    """``exp(log_value)``, but no less than `LEAST`."""
    return max(math.exp(log_value), LEAST)


@borrowing_kernel
def set_weight(masks, c, k, log_weight):
    """Set the weight of topic `k`, which is on, in task `c`."""
    masks.log_weight[c, k] = log_weight
    masks.weight[c, k] = at_least(log_weight)


@borrowing_kernel
def set_on(masks, c, k, log_weight):
    """Turn topic `k` on in task `c`."""
    set_weight(masks, c, k, log_weight)
    masks.n_on[k] += 1
    masks.version[0] += 1


@borrowing_kernel
def set_off(masks, c, k):
    """Turn topic `k` off in task `c`."""
    masks.log_weight[c, k] = -math.inf
    masks.weight[c, k] = 0.0
    masks.n_on[k] -= 1
    masks.version[0] += 1


@borrowing_kernel
def is_on(masks, c, k):
    """Whether task `c` has topic `k`."""
    return masks.log_weight[c, k] > -math.inf


@borrowing_kernel
def free_slot(state):
    """Slot for a new topic, which the caller turns on; there must be room."""
    n_topics = state.topics.n_topics[0]
    for k in range(n_topics):
        if state.masks.n_on[k] == 0:
            return k
    state.topics.n_topics[0] += 1
    return n_topics


@kernel
def draw_shape(rng, prior):
    """Draw the shape of a topic from its prior."""
    return prior.a2 * at_least(log_gamma_variate(rng, prior.a1))


@borrowing_kernel
def has_slots(state, wanted):
    """Whether there are slots for as many new topics."""
    n_topics = state.topics.n_topics[0]
    free = state.masks.n_on.size - n_topics
    for k in range(n_topics):
        if state.masks.n_on[k] == 0:
            free += 1
    return free >= wanted


@kernel
def random_order(rng, n):
    """Draw a permutation of ``0..n-1``."""
    order = np.arange(n)
    for j in range(n - 1, 0, -1):
        other = int(rng.random() * (j + 1))
        order[j], order[other] = order[other], order[j]
    return order


@kernel
def renumber(state):
    """Put the topics in use in front and the ghosts behind them; free slots are forgotten."""
    masks, topics, tokens = state.masks, state.topics, state.tokens
    n_topics = topics.n_topics[0]
    order = np.empty(n_topics, np.int64)
    new_name = np.full(n_topics, -1, np.int32)
    n_kept = 0
    for ghosts in range(2):
        for k in range(n_topics):
            if masks.n_on[k] > 0 and (topics.total[k] == 0) == (ghosts == 1):
                new_name[k] = n_kept
                order[n_kept] = k
                n_kept += 1
    for c in range(masks.weight.shape[0]):
        masks.weight[c, :n_kept] = masks.weight[c][order[:n_kept]]
        masks.log_weight[c, :n_kept] = masks.log_weight[c][order[:n_kept]]
        masks.count[c, :n_kept] = masks.count[c][order[:n_kept]]
    masks.n_on[:n_kept] = masks.n_on[order[:n_kept]]
    masks.shape[:n_kept] = masks.shape[order[:n_kept]]
    masks.stick[:n_kept] = masks.stick[order[:n_kept]]
    topics.total[:n_kept] = topics.total[order[:n_kept]]
    masks.weight[:, n_kept:n_topics] = 0.0
    masks.log_weight[:, n_kept:n_topics] = -math.inf
    masks.count[:, n_kept:n_topics] = 0
    masks.n_on[n_kept:n_topics] = 0
    topics.total[n_kept:n_topics] = 0
    topics.n_topics[0] = n_kept
    for i in range(tokens.topic.size):
        tokens.topic[i] = new_name[tokens.topic[i]]
    for w in range(topics.n_listed.size):
        for j in range(topics.word_ptr[w], topics.word_ptr[w] + topics.n_listed[w]):
            topics.listed_topic[j] = new_name[topics.listed_topic[j]]

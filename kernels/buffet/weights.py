"""Weights of topics in tasks, shapes of topics, alpha: slice moves, and moves of whole blocks of tokens."""

import math
from typing import NamedTuple

import numpy as np

from ..toolbox.dirichlet import list_token, unlist_token
from ..toolbox.jit import kernel
from ..toolbox.random import categorical, is_sampled, log_density, slice_sample
from ..toolbox.sides import move_topics
from .state import (
    at_least,
    draw_shape,
    free_slot,
    is_on,
    log_mass_without,
    renumber,
    set_off,
    set_on,
    set_weight,
    sum_of_log_rising,
)


class LogTaskWeight(NamedTuple):
    """Target of ``log phi_ck``.

    Attributes
    ----------
    shape : float
    size, how_often : float64 (distinct,)
        Non-zero n_dk in the task's documents, and how many documents there are of each.
    log_rest : float
        Logarithm of the mass of the task's other topics; -inf without any.
    rate : float
    offset, coefficient : float64 (terms,)
        h of the task; see `TaskLengths`.
    """

    shape: float
    size: np.ndarray
    how_often: np.ndarray
    log_rest: float
    rate: float
    offset: np.ndarray
    coefficient: np.ndarray


@log_density.implement(LogTaskWeight)
def _log_density_of_weight(target, x):
    # Gamma(shape, 1) times Jacobian, times prod_d (phi)_n_dk and h(rest + phi). A small shape brings phi far
    # below the least float, so the density has to hold there as well.
    if x >= 700.0:
        return -math.inf
    weight = math.exp(x)
    mass = math.exp(target.log_rest) + weight
    log_mass = np.logaddexp(target.log_rest, x)
    out = target.shape * x - weight - target.rate * mass
    out += sum_of_log_rising(x, weight, target.size, target.how_often)
    return out + sum_of_log_rising(log_mass, mass, target.offset, target.coefficient)


class LogShape(NamedTuple):
    """Target of ``log gamma_k``: prior's shape and scale; number of the topic's weights, sum of logs."""

    a1: float
    a2: float
    n_on: float
    sum_of_logs: float


@log_density.implement(LogShape)
def _log_density_of_shape(target, x):
    # Gamma(a1, scale a2) times Jacobian, times prod_c Gamma(phi_ck; shape, 1)
    if x >= 700.0:
        return -math.inf
    shape = math.exp(x)
    out = target.a1 * x - shape / target.a2
    return out + shape * target.sum_of_logs + target.n_on * (x - math.lgamma(shape + 1.0))


@kernel
def counts_of_task(state, c):
    """Non-zero n_dk of the documents of task `c`, by topic: those of topic k are ``n[ptr[k]:ptr[k + 1]]``."""
    tokens, count = state.tokens, state.scratch.doc_count
    documents = state.lengths.doc_order[state.lengths.doc_ptr[c] : state.lengths.doc_ptr[c + 1]]
    n_topics = state.topics.n_topics[0]
    ptr = np.zeros(n_topics + 1, np.int64)
    for d in documents:
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            k = tokens.topic[i]
            if count[k] == 0:
                ptr[k + 1] += 1
            count[k] += 1
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            count[tokens.topic[i]] = 0
    for k in range(n_topics):
        ptr[k + 1] += ptr[k]
    n = np.empty(ptr[n_topics], np.int64)
    end = ptr.copy()
    for d in documents:
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            count[tokens.topic[i]] += 1
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            k = tokens.topic[i]
            if count[k] > 0:
                n[end[k]] = count[k]
                end[k] += 1
                count[k] = 0
    return ptr, n


@kernel
def tally(values):
    """Distinct positive values, and how often each occurs; as floats."""
    counts = np.bincount(values) if values.size > 0 else np.zeros(1, np.int64)
    distinct = np.flatnonzero(counts)
    return distinct.astype(np.float64), counts[distinct].astype(np.float64)


@kernel
def update_weights(rng, state):
    """Slice-sample the weight of every topic that is on in a task."""
    masks, lengths = state.masks, state.lengths
    n_topics = state.topics.n_topics[0]
    for c in range(masks.weight.shape[0]):
        ptr, n = counts_of_task(state, c)
        terms = slice(lengths.ptr[c], lengths.ptr[c + 1])
        for k in range(n_topics):
            if is_on(masks, c, k):
                size, how_often = tally(n[ptr[k] : ptr[k + 1]])
                target = LogTaskWeight(
                    masks.shape[k],
                    size,
                    how_often,
                    log_mass_without(masks, c, k, n_topics),
                    lengths.rate[c],
                    lengths.offset[terms],
                    lengths.coefficient[terms],
                )
                # The logarithm of a Gamma(shape) variate spreads over 1 / shape where the shape is small.
                width = max(1.0, 1.0 / masks.shape[k])
                set_weight(masks, c, k, slice_sample(rng, target, masks.log_weight[c, k], width))


@kernel
def update_shapes(rng, state):
    """Slice-sample the shape of every represented topic."""
    masks, prior = state.masks, state.prior
    for k in range(state.topics.n_topics[0]):
        if masks.n_on[k] > 0:
            sum_of_logs = 0.0
            for c in range(masks.weight.shape[0]):
                if is_on(masks, c, k):
                    sum_of_logs += masks.log_weight[c, k]
            target = LogShape(prior.a1, prior.a2, float(masks.n_on[k]), sum_of_logs)
            masks.shape[k] = at_least(slice_sample(rng, target, math.log(masks.shape[k]), 1.0))


@kernel
def update_alpha(rng, state):
    """Draw alpha given how many topics are represented, ghosts among them."""
    prior = state.prior
    if is_sampled(prior.alpha_prior):
        n_topics = np.count_nonzero(state.masks.n_on[: state.topics.n_topics[0]])
        rate = prior.alpha_prior[1] + prior.first_rows.sum()
        prior.alpha[0] = rng.standard_gamma(prior.alpha_prior[0] + n_topics) / rate


@kernel
def lift_block(state, c, k):
    """Take all tokens of task `c` out of topic `k`; returns their distinct words, counted in the scratch."""
    tokens, topics, block = state.tokens, state.topics, state.scratch.block
    words = np.empty(state.masks.count[c, k], np.int64)
    n_words = 0
    for d in state.lengths.doc_order[state.lengths.doc_ptr[c] : state.lengths.doc_ptr[c + 1]]:
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            if tokens.topic[i] == k:
                w = tokens.words[i]
                unlist_token(topics, w, k)
                tokens.topic[i] = -1
                if block[w] == 0:
                    words[n_words] = w
                    n_words += 1
                block[w] += 1
    return words[:n_words]


@kernel
def drop_block(state, c, k, words):
    """Put the tokens that `lift_block` took out into topic `k`."""
    tokens = state.tokens
    for d in state.lengths.doc_order[state.lengths.doc_ptr[c] : state.lengths.doc_ptr[c + 1]]:
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            if tokens.topic[i] < 0:
                tokens.topic[i] = k
                list_token(state.topics, tokens.words[i], k)
    for w in words:
        state.scratch.block[w] = 0


@kernel
def log_gamma_density(log_weight, shape):
    """Log density of the logarithm of a Gamma(`shape`, 1) weight; that of the weight would lose digits."""
    return shape * log_weight - math.exp(log_weight) - math.lgamma(shape)


@kernel
def weigh_destinations(state, c, words, size, log_weight, new_shape):
    """Score where a lifted block may go, in logs: topics that are off in `c`, then a new one."""
    masks, topics, prior = state.masks, state.topics, state.prior
    scores, block = state.scratch.scores, state.scratch.block
    n_topics = topics.n_topics[0]
    eta = topics.eta[0]
    smoothing = topics.n_listed.size * eta
    of_words = 0.0
    for w in words:
        of_words += math.lgamma(block[w] + eta) - math.lgamma(eta)
    for k in range(n_topics):
        scores[k] = -math.inf
        if masks.n_on[k] > 0 and not is_on(masks, c, k):
            n = topics.total[k] + smoothing
            scores[k] = prior.log_join[masks.n_on[k]] + log_gamma_density(log_weight, masks.shape[k])
            scores[k] += of_words + math.lgamma(n) - math.lgamma(n + size)
    for w in words:
        b = float(block[w])
        unseen = math.lgamma(b + eta) - math.lgamma(eta)
        for j in range(topics.word_ptr[w], topics.word_ptr[w] + topics.n_listed[w]):
            n = topics.listed_count[j] + eta
            scores[topics.listed_topic[j]] += math.lgamma(n + b) - math.lgamma(n) - unseen
    scores[n_topics] = math.log(prior.alpha[0]) + prior.log_reach[1] + of_words
    scores[n_topics] += log_gamma_density(log_weight, new_shape)
    scores[n_topics] += math.lgamma(smoothing) - math.lgamma(smoothing + size)


@kernel
def move_block(rng, state, c):
    """Move all tokens of task `c` in a random topic to one that is off there, mask and weight with them.

    Without it, tasks would find that they share a topic only by moving token after token. The task's mass
    stays, so h plays no part. There must be room for one topic.
    """
    masks, prior, scores = state.masks, state.prior, state.scratch.scores
    n_topics = state.topics.n_topics[0]
    n_on = 0
    for k in range(n_topics):
        n_on += 1 if is_on(masks, c, k) else 0
    if n_on == 0:
        return
    chosen = int(rng.random() * n_on)
    old = 0
    while not is_on(masks, c, old) or chosen > 0:
        chosen -= 1 if is_on(masks, c, old) else 0
        old += 1
    log_weight = masks.log_weight[c, old]
    size = masks.count[c, old]
    words = lift_block(state, c, old)
    masks.count[c, old] = 0
    set_off(masks, c, old)
    new_shape = masks.shape[old]
    if masks.n_on[old] > 0:
        new_shape = draw_shape(rng, prior)
    weigh_destinations(state, c, words, float(size), log_weight, new_shape)
    highest = scores[: n_topics + 1].max()
    for k in range(n_topics + 1):
        scores[k] = math.exp(scores[k] - highest)
    new = categorical(rng, scores, n_topics + 1)
    if new == n_topics:
        new = free_slot(state)
        masks.shape[new] = new_shape
    set_on(masks, c, new, log_weight)
    masks.count[c, new] = size
    drop_block(state, c, new, words)


@kernel
def move_masks_and_topics(rng, state):
    """Move weights, shapes, blocks, alpha, eta: what samplers share. There must be room for C + 1 topics."""
    update_weights(rng, state)
    update_shapes(rng, state)
    for _ in range(state.masks.weight.shape[0]):
        move_block(rng, state, int(rng.random() * state.masks.weight.shape[0]))
    update_alpha(rng, state)
    renumber(state)
    move_topics(rng, state.topics)

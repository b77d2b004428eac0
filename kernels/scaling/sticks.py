"""Sticks of a scaling process, by thinning; and the topics that come and go with them.

Given tables l_k and exposures F_k the density of the root is that of its process times

    prod_k (alpha root_k)^l_k exp(-alpha root_k F_k).

With customers c_k ~ Poisson(alpha root_k (F - F_k)^+) beside the tables, where F is the largest exposure of
topics that have tokens, what is left of the exponential is constant but for topics of a larger exposure:

    prod_k (alpha root_k)^(l_k + c_k) exp(-alpha root_k (F_k - F)^+).

So without the last factor the posterior of the root is that of a Dirichlet process. A draw from it is
proposed, the topics without customers and their scales drawn anew, and accepted by that factor; with it gamma
and the law of scales, each by a reversible step given the topics with customers alone. Where the number of
topics is fixed, F is the largest exposure of all, and the draw is exact.
"""

import math

import numpy as np

from ..toolbox.jit import kernel
from ..toolbox.random import (
    concentration,
    dirichlet,
    gamma_variate,
    is_sampled,
    log_beta_variate,
    log_gamma_variate,
)
from ..toolbox.sides import renumber
from .documents import cut_off, exposure_of
from .law import draw_law
from .state import LEAST_SCALE, LEFTOVER, LOG_INVERSE_GAMMA, MOST_SCALE, scale_of, weigh_topics


@kernel
def largest_exposure(documents, topics):
    """F: over the topics that have tokens, or over all where their number is fixed."""
    most = 0.0
    for k in range(topics.n_topics[0]):
        if documents.n_fixed[0] > 0 or topics.total[k] > 0:
            most = max(most, documents.exposure[k])
    return most


@kernel
def thin(rng, documents, topics):
    """Draw the customers of all topics."""
    most = largest_exposure(documents, topics)
    for k in range(topics.n_topics[0]):
        added = rng.poisson(documents.prior[0, k] * max(0.0, most - documents.exposure[k]))
        documents.customers[k] = documents.tables[k] + added


@kernel
def draw_fixed_sticks(rng, documents, n_topics):
    """Draw the root and gamma where the number of topics is fixed: the last stick is all that is left."""
    later = documents.customers[:n_topics].sum()
    log_rest = 0.0
    for k in range(n_topics - 1):
        later -= documents.customers[k]
        log_share, log_left = log_beta_variate(rng, 1.0 + documents.customers[k], documents.gamma[0] + later)
        documents.root[k] = math.exp(log_rest + log_share)
        log_rest += log_left
    documents.root[n_topics - 1] = math.exp(log_rest)
    if is_sampled(documents.gamma_prior):
        shape = documents.gamma_prior[0] + n_topics - 1
        documents.gamma[0] = gamma_variate(rng, shape, documents.gamma_prior[1] - log_rest)
    weigh_topics(documents, n_topics)


@kernel
def propose_gamma(rng, documents, n_topics):
    """Draw gamma given the customers, unless it is fixed; it is accepted with the root."""
    documents.next_gamma[0] = documents.gamma[0]
    if is_sampled(documents.gamma_prior):
        customers = documents.customers[:n_topics]
        n_seen = np.count_nonzero(customers)
        documents.next_gamma[0] = concentration(
            rng, documents.gamma[0], documents.gamma_prior, n_seen, np.array([customers.sum()]), 1.0
        )


@kernel
def propose_law(rng, documents, n_topics):
    """Draw the law of log scales given those of topics with customers; it is accepted with the root."""
    draw_law(rng, documents, np.flatnonzero(documents.customers[:n_topics]))


@kernel
def room_for_sticks(documents, n_topics):
    """How many topics there can be after a draw of the sticks: more come up once in 1e12 draws at most."""
    expected = -documents.next_gamma[0] * math.log(LEFTOVER)
    return n_topics + int(expected + 8.0 * math.sqrt(expected)) + 40


@kernel
def draw_scale(rng, documents, log_scale, scale):
    """Draw the log scales (J,) of a new topic from the law that is proposed, and fill in its scales (R,)."""
    first, second = documents.next_law_parameters[0], documents.next_law_parameters[1]
    column = log_scale.reshape(log_scale.size, 1)
    is_within = False
    while not is_within:
        is_within = True
        for j in range(log_scale.size):
            if documents.law[0] == LOG_INVERSE_GAMMA:
                log_scale[j] = math.log(second) - log_gamma_variate(rng, first)
            else:
                log_scale[j] = math.sqrt(first) * rng.standard_normal()
        for row in range(scale.size):
            scale[row] = scale_of(documents.labels, column, row, 0)
            is_within = is_within and LEAST_SCALE < scale[row] < MOST_SCALE


@kernel
def draw_sticks(rng, tokens, documents, topics):
    """Propose a root, gamma, law and topics without customers; accept them, or leave all as it is."""
    n_topics, most = topics.n_topics[0], largest_exposure(documents, topics)
    u_by_row, beyond = documents.u[documents.labels.row_doc], cut_off(documents)
    capacity, alpha, gamma = documents.root.size, documents.alpha[0], documents.next_gamma[0]
    kept = np.flatnonzero(documents.customers[:n_topics])
    sticks = np.empty(capacity + 1)
    sticks[: kept.size] = documents.customers[kept]
    sticks[kept.size] = gamma
    dirichlet(rng, sticks, kept.size + 1, sticks)
    rest = sticks[kept.size]
    log_scale = np.empty((capacity - kept.size, documents.log_scale.shape[0]))
    scale = np.empty((capacity - kept.size, documents.scale.shape[0]))
    log_ratio = 0.0
    for k in range(n_topics):
        log_ratio += alpha * documents.root[k] * max(0.0, documents.exposure[k] - most)
    for i in range(kept.size):
        log_ratio -= alpha * sticks[i] * max(0.0, documents.exposure[kept[i]] - most)
    n_new = 0
    while (rest > LEFTOVER or kept.size + n_new == 0) and kept.size + n_new < capacity:
        log_share, log_left = log_beta_variate(rng, 1.0, gamma)
        stick = rest * math.exp(log_share)
        sticks[kept.size + n_new] = stick
        rest *= math.exp(log_left)
        draw_scale(rng, documents, log_scale[n_new], scale[n_new])
        exposure = exposure_of(documents.labels, u_by_row, beyond, scale[n_new])
        log_ratio -= alpha * stick * max(0.0, exposure - most)
        n_new += 1
    if math.log(1.0 - rng.random()) < log_ratio:
        documents.gamma[0] = gamma
        documents.law_parameters[:] = documents.next_law_parameters
        keep_topics(tokens, documents, topics, kept)
        end = kept.size + n_new
        documents.root[:end] = sticks[:end]
        documents.root_rest[0] = rest
        for i in range(n_new):
            documents.log_scale[:, kept.size + i] = log_scale[i]
            documents.scale[:, kept.size + i] = scale[i]
        topics.n_topics[0] = end
        weigh_topics(documents, end)


@kernel
def keep_topics(tokens, documents, topics, kept):
    """Renumber the topics `kept`, among them all that have tokens, without gaps; forget the others."""
    n_topics = topics.n_topics[0]
    if kept.size == n_topics:
        return
    new_name = np.full(n_topics, -1, np.int32)
    for i in range(kept.size):
        k = kept[i]
        new_name[k] = i
        documents.log_scale[:, i] = documents.log_scale[:, k]
        documents.scale[:, i] = documents.scale[:, k]
        documents.n_in_label[:, i] = documents.n_in_label[:, k]
    renumber(tokens, topics, new_name, kept.size)
    documents.n_in_label[:, kept.size :] = 0.0

"""Hierarchical Dirichlet processes at two and three levels: direct assignment, exact and truncation-free.

    root ~ GEM(gamma)
    tasks[g] ~ DP(alpha0, root)        three levels; at two levels there is one group and tasks[0] = root
    theta_d ~ DP(alpha[g], tasks[g])   g = group of d

The theta are integrated out; the sticks of the topics in use are kept, and what is left of each stick in one
number (Teh, Jordan, Beal and Blei 2006, Section 5.3).
"""

import math
from typing import NamedTuple

import numpy as np

from ..toolbox.jit import kernel
from ..toolbox.random import concentration, crt, dirichlet, is_sampled, log_beta_variate
from ..toolbox.sides import (
    ROOM,
    Tokens,
    check_positive,
    check_side,
    draw_tables,
    move_documents,
    open_topic,
    renumber,
    topic_sizes,
    widened,
    with_capacity,
)


class StickDocuments(NamedTuple):
    """Document side of a hierarchical Dirichlet process.

    Attributes
    ----------
    prior : float64 (G, capacity)
        alpha[g] * tasks[g, k].
    rest : float64 (G,)
        alpha[g] times the part of tasks[g] that no represented topic has.
    root : float64 (capacity,)
    root_rest : float64 (1,)
    alpha : float64 (G,)
    alpha0, gamma : float64 (1,)
    n_levels : int64 (1,)
        2 or 3.
    alpha_prior, alpha0_prior, gamma_prior : float64 (2,)
    """

    prior: np.ndarray
    rest: np.ndarray
    root: np.ndarray
    root_rest: np.ndarray
    alpha: np.ndarray
    alpha0: np.ndarray
    gamma: np.ndarray
    n_levels: np.ndarray
    alpha_prior: np.ndarray
    alpha0_prior: np.ndarray
    gamma_prior: np.ndarray

    FIXED = ("n_levels", "alpha_prior", "alpha0_prior", "gamma_prior")


@open_topic.implement(StickDocuments)
def _break_sticks(rng, documents, topic, group):
    # A token that chose "a new topic" made a size-biased pick from the rest of the root, so that its share
    # is Beta(1, gamma). Given that share, the rest of each task is split by its Dirichlet process; the
    # task of the token has seen one more draw from it, hence the +1.
    log_share, log_left = log_beta_variate(rng, 1.0, documents.gamma[0])
    documents.root[topic] = documents.root_rest[0] * math.exp(log_share)
    documents.root_rest[0] *= math.exp(log_left)
    if documents.n_levels[0] == 2:
        documents.prior[0, topic] = documents.alpha[0] * documents.root[topic]
        documents.rest[0] = documents.alpha[0] * documents.root_rest[0]
        return
    for g in range(documents.rest.size):
        a = documents.alpha0[0] * documents.root[topic]
        if g == group:
            a += 1.0
        log_share, log_left = log_beta_variate(rng, a, documents.alpha0[0] * documents.root_rest[0])
        documents.prior[g, topic] = documents.rest[g] * math.exp(log_share)
        documents.rest[g] *= math.exp(log_left)


@kernel
def drop_empty_topics(tokens, documents, topics):
    """Renumber the topics in use without gaps; the rest of the sticks is left to be drawn anew."""
    size = topic_sizes(topics)
    new_name = np.full(topics.n_topics[0], -1, np.int32)
    n_kept = 0
    for k in range(topics.n_topics[0]):
        if size[k] > 0:
            new_name[k] = n_kept
            documents.root[n_kept] = documents.root[k]
            documents.prior[:, n_kept] = documents.prior[:, k]
            n_kept += 1
    renumber(tokens, topics, new_name, n_kept)


@kernel
def update_alpha(rng, tokens, documents, tables):
    """Draw the concentration of each group's documents given their tables, unless it is fixed."""
    if not is_sampled(documents.alpha_prior):
        return
    lengths = tokens.doc_ptr[1:] - tokens.doc_ptr[:-1]
    for g in range(documents.alpha.size):
        documents.alpha[g] = concentration(
            rng, documents.alpha[g], documents.alpha_prior, tables[g].sum(), lengths[tokens.group == g], 1.0
        )


@kernel
def draw_root_customers(rng, documents, tables):
    """Tables of the tasks' restaurants given those of the documents; at two levels, these themselves."""
    if documents.n_levels[0] == 2:
        return tables
    at_root = np.empty_like(tables)
    for g in range(tables.shape[0]):
        for k in range(tables.shape[1]):
            at_root[g, k] = crt(rng, tables[g, k], documents.alpha0[0] * documents.root[k])
    return at_root


@kernel
def update_sticks(rng, documents, tables, at_root):
    """Draw everything above the documents, given the tables of the documents' restaurants and the tasks'.

    From the leaves to the root with the sticks integrated out, then back with the sticks drawn: alpha0,
    gamma; then root, tasks.
    """
    n_groups, n_topics = tables.shape
    shapes = np.empty(n_topics + 1)
    if documents.n_levels[0] == 3 and is_sampled(documents.alpha0_prior):
        documents.alpha0[0] = concentration(
            rng, documents.alpha0[0], documents.alpha0_prior, at_root.sum(), tables.sum(axis=1), 1.0
        )
    dishes = at_root.sum(axis=0)
    if is_sampled(documents.gamma_prior):
        documents.gamma[0] = concentration(
            rng, documents.gamma[0], documents.gamma_prior, n_topics, np.array([dishes.sum()]), 1.0
        )
    shapes[:n_topics] = dishes
    shapes[n_topics] = documents.gamma[0]
    dirichlet(rng, shapes, n_topics + 1, shapes)
    documents.root[:n_topics] = shapes[:n_topics]
    documents.root_rest[0] = shapes[n_topics]
    for g in range(n_groups):
        if documents.n_levels[0] == 3:
            shapes[:n_topics] = tables[g] + documents.alpha0[0] * documents.root[:n_topics]
            shapes[n_topics] = documents.alpha0[0] * documents.root_rest[0]
            dirichlet(rng, shapes, n_topics + 1, shapes)
        documents.prior[g, :n_topics] = documents.alpha[g] * shapes[:n_topics]
        documents.rest[g] = documents.alpha[g] * shapes[n_topics]


@move_documents.implement(StickDocuments)
def _move_documents(rng, tokens, documents, topics, scratch):
    drop_empty_topics(tokens, documents, topics)
    tables = draw_tables(rng, tokens, documents, scratch, topics.n_topics[0])
    update_alpha(rng, tokens, documents, tables)
    update_sticks(rng, documents, tables, draw_root_customers(rng, documents, tables))


@with_capacity.register
def _(side: StickDocuments, capacity: int) -> StickDocuments:
    return side._replace(prior=widened(side.prior, capacity), root=widened(side.root, capacity))


def stick_documents(root, tasks, hyper, priors, n_levels) -> StickDocuments:
    """Document side of the given sticks, with room for more.

    Parameters
    ----------
    root : float (K + 1,)
        Sticks of the topics in use, and the rest.
    tasks : float (G, K + 1)
        The same for each group; equal to `root` at two levels.
    hyper : mapping of str to float or float (G,)
        ``alpha`` (G,), ``alpha0``, ``gamma``.
    priors : mapping of str to (shape, rate)
        (0, 0) for a hyperparameter that is fixed.
    n_levels : int
        2 or 3.
    """
    alpha = np.array(hyper["alpha"], float).reshape(-1)
    capacity = len(root) - 1 + ROOM
    return StickDocuments(
        prior=widened(alpha[:, None] * tasks[:, :-1], capacity),
        rest=alpha * tasks[:, -1],
        root=widened(np.array(root[:-1], float), capacity),
        root_rest=np.array([float(root[-1])]),
        alpha=alpha,
        alpha0=np.array([float(hyper["alpha0"])]),
        gamma=np.array([float(hyper["gamma"])]),
        n_levels=np.array([n_levels], np.int64),
        alpha_prior=np.array(priors["alpha"], float),
        alpha0_prior=np.array(priors["alpha0"], float),
        gamma_prior=np.array(priors["gamma"], float),
    )


@check_side.register
def _(side: StickDocuments, tokens: Tokens, n_topics: int) -> None:
    k = n_topics
    check_positive(alpha=side.alpha, gamma=side.gamma)
    if side.n_levels[0] == 3:
        check_positive(alpha0=side.alpha0)
    sticks = (side.root[:k], side.root_rest, side.prior[:, :k], side.rest)
    if not all(np.all((stick >= 0.0) & np.isfinite(stick)) for stick in sticks):
        raise AssertionError("a stick has no length")
    if not np.isclose(side.root[:k].sum() + side.root_rest[0], 1.0, atol=1e-12):
        raise AssertionError("the root sticks do not sum to one")
    mass = side.prior[:, :k].sum(axis=1) + side.rest
    if not np.allclose(mass, side.alpha, rtol=1e-12):
        raise AssertionError("a document prior does not sum to its concentration")

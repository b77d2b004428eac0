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

from .jit import kernel
from .random import concentration, crt, dirichlet, is_sampled, log_beta_variate
from .smoothing import update_smoothing
from .state import (
    DirichletTopics,
    Scratch,
    Tokens,
    check_counts,
    check_positive,
    check_scratch,
    dirichlet_topics,
    open_topic,
    scratch,
    tokens_of,
)
from .token_pass import dense_pass, sparse_pass


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
    """

    prior: np.ndarray
    rest: np.ndarray
    root: np.ndarray
    root_rest: np.ndarray
    alpha: np.ndarray
    alpha0: np.ndarray
    gamma: np.ndarray
    n_levels: np.ndarray

    FIXED = ("n_levels",)


class HdpState(NamedTuple):
    """State of a chain; priors are (shape, rate), or zeros for a fixed value."""

    tokens: Tokens
    documents: StickDocuments
    topics: DirichletTopics
    scratch: Scratch
    alpha_prior: np.ndarray
    alpha0_prior: np.ndarray
    gamma_prior: np.ndarray
    eta_prior: np.ndarray

    FIXED = ("alpha_prior", "alpha0_prior", "gamma_prior", "eta_prior")


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
    """Renumber the topics in use without gaps and give the sticks of the others back to the rest."""
    new_name = np.full(topics.n_topics[0], -1, np.int32)
    n_kept = 0
    for k in range(topics.n_topics[0]):
        if topics.total[k] > 0:
            new_name[k] = n_kept
            topics.total[n_kept] = topics.total[k]
            documents.root[n_kept] = documents.root[k]
            documents.prior[:, n_kept] = documents.prior[:, k]
            n_kept += 1
        else:
            documents.root_rest[0] += documents.root[k]
            documents.rest[:] += documents.prior[:, k]
    if n_kept == topics.n_topics[0]:
        return
    topics.total[n_kept:] = 0
    topics.n_topics[0] = n_kept
    for i in range(tokens.topic.size):
        tokens.topic[i] = new_name[tokens.topic[i]]
    for w in range(topics.n_listed.size):
        for j in range(topics.word_ptr[w], topics.word_ptr[w] + topics.n_listed[w]):
            topics.listed_topic[j] = new_name[topics.listed_topic[j]]


@kernel
def draw_tables(rng, tokens, documents, scratch, n_topics):
    """Tables of the documents' restaurants, by group and topic: sums of CRT(n_dk, prior[g, k])."""
    tables = np.zeros((documents.rest.size, n_topics), np.int64)
    count = scratch.doc_count
    for d in range(tokens.group.size):
        g = tokens.group[d]
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            count[tokens.topic[i]] += 1
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            k = tokens.topic[i]
            if count[k] > 0:
                tables[g, k] += crt(rng, count[k], documents.prior[g, k])
                count[k] = 0
    return tables


@kernel
def update_alpha(rng, tokens, documents, tables, prior):
    """Draw the concentration of each group's documents given their tables."""
    lengths = tokens.doc_ptr[1:] - tokens.doc_ptr[:-1]
    for g in range(documents.alpha.size):
        documents.alpha[g] = concentration(
            rng, documents.alpha[g], prior, tables[g].sum(), lengths[tokens.group == g], 1.0
        )


@kernel
def update_sticks(rng, state, tables):
    """Draw everything above the documents, given the tables of the documents' restaurants.

    From the leaves to the root with the sticks integrated out, then back with the sticks drawn: the tables
    of the tasks' restaurants, alpha0, gamma; then root, tasks.
    """
    documents = state.documents
    n_groups, n_topics = tables.shape
    shapes = np.empty(n_topics + 1)
    at_root = tables
    if documents.n_levels[0] == 3:
        at_root = np.empty_like(tables)
        for g in range(n_groups):
            for k in range(n_topics):
                at_root[g, k] = crt(rng, tables[g, k], documents.alpha0[0] * documents.root[k])
        if is_sampled(state.alpha0_prior):
            documents.alpha0[0] = concentration(
                rng, documents.alpha0[0], state.alpha0_prior, at_root.sum(), tables.sum(axis=1), 1.0
            )
    dishes = at_root.sum(axis=0)
    if is_sampled(state.gamma_prior):
        documents.gamma[0] = concentration(
            rng, documents.gamma[0], state.gamma_prior, n_topics, np.array([dishes.sum()]), 1.0
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


@kernel
def finish_sweep(rng, state):
    """All but the tokens: drop empty topics; tables; concentrations and sticks; eta."""
    drop_empty_topics(state.tokens, state.documents, state.topics)
    tables = draw_tables(rng, state.tokens, state.documents, state.scratch, state.topics.n_topics[0])
    if is_sampled(state.alpha_prior):
        update_alpha(rng, state.tokens, state.documents, tables, state.alpha_prior)
    update_sticks(rng, state, tables)
    update_smoothing(rng, state.topics, state.eta_prior)


@kernel
def sparse_sweep(rng, state):
    """One sweep with the sparse token pass; False if it stopped for want of room. Mutates `state`."""
    through = sparse_pass(rng, state.tokens, state.documents, state.topics, state.scratch)
    if through:
        finish_sweep(rng, state)
    return through


@kernel
def dense_sweep(rng, state):
    """One sweep with the dense token pass; False if it stopped for want of room. Mutates `state`."""
    through = dense_pass(rng, state.tokens, state.documents, state.topics, state.scratch)
    if through:
        finish_sweep(rng, state)
    return through


def with_room(state: HdpState) -> HdpState:
    """Copy of `state` with room for twice as many topics, and for those of its longest document."""
    tokens, topics, documents = state.tokens, state.topics, state.documents
    longest = int(np.diff(tokens.doc_ptr).max(initial=0))
    capacity = 2 * topics.total.size + longest + 1

    def wider(array: np.ndarray) -> np.ndarray:
        room = np.zeros((*array.shape[:-1], capacity), array.dtype)
        room[..., : array.shape[-1]] = array
        return room

    fresh = scratch(capacity)
    fresh.next_document[:] = state.scratch.next_document
    return state._replace(
        topics=topics._replace(total=wider(topics.total)),
        documents=documents._replace(prior=wider(documents.prior), root=wider(documents.root)),
        scratch=fresh,
    )


def make_state(words, doc_ptr, group, n_words, z, root, tasks, hyper, priors, n_levels) -> HdpState:
    """State that stands at topics `z` (-1 throughout: not seated yet) and the given sticks.

    Parameters
    ----------
    root : float (K + 1,)
        Sticks of the topics in `z`, and the rest.
    tasks : float (G, K + 1)
        The same for each group; equal to `root` at two levels.
    hyper : mapping of str to float or float (G,)
        ``alpha`` (G,), ``alpha0``, ``gamma``, ``eta``.
    priors : mapping of str to (shape, rate)
        (0, 0) for a hyperparameter that is fixed.
    """
    tokens = tokens_of(words, doc_ptr, group, z)
    n_topics = len(root) - 1
    capacity = n_topics + 64
    alpha = np.array(hyper["alpha"], float).reshape(-1)
    documents = StickDocuments(
        prior=np.zeros((len(tasks), capacity)),
        rest=alpha * tasks[:, -1],
        root=np.zeros(capacity),
        root_rest=np.array([root[-1]]),
        alpha=alpha,
        alpha0=np.array([float(hyper["alpha0"])]),
        gamma=np.array([float(hyper["gamma"])]),
        n_levels=np.array([n_levels], np.int64),
    )
    documents.root[:n_topics] = root[:-1]
    documents.prior[:, :n_topics] = alpha[:, None] * tasks[:, :-1]
    return HdpState(
        tokens=tokens,
        documents=documents,
        topics=dirichlet_topics(tokens, n_words, n_topics, capacity, float(hyper["eta"])),
        scratch=scratch(capacity),
        alpha_prior=np.array(priors["alpha"], float),
        alpha0_prior=np.array(priors["alpha0"], float),
        gamma_prior=np.array(priors["gamma"], float),
        eta_prior=np.array(priors["eta"], float),
    )


def check(state: HdpState) -> None:
    """Recount the statistics of `state`; raise AssertionError where one differs."""
    check_counts(state.tokens, state.topics)
    check_scratch(state.scratch)
    documents, k = state.documents, int(state.topics.n_topics[0])
    check_positive(alpha=documents.alpha, gamma=documents.gamma)
    if documents.n_levels[0] == 3:
        check_positive(alpha0=documents.alpha0)
    sticks = (documents.root[:k], documents.root_rest, documents.prior[:, :k], documents.rest)
    if not all(np.all((stick >= 0.0) & np.isfinite(stick)) for stick in sticks):
        raise AssertionError("a stick has no length")
    if not np.isclose(documents.root[:k].sum() + documents.root_rest[0], 1.0, atol=1e-12):
        raise AssertionError("the root sticks do not sum to one")
    mass = documents.prior[:, :k].sum(axis=1) + documents.rest
    if not np.allclose(mass, documents.alpha, rtol=1e-12):
        raise AssertionError("a document prior does not sum to its concentration")

"""Documents that mix the random measures of their labels: direct assignment, exact and truncation-free.

    root_j ~ GEM(gamma)                       topics of label j, which no other label has
    share_d ~ Dir(tau)                        over the labels of document d
    theta_d ~ DP(alpha, sum_j share_dj root_j)

The theta are integrated out. Kept are the sticks of the topics in use, for each label what is left of its
stick, and the shares. Documents with one label share a row of the prior; every other document has its own.
Given topics and the tables of the documents' restaurants all is conjugate: each table of a document is of a
label, and each table of a label of a topic.
"""

import math
from typing import NamedTuple

import numpy as np

from ..hdp.documents import drop_empty_topics
from ..toolbox.jit import kernel
from ..toolbox.random import (
    concentration,
    crt,
    dirichlet,
    gamma_variate,
    is_sampled,
    log_beta_variate,
    log_gamma_variate,
)
from ..toolbox.sides import (
    ROOM,
    Tokens,
    check_positive,
    check_side,
    draw_tables,
    move_documents,
    open_topic,
    widened,
    with_capacity,
)

LEAST_STICK = np.finfo(np.float64).tiny
"""A topic that is opened where next to nothing is left of a label still tells by its stick whose it is."""


class MixedDocuments(NamedTuple):
    """Document side of mixtures of labels' Dirichlet processes.

    Attributes
    ----------
    prior : float64 (R, capacity)
        ``alpha sum_j share[r, j] root[k, j]``.
    rest : float64 (R,)
        Alpha times what the labels of the row have left of their sticks, by their shares.
    root : float64 (capacity, J)
        Sticks of the topics in the labels: positive in the one that has the topic, zero in all others.
    left : float64 (J,)
        Rest of the stick of each label, which with its sticks sums to one.
    row_ptr : int64 (R + 1,)
        Documents of row r have the labels ``row_label[row_ptr[r]:row_ptr[r + 1]]``.
    row_label : int32 (E,)
    share : float64 (E,)
        Of these labels; 1 where there is one.
    alpha, gamma, tau : float64 (1,)
    alpha_prior, gamma_prior, tau_prior : float64 (2,)
    """

    prior: np.ndarray
    rest: np.ndarray
    root: np.ndarray
    left: np.ndarray
    row_ptr: np.ndarray
    row_label: np.ndarray
    share: np.ndarray
    alpha: np.ndarray
    gamma: np.ndarray
    tau: np.ndarray
    alpha_prior: np.ndarray
    gamma_prior: np.ndarray
    tau_prior: np.ndarray

    FIXED = ("row_ptr", "row_label", "alpha_prior", "gamma_prior", "tau_prior")


@kernel
def weigh_rests(documents):
    """Bring `rest` up to date."""
    for r in range(documents.rest.size):
        documents.rest[r] = 0.0
        for e in range(documents.row_ptr[r], documents.row_ptr[r + 1]):
            documents.rest[r] += (
                documents.alpha[0] * documents.share[e] * documents.left[documents.row_label[e]]
            )


@kernel
def weigh_topic(documents, k):
    """Bring the prior of topic `k` up to date in all rows."""
    for r in range(documents.rest.size):
        documents.prior[r, k] = 0.0
        for e in range(documents.row_ptr[r], documents.row_ptr[r + 1]):
            documents.prior[r, k] += (
                documents.alpha[0] * documents.share[e] * documents.root[k, documents.row_label[e]]
            )


@open_topic.implement(MixedDocuments)
def _break_stick(rng, documents, topic, group):
    # The label is that of the first of exponential clocks to ring, whose rates are the labels' rests.
    first, label = math.inf, documents.row_label[documents.row_ptr[group]]
    for e in range(documents.row_ptr[group], documents.row_ptr[group + 1]):
        rate = documents.share[e] * documents.left[documents.row_label[e]]
        if rate > 0.0:
            rings = rng.standard_exponential() / rate
            if rings < first:
                first, label = rings, documents.row_label[e]
    # As in `hdp.documents`: a size-biased pick from the rest of the label's stick.
    log_share, log_left = log_beta_variate(rng, 1.0, documents.gamma[0])
    documents.root[topic] = 0.0
    documents.root[topic, label] = max(documents.left[label] * math.exp(log_share), LEAST_STICK)
    documents.left[label] *= math.exp(log_left)
    weigh_topic(documents, topic)
    weigh_rests(documents)


@kernel
def draw_shares(rng, documents, tables):
    """Draw tau, with the shares integrated out, and then these, given tables (R, K)."""
    n_of = np.zeros(documents.share.size, np.int64)
    for r in range(documents.rest.size):
        for k in range(tables.shape[1]):
            if tables[r, k] > 0:
                for e in range(documents.row_ptr[r], documents.row_ptr[r + 1]):
                    if documents.root[k, documents.row_label[e]] > 0.0:
                        n_of[e] += tables[r, k]
    if is_sampled(documents.tau_prior):
        shape, rate, tau = documents.tau_prior[0], documents.tau_prior[1], documents.tau[0]
        for r in range(documents.rest.size):
            first, end = documents.row_ptr[r], documents.row_ptr[r + 1]
            n = n_of[first:end].sum()
            if end - first > 1 and n > 0:
                rate -= (end - first) * log_beta_variate(rng, (end - first) * tau, float(n))[0]
                for e in range(first, end):
                    shape += crt(rng, n_of[e], tau)
        documents.tau[0] = gamma_variate(rng, shape, rate)
    for r in range(documents.rest.size):
        first, end = documents.row_ptr[r], documents.row_ptr[r + 1]
        if end - first > 1:
            log_weight = np.empty(end - first)
            for e in range(first, end):
                log_weight[e - first] = log_gamma_variate(rng, documents.tau[0] + n_of[e])
            weight = np.exp(log_weight - log_weight.max())
            documents.share[first:end] = weight / weight.sum()


@kernel
def draw_roots(rng, documents, tables):
    """Draw gamma, with the sticks integrated out, and then the sticks of all labels, given tables (R, K)."""
    n_topics, n_labels = tables.shape[1], documents.left.size
    of_topic, of_label = tables.sum(axis=0), np.zeros(n_labels, np.int64)
    for k in range(n_topics):
        for j in range(n_labels):
            if documents.root[k, j] > 0.0:
                of_label[j] += of_topic[k]
    if is_sampled(documents.gamma_prior):
        documents.gamma[0] = concentration(
            rng, documents.gamma[0], documents.gamma_prior, n_topics, of_label, 1.0
        )
    sticks = np.empty(n_topics + 1)
    for j in range(n_labels):
        for k in range(n_topics):
            sticks[k] = of_topic[k] if documents.root[k, j] > 0.0 else 0.0
        sticks[n_topics] = documents.gamma[0]
        dirichlet(rng, sticks, n_topics + 1, sticks)
        documents.root[:n_topics, j] = sticks[:n_topics]
        documents.left[j] = sticks[n_topics]


@move_documents.implement(MixedDocuments)
def _move_documents(rng, tokens, documents, topics, scratch):
    drop_empty_topics(tokens, documents, topics)
    tables = draw_tables(rng, tokens, documents, scratch, topics.n_topics[0])
    if is_sampled(documents.alpha_prior):
        lengths = tokens.doc_ptr[1:] - tokens.doc_ptr[:-1]
        documents.alpha[0] = concentration(
            rng, documents.alpha[0], documents.alpha_prior, tables.sum(), lengths, 1.0
        )
    draw_shares(rng, documents, tables)
    draw_roots(rng, documents, tables)
    for k in range(topics.n_topics[0]):
        weigh_topic(documents, k)
    weigh_rests(documents)


@with_capacity.register
def _(side: MixedDocuments, capacity: int) -> MixedDocuments:
    return side._replace(prior=widened(side.prior, capacity), root=_by_topic(side.root.T, capacity))


def _by_topic(root: np.ndarray, capacity: int) -> np.ndarray:
    """Sticks (J, K), topics first, with room for `capacity` of them."""
    return np.ascontiguousarray(widened(root, capacity).T)


def mixed_documents(root, rows, share, hyper, priors) -> MixedDocuments:
    """Document side of the given sticks, with room for more.

    Parameters
    ----------
    root : float (J, K + 1)
        Of each label the sticks of the topics in use, zero where a topic is another's, and the rest.
    rows : (row_ptr, row_label)
        See `MixedDocuments`.
    share : float (E,)
    hyper : mapping of str to float
        ``alpha``, ``gamma``, ``tau``.
    priors : mapping of str to (shape, rate)
        (0, 0) for a hyperparameter that is fixed.
    """
    root = np.array(root, float)
    n_topics, n_rows = root.shape[1] - 1, len(rows[0]) - 1
    capacity = n_topics + ROOM
    side = MixedDocuments(
        prior=np.zeros((n_rows, capacity)),
        rest=np.zeros(n_rows),
        root=_by_topic(root[:, :-1], capacity),
        left=root[:, -1].copy(),
        row_ptr=np.array(rows[0], np.int64),
        row_label=np.array(rows[1], np.int32),
        share=np.array(share, float),
        **{name: np.array([float(hyper[name])]) for name in ("alpha", "gamma", "tau")},
        **{f"{name}_prior": np.array(priors[name], float) for name in ("alpha", "gamma", "tau")},
    )
    for k in range(n_topics):
        weigh_topic(side, k)
    weigh_rests(side)
    return side


@check_side.register
def _(side: MixedDocuments, tokens: Tokens, n_topics: int) -> None:
    check_positive(alpha=side.alpha, gamma=side.gamma, tau=side.tau)
    root = side.root[:n_topics]
    if not all(np.all((x >= 0.0) & np.isfinite(x)) for x in (root, side.left, side.share)):
        raise AssertionError("a stick or a share has no length")
    if np.any(np.count_nonzero(root, axis=1) != 1):
        raise AssertionError("a topic is not of one label")
    if not np.allclose(root.sum(axis=0) + side.left, 1.0, rtol=0.0, atol=1e-12):
        raise AssertionError("the sticks of a label do not sum to one")
    mass = side.prior[:, :n_topics].sum(axis=1) + side.rest
    if not np.allclose(mass, side.alpha[0], rtol=1e-12):
        raise AssertionError("a document prior does not sum to alpha")
    has = np.zeros((side.rest.size, side.left.size), bool)
    has[np.repeat(np.arange(side.rest.size), np.diff(side.row_ptr)), side.row_label] = True
    row = np.repeat(tokens.group, np.diff(tokens.doc_ptr))
    if not np.all(has[row, root.argmax(axis=1)[tokens.topic]]):
        raise AssertionError("a token has a topic of a label that its document lacks")

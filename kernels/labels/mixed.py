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

from ..toolbox.jit import kernel
from ..toolbox.random import concentration, crt, is_sampled, log_beta_variate, log_gamma_variate
from ..toolbox.sides import (
    Tokens,
    check_positive,
    check_side,
    close_gaps,
    draw_tables,
    move_documents,
    open_topic,
    widened,
    with_capacity,
)

ROOM = 64
"""For topics beyond those that a state begins with."""


class MixedDocuments(NamedTuple):
    """Document side of mixtures of labels' Dirichlet processes.

    Attributes
    ----------
    prior : float64 (R, capacity)
        ``alpha share[r, label[k]] root[k]``.
    rest : float64 (R,)
        Alpha times what the labels of the row have left of their sticks, by their shares.
    root : float64 (capacity,)
        Sticks of the topics, those of a label and `left` summing to one.
    label : int32 (capacity,)
        Whose a topic is.
    left : float64 (J,)
        Rest of the stick of each label.
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
    label: np.ndarray
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
    documents.prior[:, k] = 0.0
    for r in range(documents.rest.size):
        for e in range(documents.row_ptr[r], documents.row_ptr[r + 1]):
            if documents.row_label[e] == documents.label[k]:
                documents.prior[r, k] = documents.alpha[0] * documents.share[e] * documents.root[k]


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
    documents.label[topic] = label
    documents.root[topic] = documents.left[label] * math.exp(log_share)
    documents.left[label] *= math.exp(log_left)
    weigh_topic(documents, topic)
    weigh_rests(documents)


@kernel
def draw_shares(rng, documents, tables):
    """Draw tau, with the shares integrated out, and then these, given tables (R, K)."""
    n_of = np.zeros(documents.share.size, np.int64)
    for r in range(documents.rest.size):
        for e in range(documents.row_ptr[r], documents.row_ptr[r + 1]):
            for k in range(tables.shape[1]):
                if documents.label[k] == documents.row_label[e]:
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
        documents.tau[0] = math.exp(log_gamma_variate(rng, shape)) / rate
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
    of_topic = tables.sum(axis=0)
    of_label = np.zeros(n_labels, np.int64)
    for k in range(n_topics):
        of_label[documents.label[k]] += of_topic[k]
    if is_sampled(documents.gamma_prior):
        documents.gamma[0] = concentration(
            rng, documents.gamma[0], documents.gamma_prior, n_topics, of_label, 1.0
        )
    high = np.empty(n_labels)
    for j in range(n_labels):
        documents.left[j] = log_gamma_variate(rng, documents.gamma[0])
        high[j] = documents.left[j]
    for k in range(n_topics):
        documents.root[k] = log_gamma_variate(rng, float(of_topic[k]))
        high[documents.label[k]] = max(high[documents.label[k]], documents.root[k])
    total = np.zeros(n_labels)
    for j in range(n_labels):
        documents.left[j] = math.exp(documents.left[j] - high[j])
        total[j] = documents.left[j]
    for k in range(n_topics):
        documents.root[k] = math.exp(documents.root[k] - high[documents.label[k]])
        total[documents.label[k]] += documents.root[k]
    for k in range(n_topics):
        documents.root[k] /= total[documents.label[k]]
    for j in range(n_labels):
        documents.left[j] /= total[j]


@move_documents.implement(MixedDocuments)
def _move_documents(rng, tokens, documents, topics, scratch):
    kept = close_gaps(tokens, topics)
    for k in range(kept.size):
        documents.label[k] = documents.label[kept[k]]
        documents.prior[:, k] = documents.prior[:, kept[k]]
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
    wide = {name: widened(getattr(side, name), capacity) for name in ("prior", "root", "label")}
    return side._replace(**wide)


def mixed_documents(sticks, label, left, rows, share, hyper, priors) -> MixedDocuments:
    """Document side of the given sticks, with room for more.

    Parameters
    ----------
    sticks : float (K,)
    label : int (K,)
    left : float (J,)
    rows : (row_ptr, row_label)
        See `MixedDocuments`.
    share : float (E,)
    hyper : mapping of str to float
        ``alpha``, ``gamma``, ``tau``.
    priors : mapping of str to (shape, rate)
        (0, 0) for a hyperparameter that is fixed.
    """
    n_topics, n_rows = len(sticks), len(rows[0]) - 1
    capacity = n_topics + ROOM
    side = MixedDocuments(
        prior=np.zeros((n_rows, capacity)),
        rest=np.zeros(n_rows),
        root=widened(np.array(sticks, float), capacity),
        label=widened(np.array(label, np.int32), capacity),
        left=np.array(left, float),
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
    own, label = side.root[:n_topics], side.label[:n_topics]
    if not all(np.all((x >= 0.0) & np.isfinite(x)) for x in (own, side.left, side.share)):
        raise AssertionError("a stick or a share has no length")
    total = side.left + np.bincount(label, own, minlength=side.left.size)
    if not np.allclose(total, 1.0, rtol=0.0, atol=1e-12):
        raise AssertionError("the sticks of a label do not sum to one")
    mass = side.prior[:, :n_topics].sum(axis=1) + side.rest
    if not np.allclose(mass, side.alpha[0], rtol=1e-12):
        raise AssertionError("a document prior does not sum to alpha")
    row = np.repeat(tokens.group, np.diff(tokens.doc_ptr))
    if np.any(side.prior[row, tokens.topic] == 0.0) and np.all(side.root[:n_topics] > 1e-200):
        raise AssertionError("a token has a topic of a label that its document lacks")

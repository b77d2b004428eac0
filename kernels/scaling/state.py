"""Documents of a hierarchical Dirichlet scaling process as flat arrays.

    root ~ GEM(gamma)
    pi_dk ~ Gamma(alpha root_k, rate 1 / s_dk)     log s_dk = sum_j r_dj log_scale_jk,  r_d labels of d
    theta_d = pi_d / sum_k pi_dk

The pi are integrated out given u_d ~ Gamma(n_d, rate sum_k pi_dk), so that tokens see the labels through

    (n_dk + alpha root_k) s_dk / (1 + u_d s_dk).

Sticks are kept until what is left is below `LEFTOVER`. Topics are in any order; but where their number is
fixed, in that of the sticks.
"""

import math
from typing import NamedTuple

import numpy as np

from ..toolbox.jit import kernel
from ..toolbox.sides import Tokens, check_positive, check_side, check_topic_of_tokens, widened, with_capacity

LEFTOVER = 1e-12
"""Weight of all topics together that are not represented."""

MOST_LOG_U = 150.0 * math.log(10.0)
"""Beyond, 1 + u s is u s to the last bit: u is cut off there, and the rest added to its logarithm."""

LEAST_SCALE, MOST_SCALE = 1e-130, 1e130
"""Scales of documents are between these, or products would not be finite: the prior is cut off there."""

LOG_INVERSE_GAMMA, NORMAL = 1, 2
"""Laws of the log scales: that of log w, where w is inverse gamma of a shape and a rate; of a variance."""


class Labels(NamedTuple):
    """Labels of the documents: R distinct rows of J numbers, most of them zero.

    Attributes
    ----------
    row_ptr : int64 (R + 1,)
        Documents ``row_doc[row_ptr[i]:row_ptr[i + 1]]`` have row i; those without tokens are in none.
    row_doc : int64 (D,)
    ptr : int64 (R + 1,)
        Row i has ``value[ptr[i]:ptr[i + 1]]`` of the labels ``label[ptr[i]:ptr[i + 1]]``, and zero of others.
    label : int64 (n,)
    value : float64 (n,)
    by_label_ptr : int64 (J + 1,)
        The same by label: rows and values.
    by_label_row : int64 (n,)
    by_label_value : float64 (n,)
    """

    row_ptr: np.ndarray
    row_doc: np.ndarray
    ptr: np.ndarray
    label: np.ndarray
    value: np.ndarray
    by_label_ptr: np.ndarray
    by_label_row: np.ndarray
    by_label_value: np.ndarray

    FIXED = ("row_ptr", "row_doc", "ptr", "label", "by_label_ptr", "by_label_row")


class Questions(NamedTuple):
    """Labels that are not known: M questions, sorted by document.

    Attributes
    ----------
    document : int64 (M,)
    ptr : int64 (M + 1,)
        Question i is about the labels ``label[ptr[i]:ptr[i + 1]]``.
    label : int64 (n,)
    entry, by_label_entry : int64 (n,)
        Where a label's value is in the rows of labels, and in these by label.
    may_be_none : int64 (M,)
        1 where no label is an answer as well, the first one; else 0.
    answer : int64 (M,)
        Number of the label that the document has, plus `may_be_none`.
    n_known, n_with : int64 (J,)
        Documents that are known to have each label, and those that have it.
    n_documents : int64 (1,)
    weights : float64 (answers,)
        Scratch.
    """

    document: np.ndarray
    ptr: np.ndarray
    label: np.ndarray
    entry: np.ndarray
    by_label_entry: np.ndarray
    may_be_none: np.ndarray
    answer: np.ndarray
    n_known: np.ndarray
    n_with: np.ndarray
    n_documents: np.ndarray
    weights: np.ndarray

    FIXED = (
        "document", "ptr", "label", "entry", "by_label_entry", "may_be_none", "n_known", "n_documents",
        "weights",
    )  # fmt: skip


class ScaledDocuments(NamedTuple):
    """Document side of a hierarchical Dirichlet scaling process.

    Attributes
    ----------
    prior : float64 (1, capacity)
        alpha * root.
    rest : float64 (1,)
        alpha times what is left of the root.
    root : float64 (capacity,)
    root_rest : float64 (1,)
    log_scale : float64 (J, capacity)
    scale : float64 (R, capacity)
        s of each row of labels.
    log_u : float64 (D,)
        Where a document has no tokens it is never looked at.
    u : float64 (D,)
        At most exp(`MOST_LOG_U`).
    alpha, gamma : float64 (1,)
    alpha_prior, gamma_prior : float64 (2,)
    law : int64 (1,)
        `LOG_INVERSE_GAMMA` or `NORMAL`.
    law_parameters : float64 (2,)
        Shape and rate, or the variance and nothing.
    law_priors : float64 (2, 2)
    n_fixed : int64 (1,)
        Number of topics where it is fixed, else 0.
    labels : Labels
    questions : Questions
    tables : int64 (capacity,)
        Of each topic, over all documents, as the last sweep drew them.
    exposure : float64 (capacity,)
        F_k = sum_d log(1 + u_d s_dk), as the last sweep noted it.
    n_in_label : float64 (J, capacity)
        Tokens of a topic, each times its document's value of the label, as the last sweep noted them.
    customers : int64 (capacity,)
        Tables, and those that thinning added: see `sticks`.
    next_gamma : float64 (1,)
    next_law_parameters : float64 (2,)
        As `sticks` proposes them.
    """

    prior: np.ndarray
    rest: np.ndarray
    root: np.ndarray
    root_rest: np.ndarray
    log_scale: np.ndarray
    scale: np.ndarray
    log_u: np.ndarray
    u: np.ndarray
    alpha: np.ndarray
    gamma: np.ndarray
    alpha_prior: np.ndarray
    gamma_prior: np.ndarray
    law: np.ndarray
    law_parameters: np.ndarray
    law_priors: np.ndarray
    n_fixed: np.ndarray
    labels: Labels
    questions: Questions
    tables: np.ndarray
    exposure: np.ndarray
    n_in_label: np.ndarray
    customers: np.ndarray
    next_gamma: np.ndarray
    next_law_parameters: np.ndarray

    FIXED = ("alpha_prior", "gamma_prior", "law", "law_priors", "n_fixed")


@kernel
def log_scale_of(labels, log_scale, row, k):
    """Log scale of topic `k` under a row of labels."""
    out = 0.0
    for j in range(labels.ptr[row], labels.ptr[row + 1]):
        out += labels.value[j] * log_scale[labels.label[j], k]
    return out


@kernel
def within_floats(log_scale):
    """Scale, within its bounds."""
    return max(LEAST_SCALE, min(MOST_SCALE, math.exp(min(log_scale, 700.0))))


@kernel
def scale_of(labels, log_scale, row, k):
    """Scale of topic `k` under a row of labels."""
    return within_floats(log_scale_of(labels, log_scale, row, k))


@kernel
def weigh_topics(documents, n_topics):
    """Bring the prior of the documents up to date with alpha and the root."""
    documents.prior[0, :n_topics] = documents.alpha[0] * documents.root[:n_topics]
    documents.rest[0] = documents.alpha[0] * documents.root_rest[0]


def labels_of(rows, row_of_document: np.ndarray, doc_lengths: np.ndarray) -> Labels:
    """Labels in the form that sweeps need.

    Parameters
    ----------
    rows : sparse (R, J)
        Distinct rows.
    row_of_document : int (D,)
    doc_lengths : int (D,)
    """
    filled = np.flatnonzero(doc_lengths > 0)
    by_row, by_label = rows.tocsr(), rows.tocsc()
    in_row = np.bincount(row_of_document[filled], minlength=rows.shape[0])
    return Labels(
        row_ptr=np.concatenate([[0], np.cumsum(in_row)]).astype(np.int64),
        row_doc=filled[np.argsort(row_of_document[filled], kind="stable")].astype(np.int64),
        ptr=by_row.indptr.astype(np.int64),
        label=by_row.indices.astype(np.int64),
        value=by_row.data.astype(float),
        by_label_ptr=by_label.indptr.astype(np.int64),
        by_label_row=by_label.indices.astype(np.int64),
        by_label_value=by_label.data.astype(float),
    )


def scaled_documents(
    latents,
    priors,
    labels: Labels,
    questions: Questions,
    law: tuple[int, tuple[str, ...]],
    n_fixed: int,
    room: int,
) -> ScaledDocuments:
    """Document side that stands at `latents`, with room for more topics unless their number is fixed.

    Parameters
    ----------
    latents : mapping of str to array
        ``root`` (K + 1,), ``log_scale`` (J, K), ``log_u`` (D,), ``alpha``, ``gamma``, parameters of the law.
    priors : mapping of str to (shape, rate)
        (0, 0) for a hyperparameter that is fixed.
    labels : Labels
    questions : Questions
    law : (int, tuple of str)
        Of the log scales, and the names of its parameters, one or two.
    n_fixed : int
        Number of topics, or 0 where there is no limit.
    room : int
        For further topics.
    """
    n_topics = len(latents["root"]) - 1
    capacity = n_topics if n_fixed else n_topics + room
    n_rows = labels.ptr.size - 1
    kind, names = law
    parameters, law_priors = np.zeros(2), np.zeros((2, 2))
    for i, name in enumerate(names):
        parameters[i], law_priors[i] = latents[name], priors[name]
    log_scale = widened(np.array(latents["log_scale"], float), capacity)
    side = ScaledDocuments(
        prior=np.zeros((1, capacity)),
        rest=np.zeros(1),
        root=widened(np.array(latents["root"][:-1], float), capacity),
        root_rest=np.array([float(latents["root"][-1])]),
        log_scale=log_scale,
        scale=np.zeros((n_rows, capacity)),
        log_u=np.array(latents["log_u"], float),
        u=np.exp(np.minimum(latents["log_u"], MOST_LOG_U)),
        alpha=np.array([float(latents["alpha"])]),
        gamma=np.array([float(latents["gamma"])]),
        alpha_prior=np.array(priors["alpha"], float),
        gamma_prior=np.array(priors["gamma"], float),
        law=np.array([kind], np.int64),
        law_parameters=parameters,
        law_priors=law_priors,
        n_fixed=np.array([n_fixed], np.int64),
        labels=labels,
        questions=questions,
        tables=np.zeros(capacity, np.int64),
        exposure=np.zeros(capacity),
        n_in_label=np.zeros((len(log_scale), capacity)),
        customers=np.zeros(capacity, np.int64),
        next_gamma=np.array([float(latents["gamma"])]),
        next_law_parameters=parameters.copy(),
    )
    side.scale[:, :n_topics] = _scales(side, n_topics)
    weigh_topics(side, n_topics)
    return side


def _scales(side: ScaledDocuments, n_topics: int) -> np.ndarray:
    """Scales of all rows and topics, float (R, K)."""
    n_rows = len(side.scale)
    found = [scale_of(side.labels, side.log_scale, i, k) for i in range(n_rows) for k in range(n_topics)]
    return np.reshape(np.array(found, float), (n_rows, n_topics))


@with_capacity.register
def _(side: ScaledDocuments, capacity: int) -> ScaledDocuments:
    over_topics = ("prior", "root", "log_scale", "scale", "tables", "exposure", "n_in_label", "customers")
    return side._replace(**{name: widened(getattr(side, name), capacity) for name in over_topics})


@check_side.register
def _(side: ScaledDocuments, tokens: Tokens, n_topics: int) -> None:
    k = n_topics
    check_positive(alpha=side.alpha, gamma=side.gamma, scale=side.scale[:, :k])
    check_topic_of_tokens(tokens, k)
    if not np.allclose(side.u, np.exp(np.minimum(side.log_u, MOST_LOG_U)), rtol=1e-9):
        raise AssertionError("the u of the documents differ from their logarithms")
    sticks = np.append(side.root[:k], side.root_rest)
    if not np.all((sticks >= 0.0) & np.isfinite(sticks)):
        raise AssertionError("a stick has no length")
    if not np.isclose(sticks.sum(), 1.0, atol=1e-9):
        raise AssertionError("the sticks do not sum to one")
    if not np.allclose(side.prior[0, :k], side.alpha[0] * side.root[:k], rtol=1e-12):
        raise AssertionError("the prior of the documents is not alpha times the root")
    if not np.allclose(side.scale[:, :k], _scales(side, k), rtol=1e-9):
        raise AssertionError("the scales of the documents differ from those of their labels")
    check_positive(law=side.law_parameters[: 2 if side.law[0] == LOG_INVERSE_GAMMA else 1])
    _check_questions(side.labels, side.questions)
    if side.n_fixed[0] not in (0, k):
        raise AssertionError("the number of topics has changed")


def _check_questions(labels: Labels, questions: Questions) -> None:
    chosen = questions.answer - questions.may_be_none
    value, label = np.zeros(questions.label.size), questions.label
    answered = np.flatnonzero(chosen >= 0)
    value[questions.ptr[answered] + chosen[answered]] = 1.0
    if not np.array_equal(value, labels.value[questions.entry]):
        raise AssertionError("labels that are not known differ from the answers")
    if not np.array_equal(value, labels.by_label_value[questions.by_label_entry]):
        raise AssertionError("labels that are not known, by label, differ from the answers")
    counted = questions.n_known + np.bincount(label, value, questions.n_known.size).astype(np.int64)
    if not np.array_equal(counted, questions.n_with):
        raise AssertionError("documents with a label are not as many as have it")

"""Document sides whose Dirichlet parameters follow from the labels of a document.

Documents with the same labels share a row of the prior. Given topics, the tables of the documents'
restaurants and ``q_d ~ Beta(A_d, n_d)``, A_d the sum of a document's parameters, the likelihood of these is

    prod_d prod_k alpha_dk^tables_dk q_d^alpha_dk

(Teh et al. 2006, appendix A, with one Beta variable a document): of a row, sums of tables and *exposure*, the
sum of -log q, are all that is needed.
"""

import math
from typing import NamedTuple

import numpy as np

from ..toolbox.jit import kernel
from ..toolbox.random import (
    MOST_LOG,
    gamma_variate,
    is_sampled,
    log_beta_variate,
    log_density,
    slice_sample,
)
from ..toolbox.sides import (
    Tokens,
    check_number_of_topics,
    check_positive,
    check_side,
    draw_tables,
    move_documents,
    open_topic,
)

WIDTH, PART = 1.0, 0.1
"""First guess of how wide a slice is in a coefficient; it is at least this part of the prior's deviation."""

NEXT_TO_ONE = -30.0
"""Log of what is left of 1 where the logarithm of the rest of it is no longer exact."""


class LabelledDocuments(NamedTuple):
    """Document side with symmetric Dirichlet priors over the topics of a document's labels.

    Attributes
    ----------
    prior : float64 (R, K)
        ``alpha[label[k]]`` where documents of row r may have topic k, else zero.
    rest : float64 (R,)
        Zero: no topic is left to open.
    alpha : float64 (A,)
        Of each label, and of the topics that all documents have.
    alpha_prior : float64 (2,)
    label : int32 (K,)
        Entry of alpha that a topic belongs to.
    may_have : bool (R, K)
    """

    prior: np.ndarray
    rest: np.ndarray
    alpha: np.ndarray
    alpha_prior: np.ndarray
    label: np.ndarray
    may_have: np.ndarray

    FIXED = ("rest", "alpha_prior", "label", "may_have")


class RegressionDocuments(NamedTuple):
    """Document side whose log Dirichlet parameters are a linear function of features.

    Features are kept by column: feature j has the values ``value[start[j]:start[j + 1]]`` in these rows.
    The first is the intercept.

    Attributes
    ----------
    prior : float64 (R, K)
        Exponential of features times coefficients.
    rest : float64 (R,)
        Zero: no topic is left to open.
    coefficients : float64 (J, K)
    precision : float64 (2,)
        Of the intercepts, and of all other coefficients.
    precision_prior : float64 (2, 2)
    start : int64 (J + 1,)
    row : int32 (E,)
    value : float64 (E,)
    """

    prior: np.ndarray
    rest: np.ndarray
    coefficients: np.ndarray
    precision: np.ndarray
    precision_prior: np.ndarray
    start: np.ndarray
    row: np.ndarray
    value: np.ndarray

    FIXED = ("rest", "precision_prior", "start", "row", "value")


class Coefficient(NamedTuple):
    """What the density of a coefficient depends on.

    Attributes
    ----------
    slope : float
        Tables times the feature, summed.
    log_rate : float64 (E,)
        Log of exposure times all factors of alpha but this one's, of each row that has the feature.
    value : float64 (E,)
        Of the feature there.
    precision : float
    """

    slope: float
    log_rate: np.ndarray
    value: np.ndarray
    precision: float


@open_topic.implement(LabelledDocuments)
@open_topic.implement(RegressionDocuments)
def _no_topic_to_open(rng, documents, topic, group):
    pass


@kernel
def draw_exposure(rng, tokens, documents):
    """Sum of -log q over the documents of each row."""
    exposure = np.zeros(documents.rest.size)
    for d in range(tokens.group.size):
        length, r = tokens.doc_ptr[d + 1] - tokens.doc_ptr[d], tokens.group[d]
        if length > 0:
            log_q, log_rest = log_beta_variate(rng, documents.prior[r].sum(), float(length))
            # Next to q = 1, where its logarithm is nothing but rounding, that of 1 - q is not.
            exposure[r] -= log_q if log_rest > NEXT_TO_ONE else -math.exp(log_rest)
    return exposure


@move_documents.implement(LabelledDocuments)
def _draw_alpha(rng, tokens, documents, topics, scratch):
    if not is_sampled(documents.alpha_prior):
        return
    alpha, label = documents.alpha, documents.label
    n_rows, n_topics = documents.prior.shape
    tables = draw_tables(rng, tokens, documents, scratch, n_topics)
    exposure = draw_exposure(rng, tokens, documents)
    shape = np.full(alpha.size, documents.alpha_prior[0])
    rate = np.full(alpha.size, documents.alpha_prior[1])
    for r in range(n_rows):
        for k in range(n_topics):
            if documents.may_have[r, k]:
                shape[label[k]] += tables[r, k]
                rate[label[k]] += exposure[r]
    for j in range(alpha.size):
        alpha[j] = gamma_variate(rng, shape[j], rate[j])
    for r in range(n_rows):
        for k in range(n_topics):
            if documents.may_have[r, k]:
                documents.prior[r, k] = alpha[label[k]]


@log_density.implement(Coefficient)
def _log_density(target, x):
    out = target.slope * x - 0.5 * target.precision * x * x
    for e in range(target.value.size):
        out -= math.exp(min(target.log_rate[e] + target.value[e] * x, MOST_LOG))
    return out


@kernel
def alpha_of(log_alpha):
    """Exponential of the logarithm of a Dirichlet parameter."""
    return math.exp(min(max(log_alpha, -MOST_LOG), MOST_LOG))


@kernel
def draw_coefficients(rng, documents, tables, exposure):
    """Draw each coefficient given all others, tables (R, K) and exposures (R,), by a slice."""
    n_features, n_topics = documents.coefficients.shape
    log_prior = np.empty(documents.rest.size)
    log_exposure = np.full(exposure.size, -math.inf)
    for r in range(exposure.size):
        if exposure[r] > 0.0:  # some document of the row has tokens
            log_exposure[r] = math.log(exposure[r])
    log_rate = np.empty(documents.value.size)
    for k in range(n_topics):
        log_prior[:] = 0.0
        for j in range(n_features):
            for e in range(documents.start[j], documents.start[j + 1]):
                log_prior[documents.row[e]] += documents.value[e] * documents.coefficients[j, k]
        for j in range(n_features):
            precision = documents.precision[0 if j == 0 else 1]
            width = max(WIDTH, PART / math.sqrt(precision))
            first, end = documents.start[j], documents.start[j + 1]
            old, slope = documents.coefficients[j, k], 0.0
            for e in range(first, end):
                r, value = documents.row[e], documents.value[e]
                slope += value * tables[r, k]
                log_rate[e] = log_exposure[r] + log_prior[r] - value * old
            target = Coefficient(slope, log_rate[first:end], documents.value[first:end], precision)
            new = slice_sample(rng, target, old, width)
            documents.coefficients[j, k] = new
            for e in range(first, end):
                log_prior[documents.row[e]] += documents.value[e] * (new - old)
        for r in range(log_prior.size):
            documents.prior[r, k] = alpha_of(log_prior[r])


@kernel
def draw_precisions(rng, documents):
    """Draw the precision of intercepts, and that of all other coefficients; conjugate."""
    for i in range(2):
        prior = documents.precision_prior[i]
        if is_sampled(prior):
            own = documents.coefficients[:1] if i == 0 else documents.coefficients[1:]
            shape, rate = prior[0] + 0.5 * own.size, prior[1] + 0.5 * np.sum(own * own)
            documents.precision[i] = gamma_variate(rng, shape, rate)


@move_documents.implement(RegressionDocuments)
def _draw_regression(rng, tokens, documents, topics, scratch):
    tables = draw_tables(rng, tokens, documents, scratch, documents.prior.shape[1])
    exposure = draw_exposure(rng, tokens, documents)
    draw_coefficients(rng, documents, tables, exposure)
    draw_precisions(rng, documents)


def labelled_documents(may_have, label, alpha, alpha_prior=(0.0, 0.0)) -> LabelledDocuments:
    """Document side of the concentrations `alpha` (A,).

    `may_have` (R, K) says which topics the documents of a row can have, `label` (K,) which alpha is theirs.
    """
    own, label = np.array(may_have, np.bool_), np.array(label, np.int32)
    alpha = np.array(alpha, float)
    return LabelledDocuments(
        prior=np.where(own, alpha[label], 0.0),
        rest=np.zeros(len(own)),
        alpha=alpha,
        alpha_prior=np.array(alpha_prior, float),
        label=label,
        may_have=own,
    )


def regression_documents(
    features, coefficients, precision, precision_prior=((0.0, 0.0), (0.0, 0.0))
) -> RegressionDocuments:
    """Document side of `features`, sparse (R, J), and their `coefficients` (J, K).

    `precision` (2,) is that of the intercepts, the first feature, and that of all other coefficients.
    """
    by_column, coefficients = features.tocsc(), np.array(coefficients, float)
    return RegressionDocuments(
        prior=np.exp(np.clip(features @ coefficients, -MOST_LOG, MOST_LOG)),
        rest=np.zeros(features.shape[0]),
        coefficients=coefficients,
        precision=np.array(precision, float),
        precision_prior=np.array(precision_prior, float),
        start=by_column.indptr.astype(np.int64),
        row=by_column.indices.astype(np.int32),
        value=by_column.data.astype(float),
    )


@check_side.register
def _(side: LabelledDocuments, tokens: Tokens, n_topics: int) -> None:
    check_number_of_topics(side, tokens, n_topics)
    check_positive(alpha=side.alpha)
    if np.any(side.prior != np.where(side.may_have, side.alpha[side.label], 0.0)):
        raise AssertionError("the document prior is not alpha")
    row = np.repeat(tokens.group, np.diff(tokens.doc_ptr))
    if not np.all(side.may_have[row, tokens.topic]):
        raise AssertionError("a token has a topic that its document may not have")


@check_side.register
def _(side: RegressionDocuments, tokens: Tokens, n_topics: int) -> None:
    check_number_of_topics(side, tokens, n_topics)
    check_positive(precision=side.precision)
    if not np.all(np.isfinite(side.coefficients)):
        raise AssertionError("a coefficient is not a number")
    log_prior, size = np.zeros(side.prior.shape), np.ones(side.prior.shape)
    for j, (first, end) in enumerate(zip(side.start[:-1], side.start[1:], strict=True)):
        terms = side.value[first:end, None] * side.coefficients[j]
        log_prior[side.row[first:end]] += terms
        size[side.row[first:end]] += np.abs(terms)
    error = np.log(side.prior) - np.clip(log_prior, -MOST_LOG, MOST_LOG)
    if not np.all(np.abs(error) <= 1e-9 * size):
        raise AssertionError("the document prior is not that of the coefficients")

"""Scales of topics under labels: a slice for each, their pi integrated out, and a move of a label's together.

As a function of one log scale x, labels r_d and F as in `documents`, the density is its prior times

    prod_d s_d^n_d (1 + u_d s_d)^-(a + n_d),    s_d ~ exp(r_d x),

n_d tokens of the topic and a = alpha root_k: log-concave, whatever r.
"""

import math
from typing import NamedTuple

import numpy as np

from ..toolbox.jit import kernel
from ..toolbox.random import log_density, log_gamma_variate, slice_sample
from ..toolbox.sides import enter_document, leave_document
from .documents import LARGE, sum_of_logs
from .state import LEAST_SCALE, LOG_INVERSE_GAMMA, MOST_LOG_U, MOST_SCALE, scale_of

WIDTH = 1.0

MOST_LOG = 709.0
"""Logarithms of floats are not far above it."""


class Entries(NamedTuple):
    """Topics that documents have, sorted by topic.

    Attributes
    ----------
    ptr : int64 (K + 1,)
    document, count : int64 (n,)
    """

    ptr: np.ndarray
    document: np.ndarray
    count: np.ndarray


class LogScaleStep(NamedTuple):
    """Target of a step from the log scale of a topic under a label, over the documents that have the label.

    Attributes
    ----------
    now : float
        The log scale, from which the step goes.
    law : int
    first, second : float
        Of the prior.
    prior : float
        alpha root_k.
    linear : float
        sum_d n_d r_d.
    least, most : float
        Steps beyond these would take a scale out of the floats.
    is_one : bool
        Whether r_d is 1 throughout.
    weight : float64 (documents,)
        u_d s_d.
    value : float64 (documents,)
        r_d.
    own_weight, own_value : float64 (n,)
        The same of documents that have the topic.
    own_count : int64 (n,)
    """

    now: float
    law: int
    first: float
    second: float
    prior: float
    linear: float
    least: float
    most: float
    is_one: bool
    weight: np.ndarray
    value: np.ndarray
    own_weight: np.ndarray
    own_value: np.ndarray
    own_count: np.ndarray


@log_density.implement(LogScaleStep)
def _log_density(target, x):
    if not target.least < x < target.most:
        return -math.inf
    at = target.now + x
    if target.law == LOG_INVERSE_GAMMA:
        if at < -MOST_LOG:
            return -math.inf
        out = -target.first * at - target.second * math.exp(-at)
    else:
        out = -0.5 * at * at / target.first
    out += target.linear * x
    # Cut off only where no document has the label: then it is in no factor.
    factor = math.exp(min(x, MOST_LOG))
    if target.is_one:
        out -= target.prior * sum_of_logs(target.weight, factor)
    else:
        out -= target.prior * sum_of_powers(target.weight, target.value, x)
    for i in range(target.own_weight.size):
        if not target.is_one:
            factor = math.exp(target.own_value[i] * x)
        out -= target.own_count[i] * math.log(1.0 + target.own_weight[i] * factor)
    return out


@kernel
def sum_of_powers(weight, value, x):
    """Sum of log(1 + weight_d exp(value_d x)), by products."""
    out, product = 0.0, 1.0
    for i in range(weight.size):
        factor = 1.0 + weight[i] * math.exp(value[i] * x)
        if factor > LARGE:
            out += math.log(factor)
        else:
            product *= factor
        if product > LARGE:
            out += math.log(product)
            product = 1.0
    return out + math.log(product)


@kernel
def entries_of(tokens, scratch, n_topics):
    """Count the topics of the documents."""
    ptr = np.zeros(n_topics + 1, np.int64)
    for d in range(tokens.group.size):
        for i in range(enter_document(tokens, scratch, d)):
            ptr[scratch.doc_topics[i] + 1] += 1
        leave_document(tokens, scratch, d)
    ptr = np.cumsum(ptr)
    entries = Entries(ptr, np.empty(ptr[n_topics], np.int64), np.empty(ptr[n_topics], np.int64))
    filled = ptr[:n_topics].copy()
    for d in range(tokens.group.size):
        for i in range(enter_document(tokens, scratch, d)):
            k = scratch.doc_topics[i]
            entries.document[filled[k]] = d
            entries.count[filled[k]] = scratch.doc_count[k]
            filled[k] += 1
        leave_document(tokens, scratch, d)
    return entries


@kernel
def move_scales(rng, tokens, documents, scratch, n_topics):
    """Slice-sample every log scale given topics, u and the root."""
    labels = documents.labels
    n_documents, n_rows = tokens.group.size, documents.scale.shape[0]
    entries = entries_of(tokens, scratch, n_topics)
    weight, value = np.empty(n_documents), np.empty(n_documents)
    own_weight, own_value = np.empty(n_documents), np.empty(n_documents)
    own_count = np.empty(n_documents, np.int64)
    of_row = np.zeros(n_rows)
    for j in range(documents.log_scale.shape[0]):
        start, end = labels.by_label_ptr[j], labels.by_label_ptr[j + 1]
        is_one = True
        for e in range(start, end):
            of_row[labels.by_label_row[e]] = labels.by_label_value[e]
            is_one = is_one and labels.by_label_value[e] in (0.0, 1.0)
        for k in range(n_topics):
            least, most, n = -math.inf, math.inf, 0
            for e in range(start, end):
                row, r = labels.by_label_row[e], labels.by_label_value[e]
                if r == 0.0:
                    continue
                scale = documents.scale[row, k]
                to_least, to_most = math.log(LEAST_SCALE / scale) / r, math.log(MOST_SCALE / scale) / r
                least = max(least, min(to_least, to_most))
                most = min(most, max(to_least, to_most))
                for i in range(labels.row_ptr[row], labels.row_ptr[row + 1]):
                    weight[n] = documents.u[labels.row_doc[i]] * scale
                    value[n] = r
                    n += 1
            n_own = 0
            for i in range(entries.ptr[k], entries.ptr[k + 1]):
                d = entries.document[i]
                row = tokens.group[d]
                if of_row[row] != 0.0:
                    own_weight[n_own] = documents.u[d] * documents.scale[row, k]
                    own_value[n_own] = of_row[row]
                    own_count[n_own] = entries.count[i]
                    n_own += 1
            target = LogScaleStep(
                documents.log_scale[j, k],
                documents.law[0],
                documents.law_parameters[0],
                documents.law_parameters[1],
                documents.prior[0, k],
                documents.n_in_label[j, k],
                least,
                most,
                is_one,
                weight[:n],
                value[:n],
                own_weight[:n_own],
                own_value[:n_own],
                own_count[:n_own],
            )
            documents.log_scale[j, k] += slice_sample(rng, target, 0.0, WIDTH)
            for e in range(start, end):
                row = labels.by_label_row[e]
                documents.scale[row, k] = scale_of(labels, documents.log_scale, row, k)
        of_row[:] = 0.0


@kernel
def shift_scales(rng, documents, n_topics):
    """Move all log scales of each label together, and the u of its documents against them.

    The likelihood stays as it is, so that the step is a draw from the prior along the line. Only where the
    number of topics is fixed: else there is no such line.
    """
    labels, first, second = documents.labels, documents.law_parameters[0], documents.law_parameters[1]
    for j in range(documents.log_scale.shape[0]):
        log_scale = documents.log_scale[j, :n_topics]
        if documents.law[0] == LOG_INVERSE_GAMMA:
            rate = second * np.exp(-log_scale).sum()
            step = math.log(rate) - log_gamma_variate(rng, n_topics * first)
        else:
            step = -log_scale.mean() + math.sqrt(first / n_topics) * rng.standard_normal()
        is_within = True
        for e in range(labels.by_label_ptr[j], labels.by_label_ptr[j + 1]):
            factor = math.exp(min(labels.by_label_value[e] * step, MOST_LOG))
            scale = documents.scale[labels.by_label_row[e], :n_topics]
            least, most = float(scale.min()) * factor, float(scale.max()) * factor  # Python's may be infinite
            is_within = is_within and least > LEAST_SCALE and most < MOST_SCALE
        if is_within:
            log_scale += step
            for e in range(labels.by_label_ptr[j], labels.by_label_ptr[j + 1]):
                row, r = labels.by_label_row[e], labels.by_label_value[e]
                for k in range(n_topics):
                    documents.scale[row, k] = scale_of(labels, documents.log_scale, row, k)
                for i in range(labels.row_ptr[row], labels.row_ptr[row + 1]):
                    d = labels.row_doc[i]
                    documents.log_u[d] -= r * step
                    documents.u[d] = math.exp(min(documents.log_u[d], MOST_LOG_U))

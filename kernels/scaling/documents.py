"""Documents of a scaling process given their topics: u, tables, exposures, and alpha."""

import math
from typing import NamedTuple

import numpy as np

from ..toolbox.jit import borrowing_kernel, kernel
from ..toolbox.random import crt, gamma_variate, is_sampled, log_density, slice_sample
from ..toolbox.sides import enter_document, leave_document
from .state import MOST_LOG_U, weigh_topics

LARGE = 1e100
"""Factors beyond are not multiplied but taken the logarithm of, so that no product leaves the floats."""


class LogU(NamedTuple):
    """Target of log u of a document, its pi integrated out.

    Attributes
    ----------
    length : float
        n_d.
    shapes : float64 (K,)
        alpha root_k + n_dk.
    scale : float64 (K,)
        s_dk.
    """

    length: float
    shapes: np.ndarray
    scale: np.ndarray


@log_density.implement(LogU)
def _log_density(target, x):
    # u^n prod_k (1 + u s_k)^-(a_k + n_k), the Jacobian of the logarithm among it
    out, u = target.length * x, math.exp(min(x, MOST_LOG_U))
    cut_off = max(0.0, x - MOST_LOG_U)
    for k in range(target.shapes.size):
        out -= target.shapes[k] * (cut_off + math.log(1.0 + u * target.scale[k]))
    return out


@kernel
def draw_u(rng, tokens, documents, scratch, d, n_topics):
    """Slice-sample u of document `d`, whose topics are counted in the scratch."""
    for k in range(n_topics):
        scratch.weights[k] = documents.prior[0, k] + scratch.doc_count[k]
    target = LogU(
        float(tokens.doc_ptr[d + 1] - tokens.doc_ptr[d]),
        scratch.weights[:n_topics],
        documents.scale[tokens.group[d], :n_topics],
    )
    width = 1.0 + 2.0 / documents.alpha[0]  # the density falls as exp(-alpha log u), and soon to the left
    documents.log_u[d] = slice_sample(rng, target, documents.log_u[d], width)
    documents.u[d] = math.exp(min(documents.log_u[d], MOST_LOG_U))


@kernel
def document_pass(rng, tokens, documents, scratch, n_topics):
    """Draw u and the tables of every document, and note how often topics occur under labels."""
    labels = documents.labels
    documents.tables[:] = 0
    documents.n_in_label[:] = 0.0
    for d in range(tokens.group.size):
        if tokens.doc_ptr[d + 1] == tokens.doc_ptr[d]:
            continue
        n_doc_topics = enter_document(tokens, scratch, d)
        draw_u(rng, tokens, documents, scratch, d, n_topics)
        row = tokens.group[d]
        for i in range(n_doc_topics):
            k = scratch.doc_topics[i]
            n = scratch.doc_count[k]
            documents.tables[k] += crt(rng, n, documents.prior[0, k])
            for j in range(labels.ptr[row], labels.ptr[row + 1]):
                documents.n_in_label[labels.label[j], k] += labels.value[j] * n
        leave_document(tokens, scratch, d)


@borrowing_kernel
def sum_of_logs(u, scale):
    """Sum of log(1 + u_d s) over some documents, by products."""
    out, product = 0.0, 1.0
    for i in range(u.size):
        factor = 1.0 + u[i] * scale
        if factor > LARGE:
            out += math.log(factor)
        else:
            product *= factor
        if product > LARGE:
            out += math.log(product)
            product = 1.0
    return out + math.log(product)


@kernel
def cut_off(documents):
    """Sum up by how much log u is beyond where u is cut off, over all documents that have tokens."""
    out = 0.0
    for d in documents.labels.row_doc:
        out += max(0.0, documents.log_u[d] - MOST_LOG_U)
    return out


@kernel
def exposure_of(labels, u_by_row, beyond, scale):
    """F of a topic: sum over documents of log(1 + u_d s_d), where its scales are `scale` (R,)."""
    out = beyond
    for row in range(scale.size):
        out += sum_of_logs(u_by_row[labels.row_ptr[row] : labels.row_ptr[row + 1]], scale[row])
    return out


@kernel
def note_exposures(documents, n_topics):
    """Note F of all topics."""
    u_by_row, beyond = documents.u[documents.labels.row_doc], cut_off(documents)
    for k in range(n_topics):
        documents.exposure[k] = exposure_of(documents.labels, u_by_row, beyond, documents.scale[:, k])


@kernel
def draw_alpha(rng, documents, n_topics):
    """Draw alpha given tables, exposures and the root, unless it is fixed."""
    if not is_sampled(documents.alpha_prior):
        return
    shape, rate = documents.alpha_prior[0], documents.alpha_prior[1]
    for k in range(n_topics):
        shape += documents.tables[k]
        rate += documents.root[k] * documents.exposure[k]
    documents.alpha[0] = gamma_variate(rng, shape, rate)
    weigh_topics(documents, n_topics)

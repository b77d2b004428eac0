"""Sweeps that optimise the coefficients of a regression on labels where the exact ones draw them. Not exact.

Mimno and McCallum (2008, Section 3.1) bring the coefficients to a maximum of their posterior density given
the topics, in turn with sweeps over the tokens. Here they climb by EM: were the tables of the documents'
restaurants and the exposure known, each coefficient would have a concave log density; their expectations take
their places.
"""

import numpy as np

from ..toolbox.jit import kernel
from ..toolbox.sides import enter_document, finish_pass, leave_document, move_topics
from ..toolbox.token_pass import sparse_pass
from .documents import alpha_of, draw_precisions

STEPS = 10
"""Of EM, a sweep."""

FARTHEST = 1.0
"""How far a coefficient goes in one step."""


@kernel
def rise(x, n):
    """Return ``psi(x + n) - psi(x)``, psi the digamma function."""
    out = 0.0
    for j in range(n):
        out += 1.0 / (x + j)
    return out


@kernel
def expectations(tokens, documents, scratch):
    """Means given topics of the tables (R, K) and the exposures (R,), summed over the documents of a row."""
    tables, exposure = np.zeros(documents.prior.shape), np.zeros(documents.rest.size)
    for d in range(tokens.group.size):
        r, length = tokens.group[d], tokens.doc_ptr[d + 1] - tokens.doc_ptr[d]
        for j in range(enter_document(tokens, scratch, d)):
            k = scratch.doc_topics[j]
            alpha = documents.prior[r, k]
            tables[r, k] += alpha * rise(alpha, scratch.doc_count[k])
        leave_document(tokens, scratch, d)
        exposure[r] += rise(documents.prior[r].sum(), length)
    return tables, exposure


@kernel
def climb_coefficients(documents, tables, exposure):
    """Take one step of Newton's in each coefficient, one after the other."""
    n_features, n_topics = documents.coefficients.shape
    log_prior = np.empty(documents.rest.size)
    for k in range(n_topics):
        log_prior[:] = 0.0
        for j in range(n_features):
            for e in range(documents.start[j], documents.start[j + 1]):
                log_prior[documents.row[e]] += documents.value[e] * documents.coefficients[j, k]
        for j in range(n_features):
            precision = documents.precision[0 if j == 0 else 1]
            slope, curvature = -precision * documents.coefficients[j, k], precision
            for e in range(documents.start[j], documents.start[j + 1]):
                r, value = documents.row[e], documents.value[e]
                mean = exposure[r] * alpha_of(log_prior[r])
                slope += value * (tables[r, k] - mean)
                curvature += value * value * mean
            step = min(max(slope / curvature, -FARTHEST), FARTHEST)
            documents.coefficients[j, k] += step
            for e in range(documents.start[j], documents.start[j + 1]):
                log_prior[documents.row[e]] += documents.value[e] * step
        for r in range(log_prior.size):
            documents.prior[r, k] = alpha_of(log_prior[r])


@kernel
def optimised_sweep(rng, state):
    """Sweep, the coefficients optimised. Mutates `state`; False for want of room."""
    tokens, documents, topics, scratch = state
    through = sparse_pass(rng, tokens, documents, topics, scratch)
    if through:
        finish_pass(rng, topics)
        for _ in range(STEPS):
            tables, exposure = expectations(tokens, documents, scratch)
            climb_coefficients(documents, tables, exposure)
        draw_precisions(rng, documents)
        move_topics(rng, topics)
    return through

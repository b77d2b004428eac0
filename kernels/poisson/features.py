"""Documents whose labels multiply the Dirichlet parameters of their topics: MetaLDA.

    alpha_dk = prod_l weight_lk^f_dl,   weight_lk ~ Gamma(weight_shape, weight_rate),   theta_d ~ Dir(alpha_d)

with features f that are zero or one. The first feature is one in every document.
"""

import math
from typing import NamedTuple

import numpy as np

from ..toolbox.jit import kernel
from ..toolbox.parts import documents_of, move_documents_in_parts, tables_in_parts
from ..toolbox.random import LEAST, MOST_LOG, log_gamma_variate
from ..toolbox.sides import (
    Tokens,
    check_number_of_topics,
    check_side,
    draw_tables,
    move_documents,
    open_topic,
)
from ..toolbox.threads import in_parts
from .weights import draw_exposure


class Features(NamedTuple):
    """Features of R distinct kinds of documents.

    Attributes
    ----------
    ptr : int64 (R + 1,)
        Row i has the features ``feature[ptr[i]:ptr[i + 1]]``.
    feature : int64 (n,)
    by_feature_ptr : int64 (L + 1,)
        Feature l is in the rows ``row[by_feature_ptr[l]:by_feature_ptr[l + 1]]``.
    row : int64 (n,)
    """

    ptr: np.ndarray
    feature: np.ndarray
    by_feature_ptr: np.ndarray
    row: np.ndarray

    FIXED = ("ptr", "feature", "by_feature_ptr", "row")


class FeaturedDocuments(NamedTuple):
    """Document side of MetaLDA.

    Attributes
    ----------
    prior : float64 (R, K)
        alpha of each row of features.
    rest : float64 (R,)
        Zero: no topic is left to open.
    log_weight : float64 (L, K)
    weight_prior : float64 (2,)
        Shape and rate.
    features : Features
    """

    prior: np.ndarray
    rest: np.ndarray
    log_weight: np.ndarray
    weight_prior: np.ndarray
    features: Features

    FIXED = ("rest", "weight_prior")


@open_topic.implement(FeaturedDocuments)
def _no_topic_to_open(rng, documents, topic, group):
    pass


@kernel
def log_alpha(features, log_weight, row, k, without):
    """Log of the Dirichlet parameter of topic `k` in documents of a row, one feature left out (-1: none)."""
    out = 0.0
    for j in range(features.ptr[row], features.ptr[row + 1]):
        if features.feature[j] != without:
            out += log_weight[features.feature[j], k]
    return min(out, MOST_LOG)


@kernel
def alpha_of(features, log_weight, row, k):
    """Dirichlet parameter of topic `k` in documents of a row."""
    return max(LEAST, math.exp(log_alpha(features, log_weight, row, k, -1)))


@kernel
def draw_exposures(rng, tokens, documents):
    """Draw -log q of all documents, q ~ Beta(alpha_d., N_d), summed over those of a row."""
    out = np.zeros(documents.prior.shape[0])
    for d in range(tokens.group.size):
        row, length = tokens.group[d], float(tokens.doc_ptr[d + 1] - tokens.doc_ptr[d])
        out[row] += draw_exposure(rng, length, documents.prior[row].sum(), 0.0)
    return out


@kernel
def draw_feature_weights(rng, documents, tables, exposure):
    """Draw the weights of features in topics, one after the other, given tables and exposures of rows."""
    features, log_weight = documents.features, documents.log_weight
    for feature in range(log_weight.shape[0]):
        start, end = features.by_feature_ptr[feature], features.by_feature_ptr[feature + 1]
        for k in range(log_weight.shape[1]):
            shape, rate = documents.weight_prior[0], documents.weight_prior[1]
            for j in range(start, end):
                row = features.row[j]
                shape += tables[row, k]
                rate += math.exp(log_alpha(features, log_weight, row, k, feature)) * exposure[row]
            log_weight[feature, k] = log_gamma_variate(rng, shape) - math.log(rate)
    for row in range(documents.prior.shape[0]):
        for k in range(log_weight.shape[1]):
            documents.prior[row, k] = alpha_of(features, log_weight, row, k)


@move_documents.implement(FeaturedDocuments)
def _move_documents(rng, tokens, documents, topics, scratch):
    exposure = draw_exposures(rng, tokens, documents)
    tables = draw_tables(rng, tokens, documents, scratch, documents.prior.shape[1])
    draw_feature_weights(rng, documents, tables, exposure)


@move_documents_in_parts.register(FeaturedDocuments)
def _move_in_parts(documents: FeaturedDocuments, rng, tokens, topics, parts) -> None:
    def exposure_of(part) -> np.ndarray:
        return draw_exposures(part.rng, documents_of(tokens, part), documents)

    exposure = sum(in_parts(exposure_of, parts), np.zeros(documents.rest.size))
    draw_feature_weights(rng, documents, tables_in_parts(tokens, documents, parts), exposure)


def features_of(rows) -> Features:
    """Features in the form that sweeps need, of distinct rows, sparse (R, L) of zeros and ones."""
    by_row, by_feature = rows.tocsr(), rows.tocsc()
    return Features(
        ptr=by_row.indptr.astype(np.int64),
        feature=by_row.indices.astype(np.int64),
        by_feature_ptr=by_feature.indptr.astype(np.int64),
        row=by_feature.indices.astype(np.int64),
    )


def featured_documents(log_weight, weight_prior, features: Features) -> FeaturedDocuments:
    """Document side of the weights (L, K) of features."""
    log_weight = np.array(log_weight, float)
    prior = _prior_of(features, log_weight)
    return FeaturedDocuments(prior, np.zeros(len(prior)), log_weight, np.array(weight_prior, float), features)


def _prior_of(features: Features, log_weight: np.ndarray) -> np.ndarray:
    """Alpha of all rows, float (R, K)."""
    n_rows, n_topics = features.ptr.size - 1, log_weight.shape[1]
    found = [alpha_of(features, log_weight, row, k) for row in range(n_rows) for k in range(n_topics)]
    return np.reshape(np.array(found, float), (n_rows, n_topics))


@check_side.register
def _(side: FeaturedDocuments, tokens: Tokens, n_topics: int) -> None:
    check_number_of_topics(side, tokens, n_topics)
    if not np.all(np.isfinite(side.log_weight)):
        raise AssertionError("the weight of a feature is not a positive number")
    if not np.allclose(side.prior, _prior_of(side.features, side.log_weight), rtol=1e-12):
        raise AssertionError("the prior of the documents is not what the weights of their features give")

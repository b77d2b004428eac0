"""Responses: what a document says of itself, given the mean topics of its tokens.

A response has one linear predictor, or one for each category but the first, which is the baseline:

    psi_dp = intercept_p + sum_k (n_dk / n_d) coefficient_kp

where the sum is zero in a document without tokens. A number is normal about its predictor, a category has
probability proportional to exp(psi). Categories with a hinge have in the place of a likelihood the factor

    exp(-2 c sum_p max(0, margin - s_p psi_dp)),    s_p = 1 if predictor p is of the category, else -1

(Zhu, Chen, Perkins and Zhang 2014); of two the second alone has a predictor, of more each. A response that a
document does not have is not in the lists.
"""

import math
from typing import NamedTuple

import numpy as np

from ..toolbox.jit import borrowing_kernel
from ..toolbox.sides import check_positive

NUMBER, CATEGORY, HINGE = 0, 1, 2
"""Kinds of response."""


class Responses(NamedTuple):
    """What documents say of themselves, and what that depends on beside the topics of their tokens.

    Sizes: R responses, P predictors, E values that are known.

    Attributes
    ----------
    intercept : float64 (P,)
    coefficient : float64 (capacity, P)
        A row a topic.
    intercept_precision, precision, noise_precision : float64 (R,)
        Of intercepts, of coefficients and of the errors of a number, by response.
    precision_prior : float64 (3, 2)
        Of these three.
    first : int64 (R + 1,)
        Response r has the predictors ``first[r]:first[r + 1]``.
    kind : int32 (R,)
    hinge : float64 (R, 2)
        c and the margin of categories with a hinge.
    start : int64 (D + 1,)
        Document d has the values ``start[d]:start[d + 1]``.
    response : int32 (E,)
    value : float64 (E,)
        A number, or a category's.
    predictor, proposed : float64 (P,)
        Working memory: of the current document, and with one token moved.
    """

    intercept: np.ndarray
    coefficient: np.ndarray
    intercept_precision: np.ndarray
    precision: np.ndarray
    noise_precision: np.ndarray
    precision_prior: np.ndarray
    first: np.ndarray
    kind: np.ndarray
    hinge: np.ndarray
    start: np.ndarray
    response: np.ndarray
    value: np.ndarray
    predictor: np.ndarray
    proposed: np.ndarray

    FIXED = ("precision_prior", "first", "kind", "hinge", "start", "response", "value")


@borrowing_kernel
def log_total(predictor, first, end):
    """Log of the sum of exp(psi) over the categories of a response, the baseline's 1 among them."""
    high = 0.0
    for p in range(first, end):
        high = max(high, predictor[p])
    total = math.exp(-high)
    for p in range(first, end):
        total += math.exp(predictor[p] - high)
    return high + math.log(total)


@borrowing_kernel
def side_of(y, first, end, p):
    """Return s of predictor `p`, among those from `first` to `end` of a response with a hinge, at `y`."""
    category = 1 if end - first == 1 else p - first
    return 1.0 if int(y) == category else -1.0


@borrowing_kernel
def hinge_loss(responses, r, y, predictor):
    """Sum of ``max(0, margin - s psi)`` over the predictors of response r."""
    first, end, margin, out = responses.first[r], responses.first[r + 1], responses.hinge[r, 1], 0.0
    for p in range(first, end):
        out += max(0.0, margin - side_of(y, first, end, p) * predictor[p])
    return out


@borrowing_kernel
def log_responses(responses, d, predictor):
    """Log likelihood of document d's responses, without constants, at `predictor` (P,)."""
    out = 0.0
    for e in range(responses.start[d], responses.start[d + 1]):
        r, y = responses.response[e], responses.value[e]
        first, end = responses.first[r], responses.first[r + 1]
        if responses.kind[r] == NUMBER:
            error = y - predictor[first]
            out -= 0.5 * responses.noise_precision[r] * error * error
        elif responses.kind[r] == HINGE:
            out -= 2.0 * responses.hinge[r, 0] * hinge_loss(responses, r, y, predictor)
        else:
            if y > 0.0:
                out += predictor[first + int(y) - 1]
            out -= log_total(predictor, first, end)
    return out


@borrowing_kernel
def has_responses(responses, d):
    """Whether document d has any."""
    return responses.start[d] < responses.start[d + 1]


@borrowing_kernel
def enter_responses(tokens, responses, scratch, d, n_doc_topics):
    """Fill ``responses.predictor``, given the topics counted in the scratch; tokens without one count 0."""
    predictor, share = responses.predictor, 1.0 / max(1, tokens.doc_ptr[d + 1] - tokens.doc_ptr[d])
    for p in range(predictor.size):
        predictor[p] = responses.intercept[p]
    for j in range(n_doc_topics):
        k = scratch.doc_topics[j]
        add_token(predictor, predictor, responses.coefficient, k, scratch.doc_count[k] * share)


@borrowing_kernel
def add_token(out, predictor, coefficient, topic, share):
    """``out = predictor + share coefficient[topic]``; nothing is added for a topic of -1."""
    for p in range(predictor.size):
        out[p] = predictor[p]
        if topic >= 0:
            out[p] += share * coefficient[topic, p]


def make_responses(
    intercept, coefficient, precisions, precision_prior, kind, hinge, n_predictors, values
) -> Responses:
    """Responses of documents.

    Parameters
    ----------
    intercept : float (P,)
    coefficient : float (P, K)
    precisions : three of float (R,)
        Of intercepts, coefficients and errors.
    precision_prior : float (3, 2)
    kind : int (R,)
    hinge : float (R, 2)
    n_predictors : int (R,)
    values : float (D, R)
        Of the responses; NaN where a document has none.
    """
    known = ~np.isnan(values)
    of_intercepts, of_coefficients, of_errors = (np.array(x, float) for x in precisions)
    intercept = np.array(intercept, float)
    return Responses(
        intercept=intercept,
        coefficient=np.ascontiguousarray(np.asarray(coefficient, float).T),
        intercept_precision=of_intercepts,
        precision=of_coefficients,
        noise_precision=of_errors,
        precision_prior=np.array(precision_prior, float),
        first=np.concatenate([[0], np.cumsum(n_predictors)]).astype(np.int64),
        kind=np.array(kind, np.int32),
        hinge=np.reshape(np.array(hinge, float), (-1, 2)),
        start=np.concatenate([[0], np.cumsum(known.sum(axis=1))]).astype(np.int64),
        response=np.nonzero(known)[1].astype(np.int32),
        value=values[known].astype(float),
        predictor=np.zeros_like(intercept),
        proposed=np.zeros_like(intercept),
    )


def part_of[Side](side: NamedTuple, cls: type[Side]) -> Side:
    """Fields of a side that are those of `cls`, a side without responses."""
    return cls(**{name: getattr(side, name) for name in cls._fields})  # type: ignore[attr-defined]


def check_responses(responses: Responses, n_topics: int) -> None:
    """Raise AssertionError where a number of the responses, or of what they depend on, is none."""
    check_positive(
        intercept_precision=responses.intercept_precision,
        precision=responses.precision,
        noise_precision=responses.noise_precision,
    )
    if not (
        np.all(np.isfinite(responses.intercept)) and np.all(np.isfinite(responses.coefficient[:n_topics]))
    ):
        raise AssertionError("a coefficient is not a number")
    if not np.all(np.isfinite(responses.value)):
        raise AssertionError("a response is not a number")

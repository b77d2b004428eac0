"""Moves of the coefficients of responses given the topics of the tokens, all from their conditionals.

Each likelihood is normal in a predictor psi, given an auxiliary variable of each document: with weight w and
linear term s it is ``exp(s psi - w psi^2 / 2)``, and

    a number     w = noise precision                                        s = w y
    a category   w ~ PG(1, psi - c),  c = log of the sum over the others    s = 1[y = p] - 1/2 + w c
    a hinge      w = c^2 v,  v ~ inverse Gaussian(1 / (c |m - y psi|), 1)   s = y c (1 + c m v)

(Polson, Scott and Windle 2013, Section 3, and 5 for several categories; Zhu, Chen, Perkins and Zhang 2014,
Section 3, of a hinge of cost c and margin m, where y is 1 or -1: ``exp(-2 c max(0, u))`` is the integral over
lambda = 1 / v of ``exp(-(lambda + c u)^2 / (2 lambda)) / sqrt(2 pi lambda)``, Polson and Scott 2011). The
tokens move with the auxiliary variables summed out: these are drawn anew before each use, and are no part of
the state.
"""

import math

import numpy as np

from ..toolbox.jit import kernel
from ..toolbox.random import gamma_variate, is_sampled
from .documents import HINGE, NUMBER, side_of
from .inverse_gaussian import inverse_gaussian
from .polya_gamma import polya_gamma


@kernel
def topic_shares(tokens, scratch):
    """Share of each topic in each document's tokens, by row: where rows begin, (N,) topics, (N,) shares."""
    start = np.zeros(tokens.group.size + 1, np.int64)
    topic = np.empty(tokens.topic.size, np.int32)
    share = np.empty(tokens.topic.size)
    count, n = scratch.doc_count, 0
    for d in range(tokens.group.size):
        begin, end = tokens.doc_ptr[d], tokens.doc_ptr[d + 1]
        for i in range(begin, end):
            count[tokens.topic[i]] += 1
        for i in range(begin, end):
            k = tokens.topic[i]
            if count[k] > 0:
                topic[n] = k
                share[n] = count[k] / (end - begin)
                n += 1
                count[k] = 0
        start[d + 1] = n
    return start, topic[:n], share[:n]


@kernel
def predictor_of(shares, responses, d, p):
    """Linear predictor p of document d."""
    start, topic, share = shares
    out = responses.intercept[p]
    for j in range(start[d], start[d + 1]):
        out += share[j] * responses.coefficient[topic[j], p]
    return out


@kernel
def log_add(a, b):
    """Log of exp(a) + exp(b)."""
    high, low = max(a, b), min(a, b)
    return high + math.log1p(math.exp(low - high)) if low > -math.inf else high


LEAST_PIVOT = 1e-8
"""Least share of a diagonal entry that its pivot may keep: half of the digits are then left."""

LEAST_ROOT = 1e-13
"""The same for the roots of both, where rows are rotated: some digits are then left."""


@kernel
def eliminate(matrix, linear):
    """Turn the lower triangle of a precision matrix into its factor L, and `linear` into ``L^-1 linear``.

    A draw from the normal law of mean ``matrix^-1 linear`` is then ``L^-T (L^-1 linear + noise)``. Returns
    False, with both half done, where a pivot has cancelled.
    """
    # By hand and in place: the factor of `np.linalg` is a new array at each call, and its bits are LAPACK's.
    n = linear.size
    for j in range(n):
        for i in range(j):
            factor = matrix[j, i]
            for m in range(i):
                factor -= matrix[j, m] * matrix[i, m]
            matrix[j, i] = factor / matrix[i, i]
        pivot, sum_ = matrix[j, j], linear[j]
        for m in range(j):
            pivot -= matrix[j, m] * matrix[j, m]
            sum_ -= matrix[j, m] * linear[m]
        if not pivot > LEAST_PIVOT * matrix[j, j]:  # nor if it is no number
            return False
        matrix[j, j] = math.sqrt(pivot)
        linear[j] = sum_ / matrix[j, j]
    return True


@kernel
def rotate_in(matrix, linear, row, target):
    """Change L and ``L^-1 linear`` to those with ``row row'`` and ``target row`` added; `row` is overwritten.

    By Givens rotations, which square nothing (Golub and Van Loan 2013, Section 5.1.8).
    """
    n = linear.size
    for j in range(n):
        if row[j] == 0.0:
            continue
        length = math.hypot(matrix[j, j], row[j])
        cosine, sine = matrix[j, j] / length, row[j] / length
        for m in range(j, n):
            old = matrix[m, j]
            matrix[m, j] = cosine * old + sine * row[m]
            row[m] = cosine * row[m] - sine * old
        old = linear[j]
        linear[j] = cosine * old + sine * target
        target = cosine * target - sine * old


@kernel
def draw_from_factor(rng, matrix, linear):
    """Put ``L^-T (linear + noise)`` in the place of `linear`, which is L^-1 times the linear term."""
    n = linear.size
    for j in range(n):
        linear[j] += rng.standard_normal()
    for j in range(n - 1, -1, -1):
        sum_ = linear[j]
        for m in range(j + 1, n):
            sum_ -= matrix[m, j] * linear[m]
        linear[j] = sum_ / matrix[j, j]


@kernel
def factor_by_rows(responses, shares, owner, weight, slope, r, matrix, linear):
    """Fill `matrix` and `linear` as `eliminate` does, to twice its digits but in O(n K^2).

    The shares of a document sum to one, so that only the priors tell the intercept from what all coefficients
    have in common. Where these are vague, that cancels in sums of products, but not in rotations of rows.
    Where it is lost in those as well, `linear` becomes NaN.

    Parameters
    ----------
    responses, shares, owner, weight, slope, r, matrix, linear
        As for `draw_predictor`.
    """
    start, topic, share = shares
    row, total = np.empty(linear.size), np.full(linear.size, responses.precision[r])
    total[0] = responses.intercept_precision[r]
    matrix[:] = 0.0
    linear[:] = 0.0
    for k in range(linear.size):
        matrix[k, k] = math.sqrt(total[k])
    for e in range(owner.size):
        d, root = owner[e], math.sqrt(weight[e])
        if root == 0.0:
            continue
        row[:] = 0.0
        row[0] = root
        for j in range(start[d], start[d + 1]):
            row[topic[j] + 1] = root * share[j]
        for k in range(linear.size):
            total[k] += row[k] * row[k]
        rotate_in(matrix, linear, row, slope[e] / root)
    for k in range(linear.size):
        if not matrix[k, k] > LEAST_ROOT * math.sqrt(total[k]):
            linear[k] = math.nan


@kernel
def draw_predictor(rng, responses, shares, owner, weight, slope, r, p, matrix, linear):
    """Draw intercept and coefficients of predictor p of response r, given weights and linear terms.

    Parameters
    ----------
    owner : int (n,)
        Documents that have the response.
    weight, slope : float (n,)
        w and s of each.
    matrix : float (K + 1, K + 1)
        Working memory; the intercept comes first.
    linear : float (K + 1,)
    """
    start, topic, share = shares
    matrix[:] = 0.0
    linear[:] = 0.0
    matrix[0, 0] = responses.intercept_precision[r]
    for k in range(1, linear.size):
        matrix[k, k] = responses.precision[r]
    for e in range(owner.size):
        d, w, s = owner[e], weight[e], slope[e]
        matrix[0, 0] += w
        linear[0] += s
        for j in range(start[d], start[d + 1]):
            k, x = topic[j] + 1, share[j]
            linear[k] += s * x
            matrix[k, 0] += w * x
            for m in range(start[d], start[d + 1]):
                if topic[m] < k:
                    matrix[k, topic[m] + 1] += w * x * share[m]
    if not eliminate(matrix, linear):
        factor_by_rows(responses, shares, owner, weight, slope, r, matrix, linear)
    draw_from_factor(rng, matrix, linear)
    responses.intercept[p] = linear[0]
    responses.coefficient[: linear.size - 1, p] = linear[1:]


@kernel
def draw_number(rng, responses, shares, owner, y, r, matrix, linear):
    """Draw the coefficients of a number, and the precision of its errors."""
    p, n = responses.first[r], owner.size
    weight = np.full(n, responses.noise_precision[r])
    draw_predictor(rng, responses, shares, owner, weight, weight * y, r, p, matrix, linear)
    prior = responses.precision_prior[2]
    if is_sampled(prior):
        squares = 0.0
        for e in range(n):
            squares += (y[e] - predictor_of(shares, responses, owner[e], p)) ** 2
        shape, rate = prior[0] + 0.5 * n, prior[1] + 0.5 * squares
        responses.noise_precision[r] = gamma_variate(rng, shape, rate)


@kernel
def draw_categories(rng, responses, shares, owner, y, r, matrix, linear):
    """Draw the coefficients of the categories of a response, one after the other.

    The log sum over all others is put together of those before, which have been drawn, and those after.
    """
    first, end, n = responses.first[r], responses.first[r + 1], owner.size
    after = np.full((n, end - first + 1), -math.inf)
    for e in range(n):
        for p in range(end - 1, first - 1, -1):
            psi = predictor_of(shares, responses, owner[e], p)
            after[e, p - first] = log_add(after[e, p - first + 1], psi)
    before = np.zeros(n)  # the baseline
    weight, slope = np.empty(n), np.empty(n)
    for p in range(first, end):
        for e in range(n):
            others = log_add(before[e], after[e, p - first + 1])
            weight[e] = polya_gamma(rng, predictor_of(shares, responses, owner[e], p) - others)
            own = 1.0 if y[e] == p - first + 1 else 0.0
            slope[e] = own - 0.5 + weight[e] * others
        draw_predictor(rng, responses, shares, owner, weight, slope, r, p, matrix, linear)
        for e in range(n):
            before[e] = log_add(before[e], predictor_of(shares, responses, owner[e], p))


@kernel
def draw_margins(rng, responses, shares, owner, y, r, matrix, linear):
    """Draw the coefficients of a response with a hinge; given the tokens, its predictors are independent."""
    first, end, n = responses.first[r], responses.first[r + 1], owner.size
    cost, margin = responses.hinge[r, 0], responses.hinge[r, 1]
    weight, slope = np.empty(n), np.empty(n)
    for p in range(first, end):
        for e in range(n):
            side = side_of(y[e], first, end, p)
            gap = margin - side * predictor_of(shares, responses, owner[e], p)
            v = inverse_gaussian(rng, cost * abs(gap))
            weight[e] = cost * cost * v
            slope[e] = side * cost * (1.0 + cost * margin * v)
        draw_predictor(rng, responses, shares, owner, weight, slope, r, p, matrix, linear)


@kernel
def draw_precisions(rng, responses, n_topics):
    """Draw the precisions of intercepts and of coefficients of each response; conjugate."""
    for r in range(responses.kind.size):
        first, end = responses.first[r], responses.first[r + 1]
        prior = responses.precision_prior[0]
        if is_sampled(prior):
            own = responses.intercept[first:end]
            shape, rate = prior[0] + 0.5 * own.size, prior[1] + 0.5 * np.sum(own * own)
            responses.intercept_precision[r] = gamma_variate(rng, shape, rate)
        prior = responses.precision_prior[1]
        if is_sampled(prior):
            each = responses.coefficient[:n_topics, first:end]
            shape, rate = prior[0] + 0.5 * each.size, prior[1] + 0.5 * np.sum(each * each)
            responses.precision[r] = gamma_variate(rng, shape, rate)


@kernel
def draw_coefficients(rng, tokens, responses, scratch, n_topics):
    """Draw all that responses depend on but the topics of the tokens."""
    shares = topic_shares(tokens, scratch)
    matrix, linear = np.empty((n_topics + 1, n_topics + 1)), np.empty(n_topics + 1)
    document_of = np.empty(responses.value.size, np.int64)
    for d in range(tokens.group.size):
        document_of[responses.start[d] : responses.start[d + 1]] = d
    for r in range(responses.kind.size):
        has = responses.response == r
        owner, y = document_of[has], responses.value[has]
        if responses.kind[r] == NUMBER:
            draw_number(rng, responses, shares, owner, y, r, matrix, linear)
        elif responses.kind[r] == HINGE:
            draw_margins(rng, responses, shares, owner, y, r, matrix, linear)
        else:
            draw_categories(rng, responses, shares, owner, y, r, matrix, linear)
    draw_precisions(rng, responses, n_topics)

"""Hyperparameters of Pitman-Yor topics: slice moves on their exact conditionals, under proper priors.

Given tables, restaurant (g, k) holds of them (b_k | a)_T / (b_k)_M, or up to
a constant prod_{n=1}^{T-1} (b_k + n a) Γ(b_k + 1) / Γ(b_k + M), a form that also serves -a < b <= 0.
"""

import math
from typing import NamedTuple

import numpy as np

from ..toolbox.jit import kernel
from ..toolbox.random import gamma_variate, is_beyond, is_sampled, log_density, slice_sample
from ..toolbox.stirling import fill_ratios, opens

LARGE = 1e150  # far from overflow by one more factor


@kernel
def log_steps(start, step, n):
    """``sum_{j=1}^{n} log(start + j step)``, by few logarithms and also for a step of zero."""
    out, product = 0.0, 1.0
    for j in range(1, n + 1):
        product *= start + j * step
        if product > LARGE or product < 1.0 / LARGE:
            out += math.log(product)
            product = 1.0
    return out + math.log(product)


class LogConcentration(NamedTuple):
    """Target of ``log b_k``: customers and tables of the topic in each group, and the Gamma prior."""

    customers: np.ndarray
    tables: np.ndarray
    discount: float
    prior: np.ndarray


@log_density.implement(LogConcentration)
def _log_density_of_concentration(target, x):
    b = math.exp(x)
    if is_beyond(b):
        return -math.inf
    out = target.prior[0] * x - target.prior[1] * b  # with the Jacobian of the logarithm
    for g in range(target.customers.size):
        if target.customers[g] > 0:
            out += log_steps(b, target.discount, target.tables[g] - 1)
            out += math.lgamma(b + 1.0) - math.lgamma(b + target.customers[g])
    return out


@kernel
def update_b(rng, restaurants, n_topics, discount, prior):
    """Slice-sample the concentration of each topic, unless they are fixed."""
    if not is_sampled(prior):
        return
    for k in range(n_topics):
        target = LogConcentration(restaurants.customers[:, k], restaurants.tables[:, k], discount, prior)
        restaurants.b[k] = math.exp(slice_sample(rng, target, math.log(restaurants.b[k]), 1.0))


@kernel
def open_b(rng, b, topic, prior, fixed):
    """Draw the concentration of a new topic from its prior, unless it is fixed.

    The first customer of a topic tells nothing of it.
    """
    if not is_sampled(prior):
        b[topic] = fixed[0]
        return
    b[topic] = gamma_variate(rng, prior[0], prior[1])


class LogitDiscount(NamedTuple):
    """Target of ``logit a`` given the sizes of tables.

    Attributes
    ----------
    tables : int64 (G, K)
    b : float64 (K,)
    joined : int64 (most + 1,)
        How many customers joined a table of each size.
    prior : float64 (2,)
        Shapes of the Beta.
    """

    tables: np.ndarray
    b: np.ndarray
    joined: np.ndarray
    prior: np.ndarray


@log_density.implement(LogitDiscount)
def _log_density_of_discount(target, x):
    if abs(x) > 700.0:
        return -math.inf
    a, rest = 1.0 / (1.0 + math.exp(-x)), 1.0 / (1.0 + math.exp(x))
    if a == 1.0:  # as rounded; the prior above 1 - 1e-16 is cut off
        return -math.inf
    out = target.prior[0] * math.log(a) + target.prior[1] * math.log(rest)  # with the Jacobian
    for size in range(1, target.joined.size):
        if target.joined[size] > 0:
            out += target.joined[size] * math.log(size - 1 + rest)
    for k in range(target.b.size):
        if target.b[k] <= -a:
            return -math.inf
        for g in range(target.tables.shape[0]):
            if target.tables[g, k] > 1:
                out += log_steps(target.b[k], a, target.tables[g, k] - 1)
    return out


@kernel
def draw_openers(rng, ratios, discount, m, t, opener):
    """Draw which of `m` customers came first to their tables, `t` in number, into ``opener[:m]``."""
    for n in range(m, 0, -1):  # the last of n customers at t tables sits alone with S^{n-1}_{t-1} / S^n_t
        alone = t == n or (t > 1 and rng.random() * opens(ratios, discount, n - 1, t - 1) < 1.0)
        opener[n - 1] = alone
        t -= alone


@kernel
def join_tables(rng, discount, opener, m, table_of, size, joined):
    """Seat the `m` customers one after the other; count into `joined` those who join a table, by its size.

    A table of s customers is joined in proportion to s - a: that of a random customer is, with s, and the
    rest is rejection.
    """
    t = 0
    for n in range(m):
        if opener[n]:
            table_of[n] = t
            size[t] = 1
            t += 1
            continue
        while True:
            table = table_of[int(rng.random() * n)]
            if rng.random() * size[table] < size[table] - discount:
                break
        table_of[n] = table
        joined[size[table]] += 1
        size[table] += 1


@kernel
def update_a(rng, restaurants, n_topics, scheme, prior):
    """Slice-sample the discount given table sizes, which are drawn and forgotten here; unless it is fixed."""
    if not is_sampled(prior):
        return
    most = 0
    for cell in range(restaurants.n_listed.size):
        most = max(most, restaurants.cell_ptr[cell + 1] - restaurants.cell_ptr[cell])
    opener, table_of = np.empty(most, np.bool_), np.empty(most, np.int64)
    size, joined = np.empty(most, np.int64), np.zeros(most + 1, np.int64)
    for cell in range(restaurants.n_listed.size):
        start = restaurants.cell_ptr[cell]
        for j in range(start, start + restaurants.n_listed[cell]):
            m, t = restaurants.listed_customers[j], restaurants.listed_tables[j]
            draw_openers(rng, scheme.ratios, scheme.discount[0], m, t, opener)
            join_tables(rng, scheme.discount[0], opener, m, table_of, size, joined)
    tables, b = restaurants.tables[:, :n_topics], restaurants.b[:n_topics]
    target = LogitDiscount(tables, b, joined, prior)
    a = scheme.discount[0]
    x = slice_sample(rng, target, math.log(a) - math.log1p(-a), 1.0)
    scheme.discount[0] = 1.0 / (1.0 + math.exp(-x))
    fill_ratios(scheme.ratios, scheme.discount[0], most)

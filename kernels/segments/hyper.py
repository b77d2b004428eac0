"""Hyperparameters: slice moves on their exact conditionals given tables, dishes and topics."""

import math
from typing import NamedTuple

import numpy as np

from ..toolbox.jit import kernel
from ..toolbox.random import is_beyond, is_sampled, log_beta, log_density, slice_sample
from ..toolbox.smoothing import draw_smoothing
from .tables import DISHES_NOTED, NEW_DISHES, TABLES_NOTED
from .vectors import update_vectors


class LogZeta(NamedTuple):
    """Target of ``log zeta``: new dishes, tables by what was on offer, and the Gamma prior."""

    new_dishes: float
    offered: np.ndarray
    prior: np.ndarray


@log_density.implement(LogZeta)
def _log_density_of_zeta(target, x):
    zeta = math.exp(x)
    if is_beyond(zeta):
        return -math.inf
    out = (target.prior[0] + target.new_dishes) * x - target.prior[1] * zeta  # with the Jacobian
    for n in range(target.offered.size):
        if target.offered[n] > 0:
            out -= target.offered[n] * math.log(n + zeta)
    return out


class LogStick(NamedTuple):
    """Target of ``log a`` given b, or ``log b`` given a: tokens at tables and later ones, the Gamma prior."""

    is_a: bool
    other: float
    size: np.ndarray
    later: np.ndarray
    prior: np.ndarray


@log_density.implement(LogStick)
def _log_density_of_stick(target, x):
    value = math.exp(x)
    if is_beyond(value):
        return -math.inf
    a, b = (value, target.other) if target.is_a else (target.other, value)
    out = target.prior[0] * x - target.prior[1] * value - target.size.size * log_beta(a, b)
    for j in range(target.size.size):
        out += log_beta(a + (target.size[j] - 1.0), b + target.later[j])
    return out


@kernel
def slice_sticks(rng, law, size, later):
    """Slice-sample a and b given tokens at tables and at later ones, unless they are fixed."""
    if is_sampled(law.a_prior):
        target = LogStick(True, law.b[0], size, later, law.a_prior)
        law.a[0] = math.exp(slice_sample(rng, target, math.log(law.a[0]), 1.0))
    if is_sampled(law.b_prior):
        target = LogStick(False, law.a[0], size, later, law.b_prior)
        law.b[0] = math.exp(slice_sample(rng, target, math.log(law.b[0]), 1.0))


@kernel
def update_zeta(rng, law, tally):
    """Slice-sample zeta, unless it is fixed."""
    if not is_sampled(law.zeta_prior):
        return
    target = LogZeta(float(tally.numbers[NEW_DISHES]), tally.offered, law.zeta_prior)
    law.zeta[0] = math.exp(slice_sample(rng, target, math.log(law.zeta[0]), 1.0))
    for n in range(law.log_offer.size):
        law.log_offer[n] = math.log(n + law.zeta[0])


@kernel
def update_eta(rng, eta, prior, topics):
    """Slice-sample the Dirichlet parameter of topics given their counts, unless it is fixed."""
    if is_sampled(prior):
        counts_of_counts = np.bincount(topics.counts.ravel())
        counts_of_counts[0] = 0
        draw_smoothing(rng, eta, topics.total, counts_of_counts, topics.counts.shape[0], prior)


@kernel
def update_smoothings(rng, law, tokens, topics, tally):
    """Move the law of topic vectors and eta given the dishes that were noted, unless they are fixed."""
    dish_size = tally.dish_size[: tally.numbers[DISHES_NOTED]]
    update_vectors(rng, law.vectors, tokens, topics, dish_size, tally.in_dish)
    update_eta(rng, law.eta, law.eta_prior, topics)


@kernel
def update_hyperparameters(rng, state):
    """Move all that are sampled, given what was noted of tables and dishes. Mutates `state`."""
    law, tally = state.law, state.tally
    n = tally.numbers[TABLES_NOTED]
    slice_sticks(rng, law, tally.table_size[:n], tally.table_later[:n])
    update_zeta(rng, law, tally)
    update_smoothings(rng, law, state.tokens, state.topics, tally)

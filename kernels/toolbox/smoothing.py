"""The smoothing eta of Dirichlet topics: an exact slice move on its logarithm."""

import math
from typing import NamedTuple

import numpy as np

from .jit import kernel
from .lists import tally_words
from .random import is_beyond, is_sampled, log_density, slice_sample


class LogSmoothing(NamedTuple):
    """Target of ``log eta`` given topics integrated out: sufficient statistics and the Gamma prior.

    Attributes
    ----------
    totals : int64 (K,)
        Tokens of each topic.
    size, how_often : int64 (distinct,)
        Sizes of the non-zero n_kw, and how many of them there are of each.
    n_words : float
    prior : float64 (2,)
        Shape and rate.
    """

    totals: np.ndarray
    size: np.ndarray
    how_often: np.ndarray
    n_words: float
    prior: np.ndarray


@log_density.implement(LogSmoothing)
def _log_density(target, x):
    # Gamma prior times Jacobian, times prod_k Γ(V eta) / Γ(V eta + n_k) prod_w Γ(eta + n_kw) / Γ(eta)
    eta = math.exp(x)
    out = target.prior[0] * x - target.prior[1] * eta
    mass = target.n_words * eta
    if is_beyond(eta):
        return -math.inf
    for n in target.totals:
        if n > 0:
            out += math.lgamma(mass) - math.lgamma(mass + n)
    for j in range(target.size.size):
        out += target.how_often[j] * (math.lgamma(eta + target.size[j]) - math.lgamma(eta))
    return out


@kernel
def draw_smoothing(rng, eta, totals, tally, n_words, prior):
    """Slice-sample ``eta[0]`` in place.

    Parameters
    ----------
    totals : int64 (K,)
        Tokens of each topic.
    tally : int64 (most + 1,)
        How many of the n_kw have each value.
    """
    size = np.flatnonzero(tally)
    target = LogSmoothing(totals, size, tally[size], float(n_words), prior)
    eta[0] = math.exp(slice_sample(rng, target, math.log(eta[0]), 1.0))


@kernel
def update_smoothing(rng, topics, n_words):
    """Slice-sample the eta of topics of `n_words` words in place, unless it is fixed."""
    if not is_sampled(topics.eta_prior):
        return
    tally = tally_words(topics, 0, topics.n_listed.size)
    draw_smoothing(rng, topics.eta, topics.total, tally, n_words, topics.eta_prior)

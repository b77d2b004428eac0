"""Weights of the topics of a corpus: gamma variables, of a fixed number of topics or of a gamma process.

    r_k ~ Gamma(gamma / K, rate c), k = 1..K        a fixed number of topics, the weak limit
    sum_k r_k delta_k ~ GammaProcess(gamma, c)      without a limit

where the data say ``prod_k r_k^tables_k exp(-exposure r_k)`` of them.
"""

import math

from ..toolbox.jit import kernel
from ..toolbox.random import crt, gamma_variate, is_sampled, log_beta_variate, log_gamma_variate

LEAST = 1e-290
"""Of the largest weight."""


@kernel
def draw_exposure(rng, length, mass, shape):
    """Draw -log(1 - p) of a document given its length, which is NB(mass, p), p ~ Beta(shape, shape).

    At a shape of zero the length says nothing of the mass, and p is what Dirichlet proportions of that mass
    ask for (Escobar and West 1995).
    """
    if shape + length == 0.0:
        return 0.0
    return -log_beta_variate(rng, shape + length, shape + mass)[1]


@kernel
def draw_gammas(rng, shapes, rate, out):
    """Fill `out` (K,) with gamma variables of `shapes` (K,), which may be tiny or zero.

    Where all of them would underflow they are so many times larger that the largest is `LEAST`: what matters
    of them is their shares. `out` may be `shapes`.
    """
    log_rate, high = math.log(rate), -math.inf
    for k in range(shapes.size):
        shape = max(LEAST, shapes[k])
        out[k] = log_gamma_variate(rng, shape) - log_rate if shapes[k] > 0.0 else -math.inf
        high = max(high, out[k])
    largest = math.exp(max(high, math.log(LEAST)))
    for k in range(shapes.size):
        out[k] = math.exp(out[k] - high) * largest if out[k] > -math.inf else 0.0


@kernel
def draw_weights(rng, r, rest, gamma, c, gamma_prior, c_prior, n_fixed, tables, exposure):
    """Draw gamma, the weights and c given tables of the topics and their common exposure. Mutates `r` to `c`.

    From the leaves to the root: gamma with the weights integrated out, the weights, then c.

    Parameters
    ----------
    r : float64 (K,)
    rest : float64 (1,)
        Weight of all topics that are not represented; stays as it is where their number is fixed.
    gamma, c : float64 (1,)
    gamma_prior, c_prior : float64 (2,)
    n_fixed : int
        Number of topics, or 0 where there is no limit.
    tables : int64 (K,)
        All above zero where there is no limit.
    exposure : float
    """
    if is_sampled(gamma_prior):
        customers = r.size if n_fixed == 0 else 0
        for k in range(r.size if n_fixed > 0 else 0):
            customers += crt(rng, tables[k], gamma[0] / n_fixed)
        rate = gamma_prior[1] + math.log1p(exposure / c[0])
        gamma[0] = gamma_variate(rng, gamma_prior[0] + customers, rate)
    each = gamma[0] / n_fixed if n_fixed > 0 else 0.0
    rate = c[0] + exposure
    draw_gammas(rng, each + tables, rate, r)
    if n_fixed == 0:
        rest[0] = gamma_variate(rng, gamma[0], rate)
    if is_sampled(c_prior):
        c[0] = gamma_variate(rng, c_prior[0] + gamma[0], c_prior[1] + r.sum() + rest[0])

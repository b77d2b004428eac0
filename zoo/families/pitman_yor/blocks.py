"""NumPyro blocks of topics under Pitman-Yor processes; `stan/functions/pitman_yor.stan` holds the same.

Over V words, a draw from the process PYP(a, b, H) is finite after all (Pitman and Yor 1997): with independent
positive stable variables S_v, E exp(-s S_v) = exp(-H_v s^a), it is S / T, T = sum_v S_v, under the law of S
tilted by T^-b. Kanter (1975) has S in closed form in two variables, so that no stick is left out.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax.scipy.special import gammaln, logsumexp
from numpyro.distributions import constraints


class TiltedStable(dist.Distribution):
    r"""Law of variables x, y whose stable variables S, normalised, are a Pitman-Yor process on V words.

    With :math:`U = \pi / (1 + e^{-x})` uniform, :math:`E = e^{-y}` exponential, and Zolotarev's function
    :math:`A`,

    .. math::

        S_v = H_v^{1/a} \left(\frac{A(U_v)}{E_v}\right)^{(1-a)/a}, \qquad
        A(u) = \frac{\sin(a u)^{a/(1-a)} \sin((1-a) u)}{\sin(u)^{1/(1-a)}},

    are positive a-stable. The density here is theirs times
    :math:`T^{-b} \, \Gamma(1 + b) / \Gamma(1 + b/a)`. There is no `sample`: NUTS has no need of it.

    Parameters
    ----------
    discount : float
        a, in (0, 1).
    concentration : float (…,)
        b > -a.
    log_base : float (…, V)
        log H; -inf for a word that cannot occur, whose S is zero.

    References
    ----------
    .. [1] M. Kanter (1975). Stable densities under change of scale and total variation inequalities. Annals
       of Probability 3:697-707.
    .. [2] J. Pitman, M. Yor (1997). The two-parameter Poisson-Dirichlet distribution derived from a stable
       subordinator. Annals of Probability 25:855-900.
    """

    support = constraints.independent(constraints.real, 2)  # pyright: ignore[reportAssignmentType]

    def __init__(self, discount: jax.Array, concentration: jax.Array, log_base: jax.Array):
        self.discount, self.concentration, self.log_base = discount, concentration, log_base
        super().__init__(batch_shape=jnp.shape(log_base)[:-1], event_shape=(2, jnp.shape(log_base)[-1]))

    def log_prob(self, value: jax.Array, intermediates: object = None) -> jax.Array:
        """Log density of `value`."""
        a, b = self.discount, self.concentration
        x, y = value[..., 0, :], value[..., 1, :]
        log_untilted = -jnp.sum(x + 2.0 * jax.nn.softplus(-x) + y + jnp.exp(-y), axis=-1)
        log_total = logsumexp(log_stable(value, a, self.log_base), axis=-1)
        return log_untilted - b * log_total + gammaln(1.0 + b) - gammaln(1.0 + b / a)


def log_stable(value: jax.Array, discount: jax.Array, log_base: jax.Array) -> jax.Array:
    """Log of S of `TiltedStable`, float (…, V), at its variables `value` (…, 2, V)."""
    x, y = value[..., 0, :], value[..., 1, :]
    u = jnp.pi * jax.nn.sigmoid(x)
    sin_u = jnp.sin(jnp.pi * jax.nn.sigmoid(-jnp.abs(x)))  # pi - u would be rounded
    log_zolotarev = (  # log of A(u)^(1 - a)
        discount * jnp.log(jnp.sin(discount * u))
        + (1.0 - discount) * jnp.log(jnp.sin((1.0 - discount) * u))
        - jnp.log(sin_u)
    )
    is_possible = jnp.isfinite(log_base)
    finite_base = jnp.where(is_possible, log_base, 0.0)  # a gradient of -inf would be nan
    log_s = (finite_base + log_zolotarev + (1.0 - discount) * y) / discount
    return jnp.where(is_possible, log_s, -jnp.inf)


def log_base(log_phi0: jax.Array, matrices: Sequence[np.ndarray]) -> jax.Array:
    """Log of P_g phi0_gk, float (G, K, V).

    Parameters
    ----------
    log_phi0 : float (G, K, V)
        Shared topics as each group sees them.
    matrices : sequence of float (V, V)
        P_g; a row of zeros makes a word that cannot occur.
    """
    rows = []
    for log_topics, matrix in zip(log_phi0, matrices, strict=True):
        is_possible = matrix.any(axis=1)
        weights = np.where(is_possible[:, None], matrix, 1.0)  # a gradient of log(0) would be nan
        log_rows = logsumexp(log_topics[:, None, :], b=weights, axis=-1)
        rows.append(jnp.where(is_possible, log_rows, -jnp.inf))
    return jnp.stack(rows)


def pitman_yor(name: str, discount: jax.Array, concentration: jax.Array, log_base: jax.Array) -> jax.Array:
    """Log weights of PYP(`discount`, `concentration`, exp(`log_base`)), float (…, V); see `TiltedStable`.

    Sites `name`, the weights; `name`_stable, the variables; `name`_log_total (…,), log T.
    """
    value = numpyro.sample(f"{name}_stable", TiltedStable(discount, concentration, log_base))
    log_s = log_stable(jnp.asarray(value), discount, log_base)
    numpyro.deterministic(f"{name}_log_total", logsumexp(log_s, axis=-1))
    log_weights = jax.nn.log_softmax(log_s)
    numpyro.deterministic(name, jnp.exp(log_weights))
    return log_weights


def truncated_pitman_yor(
    name: str, discount: float, concentration: float, base: np.ndarray, n_sticks: int
) -> jax.Array:
    r"""Weights of PYP(`discount`, `concentration`, `base`) by breaking a stick, float (V,): for teaching.

    After T sticks, the rest is PYP(a, b + a T, H) times the length that is left. In its place stands
    Dirichlet(c H), c = (b + a T + a) / (1 - a), which has the same mean and covariance. The length falls with
    T as :math:`T^{-(1-a)/a}` only: sticks that leave out the rest, or give it to the last of them, need
    10^5 of them for one per cent at a = 0.7, b = 1.

    Sites `name`_sticks (T,); `name`_atoms (T,), a word each, discrete; `name`_tail (V,); `name` (V,).
    """
    place = np.arange(1, n_sticks + 1)
    with numpyro.plate(f"{name}_places", n_sticks):
        cut = numpyro.sample(f"{name}_sticks", dist.Beta(1.0 - discount, concentration + discount * place))
        atoms = numpyro.sample(f"{name}_atoms", dist.CategoricalProbs(jnp.asarray(base)))
    left = jnp.cumprod(1.0 - cut)
    tail_concentration = (concentration + discount * n_sticks + discount) / (1.0 - discount)
    tail = numpyro.sample(f"{name}_tail", dist.Dirichlet(tail_concentration * base))
    lengths = cut * jnp.concatenate([jnp.ones(1), left[:-1]])
    weights = (left[-1] * tail).at[atoms].add(lengths)
    numpyro.deterministic(name, weights)
    return weights

"""What the NumPyro programs are made of; `stan/functions/` holds the same blocks in Stan.

The two languages share names, parameterisation and density. Everything is in logarithms: at the second and
third level the shapes of a Dirichlet distribution fall below 1e-3 as a matter of course, where its weights
underflow. JAX takes seconds to load, so that each builder of a program imports the blocks when it is called.
"""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax.scipy.special import gammaln, logsumexp
from numpyro.distributions import constraints

from ..contract import Hyperparameter
from ..priors import Beta, Gamma

LOG_SHAPE_FLOOR = -300.0
"""Below it a shape might underflow; at it a weight is no positive double, with probability 1 - 1e-127."""


class LogGamma(dist.Distribution):
    """Law of log(h) for h ~ Gamma(shape, 1)."""

    support = constraints.real  # pyright: ignore[reportAssignmentType]

    def __init__(self, shape: jax.Array):
        self.shape_parameter = shape
        super().__init__(batch_shape=jnp.shape(shape))

    def log_prob(self, value: jax.Array, intermediates: object = None) -> jax.Array:
        """Log density of `value`."""
        return self.shape_parameter * value - jnp.exp(value) - gammaln(self.shape_parameter)

    def sample(self, key: jax.Array, sample_shape: tuple[int, ...] = ()) -> jax.Array:
        """Draw log gamma variates."""
        return jax.random.loggamma(key, self.shape_parameter, sample_shape + self.batch_shape)


class StickWeights(dist.Distribution):
    r"""Law of unnormalised log weights y of a truncated stick-breaking process in exchangeable order.

    ``softmax(y)`` are the weights w of v_k ~ Beta(1, concentration), k < T, v_T = 1, in an order drawn
    uniformly from all T!. Summed over the orders their density is

    .. math:: \frac{\gamma^{T-1}}{T!} \prod_k w_k^{-1} \, \mathrm{E}[w_\mathrm{last}^\gamma],

    the last being that of T exponential clocks with rates w to ring (the order of sticks that are drawn
    by size). With the time t of that ring as a variable beside w, and u = t w = exp(y), the expectation
    becomes a sum of T terms. So all labels of the topics have the same posterior, and a chain that never
    exchanges two topics still sees all there is; with the sticks in order, it would not.
    """

    support = constraints.real_vector  # pyright: ignore[reportAssignmentType]

    def __init__(self, concentration: jax.Array, truncation: int):
        self.concentration = concentration
        super().__init__(event_shape=(truncation,))

    def log_prob(self, value: jax.Array, intermediates: object = None) -> jax.Array:
        """Log density of `value`."""
        n = self.event_shape[0]
        u = jnp.exp(value)
        log_rung = _log1m_exp(u)  # log probability that a clock has rung
        return (
            (n - 1) * jnp.log(self.concentration)
            - gammaln(n + 1.0)
            - self.concentration * logsumexp(value)
            + jnp.sum(log_rung)
            + logsumexp((self.concentration + 1.0) * value - u - log_rung)
        )

    def sample(self, key: jax.Array, sample_shape: tuple[int, ...] = ()) -> jax.Array:
        """Break a stick; let the clocks ring in the order of its pieces; shuffle."""
        n = self.event_shape[0]
        breaking, ringing, shuffling = jax.random.split(key, 3)
        cut = jax.random.exponential(breaking, (*sample_shape, n)) / self.concentration
        log_rest = cut - jnp.cumsum(cut, axis=-1)  # before each cut
        log_weights = log_rest + _log1m_exp(cut).at[..., -1].set(0.0)
        # The clocks that have not rung yet have rates that sum to the rest of the stick.
        gaps = jnp.log(jax.random.exponential(ringing, cut.shape)) - log_rest
        y = log_weights + logsumexp(gaps, axis=-1, keepdims=True)
        return jax.random.permutation(shuffling, y, axis=-1, independent=True)


def hyperparameter(name: str, value: Hyperparameter, size: int | None = None) -> jax.Array:
    """Sample the hyperparameter `name`, or fix it; `size` independent ones where given."""
    shape = () if size is None else (size,)
    match value:
        case Gamma(first, second):
            law = dist.Gamma(first, second)
        case Beta(first, second):
            law = dist.Beta(first, second)
        case _:
            return jnp.asarray(numpyro.deterministic(name, jnp.full(shape, float(value))))
    return jnp.asarray(numpyro.sample(name, law.expand(shape).to_event()))


def log_hyperparameter(name: str, value: Hyperparameter, size: int | None = None) -> jax.Array:
    """Log of `hyperparameter`."""
    return jnp.log(hyperparameter(name, value, size))


def log_root(gamma: Hyperparameter, truncation: int) -> jax.Array:
    """Log weights of the topics at the root (T,); site ``root``."""
    log_weights = jax.nn.log_softmax(
        numpyro.sample("sticks", StickWeights(jnp.exp(log_hyperparameter("gamma", gamma)), truncation))
    )
    numpyro.deterministic("root", jnp.exp(log_weights))
    return log_weights


def log_gamma(name: str, log_shape: jax.Array, shape: tuple[int, ...], unit: float = 1.0) -> jax.Array:
    """Log of independent Gamma(exp(log_shape), 1) variates; sites `name`_log_h and `name`_x.

    A gamma variate of a shape a far below one is a product h exp(-x / a) of h ~ Gamma(a + 1, 1) and
    x ~ Exponential(1). log(h) and x are of order one whatever a is. The site has x in multiples of `unit`:
    NUTS starts where a site is near one, and so where x is near `unit`.
    """
    log_shape = jnp.broadcast_to(jnp.maximum(log_shape, LOG_SHAPE_FLOOR), shape)
    log_h = numpyro.sample(f"{name}_log_h", LogGamma(jnp.exp(log_shape) + 1.0).to_event())
    x = numpyro.sample(f"{name}_x", dist.Exponential(unit).expand(shape).to_event())
    return jnp.subtract(log_h, unit * x * jnp.exp(-log_shape))


def log_dirichlet(name: str, log_shape: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """Log weights of independent Dirichlet rows, which are normalised gamma variates; site `name`."""
    log_weights = jax.nn.log_softmax(log_gamma(name, log_shape, shape))
    numpyro.deterministic(name, jnp.exp(log_weights))
    return log_weights


def words(counts: np.ndarray, log_theta: jax.Array, eta: Hyperparameter) -> None:
    """Draw the topics, site ``phi`` (K, V), and see the words."""
    log_phi = log_dirichlet("phi", log_hyperparameter("eta", eta), (log_theta.shape[1], counts.shape[1]))
    see_words(counts, log_theta, log_phi[None], np.zeros(len(counts), np.int64))


def see_words(counts: np.ndarray, log_theta: jax.Array, log_phi: jax.Array, group: np.ndarray) -> None:
    """See the words, the topic of each token summed out.

    Parameters
    ----------
    counts : int (D, V)
    log_theta : float (D, K)
    log_phi : float (G, K, V)
        Topics of each group.
    group : int (D,)
    """
    document, word = np.nonzero(counts)
    log_p = logsumexp(log_theta[document] + log_phi[group[document], :, word], axis=1)
    numpyro.factor("counts", jnp.sum(counts[document, word] * log_p))


def _log1m_exp(u: jax.Array) -> jax.Array:
    """Log of 1 - exp(-u) for u > 0."""
    return jnp.where(u < np.log(2.0), jnp.log(-jnp.expm1(-u)), jnp.log1p(-jnp.exp(-u)))

"""NumPyro blocks of models whose tasks mask their topics; `stan/functions/buffet.stan` holds the same."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax.scipy.special import gammaln, logsumexp
from numpyro.distributions import constraints

from .lengths import LOG2

TINY = 1e-300


class BuffetSticks(dist.Distribution):
    r"""Law of log(pi) for the sticks pi of an Indian buffet process, in exchangeable order.

    The K largest points of a Poisson process of intensity alpha / pi on (0, 1), in an order drawn from all
    K!, have density

    .. math:: \frac{\alpha^K}{K!} \, (\min_k \pi_k)^\alpha \prod_k \pi_k^{-1},

    that no other point is above the least of them. The weak limit has K independent Beta(alpha / K, 1).

    References
    ----------
    .. [1] Y. W. Teh, D. Gorur, Z. Ghahramani (2007). Stick-breaking construction for the Indian buffet
       process. International Conference on Artificial Intelligence and Statistics.
    """

    support = constraints.independent(constraints.less_than(0.0), 1)  # pyright: ignore[reportAssignmentType]

    def __init__(self, alpha: jax.Array, truncation: int, weak_limit: bool = False):
        self.alpha, self.weak_limit = alpha, weak_limit
        super().__init__(event_shape=(truncation,))

    def log_prob(self, value: jax.Array, intermediates: object = None) -> jax.Array:
        """Log density of `value`."""
        n = self.event_shape[0]
        if self.weak_limit:
            return n * jnp.log(self.alpha / n) + self.alpha / n * jnp.sum(value, axis=-1)
        return n * jnp.log(self.alpha) - gammaln(n + 1.0) + self.alpha * jnp.min(value, axis=-1)

    def sample(self, key: jax.Array, sample_shape: tuple[int, ...] = ()) -> jax.Array:
        """Draw the sticks one below the other, and shuffle them."""
        n = self.event_shape[0]
        drawing, shuffling = jax.random.split(key)
        gaps = jax.random.exponential(drawing, (*sample_shape, n)) / self.alpha
        if self.weak_limit:
            return -n * gaps
        return jax.random.permutation(shuffling, -jnp.cumsum(gaps, axis=-1), axis=-1, independent=True)


def all_masks(n_topics: int) -> np.ndarray:
    """All 2^K sets of topics, bool (2^K, K); the first is empty."""
    return (np.arange(2**n_topics)[:, None] >> np.arange(n_topics)) % 2 == 1


def log_mask_prior(log_sticks: jax.typing.ArrayLike, epsilon: float, masks: np.ndarray) -> jax.Array:
    """Log probability that a task has each of the `masks` (M, K), float (M,)."""
    log_on = jnp.log(epsilon) + log_sticks
    log_off = jnp.log1p(-jnp.exp(log_on))
    return jnp.where(masks, log_on, log_off).sum(axis=1)


def log_lengths(masks: np.ndarray, mass: jax.Array, doc_lengths: np.ndarray, lengths: str) -> jax.Array:
    """Log probability of the lengths of one task's documents under each mask; see `lengths`.

    An empty mask has no mass and makes no tokens. The mass of another may be rounded to zero, and is none.

    Parameters
    ----------
    masks : bool (M, K)
    mass : float (M,)
        Of the topics that are on.
    doc_lengths : int (D,)
    lengths : {"none", "task", "document"}

    Returns
    -------
    float (M,)
    """
    n = doc_lengths.sum()
    positive = jnp.maximum(mass, TINY)
    if lengths == "none":
        out = jnp.zeros_like(mass)
    else:
        totals = np.array([n]) if lengths == "task" else doc_lengths
        terms = gammaln(positive[:, None] + totals) - gammaln(positive)[:, None] - LOG2 * mass[:, None]
        out = terms.sum(axis=1)
    return out if n == 0 else jnp.where(masks.any(axis=1), out, -jnp.inf)


def log_words(counts: np.ndarray, log_g: jax.Array, log_phi: jax.Array, masks: np.ndarray) -> jax.Array:
    """Log probability of the words of each document under each mask, float (D, M).

    Topic proportions are ``log_g`` (D, K) normalised over the topics that are on, so that topics which are
    off may be stronger by any factor. The empty mask, impossible where there are words, counts as full.
    """
    on = jnp.asarray(masks | ~masks.any(axis=1, keepdims=True))
    document, word = np.nonzero(counts)

    def under(mask: jax.Array) -> jax.Array:
        kept = jnp.where(mask, log_g, -jnp.inf)
        log_theta = kept - logsumexp(kept, axis=1, keepdims=True)
        log_p = logsumexp(log_theta[document] + log_phi.T[word], axis=1)
        return jnp.zeros(len(counts)).at[document].add(counts[document, word] * log_p)

    return jax.lax.map(under, on).T


def masked_words(
    counts: np.ndarray,
    group: np.ndarray,
    n_tasks: int,
    log_prior: jax.Array,
    log_weight: jax.Array,
    log_g: jax.Array,
    log_phi: jax.Array,
    masks: np.ndarray,
    lengths: str,
) -> None:
    """See words and lengths, the masks of the tasks summed out; site ``mask`` (C, 2^K), their posterior."""
    by_document = log_words(counts, log_g, log_phi, masks)
    doc_lengths = counts.sum(axis=1)
    mass = jnp.exp(log_weight) @ masks.T.astype(float)
    rows = []
    for c in range(n_tasks):
        here = np.flatnonzero(group == c)
        by_lengths = log_lengths(masks, mass[c], doc_lengths[here], lengths)
        rows.append(log_prior + by_lengths + by_document[here].sum(0))
    log_p = jnp.array(rows)
    numpyro.deterministic("mask", jax.nn.softmax(log_p, axis=1))
    numpyro.factor("counts", jnp.sum(logsumexp(log_p, axis=1)))

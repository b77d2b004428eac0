"""Documents of Poisson factor analysis in NumPyro programs."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...contract import Hyperparameter


def documents(
    doc_lengths: np.ndarray,
    n_topics: int,
    gamma: Hyperparameter,
    c: Hyperparameter,
    length_shape: float,
    *,
    is_limited: bool,
) -> Callable[[], Any]:
    """Documents of Poisson factor analysis given their lengths; see `TwoSidedModel.document_block`.

    Parameters
    ----------
    doc_lengths : int (D,)
    n_topics : int
        K, or the truncation T.
    gamma, c : float or Gamma
    length_shape : float
    is_limited : bool
        Whether there are K topics; else their shares are sticks, truncated.

    Returns
    -------
    callable
        Part of a NumPyro program with sites ``mass``, ``root`` (K,), whose product are the weights r,
        ``theta`` (D, K), ``gamma`` and ``c``.
    """

    def program() -> Any:
        import jax
        import jax.numpy as jnp
        import numpyro

        from ...toolbox import blocks

        log_gamma = blocks.log_hyperparameter("gamma", gamma)
        log_c = blocks.log_hyperparameter("c", c)
        if is_limited:
            log_root = blocks.log_dirichlet("root", log_gamma - np.log(n_topics), (n_topics,))
        else:
            sticks = numpyro.sample("sticks", blocks.StickWeights(jnp.exp(log_gamma), n_topics))
            log_root = jax.nn.log_softmax(sticks)
            numpyro.deterministic("root", jnp.exp(log_root))
        log_mass = blocks.log_gamma("mass", log_gamma, ()) - log_c
        numpyro.deterministic("mass", jnp.exp(log_mass))
        see_lengths(jnp.exp(log_mass), doc_lengths, length_shape)
        return blocks.log_dirichlet("theta", log_mass + log_root, (len(doc_lengths), n_topics))

    return program


def see_lengths(mass: Any, doc_lengths: np.ndarray, shape: float) -> None:
    """See the lengths of documents of given masses; see `lengths.log_lengths`, up to a constant."""
    import jax.numpy as jnp
    import numpyro
    from jax.scipy.special import gammaln

    from ...toolbox.blocks import LOG_SHAPE_FLOOR

    mass = jnp.maximum(mass, np.exp(LOG_SHAPE_FLOOR))
    if shape > 0.0:  # JAX's own betaln has seven digits where its arguments are about ten
        log_beta = gammaln(shape + mass) - gammaln(2.0 * shape + doc_lengths + mass)
        rising = gammaln(mass + doc_lengths) - gammaln(mass)
        numpyro.factor("lengths", jnp.sum(gammaln(shape + doc_lengths) + log_beta + rising))


def layers(model: Any, doc_lengths: np.ndarray) -> Callable[[], Any]:
    """Documents of a gamma belief network given their lengths; see `TwoSidedModel.document_block`.

    Parameters
    ----------
    model : Gbn
    doc_lengths : int (D,)

    Returns
    -------
    callable
        Part of a NumPyro program with sites ``mass``, ``root`` (K,), ``gamma`` and ``c`` as in `documents`;
        from the second layer on, layer after layer, ``link`` ((S - 1) K, K), ``rate`` ((S - 1) D,) and
        ``rates`` ((S - 1) D, K), the gamma variables; and ``theta`` (D, K), proportions of topics.
    """
    n_topics, n_above, n_documents = model.n_topics, model.n_layers - 1, len(doc_lengths)

    def program() -> Any:
        import jax.numpy as jnp
        import numpyro
        import numpyro.distributions as dist
        from jax.scipy.special import logsumexp

        from ...toolbox import blocks

        log_gamma = blocks.log_hyperparameter("gamma", model.gamma)
        log_c = blocks.log_hyperparameter("c", model.c)
        log_root = blocks.log_dirichlet("root", log_gamma - np.log(n_topics), (n_topics,))
        log_mass = blocks.log_gamma("mass", log_gamma, ()) - log_c
        numpyro.deterministic("mass", jnp.exp(log_mass))
        log_eta = jnp.log(jnp.asarray(model.link_eta))
        log_link = blocks.log_dirichlet("link", log_eta, (n_above * n_topics, n_topics))
        shape = jnp.full(n_above * n_documents, model.rate_shape)
        log_rate = jnp.asarray(numpyro.sample("log_rate", blocks.LogGamma(shape).to_event()))
        log_rate = (log_rate - np.log(model.rate_rate)).reshape(n_above, n_documents)
        numpyro.deterministic("rate", jnp.exp(log_rate).ravel())
        # One site for all layers, as in Stan: of shape one, which the factor trades for its own.
        shape = (n_above * n_documents, n_topics)
        one = blocks.LogGamma(jnp.ones(shape))
        log_h = jnp.asarray(numpyro.sample("rates_log_h", one.to_event()))
        x = jnp.asarray(numpyro.sample("rates_x", dist.Exponential().expand(shape).to_event()))
        log_shape = jnp.broadcast_to(log_mass + log_root, (n_documents, n_topics))
        log_rates, log_density = [], -one.log_prob(log_h).sum()
        for s in range(n_above - 1, -1, -1):
            here = slice(s * n_documents, (s + 1) * n_documents)
            log_shape = jnp.maximum(log_shape, blocks.LOG_SHAPE_FLOOR)
            log_density += blocks.LogGamma(jnp.exp(log_shape) + 1.0).log_prob(log_h[here]).sum()
            log_rates.insert(0, log_h[here] - x[here] * jnp.exp(-log_shape) - log_rate[s, :, None])
            links = log_link[s * n_topics : (s + 1) * n_topics]
            log_shape = logsumexp(log_rates[0][:, :, None] + links, axis=1)
        numpyro.factor("layers", log_density)
        numpyro.deterministic("rates", jnp.exp(jnp.concatenate(log_rates)))
        see_lengths(jnp.exp(logsumexp(log_rates[0], axis=1)), doc_lengths, model.length_shape)
        return blocks.log_dirichlet("theta", log_shape, (n_documents, n_topics))

    return program


def featured(
    features: np.ndarray, n_topics: int, weight_shape: float, weight_rate: float
) -> Callable[[], Any]:
    """Documents of MetaLDA; see `TwoSidedModel.document_block`.

    Parameters
    ----------
    features : float (D, L)
    n_topics : int
    weight_shape, weight_rate : float

    Returns
    -------
    callable
        Part of a NumPyro program with sites ``log_weight`` (L, K) and ``theta`` (D, K).
    """
    shape = (features.shape[1], n_topics)

    def program() -> Any:
        import jax.numpy as jnp
        import numpyro

        from ...toolbox import blocks

        law = blocks.LogGamma(jnp.full(shape, weight_shape)).to_event()
        log_weight = jnp.asarray(numpyro.sample("weight_x", law)) - np.log(weight_rate)
        numpyro.deterministic("log_weight", log_weight)
        return blocks.log_dirichlet("theta", jnp.asarray(features) @ log_weight, (len(features), n_topics))

    return program


def of_topic_probabilities(
    n_documents: int, n_topics: int, gamma: Hyperparameter, c: Hyperparameter, p_shapes: tuple[float, float]
) -> Callable[[], Any]:
    """Documents whose topics have probabilities of their own; see `TwoSidedModel.document_block`.

    The rates are not normalised: what a Poisson law has beside the probabilities of words is a factor.

    Parameters
    ----------
    n_documents, n_topics : int
    gamma, c : float or Gamma
    p_shapes : (float, float)
        Of the beta law of p, a ratio of gamma variables.

    Returns
    -------
    callable
        Part of a NumPyro program with sites ``r`` (K,), ``log_odds`` (K,), ``theta`` (D, K), the rates,
        ``gamma`` and ``c``.
    """

    def program() -> Any:
        import jax.numpy as jnp
        import numpyro

        from ...toolbox import blocks

        log_gamma = blocks.log_hyperparameter("gamma", gamma)
        log_c = blocks.log_hyperparameter("c", c)
        log_r = blocks.log_gamma("r", log_gamma - np.log(n_topics), (n_topics,)) - log_c
        numpyro.deterministic("r", jnp.exp(log_r))
        log_p, log_q = (
            blocks.log_gamma(name, jnp.log(shape), (n_topics,))
            for name, shape in zip("pq", p_shapes, strict=True)
        )
        log_odds = log_p - log_q
        numpyro.deterministic("log_odds", log_odds)
        log_theta = blocks.log_gamma("theta", log_r, (n_documents, n_topics)) + log_odds
        theta = jnp.exp(log_theta)
        numpyro.deterministic("theta", theta)
        numpyro.factor("lengths", -jnp.sum(theta))
        return log_theta

    return program

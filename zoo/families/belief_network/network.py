"""The layers of a Dirichlet belief network above the first, in plain NumPy: generator and density.

Layers are counted from the documents up. Upper layer t = 0, …, T - 2 has W topics, on words like those of the
first layer. Each topic j below it, of the first layer for t = 0 and of upper layer t - 1 for others, has a
link to each topic k in it:

    log_popularity[t, k]       log gamma_k,   gamma_k ~ Gamma(layer_mass[t] / W, rate layer_rate[t])
    log_links[k, j]            log beta_kj,   beta_kj ~ Gamma(gamma_k, rate link_rate[t]),  t = 0; -inf while
                               a topic has no links, as one that documents open has lost with its tokens
    log_upper_links[t - 1]     the same for t > 0
    log_upper_topics[t]        log phi_k,     phi_k ~ Dirichlet(psi_k);  of the last layer Dirichlet(eta)
    psi_jw = sum_k beta_kj phi_kw

Gamma and Dirichlet variables of small shapes underflow, so that all of them are kept as logarithms.
"""

from collections.abc import Mapping

import numpy as np
from scipy.special import gammaln

from ...contract import Latents
from ...toolbox.draws import log_gamma

LEAST = 1e-300
"""Least shape: a smaller one has lost its digits."""

LOWEST = -650.0
"""Least logarithm whose exponential has all its digits, with room for products."""


def links_below(latents: Mapping[str, np.ndarray], t: int) -> np.ndarray:
    """Log links of the topics below upper layer t to those in it, float (W, J)."""
    return latents["log_links"] if t == 0 else latents["log_upper_links"][t - 1]


def linear(log_links: np.ndarray) -> np.ndarray:
    """Exponentials of links (W, J); those of a topic whose links would all underflow are raised together.

    Of such a topic the sum of psi is nothing beside a token, and only the proportions of psi matter. All are
    zero where a topic has no links.
    """
    high = np.maximum(log_links.max(axis=0), np.finfo(float).min)
    return np.exp(np.where(high > LOWEST, log_links, log_links - high + LOWEST))


def shapes(log_topics: np.ndarray, log_links: np.ndarray) -> np.ndarray:
    """Dirichlet parameters psi (J, V) of topics with `log_links` (W, J) to `log_topics` (W, V)."""
    return np.maximum(np.einsum("kj,kw->jw", linear(log_links), np.exp(log_topics)), LEAST)


def first_words(latents: Mapping[str, np.ndarray], n_words: int) -> np.ndarray:
    """Probability of each word as the first of a topic of the first layer that has no tokens yet, float (V,).

    Its links are Gamma(gamma_k, c), of one rate c, so that their shares have the means
    gamma_k / sum_k gamma_k, and a first word comes from topic k with this probability.
    """
    if n_upper(latents) == 0:
        return np.full(n_words, 1.0 / n_words)
    shape = np.maximum(np.exp(latents["log_popularity"][0]), LEAST)
    return np.maximum(shape / shape.sum() @ np.exp(latents["log_upper_topics"][0]), LEAST)


def n_upper(latents: Mapping[str, np.ndarray]) -> int:
    """Count the layers above the first."""
    return len(latents["log_popularity"]) if "log_popularity" in latents else 0


def draw(
    hyper: Mapping[str, np.ndarray],
    n_layers: int,
    width: int,
    n_topics: int,
    n_words: int,
    rng: np.random.Generator,
) -> Latents:
    """Draw all layers above the first, and the links of `n_topics` topics in it, from the top down."""
    if n_layers == 1:
        return {}
    log_popularity = np.empty((n_layers - 1, width))
    log_topics = np.empty((n_layers - 1, width, n_words))
    links = [np.empty(0)] * (n_layers - 1)
    for t in reversed(range(n_layers - 1)):
        if t == n_layers - 2:
            shape = np.full((width, n_words), float(hyper["eta"]))
        else:
            shape = shapes(log_topics[t + 1], links[t + 1])
        log_topics[t] = draw_log_dirichlet(shape, rng)
        mass, rate, link_rate = (float(hyper[name][t]) for name in ("layer_mass", "layer_rate", "link_rate"))
        log_popularity[t] = log_gamma(mass / width, (width,), rng) - np.log(rate)
        popularity, n_below = np.exp(log_popularity[t]), n_topics if t == 0 else width
        shape = np.maximum(popularity, LEAST)[:, None]
        links[t] = log_gamma(shape, (width, n_below), rng) - np.log(link_rate)
    out = {"log_popularity": log_popularity, "log_links": links[0], "log_upper_topics": log_topics}
    return out | ({"log_upper_links": np.array(links[1:])} if n_layers > 2 else {})


def draw_log_dirichlet(shape: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Logarithms of Dirichlet draws, one a row of `shape` (J, V)."""
    logs = log_gamma(np.maximum(shape, LEAST), shape.shape, rng)
    return logs - np.logaddexp.reduce(logs, axis=-1, keepdims=True)


def log_density(latents: Mapping[str, np.ndarray]) -> float:
    """Log density of all layers above the first, and of the links of the first, given the hyperparameters.

    Of the logarithms of gamma variables, and of Dirichlet variables phi with respect to
    ``prod_{w < V} d phi_w / prod_{w <= V} phi_w``, in which all words have the same part.
    """
    out, n = 0.0, n_upper(latents)
    for t in range(n):
        out += sum(np.sum(found) for found in log_densities(latents, t))
        log_topics = latents["log_upper_topics"][t]
        if t == n - 1:
            shape = np.full(log_topics.shape, float(latents["eta"]))
        else:
            shape = shapes(latents["log_upper_topics"][t + 1], links_below(latents, t + 1))
        out += np.sum(gammaln(shape.sum(axis=1))) + np.sum(shape * log_topics - gammaln(shape))
    return float(out)


def log_densities(latents: Mapping[str, np.ndarray], t: int) -> tuple[np.ndarray, np.ndarray]:
    """Log densities of the log popularity of the topics of upper layer t, (W,), and of log links, (W, J).

    Links that a topic has lost with its last token are integrated out.
    """
    mass, rate, link_rate = (latents[name][t] for name in ("layer_mass", "layer_rate", "link_rate"))
    log_popularity = latents["log_popularity"][t]
    shape, log_links = np.maximum(np.exp(log_popularity), LEAST)[:, None], links_below(latents, t)
    of_links = _log_gamma_densities(log_links, shape, link_rate)
    return (
        _log_gamma_densities(log_popularity, mass / log_popularity.size, rate),
        np.where(np.isneginf(log_links), 0.0, of_links),
    )


def _log_gamma_densities(y: np.ndarray, shape: np.ndarray | float, rate: float) -> np.ndarray:
    """Log densities of y = log g for g ~ Gamma(shape, rate)."""
    return shape * (np.log(rate) + y) - rate * np.exp(y) - gammaln(shape)


def token_shares(latents: Mapping[str, np.ndarray], sizes: np.ndarray) -> np.ndarray:
    """Return the share of the tokens that each topic of each upper layer is expected to have, (T - 1, W).

    A topic hands its tokens to those above it in proportion to its links.

    Parameters
    ----------
    latents : Latents
    sizes : int (K,)
        Tokens of the topics of the first layer.
    """
    weights, out = sizes / max(sizes.sum(), 1), []
    for t in range(n_upper(latents)):
        log_links = links_below(latents, t)
        share = np.exp(log_links - np.logaddexp.reduce(log_links, axis=0))
        weights = share @ weights
        out.append(weights)
    return np.array(out)

"""References of topics under a Dirichlet belief network: their part of NumPyro programs, and data of Stan."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...contract import Hyperparameter
from ...corpus import Corpus

MOST_LAYERS = 3
"""The programs have variables of their own for each layer; and with more, NUTS would not mix."""

UNIT = 0.002
"""Of the exponential variates of the layers above the first, see `blocks.log_gamma`.

Were it one, NUTS would start at popularities of e^-3 and less, links of such shapes at e^-20, topics whose
shapes are these links at weights of exp(-e^20); and from there a chain does not come back."""


def parameters(n_layers: int) -> tuple[str, ...]:
    """Names of what both programs save of the topics, as `BeliefNetwork` names its latents; and ``phi``."""
    above = ("layer_mass", "layer_rate", "link_rate", "log_popularity", "log_links", "log_upper_topics")
    between = ("log_upper_links",) if n_layers > 2 else ()
    return ("phi", "eta", *(above if n_layers > 1 else ()), *between)


def block(
    corpus: Corpus, n_topics: int, n_layers: int, width: int, hyper: Mapping[str, Hyperparameter]
) -> Callable[[], tuple[Any, np.ndarray]]:
    """Topics that are the first layer of a Dirichlet belief network; see `TopicSide.block`.

    Every gamma variable is a product of one of a shape above one and a power of a uniform variable, so that
    what is sampled is of order one whatever the shapes are.

    Parameters
    ----------
    corpus : Corpus
    n_topics, n_layers, width : int
    hyper : mapping of str to float or Gamma
        ``eta``; with more than one layer ``layer_mass``, ``layer_rate`` and ``link_rate``.

    Returns
    -------
    callable
        Part of a NumPyro program with sites ``phi`` (K, V) and the others of `parameters`.

    Raises
    ------
    ValueError
        There are more than three layers.
    """
    _check(n_layers)
    group, n_words, n_upper = np.zeros(corpus.n_documents, np.int64), corpus.n_words, n_layers - 1

    def program() -> tuple[Any, np.ndarray]:
        import jax.numpy as jnp
        import numpyro
        from jax.nn import log_softmax
        from jax.scipy.special import logsumexp

        from ...toolbox import blocks

        def above(name: str, log_shape: Any, shape: tuple[int, int]) -> Any:
            return blocks.log_gamma(name, log_shape, shape, UNIT)

        def shapes(log_links: Any, log_topics: Any) -> Any:
            return logsumexp(log_links[:, :, None] + log_topics[:, None, :], axis=0)

        log_eta = blocks.log_hyperparameter("eta", hyper["eta"])
        if n_upper == 0:
            return blocks.log_dirichlet("phi", log_eta, (n_topics, n_words))[None], group
        log_mass, log_rate, log_link_rate = (
            blocks.log_hyperparameter(name, hyper[name], n_upper)
            for name in ("layer_mass", "layer_rate", "link_rate")
        )
        log_mean = (log_mass - np.log(width))[:, None]
        log_popularity = above("popularity", log_mean, (n_upper, width)) - log_rate[:, None]
        log_topics = [log_softmax(above("top", log_eta, (width, n_words)))]
        if n_upper > 1:
            between = above("links_between", log_popularity[1][:, None], (width, width))
            between = between - log_link_rate[1]
            shape = shapes(between, log_topics[0])
            log_topics.insert(0, log_softmax(above("middle", shape, (width, n_words))))
            numpyro.deterministic("log_upper_links", between[None])
        links = above("links", log_popularity[0][:, None], (width, n_topics)) - log_link_rate[0]
        numpyro.deterministic("log_popularity", log_popularity)
        numpyro.deterministic("log_links", links)
        numpyro.deterministic("log_upper_topics", jnp.stack(log_topics))
        shape = shapes(links, log_topics[0])
        return blocks.log_dirichlet("phi", shape, (n_topics, n_words))[None], group

    return program


def stan_data(n_layers: int, width: int) -> dict[str, Any]:
    """Return what ``stan/topics/belief_network`` asks for but hyperparameters; with one layer all of them."""
    _check(n_layers)
    sizes: dict[str, Any] = {"n_upper": n_layers - 1, "W": width}
    if n_layers > 1:
        return sizes
    unused = ("layer_mass", "layer_rate", "link_rate")
    return sizes | {f"{name}_is_random": 0 for name in unused} | {f"{name}_given": [1.0] for name in unused}


def _check(n_layers: int) -> None:
    if n_layers > MOST_LAYERS:
        raise ValueError(
            f"layers: the references, in NumPyro or Stan, have at most {MOST_LAYERS}; found {n_layers}; "
            "use a kernel"
        )

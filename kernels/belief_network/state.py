"""The state of topics under a Dirichlet belief network, as flat arrays."""

from typing import NamedTuple

import numpy as np


class Layers(NamedTuple):
    """Layers above the first: L of them, of W topics on V words each.

    The last axis is that of the topics of the upper of two layers, over which links are summed. Gamma and
    Dirichlet variables are kept as logarithms, which do not underflow.

    Attributes
    ----------
    log_topics : float64 (L, V, W)
        log phi.
    topics : float64 (L, V, W)
        Its exponential.
    log_popularity : float64 (L, W)
        log gamma.
    log_links : float64 (capacity, W)
        log beta of the topics of the first layer; -inf while a topic has none.
    log_upper_links : float64 (max(L - 1, 0), W, W)
        log beta of the topics of upper layers.
    mass, rate, link_rate : float64 (L,)
        gamma0, c0 and c.
    mass_prior, rate_prior, link_rate_prior : float64 (2,)
    """

    log_topics: np.ndarray
    topics: np.ndarray
    log_popularity: np.ndarray
    log_links: np.ndarray
    log_upper_links: np.ndarray
    mass: np.ndarray
    rate: np.ndarray
    link_rate: np.ndarray
    mass_prior: np.ndarray
    rate_prior: np.ndarray
    link_rate_prior: np.ndarray

    FIXED = ("mass_prior", "rate_prior", "link_rate_prior")

    def links_to(self, t: int) -> np.ndarray:
        """Log beta of the topics below upper layer `t`."""
        return self.log_links if t == 0 else self.log_upper_links[t - 1]


class Births(NamedTuple):
    """What topics that open are like given the layers above.

    Attributes
    ----------
    first_word : float64 (V,)
        Probability of each word as the first of a topic that is not represented.
    shape : float64 (W,)
        Shapes of its links before it has a token.
    links : float64 (W,)
        Working memory: links of the topic that opened last.
    happen : bool (1,)
        Whether documents can open topics. If not, those without tokens keep their links, as latents.
    """

    first_word: np.ndarray
    shape: np.ndarray
    links: np.ndarray
    happen: np.ndarray

    FIXED = ("happen",)


class BeliefTopics(NamedTuple):
    """Topic side whose topics are the first layer of a Dirichlet belief network, integrated out.

    Attributes
    ----------
    total, word_ptr, n_listed, listed_topic, listed_count, eta, eta_prior, n_topics
        As in `DirichletTopics`, and in its order; eta is that of the last layer.
    psi : float64 (V, capacity)
        Dirichlet parameters of the topics, a word after the other.
    psi_total : float64 (capacity,)
        Their sums over words.
    births : Births
    layers : Layers
    """

    total: np.ndarray
    word_ptr: np.ndarray
    n_listed: np.ndarray
    listed_topic: np.ndarray
    listed_count: np.ndarray
    eta: np.ndarray
    eta_prior: np.ndarray
    n_topics: np.ndarray
    psi: np.ndarray
    psi_total: np.ndarray
    births: Births
    layers: Layers

    FIXED = ("word_ptr", "eta_prior")

"""Documents of Poisson factor analysis as Zhao et al. (2018) print it: each topic has a probability p.

    theta_dk ~ Gamma(r_k, rate (1 - p_k) / p_k)      p_k ~ Beta(p_shapes)      r_k ~ Gamma(gamma / K, rate c)
    n_dk ~ Poisson(theta_dk)                         k = 1..K

The theta are integrated out. Given its length, a document is not Dirichlet: a token of topic k weighs
``p_k (r_k + n_dk)``, which the sweep of `parallel` knows from `topic_factors`.
"""

import math
from typing import NamedTuple

import numpy as np

from ..toolbox.jit import kernel
from ..toolbox.parts import move_documents_in_parts, tables_in_parts
from ..toolbox.random import crt, gamma_variate, is_sampled, log_beta_variate
from ..toolbox.sides import (
    Tokens,
    check_number_of_topics,
    check_positive,
    check_side,
)
from .parallel import topic_factors
from .weights import draw_gammas


class TopicProbabilities(NamedTuple):
    """Document side of Poisson factor analysis with a probability a topic.

    Attributes
    ----------
    prior : float64 (1, K)
        r.
    rest : float64 (1,)
        Zero: no topic is left to open.
    log_odds : float64 (K,)
        log p - log(1 - p).
    gamma, c : float64 (1,)
    gamma_prior, c_prior : float64 (2,)
    p_shapes : float64 (2,)
    """

    prior: np.ndarray
    rest: np.ndarray
    log_odds: np.ndarray
    gamma: np.ndarray
    c: np.ndarray
    gamma_prior: np.ndarray
    c_prior: np.ndarray
    p_shapes: np.ndarray

    FIXED = ("rest", "gamma_prior", "c_prior", "p_shapes")


@topic_factors.register(TopicProbabilities)
def _topic_factors(documents: TopicProbabilities) -> np.ndarray:
    return np.exp(-np.logaddexp(0.0, -documents.log_odds))


@kernel
def draw_probabilities(rng, documents, sizes, n_documents):
    """Draw p of each topic given its tokens and its weight, the theta integrated out."""
    a, b = documents.p_shapes[0], documents.p_shapes[1]
    for k in range(documents.log_odds.size):
        log_p, log_q = log_beta_variate(rng, a + sizes[k], b + n_documents * documents.prior[0, k])
        documents.log_odds[k] = log_p - log_q


@kernel
def draw_own_weights(rng, documents, tables, n_documents):
    """Draw gamma, the weights and c given tables of the topics; each topic has an exposure of its own.

    From the leaves to the root, as `weights.draw_weights`: gamma with the weights integrated out, the
    weights, then c.
    """
    gamma, c, r = documents.gamma, documents.c, documents.prior[0]
    n_topics = r.size
    exposure = n_documents * np.logaddexp(0.0, documents.log_odds)
    if is_sampled(documents.gamma_prior):
        shape, rate = documents.gamma_prior[0], documents.gamma_prior[1]
        for k in range(n_topics):
            shape += crt(rng, tables[k], gamma[0] / n_topics)
            rate += math.log1p(exposure[k] / c[0]) / n_topics
        gamma[0] = gamma_variate(rng, shape, rate)
    draw_gammas(rng, gamma[0] / n_topics + tables, 1.0, r)
    r /= c[0] + exposure
    if is_sampled(documents.c_prior):
        shape, rate = documents.c_prior[0] + gamma[0], documents.c_prior[1] + r.sum()
        c[0] = gamma_variate(rng, shape, rate)


@move_documents_in_parts.register(TopicProbabilities)
def _move_in_parts(documents: TopicProbabilities, rng, tokens, topics, parts) -> None:
    # p given the weights, the theta integrated out; then tables and weights given p.
    n_documents = tokens.group.size
    draw_probabilities(rng, documents, topics.total, n_documents)
    draw_own_weights(rng, documents, tables_in_parts(tokens, documents, parts)[0], n_documents)


def topic_probabilities(latents, priors, p_shapes) -> TopicProbabilities:
    """Document side that stands at `latents`.

    Parameters
    ----------
    latents : mapping of str to array
        ``r`` (K,), ``log_odds`` (K,), ``gamma``, ``c``.
    priors : mapping of str to (shape, rate)
        (0, 0) for a hyperparameter that is fixed.
    p_shapes : (float, float)
    """
    return TopicProbabilities(
        prior=np.array(latents["r"], float)[None],
        rest=np.zeros(1),
        log_odds=np.array(latents["log_odds"], float),
        gamma=np.array([float(latents["gamma"])]),
        c=np.array([float(latents["c"])]),
        gamma_prior=np.array(priors["gamma"], float),
        c_prior=np.array(priors["c"], float),
        p_shapes=np.array(p_shapes, float),
    )


@check_side.register
def _(side: TopicProbabilities, tokens: Tokens, n_topics: int) -> None:
    check_number_of_topics(side, tokens, n_topics)
    check_positive(gamma=side.gamma, c=side.c)
    if not np.all((side.prior >= 0.0) & np.isfinite(side.prior)):
        raise AssertionError("the weight of a topic is not a number of zero or more")
    if not np.all(np.isfinite(side.log_odds)):
        raise AssertionError("the probability of a topic is not between 0 and 1")

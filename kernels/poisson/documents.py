"""Documents of Poisson factor analysis: the gamma-negative binomial process.

    theta_dk ~ Gamma(r_k, rate (1 - p_d) / p_d)      p_d ~ Beta(a, a)
    n_dk ~ Poisson(theta_dk)

with the weights r of `weights`, of K topics or without a limit. The theta are integrated out; so are the p,
of which each sweep draws its own. Given its length, a document is Dirichlet of parameters r, so that tokens
see r as their prior.
"""

import math
from typing import NamedTuple

import numpy as np

from ..toolbox.jit import kernel
from ..toolbox.parts import documents_of, move_documents_in_parts, tables_in_parts
from ..toolbox.random import log_beta_variate
from ..toolbox.sides import (
    Tokens,
    check_positive,
    check_side,
    check_topic_of_tokens,
    draw_tables,
    move_documents,
    open_topic,
    renumber,
    topic_sizes,
    widened,
    with_capacity,
)
from ..toolbox.threads import in_parts
from .weights import draw_exposure, draw_weights


class WeighedDocuments(NamedTuple):
    """Document side of Poisson factor analysis.

    Attributes
    ----------
    prior : float64 (1, capacity)
        r.
    rest : float64 (1,)
        Weight of all topics that are not represented, 0 where their number is fixed.
    gamma, c : float64 (1,)
    gamma_prior, c_prior : float64 (2,)
    length_shape : float64 (1,)
        a; 0 where lengths are given.
    n_fixed : int64 (1,)
        Number of topics where it is fixed, else 0.
    """

    prior: np.ndarray
    rest: np.ndarray
    gamma: np.ndarray
    c: np.ndarray
    gamma_prior: np.ndarray
    c_prior: np.ndarray
    length_shape: np.ndarray
    n_fixed: np.ndarray

    FIXED = ("gamma_prior", "c_prior", "length_shape", "n_fixed")


@open_topic.implement(WeighedDocuments)
def _split_rest(rng, documents, topic, group):
    # A token that chose "a new topic" made a size-biased pick of the unrepresented part of a gamma process,
    # whose shares are those of a Dirichlet process: a share of Beta(1, gamma).
    log_share, log_left = log_beta_variate(rng, 1.0, documents.gamma[0])
    documents.prior[0, topic] = documents.rest[0] * math.exp(log_share)
    documents.rest[0] *= math.exp(log_left)


@kernel
def drop_empty_topics(tokens, documents, topics):
    """Renumber the topics that have tokens without gaps; the weights of the others go to the rest."""
    size = topic_sizes(topics)
    new_name = np.full(topics.n_topics[0], -1, np.int32)
    n_kept = 0
    for k in range(topics.n_topics[0]):
        if size[k] > 0:
            new_name[k] = n_kept
            documents.prior[0, n_kept] = documents.prior[0, k]
            n_kept += 1
        else:
            documents.rest[0] += documents.prior[0, k]
    renumber(tokens, topics, new_name, n_kept)


@kernel
def draw_exposures(rng, tokens, documents, n_topics):
    """Sum the exposures of all documents, the p of each drawn given its length and the weights."""
    mass = documents.prior[0, :n_topics].sum() + documents.rest[0]
    out = 0.0
    for d in range(tokens.group.size):
        length = float(tokens.doc_ptr[d + 1] - tokens.doc_ptr[d])
        out += draw_exposure(rng, length, mass, documents.length_shape[0])
    return out


@move_documents.implement(WeighedDocuments)
def _move_documents(rng, tokens, documents, topics, scratch):
    n_fixed = documents.n_fixed[0]
    if n_fixed == 0:
        drop_empty_topics(tokens, documents, topics)
    n_topics = topics.n_topics[0]
    exposure = draw_exposures(rng, tokens, documents, n_topics)
    tables = draw_tables(rng, tokens, documents, scratch, n_topics)[0]
    draw_weights(
        rng,
        documents.prior[0, :n_topics],
        documents.rest,
        documents.gamma,
        documents.c,
        documents.gamma_prior,
        documents.c_prior,
        n_fixed,
        tables,
        exposure,
    )


@move_documents_in_parts.register(WeighedDocuments)
def _move_in_parts(documents: WeighedDocuments, rng, tokens, topics, parts) -> None:
    n_topics = documents.prior.shape[1]

    def exposure_of(part) -> float:
        return draw_exposures(part.rng, documents_of(tokens, part), documents, n_topics)

    draw_weights(
        rng,
        documents.prior[0],
        documents.rest,
        documents.gamma,
        documents.c,
        documents.gamma_prior,
        documents.c_prior,
        n_topics,
        tables_in_parts(tokens, documents, parts)[0],
        sum(in_parts(exposure_of, parts), 0.0),
    )


@with_capacity.register
def _(side: WeighedDocuments, capacity: int) -> WeighedDocuments:
    return side._replace(prior=widened(side.prior, capacity))


def weighed_documents(latents, priors, length_shape: float, n_fixed: int, room: int) -> WeighedDocuments:
    """Document side that stands at `latents`, with room for more topics unless their number is fixed.

    Parameters
    ----------
    latents : mapping of str to array
        ``r`` (K + 1,), the last entry being the rest; ``gamma``, ``c``.
    priors : mapping of str to (shape, rate)
        (0, 0) for a hyperparameter that is fixed.
    length_shape : float
    n_fixed : int
    room : int
        For further topics.
    """
    r = np.array(latents["r"], float)
    return WeighedDocuments(
        prior=widened(r[None, :-1], r.size - 1 + (0 if n_fixed else room)),
        rest=r[-1:].copy(),
        gamma=np.array([float(latents["gamma"])]),
        c=np.array([float(latents["c"])]),
        gamma_prior=np.array(priors["gamma"], float),
        c_prior=np.array(priors["c"], float),
        length_shape=np.array([float(length_shape)]),
        n_fixed=np.array([n_fixed], np.int64),
    )


@check_side.register
def _(side: WeighedDocuments, tokens: Tokens, n_topics: int) -> None:
    check_topic_of_tokens(tokens, n_topics)
    check_positive(gamma=side.gamma, c=side.c)
    weights = np.append(side.prior[0, :n_topics], side.rest)
    if not np.all((weights >= 0.0) & np.isfinite(weights)):
        raise AssertionError("the weight of a topic is not a number of zero or more")
    if side.n_fixed[0] not in (0, n_topics):
        raise AssertionError("the number of topics has changed")
    if side.n_fixed[0] > 0 and side.rest[0] != 0.0:
        raise AssertionError("there is weight for topics beyond the fixed number")

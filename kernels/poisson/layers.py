"""Documents of a gamma belief network: the rates of topics in a document come from a few more general ones.

    theta^(S)_d ~ Gamma(r, rate c^(S + 1)_d)
    theta^(s)_d ~ Gamma(Phi^(s + 1) theta^(s + 1)_d, rate c^(s + 1)_d),     s = S - 1, ..., 1
    Phi^(s)_k ~ Dir(link_eta),   c^(s)_d ~ Gamma(rate_shape, rate_rate), s >= 3,   c^(2)_d = (1 - p_d) / p_d

with p as in `documents` and r as in `weights`, of a fixed number of topics K in every layer. The rates of the
lowest layer and p are integrated out, so that tokens see ``Phi^(2) theta^(2)_d`` as their document's prior.

Arrays begin with the second layer: entry s of the first axis is layer s + 2, whose rate is c^(s + 3).
"""

import math
from typing import NamedTuple

import numpy as np

from ..toolbox.jit import kernel
from ..toolbox.parts import documents_of, move_documents_in_parts
from ..toolbox.random import LARGEST, categorical, crt, dirichlet, log_gamma_variate
from ..toolbox.sides import (
    Tokens,
    check_number_of_topics,
    check_positive,
    check_side,
    enter_document,
    leave_document,
    move_documents,
    open_topic,
)
from ..toolbox.sides import scratch as empty_scratch
from ..toolbox.tables import count_tables
from ..toolbox.threads import in_parts
from .scales import draw_scales, log_of, mix
from .weights import draw_exposure, draw_gammas, draw_weights

VANISHING = -300.0
"""Logarithm of a mass of which the exposure is an exponential variable, but for one part in 1e130."""


class LayeredDocuments(NamedTuple):
    """Document side of a gamma belief network of S layers.

    Attributes
    ----------
    prior : float64 (D, K)
        Phi^(2) theta^(2), a row a document.
    rest : float64 (D,)
        Zero: no topic is left to open.
    theta : float64 (S - 1, D, K)
        Of layers 2 to S.
    link : float64 (S - 1, K, K)
        Phi: a row for each topic of layers 2 to S, over those of the layer below.
    rate : float64 (S - 1, D)
        Rate of each theta.
    r : float64 (K,)
    no_rest : float64 (1,)
        Zero; see `draw_weights`.
    gamma, c : float64 (1,)
    gamma_prior, c_prior : float64 (2,)
    length_shape, link_eta : float64 (1,)
    rate_prior : float64 (2,)
        Shape and rate.
    counts : int64 (S, D, K)
        What the last sweep counted: tokens of topics, and what these are to each layer above.
    exposure : float64 (S, D)
        What the theta of layers 2 to S, and r, are exposed to, as the last sweep drew it.
    """

    prior: np.ndarray
    rest: np.ndarray
    theta: np.ndarray
    link: np.ndarray
    rate: np.ndarray
    r: np.ndarray
    no_rest: np.ndarray
    gamma: np.ndarray
    c: np.ndarray
    gamma_prior: np.ndarray
    c_prior: np.ndarray
    length_shape: np.ndarray
    link_eta: np.ndarray
    rate_prior: np.ndarray
    counts: np.ndarray
    exposure: np.ndarray

    FIXED = ("rest", "no_rest", "gamma_prior", "c_prior", "length_shape", "link_eta", "rate_prior")


@open_topic.implement(LayeredDocuments)
def _no_topic_to_open(rng, documents, topic, group):
    pass


@kernel
def draw_rates(rng, documents):
    """Draw the rates of all theta given theta and r, before any of these moves."""
    n_above, n_documents, _ = documents.theta.shape
    shape, rate = documents.rate_prior[0], documents.rate_prior[1]
    mass_of_r = documents.r.sum()
    for s in range(n_above):
        for d in range(n_documents):
            above = mass_of_r if s == n_above - 1 else documents.theta[s + 1, d].sum()
            log_x = log_gamma_variate(rng, shape + above)
            documents.rate[s, d] = math.exp(log_x) / (rate + documents.theta[s, d].sum())


@kernel
def draw_log_exposure(rng, length, log_mass, shape):
    """Draw the logarithm of what `draw_exposure` draws, also given a mass that is below the floats."""
    if length > 0.0 and shape == 0.0 and log_mass < VANISHING:
        return math.log(rng.standard_exponential()) - log_mass
    return log_of(draw_exposure(rng, length, math.exp(log_mass), shape))


@kernel
def draw_exposures(rng, tokens, documents, log_mass):
    """Draw p of each document, and what its layers are exposed to once those below are integrated out.

    `log_mass` (D,) is that of the theta of the second layer.
    """
    for d in range(tokens.group.size):
        length = float(tokens.doc_ptr[d + 1] - tokens.doc_ptr[d])
        log_exposure = draw_log_exposure(rng, length, log_mass[d], documents.length_shape[0])
        documents.exposure[0, d] = math.exp(min(log_exposure, math.log(LARGEST)))
        for s in range(documents.rate.shape[0]):
            log_ratio = log_exposure - math.log(documents.rate[s, d])
            documents.exposure[s + 1, d] = np.logaddexp(0.0, log_ratio)
            log_exposure = log_of(documents.exposure[s + 1, d])


@kernel
def count_tokens(tokens, documents, scratch):
    """Count the topics of the tokens of every document."""
    documents.counts[:] = 0
    for d in range(tokens.group.size):
        for j in range(enter_document(tokens, scratch, d)):
            k = scratch.doc_topics[j]
            documents.counts[0, d, k] = scratch.doc_count[k]
        leave_document(tokens, scratch, d)


@kernel
def look_at_theta(rng, tokens, documents):
    """Scale theta, and draw their rates and p, all before the counts of the layers above."""
    log_mass = draw_scales(rng, tokens, documents)
    draw_rates(rng, documents)
    draw_exposures(rng, tokens, documents, log_mass)


@kernel
def count_upwards(rng, documents, s, linked):
    """Draw tables of the counts of a layer, and the topic above of each; add these to `linked` (K, K)."""
    theta, link = documents.theta[s], documents.link[s]
    n_documents, n_topics = theta.shape
    weights = np.empty(n_topics)
    for d in range(n_documents):
        for i in range(n_topics):
            n = documents.counts[s, d, i]
            if n > 0:
                total = 0.0
                for k in range(n_topics):
                    weights[k] = theta[d, k] * link[k, i]
                    total += weights[k]
                for _ in range(crt(rng, n, total)):
                    k = categorical(rng, weights, n_topics)
                    documents.counts[s + 1, d, k] += 1
                    linked[k, i] += 1.0


@kernel
def draw_links(rng, documents, s, linked):
    """Draw the links of the topics of a layer given how often each has been chosen for one below."""
    for k in range(linked.shape[0]):
        dirichlet(rng, linked[k] + documents.link_eta[0], linked.shape[1], documents.link[s, k])


@kernel
def draw_r(rng, documents, tables):
    """Draw gamma, r and c given the tables (K,) of the highest layer's counts, its theta integrated out."""
    draw_weights(
        rng,
        documents.r,
        documents.no_rest,
        documents.gamma,
        documents.c,
        documents.gamma_prior,
        documents.c_prior,
        documents.r.size,
        tables,
        documents.exposure[-1].sum(),
    )


@kernel
def draw_downwards(rng, documents):
    """Draw theta of all layers from the highest on, and what tokens see."""
    n_above, n_documents, n_topics = documents.theta.shape
    shapes = np.empty(n_topics)
    for d in range(n_documents):
        shapes[:] = documents.r
        for s in range(n_above - 1, -1, -1):
            rate = documents.rate[s, d] + documents.exposure[s, d]
            draw_gammas(rng, shapes + documents.counts[s + 1, d], rate, documents.theta[s, d])
            mix(documents.theta[s, d], documents.link[s], shapes)
        documents.prior[d] = shapes


@kernel
def draw_upwards(rng, tokens, documents, scratch):
    """Draw rates, exposures, counts and links from the lowest layer up, and r, with theta integrated out."""
    # What is integrated out in a step is drawn after it and before anything looks at it: the rates and p see
    # theta before counts are drawn; r sees counts alone; theta sees r.
    count_tokens(tokens, documents, scratch)
    look_at_theta(rng, tokens, documents)
    linked = np.empty(documents.link.shape[1:])
    for s in range(documents.theta.shape[0]):
        linked[:] = 0.0
        count_upwards(rng, documents, s, linked)
        draw_links(rng, documents, s, linked)
    draw_r(rng, documents, count_tables(rng, documents.counts[-1], documents.r))


@move_documents.implement(LayeredDocuments)
def _move_documents(rng, tokens, documents, topics, scratch):
    draw_upwards(rng, tokens, documents, scratch)
    draw_downwards(rng, documents)


def layers_of(documents: LayeredDocuments, part) -> LayeredDocuments:
    """Document side as if there were no other documents."""
    return documents._replace(
        prior=documents.prior[part.rows],
        rest=documents.rest[part.rows],
        **{name: getattr(documents, name)[:, part.rows] for name in ("theta", "rate", "counts", "exposure")},
    )


@move_documents_in_parts.register(LayeredDocuments)
def _move_in_parts(documents: LayeredDocuments, rng, tokens, topics, parts) -> None:
    n_topics = documents.r.size

    def look_at_own(part, own) -> None:
        some = documents_of(tokens, part)
        count_tokens(some, own, empty_scratch(n_topics))
        look_at_theta(part.rng, some, own)

    def linked_by(part, own) -> np.ndarray:
        linked = np.zeros((n_topics, n_topics))
        count_upwards(part.rng, own, s, linked)
        return linked

    def tables_of(part, own) -> np.ndarray:
        return count_tables(part.rng, own.counts[-1], documents.r)

    # The order of `draw_upwards`.
    own = [layers_of(documents, part) for part in parts]
    in_parts(look_at_own, parts, own)
    for s in range(len(documents.theta)):
        draw_links(rng, documents, s, sum(in_parts(linked_by, parts, own), np.zeros((n_topics, n_topics))))
    draw_r(rng, documents, sum(in_parts(tables_of, parts, own), np.zeros(n_topics, np.int64)))
    in_parts(lambda part, own: draw_downwards(part.rng, own), parts, own)


def layered_documents(latents, priors, length_shape: float, link_eta: float, rate_prior) -> LayeredDocuments:
    """Document side that stands at `latents`.

    Parameters
    ----------
    latents : mapping of str to array
        ``theta`` (S - 1, D, K), ``link`` (S - 1, K, K), ``rate`` (S - 1, D), ``r`` (K,), ``gamma``, ``c``.
    priors : mapping of str to (shape, rate)
        (0, 0) for a hyperparameter that is fixed.
    length_shape, link_eta : float
    rate_prior : (float, float)
    """
    theta, link = np.array(latents["theta"], float), np.array(latents["link"], float)
    n_above, n_documents, n_topics = theta.shape
    return LayeredDocuments(
        prior=_prior_of(theta, link),
        rest=np.zeros(n_documents),
        theta=theta,
        link=link,
        rate=np.array(latents["rate"], float),
        r=np.array(latents["r"], float),
        no_rest=np.zeros(1),
        gamma=np.array([float(latents["gamma"])]),
        c=np.array([float(latents["c"])]),
        gamma_prior=np.array(priors["gamma"], float),
        c_prior=np.array(priors["c"], float),
        length_shape=np.array([float(length_shape)]),
        link_eta=np.array([float(link_eta)]),
        rate_prior=np.array(rate_prior, float),
        counts=np.zeros((n_above + 1, n_documents, n_topics), np.int64),
        exposure=np.zeros((n_above + 1, n_documents)),
    )


def _prior_of(theta: np.ndarray, link: np.ndarray) -> np.ndarray:
    """Mix what tokens see, float (D, K)."""
    out = np.empty(theta.shape[1:])
    for d in range(len(out)):
        mix(theta[0, d], link[0], out[d])
    return out


@check_side.register
def _(side: LayeredDocuments, tokens: Tokens, n_topics: int) -> None:
    check_number_of_topics(side, tokens, n_topics)
    check_positive(gamma=side.gamma, c=side.c, rate=side.rate)
    for name in ("r", "theta", "link"):
        values = getattr(side, name)
        if not np.all((values >= 0.0) & np.isfinite(values)):
            raise AssertionError(f"{name} is not a number of zero or more")
    if not np.allclose(side.link.sum(axis=2), 1.0, atol=1e-9):
        raise AssertionError("the links of a topic do not sum to one")
    if np.any(side.prior != _prior_of(side.theta, side.link)):
        raise AssertionError("the prior of a document is not what its theta and the links give")

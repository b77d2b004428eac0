"""Topic side: topics that are the first layer of a Dirichlet belief network; loading, moving and checking."""

import numpy as np

from ..toolbox.dirichlet import counted, dirichlet_topics
from ..toolbox.parts import move_topics_in_parts
from ..toolbox.shapes import prior_shapes
from ..toolbox.sides import (
    Tokens,
    check_positive,
    check_side,
    move_topics,
    rename_topics,
    widened,
    with_capacity,
)
from . import tokens as steps  # noqa: F401  They are chosen by type
from .births import expect_births
from .layers import dense_counts, linear, mix, sweep_layers
from .parts import move_layers_in_parts
from .state import BeliefTopics, Births, Layers

move_topics_in_parts.register(BeliefTopics, move_layers_in_parts)


@move_topics.implement(BeliefTopics)
def _move_topics(rng, topics):
    sweep_layers(
        rng, dense_counts(topics), topics.eta, topics.eta_prior, topics.layers, topics.psi, topics.psi_total
    )
    expect_births(topics.layers, topics.births)


@prior_shapes.implement(BeliefTopics)
def _prior_shapes(topics, word, out):
    out[:] = topics.psi[word]


@rename_topics.implement(BeliefTopics)
def _rename_topics(topics, new_name, n_kept):
    rename_topics(counted(topics), new_name, n_kept)
    for k in range(new_name.size):
        new = new_name[k]
        if new >= 0 and new != k:
            topics.psi[:, new] = topics.psi[:, k]
            topics.psi_total[new] = topics.psi_total[k]
            topics.layers.log_links[new] = topics.layers.log_links[k]
    topics.layers.log_links[n_kept:] = -np.inf


@with_capacity.register
def _(side: BeliefTopics, capacity: int) -> BeliefTopics:
    known = side.layers.log_links
    log_links = np.full((capacity, known.shape[1]), -np.inf)
    log_links[: len(known)] = known
    return side._replace(
        total=widened(side.total, capacity),
        psi=widened(side.psi, capacity),
        psi_total=widened(side.psi_total, capacity),
        layers=side.layers._replace(log_links=log_links),
    )


def belief_topics(
    tokens: Tokens, n_words: int, n_topics: int, capacity: int, latents, priors
) -> BeliefTopics:
    """Topic side with counts taken from `tokens`.

    Parameters
    ----------
    tokens : Tokens
    n_words, n_topics, capacity : int
    latents : mapping of str to array
        ``eta``; with layers above the first ``layer_mass``, ``layer_rate``, ``link_rate``,
        ``log_popularity``, ``log_links``, ``log_upper_topics`` and, with more than one of them,
        ``log_upper_links``, of shapes as in `BeliefNetwork`.
    priors : mapping of str to (shape, rate)
        For the first four; (0, 0) for one that is fixed.
    """
    layers = layers_of(latents, priors, n_words, n_topics)
    counts = dirichlet_topics(tokens, n_words, n_topics, n_topics, float(latents["eta"]), priors["eta"])
    psi = np.full((n_words, n_topics), float(latents["eta"]))
    psi_total = np.full(n_topics, n_words * float(latents["eta"]))
    if len(layers.mass) > 0:
        links = linear(layers.log_links)
        mix(layers.topics[0], links, psi)
        psi_total[:] = links.sum(axis=1)
    births = births_under(layers, n_words, happen=capacity > n_topics)
    return with_capacity(BeliefTopics(*counts, psi, psi_total, births, layers), capacity)


def births_under(layers: Layers, n_words: int, happen: bool) -> Births:
    """Births of topics under the given layers, where documents can open topics."""
    width = layers.log_popularity.shape[1]
    births = Births(np.zeros(n_words), np.zeros(width), np.zeros(width), np.array([happen]))
    expect_births(layers, births)
    return births


def layers_of(latents, priors, n_words: int, n_topics: int) -> Layers:
    """Layers above the first, of shapes that the kernels are compiled for; none with one layer."""
    if "log_popularity" not in latents:
        nothing = np.zeros((0, 0))
        latents = {
            "log_popularity": nothing,
            "log_links": np.zeros((0, n_topics)),
            "log_upper_topics": np.zeros((0, 0, n_words)),
            **dict.fromkeys(("layer_mass", "layer_rate", "link_rate"), np.zeros(0)),
        }
    n_upper, width = np.shape(latents["log_popularity"])
    upper_links = latents.get("log_upper_links", np.zeros((0, width, width)))
    log_topics = _of_lower_first(latents["log_upper_topics"])
    return Layers(
        log_topics=log_topics,
        topics=np.exp(log_topics),
        log_popularity=np.array(latents["log_popularity"], float),
        log_links=_of_lower_first(latents["log_links"]),
        log_upper_links=_of_lower_first(upper_links),
        mass=np.array(np.broadcast_to(latents["layer_mass"], n_upper), float),
        rate=np.array(np.broadcast_to(latents["layer_rate"], n_upper), float),
        link_rate=np.array(np.broadcast_to(latents["link_rate"], n_upper), float),
        mass_prior=np.array(priors["layer_mass"], float),
        rate_prior=np.array(priors["layer_rate"], float),
        link_rate_prior=np.array(priors["link_rate"], float),
    )


def _of_lower_first(values) -> np.ndarray:
    """Copy with the last two axes exchanged: upper topics come first in latents, and last in the kernels."""
    return np.array(np.swapaxes(values, -1, -2), float, order="C")


def snapshot(topics: BeliefTopics) -> dict[str, np.ndarray]:
    """Copy the latents of the topic side."""
    layers, n_topics = topics.layers, topics.n_topics[0]
    out = {"eta": np.array(topics.eta[0])}
    n_upper = layers.mass.size
    if n_upper > 0:
        out |= {
            "layer_mass": layers.mass.copy(),
            "layer_rate": layers.rate.copy(),
            "link_rate": layers.link_rate.copy(),
            "log_popularity": layers.log_popularity.copy(),
            "log_links": _of_lower_first(layers.log_links[:n_topics]),
            "log_upper_topics": _of_lower_first(layers.log_topics),
        }
    return out | ({"log_upper_links": _of_lower_first(layers.log_upper_links)} if n_upper > 1 else {})


@check_side.register
def _(side: BeliefTopics, tokens: Tokens, n_topics: int) -> None:
    check_side(counted(side), tokens, n_topics)
    layers = side.layers._replace(log_links=side.layers.log_links[:n_topics])
    check_positive(eta=side.eta, layer_mass=layers.mass, layer_rate=layers.rate, link_rate=layers.link_rate)
    for name in ("log_topics", "log_popularity", "log_links", "log_upper_links"):
        if not np.all(np.isfinite(getattr(layers, name))):
            raise AssertionError(f"{name} is not finite")
    if not np.allclose(layers.topics, np.exp(layers.log_topics), rtol=1e-9, atol=1e-300):
        raise AssertionError("topics are not the exponentials of their logarithms")
    if layers.mass.size == 0:
        psi = np.full((side.n_listed.size, n_topics), side.eta[0])
    else:
        psi = layers.topics[0] @ linear(layers.log_links).T
    if not np.allclose(side.psi[:, :n_topics], psi, rtol=1e-9, atol=1e-300):
        raise AssertionError("psi is not the mixture of the topics above")
    if not np.allclose(side.psi_total[:n_topics], psi.sum(axis=0), rtol=1e-9):
        raise AssertionError("the sums of psi differ from a recount")
    first_word = births_under(layers, side.n_listed.size, happen=True).first_word
    if not np.allclose(side.births.first_word, first_word, rtol=1e-9):
        raise AssertionError("the words that topics begin with differ from a recount")

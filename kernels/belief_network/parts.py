"""One sweep of a Dirichlet belief network in parts of the words: `layers.sweep_layers`, in threads.

Given what a step depends on, words are independent: tables of their counts, gamma variables of topics, and
mixtures. What belongs to topics as wholes (companions, links, eta) is drawn in between, from sums over parts.
"""

import numpy as np

from ..toolbox.gammas import exponentials
from ..toolbox.parts import Part
from ..toolbox.random import is_sampled
from ..toolbox.tables import count_tables
from ..toolbox.threads import in_parts
from .births import expect_births
from .layers import (
    dense_counts,
    draw_companions,
    draw_links,
    draw_words,
    hand_up,
    linear,
    mix,
    normalise,
    renew_eta,
)
from .state import BeliefTopics, Layers

type OfWords = list[np.ndarray]
"""An array over the words of each part."""


def move_layers_in_parts(topics: BeliefTopics, rng: np.random.Generator, parts: list[Part]) -> None:
    """Draw eta and all layers above the first given the counts of the first, and bring psi up to date."""
    layers, eta = topics.layers, topics.eta
    counts, log_l, links_used = [in_parts(lambda part: _counts_of(topics, part), parts)], [], []
    for t in range(len(layers.mass)):
        companions, used, above = _pass_up(rng, counts[t], layers, t, parts)
        log_l.append(companions)
        links_used.append(used)
        counts.append(above)
    _draw_eta(rng, topics, counts[-1], parts)
    if not log_l:
        topics.psi[:] = eta[0]
        topics.psi_total[:] = len(topics.psi) * eta[0]
        return
    shapes = [np.full(of_part.shape, eta[0]) for of_part in counts[-1]]
    for t in reversed(range(len(log_l))):
        _draw_topics(shapes, counts[t + 1], layers, t, parts)
        draw_links(rng, layers, t, log_l[t], links_used[t], layers.links_to(t))
        if t > 0:
            _mix(layers, t, shapes, parts)
        else:
            psi = [topics.psi[part.rows] for part in parts]
            topics.psi_total[:] = _mix(layers, t, psi, parts).sum(axis=1)
    expect_births(layers, topics.births)


def _counts_of(topics: BeliefTopics, part: Part) -> np.ndarray:
    """Tokens of each word of a part in each topic, int64 (words, K)."""
    return dense_counts(
        topics._replace(
            word_ptr=topics.word_ptr[part.first : part.end + 1],
            n_listed=topics.n_listed[part.rows],
        )
    )


def _pass_up(
    rng: np.random.Generator, counts: OfWords, layers: Layers, t: int, parts: list[Part]
) -> tuple[np.ndarray, np.ndarray, OfWords]:
    """Do what `layers.pass_up` does: companions, tables of links, and counts of the layer above."""
    log_links = layers.links_to(t)
    links, log_l = linear(log_links), np.empty(len(log_links))
    draw_companions(rng, sum(of_part.sum(axis=0) for of_part in counts), log_links, log_l)

    def hand(part: Part, of_part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        used, above = np.empty(links.shape, np.int64), np.empty((len(of_part), links.shape[1]), np.int64)
        hand_up(part.rng, of_part, layers.topics[t, part.rows], links, used, above)
        return used, above

    found = in_parts(hand, parts, counts)
    return log_l, np.sum([used for used, _ in found], axis=0), [above for _, above in found]


def _draw_eta(rng: np.random.Generator, topics: BeliefTopics, counts: OfWords, parts: list[Part]) -> None:
    """Draw eta given the counts of the last layer."""
    if is_sampled(topics.eta_prior):
        each = np.full(counts[0].shape[1], topics.eta[0])
        tables = in_parts(lambda part, of_part: count_tables(part.rng, of_part, each).sum(), parts, counts)
        total = sum(of_part.sum(axis=0) for of_part in counts)
        renew_eta(rng, topics.eta, topics.eta_prior, sum(tables), total, len(topics.psi))


def _draw_topics(shapes: OfWords, counts: OfWords, layers: Layers, t: int, parts: list[Part]) -> None:
    """Draw the topics of upper layer `t` given shapes and counts of their words."""
    logs = [layers.log_topics[t, part.rows] for part in parts]
    out = [layers.topics[t, part.rows] for part in parts]

    def words(part: Part, *of_part: np.ndarray) -> np.ndarray:
        return draw_words(part.rng, *of_part)

    high = np.max(in_parts(words, parts, shapes, counts, logs), axis=0)
    total = sum(in_parts(lambda of_part, to: exponentials(of_part, high, to), logs, out))
    in_parts(lambda of_part, to: normalise(of_part, to, high, total), logs, out)


def _mix(layers: Layers, t: int, out: OfWords, parts: list[Part]) -> np.ndarray:
    """Mix the topics of upper layer `t` for those below; return the links, float (J, W)."""
    links = linear(layers.links_to(t))
    in_parts(lambda part, of_part: mix(layers.topics[t, part.rows], links, of_part), parts, out)
    return links

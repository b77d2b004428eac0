"""Sweeps with the bases made explicit, for a fixed number of topics: its tokens all see the same bases."""

from typing import NamedTuple

import numpy as np

from ..toolbox.jit import chosen_by_type, kernel
from ..toolbox.random import dirichlet
from ..toolbox.sweeps import finish_sweep
from ..toolbox.token_pass import dense_pass
from .state import (
    Associations,
    PitmanYorTopics,
    SameWord,
    count_dish,
    keep_dish,
    row_sum,
    source,
    sources,
)
from .tokens import base_probabilities, clear, serve


class KnownBase(NamedTuple):
    """Orders while the bases are known: the base does not count them, and each is drawn when it is wanted.

    Attributes
    ----------
    probability : float64 (B V, K)
        phi0.
    dishes : SameWord or Associations
    """

    probability: np.ndarray
    dishes: SameWord | Associations


@base_probabilities.implement(KnownBase)
def _known_probabilities(known, restaurants, group, cell, n_topics, out):
    n_words = restaurants.n_words[0]
    first = restaurants.base_of_group[group] * n_words
    out[:n_topics] = 0.0
    start, end = sources(known.dishes, n_words, cell)
    for place in range(start, end):
        v, p = source(known.dishes, place)
        for k in range(n_topics):
            out[k] += p * known.probability[first + v, k]


@row_sum.implement(KnownBase)
def _row_sum(known, cell):
    return row_sum(known.dishes, cell)


@serve.implement(KnownBase)
def _serve_later(rng, known, restaurants, group, cell, topic):
    pass


@clear.implement(KnownBase)
def _clear_nothing(rng, known, restaurants, group, cell, topic, n_tables):
    pass


@kernel
def draw_base(rng, restaurants):
    """Draw phi0 given the dishes, float (B V, K)."""
    base, n_words, n_topics = restaurants.base, restaurants.n_words[0], restaurants.b.size
    out = np.full((base.n_listed.size, n_topics), base.eta[0])
    for row in range(base.n_listed.size):
        for j in range(base.word_ptr[row], base.word_ptr[row] + base.n_listed[row]):
            out[row, base.listed_topic[j] % n_topics] += base.listed_count[j]
    shapes = np.empty(n_words)
    for first in range(0, base.n_listed.size, n_words):
        for k in range(n_topics):
            shapes[:] = out[first : first + n_words, k]
            dirichlet(rng, shapes, n_words, shapes)
            out[first : first + n_words, k] = shapes
    return out


@chosen_by_type(0)
def forget_dishes(dishes):
    """Forget the dishes of all tables."""


@forget_dishes.implement(SameWord)
def _forget_same(dishes):
    pass


@forget_dishes.implement(Associations)
def _forget_associated(dishes):
    dishes.n_dishes[:] = 0


@kernel
def draw_known_dish(rng, known, first, n_words, cell, topic):
    """Draw the dish of a table, given phi0 in the rows from `first` on."""
    start, end = sources(known.dishes, n_words, cell)
    total = 0.0
    for place in range(start, end):
        v, p = source(known.dishes, place)
        total += p * known.probability[first + v, topic]
    u = rng.random() * total
    chosen = 0
    for place in range(start, end):
        v, p = source(known.dishes, place)
        if known.probability[first + v, topic] > 0.0:
            chosen = v
            u -= p * known.probability[first + v, topic]
            if u < 0.0:
                break
    return chosen


@kernel
def draw_all_dishes(rng, restaurants, known):
    """Draw anew what all tables send for, given phi0, and count it at the base."""
    n_words = restaurants.n_words[0]
    restaurants.base.total[:] = 0
    restaurants.base.n_listed[:] = 0
    forget_dishes(known.dishes)
    for cell in range(restaurants.n_listed.size):
        group = cell // n_words
        first = restaurants.base_of_group[group] * n_words
        start = restaurants.cell_ptr[cell]
        for place in range(start, start + restaurants.n_listed[cell]):
            topic = restaurants.listed_topic[place]
            for _ in range(restaurants.listed_tables[place]):
                v = draw_known_dish(rng, known, first, n_words, cell, topic)
                count_dish(restaurants, group, topic, v)
                keep_dish(known.dishes, restaurants, cell, topic, v)


@kernel
def explicit_pass(rng, tokens, documents, topics, scratch):
    """Draw phi0, then every token's topic and seat given phi0, and at the end all dishes.

    Given phi0 the documents of different groups are independent.
    """
    known = KnownBase(draw_base(rng, topics.restaurants), topics.dishes)
    given_bases = PitmanYorTopics(
        topics.group,
        topics.restaurants,
        known,
        topics.scheme,
        topics.scratch,
        topics.new_b,
        topics.b_prior,
        topics.a_prior,
        topics.heads_seed,
        topics.n_topics,
    )
    dense_pass(rng, tokens, documents, given_bases, scratch)
    draw_all_dishes(rng, topics.restaurants, known)


@kernel
def explicit_sweep(rng, state):
    """One sweep: phi0, tokens given phi0, what tables send for; then the moves of each side.

    Mutates `state`, and returns True. ValueError unless the number of topics is fixed.
    """
    tokens, documents, topics, scratch = state
    if np.any(documents.rest > 0.0):
        raise ValueError("explicit bases: expected a document side with a fixed number of topics")
    if np.any(tokens.topic < 0):  # phi0 without tables is a draw from its prior, and may underflow
        dense_pass(rng, tokens, documents, topics, scratch)
    else:
        explicit_pass(rng, tokens, documents, topics, scratch)
    finish_sweep(rng, tokens, documents, topics, scratch)
    return True

"""The forward algorithm over the tables of documents: what enumeration lists row by row, token by token.

Given its sticks, a document is a hidden Markov model: its state is the dishes of every sentence in the order
of its tables. Their number grows with the limits and not with the tokens.
"""

from itertools import product

import numpy as np
import pytest
from bnpzoo.zoo.families.segments.law import partitions
from bnpzoo.zoo.families.segments.order import ORDERS, seating
from scipy.special import logsumexp


def moves(state, sentence, most_tables, most_dishes):
    """What a token can do: state afterwards, table, whether it is new, dish, and dishes on offer."""
    own, n_dishes = state[sentence], max((max(x, default=-1) for x in state), default=-1) + 1
    for table, dish in enumerate(own):
        yield state, table, False, dish, 0
    if len(own) < most_tables:
        for dish in range(min(n_dishes + 1, most_dishes)):
            if dish not in own:
                after = (*state[:sentence], (*own, dish), *state[sentence + 1 :])
                yield after, len(own), True, dish, n_dishes - len(own)


def forward(seats, words, sticks, log_words, zeta, most_tables, most_dishes):
    """Log probability of the words of one document given its sticks; and the sizes of its lattice."""
    n_sentences = int(seats.sentence.max()) + 1
    log_p, states, edges = {((),) * n_sentences: 0.0}, 1, 0
    passed = np.cumsum(np.hstack([np.zeros((n_sentences, 1)), np.log1p(-sticks)]), axis=1)
    for i in np.argsort(seats.time):
        s, arrived = seats.sentence[i], {}
        for state, log_state in log_p.items():
            for after, table, is_new, dish, offered in moves(state, s, most_tables, most_dishes):
                log_move = passed[s, table] + log_words[dish, words[i]]
                if is_new:
                    is_first = not any(dish in own for own in state)
                    log_move += (np.log(zeta) if is_first else 0.0) - np.log(offered + zeta)
                else:
                    log_move += np.log(sticks[s, table])
                arrived.setdefault(after, []).append(log_state + log_move)
                edges += 1
        log_p = {state: logsumexp(terms) for state, terms in arrived.items()}
        states = max(states, len(log_p))
    return logsumexp(list(log_p.values())), states, edges


def enumerated(seats, words, sticks, log_words, zeta, most_tables, most_dishes):
    """The same by all rows of the references, whose sticks are given."""
    dish, tables = partitions(seats, most_tables, most_dishes)
    sentence = tables.sentence % (int(seats.sentence.max()) + 1)
    v = sticks[sentence, tables.rank]
    of_tables = (tables.size - 1) * np.log(v) + tables.later * np.log1p(-v)
    of_tables += tables.is_new * np.log(zeta) - np.log(tables.offered + zeta)
    of_rows = np.bincount(tables.document, of_tables, minlength=len(dish))
    return logsumexp(of_rows + log_words[dish, words].sum(axis=1))


def of_lengths(lengths, order):
    """Seats of one document."""
    return seating(np.concatenate([[0], np.cumsum(lengths)]), np.array([np.sum(lengths)]), order)


@pytest.mark.parametrize(
    ("lengths", "order", "limits"),
    list(product([(3, 3), (3, 2, 2), (4, 1, 2), (7,)], ORDERS, [(7, 7), (2, 2), (2, 3), (1, 7)])),
)
def test_forward_algorithm_agrees_with_enumeration(lengths, order, limits):
    rng, seats = np.random.default_rng(len(lengths)), of_lengths(lengths, order)
    words, sticks = rng.integers(3, size=sum(lengths)), rng.beta(1.5, 0.8, (len(lengths), 7))
    log_words = np.log(rng.dirichlet(np.ones(3), 7))
    given = (seats, words, sticks, log_words, 0.6, *limits)
    found, expected = forward(*given)[0], enumerated(*given)
    assert found == pytest.approx(expected, abs=1e-10)
    if limits == (7, 7):
        nothing = forward(seats, words, sticks, np.zeros((7, 3)), 0.6, *limits)[0]
        assert nothing == pytest.approx(0.0, abs=1e-10)


def test_order_and_limits_matter():
    rng, words = np.random.default_rng(0), np.array([0, 1, 0, 2, 1, 0])
    sticks, log_words = rng.beta(1.0, 1.0, (2, 7)), np.log(rng.dirichlet(np.ones(3), 7))
    values = [
        forward(of_lengths((3, 3), order), words, sticks, log_words, 0.6, *limits)[0]
        for order in ORDERS
        for limits in ((7, 7), (2, 3))
    ]
    assert np.diff(np.sort(values)).min() > 1e-4


@pytest.mark.parametrize(
    ("lengths", "limits", "states", "edges"),
    [((8, 8), (3, 3), 42, 1378), ((10, 10), (3, 4), 103, 4833), ((6, 6, 6), (2, 3), 128, 3732)],
)
def test_lattices_of_documents_beyond_enumeration(lengths, limits, states, edges):
    seats = of_lengths(lengths, "round_robin")
    sticks = np.full((len(lengths), max(limits)), 0.5)
    flat = np.zeros((max(limits), 1))
    found = forward(seats, np.zeros(sum(lengths), int), sticks, flat, 1.0, *limits)
    assert found[1:] == (states, edges)
    assert found[0] < 0.0  # what the limits leave out

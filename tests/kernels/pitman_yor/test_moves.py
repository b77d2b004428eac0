"""Steps of the Pitman-Yor kernels against a plain density, all outcomes of all draws followed."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.patched import Change
from bnpzoo.diagnostics.laboratory.token_law import outcomes
from bnpzoo.kernels.pitman_yor.seats import SCHEMES
from scipy.special import logsumexp

from tests.helpers.restaurants import (
    DOCS,
    MICROS,
    PHI0,
    PLAIN,
    Micro,
    MicroGivenBases,
    Plain,
    law,
    residual,
    start_of,
    thawed,
)


def dense(tools, state, i, rng):
    """Resample token `i` by the dense pass."""
    d = np.searchsorted(state.tokens.doc_ptr, i, side="right") - 1
    tools.sides.enter_document(state.tokens, state.scratch, d)
    tools.sides.dense_step(rng, *state, d, i)


def sparse(tools, state, i, rng):
    """Resample token `i` by the sparse pass."""
    scratch, mass = state.scratch, 0.0
    d = np.searchsorted(state.tokens.doc_ptr, i, side="right") - 1
    n = tools.sides.enter_document(state.tokens, scratch, d)
    scratch.is_doc_topic[scratch.doc_topics[:n]] = True
    for k in range(state.topics.n_topics[0]):
        mass = tools.sides.weigh_topic(*state, d, k, mass)
    tools.sides.sparse_step(rng, *state, d, i, n, mass)


def known(tools, state, i, rng):
    """Resample token `i` given bases."""
    dishes = tools.explicit.KnownBase(PHI0, state.topics.dishes)
    dense(tools, state._replace(topics=state.topics._replace(dishes=dishes)), i, rng)


def tables(tools, state, cell, rng):
    """Resample the number of tables of the first topic in the list of `cell`."""
    words, weights = np.empty(9, np.int64), np.empty(9)
    restaurants, dishes, scheme = state.topics.restaurants, state.topics.dishes, state.topics.scheme
    place = restaurants.cell_ptr[cell]
    tools.tables.redraw_tables(rng, restaurants, dishes, scheme, cell, place, words, weights)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("case", MICROS.values(), ids=MICROS.keys())
@pytest.mark.parametrize("move", [dense, sparse])
def test_token_step_leaves_the_posterior_as_it_is(move, case, scheme):
    micro = Micro(**DOCS | case)
    for seed, token in enumerate((0, 2, 5)):
        assert residual(micro, [start_of(micro, seed)], move, token, scheme) < 1e-12


@pytest.mark.parametrize("case", MICROS.values(), ids=MICROS.keys())
def test_table_move_leaves_the_posterior_as_it_is(case):
    micro = Micro(**DOCS | case | {"b": case.get("b", (1.5, 1.5))[:1]})  # one topic: three tokens in a cell
    key = start_of(micro, 0)
    for cell in (0, 3):
        assert residual(micro, [key], tables, cell) < 1e-12


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("case", MICROS.values(), ids=MICROS.keys())
def test_token_step_given_bases_leaves_their_posterior_as_it_is(case, scheme):
    micro = MicroGivenBases(**DOCS | case)
    for seed, token in enumerate((0, 2, 5)):
        z, association = micro.random_state(np.random.default_rng(seed))
        start = micro.first_heads(z, np.minimum(association, 0))
        assert residual(micro, [start], known, token, scheme) < 1e-12


def distance_from_law_of_dishes(tools):
    """Largest error of a probability when all tables send for words, given bases."""
    micro = Micro(**DOCS, same_word=False, bases=(0, 1))
    z, association = micro.random_state(np.random.default_rng(1))
    heads = np.flatnonzero(association >= 0)
    exact, found = Counter(), Counter()
    weights = [
        micro.matrices[g][w] * PHI0[3 * g : 3 * g + 3, k]
        for g, w, k in zip(micro.group_of[heads], micro.words[heads], z[heads], strict=True)
    ]
    for served in itertools.product(range(3), repeat=heads.size):
        probability = math.prod(x[v] / x.sum() for x, v in zip(weights, served, strict=True))
        if probability > 0.0:
            association[heads] = served
            exact[micro.first_heads(z, association)] += probability

    def run(rng):
        state = micro.load(tools, z, association)
        known_base = tools.explicit.KnownBase(PHI0, state.topics.dishes)
        tools.explicit.draw_all_dishes(rng, state.topics.restaurants, known_base)
        tools.sweeps.check(state)
        return micro.frozen(state, tools)

    association[heads] = [x.argmax() for x in weights]
    for after, probability in outcomes(run, most=99):
        found[after] += probability
    return max(abs(exact[key] - found[key]) for key in exact | found)


def test_tables_send_for_words_given_bases():
    assert distance_from_law_of_dishes(PLAIN) < 1e-12
    wrong = Change(EXPLICIT, "u -= p * known.probability", "u -= known.probability")
    assert distance_from_law_of_dishes(Plain(wrong)) > 1e-3


SEATS, TOKENS, TABLES, EXPLICIT = (
    f"pitman_yor/{part}.py" for part in ("seats", "tokens", "tables", "explicit")
)
PRINTED = "(m - t + 1.0) / (m + 1.0)"
STAYS = f"1.0 if rule == FORCED and t == 1 else {PRINTED}"
FACTORS = "return join * stays, alone * (t + 1.0) / (m + 1.0)"
MINUS_ONE = "return join * (m - t + 1.0) / m, alone * t / m"
TAKEN = "        mass = update_coefficient(prior[old], "
ALONE = "alone = opens(scheme.ratios, a, m, t)"
H = "ratio(scheme.ratios, m, j + 1) * h"
WRONG = {
    "printed_weights_with_forced_head": ("forced", sparse, Change(SEATS, STAYS, PRINTED)),
    "printed_weights_with_minus_one": (
        "minus-one",
        sparse,
        Change(SEATS, MINUS_ONE, FACTORS.replace("stays", PRINTED)),
    ),
    "factors_missing": ("lock", sparse, Change(SEATS, FACTORS, "return join, alone")),
    "literal_stirling_ratio": ("lock", dense, Change(SEATS, ALONE, ALONE.replace("opens", "joins"))),
    "stale_mass": ("forced", sparse, Change(TOKENS, TAKEN, TAKEN.replace("mass = ", ""))),
    "base_not_weighed": ("tables", tables, Change(TABLES, H, H[:-4])),
}


@pytest.mark.parametrize(("scheme", "move", "change"), WRONG.values(), ids=WRONG.keys())
def test_wrong_steps_are_noticed(scheme, move, change):
    micro = Micro(**DOCS, b=(1.5,)) if move is tables else Micro(**DOCS)
    found = [residual(micro, [start_of(micro, seed)], move, 0, scheme, Plain(change)) for seed in range(3)]
    assert max(found) > 1e-3


def known_answers(micro, keys):
    """Log evidence and expected number of tables, by summing over all states."""
    log_density = np.array([micro.log_density(*thawed(key)) for key in keys])
    n_tables = np.array([np.count_nonzero(thawed(key)[1] >= 0) for key in keys])
    return logsumexp(log_density), n_tables @ np.exp(log_density - logsumexp(log_density))


@pytest.mark.slow
def test_all_states_of_a_micro_corpus():
    micro = Micro(**DOCS)
    keys = [z.tobytes() + association.tobytes() for z, association in micro.all_states()]
    assert len(keys) == 1296
    assert known_answers(micro, keys) == pytest.approx((-8.144794844453, 7.414953), abs=1e-6)
    assert residual(micro, keys, sparse, 1) < 1e-14


@pytest.mark.heavy
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("move", [dense, sparse])
def test_every_token_of_a_micro_corpus(move, scheme):
    micro = Micro(**DOCS)
    keys = [z.tobytes() + association.tobytes() for z, association in micro.all_states()]
    for token in range(8):
        assert residual(micro, keys, move, token, scheme) < 1e-14


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("same_word", [True, False])
def test_passes_have_the_same_law(same_word, scheme):
    n_topics = 6
    b = np.linspace(0.3, 4.0, n_topics)
    micro = Micro([0, 0, 0, 1, 0, 1, 0, 2, 0], [0, 5, 5, 9], [0, 0, 1], same_word, b=b)
    for seed, token in enumerate((0, 3, 8)):
        key = start_of(micro, seed)
        laws = [law(micro, key, move, token, scheme) for move in (dense, sparse)]
        assert laws[0].keys() == laws[1].keys()
        assert [laws[0][x] for x in laws[0]] == pytest.approx([laws[1][x] for x in laws[0]], abs=1e-14)

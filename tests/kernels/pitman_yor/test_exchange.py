"""Exchanges of topics within a group: their exact law, and which topics they concern."""

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.mutants.registry import MUTANTS
from bnpzoo.diagnostics.laboratory.patched import Change

from tests.helpers.restaurants import DOCS, MICROS, PLAIN, Micro, Plain, residual, start_of

CHANGE = {m.id.removeprefix("pyp-exchange-"): m.change for m in MUTANTS if m.id.startswith("pyp-exchange-")}
EXCHANGE = "pitman_yor/exchange.py"
CHANGE |= {  # no rung sees these at a modest budget: b moves at once, and the corpora have two topics
    "without-concentrations": Change(
        EXCHANGE, "out += log_steps(concentration, discount, n_tables - 1)", "pass"
    ),
    "repeated-dishes": Change(EXCHANGE, "        seen[dish[j]] += 1\n", "        pass\n"),
    "stale-weights": Change(EXCHANGE, "            log_now[j], log_now[k] = at_j, at_k\n", ""),
}
CASES = MICROS | {
    "own_bases": MICROS["own_bases"] | {"b": (0.4, 3.0)},
    "three_topics": {"b": (0.4, 1.5, 3.0)},
}

WITH_CONCENTRATIONS = ("dirichlet_process", "three_topics")


def exchange(tools, state, group, rng):
    """Exchange topics within `group`."""
    tokens, documents, topics, _ = state
    tools.exchange.exchange_topics(rng, tokens, documents, topics, group)
    tools.sweeps.check(state)


def largest_residual(case, *changes):
    micro, tools = Micro(**DOCS | case), Plain(*changes)
    return max(residual(micro, [start_of(micro, seed)], exchange, seed % 2, tools=tools) for seed in range(8))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
@pytest.mark.slow
def test_exchanges_leave_the_posterior_as_it_is(case):
    assert largest_residual(case) < 1e-12


@pytest.mark.parametrize("mutant", CHANGE)
@pytest.mark.slow
def test_wrong_exchanges_do_not(mutant):
    assert max(largest_residual(CASES[case], CHANGE[mutant]) for case in WITH_CONCENTRATIONS) > 1e-4


def test_concentrations_count_where_bases_are_not_shared():
    assert largest_residual(CASES["own_bases"], CHANGE["without-concentrations"]) > 1e-4


def passes(tools, changes_prior):
    """Topics of the tokens of each group after each of some passes."""
    micro, rng = Micro(**DOCS), np.random.default_rng(0)
    state, found = micro.load(tools, *micro.random_state(rng)), []
    if changes_prior:
        state.documents.prior[1, 0] *= 2.0
    for _ in range(20):
        tools.exchange.exchange_pass(rng, state.tokens, state.documents, state.topics)
        found.append(state.tokens.topic.reshape(2, 4).copy())
    return np.array(found)


def has_moved(topics):
    """Whether the topics of each group have changed."""
    return np.any(topics != topics[:1], axis=(0, 2)).tolist()


def test_topics_are_exchanged_where_documents_find_them_equally_likely():
    assert has_moved(passes(PLAIN, changes_prior=False)) == [True, True]
    assert has_moved(passes(PLAIN, changes_prior=True)) == [True, False]
    heedless = Change(EXCHANGE, "prior[rows[n_alike], one] == prior[rows[n_alike], other]", "True")
    assert has_moved(passes(Plain(heedless), changes_prior=True)) == [True, True]

"""Tables of sentences: what urns share whose tokens sit at tables, several of which may have one dish.

Such an urn has the fields ``table``, ``table_size``, ``table_dish`` and ``own_count`` that `franchise` has.
"""

import numpy as np

from ..toolbox.jit import chosen_by_type
from . import urns
from .documents import SLOTS
from .state import Tokens


@chosen_by_type(1)
def move_table(rng, urn, tokens, smoothings, dishes, s, t):
    """Draw the dish of table `t` of sentence `s`, the current one, with all its tokens."""


def enter_sentence(urn, tokens, dishes, s):
    """See `urns.enter_sentence`."""
    for i in range(tokens.sentence_ptr[s], tokens.sentence_ptr[s + 1]):
        if urn.table[i] >= 0:
            urn.table_size[urn.table[i]] += 1
            urn.table_dish[urn.table[i]] = tokens.dish[i]
            urn.own_count[tokens.dish[i]] += 1


def leave_sentence(urn, tokens, dishes, s):
    """See `urns.leave_sentence`."""
    urn.table_size[:] = 0
    urn.own_count[:] = 0


def choose_seat(urn, tokens, dishes, i, c, u):
    """See `urns.choose_seat`; a dish has a seat for each token here, and the rest at a new table."""
    seats = dishes.table_weight[c]
    n_tables = urn.table_size.size
    if c < dishes.sizes[SLOTS] and urn.own_count[c] > 0:
        per_seat = dishes.log_weight[c] / seats
        for t in range(n_tables):
            if urn.table_size[t] > 0 and urn.table_dish[t] == c:
                weight = urn.table_size[t] * per_seat
                if u < weight:
                    urn.table[i] = t
                    return u * (seats / urn.table_size[t])
                u = u - weight
        u = u * (seats / (seats - urn.own_count[c]))
    t = 0
    while urn.table_size[t] > 0:
        t += 1
    urn.table[i] = t
    return u


def move_blocks(rng, urn, tokens, smoothings, dishes, d):
    """See `urns.move_blocks`."""
    for s in range(tokens.doc_sentences[d], tokens.doc_sentences[d + 1]):
        urns.enter_sentence(urn, tokens, dishes, s)
        for t in range(urn.table_size.size):
            if urn.table_size[t] > 0:
                move_table(rng, urn, tokens, smoothings, dishes, s, t)
        urns.leave_sentence(urn, tokens, dishes, s)


def with_tables[T: type](urn: T) -> T:
    """Let the class of an urn seat tokens at tables; it has a `move_table` of its own."""
    urns.enter_sentence.implement(urn)(enter_sentence)
    urns.leave_sentence.implement(urn)(leave_sentence)
    urns.choose_seat.implement(urn)(choose_seat)
    urns.move_blocks.implement(urn)(move_blocks)
    return urn


def tables_by_first_token(urn, tokens: Tokens) -> np.ndarray:
    """Tables numbered through each sentence by first appearance, int64 (N,); -1 for tokens without one."""
    if np.any(urn.table < 0):
        return np.full(urn.table.size, -1, np.int64)
    ids = tokens.sentence.astype(np.int64) * (urn.table_size.size + 1) + urn.table
    _, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(first.size, np.int64)
    rank[order] = np.arange(first.size)
    rank = rank[inverse]
    starts = tokens.sentence_ptr[:-1]
    return rank - rank[starts][tokens.sentence] if rank.size else rank


def check(state: urns.UrnState) -> None:
    """See `urns.check`; every table must have one dish."""
    urns.check(state)
    urn, tokens = state.urn, state.tokens
    if urn.table.size and not 0 <= urn.table.min() <= urn.table.max() < urn.table_size.size:
        raise AssertionError(f"a token's table is outside 0..{urn.table_size.size - 1}")
    tables = np.column_stack([tokens.sentence, urn.table])
    served = np.column_stack([tables, tokens.dish])
    if len(np.unique(tables, axis=0)) != len(np.unique(served, axis=0)):
        raise AssertionError("a table has two dishes")

"""Sweeps of HDP documents over Dirichlet topics in cells that share nothing, as in `toolbox.blocked`.

A token that opens a topic takes a piece of a stick that all documents share, so that cells cannot open any.
But sticks are what they are, whichever topics tokens have: given the represented ones, what is left of the
root is broken as it always is, by Beta(1, gamma). So it is broken on before tokens move, until no more than a
*threshold* is left. Then all topics whose share of the root is above the threshold are at hand, represented
or not. These are the *long* ones, and which they are depends on the root alone. Given sticks, and shares of
the blocks, tokens of long topics move among the long topics, and all others keep theirs. These are Gibbs
steps, and cells have nothing in common; topics begin and end within them. After the tokens the sticks of
topics without any are forgotten, as after every sweep.

So that no token keeps its topic for good, some sweeps, drawn at random, are serial.
"""

from typing import Any, NamedTuple

import numpy as np

from ..toolbox.blocked import (
    BlockedTopics,
    Cells,
    blocked_topics,
    count_blocks,
    diagonals,
    draw_shares,
    enter,
    leave,
    step,
    weigh_all,
)
from ..toolbox.dirichlet import DirichletTopics, counted
from ..toolbox.jit import kernel
from ..toolbox.sides import State, Tokens, check_side, open_topic, widened, with_capacity
from ..toolbox.sides import scratch as empty_scratch
from ..toolbox.sweeps import finish_sweep
from ..toolbox.threads import in_parts
from ..toolbox.token_pass import RECOUNT_AFTER
from .sweeps import sweep

SERIAL = 0.125
"""Share of the sweeps in which whole tables move, topics split and merge, and tokens move one by one."""

BREAKING = -1
"""``scratch.next_document`` while the root waits for room to be broken on."""


class CelledTopics(NamedTuple):
    """Topic side with a symmetric Dirichlet prior on words, and how its tokens are cut into cells.

    Attributes
    ----------
    total, word_ptr, n_listed, listed_topic, listed_count, eta, eta_prior, n_topics
        As in `DirichletTopics`, and in its order.
    cells : Cells
    """

    total: np.ndarray
    word_ptr: np.ndarray
    n_listed: np.ndarray
    listed_topic: np.ndarray
    listed_count: np.ndarray
    eta: np.ndarray
    eta_prior: np.ndarray
    n_topics: np.ndarray
    cells: Cells

    FIXED = ("word_ptr", "eta_prior")


@kernel
def threshold_of(tokens, documents):
    """Share of the root above which a topic is long: about that of a topic of one table."""
    return 1.0 / (tokens.group.size + documents.gamma[0])


@kernel
def break_root(rng, documents, topics, threshold):
    """Represent topics, without tokens, until `threshold` or less of the root is left.

    Returns whether it got through; if not, the arrays over topics need more room before it is called again.
    """
    while documents.root_rest[0] > threshold:
        if topics.n_topics[0] == documents.prior.shape[1]:
            return False
        open_topic(rng, documents, topics.n_topics[0], -1)  # -1: no token has chosen it, in any group
        topics.n_topics[0] += 1
    return True


@kernel
def cell_pass(rng, tokens, documents, topics, is_long, scratch, shard, block):
    """Resample the topics of the tokens of a cell that have long ones, among these.

    What it changes belongs to its shard or to its block.

    Parameters
    ----------
    topics : BlockedTopics
    is_long : bool (K,)
    """
    cells = topics.cells
    j, end = cells.cell_ptr[shard, block], cells.cell_ptr[shard, block + 1]
    if j == end:
        return
    share, block_total = topics.share[block], topics.block_total[block]
    smoothing = topics.eta[0] * (cells.word_ptr[block + 1] - cells.word_ptr[block])
    level = np.where(is_long, share / (block_total + smoothing), 0.0)  # at zero no token can come to a topic
    recount_after = max(RECOUNT_AFTER, level.size)
    d, group, recount_at, mass = cells.document_ptr[shard], -1, j, 0.0
    while j < end:
        while tokens.doc_ptr[d + 1] <= cells.order[j]:
            d += 1
        prior = documents.prior[tokens.group[d]]
        if j >= recount_at or tokens.group[d] != group:
            group, recount_at, mass = tokens.group[d], j + recount_after, weigh_all(level, prior, scratch)
        n_doc_topics, mass = enter(tokens, level, prior, scratch, d, mass)
        while j < end and cells.order[j] < tokens.doc_ptr[d + 1]:
            if is_long[tokens.topic[cells.order[j]]]:
                n_doc_topics, mass = step(
                    rng, tokens, topics, level, share, block_total, smoothing, prior, scratch,
                    cells.order[j], n_doc_topics, mass,
                )  # fmt: skip
            j += 1
        mass = leave(level, prior, scratch, n_doc_topics, mass)


def parallel_pass(
    rng: np.random.Generator, tokens: Tokens, documents: Any, topics: CelledTopics, is_long: np.ndarray
) -> None:
    """Resample the topics of all tokens that have long ones. Mutates `tokens` and `topics`."""
    n_blocks, n_topics = len(topics.cells.word_ptr) - 1, is_long.size
    block_total, share = np.zeros((n_blocks, n_topics), np.int64), np.empty((n_blocks, n_topics))
    blocked = BlockedTopics(*counted(topics), block_total, share, topics.cells)  # type: ignore[call-arg]
    count_blocks(blocked)

    def sweep_cell(seed: int, cell: tuple[int, int]) -> None:
        own = np.random.Generator(np.random.PCG64(seed))
        cell_pass(own, tokens, documents, blocked, is_long, empty_scratch(n_topics + 1), *cell)

    for diagonal in diagonals(n_blocks):
        draw_shares(rng, blocked)
        in_parts(sweep_cell, rng.integers(2**63, size=n_blocks).tolist(), diagonal)
    topics.total[:n_topics] = block_total.sum(axis=0)


def parallel_sweep(rng: np.random.Generator, state: State) -> bool:
    """One sweep, mostly in cells; False if it stopped for want of room. Mutates `state`."""
    tokens, documents, topics, scratch = state
    serial = State(tokens, documents, counted(topics), scratch)
    waits = scratch.next_document[0]
    is_seated = tokens.topic.size > 0 and tokens.topic[0] >= 0
    if waits > 0 or not is_seated or (waits == 0 and rng.random() < SERIAL):
        return sweep(rng, serial)
    threshold = threshold_of(tokens, documents)
    scratch.next_document[0] = BREAKING
    if not break_root(rng, documents, serial.topics, threshold):
        return False
    scratch.next_document[0] = 0
    parallel_pass(rng, tokens, documents, topics, documents.root[: topics.n_topics[0]] > threshold)
    finish_sweep(rng, *serial)
    return True


def celled_topics(topics: DirichletTopics, tokens: Tokens) -> CelledTopics:
    """Topic side at the counts of `topics`, which it takes over."""
    return CelledTopics(*topics, blocked_topics(topics, tokens).cells)


@with_capacity.register
def _(side: CelledTopics, capacity: int) -> CelledTopics:
    return side._replace(total=widened(side.total, capacity))


@check_side.register
def _(side: CelledTopics, tokens: Tokens, n_topics: int) -> None:
    check_side(counted(side), tokens, n_topics)

"""Sweeps of Dirichlet topics whose parts share nothing: vocabulary-blocked partial collapsing.

The words are cut into blocks V_b. A topic phi ~ Dir(eta) of all words is the same as

    rho_k ~ Dir(eta |V_1|, …, eta |V_B|),      phi_kw = rho_kb psi_kw,      psi_kb ~ Dir(eta) on V_b

with all of these independent, so that given topics of tokens rho_k ~ Dir(eta |V_b| + n_kb), where n_kb counts
the tokens of topic k in block b. The *shares* rho are drawn, and tokens move given these, theta and psi
integrated out. The topic of a token of word w of block b has the conditional

    (prior_k + n_dk) rho_kb (n_kw + eta) / (n_kb + eta |V_b|)

which looks at its document and at its block, and at nothing else. A *cell* is a shard of the documents times
a block of the words. Cells that have neither in common touch no common count: a sweep goes through B
diagonals, draws the shares before each, and sweeps its B cells at once. Whatever order these are in, the
result is that of Gibbs steps, without a stale count. Afterwards rho is forgotten, and hyperparameters move
given topics alone.

With one block nothing is drawn, and topics are integrated out as a whole; with a block a word the topics are
drawn (Magnusson et al. 2018; Terenin et al. 2020). Each cell has a generator of its own.
"""

from math import isqrt
from typing import NamedTuple

import numpy as np

from .dirichlet import DirichletTopics, counted
from .jit import borrowing_kernel, kernel
from .lists import entry_at, find_entry, move_in_list, weigh_others
from .random import dirichlet
from .sides import Tokens, check_side, finish_pass, join_document, move_topics
from .smoothing import update_smoothing
from .threads import parts_of
from .token_pass import RECOUNT_AFTER, find_in_smooth_part, settled

FEWEST_BLOCKS, MOST_BLOCKS = 2, 16
TOKENS_OF_CELL = 131_072
"""About as many, where that makes neither fewer blocks nor more."""


class Cells(NamedTuple):
    """How tokens are cut into cells: B shards of documents times B blocks of words.

    Attributes
    ----------
    document_ptr : int64 (B + 1,)
        Shard s has the documents ``document_ptr[s]:document_ptr[s + 1]``.
    word_ptr : int64 (B + 1,)
        Block b has the words ``word_ptr[b]:word_ptr[b + 1]``.
    cell_ptr : int64 (B, B + 1)
        The cell of shard s and block b has the tokens ``order[cell_ptr[s, b]:cell_ptr[s, b + 1]]``.
    order : int64 (N,)
        Tokens by shard, by block, and then as they come.
    """

    document_ptr: np.ndarray
    word_ptr: np.ndarray
    cell_ptr: np.ndarray
    order: np.ndarray

    FIXED = ("document_ptr", "word_ptr", "cell_ptr", "order")


class BlockedTopics(NamedTuple):
    """Topic side with a symmetric Dirichlet prior on words, which are swept in blocks.

    Attributes
    ----------
    total, word_ptr, n_listed, listed_topic, listed_count, eta, eta_prior, n_topics
        As in `DirichletTopics`, and in its order.
    block_total : int64 (B, K)
        Tokens of each topic in each block, n_kb.
    share : float64 (B, K)
        rho, as it was last drawn; every sweep draws it anew.
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
    block_total: np.ndarray
    share: np.ndarray
    cells: Cells

    FIXED = ("word_ptr", "eta_prior")


@kernel
def count_blocks(topics):
    """Fill the totals of the blocks, which are zero, from the lists of the words."""
    for b in range(topics.block_total.shape[0]):
        for w in range(topics.cells.word_ptr[b], topics.cells.word_ptr[b + 1]):
            for j in range(topics.word_ptr[w], topics.word_ptr[w] + topics.n_listed[w]):
                topics.block_total[b, topics.listed_topic[j]] += topics.listed_count[j]


@kernel
def share_shapes(topics, k, shapes):
    """Fill `shapes` (B,) with the Dirichlet parameters of the shares of topic `k` given its tokens."""
    for b in range(shapes.size):
        n_words = topics.cells.word_ptr[b + 1] - topics.cells.word_ptr[b]
        shapes[b] = topics.eta[0] * n_words + topics.block_total[b, k]


@kernel
def draw_shares(rng, topics):
    """Draw the shares of all topics given their tokens in the blocks."""
    n_blocks, n_topics = topics.share.shape
    shapes = np.empty(n_blocks)
    for k in range(n_topics):
        share_shapes(topics, k, shapes)
        dirichlet(rng, shapes, n_blocks, topics.share[:, k])


@borrowing_kernel
def weigh_all(level, prior, scratch):
    """Fill in the coefficients ``prior_k level_k`` of all topics between documents; return their sum."""
    mass = 0.0
    for k in range(level.size):
        scratch.coefficient[k] = prior[k] * level[k]
        mass += scratch.coefficient[k]
    return mass


@borrowing_kernel
def enter(tokens, level, prior, scratch, d, mass):
    """Count the topics of document `d` into the scratch, which has room for one more than there can be.

    Returns how many there are, and the mass.
    """
    n_doc_topics = 0
    for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
        k = tokens.topic[i]
        if k >= 0:  # no processor would guess whether a topic is new here: so it is written, and may be again
            scratch.doc_topics[n_doc_topics] = k
            n_doc_topics += scratch.doc_count[k] == 0
            scratch.doc_count[k] += 1
    for m in range(n_doc_topics):
        k = scratch.doc_topics[m]
        scratch.is_doc_topic[k] = True
        scratch.coefficient[k] = (prior[k] + scratch.doc_count[k]) * level[k]
        mass += scratch.doc_count[k] * level[k]
    return n_doc_topics, mass


@borrowing_kernel
def leave(level, prior, scratch, n_doc_topics, mass):
    """Zero the document's counts in the scratch; return the mass without them."""
    before = mass
    for m in range(n_doc_topics):
        k = scratch.doc_topics[m]
        mass -= scratch.doc_count[k] * level[k]
        scratch.coefficient[k] = prior[k] * level[k]
        scratch.doc_count[k] = 0
        scratch.is_doc_topic[k] = False
    return settled(mass, before, scratch.coefficient, level.size)


@borrowing_kernel
def step(rng, tokens, topics, level, share, block_total, smoothing, prior, scratch, i, n_doc_topics, mass):
    """Resample the topic of token `i`, as the sparse step of `dirichlet` does, within its block.

    Parameters
    ----------
    level : float64 (K,)
        ``rho_kb / (n_kb + smoothing)``, kept up to date.
    share, block_total : (K,)
        Of the block.
    smoothing : float
        ``eta |V_b|``.
    prior : float64 (K,)
        Of the document.

    Returns
    -------
    n_doc_topics : int
    mass : float
        Sum of the coefficients ``(prior_k + n_dk) level_k``.
    """
    doc_count, coefficient, running = scratch.doc_count, scratch.coefficient, scratch.weights
    listed_topic, listed_count, eta = topics.listed_topic, topics.listed_count, topics.eta[0]
    w, old = tokens.words[i], tokens.topic[i]
    start, length = topics.word_ptr[w], topics.n_listed[w]

    # Take the token out of its topic's coefficient and of the mass.
    kept, level_without, mass_without = 0.0, 0.0, mass
    if old >= 0:
        kept = coefficient[old]
        level_without = share[old] / (block_total[old] - 1 + smoothing)
        coefficient[old] = (prior[old] + (doc_count[old] - 1)) * level_without
        mass_without += coefficient[old] - kept
        mass_without = settled(mass_without, mass, coefficient, level.size)

    old_entry = find_entry(listed_topic, start, length, old)
    word_mass = weigh_others(listed_topic, listed_count, start, length, old_entry, coefficient, running)

    u = rng.random() * (word_mass + eta * mass_without)
    if u < word_mass:
        new_entry = entry_at(running, u)
        new = np.int64(listed_topic[start + new_entry])
    else:
        new = find_in_smooth_part(
            (u - word_mass) / eta,
            coefficient,
            scratch.doc_topics,
            n_doc_topics,
            scratch.is_doc_topic,
            level.size,
        )
        new_entry = find_entry(listed_topic, start, length, new)

    if new == old:
        coefficient[old] = kept
        return n_doc_topics, mass
    tokens.topic[i] = new
    topics.n_listed[w] = move_in_list(listed_topic, listed_count, start, length, old_entry, new_entry, new)
    if old >= 0:
        block_total[old] -= 1
        doc_count[old] -= 1
        level[old] = level_without
    block_total[new] += 1
    doc_count[new] += 1
    level[new] = share[new] / (block_total[new] + smoothing)
    kept = coefficient[new]
    coefficient[new] = (prior[new] + doc_count[new]) * level[new]
    mass = settled(mass_without + (coefficient[new] - kept), mass_without, coefficient, level.size)
    return join_document(scratch, new, n_doc_topics), mass


@kernel
def cell_pass(rng, tokens, documents, topics, scratch, shard, block):
    """Resample the topics of the tokens of a cell; what it changes belongs to its shard or to its block.

    The documents all have one prior.
    """
    cells, prior = topics.cells, documents.prior[0]
    j, end = cells.cell_ptr[shard, block], cells.cell_ptr[shard, block + 1]
    if j == end:
        return
    share, block_total = topics.share[block], topics.block_total[block]
    smoothing = topics.eta[0] * (cells.word_ptr[block + 1] - cells.word_ptr[block])
    level = share / (block_total + smoothing)
    recount_after = max(RECOUNT_AFTER, level.size)
    d, recount_at, mass = cells.document_ptr[shard], j, 0.0
    while j < end:
        if j >= recount_at:
            recount_at, mass = j + recount_after, weigh_all(level, prior, scratch)
        while tokens.doc_ptr[d + 1] <= cells.order[j]:
            d += 1
        n_doc_topics, mass = enter(tokens, level, prior, scratch, d, mass)
        while j < end and cells.order[j] < tokens.doc_ptr[d + 1]:
            n_doc_topics, mass = step(
                rng, tokens, topics, level, share, block_total, smoothing, prior, scratch,
                cells.order[j], n_doc_topics, mass,
            )  # fmt: skip
            j += 1
        mass = leave(level, prior, scratch, n_doc_topics, mass)


def diagonals(n_blocks: int) -> list[list[tuple[int, int]]]:
    """Shard and block of all cells, in groups of cells that have neither in common."""
    return [[(s, (s + shift) % n_blocks) for s in range(n_blocks)] for shift in range(n_blocks)]


@finish_pass.implement(BlockedTopics)
def _finish_pass(rng, topics):
    pass


@move_topics.implement(BlockedTopics)
def _move_topics(rng, topics):
    update_smoothing(rng, topics, topics.n_listed.size)


def cells_of(tokens: Tokens, word_ptr: np.ndarray, n_blocks: int) -> Cells:
    """Cut tokens into cells; shards, and blocks, have about as many tokens each.

    Parameters
    ----------
    tokens : Tokens
    word_ptr : int64 (V + 1,)
        Running sum of the occurrences of the words.
    n_blocks : int
    """
    of_documents, of_words = (_bounds(parts_of(ptr, n_blocks)) for ptr in (tokens.doc_ptr, word_ptr))
    shard = np.repeat(np.arange(n_blocks), np.diff(tokens.doc_ptr[of_documents]))
    block = np.repeat(np.arange(n_blocks), np.diff(of_words))[tokens.words]
    cell = (shard * n_blocks + block).astype(np.uint16)  # for which NumPy sorts by counting
    ptr = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=n_blocks**2))])
    cell_ptr = ptr[np.add.outer(np.arange(n_blocks) * n_blocks, np.arange(n_blocks + 1))]
    return Cells(of_documents, of_words, cell_ptr, np.argsort(cell, kind="stable"))


def _bounds(parts: list[tuple[int, int]]) -> np.ndarray:
    """First of the first part and ends of all, int64."""
    return np.array([0, *(end for _, end in parts)], np.int64)


def blocked_topics(topics: DirichletTopics, tokens: Tokens) -> BlockedTopics:
    """Topic side at the counts of `topics`, which it takes over."""
    n_blocks = min(max(isqrt(tokens.words.size // TOKENS_OF_CELL), FEWEST_BLOCKS), MOST_BLOCKS)
    of_blocks = (n_blocks, topics.total.size)
    cells = cells_of(tokens, topics.word_ptr, n_blocks)
    blocked = BlockedTopics(*topics, np.zeros(of_blocks, np.int64), np.full(of_blocks, 1.0 / n_blocks), cells)
    count_blocks(blocked)
    return blocked


@check_side.register
def _(side: BlockedTopics, tokens: Tokens, n_topics: int) -> None:
    check_side(counted(side), tokens, n_topics)
    cells, n_blocks = side.cells, len(side.share)
    for b in range(n_blocks):
        in_block = (tokens.words >= cells.word_ptr[b]) & (tokens.words < cells.word_ptr[b + 1])
        if np.any(side.block_total[b] != np.bincount(tokens.topic[in_block], minlength=n_topics)):
            raise AssertionError(f"totals of topics in block {b} differ from a recount")
    if np.any(side.share < 0.0) or not np.allclose(side.share.sum(axis=0), 1.0):
        raise AssertionError("the shares of a topic are no probabilities")

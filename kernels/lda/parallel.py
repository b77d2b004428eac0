"""Sweeps of Dirichlet documents over Dirichlet topics in cells that share nothing, as in `toolbox.blocked`.

Alpha and eta move given topics alone: their densities look at how many of the n_dk, and of the n_kw, have
each value, and at no more. Shards of documents and blocks of words are tallied in threads as well, so that
what is left to one thread does not grow with the tokens.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..toolbox.blocked import BlockedTopics, cell_pass, diagonals, draw_shares
from ..toolbox.jit import kernel
from ..toolbox.lists import tally_words
from ..toolbox.random import is_beyond, is_sampled, log_density, slice_sample
from ..toolbox.sides import State, Tokens
from ..toolbox.sides import scratch as empty_scratch
from ..toolbox.smoothing import draw_smoothing
from ..toolbox.sweeps import finish_sweep
from ..toolbox.threads import in_parts
from .documents import FiniteDocuments


class LogAlpha(NamedTuple):
    """Target of ``log alpha``, one for all topics, given topics of tokens, and the Gamma prior.

    Attributes
    ----------
    length, n_documents : int64 (distinct,)
        Numbers of tokens that documents have, and how many documents have each.
    size, how_often : int64 (distinct,)
        Sizes of the non-zero n_dk, and how many of them there are of each.
    n_topics : float
    prior : float64 (2,)
        Shape and rate.
    """

    length: np.ndarray
    n_documents: np.ndarray
    size: np.ndarray
    how_often: np.ndarray
    n_topics: float
    prior: np.ndarray


@log_density.implement(LogAlpha)
def _log_density(target, x):
    # Gamma prior times Jacobian, times prod_d Γ(K alpha) / Γ(K alpha + n_d) prod_k Γ(alpha + n_dk) / Γ(alpha)
    alpha = math.exp(x)
    out = target.prior[0] * x - target.prior[1] * alpha
    mass = target.n_topics * alpha
    if is_beyond(alpha):
        return -math.inf
    for j in range(target.length.size):
        out += target.n_documents[j] * (math.lgamma(mass) - math.lgamma(mass + target.length[j]))
    for j in range(target.size.size):
        out += target.how_often[j] * (math.lgamma(alpha + target.size[j]) - math.lgamma(alpha))
    return out


@kernel
def draw_alpha(rng, documents, lengths, sizes):
    """Slice-sample the alpha of all topics in place.

    Parameters
    ----------
    lengths, sizes : int64 (most + 1,)
        How many documents, and how many of the n_dk, have so many tokens; entry 0 is not looked at.
    """
    length, size = np.flatnonzero(lengths), np.flatnonzero(sizes)
    n_topics = float(np.count_nonzero(documents.may_have[0]))
    target = LogAlpha(length, lengths[length], size, sizes[size], n_topics, documents.alpha_prior)
    documents.alpha[0] = math.exp(slice_sample(rng, target, math.log(documents.alpha[0]), 1.0))
    documents.prior[0] = np.where(documents.may_have[0], documents.alpha[0], 0.0)


@kernel
def tally_documents(tokens, n_topics, first, end):
    """How many of the n_dk of the documents ``first:end`` have each value from 1 on; int64 (most + 1,)."""
    longest = 0
    for d in range(first, end):
        longest = max(longest, tokens.doc_ptr[d + 1] - tokens.doc_ptr[d])
    tally, count = np.zeros(longest + 1, np.int64), np.zeros(n_topics, np.int64)
    for d in range(first, end):
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            count[tokens.topic[i]] += 1
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            k = tokens.topic[i]
            if count[k] > 0:
                tally[count[k]] += 1
                count[k] = 0
    return tally


def tally_in_threads(tally: Callable[[int, int], np.ndarray], bounds: np.ndarray) -> np.ndarray:
    """Sum of the tallies of the parts ``bounds[j]:bounds[j + 1]``, which may differ in length."""
    found = in_parts(tally, bounds[:-1], bounds[1:])
    out = np.zeros(max(map(len, found)), np.int64)
    for one in found:
        out[: one.size] += one
    return out


def move_hyperparameters(rng: np.random.Generator, state: State) -> None:
    """Draw alpha and eta given the topics of all tokens. Mutates `state`."""
    tokens, documents, topics, _ = state
    if not isinstance(documents, FiniteDocuments):  # an alpha a topic is drawn with tables, in one thread
        finish_sweep(rng, *state)
        return
    cells = topics.cells
    if is_sampled(documents.alpha_prior):
        n_topics = documents.prior.shape[1]
        sizes = tally_in_threads(lambda *part: tally_documents(tokens, n_topics, *part), cells.document_ptr)
        lengths = np.bincount(np.diff(tokens.doc_ptr), minlength=1)
        lengths[0] = 0
        draw_alpha(rng, documents, lengths, sizes)
    if is_sampled(topics.eta_prior):
        tally = tally_in_threads(lambda *part: tally_words(topics, *part), cells.word_ptr)
        draw_smoothing(rng, topics.eta, topics.total, tally, topics.n_listed.size, topics.eta_prior)


def parallel_pass(rng: np.random.Generator, tokens: Tokens, documents: Any, topics: BlockedTopics) -> None:
    """Resample the topics of all tokens. Mutates `tokens` and `topics`."""
    n_blocks, n_topics = topics.share.shape

    def sweep_cell(seed: int, cell: tuple[int, int]) -> None:
        own = np.random.Generator(np.random.PCG64(seed))
        cell_pass(own, tokens, documents, topics, empty_scratch(n_topics + 1), *cell)

    for diagonal in diagonals(n_blocks):
        draw_shares(rng, topics)
        in_parts(sweep_cell, rng.integers(2**63, size=n_blocks).tolist(), diagonal)
    topics.total[:] = topics.block_total.sum(axis=0)


def parallel_sweep(rng: np.random.Generator, state: State) -> bool:
    """One sweep: shares and tokens, then hyperparameters. Mutates `state`; gets through."""
    parallel_pass(rng, state.tokens, state.documents, state.topics)
    move_hyperparameters(rng, state)
    return True

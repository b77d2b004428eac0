"""Sweeps of any document side over any topic side: tokens, then the moves of each side."""

from .jit import kernel
from .sides import (
    State,
    Tokens,
    check_scratch,
    check_side,
    finish_pass,
    longest_document,
    move_documents,
    move_topics,
    with_capacity,
)
from .sides import scratch as empty_scratch
from .token_pass import dense_pass, sparse_pass


@kernel
def finish_sweep(rng, tokens, documents, topics, scratch):
    """All but the tokens: the document side, which may renumber topics, and then the topic side."""
    finish_pass(rng, topics)
    move_documents(rng, tokens, documents, topics, scratch)
    move_topics(rng, topics)


@kernel
def sparse_sweep(rng, state):
    """One sweep with the sparse token pass; False if it stopped for want of room. Mutates `state`."""
    tokens, documents, topics, scratch = state
    through = sparse_pass(rng, tokens, documents, topics, scratch)
    if through:
        finish_sweep(rng, tokens, documents, topics, scratch)
    return through


@kernel
def dense_sweep(rng, state):
    """One sweep with the dense token pass; False if it stopped for want of room. Mutates `state`."""
    tokens, documents, topics, scratch = state
    through = dense_pass(rng, tokens, documents, topics, scratch)
    if through:
        finish_sweep(rng, tokens, documents, topics, scratch)
    return through


def make_state(tokens: Tokens, documents, topics) -> State:
    """State of a chain that stands at the topics of `tokens`, with fresh working memory."""
    return State(tokens, documents, topics, empty_scratch(documents.prior.shape[1]))


def with_room(state: State) -> State:
    """Copy of `state` with room for twice as many topics, and for those of its longest document."""
    capacity = 2 * state.documents.prior.shape[1] + longest_document(state.tokens) + 1
    fresh = empty_scratch(capacity)
    fresh.next_document[:] = state.scratch.next_document
    return State(
        state.tokens,
        with_capacity(state.documents, capacity),
        with_capacity(state.topics, capacity),
        fresh,
    )


def check(state: State) -> None:
    """Recount the statistics of `state`: the paranoid mode of the samplers.

    Raises
    ------
    AssertionError
        Names the statistic that differs from its recount.
    """
    for side in (state.topics, state.documents):
        check_side(side, state.tokens, int(state.topics.n_topics[0]))
    check_scratch(state.scratch)

"""A sweep of HDP documents in which tokens, whole tables and whole topics move."""

from ..toolbox.jit import kernel
from ..toolbox.sides import move_topics
from ..toolbox.sweeps import finish_sweep
from ..toolbox.token_pass import sparse_pass
from .tables import table_pass
from .topics import topic_pass

HOW_OFTEN = 0.25
"""Share of the sweeps, drawn at random, in which more than tokens move: see ``benchmarks/mixing.md``."""


@kernel
def sweep(rng, state):
    """One sweep: tokens, sometimes tables and topics, both sides; False if it stopped for want of room.

    ``scratch.next_document`` counts the documents through, once for the tokens and once for the tables.
    Mutates `state`.
    """
    tokens, documents, topics, scratch = state
    n_documents, done = tokens.group.size, scratch.next_document
    if done[0] < n_documents:
        if not sparse_pass(rng, tokens, documents, topics, scratch):
            return False
        if rng.random() >= HOW_OFTEN:
            finish_sweep(rng, tokens, documents, topics, scratch)
            return True
        done[0] = n_documents
    if done[0] < 2 * n_documents:
        if not table_pass(rng, tokens, documents, topics, scratch):
            return False
        done[0] = 2 * n_documents
    if not topic_pass(rng, tokens, documents, topics, scratch):
        return False
    done[0] = 0
    move_topics(rng, topics)
    return True

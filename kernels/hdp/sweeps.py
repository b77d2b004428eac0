"""A sweep of HDP documents in which tokens move, and sometimes whole tables, and topics split and merge."""

from ..toolbox.jit import kernel
from ..toolbox.sides import move_topics
from ..toolbox.sweeps import finish_sweep
from ..toolbox.token_pass import sparse_pass
from .tables import table_pass
from .topics import topic_pass

TABLES = 0.5
"""Share of the sweeps, drawn at random, in which tables move: measured in ``docs/models/hdp.md``."""

TOPICS = 0.25
"""Share of these in which topics split and merge."""


@kernel
def sweep(rng, state):
    """One sweep: tokens, sometimes tables and topics, then both sides; False if it stopped for want of room.

    ``scratch.next_document`` counts the documents, those of the tables on from those of the tokens, and is
    twice their number while topics wait for room. Mutates `state`.
    """
    tokens, documents, topics, scratch = state
    n_documents, next_document = tokens.group.size, scratch.next_document
    if next_document[0] < n_documents:
        if not sparse_pass(rng, tokens, documents, topics, scratch):
            return False
        if rng.random() >= TABLES:
            finish_sweep(rng, tokens, documents, topics, scratch)
            return True
        next_document[0] = n_documents
    if next_document[0] < 2 * n_documents:
        if not table_pass(rng, tokens, documents, topics, scratch):
            return False
        if rng.random() >= TOPICS:
            next_document[0] = 0
            finish_sweep(rng, tokens, documents, topics, scratch)
            return True
        next_document[0] = 2 * n_documents
    if not topic_pass(rng, tokens, documents, topics, scratch):
        return False
    next_document[0] = 0
    move_topics(rng, topics)
    return True

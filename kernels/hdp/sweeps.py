"""A sweep of HDP documents: whole tables move, topics split and merge in two ways, and then tokens move.

From coarse to fine, as tokens that move first take the documents of a chain that starts with many topics
apart, each into topics of its own, which then are too special to merge: ``docs/models/hdp.md`` has figures.
"""

from ..toolbox.jit import kernel
from ..toolbox.sweeps import finish_sweep
from ..toolbox.token_pass import sparse_pass
from .halves import half_pass
from .tables import table_pass
from .topics import topic_pass

TOPICS = 0.125
"""Share of the sweeps, drawn at random, in which topics split and merge by tables: ``docs/models/hdp.md``."""


@kernel
def sweep(rng, state):
    """One sweep: tables, sometimes topics, then tokens and both sides; False if it stopped for want of room.

    Tokens that have no topic yet take one first. With D documents, ``scratch.next_document`` is D and more
    while tables wait for room, 2 D while topics do, 3 D while halves of topics do, and 4 D while tokens of
    the first document do. Mutates `state`.
    """
    tokens, documents, topics, scratch = state
    n_documents, next_document = tokens.group.size, scratch.next_document
    if next_document[0] == 0 and tokens.topic.size > 0 and tokens.topic[0] >= 0:
        next_document[0] = n_documents
    if n_documents <= next_document[0] < 2 * n_documents:
        if not table_pass(rng, tokens, documents, topics, scratch):
            return False
        next_document[0] = 2 * n_documents if rng.random() < TOPICS else 3 * n_documents
    if next_document[0] == 2 * n_documents > 0:
        if not topic_pass(rng, tokens, documents, topics, scratch):
            return False
        next_document[0] = 3 * n_documents
    if next_document[0] == 3 * n_documents > 0:
        if not half_pass(rng, tokens, documents, topics):
            return False
        next_document[0] = 4 * n_documents
    if next_document[0] == 4 * n_documents:
        next_document[0] = 0
    if not sparse_pass(rng, tokens, documents, topics, scratch):
        if next_document[0] == 0:
            next_document[0] = 4 * n_documents
        return False
    finish_sweep(rng, tokens, documents, topics, scratch)
    return True

"""A sweep of HDP documents in which tokens move, and sometimes whole tables."""

from ..toolbox.jit import kernel
from ..toolbox.sweeps import finish_sweep
from ..toolbox.token_pass import sparse_pass
from .tables import table_pass

HOW_OFTEN = 0.25
"""Share of the sweeps, drawn at random, in which tables move: measured in ``docs/models/hdp.md``."""


@kernel
def sweep(rng, state):
    """One sweep: tokens, sometimes tables, then both sides; False if it stopped for want of room.

    ``scratch.next_document`` counts the documents, those of the tables on from those of the tokens. Mutates
    `state`.
    """
    tokens, documents, topics, scratch = state
    n_documents, next_document = tokens.group.size, scratch.next_document
    if next_document[0] < n_documents:
        if not sparse_pass(rng, tokens, documents, topics, scratch):
            return False
        if rng.random() < HOW_OFTEN:
            next_document[0] = n_documents
    if next_document[0] > 0:
        if not table_pass(rng, tokens, documents, topics, scratch):
            return False
        next_document[0] = 0
    finish_sweep(rng, tokens, documents, topics, scratch)
    return True

"""A sweep of documents with a fixed number of topics over Pitman-Yor topics, which also exchange numbers."""

from ..toolbox.jit import kernel
from ..toolbox.sweeps import finish_sweep
from ..toolbox.token_pass import sparse_pass
from .exchange import exchange_pass


@kernel
def sweep(rng, state):
    """One sweep; False if it stopped for want of room. Mutates `state`."""
    tokens, documents, topics, scratch = state
    if not sparse_pass(rng, tokens, documents, topics, scratch):
        return False
    exchange_pass(rng, tokens, documents, topics)
    finish_sweep(rng, tokens, documents, topics, scratch)
    return True

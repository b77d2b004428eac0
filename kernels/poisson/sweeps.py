"""A sparse sweep that is dense where a document's prior mass is too small for differences of sums.

The sparse pass keeps the sum of all coefficients and takes a token's own out of it. Where the prior mass of a
document is some 1e-16 of a token, nothing right is left of the difference. Masses of gamma variables are
small as a matter of course: that of a document with a single token is a draw from its prior. Dirichlet topics
add the coefficients up anew then, Pitman-Yor topics do not.
"""

from ..toolbox.jit import borrowing_kernel, kernel
from ..toolbox.sides import dense_step, enter_document, leave_document
from ..toolbox.sweeps import finish_sweep
from ..toolbox.token_pass import RECOUNT_AFTER, block_end, has_room, sparse_block

LEAST_MASS = 1e-3
"""Documents of a smaller prior mass are swept densely."""


@borrowing_kernel
def prior_mass(documents, group, n_topics):
    """Sum of the prior weights of a group's documents."""
    out = documents.rest[group]
    for k in range(n_topics):
        out += documents.prior[group, k]
    return out


@borrowing_kernel
def guarded_pass(rng, tokens, documents, topics, scratch):
    """Do what `sparse_pass` does; documents of little prior mass are resampled densely."""
    d = scratch.next_document[0]
    while d < tokens.group.size:
        end = block_end(tokens, topics, d, max(RECOUNT_AFTER, topics.n_topics[0]))
        if not has_room(tokens, documents, topics.n_topics[0], d, end):
            scratch.next_document[0] = d
            return False
        if prior_mass(documents, tokens.group[d], topics.n_topics[0]) >= LEAST_MASS:
            sparse_block(rng, tokens, documents, topics, scratch, d, end)
        else:
            for other in range(d, end):
                enter_document(tokens, scratch, other)
                for i in range(tokens.doc_ptr[other], tokens.doc_ptr[other + 1]):
                    dense_step(rng, tokens, documents, topics, scratch, other, i)
                leave_document(tokens, scratch, other)
        d = end
    scratch.next_document[0] = 0
    return True


@kernel
def guarded_sweep(rng, state):
    """One sweep with the guarded token pass; False if it stopped for want of room. Mutates `state`."""
    tokens, documents, topics, scratch = state
    through = guarded_pass(rng, tokens, documents, topics, scratch)
    if through:
        finish_sweep(rng, tokens, documents, topics, scratch)
    return through

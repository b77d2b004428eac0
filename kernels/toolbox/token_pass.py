"""One Gibbs pass over the tokens, for any document side over any topic side.

`dense_pass` is the definition, O(K) a token. `sparse_pass` draws from the same conditionals and spends time
only where counts are (Yao, Mimno and McCallum 2009). What a topic weighs for a word that it has nothing to do
with is a multiple of its *coefficient*. The sum of the coefficients, the *mass*, is kept up to date while
tokens move, so that this part of the weights is visited only when it is drawn. How a token steps within a
document is told by the topic sides.
"""

from .jit import borrowing_kernel, kernel
from .sides import (
    dense_step,
    enter_document,
    leave_document,
    same_words,
    sparse_step,
    weigh_topic,
)

RECOUNT_AFTER = (
    64  # tokens, or as many as there are topics: the mass is O(K) to recount, and drifts by rounding
)


LITTLE = 1e-6
"""Of a mass: where no more is left of it, much of what is left is rounding."""


@borrowing_kernel
def settled(mass, before, coefficient, n_topics):
    """`mass`, the sum of the coefficients, which was `before`; added up anew where little of it is left.

    Else it could be negative, as where the weights of topics are powers of ten apart.
    """
    if mass >= LITTLE * before:
        return mass
    mass = 0.0
    for k in range(n_topics):
        mass += coefficient[k]
    return mass


@borrowing_kernel
def has_room(tokens, documents, n_topics, d, end):
    """Whether every token of documents `d` to `end`, of one group, could open a topic within the arrays."""
    if documents.rest[tokens.group[d]] == 0.0:
        return True
    return n_topics + tokens.doc_ptr[end] - tokens.doc_ptr[d] < documents.prior.shape[1]


@borrowing_kernel
def dense_pass(rng, tokens, documents, topics, scratch):
    """Resample every token's topic, O(K) a token. Mutates all arguments.

    Starts at ``scratch.next_document``. Returns whether it got through; if not, the arrays over topics need
    more room before it is called again.
    """
    for d in range(scratch.next_document[0], tokens.group.size):
        if not has_room(tokens, documents, topics.n_topics[0], d, d + 1):
            scratch.next_document[0] = d
            return False
        enter_document(tokens, scratch, d)
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            dense_step(rng, tokens, documents, topics, scratch, d, i)
        leave_document(tokens, scratch, d)
    scratch.next_document[0] = 0
    return True


@borrowing_kernel
def block_end(tokens, topics, d, at_least):
    """End of the documents from `d` on that share its groups, cut off once they have `at_least` tokens."""
    end = d + 1
    while (
        end < tokens.group.size
        and tokens.group[end] == tokens.group[d]
        and same_words(topics, end, d)
        and tokens.doc_ptr[end] - tokens.doc_ptr[d] < at_least
    ):
        end += 1
    return end


@borrowing_kernel
def sparse_block(rng, tokens, documents, topics, scratch, first, end):
    """Resample the tokens of documents `first` to `end`, of one group; return the mass outside of them."""
    mass = 0.0
    for k in range(topics.n_topics[0]):
        scratch.coefficient[k] = 0.0
        mass = weigh_topic(tokens, documents, topics, scratch, first, k, mass)
    for d in range(first, end):
        n_doc_topics = enter_document(tokens, scratch, d)
        for j in range(n_doc_topics):
            k = scratch.doc_topics[j]
            scratch.is_doc_topic[k] = True
            mass = weigh_topic(tokens, documents, topics, scratch, d, k, mass)
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            n_doc_topics, mass = sparse_step(
                rng, tokens, documents, topics, scratch, d, i, n_doc_topics, mass
            )
        for j in range(n_doc_topics):
            k = scratch.doc_topics[j]
            scratch.doc_count[k] = 0
            scratch.is_doc_topic[k] = False
            mass = weigh_topic(tokens, documents, topics, scratch, d, k, mass)
    return mass


@borrowing_kernel
def sparse_pass(rng, tokens, documents, topics, scratch):
    """Resample every token's topic, in time that grows with the non-zero counts. Mutates all arguments.

    Starts at ``scratch.next_document``. Returns whether it got through; if not, the arrays over topics need
    more room before it is called again. It stops only where it recounts the mass, so that the draws are the
    same to the last bit wherever it had to stop.
    """
    d = scratch.next_document[0]
    while d < tokens.group.size:
        end = block_end(tokens, topics, d, max(RECOUNT_AFTER, topics.n_topics[0]))
        if not has_room(tokens, documents, topics.n_topics[0], d, end):
            scratch.next_document[0] = d
            return False
        sparse_block(rng, tokens, documents, topics, scratch, d, end)
        d = end
    scratch.next_document[0] = 0
    return True


@kernel
def find_in_smooth_part(u, coefficient, doc_topics, n_doc_topics, is_doc_topic, n_topics):
    """Topic at height `u` of all coefficients laid end to end, those in `doc_topics` first."""
    found = 0
    for j in range(n_doc_topics):
        found = doc_topics[j]
        u -= coefficient[found]
        if u < 0.0:
            return found
    for k in range(n_topics):
        if not is_doc_topic[k] and coefficient[k] > 0.0:
            found = k
            u -= coefficient[k]
            if u < 0.0:
                return found
    return found  # by rounding, the coefficients can sum to less than the mass

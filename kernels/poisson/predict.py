"""New documents of a gamma belief network, its topics, links and weights being what they are."""

from ..toolbox.jit import kernel
from ..toolbox.random import categorical
from ..toolbox.sides import enter_document, leave_document
from .layers import count_tokens, count_upwards, draw_downwards, look_at_theta


@kernel
def draw_topics(rng, tokens, documents, scratch, word_topics, kind):
    """Draw the topics of all tokens, one after the other; those that have none yet are seated."""
    n_topics, weights = documents.r.size, scratch.weights
    for d in range(tokens.group.size):
        enter_document(tokens, scratch, d)
        own_topics = word_topics[kind[d]]
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            if tokens.topic[i] >= 0:
                scratch.doc_count[tokens.topic[i]] -= 1
            for k in range(n_topics):
                in_document = documents.prior[d, k] + scratch.doc_count[k]
                weights[k] = in_document * own_topics[tokens.words[i], k]
            tokens.topic[i] = categorical(rng, weights, n_topics)
            scratch.doc_count[tokens.topic[i]] += 1
        leave_document(tokens, scratch, d)


@kernel
def fold_in(rng, tokens, documents, scratch, word_topics, kind, burn_in, sweeps, theta):
    """Fill `theta` (D, K) with posterior mean proportions of new documents.

    Parameters
    ----------
    rng : numpy.random.Generator
    tokens : Tokens
        Of the new documents.
    documents : LayeredDocuments
        Their layers, from which sampling starts; r and links stay.
    scratch : Scratch
    word_topics : float (G, V, K)
    kind : int (D,)
        Which of these are the topics of each document.
    burn_in, sweeps : int
        Gibbs sweeps that are dropped, and those that are averaged.
    theta : float (D, K)
    """
    linked = documents.link[0].copy()  # which nobody reads
    theta[:] = 0.0
    for sweep in range(-burn_in, sweeps):
        draw_topics(rng, tokens, documents, scratch, word_topics, kind)
        count_tokens(tokens, documents, scratch)
        look_at_theta(rng, tokens, documents)
        for s in range(documents.theta.shape[0]):
            count_upwards(rng, documents, s, linked)
        draw_downwards(rng, documents)
        if sweep >= 0:
            for d in range(tokens.group.size):
                weights = documents.prior[d] + documents.counts[0, d]
                theta[d] += weights / (sweeps * weights.sum())

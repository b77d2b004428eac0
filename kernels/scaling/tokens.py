"""Tokens of a scaling process: one Gibbs pass, in time that grows with the counts of a word.

Topic k weighs ``c_k (n_kw + eta)`` for a token of word w in document d, with the coefficient

    c_k = (n_dk + alpha root_k) s_dk / (1 + u_d s_dk) / (n_k + V eta),

counts without the token. Every document has scales and a u of its own, so that the coefficients are
weighed anew where a document begins.
"""

from ..toolbox.dirichlet import list_token, unlist_token
from ..toolbox.jit import borrowing_kernel, kernel
from ..toolbox.lists import entry_at, weigh_listed
from ..toolbox.sides import enter_document, join_document
from ..toolbox.token_pass import find_in_smooth_part, settled


@borrowing_kernel
def weigh(tokens, documents, topics, scratch, d, k, mass):
    """Bring the coefficient of topic `k` up to date; return `mass`, the sum of all, with this change."""
    scale = documents.scale[tokens.group[d], k]
    in_document = (documents.prior[0, k] + scratch.doc_count[k]) * scale / (1.0 + documents.u[d] * scale)
    without = mass - scratch.coefficient[k]
    scratch.coefficient[k] = in_document / (topics.total[k] + topics.n_listed.size * topics.eta[0])
    return settled(without + scratch.coefficient[k], mass, scratch.coefficient, topics.n_topics[0])


@borrowing_kernel
def draw_topic(rng, topics, scratch, word, n_doc_topics, mass):
    """Draw the topic of a token of `word` that is not counted, by one uniform variate."""
    start, length, eta = topics.word_ptr[word], topics.n_listed[word], topics.eta[0]
    word_mass = weigh_listed(
        topics.listed_topic, topics.listed_count, start, length, scratch.coefficient, scratch.weights
    )
    u = rng.random() * (word_mass + eta * mass)
    if u < word_mass:
        return topics.listed_topic[start + entry_at(scratch.weights, u)]
    return find_in_smooth_part(
        (u - word_mass) / eta,
        scratch.coefficient,
        scratch.doc_topics,
        n_doc_topics,
        scratch.is_doc_topic,
        topics.n_topics[0],
    )


@borrowing_kernel
def move_token(rng, tokens, documents, topics, scratch, d, i, n_doc_topics, mass):
    """Draw the topic of token `i` anew; return the number of topics noted for the document, and the mass."""
    word, old = tokens.words[i], tokens.topic[i]
    if old >= 0:
        unlist_token(topics, word, old)
        scratch.doc_count[old] -= 1
        mass = weigh(tokens, documents, topics, scratch, d, old, mass)
    new = draw_topic(rng, topics, scratch, word, n_doc_topics, mass)
    tokens.topic[i] = new
    list_token(topics, word, new)
    scratch.doc_count[new] += 1
    mass = weigh(tokens, documents, topics, scratch, d, new, mass)
    return join_document(scratch, new, n_doc_topics), mass


@kernel
def token_pass(rng, tokens, documents, topics, scratch):
    """Draw the topic of every token anew. Mutates all arguments but `documents`."""
    for d in range(tokens.group.size):
        n_doc_topics = enter_document(tokens, scratch, d)
        for j in range(n_doc_topics):
            scratch.is_doc_topic[scratch.doc_topics[j]] = True
        mass = 0.0
        for k in range(topics.n_topics[0]):
            scratch.coefficient[k] = 0.0
            mass = weigh(tokens, documents, topics, scratch, d, k, mass)
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            n_doc_topics, mass = move_token(rng, tokens, documents, topics, scratch, d, i, n_doc_topics, mass)
        for j in range(n_doc_topics):
            scratch.doc_count[scratch.doc_topics[j]] = 0
            scratch.is_doc_topic[scratch.doc_topics[j]] = False

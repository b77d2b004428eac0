"""Sweeps over tokens whose topics their document's responses depend on; any topic side.

With the factor ``L_k``, the likelihood of a document's responses if token i has topic k, the weights are

    (prior_k + n_dk) p(w | k) L_k.

`conditional_step` draws from them, O(K) a token and response. `metropolis_step` proposes a topic without
``L``, in time that grows with the non-zero counts, and takes it back with probability
``1 - min(1, L_new / L_old)``: the same law is left as it is, topics that a proposal opens included, since a
topic without tokens may come and go. Both hold the factor out of the topic side, so that its own steps serve.
"""

import math

from ..toolbox.dirichlet import list_token, unlist_token
from ..toolbox.jit import borrowing_kernel, kernel
from ..toolbox.sides import (
    dense_step,
    enter_document,
    leave_document,
    sparse_step,
    weigh_topic,
)
from ..toolbox.sweeps import finish_sweep
from ..toolbox.token_pass import RECOUNT_AFTER, block_end, has_room
from .dirichlet import borrowed, tilted
from .documents import add_token, enter_responses, has_responses, log_responses


@borrowing_kernel
def put_back(tokens, documents, topics, scratch, d, i, old, mass):
    """Give a token its topic `old` again, after `sparse_step` of Dirichlet topics; return the mass."""
    new, w = tokens.topic[i], tokens.words[i]
    unlist_token(topics, w, new)
    list_token(topics, w, old)
    scratch.doc_count[new] -= 1
    scratch.doc_count[old] += 1
    tokens.topic[i] = old
    mass = weigh_topic(tokens, documents, topics, scratch, d, new, mass)
    return weigh_topic(tokens, documents, topics, scratch, d, old, mass)


@borrowing_kernel
def metropolis_step(rng, tokens, documents, topics, scratch, d, i, n_doc_topics, mass, log_p):
    """Move token `i` of document `d`, whose responses have log likelihood `log_p`.

    Returns the number of topics in ``scratch.doc_topics``, the sum of all coefficients, and the log
    likelihood of the responses.
    """
    old = tokens.topic[i]
    n_doc_topics, mass = sparse_step(rng, tokens, documents, topics, scratch, d, i, n_doc_topics, mass)
    new = tokens.topic[i]
    if new == old:
        return n_doc_topics, mass, log_p
    share = 1.0 / (tokens.doc_ptr[d + 1] - tokens.doc_ptr[d])
    responses = documents.responses
    predictor, proposed, coefficient = responses.predictor, responses.proposed, responses.coefficient
    add_token(proposed, predictor, coefficient, new, share)
    add_token(proposed, proposed, coefficient, old, -share)
    log_q = log_responses(responses, d, proposed)
    if old >= 0 and log_q < log_p and rng.random() >= math.exp(log_q - log_p):
        return n_doc_topics, put_back(tokens, documents, topics, scratch, d, i, old, mass), log_p
    for p in range(predictor.size):
        predictor[p] = proposed[p]
    return n_doc_topics, mass, log_q


@borrowing_kernel
def metropolis_block(rng, tokens, documents, topics, scratch, first, end):
    """Move the tokens of documents `first` to `end`; see `sparse_block` of the toolbox."""
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
        if has_responses(documents.responses, d):
            enter_responses(tokens, documents.responses, scratch, d, n_doc_topics)
            log_p = log_responses(documents.responses, d, documents.responses.predictor)
            for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
                n_doc_topics, mass, log_p = metropolis_step(
                    rng, tokens, documents, topics, scratch, d, i, n_doc_topics, mass, log_p
                )
        else:
            for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
                n_doc_topics, mass = sparse_step(
                    rng, tokens, documents, topics, scratch, d, i, n_doc_topics, mass
                )
        for j in range(n_doc_topics):
            k = scratch.doc_topics[j]
            scratch.doc_count[k] = 0
            scratch.is_doc_topic[k] = False
            mass = weigh_topic(tokens, documents, topics, scratch, d, k, mass)


@borrowing_kernel
def metropolis_pass(rng, tokens, documents, topics, scratch):
    """Move all tokens by `metropolis_step`; see `sparse_pass` of the toolbox."""
    d = scratch.next_document[0]
    while d < tokens.group.size:
        end = block_end(tokens, topics, d, max(RECOUNT_AFTER, topics.n_topics[0]))
        if not has_room(tokens, documents, topics.n_topics[0], d, end):
            scratch.next_document[0] = d
            return False
        metropolis_block(rng, tokens, documents, topics, scratch, d, end)
        d = end
    scratch.next_document[0] = 0
    return True


@kernel
def metropolis_sweep(rng, state):
    """One sweep by `metropolis_step`, over Dirichlet topics; False if it stopped for want of room.

    Mutates `state`.
    """
    tokens, documents, topics, scratch = state
    through = metropolis_pass(rng, tokens, documents, topics, scratch)
    if through:
        finish_sweep(rng, tokens, documents, topics, scratch)
    return through


@borrowing_kernel
def conditional_step(rng, tokens, documents, topics, scratch, d, i):
    """Draw the topic of token `i` of document `d` given all else.

    The prior that the topic side's step is given, ``(prior_k + n) L_k - n``, n without the token, makes its
    weights those with the factor; L is scaled such that its largest value is 1.
    """
    old, share = tokens.topic[i], 1.0 / (tokens.doc_ptr[d + 1] - tokens.doc_ptr[d])
    responses = documents.responses
    predictor, proposed, coefficient = responses.predictor, responses.proposed, responses.coefficient
    log_weight, n_topics = documents.log_weight, documents.log_weight.size
    add_token(predictor, predictor, coefficient, old, -share)
    high = -math.inf
    for k in range(n_topics):
        add_token(proposed, predictor, coefficient, k, share)
        log_weight[k] = log_responses(responses, d, proposed)
        high = max(high, log_weight[k])
    for k in range(n_topics):
        others = scratch.doc_count[k] - (1 if k == old else 0)
        weight = (documents.prior[0, k] + others) * math.exp(log_weight[k] - high)
        documents.tilted_prior[0, k] = weight - others
    dense_step(rng, tokens, tilted(documents), topics, scratch, d, i)
    add_token(predictor, predictor, coefficient, tokens.topic[i], share)


@borrowing_kernel
def conditional_pass(rng, tokens, documents, topics, scratch):
    """Move all tokens by `conditional_step`."""
    for d in range(tokens.group.size):
        n_doc_topics = enter_document(tokens, scratch, d)
        responds = has_responses(documents.responses, d)
        if responds:
            enter_responses(tokens, documents.responses, scratch, d, n_doc_topics)
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            if responds:
                conditional_step(rng, tokens, documents, topics, scratch, d, i)
            else:
                dense_step(rng, tokens, borrowed(documents), topics, scratch, d, i)
        leave_document(tokens, scratch, d)


@kernel
def conditional_sweep(rng, state):
    """One sweep by `conditional_step`. Mutates `state`; returns True."""
    tokens, documents, topics, scratch = state
    conditional_pass(rng, tokens, documents, topics, scratch)
    finish_sweep(rng, tokens, documents, topics, scratch)
    return True

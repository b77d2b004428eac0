"""Algorithm 1 of Faisal et al. (2013) for the sparse transfer topic model. Not exact: for comparison.

Read as follows, where the text leaves a choice. Tokens are drawn with the weights of equations A.11 to A.14;
a task that takes a topic up, and a new topic, get a weight from equation 9 with one token. After the tokens
of a task, each topic is gone through: where the task has no token in it, b and psi are drawn in turn from
equation 8, at the weight that is there or at a fresh one; the stick is drawn from equation 6, and is
Beta(1, C) for a new topic; weights follow equation 9 with the tokens of the whole task; gamma follows
equation 10 with the prior of the weights. Topics without tokens are dropped. All models of the lengths are
treated alike.
"""

import math

import numpy as np

from ..toolbox.jit import kernel
from ..toolbox.random import categorical, log_beta_variate, log_gamma_variate, slice_sample
from ..toolbox.sides import move_topics
from .masks import draw_sticks, turn_off_everywhere
from .state import (
    draw_shape,
    free_slot,
    has_slots,
    is_on,
    renumber,
    set_off,
    set_on,
    set_weight,
)
from .tokens import count_document, look_at_topics, put_in, take_out, times_word
from .weights import LogTaskWeight, update_alpha, update_shapes

LOG2 = math.log(2.0)


@kernel
def expand(state, c, d_count):
    """Weigh the topics of a token, into the scores: first-order expansion about means (A.11 to A.14)."""
    scores, masks, prior = state.scratch.scores, state.masks, state.prior
    n_topics = state.topics.n_topics[0]
    expected_new = prior.alpha[0] * prior.epsilon * prior.a1 * prior.a2
    everything = d_count + expected_new
    for k in range(n_topics):
        scores[k] = 0.0
        if masks.count[c, k] > 0:
            scores[k] = state.scratch.doc_count[k] + masks.weight[c, k]
            everything += masks.weight[c, k]
        elif state.topics.total[k] > 0:
            scores[k] = masks.stick[k] * masks.shape[k]
            everything += scores[k]
    for k in range(n_topics):
        if masks.count[c, k] > 0:
            scores[k] /= everything
        elif scores[k] > 0.0:
            scores[k] /= everything - scores[k] + masks.shape[k]
    return expected_new / everything


@kernel
def published_pass(rng, state, c, documents):
    """Draw the topics of the tokens of task `c`; returns False, before it starts, for want of room."""
    tokens, masks, topics, prior = state.tokens, state.masks, state.topics, state.prior
    unseen, doc_count, scores = state.scratch.unseen, state.scratch.doc_count, state.scratch.scores
    if not has_slots(state, state.lengths.n_tokens[c] + 1):
        return False
    n_tasks = masks.weight.shape[0]
    look_at_topics(topics, unseen)
    for d in documents:
        length = tokens.doc_ptr[d + 1] - tokens.doc_ptr[d]
        count_document(state, d, 1)
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            w = tokens.words[i]
            old = take_out(tokens, topics, unseen, masks.count, doc_count, c, i)
            if old >= 0 and topics.total[old] == 0:
                turn_off_everywhere(masks, old)
            n_topics = topics.n_topics[0]
            new_score = expand(state, c, float(length - 1))
            times_word(topics, unseen, w, scores)
            scores[n_topics] = new_score / topics.n_listed.size
            new = categorical(rng, scores, n_topics + 1)
            if new == n_topics:
                new = free_slot(state)
                masks.shape[new] = draw_shape(rng, prior)
                masks.stick[new] = prior.epsilon * math.exp(log_beta_variate(rng, 1.0, float(n_tasks))[0])
            if masks.count[c, new] == 0:
                if is_on(masks, c, new):
                    set_off(masks, c, new)
                log_weight = log_gamma_variate(rng, masks.shape[new] + 1.0) - math.log1p(LOG2)
                set_on(masks, c, new, log_weight)
            put_in(tokens, topics, unseen, masks.count, doc_count, c, i, new)
        count_document(state, d, -1)
    return True


@kernel
def reinstate(rng, weight, on, stick, epsilon):
    """Draw b, then psi, from equation 8 for a pair without tokens; returns both."""
    psi = on
    if not on:  # of (b, psi) = (0, 0), (0, 1), (1, 0), given that not both are on
        psi = rng.random() * (1.0 - stick * epsilon) < epsilon * (1.0 - stick)
    scale = 2.0 ** min(weight, 1000.0)
    b = rng.random() < (stick / (stick + scale * (1.0 - stick)) if psi else stick)
    psi = rng.random() < (epsilon / (epsilon + scale * (1.0 - epsilon)) if b else epsilon)
    return b, psi


@kernel
def update_topic(rng, state, c, k, no_terms):
    """Draw b, psi and weight of topic `k` in task `c`, then the topic's stick."""
    masks, prior = state.masks, state.prior
    n_tasks = masks.weight.shape[0]
    epsilon = prior.epsilon
    stick = masks.stick[k] / epsilon
    taken = stick * (1.0 - epsilon) / (1.0 - epsilon * stick)  # b, given that not both are on
    n_taken = 0
    for other in range(n_tasks):
        if is_on(masks, other, k) or (other != c and rng.random() < taken):
            n_taken += 1
    on = is_on(masks, c, k)
    if masks.count[c, k] == 0:
        log_weight = masks.log_weight[c, k] if on else log_gamma_variate(rng, masks.shape[k])
        b, psi = reinstate(rng, math.exp(log_weight), on, stick, epsilon)
        n_taken += (1 if b else 0) - (1 if on else 0)
        if on and not (b and psi):
            set_off(masks, c, k)
        elif b and psi and not on:
            set_on(masks, c, k, log_weight)
    masks.stick[k] = epsilon * math.exp(log_beta_variate(rng, float(n_taken), 1.0 + n_tasks - n_taken)[0])
    if is_on(masks, c, k):
        size = np.full(1, float(masks.count[c, k]))
        target = LogTaskWeight(masks.shape[k], size, np.ones(1), -math.inf, LOG2, no_terms, no_terms)
        set_weight(masks, c, k, slice_sample(rng, target, masks.log_weight[c, k], 1.0))


@kernel
def published_sweep(rng, state):
    """One sweep of Algorithm 1; False if it stopped for want of room. Mutates `state`."""
    progress, lengths, topics = state.scratch.progress, state.lengths, state.topics
    no_terms = np.zeros(0)
    if progress[0] == 0 and topics.n_topics[0] > 0 and state.masks.stick[0] == 0.0:
        draw_sticks(rng, state)  # where a chain starts
    for c in range(progress[0], state.masks.weight.shape[0]):
        documents = lengths.doc_order[lengths.doc_ptr[c] : lengths.doc_ptr[c + 1]]
        if not published_pass(rng, state, c, documents):
            progress[0] = c
            return False
        for k in range(topics.n_topics[0]):
            if topics.total[k] > 0:
                update_topic(rng, state, c, k, no_terms)
            elif state.masks.n_on[k] > 0:
                turn_off_everywhere(state.masks, k)
    progress[0] = 0
    update_shapes(rng, state)
    update_alpha(rng, state)
    renumber(state)
    move_topics(rng, topics)
    return True

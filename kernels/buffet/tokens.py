"""Token steps of the sparse transfer topic model: given masks, with the mask, without empty masks."""

import math

from ..toolbox.dirichlet import list_token, unlist_token
from ..toolbox.jit import borrowing_kernel, kernel
from ..toolbox.random import categorical, log_gamma_variate
from .state import (
    at_least,
    free_slot,
    has_slots,
    is_exponential,
    is_on,
    log_h,
    mass_without,
    set_off,
    set_on,
    tilt,
)


@borrowing_kernel
def of_unseen(topics, k):
    """Probability, under topic `k`, of a word that it has no token of."""
    eta = topics.eta[0]
    return eta / (topics.total[k] + topics.n_listed.size * eta)


@borrowing_kernel
def look_at_topics(topics, unseen):
    """Fill in `unseen`, which `take_out` and `put_in` then keep."""
    for k in range(topics.n_topics[0]):
        unseen[k] = of_unseen(topics, k)


@borrowing_kernel
def times_word(topics, unseen, w, scores):
    """Multiply the leading `scores` by the probability of word `w` under each topic, in place."""
    eta = topics.eta[0]
    listed = slice(topics.word_ptr[w], topics.word_ptr[w] + topics.n_listed[w])
    for k in range(topics.n_topics[0]):
        scores[k] *= unseen[k]
    topic, count = topics.listed_topic[listed], topics.listed_count[listed]
    for j in range(topic.size):
        scores[topic[j]] *= (count[j] + eta) / eta


@borrowing_kernel
def take_out(tokens, topics, unseen, count, doc_count, c, i):
    """Take token `i` of task `c` out of all counts; return its topic."""
    k = tokens.topic[i]
    if k >= 0:
        unlist_token(topics, tokens.words[i], k)
        unseen[k] = of_unseen(topics, k)
        doc_count[k] -= 1
        count[c, k] -= 1
    return k


@borrowing_kernel
def put_in(tokens, topics, unseen, count, doc_count, c, i, k):
    """Count token `i` of task `c` in topic `k`."""
    tokens.topic[i] = k
    list_token(topics, tokens.words[i], k)
    unseen[k] = of_unseen(topics, k)
    doc_count[k] += 1
    count[c, k] += 1


@borrowing_kernel
def count_document(state, d, step):
    """Add `step` to the document's count of each of its tokens' topics."""
    for i in range(state.tokens.doc_ptr[d], state.tokens.doc_ptr[d + 1]):
        if state.tokens.topic[i] >= 0:
            state.scratch.doc_count[state.tokens.topic[i]] += step


@borrowing_kernel
def given_masks(rng, topics, unseen, weight, doc_count, scores, c, w):
    """Draw the topic of a token of word `w` among those that task `c` has on."""
    n_topics = topics.n_topics[0]
    for k in range(n_topics):
        scores[k] = doc_count[k] + weight[c, k]
    times_word(topics, unseen, w, scores)
    return categorical(rng, scores, n_topics)


@borrowing_kernel
def look_at_task(state, c):
    """Bring up to date what `with_mask` needs to know of task `c` but its tokens.

    A topic that is off may be turned on, with a token and a weight that the token pulls from Gamma(shape) to
    Gamma(shape + 1); h is taken for exp(-rate S). A ghost of the task is not open to the token: the way back
    would turn it off.
    """
    masks, scratch, prior = state.masks, state.scratch, state.prior
    scratch.version[c] = masks.version[0]
    n_topics = state.topics.n_topics[0]
    scratch.mass[c] = mass_without(masks, c, -1, n_topics)
    scratch.rate[c] = tilt(state.lengths, c, scratch.mass[c])
    log_scale = math.log1p(scratch.rate[c])
    for k in range(n_topics):
        scratch.closed[c, k] = 0.0
        if masks.n_on[k] > 0 and not is_on(masks, c, k):
            shape = masks.shape[k]
            log_weight = prior.log_join[masks.n_on[k]] - (shape + 1.0) * log_scale
            scratch.closed[c, k] = shape * math.exp(log_weight)
    spread = math.log1p(prior.a2 * log_scale)
    log_new = prior.log_reach[1] - (prior.a1 + 1.0) * spread - log_scale
    scratch.opening[c] = prior.a1 * prior.a2 * math.exp(log_new)


@borrowing_kernel
def weigh_all(topics, masks, scratch, alpha, c, w):
    """Weigh, into the scores, topics with tokens of task `c`, those that are off there, then a new one."""
    count, weight, closed, doc_count = masks.count, masks.weight, scratch.closed, scratch.doc_count
    scores, n_topics = scratch.scores, topics.n_topics[0]
    for k in range(n_topics):
        scores[k] = doc_count[k] + weight[c, k] if count[c, k] > 0 else closed[c, k]
    times_word(topics, scratch.unseen, w, scores)
    scores[n_topics] = alpha * scratch.opening[c] / topics.n_listed.size


@borrowing_kernel
def with_mask(rng, state, c, w, old):
    """Draw the topic of a token together with its mask and weight; return the topic.

    The token has been taken out of `old`. If that leaves the task without tokens in it, its mask is off
    before the draw, and with the last mask the topic goes. The proposal would be the conditional if h were an
    exponential; a Metropolis-Hastings step makes up for the difference.
    """
    masks, lengths, prior = state.masks, state.lengths, state.prior
    n_topics = state.topics.n_topics[0]
    log_weight = -math.inf
    if old >= 0 and masks.count[c, old] == 0:
        log_weight = masks.log_weight[c, old]
        set_off(masks, c, old)
    if state.scratch.version[c] != masks.version[0]:
        look_at_task(state, c)
    mass, rate = state.scratch.mass[c], state.scratch.rate[c]
    weigh_all(state.topics, masks, state.scratch, prior.alpha[0], c, w)
    new = categorical(rng, state.scratch.scores, n_topics + 1)
    shape = 0.0
    log_proposed = -math.inf
    if new == n_topics:
        shape = rng.standard_gamma(prior.a1 + 1.0) / (1.0 / prior.a2 + math.log1p(rate))
        log_proposed = log_gamma_variate(rng, shape + 1.0) - math.log1p(rate)
    elif not is_on(masks, c, new):
        log_proposed = log_gamma_variate(rng, masks.shape[new] + 1.0) - math.log1p(rate)
    stays_open = log_weight == log_proposed == -math.inf
    if old >= 0 and not stays_open and not is_exponential(lengths, c):
        weight = 0.0 if log_weight == -math.inf else at_least(log_weight)
        proposed = 0.0 if log_proposed == -math.inf else at_least(log_proposed)
        log_ratio = rate * (proposed - weight)
        log_ratio += log_h(lengths, c, mass + proposed) - log_h(lengths, c, mass + weight)
        if log_ratio < -rng.standard_exponential():
            if log_weight > -math.inf:
                set_on(masks, c, old, log_weight)
            return old
    if new == n_topics:
        new = free_slot(state)
        masks.shape[new] = shape
    if log_proposed > -math.inf:
        set_on(masks, c, new, log_proposed)
    return new


@kernel
def pass_with_masks(rng, state, open_topics):
    """Draw every token's topic, by one of two steps that each leave the posterior as it is.

    Which one is a fair coin, and always the second while a token has no topic; without `open_topics` always
    the first. Returns False if it stopped for want of room.
    """
    tokens, topics, progress = state.tokens, state.topics, state.scratch.progress
    # Local names keep numba from counting references to all arrays of the state at every token.
    count, weight = state.masks.count, state.masks.weight
    unseen, doc_count, scores = state.scratch.unseen, state.scratch.doc_count, state.scratch.scores
    look_at_topics(topics, unseen)
    state.masks.version[0] += 1  # weights and shapes have changed since the last sweep
    for d in range(progress[1], tokens.group.size):
        if not has_slots(state, tokens.doc_ptr[d + 1] - tokens.doc_ptr[d] + 1):
            progress[1] = d
            return False
        c = tokens.group[d]
        count_document(state, d, 1)
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            w = tokens.words[i]
            old = take_out(tokens, topics, unseen, count, doc_count, c, i)
            coin = rng.integers(0, 2) if open_topics else 0
            if coin == 0 and old >= 0:
                new = given_masks(rng, topics, unseen, weight, doc_count, scores, c, w)
            else:
                new = with_mask(rng, state, c, w, old)
            put_in(tokens, topics, unseen, count, doc_count, c, i, new)
        count_document(state, d, -1)
    progress[1] = tokens.group.size
    return True


@borrowing_kernel
def weigh_closed(state, k):
    """Weigh topic `k` for each task without tokens in it, given its stick, mask and weight integrated out."""
    masks = state.masks
    shape, stick = masks.shape[k], masks.stick[k] if masks.n_on[k] > 0 else 0.0
    for c in range(masks.weight.shape[0]):
        rate = state.lengths.rate[c]
        passed_over = math.exp(-shape * math.log1p(rate))
        on = stick * passed_over
        state.scratch.closed[c, k] = shape * on / ((1.0 + rate) * (1.0 - stick + on))


@borrowing_kernel
def draw_opening(rng, state, c):
    """Make a topic that a token of task `c` chose, given that no other task has tokens in it."""
    prior, masks, rates = state.prior, state.masks, state.lengths.rate
    while True:
        shape = rng.standard_gamma(prior.a1 + 1.0) / (1.0 / prior.a2 + math.log1p(rates[c]))
        stick = prior.epsilon * rng.random()
        accept = 1.0
        for other in range(rates.size):
            if other != c:
                accept *= 1.0 - stick + stick * math.exp(-shape * math.log1p(rates[other]))
        if rng.random() < accept:
            break
    k = free_slot(state)
    masks.shape[k], masks.stick[k] = shape, stick
    return k


@kernel
def pass_without_empty(rng, state):
    """Draw every token's topic where only pairs of task and topic with tokens are represented, and sticks.

    For tasks whose h is an exponential. Returns False if it stopped for want of room.
    """
    tokens, topics, masks, scratch = state.tokens, state.topics, state.masks, state.scratch
    count, doc_count, progress = masks.count, scratch.doc_count, scratch.progress
    unseen = scratch.unseen
    look_at_topics(topics, unseen)
    alpha = state.prior.alpha[0]
    for d in range(progress[1], tokens.group.size):
        if not has_slots(state, tokens.doc_ptr[d + 1] - tokens.doc_ptr[d] + 1):
            progress[1] = d
            return False
        c = tokens.group[d]
        log_scale = math.log1p(state.lengths.rate[c])
        count_document(state, d, 1)
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            w = tokens.words[i]
            old = take_out(tokens, topics, unseen, count, doc_count, c, i)
            if old >= 0 and masks.count[c, old] == 0:
                set_off(masks, c, old)
                if masks.n_on[old] == 0:
                    weigh_closed(state, old)
            n_topics = topics.n_topics[0]
            weigh_all(topics, masks, scratch, alpha, c, w)
            new = categorical(rng, scratch.scores, n_topics + 1)
            is_new = new == n_topics
            if is_new:
                new = draw_opening(rng, state, c)
            if masks.count[c, new] == 0:
                set_on(masks, c, new, log_gamma_variate(rng, masks.shape[new] + 1.0) - log_scale)
            if is_new:
                weigh_closed(state, new)
            put_in(tokens, topics, unseen, count, doc_count, c, i, new)
        count_document(state, d, -1)
    progress[1] = tokens.group.size
    return True

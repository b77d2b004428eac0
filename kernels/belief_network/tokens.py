"""Steps of a token whose topics have Dirichlet parameters psi of their own, integrated out.

Topic k weighs ``c_k (n_kw + psi_kw)`` for a token of word w, with the coefficient

    c_k = (prior_k + n_dk) / (n_k + psi_k)

where n and psi without a word are sums over words. Where documents can open topics, one without tokens has
no links (`births`): its psi are the probabilities of first words, and a topic that is not represented weighs
rest times that of w.

The counts are sparse, as they are under a symmetric Dirichlet. The sum of ``c_k psi_kw`` over all topics is
not a multiple of what is known from other words, and is computed at each token: it reads one row of psi,
little work beside that with counts unless there are hundreds of topics. So the draw is exact, and takes one
uniform variate.
"""

from ..toolbox.dirichlet import borrowed, counted, list_token, unlist_token
from ..toolbox.jit import borrowing_kernel
from ..toolbox.lists import entry_at, find_entry, move_in_list, weigh_others
from ..toolbox.random import categorical_or
from ..toolbox.sides import (
    dense_step,
    finish_pass,
    join_document,
    open_topic,
    same_words,
    sparse_step,
    topic_sizes,
    weigh_topic,
)
from .births import draw_if_first, forget_links, is_last, weigh_unlinked
from .layers import find_in_mixture
from .state import BeliefTopics


@same_words.implement(BeliefTopics)
def _same_words(topics, d, other):
    return True


@topic_sizes.implement(BeliefTopics)
def _topic_sizes(topics):
    return topic_sizes(counted(topics))


@finish_pass.implement(BeliefTopics)
def _finish_pass(rng, topics):
    pass


@dense_step.implement(BeliefTopics)
def _dense_step(rng, tokens, documents, topics, scratch, d, i):
    w, g, old = tokens.words[i], tokens.group[d], tokens.topic[i]
    doc_count, weights, n_topics = scratch.doc_count, scratch.weights, topics.n_topics[0]
    counts = borrowed(topics)
    was_last = old >= 0 and is_last(topics, old)
    if was_last:
        weigh_unlinked(topics, w, old)
    if old >= 0:
        unlist_token(counts, w, old)
        doc_count[old] -= 1
    for k in range(n_topics):
        weights[k] = topics.psi[w, k]
    for j in range(topics.word_ptr[w], topics.word_ptr[w] + topics.n_listed[w]):
        weights[topics.listed_topic[j]] += topics.listed_count[j]
    for k in range(n_topics):
        in_document = documents.prior[g, k] + doc_count[k]
        weights[k] *= in_document / (topics.total[k] + topics.psi_total[k])
    weights[n_topics] = documents.rest[g] * topics.births.first_word[w]
    new = categorical_or(rng, weights, n_topics + 1, max(0, old))  # none may be added where all underflow
    if new == n_topics:
        topics.n_topics[0] += 1
        open_topic(rng, documents, new, g)
    if was_last and new != old:
        forget_links(topics, old)
    tokens.topic[i] = new
    list_token(counts, w, new)
    draw_if_first(rng, topics, w, new)
    doc_count[new] += 1


@weigh_topic.implement(BeliefTopics)
def _weigh_topic(tokens, documents, topics, scratch, d, k, mass):
    in_document = documents.prior[tokens.group[d], k] + scratch.doc_count[k]
    scratch.coefficient[k] = in_document / (topics.total[k] + topics.psi_total[k])
    return mass  # which differs from word to word, and is not kept


@borrowing_kernel
def smooth_mass(coefficient, psi, w, n_topics):
    """Sum of ``coefficient[k] psi[w, k]``, in four sums that do not wait for one another."""
    a = b = c = e = 0.0
    whole = n_topics - n_topics % 4
    for k in range(0, whole, 4):
        a += coefficient[k] * psi[w, k]
        b += coefficient[k + 1] * psi[w, k + 1]
        c += coefficient[k + 2] * psi[w, k + 2]
        e += coefficient[k + 3] * psi[w, k + 3]
    for k in range(whole, n_topics):
        a += coefficient[k] * psi[w, k]
    return (a + b) + (c + e)


@sparse_step.implement(BeliefTopics)
def _sparse_step(rng, tokens, documents, topics, scratch, d, i, n_doc_topics, mass):
    total, doc_count, coefficient = topics.total, scratch.doc_count, scratch.coefficient
    listed_topic, listed_count, running = topics.listed_topic, topics.listed_count, scratch.weights
    psi, psi_total, n_topics = topics.psi, topics.psi_total, topics.n_topics[0]
    w, g, old = tokens.words[i], tokens.group[d], tokens.topic[i]
    prior, unknown = documents.prior[g], documents.rest[g] * topics.births.first_word[w]
    start, length = topics.word_ptr[w], topics.n_listed[w]

    kept, was_last = 0.0, old >= 0 and is_last(topics, old)
    if was_last:
        weigh_unlinked(topics, w, old)
    if old >= 0:  # take the token out of its topic's coefficient
        kept = coefficient[old]
        coefficient[old] = (prior[old] + (doc_count[old] - 1)) / (total[old] - 1 + psi_total[old])

    old_entry = find_entry(listed_topic, start, length, old)
    word_mass = weigh_others(listed_topic, listed_count, start, length, old_entry, coefficient, running)
    smooth = smooth_mass(coefficient, psi, w, n_topics)
    u = rng.random() * (word_mass + smooth + unknown)
    if u < word_mass:
        new_entry = entry_at(running, u)
        new = int(listed_topic[start + new_entry])
    else:
        u -= word_mass
        if u < smooth or unknown == 0.0:
            new = find_in_mixture(u, coefficient, psi, w, n_topics)
        else:
            new = n_topics
            topics.n_topics[0] += 1
            open_topic(rng, documents, new, g)
        new_entry = find_entry(listed_topic, start, length, new)

    if new == old and not was_last:
        coefficient[old] = kept
        return n_doc_topics, mass
    if new != old:
        tokens.topic[i] = new
        topics.n_listed[w] = move_in_list(
            listed_topic, listed_count, start, length, old_entry, new_entry, new
        )
        if was_last:
            forget_links(topics, old)
        if old >= 0:
            total[old] -= 1
            doc_count[old] -= 1
        total[new] += 1
        doc_count[new] += 1
    draw_if_first(rng, topics, w, new)
    coefficient[new] = (prior[new] + doc_count[new]) / (total[new] + psi_total[new])
    return join_document(scratch, new, n_doc_topics), mass

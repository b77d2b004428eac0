"""How a token steps under Pitman-Yor topics: topic, table or none, and what the table sends for.

Given the topics of all others, with m customers of the token's word at t tables in restaurant (g, k),

    joins a table   (prior_k + n_dk) / (b + M)             S^{m+1}_t / S^m_t          stays(m, t)
    opens a table   (prior_k + n_dk) (b + a T) / (b + M)   S^{m+1}_{t+1} / S^m_t  h   opens(m, t),

h = sum_v p_wv (eta + q_kv) / (V eta + Q_k) (`seats` has the last factors); a topic that is not represented yet
weighs rest h, where h = sum_v p_wv / V whatever its b. `sparse_step` draws in parts. With the coefficient
``c_k = (prior_k + n_dk) (b + a T) / ((b + M) (V eta + Q_k))`` a topic without customers of the word weighs
the sum of

    c_k sum_v p_wv q_kv     if tables of the topic sent for a source of the word
    c_k eta sum_v p_wv      for any topic, those of the document first; rarely visited

and those with customers, of which each word has a short list, are weighed in full.
"""

from ..toolbox.jit import borrowing_kernel, chosen_by_type
from ..toolbox.sides import (
    join_document,
    open_both,
    put_in,
    same_words,
    sparse_step,
    take_out,
    weigh_outcomes,
    weigh_topic,
)
from ..toolbox.token_pass import find_in_smooth_part
from .seats import seat_weights, takes_head
from .state import (
    Associations,
    PitmanYorTopics,
    SameWord,
    count_order,
    discount_order,
    draw_order,
    drop_order,
    find_entry,
    keep_order,
    row_sum,
    seat,
    source,
    sources,
    unseat,
)

JOINS, OPENS = 0, 1
"""The ways in which a token has a topic."""


@same_words.implement(PitmanYorTopics)
def _same_words(topics, d, other):
    return topics.group[d] == topics.group[other]


@chosen_by_type(0)
def base_probabilities(orders, restaurants, group, cell, n_topics, out):
    """Fill ``out[:n_topics]`` with h, the probability of the cell's word under the base of each topic."""


@chosen_by_type(1)
def order(rng, orders, restaurants, group, cell, topic):
    """Draw the word that a new table sends for, count it at the base and remember it."""


@chosen_by_type(1)
def cancel(rng, orders, restaurants, group, cell, topic, n_tables):
    """Forget the order of one of the `n_tables` tables of `topic` in the cell, at random."""


@base_probabilities.implement(SameWord)
@base_probabilities.implement(Associations)
def _base_probabilities(orders, restaurants, group, cell, n_topics, out):
    base, capacity, n_words = restaurants.base, restaurants.b.size, restaurants.n_words[0]
    b, eta = restaurants.base_of_group[group], restaurants.base.eta[0]
    for k in range(n_topics):
        out[k] = eta * row_sum(orders, cell)
    start, end = sources(orders, n_words, cell)
    for place in range(start, end):
        v, p = source(orders, place)
        first = base.word_ptr[b * n_words + v]
        for j in range(first, first + base.n_listed[b * n_words + v]):
            out[base.listed_topic[j] - b * capacity] += p * base.listed_count[j]
    for k in range(n_topics):
        out[k] /= n_words * eta + base.total[b * capacity + k]


@order.implement(SameWord)
@order.implement(Associations)
def _order(rng, orders, restaurants, group, cell, topic):
    v = draw_order(rng, orders, restaurants, group, cell, topic)
    count_order(restaurants, group, topic, v)
    keep_order(orders, restaurants, cell, topic, v)


@cancel.implement(SameWord)
@cancel.implement(Associations)
def _cancel(rng, orders, restaurants, group, cell, topic, n_tables):
    v = drop_order(rng, orders, restaurants, cell, topic, n_tables)
    discount_order(restaurants, group, topic, v)


@borrowing_kernel
def cell_of(state, d, i):
    """Cell ``g V + w`` of token `i` of document `d`."""
    topics = state.topics
    return topics.group[d] * topics.restaurants.n_words[0] + state.tokens.words[i]


@take_out.implement(PitmanYorTopics)
def _take_out(rng, state, d, i):
    # A token that heads the only table of several stays: whatever else it could do has probability zero, as
    # rho is not (Chen, Du and Buntine 2011).
    topics = state.topics
    restaurants = topics.restaurants
    group, cell, topic = topics.group[d], cell_of(state, d, i), state.tokens.topic[i]
    place = find_entry(restaurants, cell, topic)
    m, t = restaurants.listed_customers[place], restaurants.listed_tables[place]
    heads = takes_head(rng, topics.scheme, m, t)
    if heads and t == 1 and m > 1:
        return False
    if heads:
        cancel(rng, topics.orders, restaurants, group, cell, topic, t)
    unseat(restaurants, group, cell, place, heads)
    return True


@put_in.implement(PitmanYorTopics)
def _put_in(rng, state, d, i, topic, way):
    topics = state.topics
    group, cell = topics.group[d], cell_of(state, d, i)
    if way == OPENS:
        order(rng, topics.orders, topics.restaurants, group, cell, topic)
    seat(topics.restaurants, group, cell, topic, way == OPENS)


@borrowing_kernel
def topic_weights(restaurants, discount, group, k):
    """``1 / (b + M)`` and ``(b + a T) / (b + M)``, which is 1 in an empty restaurant also where b <= 0."""
    b, n_customers = restaurants.b[k], restaurants.customers[group, k]
    if n_customers == 0:
        return 0.0, 1.0
    return 1.0 / (b + n_customers), (b + discount * restaurants.tables[group, k]) / (b + n_customers)


@weigh_outcomes.implement(PitmanYorTopics)
def _weigh_outcomes(state, d, i):
    documents, topics, scratch = state.documents, state.topics, state.scratch
    restaurants, scheme, orders = topics.restaurants, topics.scheme, topics.orders
    g, group, cell = state.tokens.group[d], topics.group[d], cell_of(state, d, i)
    n_topics = topics.n_topics[0]
    stride = n_topics + 1
    weights, h, in_document = scratch.weights, scratch.coefficient, topics.scratch.joining
    base_probabilities(orders, restaurants, group, cell, n_topics, h)
    for k in range(n_topics):
        _, opens = topic_weights(restaurants, scheme.discount[0], group, k)
        in_document[k] = documents.prior[g, k] + scratch.doc_count[k]
        weights[k] = 0.0
        weights[stride + k] = in_document[k] * opens * h[k]
    weights[n_topics] = 0.0
    weights[stride + n_topics] = documents.rest[g] * row_sum(orders, cell) / restaurants.n_words[0]
    start = restaurants.cell_ptr[cell]
    for j in range(start, start + restaurants.n_listed[cell]):
        k = restaurants.listed_topic[j]
        joins, _ = topic_weights(restaurants, scheme.discount[0], group, k)
        at_table, alone = seat_weights(scheme, restaurants.listed_customers[j], restaurants.listed_tables[j])
        weights[k] = in_document[k] * joins * at_table
        weights[stride + k] *= alone
    return 2 * stride


@weigh_topic.implement(PitmanYorTopics)
def _weigh_topic(state, d, k, mass):
    topics, scratch = state.topics, state.scratch
    restaurants, group = topics.restaurants, topics.group[d]
    joins, opens = topic_weights(restaurants, topics.scheme.discount[0], group, k)
    base = restaurants.base
    at_base = restaurants.base_of_group[group] * restaurants.b.size + k
    in_document = state.documents.prior[state.tokens.group[d], k] + scratch.doc_count[k]
    before = scratch.coefficient[k]
    topics.scratch.joining[k] = in_document * joins
    scratch.coefficient[k] = (
        in_document * opens / (restaurants.n_words[0] * base.eta[0] + base.total[at_base])
    )
    return mass + (scratch.coefficient[k] - before)


@borrowing_kernel
def gather(orders, restaurants, group, cell, sent, touched):
    """Sum p_wv q_kv over v into `sent`, and list the topics where that is not zero; return how many."""
    base, n_words, capacity = restaurants.base, restaurants.n_words[0], restaurants.b.size
    b = restaurants.base_of_group[group]
    n_touched = 0
    start, end = sources(orders, n_words, cell)
    for place in range(start, end):
        v, p = source(orders, place)
        first = base.word_ptr[b * n_words + v]
        for j in range(first, first + base.n_listed[b * n_words + v]):
            k = base.listed_topic[j] - b * capacity
            if sent[k] == 0.0:
                touched[n_touched] = k
                n_touched += 1
            sent[k] += p * base.listed_count[j]
    return n_touched


@borrowing_kernel
def weigh_seats(topics, scratch, cell):
    """Weigh topics with customers of the cell in full, and set their coefficients aside as zeros.

    Returns
    -------
    mass : float
        Of the weights; ``scratch.weights`` has their running sum: for each topic, an occupied table and a
        new one.
    aside : float
        Sum of the coefficients, which ``topics.scratch.kept[:n]`` holds.
    """
    restaurants, own = topics.restaurants, topics.scratch
    floor = restaurants.base.eta[0] * row_sum(topics.orders, cell)
    start = restaurants.cell_ptr[cell]
    mass, aside = 0.0, 0.0
    for j in range(restaurants.n_listed[cell]):
        k = restaurants.listed_topic[start + j]
        coefficient = scratch.coefficient[k]
        at_table, alone = seat_weights(
            topics.scheme, restaurants.listed_customers[start + j], restaurants.listed_tables[start + j]
        )
        mass += own.joining[k] * at_table
        scratch.weights[2 * j] = mass
        mass += coefficient * (floor + own.sent[k]) * alone
        scratch.weights[2 * j + 1] = mass
        own.kept[j] = coefficient
        scratch.coefficient[k] = 0.0
        aside += coefficient
    return mass, aside


@borrowing_kernel
def restore(topics, scratch, cell):
    """Undo what `weigh_seats` set aside."""
    restaurants = topics.restaurants
    start = restaurants.cell_ptr[cell]
    for j in range(restaurants.n_listed[cell]):
        scratch.coefficient[restaurants.listed_topic[start + j]] = topics.scratch.kept[j]


@borrowing_kernel
def draw_seat(rng, state, d, cell, n_doc_topics, mass):
    """Draw a topic for a token of the cell, perhaps one not represented yet, and whether it opens a table.

    `mass` is the sum of all coefficients.
    """
    topics, scratch = state.topics, state.scratch
    restaurants, coefficient, n_topics = topics.restaurants, scratch.coefficient, topics.n_topics[0]
    sent, touched = topics.scratch.sent, topics.scratch.touched
    n_touched = gather(topics.orders, restaurants, topics.group[d], cell, sent, touched)
    seats, aside = weigh_seats(topics, scratch, cell)
    ordered = 0.0
    for j in range(n_touched):
        ordered += coefficient[touched[j]] * sent[touched[j]]
    floor = restaurants.base.eta[0] * row_sum(topics.orders, cell)
    smooth = floor * max(mass - aside, 0.0)
    rest = state.documents.rest[state.tokens.group[d]] * row_sum(topics.orders, cell) / restaurants.n_words[0]
    u = rng.random() * (seats + ordered + smooth + rest)
    topic, opens_table = 0, True
    if u < seats:
        j = 0
        while scratch.weights[j] <= u:
            j += 1
        topic = restaurants.listed_topic[restaurants.cell_ptr[cell] + j // 2]
        opens_table = j % 2 == 1
    elif u - seats < ordered:
        u -= seats
        for j in range(n_touched):
            if coefficient[touched[j]] > 0.0:
                topic = touched[j]
                u -= coefficient[topic] * sent[topic]
                if u < 0.0:
                    break
    elif u - seats - ordered < smooth or rest == 0.0:
        u = (u - seats - ordered) / floor
        topic = find_in_smooth_part(
            u, coefficient, scratch.doc_topics, n_doc_topics, scratch.is_doc_topic, n_topics
        )
    else:
        topic = n_topics
    for j in range(n_touched):
        sent[touched[j]] = 0.0
    restore(topics, scratch, cell)
    return topic, opens_table


@sparse_step.implement(PitmanYorTopics)
def _sparse_step(rng, state, d, i, n_doc_topics, mass):
    topic, doc_count = state.tokens.topic, state.scratch.doc_count
    old = topic[i]
    if old >= 0:
        if not take_out(rng, state, d, i):
            return n_doc_topics, mass
        doc_count[old] -= 1
        mass = weigh_topic(state, d, old, mass)
    new, opens_table = draw_seat(rng, state, d, cell_of(state, d, i), n_doc_topics, mass)
    if new == state.topics.n_topics[0]:
        open_both(rng, state, d)
    put_in(rng, state, d, i, new, OPENS if opens_table else JOINS)
    topic[i] = new
    doc_count[new] += 1
    mass = weigh_topic(state, d, new, mass)
    return join_document(state.scratch, new, n_doc_topics), mass

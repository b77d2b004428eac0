"""How a token steps under Pitman-Yor topics: topic, table or none, and the dish of a new table.

Given the topics of all others, with m customers of the token's word at t tables in restaurant (g, k),

    joins a table   (prior_k + n_dk) / (b + M)             S^{m+1}_t / S^m_t          stays(m, t)
    opens a table   (prior_k + n_dk) (b + a T) / (b + M)   S^{m+1}_{t+1} / S^m_t  h   opens(m, t),

h = sum_v p_wv (eta + q_kv) / (V eta + Q_k) (`seats` has the last factors). A topic that is not represented
yet weighs rest h, where h = sum_v p_wv / V, whatever its b. The sparse step draws in parts. With the
coefficient ``c_k = (prior_k + n_dk) (b + a T) / ((b + M) (V eta + Q_k))`` a topic without customers of the
word weighs the sum of

    c_k sum_v p_wv q_kv     if a dish of the topic is a source of the word
    c_k eta sum_v p_wv      for any topic, those of the document first; rarely visited

and those with customers, of which each word has a short list, are weighed in full.
"""

from ..toolbox.jit import borrowing_kernel, chosen_by_type
from ..toolbox.lists import entry_at
from ..toolbox.random import categorical_or
from ..toolbox.sides import (
    dense_step,
    join_document,
    open_topic,
    same_words,
    sparse_step,
    weigh_topic,
)
from ..toolbox.token_pass import find_in_smooth_part
from .hyper import open_b
from .seats import seat_weights, takes_head
from .state import (
    Associations,
    PitmanYorTopics,
    SameWord,
    count_dish,
    draw_dish,
    drop_dish,
    find_entry,
    keep_dish,
    row_sum,
    seat,
    source,
    sources,
    uncount_dish,
    unseat,
)


@same_words.implement(PitmanYorTopics)
def _same_words(topics, d, other):
    return topics.group[d] == topics.group[other]


@chosen_by_type(0)
def base_probabilities(dishes, restaurants, group, cell, n_topics, out):
    """Fill ``out[:n_topics]`` with h, the probability of the cell's word under the base of each topic."""


@chosen_by_type(1)
def serve(rng, dishes, restaurants, group, cell, topic):
    """Draw the dish of a new table, a word of the base, count it there and remember it."""


@chosen_by_type(1)
def clear(rng, dishes, restaurants, group, cell, topic, n_tables):
    """Forget the dish of one of the `n_tables` tables of `topic` in the cell, at random."""


@base_probabilities.implement(SameWord)
@base_probabilities.implement(Associations)
def _base_probabilities(dishes, restaurants, group, cell, n_topics, out):
    base, capacity, n_words = restaurants.base, restaurants.b.size, restaurants.n_words[0]
    b, eta = restaurants.base_of_group[group], restaurants.base.eta[0]
    for k in range(n_topics):
        out[k] = eta * row_sum(dishes, cell)
    start, end = sources(dishes, n_words, cell)
    for place in range(start, end):
        v, p = source(dishes, place)
        first = base.word_ptr[b * n_words + v]
        for j in range(first, first + base.n_listed[b * n_words + v]):
            out[base.listed_topic[j] - b * capacity] += p * base.listed_count[j]
    for k in range(n_topics):
        out[k] /= n_words * eta + base.total[b * capacity + k]


@serve.implement(SameWord)
@serve.implement(Associations)
def _serve(rng, dishes, restaurants, group, cell, topic):
    v = draw_dish(rng, dishes, restaurants, group, cell, topic)
    count_dish(restaurants, group, topic, v)
    keep_dish(dishes, restaurants, cell, topic, v)


@clear.implement(SameWord)
@clear.implement(Associations)
def _clear(rng, dishes, restaurants, group, cell, topic, n_tables):
    v = drop_dish(rng, dishes, restaurants, cell, topic, n_tables)
    uncount_dish(restaurants, group, topic, v)


@borrowing_kernel
def leave_table(rng, restaurants, dishes, scheme, group, cell, topic):
    """Take a token of `topic` out of its restaurant; False if it stays: it heads the only table of several.

    Whatever else such a token could do has probability zero, as rho is not (Chen, Du and Buntine 2011).
    """
    place = find_entry(restaurants, cell, topic)
    m, t = restaurants.listed_customers[place], restaurants.listed_tables[place]
    heads = takes_head(rng, scheme, m, t)
    if heads and t == 1 and m > 1:
        return False
    if heads:
        clear(rng, dishes, restaurants, group, cell, topic, t)
    unseat(restaurants, group, cell, place, heads)
    return True


@borrowing_kernel
def take_seat(rng, restaurants, dishes, group, cell, topic, opens_table):
    """Seat a token; a new table draws its dish."""
    if opens_table:
        serve(rng, dishes, restaurants, group, cell, topic)
    seat(restaurants, group, cell, topic, opens_table)


@borrowing_kernel
def open_both(rng, documents, group, topics, scratch):
    """Add a topic to both sides, given that a token of a document of `group` chose it."""
    new = topics.n_topics[0]
    topics.n_topics[0] += 1
    open_topic(rng, documents, new, group)
    open_b(rng, topics.restaurants.b, new, topics.b_prior, topics.new_b)
    scratch.coefficient[new] = 0.0


@borrowing_kernel
def topic_weights(restaurants, discount, group, k):
    """``1 / (b + M)`` and ``(b + a T) / (b + M)``, which is 1 in an empty restaurant also where b <= 0."""
    b, n_customers = restaurants.b[k], restaurants.customers[group, k]
    if n_customers == 0:
        return 0.0, 1.0
    return 1.0 / (b + n_customers), (b + discount * restaurants.tables[group, k]) / (b + n_customers)


@borrowing_kernel
def weigh_all(prior, rest, restaurants, dishes, scheme, scratch, own, group, cell, n_topics):
    """Weigh occupied tables of all topics, then new ones, the last of them that of a topic not known yet.

    The scratch's `coefficient` is borrowed for h, and `joining` for prior + n_dk.
    """
    weights, h, in_document = own.weights, scratch.coefficient, own.joining
    base_probabilities(dishes, restaurants, group, cell, n_topics, h)
    for k in range(n_topics):
        _, opens = topic_weights(restaurants, scheme.discount[0], group, k)
        in_document[k] = prior[k] + scratch.doc_count[k]
        weights[k] = 0.0
        weights[n_topics + k] = in_document[k] * opens * h[k]
    weights[2 * n_topics] = rest * row_sum(dishes, cell) / restaurants.n_words[0]
    start = restaurants.cell_ptr[cell]
    for j in range(start, start + restaurants.n_listed[cell]):
        k = restaurants.listed_topic[j]
        joins, _ = topic_weights(restaurants, scheme.discount[0], group, k)
        at_table, alone = seat_weights(scheme, restaurants.listed_customers[j], restaurants.listed_tables[j])
        weights[k] = in_document[k] * joins * at_table
        weights[n_topics + k] *= alone


@dense_step.implement(PitmanYorTopics)
def _dense_step(rng, tokens, documents, topics, scratch, d, i):
    restaurants, dishes, scheme = topics.restaurants, topics.dishes, topics.scheme
    g, group, old = tokens.group[d], topics.group[d], tokens.topic[i]
    cell = group * restaurants.n_words[0] + tokens.words[i]
    if old >= 0:
        if not leave_table(rng, restaurants, dishes, scheme, group, cell, old):
            return
        scratch.doc_count[old] -= 1
    n_topics, own = topics.n_topics[0], topics.scratch
    prior, rest = documents.prior[g], documents.rest[g]
    weigh_all(prior, rest, restaurants, dishes, scheme, scratch, own, group, cell, n_topics)
    # Where all weights underflow the token opens a table of its topic: none may be added.
    new = categorical_or(rng, own.weights, 2 * n_topics + 1, n_topics + max(0, old))
    opens_table = new >= n_topics
    if opens_table:
        new -= n_topics
    if new == n_topics:
        open_both(rng, documents, g, topics, scratch)
    take_seat(rng, restaurants, dishes, group, cell, new, opens_table)
    tokens.topic[i] = new
    scratch.doc_count[new] += 1


@borrowing_kernel
def update_coefficient(prior, restaurants, discount, scratch, joining, group, k, mass):
    """Bring what is known of topic `k` up to date; return the mass with the change of its coefficient."""
    joins, opens = topic_weights(restaurants, discount, group, k)
    base = restaurants.base
    at_base = restaurants.base_of_group[group] * restaurants.b.size + k
    in_document = prior + scratch.doc_count[k]
    before = scratch.coefficient[k]
    joining[k] = in_document * joins
    scratch.coefficient[k] = (
        in_document * opens / (restaurants.n_words[0] * base.eta[0] + base.total[at_base])
    )
    return mass + (scratch.coefficient[k] - before)


@weigh_topic.implement(PitmanYorTopics)
def _weigh_topic(tokens, documents, topics, scratch, d, k, mass):
    prior, discount = documents.prior[tokens.group[d], k], topics.scheme.discount[0]
    joining, group = topics.scratch.joining, topics.group[d]
    return update_coefficient(prior, topics.restaurants, discount, scratch, joining, group, k, mass)


@borrowing_kernel
def gather(dishes, restaurants, group, cell, dish_mass, touched):
    """Sum p_wv q_kv over v into `dish_mass`, and list the topics where that is not zero; return how many."""
    base, n_words, capacity = restaurants.base, restaurants.n_words[0], restaurants.b.size
    b = restaurants.base_of_group[group]
    n_touched = 0
    start, end = sources(dishes, n_words, cell)
    for place in range(start, end):
        v, p = source(dishes, place)
        first = base.word_ptr[b * n_words + v]
        for j in range(first, first + base.n_listed[b * n_words + v]):
            k = base.listed_topic[j] - b * capacity
            if dish_mass[k] == 0.0:
                touched[n_touched] = k
                n_touched += 1
            dish_mass[k] += p * base.listed_count[j]
    return n_touched


@borrowing_kernel
def weigh_seats(restaurants, dishes, scheme, scratch, own, cell):
    """Weigh topics with customers of the cell in full, and set their coefficients aside as zeros.

    Returns
    -------
    mass : float
        Of the weights; ``own.weights`` has their running sum: for each topic, an occupied table and a
        new one.
    aside : float
        Sum of the coefficients, which ``own.kept[:n]`` holds.
    """
    floor = restaurants.base.eta[0] * row_sum(dishes, cell)
    start = restaurants.cell_ptr[cell]
    mass, aside = 0.0, 0.0
    for j in range(restaurants.n_listed[cell]):
        k = restaurants.listed_topic[start + j]
        coefficient = scratch.coefficient[k]
        at_table, alone = seat_weights(
            scheme, restaurants.listed_customers[start + j], restaurants.listed_tables[start + j]
        )
        mass += own.joining[k] * at_table
        own.weights[2 * j] = mass
        mass += coefficient * (floor + own.dish_mass[k]) * alone
        own.weights[2 * j + 1] = mass
        own.kept[j] = coefficient
        scratch.coefficient[k] = 0.0
        aside += coefficient
    return mass, aside


@borrowing_kernel
def restore(restaurants, scratch, own, cell):
    """Undo what `weigh_seats` set aside."""
    start = restaurants.cell_ptr[cell]
    for j in range(restaurants.n_listed[cell]):
        scratch.coefficient[restaurants.listed_topic[start + j]] = own.kept[j]


@borrowing_kernel
def draw_seat(
    rng, restaurants, dishes, scheme, scratch, own, group, cell, n_doc_topics, mass, rest, n_topics
):
    """Draw a topic for a token of the cell, perhaps one not represented yet, and whether it opens a table.

    `mass` is the sum of all coefficients, `rest` the prior weight of topics not represented yet.
    """
    coefficient, dish_mass, touched = scratch.coefficient, own.dish_mass, own.touched
    n_touched = gather(dishes, restaurants, group, cell, dish_mass, touched)
    seats, aside = weigh_seats(restaurants, dishes, scheme, scratch, own, cell)
    by_dish = 0.0
    for j in range(n_touched):
        by_dish += coefficient[touched[j]] * dish_mass[touched[j]]
    floor = restaurants.base.eta[0] * row_sum(dishes, cell)
    smooth = floor * max(mass - aside, 0.0)
    unknown = rest * row_sum(dishes, cell) / restaurants.n_words[0]
    u = rng.random() * (seats + by_dish + smooth + unknown)
    topic, opens_table = 0, True
    if u < seats:
        j = entry_at(own.weights, u)
        topic = restaurants.listed_topic[restaurants.cell_ptr[cell] + j // 2]
        opens_table = j % 2 == 1
    elif u - seats < by_dish:
        u -= seats
        for j in range(n_touched):
            if coefficient[touched[j]] > 0.0:
                topic = touched[j]
                u -= coefficient[topic] * dish_mass[topic]
                if u < 0.0:
                    break
    elif u - seats - by_dish < smooth or unknown == 0.0:
        u = (u - seats - by_dish) / floor
        topic = find_in_smooth_part(
            u, coefficient, scratch.doc_topics, n_doc_topics, scratch.is_doc_topic, n_topics
        )
    else:
        topic = n_topics
    for j in range(n_touched):
        dish_mass[touched[j]] = 0.0
    restore(restaurants, scratch, own, cell)
    return topic, opens_table


@sparse_step.implement(PitmanYorTopics)
def _sparse_step(rng, tokens, documents, topics, scratch, d, i, n_doc_topics, mass):
    restaurants, dishes, scheme, own = topics.restaurants, topics.dishes, topics.scheme, topics.scratch
    g, group, old = tokens.group[d], topics.group[d], tokens.topic[i]
    prior, joining, discount = documents.prior[g], own.joining, scheme.discount[0]
    cell = group * restaurants.n_words[0] + tokens.words[i]
    if old >= 0:
        if not leave_table(rng, restaurants, dishes, scheme, group, cell, old):
            return n_doc_topics, mass
        scratch.doc_count[old] -= 1
        mass = update_coefficient(prior[old], restaurants, discount, scratch, joining, group, old, mass)
    n_topics, rest = topics.n_topics[0], documents.rest[g]
    new, opens_table = draw_seat(
        rng, restaurants, dishes, scheme, scratch, own, group, cell, n_doc_topics, mass, rest, n_topics
    )
    if new == n_topics:
        open_both(rng, documents, g, topics, scratch)
    take_seat(rng, restaurants, dishes, group, cell, new, opens_table)
    tokens.topic[i] = new
    scratch.doc_count[new] += 1
    mass = update_coefficient(prior[new], restaurants, discount, scratch, joining, group, new, mass)
    return join_document(scratch, new, n_doc_topics), mass

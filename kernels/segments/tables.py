"""How a table gets another dish, with all its tokens; and what is noted of all tables and dishes."""

import math

from ..toolbox.jit import borrowing_kernel, kernel
from ..toolbox.random import SMALLEST, categorical, crt
from .documents import (
    OWN_TABLES,
    SLOTS,
    TABLES,
    count_topic,
    discount_topic,
    empty_slot,
    enter_document,
    enter_sentence,
    leave_document,
    leave_sentence,
    refresh_tables,
)
from .state import NEVER
from .vectors import is_unbounded

TABLES_NOTED, DISHES_NOTED, NEW_DISHES = range(3)
"""Entries of `Tally.numbers`."""

SHARE_MOVED = 0.5
"""Of the sentences in a sweep: moves of tables cost a third of what those of all tokens do."""

LEAST = 1e-8
"""Of a product of probabilities before its logarithm is taken: no factor but the smallest makes it zero."""


@borrowing_kernel
def weigh_without_table(law, document, opened, c):
    """Fill the log weights of dishes for the table opened at time `opened`, which has dish `c`.

    Tables opened later have a dish more on offer until the one that the table gets appeared without it. Its
    own sentence has the table, whatever its dish, and is no exception.
    """
    log_weight, log_offer = document.log_weight, law.log_offer
    n_slots, n_tables = document.sizes[SLOTS], document.sizes[TABLES]
    was_first = document.first[c] == opened
    n_dishes = 0
    for slot in range(n_slots):
        n_dishes += document.first[slot] < NEVER
        taken = document.own_first[slot] < NEVER or document.first[slot] == NEVER
        log_weight[slot] = -math.inf if taken else 0.0
    again = NEVER  # when the dish appears without the table
    more = 0.0
    for e in range(n_tables):
        t, other = document.table_time[e], document.table_dish[e]
        if t > opened:
            offered = document.table_offered[e] - (was_first and again == NEVER)
            # Offered may be -1: then the sentence of that table has all dishes, and so no use for this sum.
            more += (log_offer[offered] if offered >= 0 else 0.0) - log_offer[offered + 1]
            if other == c:
                if again == NEVER and was_first:
                    log_weight[c] = more
                again = min(again, t)
            elif document.first[other] == t and log_weight[other] > -math.inf:
                log_weight[other] = more
    if was_first and again == NEVER:  # without the table there is no such dish
        n_dishes -= 1
        log_weight[c] = -math.inf
    elif not was_first:
        log_weight[c] = 0.0
    is_allowed = law.most_dishes == 0 or n_dishes < law.most_dishes
    log_weight[n_slots] = more + math.log(law.zeta[0]) if is_allowed else -math.inf


@borrowing_kernel
def log_of_block(vectors, document, n_listed, slot):
    """Log probability of the table's topics in a dish, whose topic vector is integrated out."""
    tokens = document.dish_size[slot]
    mass = vectors.mass[0] + tokens
    out, product, n = 0.0, 1.0, 0
    for j in range(n_listed):
        k = document.block_topics[j]
        weight = document.in_dish[slot, k] + vectors.base[k]
        for repeat in range(document.block[k]):
            product *= (weight + repeat) / (mass + n)
            n += 1
            if product < LEAST:
                out += math.log(max(product, SMALLEST))
                product = 1.0
    return out + math.log(product)


@borrowing_kernel
def weigh_block(law, document, n_listed):
    """Multiply the weights of dishes by the probability of the table's topics, in place of the logs."""
    n_slots, weight = document.sizes[SLOTS], document.log_weight
    highest = -math.inf
    for slot in range(n_slots + 1):
        if weight[slot] > -math.inf:
            weight[slot] += log_of_block(law.vectors, document, n_listed, slot)
            highest = max(highest, weight[slot])
    for slot in range(n_slots + 1):
        weight[slot] = math.exp(weight[slot] - highest)


@borrowing_kernel
def lift_block(tokens, document, s, seat, at, c):
    """Count the tokens of sentence `s` that sit at `at` out of dish `c`; return how many topics they have.

    `seat` is what is kept of the seat of each token; the dish is one such thing.
    """
    n_listed = 0
    for i in range(tokens.sentence_ptr[s], tokens.sentence_ptr[s + 1]):
        if seat[i] == at:
            k = tokens.topic[i]
            if document.block[k] == 0:
                document.block_topics[n_listed] = k
                n_listed += 1
            document.block[k] += 1
            discount_topic(document, c, k)
    return n_listed


@borrowing_kernel
def draw_block(rng, law, document, n_listed):
    """Draw the dish of the block of tokens that was lifted, given the log weights of dishes."""
    weigh_block(law, document, n_listed)
    new = categorical(rng, document.log_weight, document.sizes[SLOTS] + 1)
    if new == document.sizes[SLOTS]:
        new = empty_slot(document)
        document.sizes[SLOTS] = max(document.sizes[SLOTS], new + 1)
    return new


@borrowing_kernel
def put_block(tokens, document, s, seat, at, c):
    """Count the tokens of sentence `s` that sit at `at` into dish `c`."""
    for i in range(tokens.sentence_ptr[s], tokens.sentence_ptr[s + 1]):
        if seat[i] == at:
            tokens.dish[i] = c
            count_topic(document, c, tokens.topic[i])
            document.block[tokens.topic[i]] = 0


@kernel
def move_dish(rng, tokens, law, document, s, c, first_sentence):
    """Draw the dish of the table of sentence `s`, the current one, that has dish `c`."""
    opened = document.own_first[c]
    size = document.own_count[c]
    document.own_first[c], document.own_count[c] = NEVER, 0
    n_listed = lift_block(tokens, document, s, tokens.dish, c, c)
    weigh_without_table(law, document, opened, c)
    new = draw_block(rng, law, document, n_listed)
    put_block(tokens, document, s, tokens.dish, c, new)
    document.own_first[new], document.own_count[new] = opened, size
    if new != c:
        e = 0
        while document.table_time[e] != opened:
            e += 1
        document.table_dish[e] = new
        document.first[c] = NEVER
        refresh_tables(document, first_sentence)


@borrowing_kernel
def list_own_tables(document, s):
    """List the dishes of the tables of sentence `s` in the order in which they are opened."""
    n_own = 0
    for e in range(document.sizes[TABLES]):
        if document.table_sentence[e] == s:
            document.own_tables[n_own] = document.table_dish[e]
            n_own += 1


@borrowing_kernel
def note_sentence(document, tally):
    """Note the tables of the current sentence, which are listed."""
    later = 0
    for j in range(document.sizes[OWN_TABLES] - 1, -1, -1):
        n = tally.numbers[TABLES_NOTED]
        tally.table_size[n] = document.own_count[document.own_tables[j]]
        tally.table_later[n] = later
        later += tally.table_size[n]
        tally.numbers[TABLES_NOTED] += 1


@borrowing_kernel
def note_document(rng, vectors, document, tally):
    """Note what was on offer for the document's tables, and its dishes."""
    for e in range(document.sizes[TABLES]):
        tally.offered[document.table_offered[e]] += 1
        tally.numbers[NEW_DISHES] += document.first[document.table_dish[e]] == document.table_time[e]
    note_dishes(rng, vectors, document, tally)


@borrowing_kernel
def note_dishes(rng, vectors, document, tally):
    """Note the tokens of the document's dishes and of their topics; draw the tables that these ask for."""
    for c in range(document.sizes[SLOTS]):
        if document.dish_size[c] > 0:
            tally.dish_size[tally.numbers[DISHES_NOTED]] = document.dish_size[c]
            tally.numbers[DISHES_NOTED] += 1
            for j in range(document.n_listed[c]):
                k = document.listed[c, j]
                tally.in_dish[document.in_dish[c, k]] += 1
                if is_unbounded(vectors):
                    vectors.tables[k] += crt(rng, document.in_dish[c, k], vectors.base[k])


@kernel
def table_pass(rng, state, moves):
    """Draw the dishes of the tables of some sentences anew where `moves`, and note all tables and dishes.

    Mutates `state`. Each sentence is among those with probability `SHARE_MOVED`, whatever the state.
    """
    tokens, law, document, tally = state.tokens, state.law, state.document, state.tally
    tally.offered[:] = 0
    tally.in_dish[:] = 0
    tally.numbers[:] = 0
    law.vectors.tables[:] = 0
    for d in range(tokens.doc_ptr.size - 1):
        enter_document(state, d)
        first_sentence = tokens.doc_sentences[d]
        for s in range(first_sentence, tokens.doc_sentences[d + 1]):
            enter_sentence(tokens, document, s)
            list_own_tables(document, s)
            if moves and rng.random() < SHARE_MOVED:
                for j in range(document.sizes[OWN_TABLES]):
                    move_dish(rng, tokens, law, document, s, document.own_tables[j], first_sentence)
                list_own_tables(document, s)
            note_sentence(document, tally)
            leave_sentence(tokens, document, s)
        note_document(rng, law.vectors, document, tally)
        leave_document(document)

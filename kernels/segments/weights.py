"""Weights of the dishes of a token, given the dishes of all other tokens of its document.

A dish that the sentence has had before the token costs nothing. Another makes the token open a table: a
factor 1 / (K + zeta), zeta in place of 1 for a dish new to the document, where K is what is on offer. If the
token's table takes the place of a later one of the same dish, the factor of that one goes. And tables opened
afterwards see another offer: one dish more, for other sentences, until the dish first appeared without
the token; one less, for the token's own, from then on until the sentence had it anyway.
"""

import math

from ..toolbox.jit import borrowing_kernel, kernel
from ..toolbox.random import SMALLEST, log_beta
from .documents import OWN_TABLES, SLOTS, TABLES
from .state import NEVER


@borrowing_kernel
def weigh_dishes(law, document, sentence, time):
    """Fill the log weights of all slots for a token of the current sentence, the last one for a new dish.

    The token is counted out. Covers the law of the tables opened, not the seats at them. Returns how many
    tables the sentence has before `time`.
    """
    n_slots, n_tables = document.sizes[SLOTS], document.sizes[TABLES]
    log_weight, log_offer = document.log_weight, law.log_offer
    for c in range(n_slots):
        log_weight[c] = 0.0
    n_dishes, n_before, own_before = 0, 0, 0
    more, less = 0.0, 0.0  # sums over tables since, of other sentences and of this one
    for e in range(n_tables):
        c, t = document.table_dish[e], document.table_time[e]
        is_first = document.first[c] == t
        n_dishes += is_first
        if t < time:
            n_before += is_first
            own_before += document.table_sentence[e] == sentence
        elif document.table_sentence[e] == sentence:
            offered = document.table_offered[e]
            log_weight[c] = more if is_first else log_weight[c] + less
            log_weight[c] += log_offer[offered]
            if offered > 0:  # else the sentence has all dishes there are, and none asks for this sum
                less += log_offer[offered] - log_offer[offered - 1]
        else:
            offered = document.table_offered[e]
            more += log_offer[offered] - log_offer[offered + 1]
            if is_first:
                log_weight[c] = more - less
    opens = -log_offer[n_before - own_before]
    may_open = law.most_tables == 0 or document.sizes[OWN_TABLES] < law.most_tables
    for c in range(n_slots):
        if document.own_first[c] < time:
            log_weight[c] = 0.0
        elif document.own_first[c] < NEVER:
            log_weight[c] += opens
        elif document.first[c] < NEVER and may_open:
            log_weight[c] += opens + less
        else:
            log_weight[c] = -math.inf
    if may_open and (law.most_dishes == 0 or n_dishes < law.most_dishes):
        log_weight[n_slots] = more + opens + math.log(law.zeta[0])
    else:
        log_weight[n_slots] = -math.inf
    return own_before


@borrowing_kernel
def weigh_seats(law, document, sentence, own_before):
    """Fill the weights of the seats that the slots and a new table offer, up to a common factor.

    With a = 1 they are a Chinese restaurant's: the tokens at the table, b for another.
    """
    n_slots = document.sizes[SLOTS]
    if law.a[0] == 1.0:
        for c in range(n_slots):
            count = document.own_count[c]
            document.table_weight[c] = count if count > 0 else law.b[0]
        document.table_weight[n_slots] = law.b[0]
    else:
        weigh_seats_of_sticks(law, document, sentence, own_before)


@kernel
def weigh_seats_of_sticks(law, document, sentence, own_before):
    """Do so for any a: ratios of prod_j B(a + g_j - 1, b + h_j) / B(a, b) (Equation 14)."""
    a, b = law.a[0], law.b[0]
    own, count, prefix = document.own_tables, document.own_count, document.prefix
    n_own = 0
    later = 0
    for e in range(document.sizes[TABLES]):
        if document.table_sentence[e] == sentence:
            own[n_own] = document.table_dish[e]
            later += count[own[n_own]]
            n_own += 1
    prefix[0] = 1.0  # the token passes the tables before: sticks fail
    after = later
    for j in range(own_before):
        g = count[own[j]]
        after -= g
        document.table_weight[own[j]] = prefix[j] * (a + (g - 1.0)) / (a + b + (g - 1.0 + after))
        prefix[j + 1] = prefix[j] * (b + after) / (a + b + (g - 1.0 + after))
    another = prefix[own_before] * math.exp(log_beta(a, b + after) - log_beta(a, b))
    for c in range(document.sizes[SLOTS] + 1):
        if c == document.sizes[SLOTS] or count[c] == 0:
            document.table_weight[c] = another
    after_first = after  # tokens at tables opened after the token takes its seat
    for j in range(own_before, n_own):
        # Table j moves before tables own_before to j - 1, which lose its tokens from those after them.
        g = count[own[j]]
        after -= g
        change = log_beta(a + g, b + (after_first - g)) - log_beta(a + (g - 1.0), b + after)
        passed = after_first
        for m in range(own_before, j):
            g_m = count[own[m]]
            passed -= g_m
            change += log_beta(a + (g_m - 1.0), b + (passed - g)) - log_beta(a + (g_m - 1.0), b + passed)
        document.table_weight[own[j]] = prefix[own_before] * math.exp(change)


@borrowing_kernel
def weigh_word(law, topics, document, word):
    """Fill the weight of `word` in each topic; return their sum, each times the parameter of its topic."""
    vectors, eta, total = law.vectors, law.eta[0], 0.0
    smoothing = eta * topics.counts.shape[0]
    for k in range(vectors.n_topics[0]):
        document.omega[k] = (topics.counts[word, k] + eta) / (topics.total[k] + smoothing)
        total += vectors.base[k] * document.omega[k]
    return total


@kernel
def not_underflowed(product, scale, table_weight):
    """Return a product with the weight of a word in it, not zero unless one of the other factors is."""
    return SMALLEST if product == 0.0 and scale > 0.0 and table_weight > 0.0 else product


@borrowing_kernel
def combine(law, document, word_total):
    """Multiply the weights of slots and seats by those of the word, in place of the log weights.

    Returns their sum.
    """
    n_slots, mass, weight = document.sizes[SLOTS], law.vectors.mass[0], document.log_weight
    highest = weight[n_slots]
    for c in range(n_slots):
        highest = max(highest, weight[c])
    total = 0.0
    for c in range(n_slots):
        if weight[c] == -math.inf:
            weight[c] = 0.0
            continue
        of_word = word_total
        for j in range(document.n_listed[c]):
            k = document.listed[c, j]
            of_word += document.in_dish[c, k] * document.omega[k]
        of_word /= document.dish_size[c] + mass
        scale = 1.0 if weight[c] == highest else math.exp(weight[c] - highest)
        product = scale * document.table_weight[c] * of_word
        weight[c] = not_underflowed(product, scale, document.table_weight[c])
        total += weight[c]
    of_new = document.table_weight[n_slots] * word_total / mass
    scale = math.exp(weight[n_slots] - highest)
    weight[n_slots] = not_underflowed(scale * of_new, scale, document.table_weight[n_slots])
    return total + weight[n_slots]


@borrowing_kernel
def draw_dish(document, u, total):
    """Slot at height `u` of the weights laid end to end, and what of `u` is within it."""
    n_slots = document.sizes[SLOTS]
    u = u * total
    found, within = -1, u
    for c in range(n_slots + 1):
        if document.log_weight[c] > 0.0:
            found, within = c, u
            if u < document.log_weight[c]:
                break
            u = u - document.log_weight[c]
    return found, within


@borrowing_kernel
def draw_topic(law, document, c, u):
    """Topic at height `u` within the weight of slot `c`."""
    n_topics, base = law.vectors.n_topics[0], law.vectors.base
    total = 0.0
    for k in range(n_topics):
        total += (document.in_dish[c, k] + base[k]) * document.omega[k]
    u = u * (total / document.log_weight[c])
    for k in range(n_topics):
        u = u - (document.in_dish[c, k] + base[k]) * document.omega[k]
        if u < 0.0:
            return k
    return n_topics - 1

"""Tables of the document that a sweep is in: how tokens come and go.

A table is a pair of sentence and dish, opened by its first token in time. When a token goes that opened one,
the next of the same sentence and dish takes its place, and the table is opened later; when a token comes
that is earlier, sooner. What was on offer when others were opened changes with it.
"""

from ..toolbox.jit import borrowing_kernel, kernel
from .state import NEVER

SLOTS, TABLES, OWN_TABLES = range(3)
"""Entries of `Document.sizes`."""


@kernel
def enter_document(state, d):
    """Build the dishes and tables of document `d` from its tokens, and number its dishes from 0."""
    tokens, document = state.tokens, state.document
    count_dishes(tokens, document, document.own_tables, d)
    list_tables(tokens, document, d)
    refresh_tables(document, tokens.doc_sentences[d])


@kernel
def count_dishes(tokens, document, name, d):
    """Count the tokens of document `d` into its dishes, numbered anew from 0; `name` is working memory."""
    start, end = tokens.doc_ptr[d], tokens.doc_ptr[d + 1]
    for i in range(start, end):
        if tokens.dish[i] >= 0:
            name[tokens.dish[i]] = -1
    n_slots = 0
    for i in range(start, end):
        if tokens.dish[i] >= 0:
            if name[tokens.dish[i]] < 0:
                name[tokens.dish[i]] = n_slots
                n_slots += 1
            tokens.dish[i] = name[tokens.dish[i]]
            count_topic(document, tokens.dish[i], tokens.topic[i])
    document.sizes[SLOTS] = n_slots


@kernel
def list_tables(tokens, document, d):
    """List the tables of document `d` in the order in which they are opened."""
    start = tokens.doc_ptr[d]
    opens = document.rank  # by time: whether the token opens a table; working memory here
    for s in range(tokens.doc_sentences[d], tokens.doc_sentences[d + 1]):
        enter_sentence(tokens, document, s)
        for i in range(tokens.sentence_ptr[s], tokens.sentence_ptr[s + 1]):
            opens[tokens.time[i]] = (
                tokens.dish[i] >= 0 and document.own_first[tokens.dish[i]] == tokens.time[i]
            )
        leave_sentence(tokens, document, s)
    n = 0
    for t in range(tokens.doc_ptr[d + 1] - start):
        if opens[t]:
            i = tokens.at_time[start + t]
            document.table_time[n] = t
            document.table_sentence[n] = tokens.sentence[i]
            document.table_dish[n] = tokens.dish[i]
            opens[t] = 0
            n += 1
    document.sizes[TABLES] = n


@kernel
def leave_document(document):
    """Clean the working memory."""
    document.first[: document.sizes[SLOTS]] = NEVER
    forget_dishes(document)


@kernel
def forget_dishes(document):
    """Count all tokens out of the dishes."""
    for c in range(document.sizes[SLOTS]):
        for j in range(document.n_listed[c]):
            document.in_dish[c, document.listed[c, j]] = 0
        document.n_listed[c] = 0
        document.dish_size[c] = 0
    document.sizes[:] = 0


@kernel
def enter_sentence(tokens, document, s):
    """Make `s` the current sentence."""
    n_tables = 0
    for i in range(tokens.sentence_ptr[s], tokens.sentence_ptr[s + 1]):
        c = tokens.dish[i]
        if c >= 0:
            n_tables += document.own_count[c] == 0
            document.own_count[c] += 1
            document.own_first[c] = min(document.own_first[c], tokens.time[i])
    document.sizes[OWN_TABLES] = n_tables


@kernel
def leave_sentence(tokens, document, s):
    """Forget the tables of sentence `s`."""
    for i in range(tokens.sentence_ptr[s], tokens.sentence_ptr[s + 1]):
        if tokens.dish[i] >= 0:
            document.own_count[tokens.dish[i]] = 0
            document.own_first[tokens.dish[i]] = NEVER
    document.sizes[OWN_TABLES] = 0


@borrowing_kernel
def count_topic(document, c, k):
    """Count a token of topic `k` into dish `c`."""
    if document.in_dish[c, k] == 0:
        document.listed[c, document.n_listed[c]] = k
        document.n_listed[c] += 1
    document.in_dish[c, k] += 1
    document.dish_size[c] += 1


@borrowing_kernel
def discount_topic(document, c, k):
    """Count a token of topic `k` out of dish `c`."""
    document.in_dish[c, k] -= 1
    document.dish_size[c] -= 1
    if document.in_dish[c, k] == 0:
        last = document.n_listed[c] - 1
        j = 0
        while document.listed[c, j] != k:
            j += 1
        document.listed[c, j] = document.listed[c, last]
        document.n_listed[c] = last


@borrowing_kernel
def refresh_tables(document, first_sentence):
    """Bring first times and what was on offer up to date with the list of tables."""
    n_tables = document.sizes[TABLES]
    for e in range(n_tables):
        document.first[document.table_dish[e]] = NEVER
        document.rank[document.table_sentence[e] - first_sentence] = 0
    n_dishes = 0
    for e in range(n_tables):
        s, c = document.table_sentence[e] - first_sentence, document.table_dish[e]
        document.table_offered[e] = n_dishes - document.rank[s]
        document.rank[s] += 1
        if document.first[c] == NEVER:
            document.first[c] = document.table_time[e]
            n_dishes += 1
    for e in range(n_tables):
        document.rank[document.table_sentence[e] - first_sentence] = 0


@borrowing_kernel
def move_table(document, e, time):
    """Let the table that is number `e` of the list be opened at another time."""
    s, c = document.table_sentence[e], document.table_dish[e]
    while e + 1 < document.sizes[TABLES] and document.table_time[e + 1] < time:
        copy_table(document, e + 1, e)
        e += 1
    while e > 0 and document.table_time[e - 1] > time:
        copy_table(document, e - 1, e)
        e -= 1
    document.table_time[e], document.table_sentence[e], document.table_dish[e] = time, s, c


@borrowing_kernel
def copy_table(document, source, target):
    """Write one entry of the list of tables over another."""
    document.table_time[target] = document.table_time[source]
    document.table_sentence[target] = document.table_sentence[source]
    document.table_dish[target] = document.table_dish[source]


@borrowing_kernel
def table_at(document, time):
    """Find the table that was opened at `time` in the list."""
    low, high = 0, document.sizes[TABLES] - 1
    while low < high:
        middle = (low + high) // 2
        if document.table_time[middle] < time:
            low = middle + 1
        else:
            high = middle
    return low


@borrowing_kernel
def unseat(tokens, topics, document, i, first_sentence):
    """Take token `i` of the current sentence out of all counts."""
    c, k, t = tokens.dish[i], tokens.topic[i], tokens.time[i]
    topics.counts[tokens.words[i], k] -= 1
    topics.total[k] -= 1
    discount_topic(document, c, k)
    document.own_count[c] -= 1
    if document.own_first[c] == t:
        e = table_at(document, t)
        heir = tokens.following[i]
        while heir >= 0 and tokens.dish[heir] != c:
            heir = tokens.following[heir]
        if heir >= 0:
            document.own_first[c] = tokens.time[heir]
            move_table(document, e, tokens.time[heir])
        else:
            document.own_first[c] = NEVER
            document.first[c] = NEVER
            for later in range(e + 1, document.sizes[TABLES]):
                copy_table(document, later, later - 1)
            document.sizes[TABLES] -= 1
            document.sizes[OWN_TABLES] -= 1
        refresh_tables(document, first_sentence)


@borrowing_kernel
def seat(tokens, topics, document, i, c, k, first_sentence):
    """Give token `i` of the current sentence a dish and a topic."""
    t = tokens.time[i]
    tokens.dish[i], tokens.topic[i] = c, k
    topics.counts[tokens.words[i], k] += 1
    topics.total[k] += 1
    document.sizes[SLOTS] = max(document.sizes[SLOTS], c + 1)
    count_topic(document, c, k)
    document.own_count[c] += 1
    if document.own_first[c] > t:
        if document.own_first[c] == NEVER:
            e = document.sizes[TABLES]
            document.table_time[e] = NEVER
            document.table_sentence[e], document.table_dish[e] = tokens.sentence[i], c
            document.sizes[TABLES] += 1
            document.sizes[OWN_TABLES] += 1
        else:
            e = table_at(document, document.own_first[c])
        document.own_first[c] = t
        move_table(document, e, t)
        refresh_tables(document, first_sentence)


@borrowing_kernel
def empty_slot(document):
    """Lowest slot that has no dish."""
    c = 0
    while c < document.sizes[SLOTS] and document.dish_size[c] > 0:
        c += 1
    return c

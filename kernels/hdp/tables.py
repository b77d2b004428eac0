"""Moves of whole tables: many tokens of a document change their topic together.

A document of group g draws topics from a Dirichlet process whose base has the weights b_k = prior[g, k], and
rest[g] for the topics that are not represented. The same law has a Chinese restaurant whose tables choose a
topic each, for all that sit there. With n_t customers at table t of topic k_t,

    p(topics, tables) ∝ prod_t b_{k_t} (n_t - 1)!                                                         (1)

A pass draws the tables, moves their topics, and forgets them:

1. Given the topics, the tokens of a document and topic k sit down in a Chinese restaurant of concentration
   b_k, which is (1) as a law of the tables: an auxiliary variable, drawn from its full conditional.
2. Given the tables, a table draws its topic from (1) times the probability of its words given all others,

       p(k_t = k) ∝ b_k prod_w (eta + n_kw)^(c_w) / (V eta + n_k)^(n_t),                                  (2)

   where ^( ) are rising factorials, c_w counts the table's words, and n_kw, n_k the tokens at other tables.

Each is a Gibbs step of the joint law of topics and tables, whose margin is the posterior. The tables stay as
they are when topics move, so which of them move may depend on their sizes: those of one token are left to the
token pass. A table that chooses a topic not represented has made one draw from the rest of its group's stick,
as a token that does so has: `open_topic` breaks it. The stick of a topic that a table left empty stays
represented until the document side forgets, at the end of the sweep, which topic it was of.

Most topics have none of a table's words. With c_k = b_k (V eta)^(n_t) / (V eta + n_k)^(n_t), which depends on
the table by its size alone, the weights are, up to a common factor,

    c_k (exp gain_k - 1)    topics in lists of the words, gain_k = sum_w log (eta + n_kw)^(c_w) / eta^(c_w)
    c_k                     all topics; visited only when drawn
    rest[g]                 a topic that is not represented yet

so that tables are moved in the order of their sizes, and the sum of all c_k is kept up to date.
"""

import math
from typing import NamedTuple

import numpy as np

from ..toolbox.dirichlet import retopic
from ..toolbox.jit import borrowing_kernel, kernel
from ..toolbox.sides import join_document, leave_document, open_topic
from ..toolbox.token_pass import find_in_smooth_part

BLOCK = 2**16
"""Tokens of documents whose tables move together: all c_k are computed anew a block and size. Whatever hangs
on the topics themselves would not do, as these move with the tables."""

NEGLIGIBLE = math.log(2.0**-54)
"""What is this small beside the largest weight is lost in a sum with it."""


class Tables(NamedTuple):
    """Tables of a block of documents, linked by their tokens; -1 ends every chain.

    Attributes
    ----------
    size, first_token, next_table : int32 (tables,)
        Tokens of a table, one of them, and a table of the same document and topic, or of the same size.
    next_token : int32 (N,)
        Token at the same table.
    of_topic : int32 (capacity,)
        A table of the current document for each of its topics.
    of_size : int32 (longest document + 1,)
        A table of each size.
    """

    size: np.ndarray
    first_token: np.ndarray
    next_table: np.ndarray
    next_token: np.ndarray
    of_topic: np.ndarray
    of_size: np.ndarray


class Weights(NamedTuple):
    """What goes into the weights of topics for a table.

    Attributes
    ----------
    log_prior, log_coefficient, gain : float64 (capacity,)
        log b_k of the block's group, log c_k, and gain_k, which is zero between tables.
    log_rising : float64 (commonest + 1,)
        log eta^(n), up to the count of the commonest word.
    log_total : float64 (N + longest document + 1,)
        log (V eta)^(n), up to a table beside a topic that already has its tokens.
    repeats : int32 (V,)
        Tokens of each word that have been seen at the table; zero between tables.
    """

    log_prior: np.ndarray
    log_coefficient: np.ndarray
    gain: np.ndarray
    log_rising: np.ndarray
    log_total: np.ndarray
    repeats: np.ndarray


@kernel
def unseated_tables(n_tokens, next_token, capacity, longest):
    """Room for the tables of documents of `n_tokens` tokens together, and `longest` at most in one."""
    return Tables(
        size=np.empty(n_tokens, np.int32),
        first_token=np.empty(n_tokens, np.int32),
        next_table=np.empty(n_tokens, np.int32),
        next_token=next_token,
        of_topic=np.empty(capacity, np.int32),
        of_size=np.empty(longest + 1, np.int32),
    )


@kernel
def seat(rng, tokens, documents, scratch, tables, block):
    """Draw the tables of the documents in `block` given the topics of their tokens; return their number.

    Mutates `tables`.
    """
    count, n_tables = scratch.doc_count, 0
    for d in block:
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            k = tokens.topic[i]
            table = -1
            if count[k] == 0:
                tables.of_topic[k] = -1
            else:
                u = rng.random() * (count[k] + documents.prior[tokens.group[d], k])
                table = tables.of_topic[k]
                while table >= 0:
                    u -= tables.size[table]
                    if u < 0.0:
                        break
                    table = tables.next_table[table]
            if table < 0:
                table = n_tables
                n_tables += 1
                tables.size[table] = 0
                tables.first_token[table] = -1
                tables.next_table[table] = tables.of_topic[k]
                tables.of_topic[k] = table
            tables.next_token[i] = tables.first_token[table]
            tables.first_token[table] = i
            tables.size[table] += 1
            count[k] += 1
        leave_document(tokens, scratch, d)
    tables.of_size[:] = -1
    for table in range(n_tables - 1, -1, -1):
        n = tables.size[table]
        tables.next_table[table] = tables.of_size[n]
        tables.of_size[n] = table
    return n_tables


@kernel
def log_or_nothing(x):
    """Log x, also of a stick that underflowed."""
    return math.log(x) if x > 0.0 else -math.inf


@borrowing_kernel
def weigh(topics, scratch, weights, k, size):
    """Bring c_k up to date for tables of a size; return by how much it has grown."""
    before, log_total, n = scratch.coefficient[k], weights.log_total, topics.total[k]
    weights.log_coefficient[k] = weights.log_prior[k] + log_total[size] - (log_total[n + size] - log_total[n])
    scratch.coefficient[k] = math.exp(weights.log_coefficient[k])
    return scratch.coefficient[k] - before


@borrowing_kernel
def gather_gains(tokens, topics, scratch, tables, weights, table, own):
    """Sum the gains of the topics in the lists of a table's words; return how many there are.

    They are in ``scratch.doc_topics``, the table's own first, of which its tokens are not counted.
    """
    log_rising, n_candidates = weights.log_rising, join_document(scratch, own, 0)
    i = tables.first_token[table]
    while i >= 0:
        weights.repeats[tokens.words[i]] += 1
        i = tables.next_token[i]
    i = tables.first_token[table]
    while i >= 0:
        w = tokens.words[i]
        c = weights.repeats[w]
        if c > 0:
            weights.repeats[w] = 0
            for j in range(topics.word_ptr[w], topics.word_ptr[w] + topics.n_listed[w]):
                k, n = topics.listed_topic[j], topics.listed_count[j]
                if k == own:
                    n -= c
                weights.gain[k] += log_rising[n + c] - log_rising[n] - log_rising[c]
                n_candidates = join_document(scratch, k, n_candidates)
        i = tables.next_token[i]
    return n_candidates


@borrowing_kernel
def draw_topic(rng, topics, scratch, weights, n_candidates, mass, rest):
    """Topic of a table by (2), given the sum of all c_k; the number of topics stands for a new one.

    Clears the gains.
    """
    candidates, coefficient, running = scratch.doc_topics, scratch.coefficient, scratch.weights
    highest = 0.0
    for j in range(n_candidates):
        k = candidates[j]
        highest = max(highest, weights.log_coefficient[k] + weights.gain[k])
    scale = math.exp(-highest)
    total = 0.0
    for j in range(n_candidates):
        k = candidates[j]
        log_weight = weights.log_coefficient[k] + weights.gain[k] - highest
        if log_weight > NEGLIGIBLE:
            total += math.exp(log_weight)
        total -= coefficient[k] * scale
        running[j] = total
        weights.gain[k] = 0.0
    u = rng.random() * (total + (mass + rest) * scale)
    if u < total or scale == 0.0:
        j = 0
        while j < n_candidates - 1 and running[j] <= u:
            j += 1
        return np.int64(candidates[j])
    u = (u - total) / scale
    if u < mass or rest == 0.0:
        return np.int64(
            find_in_smooth_part(
                u, coefficient, candidates, n_candidates, scratch.is_doc_topic, topics.n_topics[0]
            )
        )
    return topics.n_topics[0]


@borrowing_kernel
def move_table(rng, tokens, documents, topics, scratch, tables, weights, table, group, mass):
    """Draw the topic of a table; return the sum of all c_k, for tables of its size, with this change."""
    size, first = tables.size[table], tables.first_token[table]
    old = np.int64(tokens.topic[first])
    topics.total[old] -= size
    mass += weigh(topics, scratch, weights, old, size)
    n_candidates = gather_gains(tokens, topics, scratch, tables, weights, table, old)
    new = draw_topic(rng, topics, scratch, weights, n_candidates, mass, documents.rest[group])
    for j in range(n_candidates):
        scratch.is_doc_topic[scratch.doc_topics[j]] = False
    topics.total[old] += size
    if new != old:
        if new == topics.n_topics[0]:
            topics.n_topics[0] += 1
            open_topic(rng, documents, new, group)
            scratch.coefficient[new] = 0.0
            weights.log_prior[new] = log_or_nothing(documents.prior[group, new])
        retopic(tokens, topics, first, tables.next_token, new)
        mass += weigh(topics, scratch, weights, new, size)
    return mass + weigh(topics, scratch, weights, old, size)


@borrowing_kernel
def move_tables(rng, tokens, documents, topics, scratch, tables, weights, group):
    """Draw the topics of all tables of two tokens and more, of documents of one group."""
    for k in range(topics.n_topics[0]):
        weights.log_prior[k] = log_or_nothing(documents.prior[group, k])
    for size in range(2, tables.of_size.size):
        table = tables.of_size[size]
        if table < 0:
            continue
        mass = 0.0
        for k in range(topics.n_topics[0]):
            scratch.coefficient[k] = 0.0
            mass += weigh(topics, scratch, weights, k, size)
        while table >= 0:
            mass = move_table(rng, tokens, documents, topics, scratch, tables, weights, table, group, mass)
            table = tables.next_table[table]


@kernel
def log_rising_factorials(x, n):
    """Log x (x + 1) … (x + m - 1) for m = 0..n."""
    out = np.zeros(n + 1)
    for m in range(n):
        out[m + 1] = out[m] + math.log(x + m)
    return out


@kernel
def table_pass(rng, tokens, documents, topics, scratch):
    """Move the topics of whole tables in all documents, block by block of one group. Mutates all arguments.

    Starts at ``scratch.next_document``, which counts on from the last document of the token pass. Returns
    whether it got through; if not, the arrays over topics need more room before it is called again.
    """
    n_documents, capacity = tokens.group.size, documents.prior.shape[1]
    lengths = tokens.doc_ptr[1:] - tokens.doc_ptr[:-1]
    by_group = np.argsort(tokens.group, kind="mergesort")
    commonest = (topics.word_ptr[1:] - topics.word_ptr[:-1]).max()
    weights = Weights(
        log_prior=np.empty(capacity),
        log_coefficient=np.zeros(capacity),
        gain=np.zeros(capacity),
        log_rising=log_rising_factorials(topics.eta[0], commonest),
        log_total=log_rising_factorials(
            topics.n_listed.size * topics.eta[0], tokens.topic.size + lengths.max()
        ),
        repeats=np.zeros(topics.n_listed.size, np.int32),
    )
    next_token = np.empty(tokens.topic.size, np.int32)
    begin = scratch.next_document[0] - n_documents
    while begin < n_documents:
        group, n_tokens, end = tokens.group[by_group[begin]], 0, begin
        while end < n_documents and tokens.group[by_group[end]] == group and n_tokens < BLOCK:
            n_tokens += lengths[by_group[end]]
            end += 1
        if documents.rest[group] > 0.0 and topics.n_topics[0] + n_tokens // 2 >= capacity:
            scratch.next_document[0] = n_documents + begin
            return False
        tables = unseated_tables(n_tokens, next_token, capacity, lengths.max())
        seat(rng, tokens, documents, scratch, tables, by_group[begin:end])
        move_tables(rng, tokens, documents, topics, scratch, tables, weights, group)
        begin = end
    return True

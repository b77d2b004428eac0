"""Splits and merges of topics: all that sits at a table of the root may move in one go.

Customers of the root are the tables of the documents, or, at three levels, those of the tasks, where the
tables of the documents sit down. Given who sits with whom below, and with all sticks integrated out, the root
is one Chinese restaurant of concentration gamma. With m_k customers of topic k,

    p(topics, words) ∝ gamma^K prod_k Γ(m_k) f(words of k),                                               (1)

f the Dirichlet-multinomial probability of a topic's words: a Dirichlet process mixture of bags of words. A
proposal (Dahl 2005) picks two customers, the anchors. If they have one topic, it splits: one anchor stays,
one leaves, and all others of the topic, one after the other, join either with probability
∝ m f(words | words there). If they have two topics, these merge. The numerators of the joining probabilities
are the factors of (1), so that a split is accepted with probability min(1, A),

    A = B gamma f(a) f(b) prod_c [m_1 f(c | 1) + m_2 f(c | 2)] / (Γ(m) f(all)),                           (2)

a and b the anchors, c the others in order; and a merge with min(1, 1 / A), A of the split that would undo it.
B is the probability of picking these anchors to merge them over that of picking them to split them.

Topics that are alike have words in common, while a topic that is two in truth splits between customers that
have none. So there are two ways to pick anchors:

- by two tokens of one word; how likely that is depends on who sits with whom, which no proposal changes, so
  that B = 1;
- the first at random, and with probability `SPLITS` the second at random of the same topic, else at random of
  all n customers; so that B = (1 - SPLITS) (m - 1) / (SPLITS n).

The others come in an order in which each has a word in common with those before it, as far as possible: for
the words that the two sides have between them, nobody's choice matters. Were the order random, the first ones
would choose blindly, and draw those after them to the wrong side.

A proposal for large topics takes long. So it goes ahead with probability min(1, `MOST_TOKENS` / n), n the
tokens of the two, or of the one, which is the same on the way back.

Afterwards all sticks are drawn anew given the customers, before anything looks at them: so there is no
Jacobian, and no stick of a topic that opened or closed.

References
----------
.. [1] D. B. Dahl (2005). Sequentially-allocated merge-split sampler for conjugate and nonconjugate Dirichlet
   process mixture models. Technical report, Texas A&M University.
.. [2] C. Wang, D. M. Blei (2012). A split-merge MCMC algorithm for the hierarchical Dirichlet process.
   arXiv:1201.1657.
"""

import math
from typing import NamedTuple

import numpy as np

from ..toolbox.jit import borrowing_kernel, kernel
from .customers import count_by_topic, draw_customers, give_topic, goes_ahead, group_of_tables
from .documents import drop_empty_topics, update_alpha, update_sticks
from .tables import log_rising_factorials, seat, unseated_tables

TOKENS_A_PROPOSAL = 256
"""So that the number of proposals hangs on the corpus alone, as it must."""

MOST_TOKENS = 8192
"""That a proposal goes through, on average: on long documents topics are large, and proposals take long."""

BY_WORD = 0.5
"""Share of the proposals whose anchors have a word in common."""

SPLITS = 0.9
"""Share of splits among the other proposals."""


class Proposal(NamedTuple):
    """Working memory of a proposal.

    Attributes
    ----------
    others : int32 (customers,)
        All customers of the anchors' topics but the anchors, in random order.
    side : int8 (customers,)
        0 or 1, by customer.
    count : int32 (2, V)
        Tokens of each word on each side; zero between proposals.
    repeats : int32 (V,)
        Tokens of each word that have been seen of a customer; zero between customers.
    n_customers, n_tokens : int64 (2,)
        On each side.
    log_f : float64 (3,)
        Of a customer's words given those on each side, and given all of them.
    log_smoothed : float64 (commonest + 1,)
        log (eta + n).
    log_total : float64 (N + 1,)
        log (V eta)^(n), a rising factorial.
    by_word : int32 (N,)
        Tokens, in the order of their words.
    """

    others: np.ndarray
    side: np.ndarray
    count: np.ndarray
    repeats: np.ndarray
    n_customers: np.ndarray
    n_tokens: np.ndarray
    log_f: np.ndarray
    log_smoothed: np.ndarray
    log_total: np.ndarray
    by_word: np.ndarray


@borrowing_kernel
def weigh_customer(tokens, customers, proposal, customer):
    """Fill ``proposal.log_f`` with what the words of a customer weigh given those of each side."""
    log_f, count = proposal.log_f, proposal.count
    log_smoothed, log_total = proposal.log_smoothed, proposal.log_total
    size, n, m = customers.size[customer], proposal.n_tokens[0], proposal.n_tokens[1]
    log_f[0] = log_total[n] - log_total[n + size]
    log_f[1] = log_total[m] - log_total[m + size]
    log_f[2] = log_total[n + m] - log_total[n + m + size]
    i = customers.first_token[customer]
    while i >= 0:
        w = tokens.words[i]
        repeat = proposal.repeats[w]
        proposal.repeats[w] += 1
        log_f[0] += log_smoothed[count[0, w] + repeat]
        log_f[1] += log_smoothed[count[1, w] + repeat]
        log_f[2] += log_smoothed[count[0, w] + count[1, w] + repeat]
        i = customers.next_token[i]
    i = customers.first_token[customer]
    while i >= 0:
        proposal.repeats[tokens.words[i]] = 0
        i = customers.next_token[i]


@borrowing_kernel
def join(tokens, customers, proposal, customer, side):
    """Count a customer in on a side."""
    proposal.side[customer] = side
    proposal.n_customers[side] += 1
    proposal.n_tokens[side] += customers.size[customer]
    i = customers.first_token[customer]
    while i >= 0:
        proposal.count[side, tokens.words[i]] += 1
        i = customers.next_token[i]


@borrowing_kernel
def clear(tokens, customers, proposal, customer):
    """Zero the counts of a customer's words."""
    i = customers.first_token[customer]
    while i >= 0:
        proposal.count[0, tokens.words[i]] = 0
        proposal.count[1, tokens.words[i]] = 0
        i = customers.next_token[i]


@borrowing_kernel
def gather_others(customers, proposal, topic, a, b, n_others):
    """Append the customers of a topic, but the anchors; return how many others there are."""
    customer = customers.of_topic[topic]
    while customer >= 0:
        if customer not in (a, b):
            proposal.others[n_others] = customer
            n_others += 1
        customer = customers.next_customer[customer]
    return n_others


@borrowing_kernel
def has_known_word(tokens, customers, proposal, customer):
    """Whether a customer has a word in common with those on the two sides."""
    i = customers.first_token[customer]
    while i >= 0:
        w = tokens.words[i]
        if proposal.count[0, w] + proposal.count[1, w] > 0:
            return True
        i = customers.next_token[i]
    return False


@borrowing_kernel
def choose_side(rng, tokens, customers, proposal, customer, stays):
    """Let a customer join a side; return its factors of A and of the probability of all, as logarithms.

    It chooses, or, where the sides are told apart already, is on side 0 if it has the topic `stays`.
    """
    weigh_customer(tokens, customers, proposal, customer)
    first = math.log(proposal.n_customers[0]) + proposal.log_f[0]
    second = math.log(proposal.n_customers[1]) + proposal.log_f[1]
    high = max(first, second)
    both = high + math.log1p(math.exp(min(first, second) - high))
    if stays < 0:
        side = 0 if rng.random() < math.exp(first - both) else 1
    else:
        side = 0 if tokens.topic[customers.first_token[customer]] == stays else 1
    join(tokens, customers, proposal, customer, side)
    return both, proposal.log_f[2]


@kernel
def allocate(rng, tokens, customers, proposal, a, b, n_others, stays):
    """Put customers on sides 0, of anchor `a`, and 1, of `b`; return log A of (2), up to gamma and B."""
    others = proposal.others
    proposal.n_customers[:] = 0
    proposal.n_tokens[:] = 0
    weigh_customer(tokens, customers, proposal, a)
    log_a, log_all = proposal.log_f[0], proposal.log_f[0]
    join(tokens, customers, proposal, a, 0)
    weigh_customer(tokens, customers, proposal, b)
    log_a += proposal.log_f[1]
    log_all += proposal.log_f[2]
    join(tokens, customers, proposal, b, 1)
    for j in range(n_others - 1, 0, -1):
        pick = int(rng.random() * (j + 1))
        others[pick], others[j] = others[j], others[pick]
    n_in, must = 0, False
    while n_in < n_others:
        n_before = n_in
        for j in range(n_in, n_others):
            customer = others[j]
            if must or has_known_word(tokens, customers, proposal, customer):
                both, of_all = choose_side(rng, tokens, customers, proposal, customer, stays)
                log_a += both
                log_all += of_all
                others[n_in], others[j] = customer, others[n_in]
                n_in += 1
                must = False
        must = n_in == n_before  # nobody left has a word in common with those who are in
    return log_a - log_all - math.lgamma(n_others + 2.0)


@borrowing_kernel
def pick_by_word(rng, topics, customers, proposal):
    """Two customers of one word, or the same one twice."""
    word = int(rng.random() * topics.n_listed.size)
    begin, n = topics.word_ptr[word], topics.word_ptr[word + 1] - topics.word_ptr[word]
    if n == 0:
        return 0, 0
    a = customers.of_token[proposal.by_word[begin + int(rng.random() * n)]]
    return a, customers.of_token[proposal.by_word[begin + int(rng.random() * n)]]


@borrowing_kernel
def pick_of_one_topic(rng, tokens, customers):
    """Two customers of one topic, or the same one twice where it has no other."""
    a = int(rng.random() * customers.size.size)
    topic = tokens.topic[customers.first_token[a]]
    n_others = customers.n_of_topic[topic] - 1
    if n_others == 0:
        return a, a
    left = int(rng.random() * n_others)
    b = customers.of_topic[topic]
    while b == a or left > 0:
        if b != a:
            left -= 1
        b = customers.next_customer[b]
    return a, b


@borrowing_kernel
def pick_of_two_topics(rng, tokens, customers):
    """Two customers at random, or the same one twice where they have one topic."""
    a, b = int(rng.random() * customers.size.size), int(rng.random() * customers.size.size)
    if tokens.topic[customers.first_token[a]] == tokens.topic[customers.first_token[b]]:
        return a, a
    return a, b


@kernel
def propose(rng, tokens, documents, topics, customers, proposal):
    """Split or merge the topics of two customers, or leave them as they are."""
    by_word = rng.random() < BY_WORD
    if by_word:
        a, b = pick_by_word(rng, topics, customers, proposal)
    elif rng.random() < SPLITS:
        a, b = pick_of_one_topic(rng, tokens, customers)
    else:
        a, b = pick_of_two_topics(rng, tokens, customers)
    if a == b:
        return
    old = np.int64(tokens.topic[customers.first_token[a]])
    other = np.int64(tokens.topic[customers.first_token[b]])
    if not goes_ahead(rng, topics, old, other, MOST_TOKENS):
        return
    splits = old == other
    n_others = gather_others(customers, proposal, old, a, b, 0)
    if not splits:
        n_others = gather_others(customers, proposal, other, a, b, n_others)
    log_a = math.log(documents.gamma[0])
    if not by_word:
        log_a += math.log((1.0 - SPLITS) * (n_others + 1.0) / (SPLITS * customers.size.size))
    log_a += allocate(rng, tokens, customers, proposal, a, b, n_others, -1 if splits else old)
    clear(tokens, customers, proposal, a)
    clear(tokens, customers, proposal, b)
    for j in range(n_others):
        clear(tokens, customers, proposal, proposal.others[j])
    if rng.random() >= math.exp(min(0.0, log_a if splits else -log_a)):
        return
    new = old
    if splits:
        new = topics.n_topics[0]
        topics.n_topics[0] += 1
    customers.of_topic[old] = customers.of_topic[other] = customers.of_topic[new] = -1
    customers.n_of_topic[old] = customers.n_of_topic[other] = customers.n_of_topic[new] = 0
    give_topic(tokens, topics, customers, a, old)
    give_topic(tokens, topics, customers, b, new)
    for j in range(n_others):
        customer = proposal.others[j]
        give_topic(tokens, topics, customers, customer, new if proposal.side[customer] == 1 else old)


@kernel
def tokens_by_word(tokens, topics):
    """Tokens in the order of their words."""
    out = np.empty(tokens.words.size, np.int32)
    next_one = topics.word_ptr[:-1].copy()
    for i in range(tokens.words.size):
        w = tokens.words[i]
        out[next_one[w]] = i
        next_one[w] += 1
    return out


@kernel
def empty_proposal(tokens, topics, n_customers):
    """Working memory of proposals."""
    n_words, n_tokens = topics.n_listed.size, tokens.words.size
    commonest = (topics.word_ptr[1:] - topics.word_ptr[:-1]).max()
    return Proposal(
        others=np.empty(n_customers, np.int32),
        side=np.zeros(n_customers, np.int8),
        count=np.zeros((2, n_words), np.int32),
        repeats=np.zeros(n_words, np.int32),
        n_customers=np.zeros(2, np.int64),
        n_tokens=np.zeros(2, np.int64),
        log_f=np.zeros(3),
        log_smoothed=np.log(topics.eta[0] + np.arange(commonest + 1)),
        log_total=log_rising_factorials(n_words * topics.eta[0], n_tokens),
        by_word=tokens_by_word(tokens, topics),
    )


@kernel
def topic_pass(rng, tokens, documents, topics, scratch):
    """Split and merge topics, then move all of the document side, which may renumber topics.

    Returns False, with nothing done, if the arrays over topics need more room. Mutates all arguments.
    """
    n_tokens, capacity = tokens.topic.size, documents.prior.shape[1]
    n_proposals = -(-n_tokens // TOKENS_A_PROPOSAL)
    if topics.n_topics[0] + n_proposals >= capacity:
        return False
    longest = (tokens.doc_ptr[1:] - tokens.doc_ptr[:-1]).max()
    tables = unseated_tables(n_tokens, np.empty(n_tokens, np.int32), capacity, longest)
    n_tables = seat(rng, tokens, documents, scratch, tables, np.arange(tokens.group.size))
    group = group_of_tables(tokens, tables, n_tables)
    customers = draw_customers(rng, tokens, documents, tables, group)
    proposal = empty_proposal(tokens, topics, customers.size.size)
    for _ in range(n_proposals):
        propose(rng, tokens, documents, topics, customers, proposal)
    drop_empty_topics(tokens, documents, topics)
    size = documents.rest.size, topics.n_topics[0]
    at_tables = count_by_topic(tokens, group, tables.first_token, *size)
    at_root = count_by_topic(tokens, customers.group, customers.first_token, *size)
    update_alpha(rng, tokens, documents, at_tables)
    update_sticks(rng, documents, at_tables, at_root)
    return True

"""Splits and merges of topics token by token, by restricted Gibbs scans.

Two topics that share documents can sit in one as large as both, their words side by side at every table. Then
no table is of one of the two alone, and moves of whole tables do not take them apart. A proposal of this kind
goes through the tokens instead.

It picks two tokens of one document, the anchors, and the tokens S that have the topic of either. If that is
one topic it splits into two halves, each with an anchor; if these are two topics, they merge. With v and
1 - v the shares of the halves in the root stick beta of both, and u_g and 1 - u_g those in the stick of
task g,

    p(split) / p(merged) = gamma / (v (1 - v)) prod_g Beta(u_g; alpha0 beta v, alpha0 beta (1 - v))
                           prod_S urn(half) / urn(both),                                                   (1)

    urn(s) = (prior_gs + n_ds) (eta + n_sw) / (V eta + n_s)

given the tokens that came before. At two levels u_g is v, and there are no Beta densities.

How to split is found as Jain and Neal (2004) do. From random sides of all tokens but the anchors, Gibbs scans
draw the sides of S, given the shares, and the shares, given their tables: the *launch*. Shares and sides are
then drawn once more, with a known probability, and are the proposal. A merge makes a launch as well, and
asks how probable its own halves are from there. The launch hangs on S, the anchors and the sticks of both
halves together, none of which a proposal changes; so that a split is accepted with probability min(1, A),
where A is (1) over the probability of the last step, and a merge with min(1, 1 / A).

Given m_s dishes of the root and t_gs tables of the tasks, v ~ Beta(m_0, m_1) and
u_g ~ Beta(alpha0 beta v + t_g0, alpha0 beta (1 - v) + t_g1); and so (1) up to the urns, over the probability
of the shares, is

    gamma B(m_0, m_1) v^-m_0 (1 - v)^-m_1
    prod_g B(alpha0 beta v + t_g0, alpha0 beta (1 - v) + t_g1) / B(alpha0 beta v, alpha0 beta (1 - v))
           u_g^-t_g0 (1 - u_g)^-t_g1.                                                                      (2)

A proposal for large topics takes long. So it goes ahead with probability min(1, `MOST_TOKENS` / |S|), which
is the same on the way back.

References
----------
.. [1] S. Jain, R. M. Neal (2004). A split-merge Markov chain Monte Carlo procedure for the Dirichlet process
   mixture model. Journal of Computational and Graphical Statistics 13, 158-182.
"""

import math
from typing import NamedTuple

import numpy as np

from ..toolbox.dirichlet import list_token, unlist_token
from ..toolbox.jit import borrowing_kernel, kernel
from ..toolbox.random import SMALLEST, crt, log_beta, log_beta_variate
from .customers import goes_ahead

TOKENS_A_PROPOSAL = 4096
"""So that the number of proposals hangs on the corpus alone, as it must."""

MOST_TOKENS = 32
"""That a proposal goes through, on average, with each scan."""

SCANS = 64
"""Of a launch. With 32, large topics may take twice as long to split."""

TOKENS_A_SCAN = 4
"""Of small topics, whose launches are shorter."""

LEAST = 1e-200
"""Products of probabilities become logarithms before they are smaller, or larger than its inverse."""


class Halves(NamedTuple):
    """Working memory of a proposal.

    Attributes
    ----------
    first_token : int32 (capacity,)
        Of each topic; -1 if it has none.
    next_token : int32 (N,)
        The next one of the same topic, -1 after the last.
    doc_of : int32 (N,)
    member : int32 (N,)
        The tokens S, in order.
    side : int8 (N,)
        0 or 1, of each member.
    count : int32 (2, V)
        Tokens of each word on each side; zero between proposals.
    total : int64 (2,)
    both : float64 (G + 1,)
        What the halves share: the weight prior[g, k] of each task, and the root stick.
    prior : float64 (2, G)
        Weight of each half.
    log_share : float64 (2, G + 1)
        log u_g and log (1 - u_g); last, log v and log (1 - v).
    tables : int64 (2, G + 1)
        t_gs; last, m_s.
    """

    first_token: np.ndarray
    next_token: np.ndarray
    doc_of: np.ndarray
    member: np.ndarray
    side: np.ndarray
    count: np.ndarray
    total: np.ndarray
    both: np.ndarray
    prior: np.ndarray
    log_share: np.ndarray
    tables: np.ndarray


@borrowing_kernel
def gather(halves, one, other):
    """Fill in the tokens of two topics, or of one given twice, in order; return how many there are."""
    n, i, j = 0, halves.first_token[one], halves.first_token[other]
    if one == other:
        j = -1
    while i >= 0 or j >= 0:
        if j < 0 or 0 <= i < j:
            halves.member[n] = i
            i = halves.next_token[i]
        else:
            halves.member[n] = j
            j = halves.next_token[j]
        n += 1
    return n


@borrowing_kernel
def document_at(tokens, halves, n, begin):
    """End of the document of member `begin` among all `n`, its group, and its members on either side."""
    d, end, n1 = halves.doc_of[halves.member[begin]], begin, 0
    while end < n and halves.doc_of[halves.member[end]] == d:
        n1 += int(halves.side[end])
        end += 1
    return end, tokens.group[d], end - begin - n1, n1


@borrowing_kernel
def count_member(tokens, halves, j, side, by):
    """Count a member into a side, or out of it."""
    halves.count[side, tokens.words[halves.member[j]]] += by
    halves.total[side] += by


@kernel
def put_at_random(rng, tokens, halves, n, a, b):
    """Put all members but the anchors on random sides."""
    for j in range(n):
        i = halves.member[j]
        if i == a:
            halves.side[j] = 0
        elif i == b:
            halves.side[j] = 1
        else:
            halves.side[j] = 0 if rng.random() < 0.5 else 1
        count_member(tokens, halves, j, halves.side[j], 1)


@kernel
def scan(rng, tokens, halves, eta, n, a, b, actual):
    """Draw the side of each member but the anchors given all others; return the log probability of what came.

    If `actual` is a topic, members of it go to side 0 and others to side 1, and nothing is drawn.
    """
    count, total = halves.count, halves.total
    smoothing = count.shape[1] * eta
    log_q, product, begin = 0.0, 1.0, 0
    while begin < n:
        end, g, n0, n1 = document_at(tokens, halves, n, begin)
        for j in range(begin, end):
            i = halves.member[j]
            if i in (a, b):
                continue
            w = tokens.words[i]
            old = int(halves.side[j])
            count_member(tokens, halves, j, old, -1)
            n0 -= 1 - old
            n1 -= old
            first = (halves.prior[0, g] + n0) * (count[0, w] + eta) * (total[1] + smoothing)
            second = (halves.prior[1, g] + n1) * (count[1, w] + eta) * (total[0] + smoothing)
            if actual < 0:
                new = 0 if rng.random() * (first + second) < first else 1
            else:
                new = 0 if tokens.topic[i] == actual else 1
            product *= (first if new == 0 else second) / (first + second)
            if product < LEAST:
                log_q += math.log(max(product, SMALLEST))
                product = 1.0
            halves.side[j] = new
            count_member(tokens, halves, j, new, 1)
            n0 += 1 - new
            n1 += new
        begin = end
    return log_q + math.log(product)


@kernel
def seat_halves(rng, tokens, documents, halves, n):
    """Draw the tables of the documents, by task, and the dishes at the root."""
    tables, n_groups = halves.tables, documents.rest.size
    tables[:] = 0
    begin = 0
    while begin < n:
        end, g, n0, n1 = document_at(tokens, halves, n, begin)
        tables[0, g] += crt(rng, n0, halves.prior[0, g])
        tables[1, g] += crt(rng, n1, halves.prior[1, g])
        begin = end
    for side in range(2):
        if documents.n_levels[0] == 2:
            tables[side, 1] = tables[side, 0]
        else:
            stick = documents.alpha0[0] * halves.both[n_groups] * math.exp(halves.log_share[side, n_groups])
            for g in range(n_groups):
                tables[side, n_groups] += crt(rng, tables[side, g], stick)


@borrowing_kernel
def log_part(part, whole):
    """Logarithm of a share of a stick."""
    return math.log(max(part / whole, SMALLEST)) if whole > 0.0 else math.log(0.5)


@kernel
def share_sticks(rng, documents, halves, drawn):
    """Draw the shares of the halves given their tables, or take them as they are; return log (2)."""
    log_share, tables, n_groups = halves.log_share, halves.tables, documents.rest.size
    m0, m1 = float(tables[0, n_groups]), float(tables[1, n_groups])
    if drawn:
        log_share[0, n_groups], log_share[1, n_groups] = log_beta_variate(rng, m0, m1)
    out = math.log(documents.gamma[0]) + log_beta(m0, m1)
    out -= m0 * log_share[0, n_groups] + m1 * log_share[1, n_groups]
    for g in range(n_groups):
        if documents.n_levels[0] == 2:
            log_share[:, g] = log_share[:, n_groups]
        else:
            stick = documents.alpha0[0] * halves.both[n_groups]
            s0 = max(stick * math.exp(log_share[0, n_groups]), SMALLEST)
            s1 = max(stick * math.exp(log_share[1, n_groups]), SMALLEST)
            t0, t1 = tables[0, g], tables[1, g]
            if drawn:
                log_share[0, g], log_share[1, g] = log_beta_variate(rng, s0 + t0, s1 + t1)
            out += log_beta(s0 + t0, s1 + t1) - log_beta(s0, s1)
            out -= t0 * log_share[0, g] + t1 * log_share[1, g]
        for side in range(2):
            halves.prior[side, g] = halves.both[g] * math.exp(log_share[side, g])
    return out


@kernel
def log_urns(tokens, halves, eta, n):
    """Logarithm of the last product of (1). Counts all members out on the way."""
    count, total = halves.count, halves.total
    smoothing = count.shape[1] * eta
    out, product, begin = 0.0, 1.0, 0
    while begin < n:
        end, g, n0, n1 = document_at(tokens, halves, n, begin)
        for j in range(begin, end):
            w, side = tokens.words[halves.member[j]], int(halves.side[j])
            count_member(tokens, halves, j, side, -1)
            n0 -= 1 - side
            n1 -= side
            half = halves.prior[side, g] + (n1 if side == 1 else n0)
            product *= half / max(halves.both[g] + n0 + n1, SMALLEST)
            product *= (eta + count[side, w]) / (eta + count[0, w] + count[1, w])
            product *= (smoothing + total[0] + total[1]) / (smoothing + total[side])
            if not LEAST < product < 1.0 / LEAST:
                out += math.log(max(product, SMALLEST))
                product = 1.0
        begin = end
    return out + math.log(product)


@kernel
def launch(rng, tokens, documents, halves, eta, n, a, b):
    """Draw sides and shares that hang on what a proposal leaves as it is; sit down at tables given these."""
    halves.log_share[:] = math.log(0.5)
    halves.prior[:] = 0.5 * halves.both[:-1]
    put_at_random(rng, tokens, halves, n, a, b)
    for _ in range(min(SCANS, 1 + n // TOKENS_A_SCAN)):
        scan(rng, tokens, halves, eta, n, a, b, -1)
        seat_halves(rng, tokens, documents, halves, n)
        share_sticks(rng, documents, halves, True)
    seat_halves(rng, tokens, documents, halves, n)


@kernel
def log_acceptance(rng, tokens, documents, topics, halves, n, a, b):
    """Log A of a split that it draws, or of the one that a merge would undo."""
    one, other, eta = tokens.topic[a], tokens.topic[b], topics.eta[0]
    splits = one == other
    halves.both[:-1] = documents.prior[:, one]
    halves.both[-1] = documents.root[one]
    if not splits:
        halves.both[:-1] += documents.prior[:, other]
        halves.both[-1] += documents.root[other]
    launch(rng, tokens, documents, halves, eta, n, a, b)
    if not splits:
        for side in range(2):
            k = other if side == 1 else one
            for g in range(documents.rest.size):
                halves.log_share[side, g] = log_part(documents.prior[g, k], halves.both[g])
            halves.log_share[side, -1] = log_part(documents.root[k], halves.both[-1])
    log_a = share_sticks(rng, documents, halves, splits)
    log_a -= scan(rng, tokens, halves, eta, n, a, b, -1 if splits else one)
    return log_a + log_urns(tokens, halves, eta, n)


@kernel
def take_halves(tokens, documents, topics, halves, n, one, other):
    """Give the members the topics of their sides, with their sticks."""
    documents.prior[:, one], documents.prior[:, other] = halves.prior[0], halves.prior[1]
    documents.root[one] = halves.both[-1] * math.exp(halves.log_share[0, -1])
    documents.root[other] = halves.both[-1] * math.exp(halves.log_share[1, -1])
    halves.first_token[one] = halves.first_token[other] = -1
    for j in range(n - 1, -1, -1):
        i = halves.member[j]
        old, new = tokens.topic[i], other if halves.side[j] == 1 else one
        if new != old:
            unlist_token(topics, tokens.words[i], old)
            list_token(topics, tokens.words[i], new)
            tokens.topic[i] = new
        halves.next_token[i] = halves.first_token[new]
        halves.first_token[new] = i


@kernel
def propose_halves(rng, tokens, documents, topics, halves, a, b):
    """Split or merge the topics of two tokens, or leave them as they are."""
    one, other = np.int64(tokens.topic[a]), np.int64(tokens.topic[b])
    splits = one == other
    n = gather(halves, one, other)
    log_a = log_acceptance(rng, tokens, documents, topics, halves, n, a, b)
    if rng.random() >= math.exp(min(0.0, log_a if splits else -log_a)):
        return
    if splits:
        other = topics.n_topics[0]
        topics.n_topics[0] += 1
    else:  # all of it is the first half
        halves.side[:n] = 0
        halves.prior[0], halves.prior[1] = halves.both[:-1], 0.0
        halves.log_share[0, -1], halves.log_share[1, -1] = 0.0, -math.inf
    take_halves(tokens, documents, topics, halves, n, one, other)


@kernel
def empty_halves(tokens, documents, topics):
    """Working memory of proposals, in which the tokens of each topic are linked."""
    n_tokens, n_groups, capacity = tokens.topic.size, documents.rest.size, documents.prior.shape[1]
    lengths = tokens.doc_ptr[1:] - tokens.doc_ptr[:-1]
    halves = Halves(
        first_token=np.full(capacity, -1, np.int32),
        next_token=np.empty(n_tokens, np.int32),
        doc_of=np.repeat(np.arange(lengths.size), lengths).astype(np.int32),
        member=np.empty(n_tokens, np.int32),
        side=np.empty(n_tokens, np.int8),
        count=np.zeros((2, topics.n_listed.size), np.int32),
        total=np.zeros(2, np.int64),
        both=np.zeros(n_groups + 1),
        prior=np.zeros((2, n_groups)),
        log_share=np.zeros((2, n_groups + 1)),
        tables=np.zeros((2, n_groups + 1), np.int64),
    )
    for i in range(n_tokens - 1, -1, -1):
        halves.next_token[i] = halves.first_token[tokens.topic[i]]
        halves.first_token[tokens.topic[i]] = i
    return halves


@kernel
def half_pass(rng, tokens, documents, topics):
    """Split and merge topics token by token; topics that merged into others are left without tokens.

    Returns False, with nothing done, if the arrays over topics need more room. Mutates all arguments.
    """
    n_tokens = tokens.topic.size
    n_proposals = 2 + n_tokens // TOKENS_A_PROPOSAL
    if topics.n_topics[0] + n_proposals >= documents.prior.shape[1]:
        return False
    halves = empty_halves(tokens, documents, topics)
    for _ in range(n_proposals):
        a = int(rng.random() * n_tokens)
        d = halves.doc_of[a]
        b = tokens.doc_ptr[d] + int(rng.random() * (tokens.doc_ptr[d + 1] - tokens.doc_ptr[d]))
        if a != b and goes_ahead(rng, topics, tokens.topic[a], tokens.topic[b], MOST_TOKENS):
            propose_halves(rng, tokens, documents, topics, halves, a, b)
    return True

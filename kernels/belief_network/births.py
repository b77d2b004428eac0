"""Topics that open: which words they begin with given the layers above, and their links given that word.

A topic j that is not represented has links beta_kj ~ Gamma(gamma_k, c), of one rate for all k. So their
shares are Dirichlet(gamma), and independent of their sum, which is Gamma(sum_k gamma_k, c). The share of
topic k is the probability that the first token comes from it, and

    p(first word is w) = sum_k gamma_k phi_kw / sum_k gamma_k                                              (1)

    shares | w         ~ Dirichlet(gamma + e_k),   k with probability ∝ gamma_k phi_kw
    sum | w            ~ Gamma(sum_k gamma_k, c)

With one layer, (1) is 1 / V.

A topic loses its links as soon as its last token has left, and gets others with its next one. Until then it
weighs its stick times (1). So topics without tokens, represented or not, weigh together what is left of the
sticks times (1), and a token chooses among them before anything is known of their links. Were the links of a
topic that has ended kept, those of topics never seen would be as fixed, though unknown, and (1) would be no
more than the mean of what they weigh.
"""

import math

from ..toolbox.jit import borrowing_kernel, kernel
from ..toolbox.random import log_gamma_variate
from .layers import LEAST, LOWEST, find_in_mixture, link_shapes


@kernel
def expect_births(layers, births):
    """Bring up to date what topics that open will be like."""
    if layers.mass.size == 0:
        births.first_word[:] = 1.0 / births.first_word.size
        return
    births.shape[:] = link_shapes(layers, 0)
    share = births.shape / births.shape.sum()
    for w in range(births.first_word.size):
        births.first_word[w] = LEAST  # of a word that has underflowed in all topics
        for k in range(share.size):
            births.first_word[w] += share[k] * layers.topics[0, w, k]


@borrowing_kernel
def draw_origin(rng, births, topics, word):
    """Draw the upper topic that the first token of a topic comes from, given its word."""
    total = 0.0
    for k in range(births.shape.size):
        total += births.shape[k]
    # A token has one uniform variate, which chose to open a topic; this is another, made of an exponential.
    u = math.exp(-rng.standard_exponential()) * births.first_word[word] * total
    return find_in_mixture(u, births.shape, topics, word, births.shape.size)


@borrowing_kernel
def draw_first_links(rng, layers, births, word, log_links):
    """Draw the links (W,) of a topic given the word that opened it, and their exponentials as by `linear`.

    Returns the sum of the exponentials.
    """
    origin = draw_origin(rng, births, layers.topics[0], word)
    all_shapes, high = 0.0, -math.inf
    for k in range(log_links.size):
        shape = births.shape[k]
        all_shapes += shape
        log_links[k] = log_gamma_variate(rng, shape + 1.0 if k == origin else shape)
        high = max(high, log_links[k])
    total = 0.0
    for k in range(log_links.size):
        total += math.exp(log_links[k] - high)
    log_sum = log_gamma_variate(rng, all_shapes) - math.log(layers.link_rate[0])
    highest, total = log_sum - math.log(total), 0.0
    for k in range(log_links.size):
        relative = log_links[k] - high
        log_links[k] = relative + highest
        births.links[k] = math.exp(log_links[k] if highest > LOWEST else relative + LOWEST)
        total += births.links[k]
    return total


@borrowing_kernel
def is_last(topics, k):
    """Whether the topic of a token, which is counted, loses its links without it."""
    return topics.births.happen[0] and topics.total[k] == 1


@borrowing_kernel
def weigh_unlinked(topics, word, k):
    """Let topic `k` weigh for one token of `word` as if it had no links."""
    topics.psi[word, k] = topics.births.first_word[word]
    topics.psi_total[k] = 1.0


@borrowing_kernel
def forget_links(topics, k):
    """Integrate the links of topic `k` out again, which its last token has left."""
    births, log_links = topics.births, topics.layers.log_links[k]
    for j in range(log_links.size):
        log_links[j] = -math.inf
    for w in range(births.first_word.size):
        topics.psi[w, k] = births.first_word[w]
    topics.psi_total[k] = 1.0


@borrowing_kernel
def draw_if_first(rng, topics, word, k):
    """Draw the links of topic `k` if a token of `word`, which is counted, is its first."""
    births, layers = topics.births, topics.layers
    if not births.happen[0] or topics.total[k] > 1:
        return
    if layers.mass.size == 0:
        for w in range(births.first_word.size):
            topics.psi[w, k] = topics.eta[0]
        topics.psi_total[k] = births.first_word.size * topics.eta[0]
        return
    topics.psi_total[k] = draw_first_links(rng, layers, births, word, layers.log_links[k])
    for w in range(births.first_word.size):
        psi = 0.0
        for j in range(births.links.size):
            psi += births.links[j] * layers.topics[0, w, j]
        topics.psi[w, k] = psi

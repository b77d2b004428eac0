"""Topics that open: which words they begin with given the layers above, and their links given that word.

A topic j that is not represented has links beta_kj ~ Gamma(gamma_k, c), of one rate for all k. So their
shares are Dirichlet(gamma), and independent of their sum, which is Gamma(sum_k gamma_k, c). The share of topic
k is the probability that the first token comes from it, and

    p(first word is w) = sum_k gamma_k phi_kw / sum_k gamma_k                                              (1)

    shares | w         ~ Dirichlet(gamma + e_k),   k with probability ∝ gamma_k phi_kw
    sum | w            ~ Gamma(sum_k gamma_k, c)

With one layer, (1) is 1 / V. Links of a topic that is not represented are nowhere: where one ends they are
integrated out again, and nothing looks at what is left of them.
"""

import math

from ..toolbox.jit import borrowing_kernel, kernel
from ..toolbox.random import log_gamma_variate
from ..toolbox.sides import open_topic
from .layers import LEAST, LOWEST, link_shapes


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
    u = math.exp(-rng.standard_exponential()) * births.first_word[word]
    found = 0
    for k in range(births.shape.size):
        weight = births.shape[k] / total * topics[word, k]
        if weight > 0.0:
            found = k
            u -= weight
            if u < 0.0:
                return found
    return found  # by rounding, u can be as much as their sum


@borrowing_kernel
def draw_first_links(rng, layers, births, word, log_links):
    """Draw the links (W,) of a topic given the word that opened it, and their exponentials as `linear` has them.

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
def open_words(rng, topics, word, new):
    """Give topic `new` its links and its psi, given that it begins with a token of `word`."""
    n_words, layers, births = topics.n_listed.size, topics.layers, topics.births
    if layers.mass.size == 0:
        for w in range(n_words):
            topics.psi[w, new] = topics.eta[0]
        topics.psi_total[new] = n_words * topics.eta[0]
        return
    topics.psi_total[new] = draw_first_links(rng, layers, births, word, layers.log_links[new])
    for w in range(n_words):
        psi = 0.0
        for k in range(births.links.size):
            psi += births.links[k] * layers.topics[0, w, k]
        topics.psi[w, new] = psi


@borrowing_kernel
def open_both(rng, documents, topics, group, word):
    """Add a topic to both sides, given that a token of `word` in a document of `group` chose it."""
    new = topics.n_topics[0]
    topics.n_topics[0] += 1
    open_topic(rng, documents, new, group)
    open_words(rng, topics, word, new)
    return new

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

import numpy as np

from ..toolbox.jit import borrowing_kernel, kernel
from ..toolbox.random import log_gamma_variate
from ..toolbox.sides import open_topic
from .layers import LEAST, find_in_running, linear, link_shapes


@kernel
def weigh_first_words(layers, out):
    """Fill `out` (V,) with (1)."""
    if layers.mass.size == 0:
        out[:] = 1.0 / out.size
        return
    shape = link_shapes(layers, 0)
    share = shape / shape.sum()
    for w in range(out.size):
        out[w] = LEAST  # of a word that has underflowed in all topics
        for k in range(share.size):
            out[w] += share[k] * layers.topics[0, w, k]


@kernel
def draw_first_links(rng, layers, word, log_links):
    """Draw the links (W,) of a topic given the word that opened it."""
    shape = link_shapes(layers, 0)
    log_sum = log_gamma_variate(rng, shape.sum()) - math.log(layers.link_rate[0])
    running = np.cumsum(shape / shape.sum() * layers.topics[0, word])
    # A token has one uniform variate, which chose to open a topic; this is another in disguise.
    u = math.exp(-rng.standard_exponential())
    shape[find_in_running(running, u * running[-1])] += 1.0
    high, total = -np.inf, 0.0
    for k in range(shape.size):
        log_links[k] = log_gamma_variate(rng, shape[k])
        high = max(high, log_links[k])
    for k in range(shape.size):
        total += math.exp(log_links[k] - high)
    log_links += log_sum - (high + math.log(total))


@kernel
def open_words(rng, topics, word, new):
    """Give topic `new` its links and its psi, given that it begins with a token of `word`."""
    n_words, layers = topics.first_word.size, topics.layers
    if layers.mass.size == 0:
        topics.psi[:, new] = topics.eta[0]
        topics.psi_total[new] = n_words * topics.eta[0]
        return
    draw_first_links(rng, layers, word, layers.log_links[new])
    links = linear(layers.log_links[new : new + 1])[0]
    topics.psi_total[new] = links.sum()
    for w in range(n_words):
        psi = 0.0
        for k in range(links.size):
            psi += links[k] * layers.topics[0, w, k]
        topics.psi[w, new] = psi


@borrowing_kernel
def open_both(rng, documents, topics, group, word):
    """Add a topic to both sides, given that a token of `word` in a document of `group` chose it."""
    new = topics.n_topics[0]
    topics.n_topics[0] += 1
    open_topic(rng, documents, new, group)
    open_words(rng, topics, word, new)
    return new

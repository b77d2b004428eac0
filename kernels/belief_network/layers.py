"""One sweep of a Dirichlet belief network, given the counts of words in the topics of its first layer.

From the first layer up, the topics of each layer are integrated out and their counts of words handed to the
layer above, as tables that these words have there. Then all is drawn from the last layer down: in each layer
topics, and then mass, popularity and links, each with what comes after it integrated out.

What a step integrates out is drawn before anything depends on it, or the sweep would have another law:
popularity after mass, links after popularity, link_rate after the new links, and topics by the psi of the new
topics above and the new links. Algorithm 1 of Zhao et al. (2018) has another order, and so another law.
"""

import math

import numpy as np

from ..toolbox.gammas import LEAST, exponentials, log_gammas
from ..toolbox.jit import borrowing_kernel, kernel
from ..toolbox.random import concentration, crt, is_sampled, log_gamma_variate
from ..toolbox.tables import count_tables

LOWEST = -650.0
"""Least logarithm whose exponential has all its digits, with room for products."""


@kernel
def dense_counts(topics):
    """Tokens of each word in each represented topic, int64 (V, K)."""
    out = np.zeros((topics.n_listed.size, topics.n_topics[0]), np.int64)
    for w in range(out.shape[0]):
        for j in range(topics.word_ptr[w], topics.word_ptr[w] + topics.n_listed[w]):
            out[w, topics.listed_topic[j]] = topics.listed_count[j]
    return out


@kernel
def linear(log_links):
    """Exponentials of links (J, W); those of a topic whose links would all underflow are raised together.

    Of such a topic the sum of psi is nothing beside a token, and only the proportions of psi matter. Its
    companion does see the sum, and sees it as it is: `log_companion`.
    """
    out = np.empty(log_links.shape)
    for j in range(log_links.shape[0]):
        high = -np.inf
        for k in range(log_links.shape[1]):
            high = max(high, log_links[j, k])
        for k in range(log_links.shape[1]):
            raised = log_links[j, k] - high + LOWEST  # in this order: of large numbers, digits would be lost
            out[j, k] = math.exp(log_links[j, k] if high > LOWEST else raised)
    return out


@kernel
def log_companion(rng, log_mass, n):
    """Draw ``log(-log q)``, q ~ Beta(mass, n), also of a mass that is no positive double.

    As the mass goes to zero, ``-mass log q`` becomes an exponential variable.
    """
    if log_mass < LOWEST:
        return math.log(rng.standard_exponential()) - log_mass
    log_x = log_gamma_variate(rng, math.exp(log_mass))
    log_odds = log_gamma_variate(rng, n) - log_x
    return math.log(np.logaddexp(0.0, log_odds)) if log_odds > LOWEST else log_odds


@kernel
def log_row_sum(log_links, j):
    """Log of the sum of a topic's links."""
    high, total = log_links[j].max(), 0.0
    for k in range(log_links.shape[1]):
        total += math.exp(log_links[j, k] - high)
    return high + math.log(total)


@kernel
def pass_up(rng, counts, topics, log_links, log_l, links_used, above):
    """Hand the counts of a layer to that above it, the topics of the layer integrated out.

    Zhao et al. (2018), eq. (2) for every layer, with q = 1 for a topic without tokens, (3) and (4).

    Parameters
    ----------
    counts : int64 (V, J)
        Tokens of each word in the topics of the layer.
    topics : float64 (V, W)
        Topics of the layer above.
    log_links : float64 (J, W)
    log_l : float64 (J,)
        Filled with log l, l = -log q, q the companions of the topics' sums of psi.
    links_used : int64 (J, W)
        Filled with how many tables each link brings up.
    above : int64 (V, W)
        Filled with the counts of the layer above.
    """
    draw_companions(rng, counts.sum(axis=0), log_links, log_l)
    hand_up(rng, counts, topics, linear(log_links), links_used, above)


@kernel
def draw_companions(rng, total, log_links, log_l):
    """Draw what topics of so many tokens (J,) say of their sums of psi; see `pass_up`."""
    for j in range(total.size):
        log_mass = log_row_sum(log_links, j)
        log_l[j] = log_companion(rng, log_mass, float(total[j])) if total[j] > 0 else -np.inf


@kernel
def hand_up(rng, counts, topics, links, links_used, above):
    """Draw tables of words, and the topic above of each; see `pass_up`."""
    width = topics.shape[1]
    links_used[:] = 0
    above[:] = 0
    running = np.empty(width)
    for w in range(counts.shape[0]):
        for j in range(counts.shape[1]):
            if counts[w, j] == 0:
                continue
            psi = 0.0
            for k in range(width):
                psi += topics[w, k] * links[j, k]
                running[k] = psi
            for _ in range(crt(rng, counts[w, j], psi)):
                k = find_in_running(running, rng.random() * psi)
                links_used[j, k] += 1
                above[w, k] += 1


@kernel
def find_in_running(running, u):
    """Find the first entry of running sums that is above `u`; of equal ones the first."""
    low, high = 0, running.size - 1
    while low < high:
        middle = (low + high) // 2
        if running[middle] > u:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def draw_eta(rng, eta, prior, counts):
    """Draw the Dirichlet parameter of the last layer, its topics integrated out, in place.

    Zhao et al. (2018), eq. (13) and (14); the rate there lacks a factor V.
    """
    if is_sampled(prior):
        tables = count_tables(rng, counts, np.full(counts.shape[1], eta[0])).sum()
        renew_eta(rng, eta, prior, tables, counts.sum(axis=0), counts.shape[0])


@kernel
def renew_eta(rng, eta, prior, tables, total, n_words):
    """Draw the same given how many tables there are, and tokens of each topic (K,)."""
    eta[0] = concentration(rng, eta[0], prior, tables, total, float(n_words))


@kernel
def draw_links(rng, layers, t, log_l, links_used, log_links):
    """Draw all between the topics below upper layer `t` and those in it, the topics below integrated out.

    Zhao et al. (2018), eq. (6), (9), (10), (7), (11), (5) and (8), in this order. Sums over topics below are
    over all of them, with tokens or without.

    Parameters
    ----------
    log_l : float64 (J,)
    links_used : int64 (J, W)
        As `pass_up` left them.
    log_links : float64 (J, W)
        Drawn in place.
    """
    spread = 0.0
    for j in range(log_l.size):
        spread += np.logaddexp(0.0, log_l[j] - math.log(layers.link_rate[t]))
    tables = np.zeros(links_used.shape[1], np.int64)
    for k in range(tables.size):
        popularity = math.exp(layers.log_popularity[t, k])
        for j in range(log_l.size):
            tables[k] += crt(rng, links_used[j, k], popularity)
    draw_mass(rng, layers, t, tables, spread)
    draw_popularity(rng, layers, t, tables, spread)
    draw_rate(rng, layers, t)
    draw_link_weights(rng, layers, t, log_l, links_used, log_links)
    draw_link_rate(rng, layers, t, log_links)


@kernel
def draw_mass(rng, layers, t, tables, spread):
    """Draw the mass of a layer given tables of its links, popularity and links integrated out."""
    if not is_sampled(layers.mass_prior):
        return
    shape = layers.mass_prior[0]
    for k in range(tables.size):
        shape += crt(rng, tables[k], layers.mass[t] / tables.size)
    rate = layers.mass_prior[1] + math.log1p(spread / layers.rate[t])
    layers.mass[t] = positive(log_gamma_variate(rng, shape) - math.log(rate))


@kernel
def draw_popularity(rng, layers, t, tables, spread):
    """Draw the popularity of a layer's topics given tables of its links, the links integrated out."""
    shape = max(layers.mass[t] / tables.size, LEAST)
    log_rate = math.log(layers.rate[t] + spread)
    for k in range(tables.size):
        layers.log_popularity[t, k] = log_gamma_variate(rng, shape + tables[k]) - log_rate


@kernel
def draw_rate(rng, layers, t):
    """Draw the rate of popularity."""
    if not is_sampled(layers.rate_prior):
        return
    rate = layers.rate_prior[1] + np.exp(layers.log_popularity[t]).sum()
    log_g = log_gamma_variate(rng, layers.rate_prior[0] + layers.mass[t])
    layers.rate[t] = positive(log_g - math.log(rate))


@kernel
def link_shapes(layers, t):
    """Shapes of the links to the topics of upper layer `t`."""
    return np.maximum(np.exp(layers.log_popularity[t]), LEAST)


@kernel
def draw_link_weights(rng, layers, t, log_l, links_used, log_links):
    """Draw the links of all topics below, those without tokens by their prior."""
    shape = link_shapes(layers, t)
    for j in range(log_l.size):
        log_rate = np.logaddexp(math.log(layers.link_rate[t]), log_l[j])
        for k in range(shape.size):
            log_links[j, k] = log_gamma_variate(rng, shape[k] + links_used[j, k]) - log_rate


@kernel
def draw_link_rate(rng, layers, t, log_links):
    """Draw the rate of the links."""
    if not is_sampled(layers.link_rate_prior):
        return
    n_below = log_links.shape[0]
    shape = layers.link_rate_prior[0] + n_below * np.exp(layers.log_popularity[t]).sum()
    rate = layers.link_rate_prior[1] + np.exp(log_links).sum()
    layers.link_rate[t] = positive(log_gamma_variate(rng, shape) - math.log(rate))


@kernel
def positive(log_x):
    """Exponential of `log_x`, from 1e-300 to 1e300."""
    return min(max(math.exp(log_x), LEAST), 1.0 / LEAST)


@kernel
def mix(topics, links, psi):
    """Fill ``psi[w, j]`` with the sum of ``topics[w, k] links[j, k]`` over k."""
    by_upper = links.T.copy()
    for w in range(psi.shape[0]):
        row = psi[w, : by_upper.shape[1]]
        row[:] = 0.0
        for k in range(by_upper.shape[0]):
            share, of_upper = topics[w, k], by_upper[k]
            for j in range(row.size):
                row[j] += share * of_upper[j]


@borrowing_kernel
def find_in_mixture(u, share, topics, word, n_topics):
    """Topic at height `u` of all ``share[k] topics[word, k]`` laid end to end."""
    found = 0
    for k in range(n_topics):
        weight = share[k] * topics[word, k]
        if weight > 0.0:
            found = k
            u -= weight
            if u < 0.0:
                return found
    return found  # by rounding, u can be as much as their sum


@kernel
def draw_topics(rng, shapes, counts, log_topics, topics):
    """Draw the topics of an upper layer, columns of `log_topics` and of their exponentials, in place.

    Zhao et al. (2018), eq. (1) and (12).
    """
    high = draw_words(rng, shapes, counts, log_topics)
    normalise(log_topics, topics, high, exponentials(log_topics, high, topics))


@kernel
def draw_words(rng, shapes, counts, log_topics):
    """Put logs of gamma variables of words into `log_topics`; return the largest of each topic (W,)."""
    for w in range(counts.shape[0]):
        for k in range(counts.shape[1]):
            log_topics[w, k] = max(shapes[w, k], LEAST) + counts[w, k]
    return log_gammas(rng, log_topics)


@kernel
def normalise(log_topics, topics, high, total):
    """Make Dirichlet variables of gamma variables.

    Parameters
    ----------
    log_topics, topics : float64 (V, W)
        Their logarithms, and exponentials relative to `high`.
    high, total : float64 (W,)
        `total` is the sum of these exponentials over all words.
    """
    level = np.empty(total.size)
    for k in range(total.size):
        level[k] = high[k] + math.log(total[k])
    for w in range(topics.shape[0]):
        for k in range(total.size):
            log_topics[w, k] -= level[k]
            topics[w, k] /= total[k]


@kernel
def sweep_layers(rng, counts, eta, eta_prior, layers, psi, psi_total):
    """Draw eta and all layers above the first given the counts of the first, and bring psi up to date.

    Parameters
    ----------
    counts : int64 (V, K)
        Of the topics that are represented; there may be room for more in the other arrays.
    eta, eta_prior : float64 (1,), (2,)
    layers : Layers
    psi : float64 (V, capacity)
    psi_total : float64 (capacity,)
    """
    n_upper, width = layers.log_popularity.shape
    n_words, n_topics = counts.shape
    if n_upper == 0:
        draw_eta(rng, eta, eta_prior, counts)
        psi[:, :n_topics] = eta[0]
        psi_total[:n_topics] = n_words * eta[0]
        return
    below, first_links = max(n_topics, width), layers.log_links[:n_topics]
    log_l = np.zeros((n_upper, below))
    links_used = np.zeros((n_upper, below, width), np.int64)
    tables = np.zeros((n_upper, n_words, width), np.int64)
    for t in range(n_upper):
        n_below = n_topics if t == 0 else width
        log_links = first_links if t == 0 else layers.log_upper_links[t - 1]
        handed, used = counts if t == 0 else tables[t - 1], links_used[t, :n_below]
        pass_up(rng, handed, layers.topics[t], log_links, log_l[t, :n_below], used, tables[t])
    draw_eta(rng, eta, eta_prior, tables[n_upper - 1])
    shapes = np.full((n_words, width), eta[0])
    for t in range(n_upper - 1, -1, -1):
        draw_topics(rng, shapes, tables[t], layers.log_topics[t], layers.topics[t])
        n_below = n_topics if t == 0 else width
        log_links = first_links if t == 0 else layers.log_upper_links[t - 1]
        draw_links(rng, layers, t, log_l[t, :n_below], links_used[t, :n_below], log_links)
        if t > 0:
            mix(layers.topics[t], linear(log_links), shapes)
    links = linear(first_links)
    mix(layers.topics[0], links, psi)
    for j in range(n_topics):
        psi_total[j] = links[j].sum()

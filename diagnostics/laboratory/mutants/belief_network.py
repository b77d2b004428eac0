"""Deliberately wrong kernels of the models with topics under a Dirichlet belief network; see `registry`.

Several are what the paper or the authors' program has: the printed eq. (14), the orders of Algorithm 1,
tables that are too few, topics without tokens that are passed over.
"""

from ....zoo.families.belief_network.topics import BeliefNetwork
from ....zoo.families.hdp.family import HdpFamily
from ..patched import Change, Mutant

DRAW_LINKS = """\
    draw_link_weights(rng, layers, t, log_l, links_used, log_links)
    draw_link_rate(rng, layers, t, log_links)
"""
DRAW_MASS = """\
    draw_mass(rng, layers, t, tables, spread)
    draw_popularity(rng, layers, t, tables, spread)
"""
DRAW_ALL = DRAW_MASS + "    draw_rate(rng, layers, t)\n" + DRAW_LINKS
DRAW_TOPICS = "        draw_topics(rng, shapes, tables[t], layers.log_topics[t], layers.topics[t])\n"
DRAW_AND_MIX = """\
        draw_links(rng, layers, t, log_l[t, :n_below], links_used[t, :n_below], log_links)
        if t > 0:
            mix(layers.topics[t], linear(log_links), shapes)
"""
DRAW_ETA = "    eta[0] = concentration(rng, eta[0], prior, tables, total, float(n_words))\n"
PRINTED_ETA = """\
    rate = prior[1]
    for n in total:
        if n > 0:
            rate += math.exp(log_companion(rng, math.log(n_words * eta[0]), float(n)))
    eta[0] = math.exp(log_gamma_variate(rng, prior[0] + tables)) / rate
"""
TABLES = "            for _ in range(crt(rng, counts[w, j], psi)):\n"
TABLES_TOO_FEW = """\
            tables = 1
            for customer in range(2, counts[w, j] + 1):
                if rng.random() * (psi + customer) < psi:
                    tables += 1
            for _ in range(tables):
"""


IS_LAST = "    return topics.births.happen[0] and topics.total[k] == 1\n"


def _swapped(lines: str) -> str:
    """Two lines in the other order."""
    first, second = lines.splitlines(keepends=True)
    return second + first


def _mutant(
    name: str, find: str, replace: str, about: str, file: str = "layers", variant: str = "sparse"
) -> Mutant:
    change = Change(f"belief_network/{file}.py", find, replace)
    return Mutant(f"belief-{name}", (BeliefNetwork,), change, about, variant)


def _of_births(name: str, find: str, replace: str, about: str, file: str = "births") -> Mutant:
    change = Change(f"belief_network/{file}.py", find, replace)
    requires = {"topics": BeliefNetwork.name, "layers": 3}
    return Mutant(f"belief-{name}", (HdpFamily,), change, about, "sparse", requires=requires)


def _of_layers(name: str, find: str, replace: str, about: str) -> Mutant:
    change = Change("belief_network/layers.py", find, replace)
    return Mutant(f"belief-{name}", (BeliefNetwork,), change, about, requires={"layers": 3})


MUTANTS: tuple[Mutant, ...] = (
    _mutant("printed-rate", DRAW_ETA, PRINTED_ETA, "eq. (14) as printed: the rate of eta lacks the factor V"),
    _mutant(
        "own-count-kept",
        "(doc_count[old] - 1)) / (total[old] - 1 + psi_total[old])",
        "doc_count[old]) / (total[old] - 1 + psi_total[old])",
        "a token's own count is not taken out of its document",
        "tokens",
    ),
    _mutant(
        "own-total-kept",
        "(doc_count[old] - 1)) / (total[old] - 1 + psi_total[old])",
        "(doc_count[old] - 1)) / (total[old] + psi_total[old])",
        "a token's own count is not taken out of the total of its topic",
        "tokens",
    ),
    _mutant(
        "stale-coefficient",
        "    coefficient[new] = (prior[new] + doc_count[new]) / (total[new] + psi_total[new])\n",
        "",
        "the coefficient of the topic that a token moved to stays as it was",
        "tokens",
    ),
    _mutant(
        "document-count-kept",
        "        doc_count[old] -= 1\n    for k in range(n_topics):",
        "    for k in range(n_topics):",
        "the dense step does not take a token out of the counts of its document",
        "tokens",
        "dense",
    ),
    _of_layers(
        "popularity-before-mass",
        DRAW_MASS,
        _swapped(DRAW_MASS),
        "popularity is drawn before the mass that was drawn with popularity integrated out",
    ),
    _of_layers(
        "rate-before-links",
        DRAW_LINKS,
        _swapped(DRAW_LINKS),
        "the rate of links is drawn given the old links, which are integrated out until they are drawn",
    ),
    _of_layers(
        "printed-order",
        DRAW_ALL,
        _swapped(DRAW_MASS) + "    draw_rate(rng, layers, t)\n" + _swapped(DRAW_LINKS),
        "both, as Algorithm 1 and the authors' program have it",
    ),
    _of_layers(
        "topics-of-old-links",
        DRAW_AND_MIX,
        "        if t > 0:\n            mix(layers.topics[t], linear(log_links), shapes)\n"
        + DRAW_AND_MIX.partition("\n")[0]
        + "\n",
        "topics are drawn around mixtures by the old links, as in lines 24 and 36 of Algorithm 1",
    ),
    _of_layers(
        "psi-of-old-links",
        "    links = linear(first_links)\n    mix(layers.topics[0], links, psi)\n",
        "    links = psi_total[:n_topics, None] * np.ones((1, width)) / width\n"
        "    mix(layers.topics[0], links, psi)\n",
        "the topics of tokens are drawn with psi of equal links",
    ),
    _of_layers(
        "topics-not-redrawn",
        DRAW_TOPICS,
        "        if t == n_upper - 1:\n    " + DRAW_TOPICS,
        "topics between the first layer and the last stay as they were",
    ),
    _of_layers(
        "tables-too-few", TABLES, TABLES_TOO_FEW, "customer j opens a table with psi / (psi + j), not j - 1"
    ),
    _of_layers(
        "empty-links-kept",
        "        log_rate = np.logaddexp(math.log(layers.link_rate[t]), log_l[j])\n",
        "        if log_l[j] == -np.inf:\n            continue\n"
        "        log_rate = np.logaddexp(math.log(layers.link_rate[t]), log_l[j])\n",
        "the links of a topic without tokens stay as they were",
    ),
    _of_layers(
        "rate-of-active",
        "    n_below = log_links.shape[0]\n",
        "    n_below = log_links.shape[0] - 1\n",
        "the rate of links is drawn as if a topic below had none",
    ),
    _of_layers(
        "companion-forgotten",
        "np.logaddexp(math.log(layers.link_rate[t]), log_l[j])",
        "math.log(layers.link_rate[t])",
        "links are drawn without the companions of the sums of psi",
    ),
    _of_layers(
        "links-for-tables",
        "tables[k] += crt(rng, links_used[j, k], popularity)",
        "tables[k] += links_used[j, k]",
        "popularity is drawn given counts in place of tables",
    ),
    _of_layers(
        "mass-of-topics-below",
        "    shape = max(layers.mass[t] / tables.size, LEAST)\n",
        "    shape = max(layers.mass[t] / layers.log_links.shape[0], LEAST)\n",
        "the mass of a layer is divided by the number of topics of the first, as printed in Section 2.1",
    ),
    _of_layers(
        "spread-of-links",
        "spread += np.logaddexp(0.0, log_l[j] - math.log(layers.link_rate[t]))",
        "spread += math.exp(min(log_l[j], 600.0)) / layers.link_rate[t]",
        "popularity has a rate linear in the companions",
    ),
    _of_births(
        "first-links-not-tilted",
        "shape + 1.0 if k == origin else shape",
        "shape",
        "the links of a topic that opens do not see its first word",
    ),
    _of_births(
        "first-sum-tilted",
        "log_gamma_variate(rng, all_shapes)",
        "log_gamma_variate(rng, all_shapes + 1.0)",
        "the sum of the links of a topic that opens sees its first word",
    ),
    _of_births(
        "first-sum-not-drawn",
        "log_gamma_variate(rng, all_shapes)",
        "math.log(all_shapes)",
        "the links of a topic that opens have the mean of their sum",
    ),
    _of_births(
        "first-sum-without-rate",
        " - math.log(layers.link_rate[0])",
        "",
        "the links of a topic that opens have a rate of 1",
    ),
    _of_births(
        "first-words-alike",
        "share[k] * layers.topics[0, w, k]",
        "share[k] / births.first_word.size",
        "all words are as likely to open a topic",
    ),
    _of_births(
        "first-words-of-any",
        "share[k] * layers.topics[0, w, k]",
        "layers.topics[0, w, k] / share.size",
        "the words that open a topic come from all topics above alike, popular or not",
    ),
    _of_births(
        "links-kept-for-birth",
        IS_LAST,
        IS_LAST.replace("== 1", "< 1"),
        "a topic that has ended keeps its links, by which tokens come back to it",
    ),
    _of_births(
        "links-not-renamed",
        "            topics.layers.log_links[new] = topics.layers.log_links[k]\n",
        "",
        "topics that are renumbered leave their links behind",
        "topics",
    ),
    _of_births(
        "first-word-forgotten",
        "documents.prior[g], documents.rest[g] * topics.births.first_word[w]",
        "documents.prior[g], documents.rest[g]",
        "the weight of a topic that opens lacks the probability of its first word",
        "tokens",
    ),
)

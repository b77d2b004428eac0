"""Deliberately wrong kernels of the models with Pitman-Yor topics; see `registry`."""

from ....zoo.families.hdp.family import HdpFamily
from ....zoo.families.pitman_yor.topics import PitmanYor
from ....zoo.models.hpyp import Hpyp
from ....zoo.models.pyp import Pyp
from ....zoo.models.tpyp import Tpyp
from ....zoo.settings import HasSettings
from ..patched import Change, Mutant

FAMILY = (PitmanYor,)
SHARED = (Hpyp, Tpyp)
"""Models whose groups share a base."""

STAYS = "stays = 1.0 if rule == FORCED and t == 1 else (m - t + 1.0) / (m + 1.0)"
WEIGHTS = "return join * stays, alone * (t + 1.0) / (m + 1.0)"


def _mutant(
    name: str,
    file: str,
    find: str,
    replace: str,
    about: str,
    variant: str = "forced",
    concerns: tuple[type[HasSettings], ...] = FAMILY,
) -> Mutant:
    return Mutant(f"pyp-{name}", concerns, Change(f"pitman_yor/{file}.py", find, replace), about, variant)


MUTANTS: tuple[Mutant, ...] = (
    _mutant(
        "printed-weights",
        "seats",
        STAYS,
        "stays = (m - t + 1.0) / (m + 1.0)",
        "the only table of several tokens keeps its head, but the weights are those printed",
    ),
    _mutant(
        "factors-missing",
        "seats",
        WEIGHTS,
        "return join, alone",
        "weights lack the factors (m - t + 1) / (m + 1) and (t + 1) / (m + 1)",
    ),
    _mutant(
        "literal-stirling",
        "seats",
        "    alone = opens(scheme.ratios, a, m, t)\n",
        "    alone = join\n",
        "a new table has the ratio S^{m+1}_t / S^m_t",
    ),
    _mutant(
        "unlocked",
        "tokens",
        "    if heads and t == 1 and m > 1:\n        return False\n",
        "    if heads and t == 1 and m > 1:\n        heads = False\n",
        "a token that heads the only table of several leaves it to them",
        "lock",
    ),
    _mutant(
        "minus-one-printed",
        "seats",
        "return join * (m - t + 1.0) / m, alone * t / m",
        "return join * (m - t + 1.0) / (m + 1.0), alone * (t + 1.0) / (m + 1.0)",
        "one token always heads a table, but the weights are those printed",
        "minus-one",
    ),
    _mutant(
        "no-table-beside",
        "seats",
        "return join, 1.0 if t == m else 0.0",
        "return join, 0.0",
        "a token opens a table only where its word has none",
        "tables",
    ),
    _mutant(
        "tables-without-base",
        "tables",
        "math.log(opens * ratio(scheme.ratios, m, j + 1) * h)",
        "math.log(opens * ratio(scheme.ratios, m, j + 1))",
        "the number of tables is drawn without regard to what they would send for",
        "tables",
    ),
    _mutant(
        "joined-without-discount",
        "seats",
        "return m - t * a, 1.0",
        "return float(m), 1.0",
        "a table of s is joined with weight s instead of s - a",
        "seating",
    ),
    _mutant(
        "base-from-prior",
        "explicit",
        "            out[row, base.listed_topic[j] % n_topics] += base.listed_count[j]\n",
        "            pass\n",
        "explicit bases are drawn from their prior",
        "explicit",
    ),
    _mutant(
        "opened-without-discount",
        "tokens",
        "(b + discount * restaurants.tables[group, k]) / (b + n_customers)",
        "b / (b + n_customers)",
        "a new table has weight b instead of b + a T",
    ),
    _mutant(
        "base-normaliser",
        "tokens",
        "in_document * opens / (restaurants.n_words[0] * base.eta[0] + base.total[at_base])",
        "in_document * opens / (base.eta[0] + base.total[at_base])",
        "the normaliser of the base has eta instead of V eta",
    ),
    _mutant(
        "stale-mass",
        "tokens",
        "    mass = update_coefficient(prior[new], ",
        "    update_coefficient(prior[new], ",
        "the mass is not updated for the topic that a token moved to",
    ),
    _mutant(
        "first-order-dropped",
        "state",
        "    u = rng.random() * n_tables\n",
        "    u = 0.0\n",
        "of the tables of a word the one is taken away that is listed first",
        concerns=(Tpyp,),
    ),
    _mutant(
        "known-base-without-association",
        "explicit",
        "out[k] += p * known.probability[first + v, k]",
        "out[k] += known.probability[first + v, k]",
        "given its base, a topic has words as if all associations were as strong",
        "explicit",
        concerns=(Tpyp,),
    ),
    _mutant(
        "order-without-association",
        "state",
        "return p * (base.eta[0] + count)",
        "return base.eta[0] + count",
        "the dish of a table does not depend on how often that becomes its word",
        concerns=(Tpyp,),
    ),
    _mutant(
        "all-bases-one",
        "tokens",
        "    at_base = restaurants.base_of_group[group] * restaurants.b.size + k\n",
        "    at_base = k\n",
        "the normaliser of a base is that of the first group's",
        concerns=(Pyp,),
    ),
    _mutant(
        "concentration-jacobian",
        "hyper",
        "out = target.prior[0] * x - target.prior[1] * b",
        "out = (target.prior[0] - 1.0) * x - target.prior[1] * b",
        "the slice move on log b lacks the Jacobian of the logarithm",
    ),
    _mutant(
        "concentration-flat",
        "hyper",
        "            out += math.lgamma(b + 1.0) - math.lgamma(b + target.customers[g])\n",
        "            out += math.lgamma(b) - math.lgamma(b + target.customers[g])\n",
        "the density of b has one Γ(b) / Γ(b + 1) too many",
    ),
    _mutant(
        "discount-without-tables",
        "hyper",
        "                out += log_steps(target.b[k], a, target.tables[g, k] - 1)\n",
        "                pass\n",
        "the density of a lacks the factors b + n a",
    ),
    _mutant(
        "discount-of-larger-tables",
        "hyper",
        "target.joined[size] * math.log(size - 1 + rest)",
        "target.joined[size] * math.log(size + rest)",
        "the density of a takes each table for one customer larger than it is",
    ),
    _mutant(
        "document-count-kept",
        "tokens",
        "        scratch.doc_count[old] -= 1\n    n_topics, own = topi",
        "    n_topics, own = topi",
        "the dense step does not take a token out of the counts of its document",
        "dense",
    ),
    _mutant(
        "new-topic-too-likely",
        "tokens",
        "unknown = rest * row_sum(dishes, cell) / restaurants.n_words[0]",
        "unknown = rest * row_sum(dishes, cell)",
        "the weight of a new topic lacks the probability 1/V of the dish of its table",
        concerns=(HdpFamily,),
    ),
    _mutant(
        "new-concentration-without-rate",
        "hyper",
        "gamma_variate(rng, prior[0], prior[1])",
        "gamma_variate(rng, prior[0], 1.0)",
        "the b of a new topic is drawn with a rate of 1",
        concerns=(HdpFamily,),
    ),
    _mutant(
        "concentration-not-renamed",
        "topics",
        "            restaurants.b[new] = restaurants.b[k]\n",
        "",
        "topics that are renumbered leave their b behind",
        concerns=(HdpFamily,),
    ),
    _mutant(
        "concentration-under-prior-of-base",
        "topics",
        'b_prior=np.array(priors["b"], float)',
        'b_prior=np.array(priors["eta"], float)',
        "b is drawn under the prior of eta",
    ),
    _mutant(
        "base-under-prior-of-concentration",
        "topics",
        'latents["eta"], priors["eta"], n_words',
        'latents["eta"], priors["b"], n_words',
        "eta is drawn under the prior of b",
    ),
    _mutant(
        "discount-stays",
        "hyper",
        "    scheme.discount[0] = 1.0 / (1.0 + math.exp(-x))\n",
        "    x = 0.0\n",
        "the discount never moves",
    ),
    Mutant(
        "pyp-stirling-diagonal",
        FAMILY,
        Change("toolbox/stirling.py", "2.0 / (n * (n - 1.0) * (1.0 - discount))", "2.0 / (n * (n - 1.0))"),
        "S^n_n / S^n_{n-1} as without a discount",
        "forced",
    ),
    *(
        _mutant(f"exchange-{name}", "exchange", find, replace, about, "exchange", SHARED)
        for name, find, replace, about in (
            (
                "own-tables",
                "        seen[dish[j]] -= 1\n",
                "        pass\n",
                "a group's own tables at a base are counted with those of others",
            ),
            (
                "other-totals",
                "(base.total[at_base] - restaurants.tables[group, place])\n",
                "base.total[at_base]\n",
                "the normaliser of a base has the group's own tables in it",
            ),
            (
                "always",
                "math.exp(min(0.0, at_j + at_k - log_now[j] - log_now[k]))",
                "1.0",
                "every proposal is accepted",
            ),
        )
    ),
)

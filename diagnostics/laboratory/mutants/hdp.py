"""Deliberately wrong kernels of the hierarchical Dirichlet processes; see `registry`."""

from ....zoo.contract import Model
from ....zoo.families.hdp.family import HdpFamily
from ....zoo.models.mt_hdp import MtHdp
from ..patched import Change, Mutant

STICKS = (HdpFamily,)
DROP = "    drop_empty_topics(tokens, documents, topics)\n"
TABLES = "    tables = draw_tables(rng, tokens, documents, scratch, topics.n_topics[0])\n"


def _tables(name: str, find: str, replace: str, about: str) -> Mutant:
    return Mutant(
        f"whole-tables-{name}", STICKS, Change("hdp/tables.py", find, replace), about, "whole-tables"
    )


def _topics(name: str, find: str, replace: str, about: str) -> Mutant:
    change = Change("hdp/topics.py", find, replace)
    return Mutant(f"whole-topics-{name}", STICKS, change, about, "whole-tables")


def _halves(
    name: str, find: str, replace: str, about: str, models: tuple[type[Model], ...] = STICKS
) -> Mutant:
    return Mutant(f"halves-{name}", models, Change("hdp/halves.py", find, replace), about, "whole-tables")


def _cells(
    name: str, find: str, replace: str, about: str, models: tuple[type[Model], ...] = STICKS
) -> Mutant:
    return Mutant(f"cells-{name}", models, Change("hdp/parallel.py", find, replace), about, "parallel")


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "small-shapes-wrong", STICKS,
        Change("toolbox/random.py", " / max(shape, LEAST)", ""),
        "gamma variates of shapes below 1 are multiplied by U instead of U^(1/shape)",
    ),
    Mutant(
        "new-topic-too-likely", STICKS,
        Change(
            "toolbox/dirichlet.py",
            "rest = documents.rest[g] / topics.n_listed.size",
            "rest = documents.rest[g]",
        ),
        "the weight of a new topic lacks the probability 1/V of its word",
        "sparse",
    ),
    Mutant(
        "whole-rest-for-new", STICKS,
        Change(
            "hdp/documents.py",
            "documents.rest[g] = documents.alpha[g] * shapes[n_topics]",
            "documents.rest[g] = documents.alpha[g]",
        ),
        "a new topic is weighted by the whole concentration, without regard to the topics in use",
    ),
    Mutant(
        "share-from-gamma", STICKS,
        Change(
            "hdp/documents.py",
            "log_beta_variate(rng, 1.0, documents.gamma[0])",
            "log_beta_variate(rng, documents.gamma[0], 1.0)",
        ),
        "the stick of a new topic is Beta(gamma, 1), not Beta(1, gamma)",
    ),
    Mutant(
        "gamma-ignored", STICKS,
        Change("hdp/documents.py", "shapes[n_topics] = documents.gamma[0]", "shapes[n_topics] = 1.0"),
        "the root is drawn as if gamma were 1",
    ),
    Mutant(
        "tables-from-alpha", STICKS,
        Change("toolbox/sides.py", "count[k], documents.prior[g, k])", "count[k], documents.alpha[g])"),
        "tables of a topic are drawn with alpha instead of alpha times its weight",
    ),
    Mutant(
        "gamma-from-tables", STICKS,
        Change(
            "hdp/documents.py",
            "documents.gamma_prior, n_topics, np.array([dishes.sum()])",
            "documents.gamma_prior, dishes.sum(), np.array([dishes.sum()])",
        ),
        "gamma is drawn as if every table had a topic of its own",
    ),
    Mutant(
        "gamma-under-prior-of-alpha", STICKS,
        Change("hdp/documents.py", "documents.gamma_prior, n_topics,", "documents.alpha_prior, n_topics,"),
        "gamma is drawn under the prior of alpha",
    ),
    Mutant(
        "alpha0-asks-gamma", (MtHdp,),
        Change("hdp/documents.py", "is_sampled(documents.alpha0_prior)", "is_sampled(documents.gamma_prior)"),
        "alpha0 moves where gamma is sampled",
    ),
    Mutant(
        "renumbered-too-late", STICKS,
        Change("hdp/documents.py", DROP + TABLES, TABLES + DROP),
        "topics are renumbered after their tables are drawn, and before the sticks are",
    ),
    Mutant(
        "task-concentration-ignored", (MtHdp,),
        Change(
            "hdp/documents.py",
            "shapes[:n_topics] = tables[g] + documents.alpha0[0] * documents.root[:n_topics]",
            "shapes[:n_topics] = tables[g] + documents.root[:n_topics]",
        ),
        "the sticks of a task are drawn as if alpha0 were 1",
    ),
    Mutant(
        "task-tables-not-drawn", (MtHdp,),
        Change(
            "hdp/documents.py",
            "at_root[g, k] = crt(rng, tables[g, k], documents.alpha0[0] * documents.root[k])",
            "at_root[g, k] = tables[g, k]",
        ),
        "every table of a document counts as a table of its task",
    ),
    Mutant(
        "first-customer-forgotten", (MtHdp,),
        Change("hdp/documents.py", "            a += 1.0\n", "            a += 0.0\n"),
        "the sticks of a new topic are broken as if no token had chosen it",
    ),
    _tables("own-words-forgotten", "n -= c", "n = 0", "a table's topic has its words at no other table"),
    _tables(
        "own-total-kept",
        "weights.log_total, topics.total[k]\n",
        "weights.log_total, max(topics.total[k], size)\n",
        "a topic that has only the table's tokens is weighed with these in its total",
    ),
    _tables(
        "stick-not-broken",
        "            open_topic(rng, documents, new, group)\n",
        "            documents.prior[group, new] = documents.rest[group]\n",
        "a table's new topic has all the rest of its group's stick, which yet keeps it",
    ),
    _tables(
        "new-topic-of-one-token",
        "weights.log_prior[k] + log_total[size]",
        "weights.log_prior[k] + log_total[1]",
        "the normaliser of a new topic is that of a single token",
    ),
    _tables(
        "seated-by-alpha",
        "count[k] + documents.prior[tokens.group[d], k]",
        "count[k] + documents.alpha[tokens.group[d]]",
        "tokens of a topic sit down with the concentration of the document's whole process",
    ),
    _topics(
        "way-back-forgotten", "log_a if splits else -log_a", "log_a if splits else 0.0",
        "topics merge whatever the probability of the split that would undo it",
    ),
    _topics(
        "gamma-forgotten", "log_a = math.log(documents.gamma[0])", "log_a = 0.0",
        "a split is as likely as if gamma were 1",
    ),
    _topics(
        "anchors-as-likely", "    if not by_word:\n        log_a", "    if False:\n        log_a",
        "two customers of one topic are picked to split as often as they would be to merge",
    ),
    _topics(
        "customers-not-counted",
        "first = math.log(proposal.n_customers[0]) + proposal.log_f[0]",
        "first = proposal.log_f[0]",
        "a customer joins the first anchor regardless of how many have done so",
    ),
    _topics(
        "repeats-independent", "proposal.repeats[w] += 1", "proposal.repeats[w] += 0",
        "a word's tokens of one customer do not make each other more likely",
    ),
    _topics(
        "anchor-among-others", "math.lgamma(n_others + 2.0)", "math.lgamma(n_others + 1.0)",
        "the root has one customer too few when topics merge",
    ),
    Mutant(
        "whole-topics-tables-at-root", (MtHdp,),
        Change(
            "hdp/topics.py",
            "at_root = count_by_topic(tokens, customers.group, customers.first_token, *size)",
            "at_root = at_tables",
        ),
        "every table of a document counts as a customer of the root once topics have moved",
        "whole-tables",
    ),
    _halves(
        "gamma-forgotten", "out = math.log(documents.gamma[0]) + log_beta(m0, m1)", "out = log_beta(m0, m1)",
        "a split into halves is as likely as if gamma were 1",
    ),
    _halves(
        "jacobian-forgotten",
        "out -= m0 * log_share[0, n_groups] + m1 * log_share[1, n_groups]",
        "out -= (m0 - 1.0) * log_share[0, n_groups] + (m1 - 1.0) * log_share[1, n_groups]",
        "the density of two sticks lacks the Jacobian and the prior of their shares",
    ),
    _halves(
        "sides-not-weighed",
        "log_a -= scan(rng, tokens, halves, eta, n, a, b, -1 if splits else one)",
        "scan(rng, tokens, halves, eta, n, a, b, -1 if splits else one)",
        "the probability of the sides that were drawn is left out",
    ),
    _halves(
        "way-back-forgotten", "log_a if splits else -log_a", "log_a if splits else 0.0",
        "halves merge whatever the probability of the split that would undo it",
    ),
    _halves(
        "half-as-both",
        "(eta + count[0, w] + count[1, w])",
        "(eta + count[side, w])",
        "the probability of a word in both halves together counts one of them only",
    ),
    _halves(
        "normalisers-forgotten",
        "product *= (smoothing + total[0] + total[1]) / (smoothing + total[side])",
        "pass",
        "the probabilities of words, there and together, lack their normalisers",
    ),
    _halves(
        "task-prior-forgotten", "log_beta(s0 + t0, s1 + t1) - log_beta(s0, s1)", "log_beta(s0 + t0, s1 + t1)",
        "the normaliser of the prior of a task's shares is left out", (MtHdp,),
    ),
    _cells(
        "of-represented-topics",
        "documents.root[: topics.n_topics[0]] > threshold",
        "topics.total[: topics.n_topics[0]] > 0",
        "tokens move among the represented topics, which can end but not begin",
    ),
    _cells(
        "of-all-at-hand",
        "documents.root[: topics.n_topics[0]] > threshold",
        "documents.root[: topics.n_topics[0]] > 0.0",
        "short topics take part, where they are represented",
    ),
    _cells(
        "root-broken-too-little",
        "while documents.root_rest[0] > threshold:",
        "while documents.root_rest[0] > 3.0 * threshold:",
        "some long topics are not at hand unless they are represented",
    ),
    _cells(
        "short-can-be-entered",
        "np.where(is_long, share / (block_total + smoothing), 0.0)",
        "share / (block_total + smoothing)",
        "tokens come to short topics, from which none goes",
    ),
    _cells(
        "short-can-be-left",
        "if is_long[tokens.topic[cells.order[j]]]:",
        "if tokens.topic[cells.order[j]] >= 0:",
        "tokens leave short topics, to which none comes",
    ),
    _cells(
        "blocks-alike",
        "        draw_shares(rng, blocked)\n",
        "        share[:] = 1.0 / n_blocks\n",
        "all blocks are taken for equally likely under every topic",
    ),
    _cells(
        "task-of-document-before",
        "if j >= recount_at or tokens.group[d] != group:",
        "if j >= recount_at:",
        "the weights of topics that a document lacks are those in the task of the one before", (MtHdp,),
    ),
)  # fmt: skip

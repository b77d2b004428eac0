"""Deliberately wrong kernels: a rung of the ladder that none of them can fail is no evidence.

A mutant is a small change in the source of the kernels, of the sort that a programmer makes.
"""

from ..patched import Change, Mutant
from .buffet import SPARSE_TRANSFER_MUTANTS
from .focused import FOCUSED_MUTANTS
from .lda import COLLECTIONS_MUTANTS
from .pitman_yor import PITMAN_YOR_MUTANTS

ALL = ("lda", "group_lda", "hdp", "mt_hdp")
STICKS = ("hdp", "mt_hdp")
OLD = "coefficient[old] = (prior[old] + (doc_count[old] - 1)) / (total[old] - 1 + smoothing)"
LEFT = "            scratch.is_doc_topic[k] = False\n            "
TAKEN = "        unlist_token(topics, w, old)\n"
DROP = "    drop_empty_topics(tokens, documents, topics)\n"
TABLES = "    tables = draw_tables(rng, tokens, documents, scratch, topics.n_topics[0])\n"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "own-count-kept", ALL,
        Change("toolbox/dirichlet.py", OLD, OLD.replace("(doc_count[old] - 1)", "doc_count[old]")),
        "a token's own count is not taken out of its document",
    ),
    Mutant(
        "own-total-kept", ALL,
        Change("toolbox/dirichlet.py", OLD, OLD.replace("total[old] - 1", "total[old]")),
        "a token's own count is not taken out of the total of its topic",
    ),
    Mutant(
        "normaliser-dropped", ALL,
        Change(
            "toolbox/dirichlet.py",
            "coefficient[new] = (prior[new] + doc_count[new]) / (total[new] + smoothing)",
            "coefficient[new] = (prior[new] + doc_count[new]) / (total[new] + eta)",
        ),
        "the normaliser of the topic that a token moved to has eta instead of V eta",
    ),
    Mutant(
        "stale-mass", ALL,
        Change(
            "toolbox/dirichlet.py",
            "mass = mass_without + (coefficient[new] - kept)",
            "mass = mass_without",
        ),
        "the mass is not updated for the topic that a token moved to",
    ),
    Mutant(
        "stale-total", ALL,
        Change(
            "toolbox/dirichlet.py",
            "        total[old] -= 1\n        doc_count[old] -= 1",
            "        doc_count[old] -= 1",
        ),
        "the total of the topic that a token left is not decremented",
    ),
    Mutant(
        "stale-coefficient", ALL,
        Change(
            "toolbox/token_pass.py",
            LEFT + "mass = weigh_topic(tokens, documents, topics, scratch, d, k, mass)",
            LEFT + "mass -= scratch.coefficient[k]",
        ),
        "the coefficients of a document's topics keep its counts when it is left",
    ),
    Mutant(
        "document-count-kept", ALL,
        Change("toolbox/dirichlet.py", TAKEN + "        doc_count[old] -= 1\n", TAKEN),
        "the dense pass does not take a token out of the counts of its document",
        variant="dense",
    ),
    Mutant(
        "tables-off-by-one", ALL,
        Change("toolbox/random.py", "if rng.random() * (r + j) < r:", "if rng.random() * (r + j + 1) < r:"),
        "tables are opened with r / (r + j) by the j-th customer instead of r / (r + j - 1)",
    ),
    Mutant(
        "companion-forgotten", ALL,
        Change(
            "toolbox/random.py",
            "log_beta_variate(rng, parts * current, float(n))",
            "log_beta_variate(rng, parts * current + 1.0, float(n))",
        ),
        "concentrations: Beta(c + 1, n) without the binary variable that goes with it",
    ),
    Mutant(
        "jacobian-forgotten", ALL,
        Change(
            "toolbox/smoothing.py",
            "out = target.prior[0] * x - target.prior[1] * eta",
            "out = (target.prior[0] - 1.0) * x - target.prior[1] * eta",
        ),
        "the slice move on log eta lacks the Jacobian of the logarithm",
    ),
    Mutant(
        "gamma-function-missing", ALL,
        Change(
            "toolbox/smoothing.py",
            "out += math.lgamma(mass) - math.lgamma(mass + n)",
            "out -= math.lgamma(mass + n)",
        ),
        "the density of eta lacks one Gamma(V eta) a topic",
    ),
    Mutant(
        "parts-forgotten", ("lda", "group_lda"),
        Change("toolbox/random.py", "rate -= parts * log_beta_variate", "rate -= log_beta_variate"),
        "the rate of alpha lacks the factor K",
    ),
    Mutant(
        "small-shapes-wrong", STICKS,
        Change("toolbox/random.py", "rng.standard_exponential() / shape", "rng.standard_exponential()"),
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
        "renumbered-too-late", STICKS,
        Change("hdp/documents.py", DROP + TABLES, TABLES + DROP),
        "topics are renumbered after their tables are drawn, and before the sticks are",
    ),
    Mutant(
        "task-concentration-ignored", ("mt_hdp",),
        Change(
            "hdp/documents.py",
            "shapes[:n_topics] = tables[g] + documents.alpha0[0] * documents.root[:n_topics]",
            "shapes[:n_topics] = tables[g] + documents.root[:n_topics]",
        ),
        "the sticks of a task are drawn as if alpha0 were 1",
    ),
    Mutant(
        "task-tables-not-drawn", ("mt_hdp",),
        Change(
            "hdp/documents.py",
            "at_root[g, k] = crt(rng, tables[g, k], documents.alpha0[0] * documents.root[k])",
            "at_root[g, k] = tables[g, k]",
        ),
        "every table of a document counts as a table of its task",
    ),
    Mutant(
        "first-customer-forgotten", ("mt_hdp",),
        Change("hdp/documents.py", "            a += 1.0\n", "            a += 0.0\n"),
        "the sticks of a new topic are broken as if no token had chosen it",
    ),
    *COLLECTIONS_MUTANTS,
    *FOCUSED_MUTANTS,
    *PITMAN_YOR_MUTANTS,
    *SPARSE_TRANSFER_MUTANTS,
)  # fmt: skip


def mutant_by_id(mutant_id: str) -> Mutant:
    """Find a mutant; ValueError if there is none of that name."""
    for mutant in MUTANTS:
        if mutant.id == mutant_id:
            return mutant
    raise ValueError(f"no mutant {mutant_id!r}; there are {', '.join(mutant.id for mutant in MUTANTS)}")


def mutants_of(model_id: str) -> list[Mutant]:
    """Mutants that make a sampler of `model_id` wrong."""
    return [mutant for mutant in MUTANTS if model_id in mutant.models]

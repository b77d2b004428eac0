"""Deliberately wrong kernels of the focused topic model; see `mutants`."""

from ..patched import Change, Mutant


def _mutant(name: str, find: str, replace: str, about: str) -> Mutant:
    return Mutant(name, ("focused",), Change("buffet/focused.py", find, replace), about, "exact")


FOCUSED_MUTANTS: tuple[Mutant, ...] = (
    _mutant(
        "focused-own-count-kept",
        "                scratch.doc_count[old] -= 1\n",
        "",
        "a token is not taken out of the counts of its document",
    ),
    _mutant(
        "focused-empty-topic-kept",
        "            weights[k] = 0.0\n        elif count[k] > 0:",
        "            weights[k] = documents.absent[k]\n        elif count[k] > 0:",
        "a topic that has lost its last token keeps a weight",
    ),
    _mutant(
        "focused-silence-forgotten",
        "    on = documents.inclusion[k] * math.exp(-documents.strength[k] * LOG2)\n    documents.absent[k]",
        "    on = documents.inclusion[k]\n    documents.absent[k]",
        "a first token in a document lacks the factor 2^-phi",
    ),
    _mutant(
        "focused-absence-forgotten",
        "* on / off_or_silent(",
        "* on + 0.0 * off_or_silent(",
        "that a document has no token of a topic says nothing of whether the topic is on",
    ),
    _mutant(
        "focused-new-for-all",
        "return alpha * gamma / n_documents * mass",
        "return alpha * gamma * mass",
        "a new topic is weighted by the whole buffet, not by what one of the documents adds to it",
    ),
    _mutant(
        "focused-silent-not-on",
        "on = having[k] + rng.binomial(n_documents - having[k], silent)",
        "on = having[k]",
        "a topic counts as on only where it has a token",
    ),
    _mutant(
        "focused-inclusion-prior-proper",
        "log_beta_variate(rng, float(on), 1.0 + n_documents - on)",
        "log_beta_variate(rng, 1.0 + on, 1.0 + n_documents - on)",
        "inclusions have a uniform prior",
    ),
    _mutant(
        "focused-rate-of-having",
        "(1.0 + on * LOG2)",
        "(1.0 + having[k] * LOG2)",
        "the strength of a topic does not know of the documents where it is on and silent",
    ),
    _mutant(
        "focused-counts-for-tables",
        "tables[k] += crt(rng, scratch.doc_count[k], documents.strength[k])",
        "tables[k] += scratch.doc_count[k]",
        "every token has a table of its own",
    ),
    _mutant(
        "focused-void-forgotten",
        "return out - target.alpha * expected_topics(gamma, target.n_documents)",
        "return out",
        "the shape gamma does not know of the topics without tokens",
    ),
    _mutant(
        "focused-alpha-of-all",
        "expected_topics(documents.gamma[0], n_documents)",
        "expected_topics(1e9, n_documents)",
        "the mass alpha is drawn as if every topic that is on had a token",
    ),
)

"""Deliberately wrong kernels of the sparse transfer and of the focused topic model; see `registry`."""

from ....zoo.models.focused import Focused
from ....zoo.models.sparse_transfer import SparseTransfer
from ..patched import Change, Mutant

STATE, TOKENS, MASKS, WEIGHTS = (f"buffet/{part}.py" for part in ("state", "tokens", "masks", "weights"))


def _transfer(name: str, change: Change, about: str, variant: str = "masks") -> Mutant:
    return Mutant(f"transfer-{name}", (SparseTransfer,), change, about, variant)


SPARSE_TRANSFER_MUTANTS: tuple[Mutant, ...] = (
    _transfer(
        "ghosts-attract",
        Change(
            TOKENS,
            "doc_count[k] + weight[c, k] if count[c, k] > 0 else",
            "doc_count[k] + weight[c, k] if is_on(masks, c, k) else",
        ),
        "a token that moves with its mask may go to a ghost, though the way back turns the mask off",
    ),
    _transfer(
        "new-topic-for-anyone",
        Change(TOKENS, "log_new = prior.log_reach[1] - (prior.a1", "log_new = -(prior.a1"),
        "a new topic is weighted without the probability that no other task has it",
    ),
    _transfer(
        "weight-kept-when-off",
        Change(STATE, "    masks.weight[c, k] = 0.0\n    masks.n_on", "    masks.n_on"),
        "a topic that is turned off keeps its weight, and tokens may go there",
    ),
    _transfer(
        "token-does-not-pull",
        Change(
            TOKENS,
            "log_gamma_variate(rng, masks.shape[new] + 1.0) - math.log1p(rate)",
            "log_gamma_variate(rng, masks.shape[new]) - math.log1p(rate)",
        ),
        "a weight is drawn as if the token that turned its mask on were not there",
    ),
    _transfer(
        "own-mask-kept",
        Change(
            TOKENS,
            "    if old >= 0 and masks.count[c, old] == 0:\n        log_weight",
            "    if old >= 0 and masks.count[c, old] < 0:\n        log_weight",
        ),
        "a mask stays on when its last token is taken out, and the token cannot come back",
    ),
    _transfer(
        "lengths-ignored-by-masks",
        Change(
            MASKS,
            "    return rate * weight + change - shape * math.log1p(rate)",
            "    return 0.0 * (rate * weight + change - shape * math.log1p(rate))",
        ),
        "a topic without tokens is on as often as a priori",
    ),
    _transfer(
        "lengths-as-one-document",
        Change(
            MASKS,
            "    return rate * weight + change - shape * math.log1p(rate)",
            "    return rate * weight - math.log(2.0) * weight + 0.0 * change - shape * math.log1p(rate)",
        ),
        "the factor of an empty topic is 2^-phi, as printed (equation 8), whatever the documents",
    ),
    _transfer(
        "births-without-prior-mass",
        Change(
            MASKS,
            "math.log(state.prior.alpha[0] * state.prior.first_rows.sum())",
            "math.log(state.prior.alpha[0])",
        ),
        "ghosts are born as if one were expected for alpha = 1, however many tasks there are",
    ),
    _transfer(
        "represented-topics-first",
        Change(
            MASKS,
            "masks\n    order = random_order(rng, state.topics.n_topics[0])\n    for k in order:",
            "masks\n    for k in range(state.topics.n_topics[0]):",
        ),
        "masks are scanned with the topics in use first: an order that depends on the state",
        "slice",
    ),
    _transfer(
        "height-of-slice-ignored",
        Change(MASKS, "                if others == 0:\n", "                if others < 0:\n"),
        "the density of the height does not change with the lowest stick",
        "slice",
    ),
    _transfer(
        "shape-normaliser-off-by-one",
        Change(
            WEIGHTS, "target.n_on * (x - math.lgamma(shape + 1.0))", "target.n_on * -math.lgamma(shape + 1.0)"
        ),
        "the density of gamma_k has the normalisers of shapes that are one larger",
    ),
    _transfer(
        "weights-without-lengths",
        Change(WEIGHTS, "weight - target.rate * mass", "weight - 0.0 * mass"),
        "the density of a weight lacks the exponential factor of the lengths",
    ),
    _transfer(
        "block-without-weight",
        Change(
            WEIGHTS,
            "+ log_gamma_density(log_weight, masks.shape[k])",
            "+ 0.0 * log_gamma_density(log_weight, masks.shape[k])",
        ),
        "a block of tokens does not ask whether its weight fits the topic that it moves to",
    ),
    _transfer(
        "alpha-without-tasks",
        Change(
            WEIGHTS, "prior.alpha_prior[1] + prior.first_rows.sum()", "prior.alpha_prior[1] + prior.epsilon"
        ),
        "alpha is drawn as if there were one task",
    ),
    _transfer(
        "collapsed-closed-too-likely",
        Change(TOKENS, "/ ((1.0 + rate) * (1.0 - stick + on))", "/ (1.0 + rate)"),
        "that a task has no token of a topic says nothing of whether the topic is on there",
        "collapsed",
    ),
    _transfer(
        "smoothing-stays",
        Change(WEIGHTS, "    move_topics(rng, state.topics)\n", ""),
        "eta never moves",
    ),
    _transfer(
        "collapsed-masks-as-a-priori",
        Change(
            MASKS,
            "on = masks.stick[k] * math.exp(-masks.shape[k] * log_scale)",
            "on = masks.stick[k] + 0.0 * log_scale",
        ),
        "empty masks are drawn back as if the lengths said nothing of them",
        "collapsed",
    ),
)


def _focused(name: str, find: str, replace: str, about: str) -> Mutant:
    return Mutant(name, (Focused,), Change("buffet/focused.py", find, replace), about, "exact")


FOCUSED_MUTANTS: tuple[Mutant, ...] = (
    _focused(
        "focused-own-count-kept",
        "                scratch.doc_count[old] -= 1\n",
        "",
        "a token is not taken out of the counts of its document",
    ),
    _focused(
        "focused-empty-topic-kept",
        "            weights[k] = 0.0\n        elif count[k] > 0:",
        "            weights[k] = documents.absent[k]\n        elif count[k] > 0:",
        "a topic that has lost its last token keeps a weight",
    ),
    _focused(
        "focused-silence-forgotten",
        "    on = documents.inclusion[k] * math.exp(-documents.strength[k] * LOG2)\n    documents.absent[k]",
        "    on = documents.inclusion[k]\n    documents.absent[k]",
        "a first token in a document lacks the factor 2^-phi",
    ),
    _focused(
        "focused-absence-forgotten",
        "* on / off_or_silent(",
        "* on + 0.0 * off_or_silent(",
        "that a document has no token of a topic says nothing of whether the topic is on",
    ),
    _focused(
        "focused-new-for-all",
        "return alpha * gamma / n_documents * mass",
        "return alpha * gamma * mass",
        "a new topic is weighted by the whole buffet, not by what one of the documents adds to it",
    ),
    _focused(
        "focused-silent-not-on",
        "on = having[k] + rng.binomial(n_documents - having[k], silent)",
        "on = having[k]",
        "a topic counts as on only where it has a token",
    ),
    _focused(
        "focused-inclusion-prior-proper",
        "log_beta_variate(rng, float(on), 1.0 + n_documents - on)",
        "log_beta_variate(rng, 1.0 + on, 1.0 + n_documents - on)",
        "inclusions have a uniform prior",
    ),
    _focused(
        "focused-rate-of-having",
        "(1.0 + on * LOG2)",
        "(1.0 + having[k] * LOG2)",
        "the strength of a topic does not know of the documents where it is on and silent",
    ),
    _focused(
        "focused-counts-for-tables",
        "tables[k] += crt(rng, scratch.doc_count[k], documents.strength[k])",
        "tables[k] += scratch.doc_count[k]",
        "every token has a table of its own",
    ),
    _focused(
        "focused-void-forgotten",
        "return out - target.alpha * expected_topics(gamma, target.n_documents)",
        "return out",
        "the shape gamma does not know of the topics without tokens",
    ),
    _focused(
        "focused-alpha-of-all",
        "expected_topics(documents.gamma[0], n_documents)",
        "expected_topics(1e9, n_documents)",
        "the mass alpha is drawn as if every topic that is on had a token",
    ),
)

MUTANTS = (*SPARSE_TRANSFER_MUTANTS, *FOCUSED_MUTANTS)

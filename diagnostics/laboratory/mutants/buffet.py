"""Deliberately wrong kernels of the sparse transfer topic model; see `mutants`."""

from ..patched import Change, Mutant

STATE, TOKENS, MASKS, WEIGHTS = (f"buffet/{part}.py" for part in ("state", "tokens", "masks", "weights"))


def _mutant(name: str, change: Change, about: str, variant: str = "masks") -> Mutant:
    return Mutant(f"transfer-{name}", ("sparse_transfer",), change, about, variant)


SPARSE_TRANSFER_MUTANTS: tuple[Mutant, ...] = (
    _mutant(
        "ghosts-attract",
        Change(
            TOKENS,
            "doc_count[k] + weight[c, k] if count[c, k] > 0 else",
            "doc_count[k] + weight[c, k] if is_on(masks, c, k) else",
        ),
        "a token that moves with its mask may go to a ghost, though the way back turns the mask off",
    ),
    _mutant(
        "new-topic-for-anyone",
        Change(TOKENS, "log_new = prior.log_reach[1] - (prior.a1", "log_new = -(prior.a1"),
        "a new topic is weighted without the probability that no other task has it",
    ),
    _mutant(
        "weight-kept-when-off",
        Change(STATE, "    masks.weight[c, k] = 0.0\n    masks.n_on", "    masks.n_on"),
        "a topic that is turned off keeps its weight, and tokens may go there",
    ),
    _mutant(
        "token-does-not-pull",
        Change(
            TOKENS,
            "log_gamma_variate(rng, masks.shape[new] + 1.0) - math.log1p(rate)",
            "log_gamma_variate(rng, masks.shape[new]) - math.log1p(rate)",
        ),
        "a weight is drawn as if the token that turned its mask on were not there",
    ),
    _mutant(
        "own-mask-kept",
        Change(
            TOKENS,
            "    if old >= 0 and masks.count[c, old] == 0:\n        log_weight",
            "    if old >= 0 and masks.count[c, old] < 0:\n        log_weight",
        ),
        "a mask stays on when its last token is taken out, and the token cannot come back",
    ),
    _mutant(
        "lengths-ignored-by-masks",
        Change(
            MASKS,
            "    return rate * weight + change - shape * math.log1p(rate)",
            "    return 0.0 * (rate * weight + change - shape * math.log1p(rate))",
        ),
        "a topic without tokens is on as often as a priori",
    ),
    _mutant(
        "lengths-as-one-document",
        Change(
            MASKS,
            "    return rate * weight + change - shape * math.log1p(rate)",
            "    return rate * weight - math.log(2.0) * weight + 0.0 * change - shape * math.log1p(rate)",
        ),
        "the factor of an empty topic is 2^-phi, as printed (equation 8), whatever the documents",
    ),
    _mutant(
        "births-without-prior-mass",
        Change(
            MASKS,
            "math.log(state.prior.alpha[0] * state.prior.first_rows.sum())",
            "math.log(state.prior.alpha[0])",
        ),
        "ghosts are born as if one were expected for alpha = 1, however many tasks there are",
    ),
    _mutant(
        "represented-topics-first",
        Change(
            MASKS,
            "masks\n    order = random_order(rng, state.topics.n_topics[0])\n    for k in order:",
            "masks\n    for k in range(state.topics.n_topics[0]):",
        ),
        "masks are scanned with the topics in use first: an order that depends on the state",
        "slice",
    ),
    _mutant(
        "height-of-slice-ignored",
        Change(MASKS, "                if others == 0:\n", "                if others < 0:\n"),
        "the density of the height does not change with the lowest stick",
        "slice",
    ),
    _mutant(
        "shape-normaliser-off-by-one",
        Change(
            WEIGHTS, "target.n_on * (x - math.lgamma(shape + 1.0))", "target.n_on * -math.lgamma(shape + 1.0)"
        ),
        "the density of gamma_k has the normalisers of shapes that are one larger",
    ),
    _mutant(
        "weights-without-lengths",
        Change(WEIGHTS, "weight - target.rate * mass", "weight - 0.0 * mass"),
        "the density of a weight lacks the exponential factor of the lengths",
    ),
    _mutant(
        "block-without-weight",
        Change(
            WEIGHTS,
            "+ log_gamma_density(log_weight, masks.shape[k])",
            "+ 0.0 * log_gamma_density(log_weight, masks.shape[k])",
        ),
        "a block of tokens does not ask whether its weight fits the topic that it moves to",
    ),
    _mutant(
        "alpha-without-tasks",
        Change(
            WEIGHTS, "prior.alpha_prior[1] + prior.first_rows.sum()", "prior.alpha_prior[1] + prior.epsilon"
        ),
        "alpha is drawn as if there were one task",
    ),
    _mutant(
        "collapsed-closed-too-likely",
        Change(TOKENS, "/ ((1.0 + rate) * (1.0 - stick + on))", "/ (1.0 + rate)"),
        "that a task has no token of a topic says nothing of whether the topic is on there",
        "collapsed",
    ),
    _mutant(
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

"""Deliberately wrong kernels of the models of documents with responses; see `registry`."""

from ....zoo.families.responses.family import RespondingFamily
from ..patched import Change, Mutant


def _wrong(name: str, file: str, find: str, replace: str, about: str, variant: str = "dense") -> Mutant:
    change = Change(f"responses/{file}.py", find, replace)
    return Mutant(f"responses-{name}", (RespondingFamily,), change, about, variant)


MUTANTS: tuple[Mutant, ...] = (
    _wrong(
        "accepts-too-often",
        "sweeps",
        "rng.random() >= math.exp(log_q - log_p)",
        "rng.random() >= math.exp(0.5 * (log_q - log_p))",
        "a proposal is taken with the root of the ratio of likelihoods",
        "sparse",
    ),
    _wrong(
        "predictor-stays",
        "sweeps",
        "        predictor[p] = proposed[p]\n    return n_doc_topics, mass, log_q",
        "        proposed[p] = predictor[p]\n    return n_doc_topics, mass, log_q",
        "a document's predictors are not those of the topic that a token took",
        "sparse",
    ),
    _wrong(
        "old-likelihood",
        "sweeps",
        "return n_doc_topics, mass, log_q",
        "return n_doc_topics, mass, log_p",
        "after a move the likelihood is still that of before",
        "sparse",
    ),
    _wrong(
        "mass-of-the-proposal",
        "sweeps",
        "    mass = weigh_topic(tokens, documents, topics, scratch, d, new, mass)\n",
        "",
        "a proposal that is not taken leaves its weight behind",
        "sparse",
    ),
    _wrong(
        "own-token-kept",
        "sweeps",
        "    add_token(predictor, predictor, coefficient, old, -share)\n    high",
        "    high",
        "a token's old topic stays in the predictors that its new one is weighed with",
    ),
    _wrong(
        "tokens-of-others-not-weighed",
        "sweeps",
        "weight = (documents.prior[0, k] + others) * math.exp(log_weight[k] - high)",
        "weight = documents.prior[0, k] * math.exp(log_weight[k] - high) + others",
        "the likelihood weighs the prior of a topic, and not its tokens",
    ),
    _wrong(
        "no-baseline",
        "documents",
        "total = math.exp(-high)",
        "total = 1e-300",
        "the baseline is no part of the sum over categories",
    ),
    _wrong(
        "error-not-halved",
        "documents",
        "out -= 0.5 * documents.noise_precision[r] * error * error",
        "out -= documents.noise_precision[r] * error * error",
        "the errors of a number have half their variance",
    ),
    _wrong(
        "intercept-apart",
        "regression",
        "            matrix[k, 0] += w * x\n",
        "",
        "the intercept is drawn as if coefficients had nothing to do with it",
    ),
    _wrong(
        "others-forgotten",
        "regression",
        "own - 0.5 + weight[e] * others",
        "own - 0.5",
        "the linear term of a category lacks the sum over the others",
    ),
    _wrong(
        "category-among-the-others",
        "regression",
        "others = log_add(before[e], after[e, p - first + 1])",
        "others = log_add(before[e], after[e, p - first])",
        "a category is one of the others that it is compared with",
    ),
    _wrong(
        "precision-of-topics",
        "regression",
        "prior[0] + 0.5 * each.size",
        "prior[0] + each.size",
        "the precision of coefficients is drawn as if there were twice as many",
    ),
    _wrong(
        "errors-not-halved",
        "regression",
        "prior[1] + 0.5 * squares",
        "prior[1] + squares",
        "the precision of errors is drawn given twice their squares",
    ),
    _wrong(
        "tilt-doubled",
        "polya_gamma",
        "z = 0.5 * abs(tilt)",
        "z = abs(tilt)",
        "a Polya-Gamma variate of twice the predictor",
    ),
    _wrong(
        "scale-halved",
        "polya_gamma",
        "return 0.25 * x",
        "return 0.5 * x",
        "Polya-Gamma variates are twice what they should be",
    ),
)

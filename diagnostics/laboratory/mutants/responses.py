"""Deliberately wrong kernels of the models of documents with responses; see `registry`."""

from ....zoo.families.responses.family import RespondingFamily
from ....zoo.families.responses.lda import RespondingLda
from ....zoo.models.medlda import Medlda
from ....zoo.models.shdp import Shdp
from ....zoo.models.slda import Slda
from ..patched import Change, Mutant


def _wrong(name: str, file: str, find: str, replace: str, about: str) -> Mutant:
    change = Change(f"responses/{file}.py", find, replace)
    variant = "sparse" if file == "sweeps" else ""
    return Mutant(f"responses-{name}", (RespondingFamily,), change, about, variant)


def _conditional(name: str, find: str, replace: str, about: str) -> Mutant:
    change = Change("responses/sweeps.py", find, replace)
    return Mutant(f"responses-{name}", (RespondingLda,), change, about, "dense")


def _odds(name: str, file: str, find: str, replace: str, about: str) -> Mutant:
    change = Change(f"responses/{file}.py", find, replace)
    return Mutant(f"responses-{name}", (Slda, Shdp), change, about)


def _hinge(name: str, file: str, find: str, replace: str, about: str) -> Mutant:
    return Mutant(f"hinge-{name}", (Medlda,), Change(f"responses/{file}.py", find, replace), about)


def _sticks(name: str, find: str, replace: str, about: str) -> Mutant:
    return Mutant(f"responses-{name}", (Shdp,), Change("responses/sticks.py", find, replace), about)


MUTANTS: tuple[Mutant, ...] = (
    _wrong(
        "accepts-too-often",
        "sweeps",
        "rng.random() >= math.exp(log_q - log_p)",
        "rng.random() >= math.exp(0.5 * (log_q - log_p))",
        "a proposal is taken with the root of the ratio of likelihoods",
    ),
    _wrong(
        "predictor-stays",
        "sweeps",
        "        predictor[p] = proposed[p]\n    return n_doc_topics, mass, log_q",
        "        proposed[p] = predictor[p]\n    return n_doc_topics, mass, log_q",
        "a document's predictors are not those of the topic that a token took",
    ),
    _wrong(
        "old-likelihood",
        "sweeps",
        "return n_doc_topics, mass, log_q",
        "return n_doc_topics, mass, log_p",
        "after a move the likelihood is still that of before",
    ),
    _wrong(
        "mass-of-the-proposal",
        "sweeps",
        "    mass = weigh_topic(tokens, documents, topics, scratch, d, new, mass)\n",
        "",
        "a proposal that is not taken leaves its weight behind",
    ),
    _wrong(
        "stale-coefficient",
        "sweeps",
        "            scratch.is_doc_topic[k] = False\n"
        "            mass = weigh_topic(tokens, documents, topics, scratch, d, k, mass)\n",
        "            scratch.is_doc_topic[k] = False\n",
        "the coefficients of a document's topics keep its counts when it is left",
    ),
    _conditional(
        "own-token-kept",
        "    add_token(predictor, predictor, coefficient, old, -share)\n    high",
        "    high",
        "a token's old topic stays in the predictors that its new one is weighed with",
    ),
    _conditional(
        "tokens-of-others-not-weighed",
        "weight = (documents.prior[0, k] + others) * math.exp(log_weight[k] - high)",
        "weight = documents.prior[0, k] * math.exp(log_weight[k] - high) + others",
        "the likelihood weighs the prior of a topic, and not its tokens",
    ),
    _odds(
        "no-baseline",
        "documents",
        "total = math.exp(-high)",
        "total = 1e-300",
        "the baseline is no part of the sum over categories",
    ),
    _wrong(
        "error-not-halved",
        "documents",
        "out -= 0.5 * responses.noise_precision[r] * error * error",
        "out -= responses.noise_precision[r] * error * error",
        "the errors of a number have half their variance",
    ),
    _wrong(
        "intercept-apart",
        "regression",
        "            matrix[k, 0] += w * x\n",
        "",
        "the intercept is drawn as if coefficients had nothing to do with it",
    ),
    _odds(
        "others-forgotten",
        "regression",
        "own - 0.5 + weight[e] * others",
        "own - 0.5",
        "the linear term of a category lacks the sum over the others",
    ),
    _odds(
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
    _odds(
        "tilt-doubled",
        "polya_gamma",
        "z = 0.5 * abs(tilt)",
        "z = abs(tilt)",
        "a Polya-Gamma variate of twice the predictor",
    ),
    _odds(
        "scale-halved",
        "polya_gamma",
        "return 0.25 * x",
        "return 0.5 * x",
        "Polya-Gamma variates are twice what they should be",
    ),
    _sticks(
        "no-effect-at-first",
        "= deviation * rng.standard_normal()",
        "= 0.0",
        "a topic is opened with coefficients of zero",
    ),
    _sticks(
        "variance-for-deviation",
        "1.0 / math.sqrt(responses.precision[r])",
        "1.0 / responses.precision[r]",
        "the coefficients of a topic that is opened have the square of their variance",
    ),
    _sticks(
        "one-effect-for-all",
        "            responses.coefficient[topic, p] = deviation",
        "            responses.coefficient[:, p] = deviation",
        "a topic that is opened changes the coefficients of all others",
    ),
    _hinge(
        "cost-not-doubled",
        "documents",
        "out -= 2.0 * responses.hinge[r, 0] * hinge_loss",
        "out -= responses.hinge[r, 0] * hinge_loss",
        "tokens see half the loss",
    ),
    _hinge(
        "never-below-zero-forgotten",
        "documents",
        "out += max(0.0, margin - side_of(y, first, end, p) * predictor[p])",
        "out += margin - side_of(y, first, end, p) * predictor[p]",
        "a predictor beyond the margin is rewarded",
    ),
    _hinge(
        "no-margin",
        "documents",
        "max(0.0, margin - side_of(y, first, end, p) * predictor[p])",
        "max(0.0, -side_of(y, first, end, p) * predictor[p])",
        "tokens see a loss from zero on, and not from the margin on",
    ),
    _hinge(
        "others-not-told-apart",
        "documents",
        "return 1.0 if int(y) == category else -1.0",
        "return 1.0 if int(y) == category else 0.0",
        "the predictors of other categories play no part",
    ),
    _hinge(
        "slope-without-margin",
        "regression",
        "slope[e] = side * cost * (1.0 + cost * margin * v)",
        "slope[e] = side * cost",
        "the linear term lacks the margin",
    ),
    _hinge(
        "slope-without-loss",
        "regression",
        "slope[e] = side * cost * (1.0 + cost * margin * v)",
        "slope[e] = side * cost * cost * margin * v",
        "the linear term lacks what is outside the square",
    ),
    _hinge(
        "weight-of-one-cost",
        "regression",
        "weight[e] = cost * cost * v",
        "weight[e] = cost * v",
        "the precision of a predictor has the cost once",
    ),
    _hinge(
        "gap-on-the-other-side",
        "regression",
        "gap = margin - side * predictor_of",
        "gap = margin + side * predictor_of",
        "how far a predictor is from the margin is measured from the other one",
    ),
    _hinge(
        "rate-without-cost",
        "regression",
        "inverse_gaussian(rng, cost * abs(gap))",
        "inverse_gaussian(rng, abs(gap))",
        "the mean of the variables of the mixture lacks the cost",
    ),
    _hinge(
        "smaller-root-alone",
        "inverse_gaussian",
        "if rng.random() * (1.0 + rate * small) <= 1.0:",
        "if rng.random() <= 1.0:",
        "of an inverse Gaussian variate the smaller root is always taken",
    ),
)

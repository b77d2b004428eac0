"""Deliberately wrong kernels of the hierarchical Dirichlet scaling processes; see `registry`."""

from typing import Any

from ....zoo.families.scaling.family import ScalingFamily
from ....zoo.models.hdsp import Hdsp
from ....zoo.models.whdsp import Whdsp
from ..patched import Change, Mutant

BOTH = (ScalingFamily,)
FIXED = {"n_topics": 3}
MISSING = {"missing": "group 1"}
UPDATE = "documents.scale[row, k] = scale_of(labels, documents.log_scale, row, k)\n"


def _mutant(
    name: str, file: str, find: str, replace: str, about: str, concerns: Any = BOTH, **requires: Any
) -> Mutant:
    change = Change(f"scaling/{file}.py", find, replace)
    return Mutant(f"scaling-{name}", concerns, change, about, requires=requires)


MUTANTS: tuple[Mutant, ...] = (
    _mutant(
        "scale-forgotten", "tokens",
        "* scale / (1.0 + documents.u[d] * scale)",
        "/ (1.0 + documents.u[d])",
        "tokens do not see the scales of their document",
    ),
    _mutant(
        "mass-not-scaled", "tokens",
        "* scale / (1.0 + documents.u[d] * scale)",
        "* scale",
        "tokens see the scales without the u of their document",
    ),
    _mutant(
        "stale-coefficient", "tokens",
        "        mass = weigh(tokens, documents, topics, scratch, d, old, mass)\n",
        "",
        "the coefficient of the topic that a token leaves still counts the token",
    ),
    _mutant(
        "smooth-part-without-eta", "tokens",
        "word_mass + eta * mass",
        "word_mass + mass",
        "the mass of the smooth part lacks the factor eta",
    ),
    _mutant(
        "u-without-scales", "documents",
        "math.log(1.0 + u * target.scale[k])",
        "math.log(1.0 + u)",
        "u is drawn as if the document had no labels",
    ),
    _mutant(
        "prior-twice", "documents",
        "scratch.weights[k] = documents.prior[0, k] + scratch.doc_count[k]",
        "scratch.weights[k] = 2.0 * documents.prior[0, k] + scratch.doc_count[k]",
        "u sees the prior of topics twice",
    ),
    _mutant(
        "tables-from-alpha", "documents",
        "crt(rng, n, documents.prior[0, k])",
        "crt(rng, n, documents.alpha[0])",
        "tables of a topic are drawn with alpha instead of alpha times its weight",
    ),
    _mutant(
        "exposures-forgotten", "documents",
        "rate += documents.root[k] * documents.exposure[k]",
        "rate += documents.root[k]",
        "the rate of alpha has one where the exposures belong",
    ),
    _mutant(
        "thinning-forgotten", "sticks",
        "documents.customers[k] = documents.tables[k] + added",
        "documents.customers[k] = documents.tables[k]",
        "the root is drawn from the tables, as if all topics were exposed alike",
    ),
    _mutant(
        "scale-not-updated", "scales",
        "\n" + 16 * " " + UPDATE,
        "\n" + 16 * " " + "pass\n",
        "documents keep their scales when those of their labels move",
        n_topics=0,
    ),
    _mutant(
        "scales-without-counts", "scales",
        "out -= target.own_count[i] * math.log(",
        "out -= math.log(",
        "a document's tokens of a topic count once in the density of a scale",
    ),
    _mutant(
        "scales-without-tokens", "scales",
        "    out += target.linear * x\n",
        "",
        "the density of a scale lacks its power in the weights of tokens",
    ),
    _mutant(
        "density-of-w", "scales",
        "out = -target.first * at - target.second * math.exp(-at)",
        "out = -(target.first + 1.0) * at - target.second * math.exp(-at)",
        "the prior of log w lacks the Jacobian of the logarithm",
        (Hdsp,),
    ),
    _mutant(
        "deviation-for-variance", "scales",
        "out = -0.5 * at * at / target.first",
        "out = -0.5 * at * at / math.sqrt(target.first)",
        "the prior of a scale has the standard deviation in the place of the variance",
        (Whdsp,),
    ),
    _mutant(
        "values-forgotten", "scales",
        "factor = math.exp(target.own_value[i] * x)",
        "factor = math.exp(x)",
        "a label of any value counts as one in the density of a scale",
        (Whdsp,),
    ),
    _mutant(
        "gamma-from-a-topic-more", "sticks",
        "n_seen = np.count_nonzero(customers)",
        "n_seen = np.count_nonzero(customers) + 1",
        "gamma is drawn as if one topic more had customers",
        n_topics=0,
    ),
    _mutant(
        "new-scales-of-one", "sticks",
        "            scale[row] = scale_of(documents.labels, column, row, 0)\n",
        "            scale[row] = 1.0\n",
        "a new topic has scales that its log scales do not say",
        n_topics=0,
    ),
    _mutant(
        "later-sticks-forgotten", "sticks",
        "documents.gamma[0] + later",
        "documents.gamma[0]",
        "a stick of a fixed number is drawn without the customers of later ones",
        **FIXED,
    ),
    _mutant(
        "u-not-shifted", "scales",
        "documents.log_u[d] -= r * step",
        "documents.log_u[d] -= 0.0",
        "the scales of a label move together, and u stays",
        **FIXED,
    ),
    _mutant(
        "shape-without-rate-of-rates", "law",
        "return out + math.lgamma(shape) - shape * math.log(target.rate_prior[1] + target.inverse)",
        "return out + math.lgamma(shape) - shape * math.log(target.inverse)",
        "the shape of w is drawn as if the prior of its rate had no rate",
        (Hdsp,),
    ),
    _mutant(
        "shape-without-jacobian", "law",
        "out = target.prior[0] * x - target.prior[1] * a - a * target.total",
        "out = (target.prior[0] - 1.0) * x - target.prior[1] * a - a * target.total",
        "the prior of the shape of w lacks the Jacobian of the logarithm",
        (Hdsp,),
    ),
    _mutant(
        "rate-without-shape", "law",
        "shape, rate = priors[1, 0] + n * proposed[0], priors[1, 1] + inverse",
        "shape, rate = priors[1, 0] + n, priors[1, 1] + inverse",
        "the rate of w is drawn as if its shape were one",
        (Hdsp,),
    ),
    _mutant(
        "variance-of-one-square", "law",
        "0.5 * target.squares * math.exp(-x)",
        "target.squares * math.exp(-x)",
        "the variance of log scales sees squares without the factor one half",
        (Whdsp,),
    ),
    _mutant(
        "answers-without-words", "missing",
        "            weigh_answers(documents, questions, scratch, i, row, n_topics)\n",
        "",
        "a label that is not known is drawn without a look at the topics of its document",
        **MISSING,
    ),
    _mutant(
        "answers-without-others", "missing",
        "            weights[answer] = log_prior_of(questions, i, answer)\n",
        "            weights[answer] = 0.0\n",
        "a label that is not known is drawn without a look at other documents",
        **MISSING,
    ),
    _mutant(
        "answers-without-u", "missing",
        "math.log(1.0 + u * within_floats(x))",
        "math.log(1.0 + within_floats(x))",
        "a label that is not known is drawn as if all u were one",
        **MISSING,
    ),
    _mutant(
        "answers-without-counts", "missing",
        "weights[answer] += n * x -",
        "weights[answer] += x -",
        "a document's tokens of a topic count once where its label is drawn",
        **MISSING,
    ),
    _mutant(
        "answers-without-other-labels", "missing",
        "            x = others\n",
        "            x = 0.0\n",
        "a label that is not known is drawn as if its document had no other",
        (Whdsp,),
        **MISSING,
    ),
    _mutant(
        "answers-are-not-heard", "missing",
        "            documents.scale[row, k] = scale_of(labels, documents.log_scale, row, k)\n",
        "            pass\n",
        "documents keep their scales when their labels change",
        **MISSING,
    ),
)  # fmt: skip

"""Deliberately wrong kernels of the models of labelled documents; see `registry`."""

from ....zoo.families.labels.own_topics import OwnTopicsFamily
from ....zoo.models.author_topic import AuthorTopic
from ....zoo.models.dmr import Dmr
from ....zoo.models.dp_mrm import DpMrm
from ..patched import Change, Mutant

FILE = "labels/documents.py"


def _own(name: str, find: str, replace: str, about: str) -> Mutant:
    return Mutant(f"labels-{name}", (OwnTopicsFamily,), Change(FILE, find, replace), about, "sparse")


def _dmr(name: str, find: str, replace: str, about: str) -> Mutant:
    return Mutant(f"dmr-{name}", (Dmr,), Change(FILE, find, replace), about, "sparse")


def _author(name: str, find: str, replace: str, about: str) -> Mutant:
    change = Change("labels/authors.py", find, replace)
    return Mutant(f"author-{name}", (AuthorTopic,), change, about, "blocked")


def _measures(name: str, find: str, replace: str, about: str) -> Mutant:
    return Mutant(f"measures-{name}", (DpMrm,), Change("labels/mixed.py", find, replace), about, "sparse")


MUTANTS: tuple[Mutant, ...] = (
    _own(
        "tables-of-all",
        "shape[label[k]] += tables[r, k]",
        "shape[label[k]] += tables[r].sum()",
        "the alpha of a label is drawn given the tables of all topics of its documents",
    ),
    _own(
        "exposure-of-strangers",
        "                rate[label[k]] += exposure[r]\n",
        "            rate[label[k]] += exposure[r]\n",
        "documents that cannot have a topic count as exposed to it",
    ),
    _own(
        "exposure-of-the-last",
        "exposure[r] -= log_q if log_rest > NEXT_TO_ONE else -math.exp(log_rest)",
        "exposure[r] = -log_q",
        "a row of labels is as much exposed as the last of its documents",
    ),
    _own(
        "companion-of-one-topic",
        "documents.prior[r].sum(), float(length)",
        "documents.prior[r].max(), float(length)",
        "the companion of a document is drawn given one of its parameters in place of their sum",
    ),
    _own(
        "prior-shape-forgotten",
        "np.full(alpha.size, documents.alpha_prior[0])",
        "np.zeros(alpha.size) + 1e-3",
        "alpha is drawn as if the shape of its prior were zero",
    ),
    _own(
        "prior-rate-forgotten",
        "np.full(alpha.size, documents.alpha_prior[1])",
        "np.zeros(alpha.size) + 1e-3",
        "alpha is drawn as if the rate of its prior were zero",
    ),
    _dmr(
        "one-table-a-row",
        "slope += value * tables[r, k]",
        "slope += value * min(tables[r, k], 1)",
        "a row of labels has one table of a topic, or none",
    ),
    _dmr(
        "precision-of-intercepts",
        "documents.precision[0 if j == 0 else 1]",
        "documents.precision[0]",
        "all coefficients have the precision of the intercepts",
    ),
    _dmr(
        "square-not-halved",
        "0.5 * target.precision * x * x",
        "target.precision * x * x",
        "the prior of a coefficient has half its variance",
    ),
    _dmr(
        "exposure-of-a-document",
        "log_exposure[r] + log_prior[r] - value * old",
        "log_prior[r] - value * old",
        "every row of labels has an exposure of one",
    ),
    _dmr(
        "precision-of-rows",
        "prior[0] + 0.5 * own.size",
        "prior[0] + 0.5 * len(own)",
        "a precision is drawn as if there were one topic",
    ),
    _dmr(
        "squares-not-halved",
        "prior[1] + 0.5 * np.sum(own * own)",
        "prior[1] + np.sum(own * own)",
        "a precision is drawn given twice the sum of squares",
    ),
    _author(
        "alpha-forgotten",
        "(documents.count[author, k] + alpha) / (documents.total[author] + n_topics * alpha)",
        "documents.count[author, k] / (documents.total[author] + n_topics * alpha)",
        "an author has only topics that he had before",
    ),
    _author(
        "normaliser-dropped",
        "(documents.count[author, k] + alpha) / (documents.total[author] + n_topics * alpha)",
        "(documents.count[author, k] + alpha) / (documents.total[author] + alpha)",
        "the normaliser of an author has alpha instead of K alpha where a word is known to topics",
    ),
    _author(
        "stale-mass",
        "documents.mass[s] += step * scratch.coefficient[k]",
        "documents.mass[s] += 0.0",
        "the mass of an author does not follow his own tokens",
    ),
    _author(
        "stale-coefficient",
        "    weigh_topic(documents, topics, scratch, own, k)\n\n",
        "    if step > 0:\n        weigh_topic(documents, topics, scratch, own, k)\n\n",
        "the coefficient of a topic keeps the token that is taken out",
    ),
    _author(
        "others-stale",
        "        documents.mass[s] += (documents.count[own[s], k] + documents.alpha[0]) * change",
        "        documents.mass[s] += documents.count[own[s], k] * change",
        "the mass of authors does not follow the topics that they have no token of",
    ),
    _author(
        "tables-of-nobody",
        "n_tables += crt(rng, documents.count[a, k], alpha)",
        "n_tables += min(documents.count[a, k], 1)",
        "alpha is drawn as if an author had one table of a topic, or none",
    ),
    _author(
        "one-topic-of-mass",
        "n_tables, documents.total, float(n_topics)",
        "n_tables, documents.total, 1.0",
        "the rate of alpha lacks the factor K",
    ),
    _measures(
        "customers-of-dishes",
        "of_label[j] += of_topic[k]",
        "of_label[j] += 1",
        "gamma is drawn given the number of topics in place of that of tables",
    ),
    _measures(
        "rest-forgotten",
        "sticks[n_topics] = documents.gamma[0]",
        "sticks[n_topics] = 1.0",
        "what is left of a stick does not depend on gamma",
    ),
    _measures(
        "one-table-a-topic",
        "sticks[k] = of_topic[k] if",
        "sticks[k] = 1.0 if",
        "sticks are drawn as if each topic had one table",
    ),
    _measures(
        "one-restaurant",
        "n_topics, of_label, 1.0",
        "n_topics, np.array([of_topic.sum()]), 1.0",
        "gamma is drawn as if all labels were one restaurant",
    ),
    _measures(
        "alpha-of-sticks",
        "documents.alpha_prior, tables.sum(), lengths, 1.0",
        "documents.alpha_prior, topics.n_topics[0], lengths, 1.0",
        "alpha is drawn given the number of topics in place of that of tables",
    ),
    _measures(
        "whole-stick-for-new",
        "documents.alpha[0] * documents.share[e] * documents.left[documents.row_label[e]]",
        "documents.alpha[0] * documents.share[e]",
        "a new topic is weighed by the whole stick of its label, without regard to the topics in use",
    ),
)

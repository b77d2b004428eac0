"""Bridges from the densities of a model to that of its reference: a sum over all topics of the tokens.

Most models have two sides, which bridges are made of; the others have one of their own.
"""

import bridge_labels
import bridge_lda
import bridge_poisson
from bnpzoo.zoo.families.labels.family import LabelledFamily
from bridge_buffet import focused, transfer
from bridge_labels import by_authors, of_measures
from bridge_responses import SUPERVISED, coefficients_of, log_responses
from bridge_scaling import scaled
from bridge_toolbox import all_topics, corpus_of, hyper_of, tally
from bridge_topics import topics_of
from scipy.special import logsumexp

OWN_BRIDGES = {
    "sparse_transfer": transfer,
    "focused": focused,
    "author_topic": by_authors,
    "dp_mrm": of_measures,
    "hdsp": scaled,
    "whdsp": scaled,
}

DOCUMENT_SIDES = {
    "lda": bridge_lda.lda,
    "hdp": bridge_lda.hdp,
    "shdp": bridge_lda.hdp,
    "mt_hdp": bridge_lda.mt_hdp,
    "slda": bridge_lda.lda,
    "medlda": bridge_lda.lda,
    "labeled_lda": bridge_labels.own_topics,
    "partially_labeled_lda": bridge_labels.own_topics,
    "dmr": bridge_labels.dmr,
    "metalda": bridge_labels.metalda,
    "pfa": bridge_poisson.pfa,
    "bgg": bridge_poisson.bgg,
    "gbn": bridge_poisson.gbn,
} | dict.fromkeys(("group_lda", "cclda", "pyp", "hpyp", "tpyp"), bridge_lda.an_alpha_a_group)


def bridge(model, values, sites):
    """Log density of the reference at `values`, from the model's densities."""
    return OWN_BRIDGES.get(model.card.id, of_two_sides)(model, values, sites)


def of_two_sides(model, values, sites):
    """Bridge to a model of two sides, and its responses."""
    hyper, doc = hyper_of(model, values), corpus_of(model).doc_of
    is_supervised = model.card.id in SUPERVISED
    theta, own, fixed = DOCUMENT_SIDES[model.card.id](model, values, sites)
    n_topics = theta.shapes.shape[1]
    topics = topics_of(model, values, sites, n_topics)
    fixed += theta.log_density + topics.log_density + model.log_hyperparameters(hyper)
    latents = hyper | own
    if is_supervised:
        density, coefficients = coefficients_of(values)
        fixed, latents = fixed + density, latents | coefficients
    terms = []
    for k in assignments(model, n_topics):
        out = topics.log_tokens(latents, k) + theta.tilt(tally(theta.shapes.shape, doc, k))
        terms.append(out + log_responses(model, latents, k) if is_supervised else out)
    return fixed + logsumexp(terms)


def assignments(model, n_topics):
    """All topics that tokens may have, where labels do not exclude them."""
    return model.assignments(corpus_of(model)) if isinstance(model, LabelledFamily) else all_topics(n_topics)

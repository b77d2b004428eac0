"""Bridge to the family `scaling`."""

import numpy as np
from bridge_toolbox import (
    CORPUS,
    TRUNCATION,
    Shares,
    all_topics,
    corpus_of,
    hyper_of,
    labels_of,
    log_given,
    own_density,
    root_of_sticks,
    tally,
)
from scipy import stats
from scipy.special import logsumexp


def scaled(model, values, sites):
    """Bridge to the scaling processes, at some u: the model's density has it, and the reference has not.

    Given topics and u, the gamma variates g of a document are independent, of rates 1 + u s.
    """
    corpus, labels, hyper = corpus_of(model), values_of_labels(model), hyper_of(model, values)
    root = root_of_sticks(values)
    g = Shares.of(values, "theta", values["alpha"] * root)
    phi = Shares.of(values, "phi", values["eta"])
    of_scales, log_scale = scales_of(model, values)
    fixed = g.log_density + phi.log_density + model.log_hyperparameters(hyper) + of_scales
    fixed += own_density(values, sites, "sticks")
    filled = corpus.doc_lengths > 0
    log_u = np.where(filled, np.linspace(-1.0, 1.0, corpus.n_documents), 0.0)
    us = np.exp(log_u)[:, None] * np.exp(labels @ log_scale)
    latents = hyper | {"root": np.append(root, 0.0), "log_scale": log_scale, "log_u": log_u}
    terms = []
    for z in all_topics(TRUNCATION):
        n = tally(g.log_g.shape, corpus.doc_of, z)
        given_u = stats.loggamma(g.shapes + n).logpdf(g.log_g + np.log1p(us))
        terms.append(
            log_given(model, latents | {"z": z}, corpus)
            + phi.tilt(tally(phi.log_g.shape, z, corpus.words))
            + np.sum((given_u - stats.loggamma(g.shapes).logpdf(g.log_g))[filled])
        )
    rate = np.sum(np.exp(g.log_g + labels @ log_scale), axis=1)[filled]
    of_u = stats.loggamma(corpus.doc_lengths[filled]).logpdf(log_u[filled] + np.log(rate))
    return fixed + logsumexp(terms) - np.sum(of_u)


def values_of_labels(model):
    """Labels of the documents, float (D, J); `whdsp` takes the group as a number as well."""
    labels, group = labels_of(model), CORPUS.group_of_doc
    if model.card.id != "whdsp":
        return labels
    return np.column_stack([labels, (group - group.mean()) / group.std()])


def scales_of(model, values):
    """Log density of what the scales are made of, and the log scales."""
    if model.card.id == "hdsp":  # log w, of w ~ InvGamma
        density = np.sum(stats.loggamma(values["w_shape"]).logpdf(values["scale_x"]))
        return density, np.log(values["w_rate"]) - values["scale_x"]
    density = np.sum(stats.norm.logpdf(values["scale_x"]))
    return density, np.sqrt(values["w_variance"]) * values["scale_x"]

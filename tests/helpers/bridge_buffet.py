"""Bridges to the family `buffet`, where documents or tasks have sets of topics."""

from itertools import product

import numpy as np
from bridge_toolbox import (
    CORPUS,
    TRUNCATION,
    Shares,
    all_topics,
    hyper_of,
    log_given,
    log_tilt,
    own_density,
    tally,
)
from scipy import stats
from scipy.integrate import quad
from scipy.special import gammaln, logsumexp


def transfer(model, values, sites):
    """Bridge to the sparse transfer model: the sum is over its masks as well."""
    corpus, group, doc, hyper = CORPUS, CORPUS.group_of_doc, CORPUS.doc_of, hyper_of(model, values)
    weight = Shares.of(values, "weight", values["shape"])
    g = Shares.of(values, "g", np.exp(weight.log_g)[group])
    phi = Shares.of(values, "phi", values["eta"])
    fixed = weight.log_density + g.log_density + phi.log_density + model.log_hyperparameters(hyper)
    fixed += own_density(values, sites, "log_sticks")
    fixed += np.sum(stats.gamma(model.a1, scale=model.a2).logpdf(values["shape"]))
    kept = model.epsilon * np.exp(values["log_sticks"])
    terms = []
    for on in masks_of(corpus.n_groups):
        log_weight = np.where(on, weight.log_g, -np.inf)
        of_mask = np.sum(np.where(on, np.log(kept), np.log1p(-kept)))
        if np.any(~on[group[doc]].any(axis=1)):  # a task with tokens has a topic
            continue
        for k in product(*(np.flatnonzero(row) for row in on[group[doc]])):
            z = np.array(k)
            latents = hyper | {"z": z, "log_weight": log_weight, "shape": values["shape"]}
            counts = tally((corpus.n_documents, TRUNCATION), doc, z)
            terms.append(
                of_mask
                + log_given(model, latents, corpus)
                + phi.tilt(tally((TRUNCATION, corpus.n_words), z, corpus.words))
                + sum(map(tilt_of_mask, g.shapes, g.log_g, counts, on[group]))
            )
    return fixed + logsumexp(terms)


def focused(model, values, sites):
    """Bridge to the focused model, which sums masks out: given z, a topic is on where it has tokens.

    It is on in another document with the odds that it is silent there to that it is off.
    """
    corpus, hyper = CORPUS, hyper_of(model, values)
    strength = Shares.of(values, "strength", values["gamma"])
    inclusion, weight = np.exp(values["log_sticks"]), np.exp(strength.log_g[0])
    g = Shares.of(values, "g", weight)
    phi = Shares.of(values, "phi", values["eta"])
    fixed = strength.log_density + g.log_density + phi.log_density + model.log_hyperparameters(hyper)
    fixed += own_density(values, sites, "log_sticks") + of_others_and_lengths(values)
    silent = inclusion * 2.0**-weight
    is_on = silent / (1.0 - inclusion + silent)
    terms = []
    for z in all_topics(TRUNCATION):
        counts = tally((corpus.n_documents, TRUNCATION), corpus.doc_of, z)
        terms.append(
            log_given(model, hyper | {"z": z, "strength": weight, "inclusion": inclusion}, corpus)
            + phi.tilt(tally((TRUNCATION, corpus.n_words), z, corpus.words))
            + sum(tilt_of_any_mask(is_on, *row) for row in zip(g.shapes, g.log_g, counts, strict=True))
        )
    return fixed + logsumexp(terms)


def of_others_and_lengths(values):
    """What takes the factors of other topics and of lengths out of the density of the focused model.

    Where there are two topics, nothing is said of others; the reference has no factors of lengths alone.
    """
    some = [
        quad(lambda x, j=j: stats.gamma.pdf(x, values["gamma"]) * (1.0 - 2.0 ** (-j * x)) / j, 0.0, np.inf)[0]
        for j in range(1, CORPUS.n_documents + 1)
    ]
    of_lengths = CORPUS.n_tokens * np.log(2.0) + np.sum(gammaln(CORPUS.doc_lengths + 1.0))
    return values["alpha"] * sum(some) + of_lengths


def masks_of(rows):
    """All sets of topics of each row, bool (rows, K)."""
    return [np.reshape(on, (rows, TRUNCATION)) for on in product((False, True), repeat=rows * TRUNCATION)]


def tilt_of_mask(shapes, log_g, counts, on):
    """Of the proportions of a document, the normalised variates of the topics that are on."""
    if not on.any():
        return 0.0
    return log_tilt(shapes[on], log_g[on] - logsumexp(log_g[on]), counts[on])


def tilt_of_any_mask(is_on, shapes, log_g, counts):
    """See `tilt_of_mask`, of all masks with the topics that a document has, where `is_on` are the chances."""
    probability = np.where(counts > 0, 1.0, is_on)
    return logsumexp(
        [
            np.log(np.prod(np.where(on, probability, 1.0 - probability)))
            + tilt_of_mask(shapes, log_g, counts, on)
            for (on,) in masks_of(1)
            if np.all(on | (counts == 0))
        ]
    )

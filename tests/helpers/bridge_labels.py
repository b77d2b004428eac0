"""Bridges to the family `labels`: document sides, and two whole ones."""

from itertools import product

import numpy as np
from bridge_toolbox import (
    CORPUS,
    TRUNCATION,
    Documents,
    Shares,
    all_topics,
    corpus_of,
    hyper_of,
    labels_of,
    log_given,
    tally,
)
from scipy import stats
from scipy.special import logsumexp

NEVER = np.exp(-300.0)
"""Dirichlet parameter of what a document may not have."""


def own_topics(model, values, sites):
    """Document side of the models in which labels have topics of their own."""
    return Documents(theta_given_labels(model, values, {}), {})


def dmr(model, values, sites):
    standard = values["standard_coefficients"]
    factor = model.deviations(hyper_of(model, values), len(standard)) * standard
    latents = {"log_factor": factor}
    density = float(np.sum(stats.norm.logpdf(standard)))
    return Documents(theta_given_labels(model, values, latents), latents, density)


def theta_given_labels(model, values, latents):
    corpus = corpus_of(model)
    prior = model.document_prior(hyper_of(model, values) | latents, corpus)
    shapes = prior[model.document_rows(corpus), :-1]
    return Shares.of(values, "theta", np.maximum(shapes, NEVER))


def metalda(model, values, sites):
    weights = values["weight_x"]
    log_weight = weights - np.log(model.weight_rate)
    theta = Shares.of(values, "theta", np.exp(features_of(model) @ log_weight))
    density = float(np.sum(stats.loggamma(model.weight_shape).logpdf(weights)))
    return Documents(theta, {"log_weight": log_weight}, density)


def features_of(model):
    """Features of the documents: one that all have, and their labels, float (D, 1 + J)."""
    return np.column_stack([np.ones(CORPUS.n_documents), labels_of(model)])


def authors_of(model):
    """Return the authors of the documents, and how many there are: an unknown one has the next number."""
    own = [np.flatnonzero(row) for row in labels_of(model)]
    n_labels, unknown = labels_of(model).shape[1], [d for d, authors in enumerate(own) if not authors.size]
    for number, d in enumerate(unknown):
        own[d] = np.array([n_labels + number])
    return own, n_labels + len(unknown)


def by_authors(model, values, sites):
    """Bridge to the author-topic model: the sum is over the authors of the tokens as well."""
    corpus, hyper = corpus_of(model), hyper_of(model, values)
    own, n_authors = authors_of(model)
    theta, phi = Shares.of(values, "of_author", values["alpha"]), Shares.of(values, "phi", values["eta"])
    assert theta.log_g.shape == (n_authors, TRUNCATION)
    terms = []
    for authors in product(*(own[d] for d in corpus.doc_of)):
        for z in all_topics(TRUNCATION):
            terms.append(
                log_given(model, hyper | {"z": z, "author": np.array(authors)}, corpus)
                + theta.tilt(tally((n_authors, TRUNCATION), np.array(authors), z))
                + phi.tilt(tally((TRUNCATION, corpus.n_words), z, corpus.words))
            )
    fixed = theta.log_density + phi.log_density + model.log_hyperparameters(hyper)
    return fixed + logsumexp(terms)


def of_measures(model, values, sites):
    """Bridge to mixed random measures; a document without labels may have any, one of one has no shares."""
    corpus, hyper, has = corpus_of(model), hyper_of(model, values), measures_of(model)
    keys, has_row = rows_of_shares(has)
    share = Shares.of(values, "share", np.where(has_row, values["tau"], NEVER))
    cut = values["cut"]
    sticks = np.column_stack([cut, 1.0 - cut])  # two a label, the last being all that is left
    weights = np.exp(share.log_share)[keys]
    theta_shape = values["alpha"] * (weights[:, :, None] * sticks).reshape(len(keys), -1)
    theta = Shares.of(values, "theta", np.maximum(theta_shape, NEVER))
    phi = Shares.of(values, "phi", values["eta"])
    fixed = share.log_density + theta.log_density + phi.log_density + model.log_hyperparameters(hyper)
    fixed += np.sum(stats.beta(1.0, values["gamma"]).logpdf(cut))
    several = has_row.sum(axis=1) > 1
    of_several = np.exp(share.log_share)[several][has_row[several]]
    latents = hyper | {"root": root_of_labels(sticks)} | ({"share": of_several} if several.any() else {})
    may_have = [np.flatnonzero(np.repeat(has[d], TRUNCATION)) for d in corpus.doc_of]
    terms = [
        log_given(model, latents | {"z": z}, corpus)
        + theta.tilt(tally(theta.log_g.shape, corpus.doc_of, z))
        + phi.tilt(tally(phi.log_g.shape, z, corpus.words))
        for z in map(np.array, product(*may_have))
    ]
    return fixed + logsumexp(terms)


def measures_of(model):
    """Whose measures documents may mix, bool (D, J)."""
    has = labels_of(model) > 0
    return np.where(has.any(axis=1, keepdims=True), has, True)


def rows_of_shares(has):
    """Row of shares of each document, and the labels of each row.

    Documents of the same single label share a row; these come first, and all others have their own.
    """
    keys = [
        (n, own.argmax() if n == 1 else d)
        for d, (n, own) in enumerate(zip(has.sum(axis=1), has, strict=True))
    ]
    rows = sorted(set(keys), key=lambda key: (key[0] > 1, key[1]))
    return [rows.index(key) for key in keys], np.array([has[keys.index(row)] for row in rows])


def root_of_labels(sticks):
    """Shares of all topics in the measure of each label, and of what is left: nothing."""
    n_labels = len(sticks)
    root = np.zeros((n_labels, n_labels * TRUNCATION + 1))
    for j in range(n_labels):
        root[j, TRUNCATION * j : TRUNCATION * (j + 1)] = sticks[j]
    return root

"""Responses of the supervised models, for bridges: the group is a category, and a number."""

import numpy as np
from bridge_toolbox import CORPUS, TRUNCATION, tally
from scipy import stats
from scipy.special import logsumexp

SUPERVISED = ("slda", "medlda", "shdp")


def coefficients_of(values):
    """Log density of the coefficients, and the model's latents."""
    standard = values["standard_coefficients"]
    of = [0] * (len(standard) - 1) + [1]  # the group is a category, and a number
    latents = {
        "intercept": values["intercept_precision"][of] ** -0.5 * standard[:, 0],
        "coefficient": values["precision"][of, None] ** -0.5 * standard[:, 1:],
    }
    return float(np.sum(stats.norm.logpdf(standard))), latents


def log_responses(model, latents, z):
    """Log probability, or factor, of the groups as categories, and as numbers, given topics."""
    counts = tally((CORPUS.n_documents, TRUNCATION), CORPUS.doc_of, z)
    shares = counts / np.maximum(CORPUS.doc_lengths, 1)[:, None]
    *own, mean = (latents["intercept"] + shares @ latents["coefficient"].T).T
    group = CORPUS.group_of_doc
    if model.card.id == "medlda":
        sides = np.where(np.arange(CORPUS.n_groups) == group[:, None], 1.0, -1.0)
        loss = np.maximum(0.0, model.margin - sides * np.transpose(own)).sum(axis=1)
        of_categories = -2.0 * model.cost * loss
    else:
        odds = np.column_stack([np.zeros(len(group)), *own])
        of_categories = odds[np.arange(len(group)), group] - logsumexp(odds, axis=1)
    return np.sum(of_categories + stats.norm(mean, latents["noise_precision"][0] ** -0.5).logpdf(group))

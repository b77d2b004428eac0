"""Exact posteriors of truncated models on micro corpora, and a check of draws against them."""

from collections.abc import Callable
from itertools import product

import arviz_stats
import numpy as np
import pytest
from bnpzoo import Corpus
from bnpzoo.zoo.corpus.associations import Associations
from scipy.special import gammaln, logsumexp
from scipy.stats import beta as beta_law


@pytest.fixture(scope="module")
def micro() -> Corpus:
    """Six tokens in two tasks, one document each of three tokens and a shared one of two words."""
    return Corpus(
        np.array([0, 0, 1, 1, 2, 2]),
        np.array([0, 3, 4, 6]),
        n_words=3,
        group=np.array([0, 1, 1]),
        associations=Associations.of(
            [
                [[0.7, 0.2, 0.0], [0.3, 0.8, 1.0], [0.0, 0.0, 0.0]],
                [[0.5, 0.0, 0.1], [0.2, 0.6, 0.0], [0.3, 0.4, 0.9]],
            ]
        ),
    )


def log_dirichlet_multinomial(counts: np.ndarray, shapes: np.ndarray) -> np.ndarray:
    """Log probability of a sequence with `counts`, over the last axis."""
    return (
        gammaln(shapes.sum(-1))
        - gammaln(shapes.sum(-1) + counts.sum(-1))
        + (gammaln(shapes + counts) - gammaln(shapes)).sum(-1)
    )


def co_assignment(corpus: Corpus, eta: float, log_prior: Callable[[np.ndarray], float]) -> np.ndarray:
    """P(z_i = z_j) for all pairs i < j under two topics, by enumeration of all 2^N topics.

    `log_prior` maps counts of topics in documents (D, 2) to the log probability of the topics.
    """
    n = corpus.n_tokens
    first, second = np.triu_indices(n, 1)
    log_weights, same = [], []
    for z in product(range(2), repeat=n):
        in_document, in_topic = np.zeros((corpus.n_documents, 2)), np.zeros((2, corpus.n_words))
        np.add.at(in_document, (corpus.doc_of, z), 1)
        np.add.at(in_topic, (z, corpus.words), 1)
        likelihood = log_dirichlet_multinomial(in_topic, np.full(corpus.n_words, eta)).sum()
        log_weights.append(log_prior(in_document) + likelihood)
        same.append(np.take(z, first) == np.take(z, second))
    weights = np.exp(np.array(log_weights) - logsumexp(log_weights))
    return weights @ np.array(same)


def quantile_grid(a: np.ndarray, b: np.ndarray, size: int = 400) -> np.ndarray:
    """Equally probable points of Beta(a, b), along a new last axis, inside the open unit interval."""
    u = (np.arange(size) + 0.5) / size
    points = beta_law.ppf(u, np.asarray(a)[..., None], np.asarray(b)[..., None])
    return np.clip(points, 1e-300, 1 - 1e-16)


def lda_prior(alpha: float) -> Callable[[np.ndarray], float]:
    """Prior of the topics under LDA with two topics."""
    return lambda counts: log_dirichlet_multinomial(counts, np.full(2, alpha)).sum()


def hdp_prior(gamma: float, alpha: float) -> Callable[[np.ndarray], float]:
    """Prior of the topics under the HDP with two sticks."""
    v = quantile_grid(np.array(1.0), np.array(gamma))
    shapes = alpha * np.stack([v, 1 - v], -1)[:, None]

    def log_prior(counts: np.ndarray) -> float:
        return float(logsumexp(log_dirichlet_multinomial(counts, shapes).sum(-1)))

    return log_prior


def mt_hdp_prior(
    gamma: float, alpha0: float, alpha: float, group: np.ndarray
) -> Callable[[np.ndarray], float]:
    """Prior of the topics under the multi-task HDP with two sticks."""
    v = quantile_grid(np.array(1.0), np.array(gamma), 200)
    task = quantile_grid(alpha0 * v, alpha0 * (1 - v), 200)
    shapes = np.maximum(alpha * np.stack([task, 1 - task], -1), 1e-290)[:, :, None]

    def log_prior(counts: np.ndarray) -> float:
        by_document = log_dirichlet_multinomial(counts, shapes)
        by_task = [by_document[..., group == c].sum(-1) for c in np.unique(group)]
        return float(logsumexp(sum(logsumexp(task, axis=-1) for task in by_task)))

    return log_prior


@pytest.fixture
def deviations(micro: Corpus) -> Callable[..., np.ndarray]:
    """Distance of P(z_i = z_j) under draws from the exact posterior, in Monte Carlo standard errors."""

    def deviations(name: str, draws: dict[str, np.ndarray], **hyper: float) -> np.ndarray:
        eta = hyper.pop("eta")
        group = {"group": micro.group} if name == "mt_hdp" else {}
        prior = {"lda": lda_prior, "hdp": hdp_prior, "mt_hdp": mt_hdp_prior}[name](**hyper, **group)
        weights = draws["theta"][:, :, micro.doc_of] * np.moveaxis(draws["phi"], 3, 2)[:, :, micro.words]
        weights /= weights.sum(-1, keepdims=True)
        first, second = np.triu_indices(micro.n_tokens, 1)
        same = (weights[:, :, first] * weights[:, :, second]).sum(-1)
        error = np.array([arviz_stats.mcse(same[:, :, p]) for p in range(first.size)])
        return (same.mean((0, 1)) - co_assignment(micro, eta, prior)) / error

    return deviations

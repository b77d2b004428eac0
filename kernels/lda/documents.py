"""Document sides with Dirichlet priors on a fixed number of topics: latent Dirichlet allocation.

Each group of documents has parameters of its own, and topics that its documents may have: all, or some.
"""

from typing import NamedTuple

import numpy as np

from ..toolbox.random import concentration, gamma_variate, is_sampled, log_beta_variate
from ..toolbox.sides import (
    Tokens,
    check_number_of_topics,
    check_positive,
    check_side,
    draw_tables,
    move_documents,
    open_topic,
)


class FiniteDocuments(NamedTuple):
    """Document side with symmetric Dirichlet priors.

    Attributes
    ----------
    prior : float64 (G, K)
        ``alpha[g]`` where documents of group g may have topic k, else zero.
    rest : float64 (G,)
        Zero: no topic is left to open.
    alpha : float64 (G,)
    alpha_prior : float64 (2,)
    may_have : bool (G, K)
    """

    prior: np.ndarray
    rest: np.ndarray
    alpha: np.ndarray
    alpha_prior: np.ndarray
    may_have: np.ndarray

    FIXED = ("rest", "alpha_prior", "may_have")


class AsymmetricDocuments(NamedTuple):
    """Document side with a Dirichlet parameter for each topic, all of which have the same prior.

    Attributes
    ----------
    prior : float64 (G, K)
        alpha.
    rest : float64 (G,)
        Zero: no topic is left to open.
    alpha_prior : float64 (2,)
    """

    prior: np.ndarray
    rest: np.ndarray
    alpha_prior: np.ndarray

    FIXED = ("rest", "alpha_prior")


@open_topic.implement(FiniteDocuments)
@open_topic.implement(AsymmetricDocuments)
def _no_topic_to_open(rng, documents, topic, group):
    pass


@move_documents.implement(FiniteDocuments)
def _draw_alpha(rng, tokens, documents, topics, scratch):
    if not is_sampled(documents.alpha_prior):
        return
    tables = draw_tables(rng, tokens, documents, scratch, documents.prior.shape[1])
    lengths = tokens.doc_ptr[1:] - tokens.doc_ptr[:-1]
    for g in range(documents.alpha.size):
        n_topics = float(np.count_nonzero(documents.may_have[g]))
        documents.alpha[g] = concentration(
            rng,
            documents.alpha[g],
            documents.alpha_prior,
            tables[g].sum(),
            lengths[tokens.group == g],
            n_topics,
        )
        documents.prior[g] = np.where(documents.may_have[g], documents.alpha[g], 0.0)


@move_documents.implement(AsymmetricDocuments)
def _draw_all_alpha(rng, tokens, documents, topics, scratch):
    # With q_d ~ Beta(A, n_d), A the sum of alpha, and tables CRT(n_dk, alpha_k), the likelihood of alpha is
    # prod_k alpha_k^tables_k prod_d q_d^alpha_k: that of `concentration`, of a topic at a time.
    if not is_sampled(documents.alpha_prior):
        return
    n_groups, n_topics = documents.prior.shape
    tables = draw_tables(rng, tokens, documents, scratch, n_topics)
    rate = np.full(n_groups, documents.alpha_prior[1])
    for d in range(tokens.group.size):
        length, g = tokens.doc_ptr[d + 1] - tokens.doc_ptr[d], tokens.group[d]
        if length > 0:
            rate[g] -= log_beta_variate(rng, documents.prior[g].sum(), float(length))[0]
    for g in range(n_groups):
        for k in range(n_topics):
            documents.prior[g, k] = gamma_variate(rng, documents.alpha_prior[0] + tables[g, k], rate[g])


def finite_documents(may_have, alpha, alpha_prior=(0.0, 0.0)) -> FiniteDocuments:
    """Document side of the groups' concentrations `alpha` (G,), or one of them for all groups.

    `may_have` (G, K) says which topics the documents of a group can have.
    """
    own = np.array(may_have, np.bool_)
    alpha = np.array(np.broadcast_to(alpha, len(own)), float)
    return FiniteDocuments(
        prior=np.where(own, alpha[:, None], 0.0),
        rest=np.zeros(len(own)),
        alpha=alpha,
        alpha_prior=np.array(alpha_prior, float),
        may_have=own,
    )


def asymmetric_documents(alpha, alpha_prior=(0.0, 0.0)) -> AsymmetricDocuments:
    """Document side of the parameters `alpha` (G, K)."""
    prior = np.array(alpha, float)
    return AsymmetricDocuments(prior, np.zeros(len(prior)), np.array(alpha_prior, float))


@check_side.register
def _(side: FiniteDocuments, tokens: Tokens, n_topics: int) -> None:
    check_number_of_topics(side, tokens, n_topics)
    check_positive(alpha=side.alpha)
    if np.any(side.prior != np.where(side.may_have, side.alpha[:, None], 0.0)):
        raise AssertionError("the document prior is not alpha")
    group = np.repeat(tokens.group, np.diff(tokens.doc_ptr))
    if not np.all(side.may_have[group, tokens.topic]):
        raise AssertionError("a token has a topic that its document may not have")


@check_side.register
def _(side: AsymmetricDocuments, tokens: Tokens, n_topics: int) -> None:
    check_number_of_topics(side, tokens, n_topics)
    if not np.all((side.prior >= 0.0) & np.isfinite(side.prior)):
        raise AssertionError("alpha is not a number of zero or more")

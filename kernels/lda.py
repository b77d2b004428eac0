"""Latent Dirichlet allocation: collapsed Gibbs, exact for its fixed number of topics.

Each group of documents has a concentration, and topics that its documents may have: all of them, or its own.
"""

from typing import NamedTuple

import numpy as np

from .jit import kernel
from .random import concentration, crt, is_sampled
from .smoothing import update_smoothing
from .state import (
    DirichletTopics,
    Scratch,
    Tokens,
    check_counts,
    check_positive,
    check_scratch,
    check_topic_of_tokens,
    dirichlet_topics,
    open_topic,
    scratch,
    tokens_of,
)
from .token_pass import dense_pass, sparse_pass


class FiniteDocuments(NamedTuple):
    """Document side with symmetric Dirichlet priors on a fixed number of topics.

    Attributes
    ----------
    prior : float64 (G, K)
        ``alpha[g]`` where documents of group g may have topic k, else zero.
    rest : float64 (G,)
        Zero: no topic is left to open.
    alpha : float64 (G,)
    may_have : bool (G, K)
    """

    prior: np.ndarray
    rest: np.ndarray
    alpha: np.ndarray
    may_have: np.ndarray

    FIXED = ("rest", "may_have")


@open_topic.implement(FiniteDocuments)
def _no_topic_to_open(rng, documents, topic, group):
    pass


class LdaState(NamedTuple):
    """State of a chain; `alpha_prior` and `eta_prior` are (shape, rate), or zeros for a fixed value."""

    tokens: Tokens
    documents: FiniteDocuments
    topics: DirichletTopics
    scratch: Scratch
    alpha_prior: np.ndarray
    eta_prior: np.ndarray

    FIXED = ("alpha_prior", "eta_prior")


@kernel
def update_alpha(rng, tokens, documents, scratch, prior):
    """Draw each group's alpha given table counts of its documents, which are drawn and forgotten here."""
    if not is_sampled(prior):
        return
    n_tables = np.zeros(documents.alpha.size, np.int64)
    count = scratch.doc_count
    for d in range(tokens.group.size):
        g = tokens.group[d]
        tokens_of_d = tokens.topic[tokens.doc_ptr[d] : tokens.doc_ptr[d + 1]]
        for k in tokens_of_d:
            count[k] += 1
        for k in tokens_of_d:
            n_tables[g] += crt(rng, count[k], documents.alpha[g])
            count[k] = 0
    lengths = tokens.doc_ptr[1:] - tokens.doc_ptr[:-1]
    for g in range(documents.alpha.size):
        n_topics = float(np.count_nonzero(documents.may_have[g]))
        documents.alpha[g] = concentration(
            rng, documents.alpha[g], prior, n_tables[g], lengths[tokens.group == g], n_topics
        )
        documents.prior[g] = np.where(documents.may_have[g], documents.alpha[g], 0.0)


@kernel
def finish_sweep(rng, state):
    """Move the hyperparameters of both sides."""
    update_alpha(rng, state.tokens, state.documents, state.scratch, state.alpha_prior)
    update_smoothing(rng, state.topics, state.eta_prior)


@kernel
def sparse_sweep(rng, state):
    """One sweep: tokens by the sparse pass, then alpha, then eta. Mutates `state`."""
    sparse_pass(rng, state.tokens, state.documents, state.topics, state.scratch)
    finish_sweep(rng, state)


@kernel
def dense_sweep(rng, state):
    """One sweep: tokens by the dense pass, then alpha, then eta. Mutates `state`."""
    dense_pass(rng, state.tokens, state.documents, state.topics, state.scratch)
    finish_sweep(rng, state)


def finite_documents(may_have, alpha) -> FiniteDocuments:
    """Document side of the groups' concentrations `alpha` (G,), or one of them for all groups."""
    own = np.array(may_have, np.bool_)
    alpha = np.array(np.broadcast_to(alpha, len(own)), float)
    return FiniteDocuments(np.where(own, alpha[:, None], 0.0), np.zeros(len(own)), alpha, own)


def make_state(words, doc_ptr, group, n_words, may_have, z, alpha, eta, alpha_prior, eta_prior) -> LdaState:
    """State that stands at topics `z` (-1 throughout: not seated yet) and the given hyperparameters.

    `may_have` (G, K) says which topics the documents of a group can have.
    """
    tokens = tokens_of(words, doc_ptr, group, z)
    n_topics = may_have.shape[1]
    return LdaState(
        tokens=tokens,
        documents=finite_documents(may_have, alpha),
        topics=dirichlet_topics(tokens, n_words, n_topics, n_topics, eta),
        scratch=scratch(n_topics),
        alpha_prior=np.array(alpha_prior, float),
        eta_prior=np.array(eta_prior, float),
    )


def check_documents(tokens: Tokens, documents: FiniteDocuments) -> None:
    """Compare the document side with what it is made of; raise AssertionError where it differs."""
    check_positive(alpha=documents.alpha)
    check_topic_of_tokens(tokens, documents.may_have.shape[1])
    if np.any(documents.prior != np.where(documents.may_have, documents.alpha[:, None], 0.0)):
        raise AssertionError("the document prior is not alpha")
    group = np.repeat(tokens.group, np.diff(tokens.doc_ptr))
    if not np.all(documents.may_have[group, tokens.topic]):
        raise AssertionError("a token has a topic that its document may not have")


def check(state: LdaState) -> None:
    """Recount the statistics of `state`; raise AssertionError where one differs."""
    check_counts(state.tokens, state.topics)
    check_documents(state.tokens, state.documents)
    check_scratch(state.scratch)
    if state.topics.n_topics[0] != state.documents.may_have.shape[1]:
        raise AssertionError("the number of topics has changed")

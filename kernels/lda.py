"""Latent Dirichlet allocation: collapsed Gibbs, exact for its fixed number of topics."""

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
    dirichlet_topics,
    open_topic,
    scratch,
    tokens_of,
)
from .token_pass import dense_pass, sparse_pass


class FiniteDocuments(NamedTuple):
    """Document side with a symmetric Dirichlet prior on a fixed number of topics.

    Attributes
    ----------
    prior : float64 (1, K)
        alpha, repeated.
    rest : float64 (1,)
        Zero: no topic is left to open.
    alpha : float64 (1,)
    """

    prior: np.ndarray
    rest: np.ndarray
    alpha: np.ndarray


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


@kernel
def update_alpha(rng, tokens, documents, scratch, prior):
    """Draw alpha given table counts of every document, which are drawn and forgotten here."""
    if not is_sampled(prior):
        return
    n_tables = 0
    count = scratch.doc_count
    for d in range(tokens.group.size):
        tokens_of_d = tokens.topic[tokens.doc_ptr[d] : tokens.doc_ptr[d + 1]]
        for k in tokens_of_d:
            count[k] += 1
        for k in tokens_of_d:
            n_tables += crt(rng, count[k], documents.alpha[0])
            count[k] = 0
    lengths = tokens.doc_ptr[1:] - tokens.doc_ptr[:-1]
    n_topics = float(documents.prior.shape[1])
    documents.alpha[0] = concentration(rng, documents.alpha[0], prior, n_tables, lengths, n_topics)
    documents.prior[:] = documents.alpha[0]


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


def make_state(words, doc_ptr, n_words, n_topics, z, alpha, eta, alpha_prior, eta_prior) -> LdaState:
    """State that stands at topics `z` (-1 throughout: not seated yet) and the given hyperparameters."""
    tokens = tokens_of(words, doc_ptr, np.zeros(len(doc_ptr) - 1), z)
    return LdaState(
        tokens=tokens,
        documents=FiniteDocuments(
            np.full((1, n_topics), float(alpha)), np.zeros(1), np.array([float(alpha)])
        ),
        topics=dirichlet_topics(tokens, n_words, n_topics, n_topics, eta),
        scratch=scratch(n_topics),
        alpha_prior=np.array(alpha_prior, float),
        eta_prior=np.array(eta_prior, float),
    )


def check(state: LdaState) -> None:
    """Recount the statistics of `state`; raise AssertionError where one differs."""
    check_counts(state.tokens, state.topics)
    if np.any(state.documents.prior != state.documents.alpha[0]):
        raise AssertionError("the document prior is not alpha")

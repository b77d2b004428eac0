"""Document side of latent Dirichlet allocation whose documents have responses."""

from typing import NamedTuple

import numpy as np

from ..lda.documents import FiniteDocuments
from ..toolbox.jit import borrowing_kernel, kernel
from ..toolbox.sides import Tokens, check_side, move_documents, open_topic
from .documents import Responses, check_responses, part_of
from .regression import draw_coefficients


class RespondingDocuments(NamedTuple):
    """Document side with one symmetric Dirichlet prior on K topics, and responses.

    Attributes
    ----------
    prior, rest, alpha, alpha_prior, may_have : array
        As in `FiniteDocuments`.
    responses : Responses
    log_weight : float64 (K,)
        Working memory.
    tilted_prior : float64 (1, K)
        Working memory.
    """

    prior: np.ndarray
    rest: np.ndarray
    alpha: np.ndarray
    alpha_prior: np.ndarray
    may_have: np.ndarray
    responses: Responses
    log_weight: np.ndarray
    tilted_prior: np.ndarray

    FIXED = ("rest", "alpha_prior", "may_have")


@open_topic.implement(RespondingDocuments)
def _no_topic_to_open(rng, documents, topic, group):
    pass


N_OF_DIRICHLET = len(FiniteDocuments._fields)


@kernel
def without_responses(documents):
    """Return the Dirichlet documents alone."""
    return FiniteDocuments(*documents[:N_OF_DIRICHLET])


@borrowing_kernel
def borrowed(documents):
    """Do the same for the parts of a sweep that are compiled as a `borrowing_kernel`."""
    return FiniteDocuments(*documents[:N_OF_DIRICHLET])


@borrowing_kernel
def tilted(documents):
    """Return Dirichlet documents with the working memory in place of their prior."""
    return FiniteDocuments(
        documents.tilted_prior, documents.rest, documents.alpha, documents.alpha_prior, documents.may_have
    )


@move_documents.implement(RespondingDocuments)
def _move_documents(rng, tokens, documents, topics, scratch):
    move_documents(rng, tokens, without_responses(documents), topics, scratch)
    draw_coefficients(rng, tokens, documents.responses, scratch, topics.n_topics[0])


def responding_documents(side: FiniteDocuments, responses: Responses) -> RespondingDocuments:
    """Document side of Dirichlet documents of one group that have `responses`."""
    n_topics = side.prior.shape[1]
    return RespondingDocuments(
        *side, responses=responses, log_weight=np.zeros(n_topics), tilted_prior=np.zeros((1, n_topics))
    )


@check_side.register
def _(side: RespondingDocuments, tokens: Tokens, n_topics: int) -> None:
    check_side(part_of(side, FiniteDocuments), tokens, n_topics)
    check_responses(side.responses, n_topics)

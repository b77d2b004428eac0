"""Document side of a hierarchical Dirichlet process whose documents have responses; truncation-free.

Each topic has coefficients of its own, those that no token has as well: like its words they come from their
prior when the topic is opened. Given its stick, that is all there is to know of a topic without tokens.
"""

import math
from typing import NamedTuple

import numpy as np

from ..hdp.documents import StickDocuments
from ..toolbox.jit import borrowing_kernel, kernel
from ..toolbox.sides import Tokens, check_side, move_documents, open_topic, topic_sizes, with_capacity
from .documents import Responses, check_responses, part_of
from .regression import draw_coefficients


class RespondingSticks(NamedTuple):
    """Document side of a hierarchical Dirichlet process with responses.

    Attributes
    ----------
    prior, rest, root, root_rest, alpha, alpha0, gamma, n_levels : array
    alpha_prior, alpha0_prior, gamma_prior : array
        As in `StickDocuments`.
    responses : Responses
    """

    prior: np.ndarray
    rest: np.ndarray
    root: np.ndarray
    root_rest: np.ndarray
    alpha: np.ndarray
    alpha0: np.ndarray
    gamma: np.ndarray
    n_levels: np.ndarray
    alpha_prior: np.ndarray
    alpha0_prior: np.ndarray
    gamma_prior: np.ndarray
    responses: Responses

    FIXED = StickDocuments.FIXED


N_OF_STICKS = len(StickDocuments._fields)


@kernel
def sticks_alone(documents):
    """Return the documents without their responses."""
    return StickDocuments(*documents[:N_OF_STICKS])


@borrowing_kernel
def borrowed(documents):
    """Do the same within a `borrowing_kernel`, from which topics are opened."""
    return StickDocuments(*documents[:N_OF_STICKS])


@open_topic.implement(RespondingSticks)
def _break_sticks(rng, documents, topic, group):
    open_topic(rng, borrowed(documents), topic, group)
    responses = documents.responses
    for r in range(responses.kind.size):
        deviation = 1.0 / math.sqrt(responses.precision[r])
        for p in range(responses.first[r], responses.first[r + 1]):
            responses.coefficient[topic, p] = deviation * rng.standard_normal()


@kernel
def drop_coefficients(responses, size):
    """Move the coefficients of topics with tokens to the front; `size` counts the tokens of each topic."""
    n_kept = 0
    for k in range(size.size):
        if size[k] > 0:
            responses.coefficient[n_kept] = responses.coefficient[k]
            n_kept += 1


@move_documents.implement(RespondingSticks)
def _move_documents(rng, tokens, documents, topics, scratch):
    drop_coefficients(documents.responses, topic_sizes(topics))
    move_documents(rng, tokens, sticks_alone(documents), topics, scratch)
    draw_coefficients(rng, tokens, documents.responses, scratch, topics.n_topics[0])


@with_capacity.register
def _(side: RespondingSticks, capacity: int) -> RespondingSticks:
    return responding_sticks(with_capacity(part_of(side, StickDocuments), capacity), side.responses)


def responding_sticks(side: StickDocuments, responses: Responses) -> RespondingSticks:
    """Document side of `side` with `responses`, and as much room for topics as there is in the first."""
    coefficient = np.zeros((side.root.size, responses.intercept.size))
    coefficient[: len(responses.coefficient)] = responses.coefficient
    return RespondingSticks(*side, responses=responses._replace(coefficient=coefficient))


@check_side.register
def _(side: RespondingSticks, tokens: Tokens, n_topics: int) -> None:
    check_side(part_of(side, StickDocuments), tokens, n_topics)
    check_responses(side.responses, n_topics)

"""How states of the samplers of the sparse transfer topic model are made, widened and checked."""

import math

import numpy as np

from ..toolbox.dirichlet import dirichlet_topics
from ..toolbox.sides import ROOM, Tokens, check_positive, check_side, longest_document, widened, with_capacity
from .state import (
    LEAST,
    BuffetPrior,
    MaskScratch,
    SparseTransferState,
    TaskLengths,
    TaskMasks,
)


def with_room(state: SparseTransferState) -> SparseTransferState:
    """Copy of `state` with room for twice as many topics, and for those of its longest document."""
    masks, scratch = state.masks, state.scratch
    capacity = 2 * masks.n_on.size + longest_document(state.tokens) + max(0, int(scratch.progress[2])) + 1
    return state._replace(
        topics=with_capacity(state.topics, capacity),
        masks=TaskMasks(
            weight=widened(masks.weight, capacity),
            log_weight=widened(masks.log_weight, capacity, -np.inf),
            count=widened(masks.count, capacity),
            n_on=widened(masks.n_on, capacity),
            shape=widened(masks.shape, capacity),
            stick=widened(masks.stick, capacity),
            version=masks.version,
        ),
        scratch=scratch._replace(
            doc_count=widened(scratch.doc_count, capacity),
            unseen=widened(scratch.unseen, capacity),
            scores=widened(scratch.scores, capacity + 1),
            closed=widened(scratch.closed, capacity),
        ),
    )


def make_state(tokens: Tokens, n_words, latents, eta_prior, lengths, prior, opening) -> SparseTransferState:
    """State that stands at the topics of `tokens` (-1 throughout: not seated yet) and the given masks.

    Parameters
    ----------
    latents : mapping
        ``log_weight`` (C, K), ``shape`` (K,), ``eta``.
    eta_prior : (shape, rate)
        (0, 0) where eta is fixed.
    lengths : sequence of (rate, offset (J,), coefficient (J,))
        One a task.
    prior : dict
        Fields of `BuffetPrior`.
    opening : float (C,)
        See `MaskScratch`.
    """
    n_tasks, n_topics = np.shape(latents["log_weight"])
    capacity = n_topics + ROOM
    doc_task = tokens.group.astype(np.int64)
    masks = TaskMasks(
        weight=np.zeros((n_tasks, capacity)),
        log_weight=np.full((n_tasks, capacity), -np.inf),
        count=np.zeros((n_tasks, capacity), np.int64),
        n_on=np.zeros(capacity, np.int64),
        shape=np.zeros(capacity),
        stick=np.zeros(capacity),
        version=np.zeros(1, np.int64),
    )
    masks.log_weight[:, :n_topics] = latents["log_weight"]
    masks.weight[:] = _weight_of(masks.log_weight)
    masks.n_on[:n_topics] = np.count_nonzero(masks.log_weight > -np.inf, axis=0)[:n_topics]
    if not np.all(masks.n_on[:n_topics]):
        raise ValueError(
            f"topic {masks.n_on.argmin()}: expected it to be on in some task, found it off in all"
        )
    masks.shape[:n_topics] = latents["shape"]
    task_of = np.repeat(doc_task, np.diff(tokens.doc_ptr))
    seated = tokens.topic >= 0
    np.add.at(masks.count, (task_of[seated], tokens.topic[seated]), 1)
    terms = [len(offset) for _, offset, _ in lengths]
    return SparseTransferState(
        tokens=tokens,
        topics=dirichlet_topics(tokens, n_words, n_topics, capacity, latents["eta"], eta_prior),
        masks=masks,
        lengths=TaskLengths(
            n_tokens=np.bincount(task_of, minlength=n_tasks).astype(np.int64),
            rate=np.array([rate for rate, _, _ in lengths], float),
            ptr=np.concatenate([[0], np.cumsum(terms)]).astype(np.int64),
            offset=np.concatenate([np.array(offset, float) for _, offset, _ in lengths]),
            coefficient=np.concatenate([np.array(c, float) for _, _, c in lengths]),
            doc_order=np.argsort(doc_task, kind="stable").astype(np.int64),
            doc_ptr=np.concatenate([[0], np.cumsum(np.bincount(doc_task, minlength=n_tasks))]).astype(
                np.int64
            ),
        ),
        prior=BuffetPrior(**prior),
        scratch=MaskScratch(
            doc_count=np.zeros(capacity, np.int64),
            unseen=np.zeros(capacity),
            scores=np.zeros(capacity + 1),
            closed=np.zeros((n_tasks, capacity)),
            opening=np.array(opening, float),
            block=np.zeros(n_words, np.int64),
            mass=np.zeros(n_tasks),
            rate=np.zeros(n_tasks),
            version=np.full(n_tasks, -1, np.int64),
            progress=np.array([0, 0, -1], np.int64),
            level=np.zeros(1),
        ),
    )


def _weight_of(log_weight: np.ndarray) -> np.ndarray:
    # By the exp that kernels use: that of NumPy has other last digits on some processors.
    weight = np.vectorize(math.exp, otypes=[float])(log_weight)
    return np.where(log_weight > -np.inf, np.maximum(weight, LEAST), 0.0)


def check(state: SparseTransferState) -> None:
    """Recount the statistics of `state`; raise AssertionError where one differs."""
    masks, tokens, scratch = state.masks, state.tokens, state.scratch
    n_topics = int(state.topics.n_topics[0])
    check_side(state.topics, tokens, n_topics)
    check_positive(alpha=state.prior.alpha, shape=masks.shape[:n_topics])
    if not np.all((masks.stick >= 0.0) & (masks.stick <= 1.0)):
        raise AssertionError("the stick of a topic is not a probability")
    if not np.all(masks.log_weight < np.inf):
        raise AssertionError("a weight is not a number")
    count = np.zeros_like(masks.count)
    np.add.at(count, (np.repeat(tokens.group, np.diff(tokens.doc_ptr)), tokens.topic), 1)
    on = masks.log_weight > -np.inf
    if np.any(count != masks.count):
        raise AssertionError("the tokens of topics in tasks differ from a recount")
    if np.any(masks.n_on != on.sum(axis=0)):
        raise AssertionError("the tasks that have a topic differ from a recount")
    if not np.allclose(masks.weight, _weight_of(masks.log_weight), rtol=1e-12, atol=0.0):
        raise AssertionError("a weight differs from the exponential of its logarithm")
    if np.any(masks.count[~on]):
        raise AssertionError("a task has tokens in a topic that it has turned off")
    if np.any((masks.n_on > 0) != (np.arange(masks.n_on.size) < n_topics)):
        raise AssertionError("a represented topic is off in every task, or another is on in one")
    if np.any(scratch.block) or np.any(scratch.doc_count) or scratch.progress.tolist() != [0, 0, -1]:
        raise AssertionError("working memory was left dirty")
    kept = np.concatenate([scratch.unseen, scratch.mass, scratch.rate, scratch.closed.ravel(), scratch.level])
    if not np.all((kept >= 0.0) & np.isfinite(kept)) or np.any(scratch.version > masks.version):
        raise AssertionError("what was kept of the masses is of no use")

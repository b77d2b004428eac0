"""Topics of groups: collapsed Gibbs over the topic of each token.

Given the topics of the other tokens, a token of word w in group g has topic k with weight

    (alpha + n_gk) (eta + n_kw) / (V eta + n_k).
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..toolbox.jit import kernel
from ..toolbox.random import categorical, concentration, crt, is_sampled
from ..toolbox.sides import check_positive


class SkeletonState(NamedTuple):
    """State of a chain.

    Attributes
    ----------
    words, group : int32 (N,)
        Word and group of each token.
    topic : int32 (N,)
        -1 while a token has none.
    in_group : int64 (G, K)
        Tokens of each group and topic, n_gk.
    in_topic : int64 (K, V)
        Tokens of each topic and word, n_kw.
    total : int64 (K,)
        Tokens of each topic, n_k.
    alpha, eta : float64 (1,)
    weights : float64 (K,)
        Working memory.
    alpha_prior, eta_prior : float64 (2,)
        Shape and rate, or zeros for a fixed value.
    """

    words: np.ndarray
    group: np.ndarray
    topic: np.ndarray
    in_group: np.ndarray
    in_topic: np.ndarray
    total: np.ndarray
    alpha: np.ndarray
    eta: np.ndarray
    weights: np.ndarray
    alpha_prior: np.ndarray
    eta_prior: np.ndarray

    FIXED = ("words", "group", "alpha_prior", "eta_prior")


@kernel
def count_token(state, i, change):
    """Count token i in, or out where `change` is -1."""
    k = state.topic[i]
    state.in_group[state.group[i], k] += change
    state.in_topic[k, state.words[i]] += change
    state.total[k] += change


@kernel
def weigh(state, i):
    """Fill the weights with those of all topics for token i, which is counted out."""
    g, w = state.group[i], state.words[i]
    alpha, eta = state.alpha[0], state.eta[0]
    n_topics, n_words = state.in_topic.shape
    for k in range(n_topics):
        in_group = alpha + state.in_group[g, k]
        word = (eta + state.in_topic[k, w]) / (n_words * eta + state.total[k])
        state.weights[k] = in_group * word


@kernel
def token_pass(rng, state):
    """Resample the topic of every token, one uniform variate each. Mutates `state`."""
    for i in range(state.words.size):
        if state.topic[i] >= 0:
            count_token(state, i, -1)
        weigh(state, i)
        state.topic[i] = categorical(rng, state.weights, state.weights.size)
        count_token(state, i, 1)


@kernel
def update_parameter(rng, parameter, counts, prior):
    """Draw the parameter of symmetric Dirichlets given the counts of their outcomes, unless it is fixed.

    Table counts are drawn and forgotten here; see `concentration`.

    Parameters
    ----------
    parameter : float64 (1,)
    counts : int64 (rows, outcomes)
        One Dirichlet a row.
    prior : float64 (2,)
    """
    if not is_sampled(prior):
        return
    n_tables = 0
    for row in range(counts.shape[0]):
        for outcome in range(counts.shape[1]):
            n_tables += crt(rng, counts[row, outcome], parameter[0])
    customers = counts.sum(axis=1)
    parameter[0] = concentration(rng, parameter[0], prior, n_tables, customers, float(counts.shape[1]))


@kernel
def sweep(rng, state):
    """One sweep: tokens, then alpha, then eta. Mutates `state`."""
    token_pass(rng, state)
    update_parameter(rng, state.alpha, state.in_group, state.alpha_prior)
    update_parameter(rng, state.eta, state.in_topic, state.eta_prior)


def make_state(
    words: np.ndarray,
    group: np.ndarray,
    sizes: tuple[int, int, int],
    latents: Mapping[str, np.ndarray],
    priors: Mapping[str, tuple[float, float]],
) -> SkeletonState:
    """State that stands at `latents`.

    Parameters
    ----------
    words, group : int (N,)
    sizes : (G, K, V)
    latents : mapping of str to array
        ``z``, -1 throughout where tokens have no topics yet, ``alpha`` and ``eta``.
    priors : mapping of str to (shape, rate)
    """
    n_groups, n_topics, n_words = sizes
    state = SkeletonState(
        words=np.ascontiguousarray(words, np.int32),
        group=np.ascontiguousarray(group, np.int32),
        topic=np.array(latents["z"], np.int32),
        in_group=np.zeros((n_groups, n_topics), np.int64),
        in_topic=np.zeros((n_topics, n_words), np.int64),
        total=np.zeros(n_topics, np.int64),
        alpha=np.array([latents["alpha"]], float),
        eta=np.array([latents["eta"]], float),
        weights=np.zeros(n_topics),
        alpha_prior=np.array(priors["alpha"], float),
        eta_prior=np.array(priors["eta"], float),
    )
    for name, counts in _recount(state).items():
        getattr(state, name)[...] = counts
    return state


def _recount(state: SkeletonState) -> dict[str, np.ndarray]:
    """All counts by name, anew from the tokens that have a topic."""
    seated = state.topic >= 0
    topic = state.topic[seated]
    in_group, in_topic = np.zeros_like(state.in_group), np.zeros_like(state.in_topic)
    np.add.at(in_group, (state.group[seated], topic), 1)
    np.add.at(in_topic, (topic, state.words[seated]), 1)
    return {"in_group": in_group, "in_topic": in_topic, "total": in_topic.sum(axis=1)}


def check(state: SkeletonState) -> None:
    """Recount the statistics of `state`; raise AssertionError where one differs."""
    if state.topic.size and not 0 <= state.topic.min() <= state.topic.max() < state.total.size:
        raise AssertionError(f"a token's topic is outside 0..{state.total.size - 1}")
    check_positive(alpha=state.alpha, eta=state.eta)
    for name, counts in _recount(state).items():
        if np.any(getattr(state, name) != counts):
            raise AssertionError(f"{name} differs from a recount")

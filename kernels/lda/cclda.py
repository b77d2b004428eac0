"""Cross-collection LDA: collapsed Gibbs over the topic of each token and whose words it is drawn from.

A token of word w in document d of collection g has a topic k, and its word is from the topic's words that
all collections share (slab 0) or from those of its own collection (slab 1 + g). Given the other tokens

    p(k, shared) ∝ c_k (gamma0 + s_gk) (eta + s_kw) / (V eta + s_k)
    p(k, own)    ∝ c_k (gamma1 + o_gk) (delta + o_gkw) / (V delta + o_gk)

    c_k = (alpha_g + n_dk) / (gamma0 + gamma1 + s_gk + o_gk)

where s counts tokens with shared words, of all collections where there is no g, and o those with own words.
"""

from typing import NamedTuple

import numpy as np

from ..toolbox.jit import borrowing_kernel, kernel
from ..toolbox.random import categorical, crt, gamma_variate, is_sampled, log_beta_variate
from ..toolbox.sides import (
    Scratch,
    Tokens,
    check_positive,
    check_scratch,
    check_side,
    enter_document,
    leave_document,
    move_documents,
    scratch,
)
from ..toolbox.smoothing import draw_smoothing
from .documents import FiniteDocuments, finite_documents


class CollectionTopics(NamedTuple):
    """Topic side: words that collections share and words of their own, both integrated out.

    Attributes
    ----------
    count : int32 (1 + G, V, K)
        Tokens by slab, word and topic; slab 0 is shared.
    total : int64 (1 + G, K)
        `count` summed over words.
    n_shared : int64 (G, K)
        Tokens of each collection with shared words.
    own : int64 (N,)
        1 where a token's word is its collection's own, else 0; of no meaning while it has no topic.
    eta, delta : float64 (1,)
        Dirichlet parameters of shared and of own words.
    gamma0, gamma1 : float64 (1,)
        Beta parameters of shared and of own.
    """

    count: np.ndarray
    total: np.ndarray
    n_shared: np.ndarray
    own: np.ndarray
    eta: np.ndarray
    delta: np.ndarray
    gamma0: np.ndarray
    gamma1: np.ndarray


class CcldaState(NamedTuple):
    """State of a chain; priors are (shape, rate), or zeros for a fixed value."""

    tokens: Tokens
    documents: FiniteDocuments
    topics: CollectionTopics
    scratch: Scratch
    weights: np.ndarray
    eta_prior: np.ndarray
    delta_prior: np.ndarray
    gamma0_prior: np.ndarray
    gamma1_prior: np.ndarray

    FIXED = ("eta_prior", "delta_prior", "gamma0_prior", "gamma1_prior")


@borrowing_kernel
def count_token(topics, word, group, topic, own, change):
    """Count one token in, or out where `change` is -1."""
    slab = 1 + group if own == 1 else 0
    topics.count[slab, word, topic] += change
    topics.total[slab, topic] += change
    if own == 0:
        topics.n_shared[group, topic] += change


@borrowing_kernel
def weigh(documents, topics, doc_count, word, group, weights):
    """Fill `weights` with those of all topics with shared words, then of all with own words."""
    n_words, n_topics = topics.count.shape[1:]
    eta, delta = topics.eta[0], topics.delta[0]
    gamma0, gamma1 = topics.gamma0[0], topics.gamma1[0]
    for k in range(n_topics):
        n_own = topics.total[1 + group, k]
        n_shared = topics.n_shared[group, k]
        in_document = (documents.prior[group, k] + doc_count[k]) / (gamma0 + gamma1 + n_shared + n_own)
        shared_word = (topics.count[0, word, k] + eta) / (topics.total[0, k] + n_words * eta)
        own_word = (topics.count[1 + group, word, k] + delta) / (n_own + n_words * delta)
        weights[k] = in_document * (gamma0 + n_shared) * shared_word
        weights[n_topics + k] = in_document * (gamma1 + n_own) * own_word


@kernel
def token_pass(rng, state):
    """Resample topic and origin of every token. Mutates `state`."""
    tokens, topics, doc_count = state.tokens, state.topics, state.scratch.doc_count
    n_topics = topics.total.shape[1]
    for d in range(tokens.group.size):
        g = tokens.group[d]
        enter_document(tokens, state.scratch, d)
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            w = tokens.words[i]
            old = tokens.topic[i]
            if old >= 0:
                count_token(topics, w, g, old, topics.own[i], -1)
                doc_count[old] -= 1
            weigh(state.documents, topics, doc_count, w, g, state.weights)
            drawn = categorical(rng, state.weights, 2 * n_topics)
            own, new = divmod(drawn, n_topics)
            tokens.topic[i] = new
            topics.own[i] = own
            count_token(topics, w, g, new, own, 1)
            doc_count[new] += 1
        leave_document(tokens, state.scratch, d)


@kernel
def update_origins(rng, topics, prior0, prior1):
    """Draw gamma0 and gamma1 given, for each collection and topic, a Beta variate and two table counts.

    As `concentration`, for the two parameters of a Beta distribution: given them the likelihood is
    ``gamma0^tables0 gamma1^tables1 prod q^(gamma0 + gamma1)`` with ``q ~ Beta(gamma0 + gamma1, n)``.
    """
    if not (is_sampled(prior0) or is_sampled(prior1)):
        return
    gamma0, gamma1 = topics.gamma0[0], topics.gamma1[0]
    tables0, tables1, rate = 0, 0, 0.0
    for g in range(topics.n_shared.shape[0]):
        for k in range(topics.n_shared.shape[1]):
            n0, n1 = topics.n_shared[g, k], topics.total[1 + g, k]
            if n0 + n1 > 0:
                rate -= log_beta_variate(rng, gamma0 + gamma1, float(n0 + n1))[0]
                tables0 += crt(rng, n0, gamma0)
                tables1 += crt(rng, n1, gamma1)
    if is_sampled(prior0):
        topics.gamma0[0] = gamma_variate(rng, prior0[0] + tables0, prior0[1] + rate)
    if is_sampled(prior1):
        topics.gamma1[0] = gamma_variate(rng, prior1[0] + tables1, prior1[1] + rate)


@kernel
def update_words(rng, parameter, count, total, prior):
    """Slice-sample the Dirichlet parameter of the words in the slabs `count` (S, V, K), unless fixed."""
    if not is_sampled(prior):
        return
    tally = np.zeros(count.max() + 1, np.int64)
    for n in count.flat:
        tally[n] += 1
    draw_smoothing(rng, parameter, total.ravel(), tally, count.shape[1], prior)


@kernel
def sweep(rng, state):
    """One sweep: tokens, then alpha, gamma0 and gamma1, eta, delta. Mutates `state`."""
    topics = state.topics
    token_pass(rng, state)
    move_documents(rng, state.tokens, state.documents, topics, state.scratch)
    update_origins(rng, topics, state.gamma0_prior, state.gamma1_prior)
    update_words(rng, topics.eta, topics.count[:1], topics.total[:1], state.eta_prior)
    update_words(rng, topics.delta, topics.count[1:], topics.total[1:], state.delta_prior)


def make_state(tokens: Tokens, n_groups, n_words, n_topics, latents, priors) -> CcldaState:
    """State that stands at the topics of `tokens` (-1 throughout: not seated yet).

    `latents` holds the origins ``own`` of the tokens, alpha (G,), eta, delta, gamma0 and gamma1; `priors`
    (shape, rate) of each hyperparameter.
    """
    topics = CollectionTopics(
        count=np.zeros((1 + n_groups, n_words, n_topics), np.int32),
        total=np.zeros((1 + n_groups, n_topics), np.int64),
        n_shared=np.zeros((n_groups, n_topics), np.int64),
        own=np.array(latents["own"], np.int64),
        **{name: np.full(1, float(latents[name])) for name in ("eta", "delta", "gamma0", "gamma1")},
    )
    _recount(tokens, topics)
    return CcldaState(
        tokens=tokens,
        documents=finite_documents(np.ones((n_groups, n_topics)), latents["alpha"], priors["alpha"]),
        topics=topics,
        scratch=scratch(n_topics),
        weights=np.zeros(2 * n_topics),
        **{f"{name}_prior": np.array(prior, float) for name, prior in priors.items() if name != "alpha"},
    )


def _recount(tokens: Tokens, topics: CollectionTopics) -> None:
    """Make the counts anew from the tokens."""
    seated = tokens.topic >= 0
    group = np.repeat(tokens.group, np.diff(tokens.doc_ptr))[seated]
    word, topic, own = tokens.words[seated], tokens.topic[seated], topics.own[seated]
    topics.count[:] = 0
    topics.n_shared[:] = 0
    np.add.at(topics.count, (np.where(own == 1, 1 + group, 0), word, topic), 1)
    np.add.at(topics.n_shared, (group[own == 0], topic[own == 0]), 1)
    topics.total[:] = topics.count.sum(axis=1)


def check(state: CcldaState) -> None:
    """Recount the statistics of `state`; raise AssertionError where one differs."""
    topics = state.topics
    if np.any((topics.own != 0) & (topics.own != 1)):
        raise AssertionError("a word is neither shared nor its collection's own")
    check_positive(eta=topics.eta, delta=topics.delta, gamma0=topics.gamma0, gamma1=topics.gamma1)
    check_side(state.documents, state.tokens, topics.total.shape[1])
    check_scratch(state.scratch)
    anew = topics._replace(
        **{name: np.empty_like(getattr(topics, name)) for name in ("count", "total", "n_shared")}
    )
    _recount(state.tokens, anew)
    for name in ("count", "total", "n_shared"):
        if np.any(getattr(topics, name) != getattr(anew, name)):
            raise AssertionError(f"{name} differs from a recount")

"""The focused topic model: exact and truncation-free Gibbs sampling.

    pi_k            Poisson process of intensity alpha / pi on (0, 1): an Indian buffet process   *inclusion*
    phi_k           ~ Gamma(gamma, 1)                                                             *strength*
    b_dk            ~ Bernoulli(pi_k)
    n_dk            ~ NegativeBinomial(b_dk phi_k, 1/2)      tokens of topic k in document d

Documents meet only in the topics, so that everything but the topics in use can be integrated out in closed
form. With M documents, a topic in use that document d does not have was off there, or on without a token:
probability 1 - pi + pi 2^-phi. The topics that no document has are a Poisson process again; its integrals
over pi are sums, since

    int_0^1 (1 - pi + pi q)^(M - 1) dpi = (1 + q + … + q^(M - 1)) / M,         q = 2^-phi,

and those over phi are E[phi q^j] = gamma (1 + j log 2)^(-gamma - 1).
"""

import math
from typing import NamedTuple

import numpy as np

from ..toolbox.dirichlet import DirichletTopics, dirichlet_topics, list_token, unlist_token
from ..toolbox.jit import kernel
from ..toolbox.random import (
    categorical,
    crt,
    gamma_variate,
    is_beyond,
    is_sampled,
    log_beta_variate,
    log_density,
    log_gamma_variate,
    slice_sample,
)
from ..toolbox.sides import (
    ROOM,
    Scratch,
    Tokens,
    check_positive,
    check_scratch,
    check_side,
    enter_document,
    leave_document,
    longest_document,
    move_topics,
    scratch,
    widened,
    with_capacity,
)

LOG2 = math.log(2.0)


class FocusedDocuments(NamedTuple):
    """Document side.

    Attributes
    ----------
    strength, inclusion : float64 (capacity,)
        phi_k and pi_k of the topics in use.
    absent : float64 (capacity,)
        Weight of a topic in a document that does not have it; holds within a token pass.
    alpha, gamma : float64 (1,)
    """

    strength: np.ndarray
    inclusion: np.ndarray
    absent: np.ndarray
    alpha: np.ndarray
    gamma: np.ndarray


class FocusedState(NamedTuple):
    """State of a chain; priors are (shape, rate), or zeros for a fixed value."""

    tokens: Tokens
    documents: FocusedDocuments
    topics: DirichletTopics
    scratch: Scratch
    alpha_prior: np.ndarray
    gamma_prior: np.ndarray

    FIXED = ("alpha_prior", "gamma_prior")


@kernel
def off_or_silent(strength, inclusion):
    """Probability that a document has no token of a topic."""
    return 1.0 + inclusion * math.expm1(-strength * LOG2)


@kernel
def set_absent(documents, k):
    """Weight phi pi q / (1 - pi + pi q) of topic `k` in a document without it: its first token there."""
    on = documents.inclusion[k] * math.exp(-documents.strength[k] * LOG2)
    documents.absent[k] = (
        documents.strength[k] * on / off_or_silent(documents.strength[k], documents.inclusion[k])
    )


@kernel
def mass_of_new(alpha, gamma, n_documents):
    """Weight of all topics without a token, in a document: alpha int dpi E[phi q (1 - pi + pi q)^(M - 1)]."""
    mass = 0.0
    for j in range(1, n_documents + 1):
        mass += (1.0 + j * LOG2) ** (-gamma - 1.0)
    return alpha * gamma / n_documents * mass


@kernel
def expected_topics(gamma, n_documents):
    """Topics that have a token, in expectation, for alpha = 1."""
    mass = 0.0
    for j in range(1, n_documents + 1):
        mass -= math.expm1(-gamma * math.log1p(j * LOG2)) / j
    return mass


@kernel
def open_focused_topic(rng, documents, k, n_documents):
    """Draw strength and inclusion of topic `k`, given that it has one token and in which document.

    Their density is proportional to phi^gamma e^-phi q (1 - pi + pi q)^(M - 1). Summed over pi, that is a
    mixture of Gamma(gamma + 1, 1 + j log 2), j = 1..M; given phi, the distribution function of pi is
    inverted.
    """
    gamma = documents.gamma[0]
    u = rng.uniform(0.0, mass_of_new(1.0, gamma, n_documents) * n_documents / gamma)
    j = 1
    while j < n_documents:
        u -= (1.0 + j * LOG2) ** (-gamma - 1.0)
        if u < 0.0:
            break
        j += 1
    strength = gamma_variate(rng, gamma + 1.0, 1.0 + j * LOG2)
    log_q = -strength * LOG2
    v = rng.uniform(0.0, 1.0)
    inclusion = math.expm1(math.log1p(v * math.expm1(n_documents * log_q)) / n_documents) / math.expm1(log_q)
    documents.strength[k] = strength
    documents.inclusion[k] = inclusion
    set_absent(documents, k)


@kernel
def drop_topic(tokens, documents, topics, scratch, k):
    """Remove topic `k`, which has no token; the last topic takes its number."""
    last = topics.n_topics[0] - 1
    topics.n_topics[0] = last
    if k == last:
        return
    topics.total[k] = topics.total[last]
    topics.total[last] = 0
    documents.strength[k] = documents.strength[last]
    documents.inclusion[k] = documents.inclusion[last]
    documents.absent[k] = documents.absent[last]
    scratch.doc_count[k] = scratch.doc_count[last]
    scratch.doc_count[last] = 0
    for i in range(tokens.topic.size):
        if tokens.topic[i] == last:
            tokens.topic[i] = k
    for w in range(topics.n_listed.size):
        for j in range(topics.word_ptr[w], topics.word_ptr[w] + topics.n_listed[w]):
            if topics.listed_topic[j] == last:
                topics.listed_topic[j] = k


@kernel
def exact_weights(documents, total, count, weights, n_topics):
    """Weights of the topics in use for one more token of a document, before its word is seen."""
    for k in range(n_topics):
        if total[k] == 0:  # its only token is the one that is drawn: it counts among the new ones
            weights[k] = 0.0
        elif count[k] > 0:
            weights[k] = count[k] + documents.strength[k]
        else:
            weights[k] = documents.absent[k]


@kernel
def taylor_weights(documents, total, count, weights, n_topics):
    """Fill in the expansion's weights of all topics, the new one last: E[phi b / (n + X + Y)] at the means.

    X is the strength of the document's topics, Y the expected strength of all others.
    """
    expected_new = documents.alpha[0] * documents.gamma[0]
    everything = expected_new
    for k in range(n_topics):
        weights[k] = 0.0
        if count[k] > 0:
            weights[k] = count[k] + documents.strength[k]
        elif total[k] > 0:
            weights[k] = documents.inclusion[k] * documents.strength[k]
        everything += weights[k]
    for k in range(n_topics):
        if count[k] > 0:
            weights[k] /= everything
        else:
            weights[k] /= everything - weights[k] + documents.strength[k]
    weights[n_topics] = expected_new / everything


@kernel
def token_pass(rng, tokens, documents, topics, scratch, taylor):
    """Resample every token's topic, O(K) a token. Mutates all arguments but `taylor`.

    Starts at ``scratch.next_document``. Returns whether it got through; if not, the arrays over topics need
    more room before it is called again.
    """
    n_documents = tokens.group.size
    eta = topics.eta[0]
    n_words = topics.n_listed.size
    weights = scratch.weights
    new_mass = mass_of_new(documents.alpha[0], documents.gamma[0], n_documents)
    for k in range(topics.n_topics[0]):
        set_absent(documents, k)
    for d in range(scratch.next_document[0], n_documents):
        if topics.n_topics[0] + tokens.doc_ptr[d + 1] - tokens.doc_ptr[d] >= topics.total.size:
            scratch.next_document[0] = d
            return False
        enter_document(tokens, scratch, d)
        for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
            w = tokens.words[i]
            old = tokens.topic[i]
            if old >= 0:
                unlist_token(topics, w, old)
                scratch.doc_count[old] -= 1
            was_alone = old >= 0 and topics.total[old] == 0
            n_topics = topics.n_topics[0]
            if taylor:
                taylor_weights(documents, topics.total, scratch.doc_count, weights, n_topics)
            else:
                exact_weights(documents, topics.total, scratch.doc_count, weights, n_topics)
                weights[n_topics] = new_mass
            for k in range(n_topics):
                scratch.coefficient[k] = weights[k] / (topics.total[k] + n_words * eta)
                weights[k] = scratch.coefficient[k] * eta
            weights[n_topics] /= n_words
            for j in range(topics.word_ptr[w], topics.word_ptr[w] + topics.n_listed[w]):
                k = topics.listed_topic[j]
                weights[k] += scratch.coefficient[k] * topics.listed_count[j]
            new = categorical(rng, weights, n_topics + 1)
            if new == n_topics:
                if was_alone:
                    new = old
                else:
                    topics.n_topics[0] += 1
                open_focused_topic(rng, documents, new, n_documents)
            tokens.topic[i] = new
            list_token(topics, w, new)
            scratch.doc_count[new] += 1
            if was_alone and new != old:
                drop_topic(tokens, documents, topics, scratch, old)
        leave_document(tokens, scratch, d)
    scratch.next_document[0] = 0
    return True


@kernel
def update_topics(rng, tokens, documents, topics, scratch):
    """Draw strength and inclusion of every topic, given where it is on and its tables in the documents.

    Where a topic has no token it is on with odds pi q : 1 - pi. Given that it is on in m documents,
    pi ~ Beta(m, 1 + M - m); with the tables of (phi)_n, phi ~ Gamma(gamma + tables, 1 + m log 2).
    """
    n_documents, n_topics = tokens.group.size, topics.n_topics[0]
    tables = np.zeros(n_topics, np.int64)
    having = np.zeros(n_topics, np.int64)
    for d in range(n_documents):
        n_doc_topics = enter_document(tokens, scratch, d)
        for k in scratch.doc_topics[:n_doc_topics]:
            tables[k] += crt(rng, scratch.doc_count[k], documents.strength[k])
            having[k] += 1
        leave_document(tokens, scratch, d)
    for k in range(n_topics):
        silent = documents.inclusion[k] * math.exp(-documents.strength[k] * LOG2)
        silent /= off_or_silent(documents.strength[k], documents.inclusion[k])
        on = having[k] + rng.binomial(n_documents - having[k], silent)
        log_inclusion, _ = log_beta_variate(rng, float(on), 1.0 + n_documents - on)
        documents.inclusion[k] = math.exp(log_inclusion)
        log_strength = log_gamma_variate(rng, documents.gamma[0] + tables[k])
        documents.strength[k] = math.exp(log_strength) / (1.0 + on * LOG2)


class LogShape(NamedTuple):
    """Target of ``log gamma`` given the strengths of the topics in use.

    Attributes
    ----------
    log_strength : float64 (K,)
    n_documents : int
    alpha : float
    prior : float64 (2,)
        Shape and rate.
    """

    log_strength: np.ndarray
    n_documents: int
    alpha: float
    prior: np.ndarray


@log_density.implement(LogShape)
def _log_density(target, x):
    # Gamma prior times Jacobian; prod_k phi_k^(gamma - 1) / Γ(gamma); and that no other topic has a token
    gamma = math.exp(x)
    if is_beyond(gamma):
        return -math.inf
    out = target.prior[0] * x - target.prior[1] * gamma
    out += (gamma - 1.0) * target.log_strength.sum() - target.log_strength.size * math.lgamma(gamma)
    return out - target.alpha * expected_topics(gamma, target.n_documents)


@kernel
def update_hyperparameters(rng, state):
    """Draw alpha, gamma and eta, each unless it is fixed."""
    documents, n_topics = state.documents, state.topics.n_topics[0]
    n_documents = state.tokens.group.size
    if is_sampled(state.alpha_prior):
        rate = state.alpha_prior[1] + expected_topics(documents.gamma[0], n_documents)
        documents.alpha[0] = gamma_variate(rng, state.alpha_prior[0] + n_topics, rate)
    if is_sampled(state.gamma_prior):
        log_strength = np.log(documents.strength[:n_topics])
        target = LogShape(log_strength, n_documents, documents.alpha[0], state.gamma_prior)
        documents.gamma[0] = math.exp(slice_sample(rng, target, math.log(documents.gamma[0]), 1.0))
    move_topics(rng, state.topics)


@kernel
def move_all_but_tokens(rng, state):
    """All but the tokens."""
    update_topics(rng, state.tokens, state.documents, state.topics, state.scratch)
    update_hyperparameters(rng, state)


@kernel
def exact_sweep(rng, state):
    """One sweep of the exact sampler; False if it stopped for want of room. Mutates `state`."""
    through = token_pass(rng, state.tokens, state.documents, state.topics, state.scratch, False)
    if through:
        move_all_but_tokens(rng, state)
    return through


@kernel
def taylor_sweep(rng, state):
    """One sweep with the tokens' weights expanded; False if it stopped for want of room. Mutates `state`."""
    through = token_pass(rng, state.tokens, state.documents, state.topics, state.scratch, True)
    if through:
        move_all_but_tokens(rng, state)
    return through


def with_room(state: FocusedState) -> FocusedState:
    """Copy of `state` with room for twice as many topics, and for those of its longest document."""
    capacity = 2 * state.topics.total.size + longest_document(state.tokens) + 1
    documents, fresh = state.documents, scratch(capacity)
    fresh.next_document[:] = state.scratch.next_document
    return state._replace(
        topics=with_capacity(state.topics, capacity),
        documents=documents._replace(
            strength=widened(documents.strength, capacity),
            inclusion=widened(documents.inclusion, capacity),
            absent=widened(documents.absent, capacity),
        ),
        scratch=fresh,
    )


def make_state(tokens: Tokens, n_words, latents, priors) -> FocusedState:
    """State that stands at the topics of `tokens` (-1 throughout: not seated yet).

    Parameters
    ----------
    latents : mapping
        ``strength`` and ``inclusion`` (K,), ``alpha``, ``gamma``, ``eta``.
    priors : mapping of str to (shape, rate)
        (0, 0) for a hyperparameter that is fixed.
    """
    n_topics = len(latents["strength"])
    capacity = n_topics + ROOM
    return FocusedState(
        tokens=tokens,
        documents=FocusedDocuments(
            strength=widened(np.array(latents["strength"], float), capacity),
            inclusion=widened(np.array(latents["inclusion"], float), capacity),
            absent=np.zeros(capacity),
            alpha=np.array([float(latents["alpha"])]),
            gamma=np.array([float(latents["gamma"])]),
        ),
        topics=dirichlet_topics(tokens, n_words, n_topics, capacity, latents["eta"], priors["eta"]),
        scratch=scratch(capacity),
        alpha_prior=np.array(priors["alpha"], float),
        gamma_prior=np.array(priors["gamma"], float),
    )


def check(state: FocusedState) -> None:
    """Recount the statistics of `state`; raise AssertionError where one differs."""
    k = int(state.topics.n_topics[0])
    check_side(state.topics, state.tokens, k)
    check_scratch(state.scratch)
    documents = state.documents
    check_positive(alpha=documents.alpha, gamma=documents.gamma)
    if np.any(state.topics.total[:k] == 0):
        raise AssertionError("a topic without tokens is represented")
    check_positive(strength=documents.strength[:k], inclusion=documents.inclusion[:k])
    if np.any(documents.inclusion[:k] > 1):
        raise AssertionError("the inclusion of a topic is not a probability")

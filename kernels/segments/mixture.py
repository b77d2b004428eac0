"""Dishes that a document's sentences share, mixed with those of a sentence alone (Müller et al. 2004).

A token has a shared dish with probability epsilon, else one of its sentence's own. Shared dishes are a
Chinese restaurant of concentration alpha, and so are those of each sentence:

    epsilon n_l / (n_0 + alpha),    epsilon alpha / (n_0 + alpha),
    (1 - epsilon) n_l / (n_s + alpha),    (1 - epsilon) alpha / (n_s + alpha)

for a shared dish, a new one, a dish of the sentence's own and a new one; n_0 are the tokens at shared dishes,
n_s those at the sentence's own.
"""

import math
from typing import NamedTuple

import numpy as np

from ..toolbox.jit import borrowing_kernel, kernel
from ..toolbox.random import LEAST, concentration, is_sampled, log_beta_variate
from ..toolbox.sides import check_positive, longest_document
from . import urns
from .documents import SLOTS
from .state import Tokens

SHARED, OWN = range(2)
"""Entries of `Mixture.sizes`."""


class Mixture(NamedTuple):
    """Whether dishes are of a sentence alone, hyperparameters, and counts of the document that a sweep is in.

    Sizes: N tokens, D documents, S sentences, L slots for dishes.

    Attributes
    ----------
    alpha, epsilon : float64 (1,)
    alpha_prior, epsilon_prior : float64 (2,)
    most_dishes : int
        Of a document; no limit at 0.
    local : int32 (N,)
        1 if the token's dish is its sentence's own, 0 if it is shared; -1 while it has none.
    owner : int32 (L + 1,)
        Sentence of each dish; -1 for a shared one.
    sizes : int64 (2,)
        Tokens of the document at shared dishes, and of the current sentence at its own.
    shared_noted : int64 (D,)
        Tokens at shared dishes.
    own_noted : int64 (S,)
        Tokens at dishes of a sentence's own.
    dishes_noted : int64 (D,)
    """

    alpha: np.ndarray
    epsilon: np.ndarray
    alpha_prior: np.ndarray
    epsilon_prior: np.ndarray
    most_dishes: int
    local: np.ndarray
    owner: np.ndarray
    sizes: np.ndarray
    shared_noted: np.ndarray
    own_noted: np.ndarray
    dishes_noted: np.ndarray

    FIXED = ("alpha_prior", "epsilon_prior", "most_dishes")
    EMPTY = ("sizes",)


def make_mixture(tokens: Tokens, local: np.ndarray, most_dishes: int, **hyper: np.ndarray) -> Mixture:
    """Mixture of tokens at their dishes; `hyper` as from `state.hyperparameters`."""
    n_documents = tokens.doc_ptr.size - 1
    return Mixture(
        **hyper,
        most_dishes=most_dishes,
        local=np.array(local, np.int32),
        owner=np.zeros(longest_document(tokens) + 1, np.int32),
        sizes=np.zeros(2, np.int64),
        shared_noted=np.zeros(n_documents, np.int64),
        own_noted=np.zeros(tokens.sentence_ptr.size - 1, np.int64),
        dishes_noted=np.zeros(n_documents, np.int64),
    )


@urns.enter_urn.implement(Mixture)
def _enter_urn(urn, tokens, dishes, d):
    for i in range(tokens.doc_ptr[d], tokens.doc_ptr[d + 1]):
        if urn.local[i] >= 0:
            urn.owner[tokens.dish[i]] = tokens.sentence[i] if urn.local[i] else -1
            urn.sizes[SHARED] += urn.local[i] == 0


@urns.enter_sentence.implement(Mixture)
def _enter_sentence(urn, tokens, dishes, s):
    for i in range(tokens.sentence_ptr[s], tokens.sentence_ptr[s + 1]):
        urn.sizes[OWN] += urn.local[i] == 1


@urns.leave_sentence.implement(Mixture)
def _leave_sentence(urn, tokens, dishes, s):
    urn.own_noted[s] = urn.sizes[OWN]
    urn.sizes[OWN] = 0


@urns.leave_urn.implement(Mixture)
def _leave_urn(urn, dishes, d):
    urn.shared_noted[d] = urn.sizes[SHARED]
    urn.dishes_noted[d] = count_in_use(dishes)
    urn.sizes[:] = 0


@borrowing_kernel
def count_in_use(dishes):
    """Dishes that some token has."""
    n = 0
    for c in range(dishes.sizes[SLOTS]):
        n += dishes.dish_size[c] > 0
    return n


@urns.leave_seat.implement(Mixture)
def _leave_seat(urn, tokens, dishes, i):
    urn.sizes[OWN if urn.local[i] else SHARED] -= 1


@borrowing_kernel
def seats_by_kind(urn):
    """Weight of a token at a shared dish, and of one at the current sentence's own."""
    epsilon, alpha = urn.epsilon[0], urn.alpha[0]
    return epsilon / (urn.sizes[SHARED] + alpha), (1.0 - epsilon) / (urn.sizes[OWN] + alpha)


@urns.weigh_seats.implement(Mixture)
def _weigh_seats(urn, dishes, s):
    n_slots = dishes.sizes[SLOTS]
    shared, own = seats_by_kind(urn)
    for c in range(n_slots):
        if urn.owner[c] == -1:
            dishes.table_weight[c] = shared * dishes.dish_size[c]
        elif urn.owner[c] == s:
            dishes.table_weight[c] = own * dishes.dish_size[c]
        else:
            dishes.table_weight[c] = 0.0
    another = urn.most_dishes == 0 or count_in_use(dishes) < urn.most_dishes
    dishes.table_weight[n_slots] = urn.alpha[0] * (shared + own) if another else 0.0


@urns.choose_seat.implement(Mixture)
def _choose_seat(urn, tokens, dishes, i, c, u):
    if c < dishes.sizes[SLOTS]:
        urn.local[i] = urn.owner[c] >= 0
        return u
    shared, own = seats_by_kind(urn)
    both = shared + own
    weight = dishes.log_weight[c] * (shared / both)
    if u < weight:
        urn.local[i] = 0
        return u * (both / shared)
    urn.local[i] = 1
    return (u - weight) * (both / own)


@urns.take_seat.implement(Mixture)
def _take_seat(urn, tokens, dishes, i):
    urn.owner[tokens.dish[i]] = tokens.sentence[i] if urn.local[i] else -1
    urn.sizes[OWN if urn.local[i] else SHARED] += 1


@kernel
def log_rising(start, n):
    """Log of start (start + 1) ... (start + n - 1)."""
    return math.lgamma(start + n) - math.lgamma(start)


@borrowing_kernel
def move_owner(rng, urn, tokens, dishes, s, c):
    """Draw anew whether dish `c`, all of whose tokens are in the current sentence, `s`, is its own."""
    n, alpha, epsilon = dishes.dish_size[c], urn.alpha[0], urn.epsilon[0]
    was_own = urn.owner[c] == s
    urn.sizes[OWN if was_own else SHARED] -= n
    own = n * math.log1p(-epsilon) - log_rising(urn.sizes[OWN] + alpha, n)
    shared = n * math.log(epsilon) - log_rising(urn.sizes[SHARED] + alpha, n)
    is_own = rng.random() * (1.0 + math.exp(min(shared - own, 700.0))) < 1.0
    urn.sizes[OWN if is_own else SHARED] += n
    urn.owner[c] = s if is_own else -1
    if is_own != was_own:
        for i in range(tokens.sentence_ptr[s], tokens.sentence_ptr[s + 1]):
            if tokens.dish[i] == c:
                urn.local[i] = is_own


@urns.move_blocks.implement(Mixture)
def _move_blocks(rng, urn, tokens, smoothings, dishes, d):
    for s in range(tokens.doc_sentences[d], tokens.doc_sentences[d + 1]):
        urns.enter_sentence(urn, tokens, dishes, s)
        here = dishes.name  # tokens of the sentence at each dish; working memory
        here[:] = 0
        for i in range(tokens.sentence_ptr[s], tokens.sentence_ptr[s + 1]):
            here[tokens.dish[i]] += 1
        for c in range(dishes.sizes[SLOTS]):
            if here[c] > 0 and here[c] == dishes.dish_size[c]:
                move_owner(rng, urn, tokens, dishes, s, c)
        urns.leave_sentence(urn, tokens, dishes, s)


@urns.update_urn.implement(Mixture)
def _update_urn(rng, urn):
    if is_sampled(urn.alpha_prior):
        n_dishes, sizes = urn.dishes_noted.sum(), np.concatenate((urn.shared_noted, urn.own_noted))
        urn.alpha[0] = concentration(rng, urn.alpha[0], urn.alpha_prior, n_dishes, sizes, 1.0)
    if is_sampled(urn.epsilon_prior):
        shared = urn.epsilon_prior[0] + urn.shared_noted.sum()
        own = urn.epsilon_prior[1] + urn.own_noted.sum()
        drawn = math.exp(log_beta_variate(rng, shared, own)[0])
        urn.epsilon[0] = min(max(drawn, LEAST), 1.0 - 2.0**-52)  # of which logarithms are taken


def check(state: urns.UrnState) -> None:
    """See `urns.check`; a sentence's own dish must be its own."""
    urns.check(state)
    urn, tokens = state.urn, state.tokens
    check_positive(alpha=urn.alpha, epsilon=urn.epsilon)
    document = np.repeat(np.arange(tokens.doc_ptr.size - 1), np.diff(tokens.doc_ptr))
    owner = np.where(urn.local == 1, tokens.sentence, -1)
    pairs = np.unique(np.column_stack([document, tokens.dish, owner]), axis=0)
    if len(pairs) != len(np.unique(pairs[:, :2], axis=0)):
        raise AssertionError("a dish has two owners")

"""Topic models with Pitman-Yor topics: collapsed Gibbs, exact (Chen, Buntine, Ding, Xie and Du 2014).

Documents are those of latent Dirichlet allocation, with an alpha for each group; the topics and what the
variants of the sampler are is told in `pitman_yor_state` and `pitman_yor_seats`.
"""

from typing import NamedTuple

import numpy as np

from .jit import kernel
from .lda import FiniteDocuments, finite_documents
from .pitman_yor_seats import Indicators, Scheme
from .pitman_yor_state import Associations, Restaurants, SameWord, cells_of, empty_restaurants, seat_all
from .pitman_yor_tokens import PassScratch, dense_pass, pass_scratch
from .state import Tokens, tokens_of
from .stirling import stirling_ratios


class PitmanYorState(NamedTuple):
    """State of a chain; priors are (shape, rate), that of a two shapes, or zeros for a fixed value."""

    tokens: Tokens
    documents: FiniteDocuments
    restaurants: Restaurants
    orders: SameWord | Associations
    scheme: Scheme
    scratch: PassScratch
    alpha_prior: np.ndarray
    b_prior: np.ndarray
    a_prior: np.ndarray
    gamma_prior: np.ndarray


@kernel
def dense_sweep(rng, state):
    """One sweep with the dense token pass. Mutates `state`."""
    dense_pass(
        rng, state.tokens, state.documents, state.restaurants, state.orders, state.scheme, state.scratch
    )


def make_state(
    words,
    doc_ptr,
    group,
    n_words,
    z,
    association,
    alpha,
    b,
    a,
    gamma,
    priors,
    base_of_group,
    row_ptr=None,
    column=None,
    weight=None,
    scheme=Indicators,
) -> PitmanYorState:
    """State that stands at topics `z` (-1 throughout: not seated yet) and the given tables.

    Parameters
    ----------
    association : int (N,)
        Word that the table sent for which a token heads; -1 for other tokens.
    alpha : float (G,)
    b : float (K,)
    a, gamma : float
    priors : mapping of str to (shape, rate)
        For ``alpha``, ``b``, ``a``, ``gamma``; that of ``a`` is the two shapes of a Beta. (0, 0) for a
        hyperparameter that is fixed.
    base_of_group : int (G,)
        Zeros for one base, ``0..G-1`` for a base of each group's own.
    row_ptr : int (G V + 1,), optional
    column : int (nnz,), optional
    weight : float (nnz,), optional
        Rows ``g V + w`` of P_g; without them P = I.
    scheme : type
        A class of `pitman_yor_seats`.

    Raises
    ------
    ValueError
        `b` is not above -a; a group's word has no source; a word occurs too often for the table of ratios.
    """
    tokens = tokens_of(words, doc_ptr, group, z)
    alpha, b = np.array(alpha, float), np.array(b, float)
    for k in np.flatnonzero(~(b > -a)):
        raise ValueError(f"b of topic {k} is {b[k]:g}; expected more than -a = {-a:g}")
    n_groups, n_topics = len(base_of_group), b.size
    occurrences = np.bincount(cells_of(tokens, n_words), minlength=n_groups * n_words)
    base_of_cell = np.repeat(np.asarray(base_of_group, np.int64), n_words)
    most_orders = np.zeros((int(np.max(base_of_group)) + 1) * n_words, np.int64)
    if row_ptr is None:
        orders = SameWord(np.zeros(0))
        np.add.at(most_orders, base_of_cell * n_words + np.tile(np.arange(n_words), n_groups), occurrences)
    else:
        orders = associations(row_ptr, column, weight, occurrences, n_words)
        cell_of = np.repeat(np.arange(occurrences.size), np.diff(orders.row_ptr))
        np.add.at(most_orders, base_of_cell[cell_of] * n_words + orders.column, occurrences[cell_of])
    restaurants = empty_restaurants(tokens, n_words, base_of_group, b, gamma, most_orders)
    seat_all(tokens, restaurants, orders, np.ascontiguousarray(association, np.int64))
    return PitmanYorState(
        tokens=tokens,
        documents=finite_documents(np.ones((n_groups, n_topics), np.bool_), alpha),
        restaurants=restaurants,
        orders=orders,
        scheme=scheme(stirling_ratios(int(occurrences.max(initial=0)), float(a)), np.array([float(a)])),
        scratch=pass_scratch(n_topics),
        alpha_prior=np.array(priors["alpha"], float),
        b_prior=np.array(priors["b"], float),
        a_prior=np.array(priors["a"], float),
        gamma_prior=np.array(priors["gamma"], float),
    )


def associations(row_ptr, column, weight, occurrences, n_words) -> Associations:
    """Orders for the given P, none of them sent."""
    weight = np.asarray(weight, float)
    row_of = np.repeat(np.arange(occurrences.size), np.diff(row_ptr))[weight > 0.0]
    column, weight = np.asarray(column, np.int32)[weight > 0.0], weight[weight > 0.0]
    row_sum = np.bincount(row_of, weight, minlength=occurrences.size)
    for cell in np.flatnonzero((occurrences > 0) & (row_sum == 0.0)):
        raise ValueError(
            f"word {cell % n_words} occurs in group {cell // n_words}; expected an association with a word of "
            "the shared topics"
        )
    n_tokens = int(occurrences.sum())
    sizes = np.bincount(row_of, minlength=occurrences.size)
    return Associations(
        row_ptr=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        column=np.ascontiguousarray(column),
        weight=np.ascontiguousarray(weight),
        row_sum=row_sum,
        n_orders=np.zeros(occurrences.size, np.int32),
        order_topic=np.zeros(n_tokens, np.int32),
        order_word=np.zeros(n_tokens, np.int32),
    )


def snapshot_association(state: PitmanYorState) -> np.ndarray:
    """Word that the table sent for which a token heads, -1 for other tokens; int64 (N,).

    Which tokens head the tables is not part of the state: the first ones of each topic and cell do.
    """
    tokens, restaurants, orders = state.tokens, state.restaurants, state.orders
    n_words, n_topics = int(restaurants.n_words[0]), restaurants.b.size
    cells = cells_of(tokens, n_words)
    key = cells * n_topics + tokens.topic
    order = np.argsort(key, kind="stable")
    first = np.searchsorted(key[order], key[order])
    rank = np.empty(key.size, np.int64)  # of a token among those of its topic and cell
    rank[order] = np.arange(key.size) - first
    cell_of, topic, n_tables = _entries(restaurants)
    out = np.full(key.size, -1)
    if isinstance(orders, SameWord):
        seated = cell_of * n_topics + topic
        at = np.argsort(seated)
        is_head = rank < n_tables[at][np.searchsorted(seated[at], key)]
        out[is_head] = tokens.words[is_head]
        return out
    sent_cell, sent_topic, sent_word = _orders(restaurants, orders)
    sent = sent_cell * n_topics + sent_topic
    by_key = np.argsort(sent, kind="stable")
    start = np.searchsorted(sent[by_key], key)
    is_head = start + rank < np.searchsorted(sent[by_key], key, side="right")
    out[is_head] = sent_word[by_key][(start + rank)[is_head]]
    return out


def _in_use(start: np.ndarray, length: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places of lists that are in use, and the list of each."""
    owner = np.repeat(np.arange(length.size), length)
    within = np.arange(owner.size) - np.repeat(np.cumsum(length) - length, length)
    return start[owner] + within, owner


def _entries(restaurants: Restaurants) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cell, topic and tables of each entry of the lists."""
    place, cell = _in_use(restaurants.cell_ptr[:-1], restaurants.n_listed)
    return cell, restaurants.listed_topic[place], restaurants.listed_tables[place]


def _orders(restaurants: Restaurants, orders: Associations) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cell, topic and word of each order."""
    place, cell = _in_use(restaurants.cell_ptr[:-1], orders.n_orders)
    return cell, orders.order_topic[place], orders.order_word[place]

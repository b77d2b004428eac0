"""Topic models with Pitman-Yor topics: collapsed Gibbs, exact (Chen, Buntine, Ding, Xie and Du 2015).

Documents are those of latent Dirichlet allocation, with an alpha for each group; the topics and what the
variants of the sampler are is told in `pitman_yor_state` and `pitman_yor_seats`.
"""

from typing import NamedTuple

import numpy as np

from .jit import kernel
from .lda import FiniteDocuments, check_documents, finite_documents, update_alpha
from .pitman_yor_hyper import update_a, update_b, update_gamma
from .pitman_yor_seats import SCHEMES, TABLES, Scheme
from .pitman_yor_state import Associations, Restaurants, SameWord, cells_of, empty_restaurants, seat_all
from .pitman_yor_tables import explicit_pass, redraw_all_tables
from .pitman_yor_tokens import PassScratch, dense_pass, pass_scratch, sparse_pass
from .state import Tokens, check_positive, tokens_of
from .stirling import stirling_ratios


class PitmanYorState(NamedTuple):
    """State of a chain; priors are (shape, rate), that of `a` two shapes; zeros for a fixed value.

    Of the tokens of a topic and cell any are as likely to head its tables. Sweeps only count them;
    `heads_seed`, which each sweep draws from [0, 1), decides which ones a snapshot names.
    """

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
    heads_seed: np.ndarray

    FIXED = ("alpha_prior", "b_prior", "a_prior", "gamma_prior")


@kernel
def finish_sweep(rng, state):
    """Move tables, where tokens cannot, and the hyperparameters; choose heads anew."""
    restaurants, scheme = state.restaurants, state.scheme
    if scheme.rule[0] == TABLES:
        redraw_all_tables(rng, restaurants, state.orders, scheme)
    update_alpha(rng, state.tokens, state.documents, state.scratch, state.alpha_prior)
    update_b(rng, restaurants, scheme.discount[0], state.b_prior)
    update_a(rng, restaurants, scheme, state.a_prior)
    update_gamma(rng, restaurants, state.gamma_prior)
    state.heads_seed[0] = rng.random()


@kernel
def passes(state):
    """Return what a pass over the tokens takes."""
    return state.tokens, state.documents, state.restaurants, state.orders, state.scheme, state.scratch


@kernel
def sparse_sweep(rng, state):
    """One sweep: tokens by the sparse pass, then tables and hyperparameters. Mutates `state`."""
    sparse_pass(rng, *passes(state))
    finish_sweep(rng, state)


@kernel
def dense_sweep(rng, state):
    """One sweep: tokens by the dense pass, then tables and hyperparameters. Mutates `state`."""
    dense_pass(rng, *passes(state))
    finish_sweep(rng, state)


@kernel
def explicit_sweep(rng, state):
    """One sweep: phi0, tokens given phi0, what tables send for, hyperparameters. Mutates `state`."""
    if np.any(state.tokens.topic < 0):  # phi0 without tables is a draw from its prior, and may underflow
        dense_pass(rng, *passes(state))
    else:
        explicit_pass(rng, *passes(state))
    finish_sweep(rng, state)


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
    scheme="forced",
) -> PitmanYorState:
    """State that stands at topics `z` (-1 throughout: not seated yet) and the given tables.

    Parameters
    ----------
    association : int (N,)
        Word that the table sent for which a token heads; -1 for other tokens.
    alpha : float (G,)
    b : float (K,)
    a, gamma : float
        a in [0, 1), and above 0 where it is sampled.
    priors : mapping of str to (shape, rate)
        For ``alpha``, ``b``, ``a``, ``gamma``; that of ``a`` is the two shapes of a Beta. (0, 0) for a
        hyperparameter that is fixed.
    base_of_group : int (G,)
        Zeros for one base, ``0..G-1`` for a base of each group's own.
    row_ptr : int (G V + 1,), optional
    column : int (nnz,), optional
    weight : float (nnz,), optional
        Rows ``g V + w`` of P_g; without them P = I.
    scheme : str
        One of `pitman_yor_seats.SCHEMES`.

    Raises
    ------
    ValueError
        `a` or `b` is out of range; a group's word has no source; a word occurs too often for the table of
        ratios.
    """
    if not 0.0 <= a < 1.0:
        raise ValueError(f"a is {a:g}; expected a number in [0, 1)")
    if a == 0.0 and np.any(priors["a"]):
        raise ValueError("a is 0; expected more, as it is sampled, on the scale of its logit")
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
        scheme=Scheme(
            rule=np.array([SCHEMES.index(scheme)], np.int64),
            ratios=stirling_ratios(int(occurrences.max(initial=0)), float(a)),
            discount=np.array([float(a)]),
        ),
        scratch=pass_scratch(n_topics),
        alpha_prior=np.array(priors["alpha"], float),
        b_prior=np.array(priors["b"], float),
        a_prior=np.array(priors["a"], float),
        gamma_prior=np.array(priors["gamma"], float),
        heads_seed=np.zeros(1),
    )


def associations(row_ptr, column, weight, occurrences, n_words) -> Associations:
    """Orders for the given P, none of them sent."""
    weight = np.asarray(weight, float)
    row_of = np.repeat(np.arange(occurrences.size), np.diff(row_ptr))[weight > 0.0]
    column, weight = np.asarray(column, np.int32)[weight > 0.0], weight[weight > 0.0]
    row_sum = np.bincount(row_of, weight, minlength=occurrences.size)
    for cell in np.flatnonzero((occurrences > 0) & (row_sum == 0.0)):
        raise ValueError(
            f"word {cell % n_words} occurs in group {cell // n_words}; expected an association with a word "
            "of the shared topics"
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


def snapshot(state: PitmanYorState) -> dict[str, np.ndarray]:
    """Latents: ``z``, ``association`` and the hyperparameters, as `make_state` takes them.

    After a sweep they are a draw, heads and all; straight from `make_state` the heads may be other tokens
    than were given.
    """
    return {
        "z": state.tokens.topic.astype(np.int64),
        "association": _association(state),
        "alpha": state.documents.alpha.copy(),
        "b": state.restaurants.b.copy(),
        "a": np.array(state.scheme.discount[0]),
        "gamma": np.array(state.restaurants.base.eta[0]),
    }


def _association(state: PitmanYorState) -> np.ndarray:
    tokens, restaurants = state.tokens, state.restaurants
    n_topics = restaurants.b.size
    key = cells_of(tokens, int(restaurants.n_words[0])) * n_topics + tokens.topic
    shuffled = np.random.default_rng(int(state.heads_seed[0] * 2**53)).permutation(key.size)
    by_key = shuffled[np.argsort(key[shuffled], kind="stable")]
    rank = np.empty(key.size, np.int64)  # of a token among those of its topic and cell
    rank[by_key] = np.arange(key.size) - np.searchsorted(key[by_key], key[by_key])
    cell, topic, word = _orders(restaurants, state.orders)
    sent = np.sort((cell * n_topics + topic) * int(restaurants.n_words[0]) + word)
    sent_key, sent_word = np.divmod(sent, int(restaurants.n_words[0]))
    place = np.searchsorted(sent_key, key) + rank
    heads = place < np.searchsorted(sent_key, key, side="right")
    out = np.full(key.size, -1, np.int64)
    out[heads] = sent_word[place[heads]]
    return out


def _in_use(start: np.ndarray, length: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places of lists that are in use, and the list of each."""
    owner = np.repeat(np.arange(length.size), length)
    within = np.arange(owner.size) - np.repeat(np.cumsum(length) - length, length)
    return start[owner] + within, owner


def _orders(restaurants: Restaurants, orders: SameWord | Associations) -> tuple[np.ndarray, ...]:
    """Cell, topic and word of each order."""
    if isinstance(orders, Associations):
        place, cell = _in_use(restaurants.cell_ptr[:-1], orders.n_orders)
        return cell, orders.order_topic[place], orders.order_word[place]
    place, cell = _in_use(restaurants.cell_ptr[:-1], restaurants.n_listed)
    n_tables = restaurants.listed_tables[place]
    cell, topic = np.repeat(cell, n_tables), np.repeat(restaurants.listed_topic[place], n_tables)
    return cell, topic, cell % int(restaurants.n_words[0])


def check(state: PitmanYorState) -> None:
    """Recount the statistics of `state`; raise AssertionError where one differs."""
    check_documents(state.tokens, state.documents)
    tokens, restaurants, base = state.tokens, state.restaurants, state.restaurants.base
    n_groups, n_topics = restaurants.customers.shape
    n_words = int(restaurants.n_words[0])
    _check_lists(state)
    _check_parameters(state)
    place, cell = _in_use(restaurants.cell_ptr[:-1], restaurants.n_listed)
    entry = cell * n_topics + restaurants.listed_topic[place]
    m, t = restaurants.listed_customers[place], restaurants.listed_tables[place]
    if np.any(t < 1) or np.any(t > m):
        raise AssertionError("an entry has no tables, or more than customers")
    of_token, count = np.unique(cells_of(tokens, n_words) * n_topics + tokens.topic, return_counts=True)
    by_entry = np.argsort(entry)
    if not np.array_equal(entry[by_entry], of_token) or np.any(m[by_entry] != count):
        raise AssertionError("the customers of a cell differ from a recount")
    for name, listed in (("customers", m), ("tables", t)):
        restaurant = entry // (n_words * n_topics) * n_topics + entry % n_topics
        total = np.bincount(restaurant, listed, minlength=n_groups * n_topics)
        if np.any(getattr(restaurants, name).ravel() != total):
            raise AssertionError(f"the {name} of a restaurant differ from a recount")
    cell, topic, word = _orders(restaurants, state.orders)
    sent, count = np.unique(cell * n_topics + topic, return_counts=True)
    if not np.array_equal(sent, of_token) or np.any(count != t[by_entry]):
        raise AssertionError("the orders of a cell are not one a table")
    b = restaurants.base_of_group[cell // n_words]
    sent, count = np.unique((b * n_words + word) * base.total.size + b * n_topics + topic, return_counts=True)
    place, row = _in_use(base.word_ptr[:-1], base.n_listed)
    listed = row * base.total.size + base.listed_topic[place]
    at_base = np.argsort(listed)
    if not np.array_equal(listed[at_base], sent) or np.any(base.listed_count[place][at_base] != count):
        raise AssertionError("the orders at a base differ from a recount")
    if np.any(base.total != np.bincount(b * n_topics + topic, minlength=base.total.size)):
        raise AssertionError("the orders of a base's topic differ from a recount")
    if any(np.any(x) for x in (state.scratch.doc_count, state.scratch.is_doc_topic, state.scratch.sent)):
        raise AssertionError("working memory was left dirty")


def _check_lists(state: PitmanYorState) -> None:
    """Raise AssertionError where a list is too long, or holds what is no topic or no word."""
    restaurants, base, orders = state.restaurants, state.restaurants.base, state.orders
    n_topics, n_words = restaurants.b.size, int(restaurants.n_words[0])
    lists = [
        (restaurants.cell_ptr, restaurants.n_listed, restaurants.listed_topic, n_topics),
        (base.word_ptr, base.n_listed, base.listed_topic, base.total.size),
    ]
    if isinstance(orders, Associations):
        lists += [
            (restaurants.cell_ptr, orders.n_orders, orders.order_topic, n_topics),
            (restaurants.cell_ptr, orders.n_orders, orders.order_word, n_words),
        ]
    for start, length, values, size in lists:
        if np.any((length < 0) | (length > np.diff(start))):
            raise AssertionError("a list is longer than its room")
        place, _ = _in_use(start[:-1], length)
        if np.any((values[place] < 0) | (values[place] >= size)):
            raise AssertionError(f"a list holds an entry outside 0..{size - 1}")
    if base.n_topics[0] != base.total.size:
        raise AssertionError("the number of topics has changed")


def _check_parameters(state: PitmanYorState) -> None:
    """Raise AssertionError where a hyperparameter is out of range, or the ratios are not of the discount."""
    restaurants, scheme = state.restaurants, state.scheme
    discount = float(scheme.discount[0])
    check_positive(gamma=restaurants.base.eta)
    if not 0.0 <= discount < 1.0:
        raise AssertionError("the discount is not in [0, 1)")
    if not np.all((restaurants.b > -discount) & np.isfinite(restaurants.b)):
        raise AssertionError("a concentration is not above minus the discount")
    if np.any(scheme.ratios != stirling_ratios(int(np.diff(restaurants.cell_ptr).max(initial=0)), discount)):
        raise AssertionError("the ratios are not those of the discount")
    if not 0.0 <= state.heads_seed[0] < 1.0:
        raise AssertionError("the seed of the heads is not in [0, 1)")

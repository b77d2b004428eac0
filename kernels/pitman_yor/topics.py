"""Topic side: Pitman-Yor topics in groups, collapsed (Chen, Buntine, Ding, Xie and Du 2015).

What the topics are is told in `state`, how tokens step in `tokens`, and what the schemes are in `seats`.
"""

import numpy as np

from ..toolbox.dirichlet import DirichletTopics
from ..toolbox.sides import (
    Tokens,
    finish_pass,
    move_topics,
    rename_topics,
    topic_sizes,
    widened,
    with_capacity,
)
from ..toolbox.smoothing import update_smoothing
from ..toolbox.stirling import stirling_ratios
from . import tokens as steps  # noqa: F401  They are chosen by type
from .counts import cells_of, in_use
from .hyper import update_a, update_b
from .seats import SCHEMES, TABLES, Scheme
from .state import (
    Associations,
    PitmanYorTopics,
    Restaurants,
    SameWord,
    SeatScratch,
    rename_dishes,
    seat_all,
)
from .tables import redraw_all_tables


@topic_sizes.implement(PitmanYorTopics)
def _topic_sizes(topics):
    customers = topics.restaurants.customers
    out = np.zeros(topics.n_topics[0], np.int64)
    for g in range(customers.shape[0]):
        for k in range(out.size):
            out[k] += customers[g, k]
    return out


@rename_topics.implement(PitmanYorTopics)
def _rename_topics(topics, new_name, n_kept):
    restaurants = topics.restaurants
    base, capacity, n_words = restaurants.base, restaurants.b.size, restaurants.n_words[0]
    for k in range(new_name.size):
        new = new_name[k]
        if new >= 0 and new != k:
            restaurants.b[new] = restaurants.b[k]
            restaurants.customers[:, new] = restaurants.customers[:, k]
            restaurants.tables[:, new] = restaurants.tables[:, k]
            for b in range(0, base.total.size, capacity):
                base.total[b + new] = base.total[b + k]
    restaurants.customers[:, n_kept:] = 0
    restaurants.tables[:, n_kept:] = 0
    for b in range(0, base.total.size, capacity):
        base.total[b + n_kept : b + capacity] = 0
    topics.n_topics[0] = n_kept
    for cell in range(restaurants.n_listed.size):
        start = restaurants.cell_ptr[cell]
        for j in range(start, start + restaurants.n_listed[cell]):
            restaurants.listed_topic[j] = new_name[restaurants.listed_topic[j]]
    rename_dishes(topics.dishes, restaurants, 0, restaurants.n_listed.size, new_name)
    for row in range(base.n_listed.size):
        first = row // n_words * capacity
        for j in range(base.word_ptr[row], base.word_ptr[row] + base.n_listed[row]):
            base.listed_topic[j] = first + new_name[base.listed_topic[j] - first]


@finish_pass.implement(PitmanYorTopics)
def _finish_pass(rng, topics):
    if topics.scheme.rule[0] == TABLES:
        redraw_all_tables(rng, topics.restaurants, topics.dishes, topics.scheme)


@move_topics.implement(PitmanYorTopics)
def _move_topics(rng, topics):
    """Move the hyperparameters; choose heads anew."""
    restaurants, scheme, n_topics = topics.restaurants, topics.scheme, topics.n_topics[0]
    update_b(rng, restaurants, n_topics, scheme.discount[0], topics.b_prior)
    update_a(rng, restaurants, n_topics, scheme, topics.a_prior)
    update_smoothing(rng, restaurants.base, restaurants.n_words[0])
    topics.heads_seed[0] = rng.random()


def pitman_yor_topics(
    tokens: Tokens,
    group,
    n_words: int,
    n_topics: int,
    capacity: int,
    latents,
    priors,
    base_of_group,
    row_ptr=None,
    column=None,
    weight=None,
    scheme: str = "forced",
    new_b: float | None = None,
) -> PitmanYorTopics:
    """Topic side of the given topics and tables.

    Parameters
    ----------
    tokens : Tokens
    group : int (D,)
        Group of each document, whose restaurants its tokens go to.
    n_words, n_topics, capacity : int
    latents : mapping of str to array
        ``association`` (N,), the dish of the table that a token heads, -1 for other tokens;
        ``b`` (n_topics,); ``a`` in [0, 1), above 0 where it is sampled; ``eta``.
    priors : mapping of str to (shape, rate)
        For ``b``, ``a``, ``eta``; that of ``a`` is the two shapes of a Beta. (0, 0) for a hyperparameter that
        is fixed.
    base_of_group : int (G,)
        Zeros for one base, ``0..G-1`` for a base of each group's own.
    row_ptr : int (G V + 1,), optional
    column : int (nnz,), optional
    weight : float (nnz,), optional
        Rows ``g V + w`` of P_g; without them P = I.
    scheme : str
        One of `seats.SCHEMES`.
    new_b : float, optional
        The b of topics that open, where topics can and b is fixed.

    Raises
    ------
    ValueError
        `a` or `b` is out of range, or missing for new topics; a group's word has no source; a word occurs
        too often for the table of ratios.
    """
    a, b = float(latents["a"]), np.array(latents["b"], float).reshape(-1)
    check_ranges(a, b, is_sampled=bool(np.any(priors["a"])))
    if new_b is None and capacity > n_topics and not np.any(priors["b"]):
        raise ValueError("b of new topics: expected a number, as b is fixed and topics open; found none")
    base_of_group = np.ascontiguousarray(base_of_group, np.int64)
    group = np.ascontiguousarray(group, np.int32)
    occurrences = np.bincount(cells_of(tokens, group, n_words), minlength=base_of_group.size * n_words)
    if row_ptr is None:
        dishes = SameWord(np.zeros(0))
    else:
        dishes = associations(row_ptr, column, weight, occurrences, n_words)
    cell_ptr = np.concatenate([[0], np.cumsum(occurrences)]).astype(np.int64)
    topics = PitmanYorTopics(
        group=group,
        restaurants=empty_restaurants(
            cell_ptr, dishes, base_of_group, widened(b, capacity), latents["eta"], priors["eta"], n_words
        ),
        dishes=dishes,
        scheme=Scheme(
            rule=np.array([SCHEMES.index(scheme)], np.int64),
            ratios=stirling_ratios(int(occurrences.max(initial=0)), a),
            discount=np.array([a]),
        ),
        scratch=seat_scratch(capacity),
        new_b=np.array([np.nan if new_b is None else new_b], float),
        b_prior=np.array(priors["b"], float),
        a_prior=np.array(priors["a"], float),
        heads_seed=np.zeros(1),
        n_topics=np.array([n_topics], np.int64),
    )
    seat_all(
        tokens, group, topics.restaurants, dishes, np.ascontiguousarray(latents["association"], np.int64)
    )
    return topics


def check_ranges(a: float, b: np.ndarray, is_sampled: bool) -> None:
    """Raise ValueError where the discount, sampled or not, or a concentration is out of range."""
    if not 0.0 <= a < 1.0:
        raise ValueError(f"a is {a:g}; expected a number in [0, 1)")
    if a == 0.0 and is_sampled:
        raise ValueError("a is 0; expected more, as it is sampled, on the scale of its logit")
    for k in np.flatnonzero(~(b > -a)):
        raise ValueError(f"b of topic {k} is {b[k]:g}; expected more than -a = {-a:g}")


def associations(row_ptr, column, weight, occurrences, n_words) -> Associations:
    """Dishes for the given P, none of them served."""
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
        n_dishes=np.zeros(occurrences.size, np.int32),
        dish_topic=np.zeros(n_tokens, np.int32),
        dish_word=np.zeros(n_tokens, np.int32),
    )


def empty_restaurants(
    cell_ptr: np.ndarray,
    dishes: SameWord | Associations,
    base_of_group: np.ndarray,
    b: np.ndarray,
    eta: float,
    eta_prior,
    n_words: int,
) -> Restaurants:
    """Restaurants without customers, with room for all tokens."""
    n_groups, capacity, n_tokens = base_of_group.size, b.size, int(cell_ptr[-1])
    word_ptr = base_word_ptr(cell_ptr, dishes, base_of_group, n_words, capacity)
    n_bases = word_ptr.size // n_words
    return Restaurants(
        cell_ptr=cell_ptr,
        n_listed=np.zeros(n_groups * n_words, np.int32),
        listed_topic=np.zeros(n_tokens, np.int32),
        listed_customers=np.zeros(n_tokens, np.int32),
        listed_tables=np.zeros(n_tokens, np.int32),
        customers=np.zeros((n_groups, capacity), np.int64),
        tables=np.zeros((n_groups, capacity), np.int64),
        base=DirichletTopics(
            total=np.zeros(n_bases * capacity, np.int64),
            word_ptr=word_ptr,
            n_listed=np.zeros(n_bases * n_words, np.int32),
            listed_topic=np.zeros(word_ptr[-1], np.int32),
            listed_count=np.zeros(word_ptr[-1], np.int32),
            eta=np.array([float(eta)]),
            eta_prior=np.array(eta_prior, float),
            n_topics=np.array([n_bases * capacity], np.int64),
        ),
        base_of_group=base_of_group,
        b=b,
        n_words=np.array([n_words], np.int64),
    )


def base_word_ptr(
    cell_ptr: np.ndarray,
    dishes: SameWord | Associations,
    base_of_group: np.ndarray,
    n_words: int,
    capacity: int,
) -> np.ndarray:
    """Where the lists of bases' words begin, with room for each topic or table that could send for a word."""
    occurrences = np.diff(cell_ptr)
    base_of_cell = np.repeat(base_of_group, n_words)
    if isinstance(dishes, Associations):
        cell = np.repeat(np.arange(occurrences.size), np.diff(dishes.row_ptr))
        column = dishes.column
    else:
        cell = np.arange(occurrences.size)
        column = cell % n_words
    most = np.zeros((int(base_of_group.max(initial=0)) + 1) * n_words, np.int64)
    np.add.at(most, base_of_cell[cell] * n_words + column, occurrences[cell])
    return np.concatenate([[0], np.cumsum(np.minimum(most, capacity))]).astype(np.int64)


def seat_scratch(capacity: int) -> SeatScratch:
    """Fresh working memory for `capacity` topics."""
    return SeatScratch(
        joining=np.zeros(capacity),
        dish_mass=np.zeros(capacity),
        touched=np.zeros(capacity, np.int32),
        kept=np.zeros(capacity),
        weights=np.zeros(2 * capacity + 1),
    )


@with_capacity.register
def _(side: PitmanYorTopics, capacity: int) -> PitmanYorTopics:
    restaurants, base = side.restaurants, side.restaurants.base
    n_words, before = int(restaurants.n_words[0]), restaurants.b.size
    word_ptr = base_word_ptr(restaurants.cell_ptr, side.dishes, restaurants.base_of_group, n_words, capacity)
    total = widened(base.total.reshape(-1, before), capacity)
    listed_topic, listed_count = (np.zeros(word_ptr[-1], np.int32) for _ in range(2))
    old, row = in_use(base.word_ptr[:-1], base.n_listed)
    new, _ = in_use(word_ptr[:-1], base.n_listed)
    listed_topic[new] = base.listed_topic[old] + row // n_words * (capacity - before)
    listed_count[new] = base.listed_count[old]
    return side._replace(
        restaurants=restaurants._replace(
            customers=widened(restaurants.customers, capacity),
            tables=widened(restaurants.tables, capacity),
            b=widened(restaurants.b, capacity),
            base=base._replace(
                total=total.ravel(),
                word_ptr=word_ptr,
                listed_topic=listed_topic,
                listed_count=listed_count,
                n_topics=np.array([total.size], np.int64),
            ),
        ),
        scratch=seat_scratch(capacity),
    )

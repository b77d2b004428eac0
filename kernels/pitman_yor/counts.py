"""What counts say of Pitman-Yor topics: latents for a snapshot, and a recount of the whole state."""

import numpy as np

from ..toolbox.sides import Tokens, check_positive, check_side, check_topic_of_tokens
from ..toolbox.stirling import stirling_ratios
from .state import Associations, PitmanYorTopics


def in_use(start: np.ndarray, length: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places of lists that are in use, and the list of each."""
    owner = np.repeat(np.arange(length.size), length)
    within = np.arange(owner.size) - np.repeat(np.cumsum(length) - length, length)
    return start[owner] + within, owner


def cells_of(tokens: Tokens, group: np.ndarray, n_words: int) -> np.ndarray:
    """Cell ``g V + w`` of each token, int64 (N,)."""
    return np.repeat(group.astype(np.int64), np.diff(tokens.doc_ptr)) * n_words + tokens.words


def snapshot(tokens: Tokens, topics: PitmanYorTopics) -> dict[str, np.ndarray]:
    """Latents of the topic side as `pitman_yor_topics` takes them: ``association``, ``b``, ``a``, ``eta``.

    After a sweep they are a draw, heads and all; straight from `pitman_yor_topics` the heads may be other
    tokens than were given.
    """
    return {
        "association": _association(tokens, topics),
        "b": topics.restaurants.b[: topics.n_topics[0]].copy(),
        "a": np.array(topics.scheme.discount[0]),
        "eta": np.array(topics.restaurants.base.eta[0]),
    }


def _association(tokens: Tokens, topics: PitmanYorTopics) -> np.ndarray:
    n_topics, n_words = int(topics.n_topics[0]), int(topics.restaurants.n_words[0])
    key = cells_of(tokens, topics.group, n_words) * n_topics + tokens.topic
    shuffled = np.random.default_rng(int(topics.heads_seed[0] * 2**53)).permutation(key.size)
    by_key = shuffled[np.argsort(key[shuffled], kind="stable")]
    rank = np.empty(key.size, np.int64)  # of a token among those of its topic and cell
    rank[by_key] = np.arange(key.size) - np.searchsorted(key[by_key], key[by_key])
    cell, topic, word = _dishes(topics)
    dish_key, dish_word = np.divmod(np.sort((cell * n_topics + topic) * n_words + word), n_words)
    place = np.searchsorted(dish_key, key) + rank
    heads = place < np.searchsorted(dish_key, key, side="right")
    out = np.full(key.size, -1, np.int64)
    out[heads] = dish_word[place[heads]]
    return out


def _dishes(topics: PitmanYorTopics) -> tuple[np.ndarray, ...]:
    """Cell, topic and word of each dish."""
    restaurants, dishes = topics.restaurants, topics.dishes
    if isinstance(dishes, Associations):
        place, cell = in_use(restaurants.cell_ptr[:-1], dishes.n_dishes)
        return cell, dishes.dish_topic[place], dishes.dish_word[place]
    place, cell = in_use(restaurants.cell_ptr[:-1], restaurants.n_listed)
    n_tables = restaurants.listed_tables[place]
    cell, topic = np.repeat(cell, n_tables), np.repeat(restaurants.listed_topic[place], n_tables)
    return cell, topic, cell % int(restaurants.n_words[0])


@check_side.register
def _(side: PitmanYorTopics, tokens: Tokens, n_topics: int) -> None:
    check_topic_of_tokens(tokens, n_topics)
    _check_lists(side)
    _check_parameters(side, n_topics)
    restaurants, base = side.restaurants, side.restaurants.base
    n_groups, capacity = restaurants.customers.shape
    n_words = int(restaurants.n_words[0])
    place, cell = in_use(restaurants.cell_ptr[:-1], restaurants.n_listed)
    entry = cell * capacity + restaurants.listed_topic[place]
    m, t = restaurants.listed_customers[place], restaurants.listed_tables[place]
    if np.any(t < 1) or np.any(t > m):
        raise AssertionError("an entry has no tables, or more than customers")
    key = cells_of(tokens, side.group, n_words) * capacity + tokens.topic
    of_token, count = np.unique(key, return_counts=True)
    by_entry = np.argsort(entry)
    if not np.array_equal(entry[by_entry], of_token) or np.any(m[by_entry] != count):
        raise AssertionError("the customers of a cell differ from a recount")
    for name, listed in (("customers", m), ("tables", t)):
        restaurant = entry // (n_words * capacity) * capacity + entry % capacity
        total = np.bincount(restaurant, listed, minlength=n_groups * capacity)
        if np.any(getattr(restaurants, name).ravel() != total):
            raise AssertionError(f"the {name} of a restaurant differ from a recount")
    cell, topic, word = _dishes(side)
    key, count = np.unique(cell * capacity + topic, return_counts=True)
    if not np.array_equal(key, of_token) or np.any(count != t[by_entry]):
        raise AssertionError("the dishes of a cell are not one a table")
    b = restaurants.base_of_group[cell // n_words]
    key, count = np.unique((b * n_words + word) * base.total.size + b * capacity + topic, return_counts=True)
    place, row = in_use(base.word_ptr[:-1], base.n_listed)
    listed = row * base.total.size + base.listed_topic[place]
    at_base = np.argsort(listed)
    if not np.array_equal(listed[at_base], key) or np.any(base.listed_count[place][at_base] != count):
        raise AssertionError("the dishes at a base differ from a recount")
    if np.any(base.total != np.bincount(b * capacity + topic, minlength=base.total.size)):
        raise AssertionError("the dishes of a base's topic differ from a recount")
    if np.any(side.scratch.dish_mass):
        raise AssertionError("working memory was left dirty")


def _check_lists(side: PitmanYorTopics) -> None:
    """Raise AssertionError where a list is too long, or holds what is no topic or no word."""
    restaurants, base, dishes = side.restaurants, side.restaurants.base, side.dishes
    capacity, n_words = restaurants.b.size, int(restaurants.n_words[0])
    lists = [
        (restaurants.cell_ptr, restaurants.n_listed, restaurants.listed_topic, capacity),
        (base.word_ptr, base.n_listed, base.listed_topic, base.total.size),
    ]
    if isinstance(dishes, Associations):
        lists += [
            (restaurants.cell_ptr, dishes.n_dishes, dishes.dish_topic, capacity),
            (restaurants.cell_ptr, dishes.n_dishes, dishes.dish_word, n_words),
        ]
    for start, length, values, size in lists:
        if np.any((length < 0) | (length > np.diff(start))):
            raise AssertionError("a list is longer than its room")
        place, _ = in_use(start[:-1], length)
        if np.any((values[place] < 0) | (values[place] >= size)):
            raise AssertionError(f"a list holds an entry outside 0..{size - 1}")
    if base.n_topics[0] != base.total.size:
        raise AssertionError("the number of topics has changed")


def _check_parameters(side: PitmanYorTopics, n_topics: int) -> None:
    """Raise AssertionError where a hyperparameter is out of range, or the ratios are not of the discount."""
    restaurants, scheme = side.restaurants, side.scheme
    discount, b = float(scheme.discount[0]), restaurants.b[:n_topics]
    check_positive(eta=restaurants.base.eta)
    if not 0.0 <= discount < 1.0:
        raise AssertionError("the discount is not in [0, 1)")
    if not np.all((b > -discount) & np.isfinite(b)):
        raise AssertionError("a concentration is not above minus the discount")
    if np.any(scheme.ratios != stirling_ratios(int(np.diff(restaurants.cell_ptr).max(initial=0)), discount)):
        raise AssertionError("the ratios are not those of the discount")
    if not 0.0 <= side.heads_seed[0] < 1.0:
        raise AssertionError("the seed of the heads is not in [0, 1)")

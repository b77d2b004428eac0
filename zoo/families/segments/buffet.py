"""The law of an Indian buffet a document, from which its sentences take dishes; strengths are integrated out.

With x_j = 1 + j log 2, a dish that h of the document's M sentences have, at m tables of n_t tokens,
contributes alpha F(h, m) prod_t Gamma(n_t), where

    F(h, m) = sum_{j=h}^M (M - h)! (j - 1)! / ((j - h)! M!) Gamma(gamma + m) / Gamma(gamma) x_j^-(gamma + m),

and that no other dish has a token, exp(-alpha sum_{j=1}^M (1 - x_j^-gamma) / j). Lengths are data: they have
the factors 2^-n / n! of the negative binomial.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from ...contract import Hyperparameter, Latents
from ...toolbox.draws import draw_categorical, draw_dirichlet, draw_hyperparameter
from ...toolbox.laws import by_first_appearance
from ..buffet.generator import Draws, draw_given_lengths, draw_topics, expected_topics, total_by_owner
from ..buffet.lengths import LOG2, draw_lengths
from . import franchise
from .family import MOST_DRAWS
from .order import Seating
from .urns import all_seated, counts_of, documents


def log_dish(having: int, tables: int, n_sentences: int, gamma: float) -> float:
    """``log F(h, m)``."""
    j = np.arange(having, n_sentences + 1)
    log_terms = gammaln(n_sentences - having + 1) - gammaln(j - having + 1) + gammaln(j)
    log_terms -= gammaln(n_sentences + 1) + (gamma + tables) * np.log1p(j * LOG2)
    return float(np.logaddexp.reduce(log_terms) + gammaln(gamma + tables) - gammaln(gamma))


def mass_of_dishes(n_sentences: int, gamma: float) -> float:
    """Dishes of a document that have a token, in expectation, for alpha = 1."""
    j = np.arange(1, n_sentences + 1)
    return float(np.sum(-np.expm1(-gamma * np.log1p(j * LOG2)) / j))


def log_lengths(seats: Seating) -> float:
    """Return what is left of the negative binomials: ``log prod_s 2^-n_s / n_s!``."""
    sizes, _ = counts_of(seats.sentence)
    return float(-seats.sentence.size * LOG2 - np.sum(gammaln(sizes + 1.0)))


def log_law(seats: Seating, dish: np.ndarray, table: np.ndarray, alpha: float, gamma: float) -> float:
    """Log probability of the dishes, tables and lengths of all documents; -inf if a table has two dishes."""
    out = log_lengths(seats)
    for own in documents(seats):
        here = np.unique(np.column_stack([seats.sentence[own], table[own], dish[own]]), axis=0)
        of_table, _ = counts_of(seats.sentence[own], table[own])
        if of_table.size < len(here):
            return -np.inf
        n_sentences = np.unique(here[:, 0]).size
        out += float(np.sum(gammaln(of_table))) - alpha * mass_of_dishes(n_sentences, gamma)
        for c in np.unique(here[:, 2]):
            sentences = here[here[:, 2] == c, 0]
            out += np.log(alpha) + log_dish(np.unique(sentences).size, sentences.size, n_sentences, gamma)
    return out


class Listing(NamedTuple):
    """All dishes and tables that the tokens of one document can have.

    Attributes
    ----------
    dish : int (R, n)
    pairs : int (P, 2)
        How many sentences and tables may have a dish.
    row, pair : int (L,)
        Of the dishes of all rows: the row, and which of the `pairs` it has.
    log_constant : float (R,)
    """

    dish: np.ndarray
    pairs: np.ndarray
    row: np.ndarray
    pair: np.ndarray
    log_constant: np.ndarray


@lru_cache(maxsize=64)
def listing(sentences: tuple[int, ...]) -> Listing:
    """All dishes and tables of tokens of these sentences: those of a franchise."""
    dish, table = all_seated(franchise.open_seats, {"alpha": 1.0, "gamma": 1.0}, sentences, 0)
    n_rows, row = len(dish), np.indices(dish.shape)[0].ravel()
    sentence = np.tile(np.array(sentences, np.int64), n_rows)
    of_table, row_of_table = counts_of(row, sentence, table.ravel())
    tables = np.unique(np.column_stack([row, dish.ravel(), sentence, table.ravel()]), axis=0)
    having = np.unique(tables[:, :3], axis=0)
    n_tables, row_of_dish = counts_of(tables[:, 0], tables[:, 1])
    n_having, _ = counts_of(having[:, 0], having[:, 1])
    pairs, pair = np.unique(np.column_stack([n_having, n_tables]), axis=0, return_inverse=True)
    log_constant = np.bincount(row_of_table, gammaln(of_table), n_rows)
    return Listing(dish, pairs, row_of_dish, pair.ravel(), log_constant)


def dish_laws(seats: Seating, alpha: float, gamma: float) -> tuple[np.ndarray, np.ndarray]:
    """All dishes of one document, int (R, n), and the log probability of each, tables summed out."""
    found = listing(tuple(seats.sentence.tolist()))
    n_sentences = np.unique(seats.sentence).size
    log_p = np.array([log_dish(h, m, n_sentences, gamma) for h, m in found.pairs.tolist()])
    by_row = np.bincount(found.row, np.log(alpha) + log_p[found.pair], len(found.dish)) + found.log_constant
    by_row += log_lengths(seats) - alpha * mass_of_dishes(n_sentences, gamma)
    dishes, row = np.unique(found.dish, axis=0, return_inverse=True)
    out = np.full(len(dishes), -np.inf)
    np.logaddexp.at(out, row.ravel(), by_row)
    return dishes, out


def new_sentence(
    seats: Seating, dish: np.ndarray, table: np.ndarray, alpha: float, gamma: float
) -> np.ndarray:
    """Probabilities of the dishes of a document, and of a new one, in one more sentence of one token."""
    n_sentences = np.unique(seats.sentence).size + 1
    here = np.unique(np.column_stack([seats.sentence, table, dish]), axis=0)
    log_p = [np.log(alpha) + log_dish(1, 1, n_sentences, gamma)]
    for c in range(int(dish.max(initial=-1)), -1, -1):
        sentences = here[here[:, 2] == c, 0]
        h, m = np.unique(sentences).size, sentences.size
        more = log_dish(h + 1, m + 1, n_sentences, gamma) - log_dish(h, m, n_sentences, gamma)
        log_p.insert(0, more)
    return np.exp(np.array(log_p) - np.logaddexp.reduce(log_p))


def draw(
    seats: Seating, hyper: Mapping[str, Hyperparameter], label: str, rng: np.random.Generator
) -> Latents:
    """Draw ``alpha``, ``gamma``, ``dish`` and ``table`` given the lengths of the sentences, by rejection.

    Raises
    ------
    ValueError
        The hyperparameters make the lengths too unlikely.
    """
    lengths, _ = counts_of(seats.sentence)
    sizes = sentences_of(seats)
    n_dishes = sum(expected_topics(hyper["alpha"], int(size), 1.0) for size in sizes)
    tasks = lengths[:, None]  # a sentence is a task of its own
    try:
        drawn = draw_given_lengths(
            lambda n: _draw_buffets(n, sizes, hyper, rng), tasks, "document", n_dishes, rng, label
        )
    except ValueError:
        raise ValueError(
            f"{label}: hardly a draw from the prior has sentences of the design's lengths; expected fewer or "
            "shorter sentences, or hyperparameters that make them likely"
        ) from None
    return seated(drawn, seats, rng)


def sentences_of(seats: Seating) -> np.ndarray:
    """How many sentences each document has that has some, int (D,)."""
    _, first = np.unique(seats.sentence, return_index=True)
    sizes, _ = counts_of(seats.document[first])
    return sizes


def draw_with_lengths(
    sizes: np.ndarray, hyper: Mapping[str, Hyperparameter], label: str, rng: np.random.Generator
) -> tuple[Latents, np.ndarray]:
    """Draw what `seated` asks for, and the lengths of all sentences, given that none is empty.

    Parameters
    ----------
    sizes : int (D,)
        Sentences of each document that has some.

    Raises
    ------
    ValueError
        Nearly every draw has empty sentences.
    """
    for _ in range(MOST_DRAWS):
        draws = _draw_buffets(1, sizes, hyper, rng)
        lengths = draw_lengths(draws.mass[0], np.arange(sizes.sum()), "document", rng)
        if np.all(lengths > 0):
            return draws.one(0), lengths
    raise ValueError(
        f"{label}: none of {MOST_DRAWS:,} draws from the prior is without empty sentences; expected fewer "
        "sentences, or hyperparameters that give each a dish"
    )


def seated(drawn: Latents, seats: Seating, rng: np.random.Generator) -> Latents:
    """Draw ``dish`` and ``table`` given where dishes are on, and how strong; with ``alpha``, ``gamma``."""
    sentence = np.unique(seats.sentence)
    dish, table = np.zeros((2, seats.sentence.size), np.int64)
    for own in documents(seats):
        labels = []
        for s in np.unique(seats.sentence[own]):
            at = np.flatnonzero(seats.sentence == s)
            on = np.flatnonzero(drawn["is_on"][:, np.searchsorted(sentence, s)])
            strength = drawn["strength"][on]
            share = np.tile(draw_dirichlet(strength, rng), (at.size, 1))
            chosen = draw_categorical(share, rng)
            labels.append(on[chosen])
            table[at] = draw_tables(chosen, strength, rng)
        dish[own], _ = by_first_appearance(np.concatenate(labels))
    return {name: drawn[name] for name in ("alpha", "gamma")} | {"dish": dish, "table": table}


def _draw_buffets(
    n: int, sizes: np.ndarray, hyper: Mapping[str, Hyperparameter], rng: np.random.Generator
) -> Draws:
    """Draw `n` alphas and gammas, and for each a buffet for documents of so many sentences."""
    alpha, gamma = (draw_hyperparameter(hyper[name], n, rng) for name in ("alpha", "gamma"))
    owners: list[np.ndarray] = [np.zeros(0, np.int64)]
    masks: list[np.ndarray] = [np.zeros((0, int(sizes.sum())), bool)]
    for start, size in zip(np.cumsum(sizes) - sizes, sizes, strict=True):
        owner, is_on, _ = draw_topics(alpha, int(size), 1.0, rng)
        owners.append(owner)
        masks.append(np.zeros((owner.size, int(sizes.sum())), bool))
        masks[-1][:, start : start + size] = is_on
    owner, is_on = np.concatenate(owners), np.concatenate(masks)
    strength = np.maximum(rng.gamma(gamma[owner]), np.finfo(float).tiny)
    return Draws(
        {"alpha": alpha, "gamma": gamma},
        owner,
        {"is_on": is_on, "strength": strength},
        total_by_owner(strength[:, None] * is_on, owner, n),
    )


def draw_tables(dish: np.ndarray, strength: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Seat the tokens of a sentence, given their dishes: those of dish l in a restaurant of its strength.

    Parameters
    ----------
    dish : int (n,)
    strength : float (L,)

    Returns
    -------
    int (n,)
        Tables, numbered by first appearance.
    """
    sizes: list[int] = []
    served: list[int] = []
    out = np.zeros(dish.size, np.int64)
    for i, c in enumerate(dish.tolist()):
        same = [t for t in range(len(sizes)) if served[t] == c]
        weights = np.array([float(sizes[t]) for t in same] + [strength[c]])
        chosen = draw_categorical(weights[None], rng)[0]
        if chosen < len(same):
            out[i] = same[chosen]
            sizes[out[i]] += 1
        else:
            out[i] = len(sizes)
            sizes.append(1)
            served.append(c)
    return out

"""The law of shared dishes mixed with those of a sentence alone (Müller, Quintana and Rosner 2004).

With n_0 tokens at shared dishes, n_s at dishes of sentence s alone, n_l at dish l, L dishes in a document,

    p = epsilon^{n_0} prod_s (1 - epsilon)^{n_s} alpha^L prod_l Gamma(n_l)
        Gamma(alpha) / Gamma(alpha + n_0) prod_s Gamma(alpha) / Gamma(alpha + n_s).
"""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from .order import Seating
from .reference import Listing, rising
from .urns import Seat, Seated, all_seated, counts_of

SHARED, OWN = range(2)
"""Values of a token's mark."""


def log_law(seats: Seating, dish: np.ndarray, local: np.ndarray, alpha: float, epsilon: float) -> float:
    """Log probability of the dishes of all documents, and of whose they are; -inf if one is of two."""
    of_dish, _ = counts_of(seats.document, dish)
    owner = np.where(local == OWN, seats.sentence, -1)
    if of_dish.size < counts_of(seats.document, dish, owner)[0].size:
        return -np.inf
    of_restaurant, _ = counts_of(seats.document, owner)
    n_own = int(local.sum())
    return float(
        (local.size - n_own) * np.log(epsilon)
        + n_own * np.log1p(-epsilon)
        + of_dish.size * np.log(alpha)
        + np.sum(gammaln(of_dish))
        + np.sum(gammaln(alpha) - gammaln(alpha + of_restaurant))
    )


def open_seats(sentence: int, seated: Seated, hyper: Mapping[str, float]) -> list[Seat]:
    """Seats that the next token can take, at a shared dish, one of the sentence's own, or a new one."""
    alpha, epsilon = hyper["alpha"], hyper["epsilon"]
    new = len(seated.places)
    found = []
    for local, share, tokens in (
        (SHARED, epsilon, seated.everywhere),
        (OWN, 1.0 - epsilon, seated.here[sentence]),
    ):
        sizes = {dish: size for (dish, mark), size in tokens.items() if mark == local}
        per_token = share / (sum(sizes.values()) + alpha)
        found += [Seat(dish, local, per_token * size) for dish, size in sizes.items()]
        found.append(Seat(new, local, per_token * alpha))
    return found


def listing(seats: Seating, most_dishes: int) -> Listing:
    """All dishes of one document: powers of epsilon, 1 - epsilon, alpha and alpha + i."""
    return _listing(tuple(seats.sentence.tolist()), most_dishes)


@lru_cache(maxsize=64)
def _listing(sentences: tuple[int, ...], most_dishes: int) -> Listing:
    dish, local = all_seated(open_seats, {"alpha": 1.0, "epsilon": 0.5}, sentences, most_dishes)
    n_rows, row = len(dish), np.indices(dish.shape)[0].ravel()
    owner = np.where(local.ravel() == OWN, np.tile(np.array(sentences, np.int64), n_rows), -1)
    of_dish, row_of_dish = counts_of(row, dish.ravel())
    of_restaurant, row_of_restaurant = counts_of(row, owner)
    n_own = local.sum(axis=1)[:, None]
    powers = (
        local.shape[1] - n_own,
        n_own,
        np.bincount(row_of_dish, minlength=n_rows)[:, None],
        -rising(of_restaurant, row_of_restaurant, n_rows),
    )
    return Listing({"dish": dish, "local": local}, powers, np.bincount(row_of_dish, gammaln(of_dish), n_rows))

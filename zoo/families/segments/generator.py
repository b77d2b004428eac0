"""Draws dishes as the paper tells it: sticks are broken table by table (Equations 9 and 11)."""

from typing import NamedTuple

import numpy as np

from .order import Seating


class Sentence(NamedTuple):
    """What a sentence has so far: the dish and the stick of each of its tables."""

    dishes: list[int]
    sticks: list[float]


def draw_dishes(seats: Seating, a: float, b: float, zeta: float, rng: np.random.Generator) -> np.ndarray:
    """Draw the dish of every token, int (N,), numbered through each document by first appearance."""
    dish = np.zeros(seats.time.size, np.int64)
    sentences: dict[int, Sentence] = {}
    n_dishes = 0
    for i in np.lexsort((seats.time, seats.document)):
        if seats.time[i] == 0:
            sentences, n_dishes = {}, 0
        sentence = sentences.setdefault(int(seats.sentence[i]), Sentence([], []))
        table = next((j for j, v in enumerate(sentence.sticks) if rng.random() < v), len(sentence.sticks))
        if table == len(sentence.sticks):
            lacked = [dish for dish in range(n_dishes) if dish not in sentence.dishes]
            u = rng.random() * (len(lacked) + zeta)
            sentence.dishes.append(lacked[int(u)] if u < len(lacked) else n_dishes)
            sentence.sticks.append(rng.beta(a, b))
            n_dishes = max(n_dishes, sentence.dishes[-1] + 1)
        dish[i] = sentence.dishes[table]
    return dish

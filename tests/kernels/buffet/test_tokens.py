"""The law of a topic that opens, where empty masks are integrated out."""

from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, Change, load_room
from bnpzoo.kernels.buffet import tokens
from scipy.stats import kstest

FALSE_ALARM_RATE = 1e-5
RATES, TASK = np.array([1.4, 0.7, 2.1]), 1
A1, A2, EPSILON = 2.0, 0.8, 0.6


def draws(room, n=3000):
    """Shapes and sticks of topics that a token of the task chose, (n, 2)."""
    module = room(tokens)
    masks = SimpleNamespace(shape=np.zeros(1), stick=np.zeros(1))
    state = SimpleNamespace(
        prior=SimpleNamespace(a1=A1, a2=A2, epsilon=EPSILON),
        masks=masks,
        lengths=SimpleNamespace(rate=RATES),
    )
    rng, out = np.random.default_rng(1), np.empty((n, 2))
    with patch.object(module, "free_slot", lambda state: 0):
        for row in out:
            module.draw_opening(rng, state, TASK)
            row[:] = masks.shape[0], masks.stick[0]
    return out


def exact():
    """Grid of shapes and sticks, and the density there: the task has a token, and no other task has one."""
    shape, stick = (np.linspace(0.0, high, 800)[1:] for high in (12.0, EPSILON))
    x, rho = np.meshgrid(shape, stick, indexing="ij")
    density = x**A1 * np.exp(-x / A2) * (1.0 + RATES[TASK]) ** -x
    for rate in np.delete(RATES, TASK):
        density *= 1.0 - rho + rho * (1.0 + rate) ** -x
    return shape, stick, density


def p_value(room):
    *grids, density = exact()
    found = []
    for axis, (grid, values) in enumerate(zip(grids, draws(room).T, strict=True)):
        cdf = np.cumsum(density.sum(axis=1 - axis))
        found.append(kstest(values, lambda v, grid=grid, cdf=cdf: np.interp(v, grid, cdf / cdf[-1])).pvalue)
    return 2.0 * min(found)


def test_a_topic_that_opens_is_drawn_from_its_law():
    assert p_value(load_room(PLAIN_PYTHON)) > FALSE_ALARM_RATE


@pytest.mark.parametrize(
    ("find", "replace"),
    [
        ("            if other != c:\n", "            if other != c and other > 0:\n"),
        ("            if other != c:\n", "            if other == c:\n"),
        (
            "prior.a1 + 1.0) / (1.0 / prior.a2 + math.log1p(rates",
            "prior.a1) / (1.0 / prior.a2 + math.log1p(rates",
        ),
        ("(1.0 / prior.a2 + math.log1p(rates[c]))", "(1.0 / prior.a2)"),
        ("stick = prior.epsilon * rng.random()", "stick = rng.random()"),
    ],
)
def test_wrong_laws_are_noticed(find, replace):
    assert p_value(load_room(PLAIN_PYTHON, Change("buffet/tokens.py", find, replace))) < FALSE_ALARM_RATE

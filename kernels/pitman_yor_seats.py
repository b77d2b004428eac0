"""What a step remembers of a token's seat: schemes that leave the posterior as it is.

Of all tokens of a word in a restaurant, m in number at t tables, a token is taken for the head of one with
probability rho(m, t); it is then put back with weights that undo this choice. Every rho in [0, 1] with
rho(m, m) = 1 does, since the step is a Gibbs step on p(z, q) rho(head | z, q):

    joins an occupied table    S^{m+1}_t / S^m_t          (1 - rho(m + 1, t))
    opens a table              S^{m+1}_{t+1} / S^m_t           rho(m + 1, t + 1)

and the latter times (b + a T) and the base probability of the word.
"""

from typing import NamedTuple

import numpy as np

from .jit import chosen_by_type, kernel
from .stirling import joins, opens


class Scheme(NamedTuple):
    """Base of the schemes, which differ by class alone.

    Attributes
    ----------
    ratios : float64 or float32
        `stirling.stirling_ratios`.
    discount : float64 (1,)
    """

    ratios: np.ndarray
    discount: np.ndarray


class Indicators(Scheme):
    """Table indicators (Chen, Du and Buntine 2011): rho = t / m, but 0 for the only table of several."""


class LockedIndicators(Scheme):
    """Table indicators with rho = t / m: a token that heads the only table of several stays where it is."""


class MinusOne(Scheme):
    """Table indicators of all tokens but one that always heads a table: rho = (t - 1) / (m - 1)."""


class TableCounts(Scheme):
    """A table goes only if it must, rho = [t = m]; tables are drawn anew apart from the tokens."""


class Seating(Scheme):
    """The Chinese restaurant itself, its seating summed out: rho = S^{m-1}_{t-1} / S^m_t."""


@chosen_by_type(0)
def head_probability(scheme, m, t):
    """rho(m, t), for 1 <= t <= m."""


@chosen_by_type(0)
def seat_weights(scheme, m, t):
    """Weights of joining an occupied table and of opening one, for m others at t tables, 1 <= t <= m."""


@head_probability.implement(Indicators)
def _head_forced(scheme, m, t):
    if t == 1 and m > 1:
        return 0.0
    return t / m


@seat_weights.implement(Indicators)
def _seats_forced(scheme, m, t):
    a = scheme.discount[0]
    stays = 1.0 if t == 1 else (m - t + 1.0) / (m + 1.0)
    return joins(scheme.ratios, a, m, t) * stays, opens(scheme.ratios, a, m, t) * (t + 1.0) / (m + 1.0)


@head_probability.implement(LockedIndicators)
def _head_locked(scheme, m, t):
    return t / m


@seat_weights.implement(LockedIndicators)
def _seats_locked(scheme, m, t):
    a = scheme.discount[0]
    stays = (m - t + 1.0) / (m + 1.0)
    return joins(scheme.ratios, a, m, t) * stays, opens(scheme.ratios, a, m, t) * (t + 1.0) / (m + 1.0)


@head_probability.implement(MinusOne)
def _head_minus_one(scheme, m, t):
    return (t - 1.0) / (m - 1.0) if m > 1 else 1.0


@seat_weights.implement(MinusOne)
def _seats_minus_one(scheme, m, t):
    a = scheme.discount[0]
    return joins(scheme.ratios, a, m, t) * (m - t + 1.0) / m, opens(scheme.ratios, a, m, t) * t / m


@head_probability.implement(TableCounts)
def _head_if_it_must(scheme, m, t):
    return 1.0 if t == m else 0.0


@seat_weights.implement(TableCounts)
def _seats_if_they_must(scheme, m, t):
    return joins(scheme.ratios, scheme.discount[0], m, t), 1.0 if t == m else 0.0


@head_probability.implement(Seating)
def _head_seated(scheme, m, t):
    if t == m:
        return 1.0
    if t == 1:
        return 0.0
    return 1.0 / opens(scheme.ratios, scheme.discount[0], m - 1, t - 1)


@seat_weights.implement(Seating)
def _seats_seated(scheme, m, t):
    return m - t * scheme.discount[0], 1.0


@kernel
def takes_head(rng, scheme, m, t):
    """Draw whether a token is taken for the head of a table."""
    rho = head_probability(scheme, m, t)
    return rho >= 1.0 or (rho > 0.0 and rng.random() < rho)

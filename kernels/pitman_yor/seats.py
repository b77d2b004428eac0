"""What a step remembers of a token's seat: schemes that leave the posterior as it is.

Of all tokens of a word in a restaurant, m in number at t tables, a token is taken for the head of one with
probability rho(m, t); it is then put back with weights that undo this choice. Every rho in [0, 1] with
rho(m, m) = 1 does, since the step is a Gibbs step on p(z, q) rho(head | z, q):

    joins an occupied table    S^{m+1}_t / S^m_t          (1 - rho(m + 1, t))
    opens a table              S^{m+1}_{t+1} / S^m_t           rho(m + 1, t + 1)

and the latter times (b + a T) and the base probability of the word.

``forced``      rho = t / m, but 0 for the only table of several: table indicators (Chen, Du and Buntine 2011)
``lock``        rho = t / m; a token that heads the only table of several stays where it is
``minus-one``   rho = (t - 1) / (m - 1): indicators of all tokens but one that always heads a table
``tables``      rho = [t = m]: a table goes only if it must, and tables are drawn anew apart from the tokens
``seating``     rho = S^{m-1}_{t-1} / S^m_t: the Chinese restaurant itself, its seating summed out
"""

from typing import NamedTuple

import numpy as np

from ..toolbox.jit import borrowing_kernel
from ..toolbox.stirling import joins, opens

SCHEMES = ("forced", "lock", "minus-one", "tables", "seating")
FORCED, LOCK, MINUS_ONE, TABLES, SEATING = range(len(SCHEMES))


class Scheme(NamedTuple):
    """The scheme, and what all of them need.

    Attributes
    ----------
    rule : int64 (1,)
        Its place in `SCHEMES`.
    ratios : float64 or float32
        `stirling.stirling_ratios`.
    discount : float64 (1,)
        a.
    """

    rule: np.ndarray
    ratios: np.ndarray
    discount: np.ndarray

    FIXED = ("rule",)


@borrowing_kernel
def head_probability(scheme, m, t):
    """rho(m, t), for 1 <= t <= m."""
    rule = scheme.rule[0]
    if t == m:
        return 1.0
    if rule == TABLES or (t == 1 and rule != LOCK):
        return 0.0
    if rule == MINUS_ONE:
        return (t - 1.0) / (m - 1.0)
    if rule == SEATING:
        return 1.0 / opens(scheme.ratios, scheme.discount[0], m - 1, t - 1)
    return t / m


@borrowing_kernel
def seat_weights(scheme, m, t):
    """Weights of joining an occupied table and of opening one, for m others at t tables, 1 <= t <= m."""
    rule, a = scheme.rule[0], scheme.discount[0]
    if rule == SEATING:
        return m - t * a, 1.0
    join = joins(scheme.ratios, a, m, t)
    if rule == TABLES:
        return join, 1.0 if t == m else 0.0
    alone = opens(scheme.ratios, a, m, t)
    if rule == MINUS_ONE:
        return join * (m - t + 1.0) / m, alone * t / m
    stays = 1.0 if rule == FORCED and t == 1 else (m - t + 1.0) / (m + 1.0)
    return join * stays, alone * (t + 1.0) / (m + 1.0)


@borrowing_kernel
def takes_head(rng, scheme, m, t):
    """Draw whether a token is taken for the head of a table."""
    rho = head_probability(scheme, m, t)
    return rho == 1.0 or (rho > 0.0 and rng.random() < rho)

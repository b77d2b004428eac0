"""Conditionals against ratios of the joint density.

The sharpest test of a Gibbs step, and the only one without Monte Carlo error: the weights with which it
draws one variable must be proportional to the joint density at the candidates, whatever the constants that
were dropped on the way (Grosse and Duvenaud 2014, Section 3).

References
----------
.. [1] R. Grosse, D. Duvenaud (2014). Testing MCMC code. arXiv:1412.5218.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_softmax

from .verdict import Verdict, table_of


class Conditional(NamedTuple):
    """One conditional, as a sampler has it.

    Attributes
    ----------
    name : str
        Which variable, in which state.
    candidates : sequence
        Latents, equal up to the variable that is drawn.
    log_weights : float (n,)
        Log of the weights with which the sampler chooses among them, up to a constant.
    """

    name: str
    candidates: Sequence[Any]
    log_weights: np.ndarray


def joint_ratio(
    log_joint: Callable[[Any], float], candidates: Sequence[Any], log_weights: np.ndarray
) -> float:
    """Largest difference between a conditional's log probabilities and those that the joint density implies.

    Parameters
    ----------
    log_joint : (latents) -> float
    candidates : sequence of latents
    log_weights : float (n,)
        May hold -inf, for candidates that the sampler never chooses.

    Returns
    -------
    float
        0 up to rounding for a right conditional; inf where one side forbids what the other allows.
    """
    if not len(candidates):
        raise ValueError("candidates: expected one or more, found none")
    claimed = log_softmax(_real("log_weights", log_weights))
    implied = log_softmax(_real("log_joint", [log_joint(latents) for latents in candidates]))
    if claimed.shape != implied.shape:
        raise ValueError(
            f"log_weights: expected one a candidate ({implied.size}), found shape {claimed.shape}"
        )
    with np.errstate(invalid="ignore"):
        difference = np.abs(claimed - implied)
    difference[np.isneginf(claimed) & np.isneginf(implied)] = 0.0
    return float(np.max(difference))


def _real(name: str, values: Any) -> np.ndarray:
    """`values` as floats; a cast would drop imaginary parts without a word."""
    if np.iscomplexobj(values):
        raise ValueError(f"{name}: expected real numbers, found complex ones")
    return np.asarray(values, float)


def joint_ratio_test(
    subject: str,
    log_joint: Callable[[Any], float],
    conditionals: Iterable[Conditional],
    tolerance: float = 1e-9,
) -> Verdict:
    """Verdict on a list of conditionals.

    Parameters
    ----------
    subject : str
        Name for the verdict.
    log_joint : (latents) -> float
    conditionals : iterable of Conditional
        Where several have one name, all are judged, and the worst is told.
    tolerance : float
        Largest difference of log probabilities that passes as rounding.

    Returns
    -------
    Verdict
        ``table`` holds the largest difference of each conditional. Nothing is random, so no alarm is false.
    """
    found: dict[str, float] = {}
    judged = 0
    for name, candidates, log_weights in conditionals:
        judged += 1
        difference = joint_ratio(log_joint, candidates, log_weights)
        found[name] = max(found.get(name, difference), difference, key=_badness)
    if not found:
        return Verdict("joint", subject, "broken", "There are no conditionals to compare.", 0.0)
    worst = max(found, key=lambda name: _badness(found[name]))
    passed = found[worst] <= tolerance
    return Verdict(
        "joint",
        subject,
        "passed" if passed else "rejected",
        f"Largest of {judged} differences in log probability: {found[worst]:.3g} ({worst}), "
        f"{'within' if passed else 'above'} {tolerance:g}.",
        0.0,
        table_of(list(found), difference=np.array(list(found.values()))),
        {"conditionals": judged, "largest": found[worst]},
    )


def _badness(difference: float) -> float:
    """By which differences are ordered: NaN comes last, with infinity."""
    return np.inf if np.isnan(difference) else difference

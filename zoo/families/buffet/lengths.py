"""How long the documents of a task are, given the task's mass S = sum_k phi_k over its topics.

``task``      the tokens of the task are NB(S, 1/2); how they are split into documents carries no information
``document``  the tokens of each document are NB(S, 1/2)
``none``      lengths are given, and nothing is learnt from them but that S > 0

With topic proportions integrated out, a task enters the joint by ``h(S) prod_dk (phi_k)_{n_dk}``, (x)_n a
rising factorial, where

    log h(S) = sum_d [log Γ(S) - log Γ(S + n_d)] + {   log Γ(S + n) - log Γ(S) - S log 2            task
                                                   {   sum_d [log Γ(S + n_d) - log Γ(S) - S log 2]  document
                                                   {   0                                            none

and h(0) is 1 for a task without tokens, else 0. Factors that depend on the lengths alone are left out:
``2^-n / n!`` a task, or ``2^-n_d / n_d!`` a document.
"""

from functools import lru_cache
from typing import Literal, NamedTuple, get_args

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

type Lengths = Literal["task", "document", "none"]
LENGTHS: tuple[str, ...] = get_args(Lengths.__value__)
LOG2 = float(np.log(2.0))


def log_lengths(mass: np.ndarray, doc_lengths: np.ndarray, lengths: str) -> np.ndarray:
    """Log probability of the lengths of a task's documents given its mass, without constants.

    Parameters
    ----------
    mass : float (…)
        Non-negative.
    doc_lengths : int (D,)
    lengths : {"task", "document", "none"}

    Returns
    -------
    float (…)
        -inf where the mass is 0 though there are tokens.
    """
    n = int(doc_lengths.sum())
    positive = np.maximum(mass, np.finfo(float).tiny)
    if lengths == "task":
        out = gammaln(positive + n) - gammaln(positive) - mass * LOG2
    elif lengths == "document":
        distinct, times = np.unique(doc_lengths, return_counts=True)
        rising = gammaln(np.add.outer(positive, distinct)) - gammaln(positive)[..., None]
        out = rising @ times - doc_lengths.size * LOG2 * mass
    else:
        out = np.zeros_like(positive)
    return np.where((mass > 0) | (n == 0), out, -np.inf)


def draw_lengths(mass: np.ndarray, group: np.ndarray, lengths: str, rng: np.random.Generator) -> np.ndarray:
    """Draw the lengths of the documents from the tasks' masses.

    NB(S, 1/2) is a Poisson law whose mean is a gamma variate of shape S. Where the lengths of tasks are drawn
    ("task"), each token goes to one of the task's documents, all alike.

    Parameters
    ----------
    mass : float (C,)
    group : int (D,)
        Task of each document.
    lengths : {"task", "document"}
    rng : numpy.random.Generator

    Returns
    -------
    int (D,)
    """
    if lengths == "document":
        return rng.poisson(rng.gamma(mass[group]))
    n_documents = np.bincount(group, minlength=mass.size)
    out = np.zeros(group.size, np.int64)
    for c in np.flatnonzero(n_documents):
        tokens = rng.poisson(rng.gamma(mass[c]))
        out[group == c] = rng.multinomial(tokens, np.full(n_documents[c], 1.0 / n_documents[c]))
    return out


@lru_cache(maxsize=1024)
def highest_log_lengths(doc_lengths: tuple[int, ...], lengths: str) -> float:
    """Largest value of `log_lengths`, which is concave in the logarithm of the mass."""
    if lengths == "none" or sum(doc_lengths) == 0:
        return 0.0
    found = minimize_scalar(
        lambda x: -float(log_lengths(np.array(np.exp(x)), np.array(doc_lengths), lengths)),
        bounds=(-30.0, np.log(10.0 * sum(doc_lengths))),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return -float(found.fun) + 1e-9


class Weight(NamedTuple):
    """``log h(S) = -rate S + sum_j coefficient[j] (log Γ(S + offset[j]) - log Γ(S))`` of one task.

    Attributes
    ----------
    rate : float
    offset : int (J,)
        Distinct lengths.
    coefficient : int (J,)
        Not zero. There are none in the model "document", nor in "task" for a task with one document.
    """

    rate: float
    offset: np.ndarray
    coefficient: np.ndarray

    @classmethod
    def of(cls, doc_lengths: np.ndarray, lengths: str) -> "Weight":
        """Weight of a task with documents of these lengths."""
        doc_lengths = np.asarray(doc_lengths)
        if lengths == "document":
            return cls(doc_lengths.size * LOG2, np.zeros(0, np.int64), np.zeros(0, np.int64))
        tally = np.zeros(int(doc_lengths.sum()) + 1, np.int64)
        np.subtract.at(tally, doc_lengths, 1)
        tally[-1] += lengths == "task"
        tally[0] = 0
        offset = np.flatnonzero(tally)
        return cls(LOG2 if lengths == "task" else 0.0, offset, tally[offset])


class Mixture(NamedTuple):
    """``h(S) = sum_t weight[t] exp(-rate[t] S)``: `Weight` as a signed mixture of exponentials.

    Attributes
    ----------
    log_scale : float (T,)
        log(1 + rate[t]).
    log_weight : float (T,)
        Logarithm of the absolute weight.
    sign : float (T,)
    """

    log_scale: np.ndarray
    log_weight: np.ndarray
    sign: np.ndarray

    @classmethod
    def of(cls, weight: Weight, step: float = 0.25, most: float = 10.0) -> "Mixture":
        """Expand the weight of a task with a few tokens.

        Without its exponential, h is a rational function of S with poles at 0, -1, …; the terms of its
        partial fractions are Laplace transforms, ``(S + a)^-j = int t^(j-1) e^(-(a + S) t) dt / (j - 1)!``,
        integrated here by the trapezoidal rule in y, where t = exp(sinh y) (Takahasi and Mori 1974).
        """
        powers = np.zeros(int(weight.offset.max(initial=0)), np.int64)
        for offset, coefficient in zip(weight.offset, weight.coefficient, strict=True):
            powers[:offset] += coefficient
        at_zero = float(powers.sum() == 0)
        y = np.arange(-most, most + step / 2, step) if powers.any() else np.zeros(0)
        x = np.sinh(y)
        # density(t) dt = sum_aj c_aj t^(j - 1) e^(-a t) / (j - 1)! dt, in logarithms because t overflows
        terms, signs = [], []
        for a in np.flatnonzero(powers < 0):
            for j, c in enumerate(_principal_part(powers, int(a)), start=1):
                if c != 0.0:
                    with np.errstate(over="ignore"):
                        decay = a * np.exp(np.minimum(x, 700.0)) if a else 0.0
                    terms.append(j * x - decay + np.log(abs(c)) - gammaln(j))
                    signs.append(np.sign(c))
        density, sign = _signed_logsumexp(terms, signs) if terms else (np.zeros(0), np.zeros(0))
        log_rate = np.full(1, np.log1p(weight.rate))
        return cls(
            np.concatenate([log_rate, np.logaddexp(log_rate, x)])[1 - int(at_zero) :],
            np.concatenate([[0.0], density + np.log(np.cosh(y)) + np.log(step)])[1 - int(at_zero) :],
            np.concatenate([[1.0], sign])[1 - int(at_zero) :],
        )


def _principal_part(powers: np.ndarray, a: int) -> np.ndarray:
    """Coefficients of (S + a)^-j, j = 1, …, of the partial fractions of ``prod_b (S + b)^powers[b]``."""
    m = -int(powers[a])
    series = np.zeros(m)  # of the other factors in x = S + a, up to x^(m - 1)
    series[0] = 1.0
    for b, power in enumerate(powers):
        factor = np.zeros(m)
        factor[: min(m, 2)] = [b - a, 1.0][: min(m, 2)]
        if b != a:
            inverse = _reciprocal(factor)
            for _ in range(abs(int(power))):
                series = np.convolve(series, factor if power > 0 else inverse)[:m]
    return series[::-1]


def _reciprocal(series: np.ndarray) -> np.ndarray:
    """Power series of ``1 / (c + x)``, cut off where `series` ends."""
    return (-1.0) ** np.arange(series.size) / series[0] ** np.arange(1, series.size + 1)


def _signed_logsumexp(terms: list[np.ndarray], signs: list[float]) -> tuple[np.ndarray, np.ndarray]:
    stacked = np.array(terms)
    high = stacked.max(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        total = np.array(signs) @ np.exp(stacked - high)
        return np.where(np.isfinite(high), high + np.log(np.abs(total)), -np.inf), np.sign(total)

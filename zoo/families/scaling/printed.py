"""Updates of mean-field variational inference as the paper prints them: several lower the bound.

Where an update is right as printed (Equations 26, 29, 31, 33 to 36) there is none here. The paper gives no
length for its steepest ascent in the sticks; here no stick moves by more than `LARGEST_STEP` at once. Its
sticks have their density in V, which sends them to 1 where gamma is below 1; see `bound`.
"""

import numpy as np
from scipy.special import digamma

from .bound import InverseGamma, MeanField, Problem
from .mean_field import LEAST_STICK, Update, slopes_given

LARGEST_STEP = 0.01


def sticks_30(q: MeanField, problem: Problem) -> MeanField:
    """Equation 30: the mean of log pi, summed over the labels of its document, for that of log s."""
    n_labels = np.asarray(problem.rows.sum(axis=1)).ravel()[problem.row_of]
    return _climb(q, problem, n_labels @ q.log_pi())


def sticks_38(q: MeanField, problem: Problem) -> MeanField:
    """Equation 38: the product of the means of log s and log pi for their difference."""
    log_scale = q.scales.log_scale(problem.rows)[problem.row_of]
    return _climb(q, problem, np.sum(log_scale * q.log_pi(), axis=0))


def _climb(q: MeanField, problem: Problem, first: np.ndarray) -> MeanField:
    """Step along the printed gradient, where `first` is the first term in its braces (T,)."""
    prior = q.alpha * q.root()
    braces = first - np.sum(q.shape / q.rate, axis=0) + problem.lengths.size * digamma(prior)
    slopes = slopes_given(-braces, q) - (q.gamma - 1.0) / (1.0 - q.sticks)
    step = LARGEST_STEP * slopes / np.abs(slopes).max(initial=1e-300)
    return q._replace(sticks=np.clip(q.sticks + step, LEAST_STICK, 1.0 - LEAST_STICK))


def documents_48(q: MeanField, problem: Problem) -> MeanField:
    """Equation 48: the rate of pi has its own last value as a factor."""
    return _documents(q, problem, q.rate * q.scales.inverse(problem.rows)[problem.row_of])


def documents_37(q: MeanField, problem: Problem) -> MeanField:
    """Equation 37: the mean of log s for that of 1 / s.

    Raises
    ------
    ValueError
        The rate of a gamma law would not be positive.
    """
    return _documents(q, problem, q.scales.log_scale(problem.rows)[problem.row_of])


def _documents(q: MeanField, problem: Problem, scale: np.ndarray) -> MeanField:
    xi = np.sum(q.shape / q.rate, axis=1)
    rate = scale + problem.lengths[:, None] / xi[:, None]
    if not np.all(rate > 0.0):
        d, k = np.argwhere(~(rate > 0.0))[0]
        raise ValueError(
            f"variant 'published': expected positive rates of pi, found {rate[d, k]:.3g} in document {d}, "
            f"topic {k}: Equation 37, as printed, does not see to that; the default variant does"
        )
    return q._replace(shape=q.alpha * q.root() + q.doc_topic, rate=rate, xi=xi)


def printed_for(q: MeanField) -> dict[str, Update]:
    """Return printed updates that differ from the corrected ones, by what they are in place of."""
    if isinstance(q.scales, InverseGamma):
        return {"sticks": sticks_30}
    return {"sticks": sticks_38, "documents": documents_37}

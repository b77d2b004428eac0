"""The law of responses given linear predictors, in plain NumPy.

A number is normal about its predictor, and categories have odds. In the place of a likelihood, categories
that are told apart by a margin have the factor

    phi(y) = exp(-2 c sum_p max(0, margin - s_p psi_p)),    s_p = 1 if predictor p is of category y, else -1

(Zhu, Chen, Perkins and Zhang 2014, Section 3), at most 1, whose sum over y depends on the predictors.
Of two categories the second alone has a predictor; of more, each has one. Given predictors the law of y is
phi(y) / sum phi, which is that of odds, too: the logarithm of phi is, up to a part that y plays no role in,
the sum over predictors of category y of 2c (max(0, margin + psi) - max(0, margin - psi)).
"""

from collections.abc import Iterator

import numpy as np

from .responses import Response


def parts(
    responses: tuple[Response, ...], predictors: np.ndarray
) -> Iterator[tuple[int, Response, np.ndarray, int]]:
    """Yield each response, its predictors (n, ·), and its place among the numbers."""
    number = first = 0
    for r, response in enumerate(responses):
        yield r, response, predictors[:, first : first + response.n_predictors], number
        number += response.is_number
        first += response.n_predictors


def log_odds(response: Response, predictors: np.ndarray) -> np.ndarray:
    """Log probabilities of categories at a response's predictors (…, ·), up to a constant, float (…, C)."""
    if response.hinge is not None:
        cost, margin = response.hinge
        right, wrong = np.maximum(0.0, margin - predictors), np.maximum(0.0, margin + predictors)
        predictors = 2.0 * cost * (wrong - right)
    n_without = len(response.values) - response.n_predictors
    return np.concatenate([np.zeros((*predictors.shape[:-1], n_without)), predictors], axis=-1)


def log_category(response: Response, predictors: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Log probability of category y (n,), or log phi, at predictors (…, n, ·), float (…, n)."""
    odds = log_odds(response, predictors)
    of_value = odds[..., np.arange(len(y)), y.astype(int)]
    if response.hinge is None:
        return of_value - np.logaddexp.reduce(odds, axis=-1)
    return of_value - _loss_of_none(response, predictors)


def log_total(response: Response, predictors: np.ndarray) -> np.ndarray:
    """Log of the sum of `log_category` over categories, at predictors (…, ·), float (…)."""
    if response.hinge is None:
        return np.zeros(predictors.shape[:-1])
    total = np.logaddexp.reduce(log_odds(response, predictors), axis=-1)
    return total - _loss_of_none(response, predictors)


def log_largest_total(response: Response) -> float:
    """Largest value that `log_total` takes.

    The sum of phi is convex in each predictor between -margin and margin, and falls with its size beyond
    them, so that it is largest where all are at the ends. With m of C predictors at the upper end, and
    q = exp(-4 c margin), it is m q^(m - 1) + (C - m) q^(m + 1): largest for m of 0 or 1.
    """
    if response.hinge is None:
        return 0.0
    n, q = len(response.values), np.exp(-4.0 * response.hinge.cost * response.hinge.margin)
    return float(np.log(1.0 + q if n == 2 else max(n * q, 1.0 + (n - 1) * q**2)))


def _loss_of_none(response: Response, predictors: np.ndarray) -> np.ndarray:
    """Minus log phi of a document in none of the categories that have predictors."""
    assert response.hinge is not None
    cost, margin = response.hinge
    return 2.0 * cost * np.maximum(0.0, margin + predictors).sum(axis=-1)


def log_likelihood(
    responses: tuple[Response, ...], values: np.ndarray, predictors: np.ndarray, noise_precision: np.ndarray
) -> np.ndarray:
    """Log probability, or factor, of the responses of documents, those together that one has, float (n,).

    Parameters
    ----------
    responses : tuple of Response
    values : float (n, R)
        NaN where there is none.
    predictors : float (n, P)
    noise_precision : float (numbers,)
    """
    out = np.zeros(len(values))
    for r, response, own, number in parts(responses, predictors):
        known = np.flatnonzero(~np.isnan(values[:, r]))
        y = values[known, r]
        if response.is_number:
            precision = noise_precision[number]
            out[known] += 0.5 * (np.log(precision / (2.0 * np.pi)) - precision * (y - own[known, 0]) ** 2)
        else:
            out[known] += log_category(response, own[known], y)
    return out


def draw(
    responses: tuple[Response, ...],
    predictors: np.ndarray,
    noise_precision: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw all responses of documents, float (n, R); arguments as in `log_likelihood`."""
    out = np.empty((len(predictors), len(responses)))
    for r, response, own, number in parts(responses, predictors):
        if response.is_number:
            out[:, r] = own[:, 0] + rng.standard_normal(len(own)) / np.sqrt(noise_precision[number])
        else:
            noise = rng.gumbel(size=(len(own), len(response.values)))
            out[:, r] = np.argmax(log_odds(response, own) + noise, axis=1)
    return out

"""The law of responses given linear predictors, in plain NumPy."""

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


def logits(predictors: np.ndarray) -> np.ndarray:
    """Log odds of all categories against the first, float (n, C), from those of all but the first."""
    return np.pad(predictors, ((0, 0), (1, 0)))


def log_likelihood(
    responses: tuple[Response, ...], values: np.ndarray, predictors: np.ndarray, noise_precision: np.ndarray
) -> np.ndarray:
    """Log probability of the responses of documents, those together that one has, float (n,).

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
            odds = logits(own[known])
            of_value = odds[np.arange(known.size), y.astype(int)]
            out[known] += of_value - np.logaddexp.reduce(odds, axis=1)
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
            out[:, r] = np.argmax(logits(own) + rng.gumbel(size=(len(own), len(response.values))), axis=1)
    return out

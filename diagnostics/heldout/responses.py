"""Which response a new document has, given its words; for models of documents with responses."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from ...zoo.corpus import Corpus
from ...zoo.families.responses.family import RespondingFamily
from ...zoo.families.responses.predictive import RespondingPredictive
from ...zoo.families.responses.responses import Response, covariate_of, is_known, response_matrix
from ...zoo.inference import corpus_of, model_of
from .labels import NO_VALUE, OTHER_VALUE, PredictedLabels, tells_value
from .scores import posterior_predictives

BURN_IN, SWEEPS = 20, 10
"""Over the words of a new document at each draw: dropped, kept."""

INTERVAL = 0.9
"""Probability of the intervals of numbers."""


@dataclass(frozen=True)
class PredictedNumbers:
    """Predictions of one number.

    Attributes
    ----------
    mean, low, high : float (D,)
        Posterior predictive mean, and the ends of the interval of probability `INTERVAL`.
    truth : float (D,)
        What the document is known to have; NaN where that is nothing.
    n_draws : int
        Posterior draws.
    """

    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    truth: np.ndarray
    n_draws: int

    @property
    def r_squared(self) -> float:
        """Share of the variance of the known numbers that the means explain; NaN where they do not vary."""
        known = ~np.isnan(self.truth)
        y = self.truth[known]
        variance = np.sum((y - y.mean()) ** 2) if y.size else 0.0
        return float(1.0 - np.sum((y - self.mean[known]) ** 2) / variance) if variance > 0.0 else np.nan

    @property
    def covered(self) -> float:
        """Share of the known numbers that are in their intervals; NaN where there is none."""
        known = ~np.isnan(self.truth)
        inside = (self.low <= self.truth) & (self.truth <= self.high)
        return float(inside[known].mean()) if known.any() else np.nan


def predict_response(
    tree: xr.DataTree,
    documents: Corpus,
    name: str,
    *,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> PredictedLabels | PredictedNumbers:
    """Law of a response of new documents, given their words alone.

    At each kept draw the topics of the new tokens are sampled, and the law of the response is averaged over
    draws and sweeps.

    Parameters
    ----------
    tree : DataTree
        Fit of a model of responses, with group ``latents``.
    documents : Corpus
        In terms of the vocabulary of the fit. Whatever they have of responses is not looked at.
    name : str
        Of the response.
    seed : int
    progress : (draws) -> None, optional
        Called after each posterior draw.

    Raises
    ------
    ValueError
        The fit is of another model, has no such response, or holds no latents; or its topics differ between
        groups that the documents do not have.
    """
    training, model = corpus_of(tree), model_of(tree)
    if not isinstance(model, RespondingFamily):
        raise ValueError(f"expected a fit of a model of responses, found one of {model.card.id}")
    responses = model.responses(training)
    r = _place(name, responses, training)
    rng, found = np.random.default_rng(seed), []
    for predictive in posterior_predictives(tree, documents):
        assert isinstance(predictive, RespondingPredictive)
        predictive.check(documents)
        predictors = predictive.predictors(documents, rng, burn_in=BURN_IN, sweeps=SWEEPS)
        if responses[r].is_number:
            found.append(predictive.draw_numbers(predictors, r, rng))
        else:
            found.append(predictive.probabilities(predictors, r).mean(axis=1))
        if progress is not None:
            progress(len(found))
    if not found:
        raise ValueError("expected a fit that holds latents, found none (keep=0)")
    truth, tells = np.full(documents.n_documents, np.nan), np.zeros(documents.n_documents, bool)
    if is_known(responses[r], documents):
        own = (responses[r],)
        truth = response_matrix(own, documents, model.label, documents.n_documents)[:, 0]
        tells = tells_value(documents, covariate_of(responses[r], documents))
    if responses[r].is_number:
        drawn = np.concatenate(found, axis=1)
        low, high = np.quantile(drawn, [0.5 - 0.5 * INTERVAL, 0.5 + 0.5 * INTERVAL], axis=1)
        return PredictedNumbers(drawn.mean(axis=1), low, high, truth, len(found))
    probability = np.mean(found, axis=0)
    with np.errstate(divide="ignore"):
        log_p = np.log(probability)
    unknown = np.where(tells, OTHER_VALUE, NO_VALUE)
    place = np.where(np.isnan(truth), unknown, truth).astype(int)
    return PredictedLabels(responses[r].values, log_p, probability, place, len(found))


def _place(name: str, responses: Sequence[Response], training: Corpus) -> int:
    """Which response is meant by its name or, where that leaves no doubt, by its covariate alone."""
    names = [response.name for response in responses]
    if name in names:
        return names.index(name)
    same = [r for r, response in enumerate(responses) if covariate_of(response, training) == name]
    if len(same) != 1:
        raise ValueError(f"expected a response of the fit, found {name!r}; there are {', '.join(names)}")
    return same[0]

"""Topics that are expected under labels, and a map of both."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr
from scipy import sparse

from ...zoo.corpus import Corpus
from ...zoo.corpus.labels import Column
from ...zoo.families.labelled import GivenLabels
from ...zoo.inference.results import latents_of
from ..heldout.labels import require_labels
from .matching import MatchedTopics, match_topics
from .summaries import rank_words, tails

NO_LABEL = "no label"

ABOVE_MEAN = " + 1 sd"
"""What follows the name of a label that is a number."""

ITERATIONS = 500

FARTHEST = 20.0
"""Distance of a label to a topic that it all but rules out."""


@dataclass(frozen=True, eq=False)
class TopicsUnderLabels:
    """Expected shares of topics in new documents, given their labels.

    Sizes: S kept draws, R rows of labels, K topics as `match_topics` numbers them.

    Attributes
    ----------
    rows : tuple of str
        Labels of each row; the first is that of documents without labels.
    words : tuple of str (K,)
        Of the topics.
    share : float (S, R, K)
        Zero where a draw lacks the topic.
    """

    rows: tuple[str, ...]
    words: tuple[str, ...]
    share: np.ndarray

    @property
    def lift(self) -> np.ndarray:
        """How many times as much of a topic is expected as without labels, float (R, K).

        The ratio of the mean shares: zero for a topic that the labels rule out in every draw.
        """
        mean = self.share.mean(axis=0)
        return np.divide(mean, mean[0], out=np.ones_like(mean), where=mean[0] > 0.0)

    def table(self, interval: float = 0.9) -> pd.DataFrame:
        """Return a row for each label and topic: expected ``share`` and its interval, ``lift``, ``words``."""
        mean = self.share.mean(axis=0)
        low, high = np.quantile(self.share, tails(interval), axis=0)
        lift, n_topics = self.lift, len(self.words)
        return pd.DataFrame(
            {
                "label": np.repeat(self.rows, n_topics),
                "topic": np.tile(np.arange(n_topics), len(self.rows)),
                "share": mean.ravel(),
                "share_low": low.ravel(),
                "share_high": high.ravel(),
                "lift": lift.ravel(),
                "words": np.tile(self.words, len(self.rows)),
            }
        )


def topics_under_labels(
    fit: xr.DataTree | MatchedTopics, given: Sequence[str] = (), n_words: int = 10
) -> TopicsUnderLabels:
    """Tell which topics are expected in new documents, given chosen labels or each label alone.

    Parameters
    ----------
    fit : DataTree or MatchedTopics
        Of a model with labels.
    given : sequence of str
        Labels that a document has, each as ``NAME=VALUE``; of a covariate that holds sets there may be
        several. Unless given, each label alone; a number then is one standard deviation above its mean.
    n_words : int
        Most words of each topic.

    Raises
    ------
    ValueError
        The fit is of another model, or has no such labels.
    ResultsError
        It has no kept draw.
    """
    matched = match_topics(fit)
    model = require_labels(matched.model)
    columns = model.columns(matched.corpus)
    if given:
        names, rows = (", ".join(given),), row_of(given, columns, _sets(matched.corpus))[None]
    else:
        names = tuple(f"{c.name}{ABOVE_MEAN}" if c.is_number else c.name for c in columns)
        rows = np.eye(len(columns))
    labels = sparse.csr_array(np.vstack([np.zeros((1, len(columns))), rows]))
    share = np.zeros((len(matched.labels), 1 + len(rows), matched.n_topics))
    for s, (own, (_, _, latents)) in enumerate(zip(matched.labels, latents_of(matched.fit), strict=True)):
        predictive = model.predictive(latents, matched.corpus)
        assert isinstance(predictive, GivenLabels)
        theta, kept = predictive.proportions(labels), own >= 0
        share[s][:, own[kept]] = theta[:, : own.size][:, kept]
    vocabulary = np.asarray(matched.corpus.vocabulary)
    words = tuple(" ".join(vocabulary[ids].tolist()) for ids in rank_words(matched, n_words))
    return TopicsUnderLabels((NO_LABEL, *names), words, share)


def _sets(corpus: Corpus) -> frozenset[str]:
    """Covariates of which a document may have several values."""
    return frozenset(name for name, values in corpus.covariates.items() if sparse.issparse(values))


def row_of(
    given: Sequence[str], columns: tuple[Column, ...], sets: frozenset[str] = frozenset()
) -> np.ndarray:
    """Labels, float (J,), that are told as ``NAME=VALUE``, several of the covariates in `sets` alone.

    Raises
    ------
    ValueError
        There is no such label, or no document can have these together.
    """
    row, before = np.zeros(len(columns)), set[str]()
    for told in given:
        name, _, value = (part.strip() for part in told.partition("="))
        own = [j for j, column in enumerate(columns) if column.covariate == name]
        if not own or not value:
            known = ", ".join(dict.fromkeys(column.covariate for column in columns)) or "none"
            raise ValueError(
                f"given: expected NAME=VALUE of a label of the fit, found {told!r}; there are {known}"
            )
        categories = {columns[j].value: j for j in own if not columns[j].is_number}
        numbers = [j for j in own if columns[j].is_number]
        if name in before and name not in sets:
            raise ValueError(f"given: {name}: expected one value of it, found another, {told!r}")
        before.add(name)
        is_flag = list(categories) == ["True"]  # its other value has no column
        category = value.capitalize() if is_flag else value
        if category in categories:
            row[categories[category]] = 1.0
        elif categories and not numbers and not (is_flag and category == "False"):
            known = "True or False" if is_flag else f"one of {', '.join(categories)}"
            raise ValueError(f"given: {name}: expected {known}, found {value!r}")
        for j in numbers:
            row[j] = (_number(name, value) - columns[j].mean) / columns[j].deviation
    return row


def _number(name: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = np.nan
    if not np.isfinite(number):
        raise ValueError(f"given: {name}: expected a number, found {value!r}")
    return number


def map_of(found: TopicsUnderLabels, topics: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Place labels and topics in a plane, near each other where a label makes much of a topic.

    By multi-dimensional scaling. A label and a topic are as far apart as one over the topic's lift under the
    label, as in simulated data of Kim and Oh, where w is one over a distance; two labels, or two topics, as
    their shortest way over one of the other kind.

    Parameters
    ----------
    found : TopicsUnderLabels
        Of each label alone.
    topics : int (n,)
        Which topics.

    Returns
    -------
    float (R - 1, 2), float (n, 2)
    """
    across = 1.0 / np.maximum(found.lift[1:, topics], 1.0 / FARTHEST)
    n_labels = len(across)
    between_labels = (across[:, None, :] + across[None, :, :]).min(axis=2)
    between_topics = (across.T[:, None, :] + across.T[None, :, :]).min(axis=2)
    distance = np.block([[between_labels, across], [across.T, between_topics]])
    np.fill_diagonal(distance, 0.0)
    places = _scaled(distance)
    return places[:n_labels], places[n_labels:]


def _scaled(distance: np.ndarray) -> np.ndarray:
    """Places in a plane, float (n, 2), of points at given distances, by steps that lower the stress [1]_.

    References
    ----------
    .. [1] J. de Leeuw (1977). Applications of convex analysis to multidimensional scaling.
    """
    places = _classical(distance)
    for _ in range(ITERATIONS):
        apart = np.linalg.norm(places[:, None] - places, axis=2)
        ratio = np.divide(distance, apart, out=np.zeros_like(apart), where=apart > 1e-12)
        places = (np.diag(ratio.sum(axis=1)) - ratio) @ places / len(places)
    return places


def _classical(distance: np.ndarray) -> np.ndarray:
    """Classical scaling, float (n, 2): where the steps start."""
    centred = distance**2 - (distance**2).mean(axis=0)
    values, vectors = np.linalg.eigh(-0.5 * (centred - centred.mean(axis=1, keepdims=True)))
    return vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0.0))

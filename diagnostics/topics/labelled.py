"""Topics by label: how much of each label's documents they make up, and the coefficients of a regression."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy import sparse

from ...zoo.families.labelled import LabelledModel
from ...zoo.inference.results import latents_of
from .matching import MatchedTopics, match_topics
from .summaries import rank_words, tails

COEFFICIENTS = {"dmr": "log_factor"}
"""Latent that holds regression coefficients, by model: a row a label, after the intercepts if it has any."""

INTERCEPT = "(intercept)"


def topics_by_label(
    fit: xr.DataTree | MatchedTopics, n_words: int = 8, *, interval: float = 0.9
) -> pd.DataFrame:
    """Topics of each label, the largest first.

    Parameters
    ----------
    fit : DataTree or MatchedTopics
        Of a model whose documents have labels.
    n_words : int
        Most words of each topic.
    interval : float
        Posterior probability of the intervals.

    Returns
    -------
    DataFrame
        A row for each ``label`` and ``topic``: its ``share`` of the tokens of documents that have the label,
        mean over draws, with interval ``share_low`` to ``share_high``; where the model is a regression, its
        ``coefficient`` in the same way; and its ``words``. A label that is a number has no share.

    Raises
    ------
    ValueError
        The model has no labels, or the corpus of the fit has none.
    """
    matched = match_topics(fit)
    model, corpus = matched.model, matched.corpus
    if not isinstance(model, LabelledModel):
        raise ValueError(f"{model.label}: expected a fit of a model with labels, found one without")
    columns = model.columns(corpus)
    if not columns:
        raise ValueError(f"{model.label}: expected a corpus with labels, found none")
    is_number = np.array([column.is_number for column in columns])
    labels = model.labels_of(corpus, corpus.n_documents)
    shares = np.array(list(_shares(matched, labels)))
    shares[:, is_number] = np.nan
    names = [column.name for column in columns]
    words = [" ".join(corpus.vocabulary[ids].tolist()) for ids in rank_words(matched, n_words)]
    table = _long(shares, names, interval, "share")
    table["words"] = [words[k] for k in table["topic"]]
    if model.card.id in COEFFICIENTS:
        found = coefficients(matched, interval=interval)
        table = found.merge(table, on=["label", "topic"], how="left").drop(columns="words")
        table["words"] = [words[k] for k in table["topic"]]
    order = {name: i for i, name in enumerate([INTERCEPT, *names])}
    return (
        table.assign(place=[order[name] for name in table["label"]])
        .sort_values(["place", "share", "topic"], ascending=[True, False, True], kind="stable")
        .drop(columns="place")
        .reset_index(drop=True)
    )


def coefficients(fit: xr.DataTree | MatchedTopics, *, interval: float = 0.9) -> pd.DataFrame:
    """Regression coefficients of labels, a row for each ``label`` and ``topic``.

    Parameters
    ----------
    fit : DataTree or MatchedTopics
    interval : float
        Posterior probability of the intervals.

    Returns
    -------
    DataFrame
        ``label``, ``topic``, ``coefficient``, its mean over draws, ``coefficient_low`` and
        ``coefficient_high``. Of a number, the change with one standard deviation.

    Raises
    ------
    ValueError
        The model is no regression on labels.
    """
    matched = match_topics(fit)
    if matched.model.card.id not in COEFFICIENTS:
        raise ValueError(
            f"{matched.model.label}: expected a regression ({', '.join(COEFFICIENTS)}), found another model"
        )
    name = COEFFICIENTS[matched.model.card.id]
    values = np.array(list(_by_topic(matched, name)))
    names = [column.name for column in matched.model.columns(matched.corpus)]  # type: ignore[attr-defined]
    return _long(values, [INTERCEPT, *names][-values.shape[1] :], interval, "coefficient")


def _by_topic(matched: MatchedTopics, name: str) -> Iterator[np.ndarray]:
    """Latent `name` (rows, K_s) of each draw, topics under the numbers of their matches (rows, K)."""
    for labels, (_, _, latents) in zip(matched.labels, latents_of(matched.fit), strict=True):
        out = np.full((len(latents[name]), matched.n_topics), np.nan)
        out[:, labels[labels >= 0]] = latents[name][:, labels >= 0]
        yield out


def _shares(matched: MatchedTopics, labels: Any) -> Iterator[np.ndarray]:
    """Share of each topic in the tokens of documents with each label, float (J, K), of each draw."""
    shape, has_label = (labels.shape[0], matched.n_topics), (labels.T != 0).astype(float)
    for z in matched.assigned:
        known = z >= 0
        cells = (np.ones(np.count_nonzero(known)), (matched.corpus.doc_of[known], z[known]))
        counts = (has_label @ sparse.csr_array(cells, shape=shape)).toarray()
        yield counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)


def _long(values: np.ndarray, names: list[str], interval: float, what: str) -> pd.DataFrame:
    """Mean and interval over draws of values (S, J, K), a row for each pair of name and topic."""
    n_topics = values.shape[2]
    low, high = np.quantile(values, tails(interval), axis=0)
    return pd.DataFrame(
        {
            "label": np.repeat(np.array(names, object), n_topics),
            "topic": np.tile(np.arange(n_topics), len(names)),
            what: values.mean(axis=0).ravel(),
            f"{what}_low": low.ravel(),
            f"{what}_high": high.ravel(),
        }
    )

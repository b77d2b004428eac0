"""Topics by label: how much of each label's documents they make up, and the coefficients of a regression."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from scipy import sparse

from ...zoo.contract import Model
from ...zoo.corpus import Corpus
from ...zoo.families.labelled import LabelledModel
from ...zoo.families.responses.family import RespondingFamily
from ...zoo.inference.results import latents_of
from .matching import MatchedTopics, match_topics
from .summaries import rank_words, tails

COEFFICIENTS = {
    "dmr": "log_factor",
    "slda": "coefficient",
    "shdp": "coefficient",
    "medlda": "coefficient",
}
"""Latent that holds regression coefficients, by model: a row a label, after the intercepts if it has any."""

INTERCEPT = "(intercept)"


class Labels(NamedTuple):
    """What the topics of a model are shown by: labels of documents, or categories and numbers that respond.

    Attributes
    ----------
    names : list of str
    has : sparse (D, J)
        Not zero where a document has a label.
    is_number : bool (J,)
        Whether it is none that documents have or lack.
    """

    names: list[str]
    has: Any
    is_number: np.ndarray


def labels_of(model: Model, corpus: Corpus) -> Labels:
    """Labels of a fit, or its responses: of a number one, of categories all but the baseline.

    Raises
    ------
    ValueError
        The model has neither, or the corpus has none.
    """
    if isinstance(model, LabelledModel):
        columns = model.columns(corpus)
        found = Labels(
            [column.name for column in columns],
            model.labels_of(corpus, corpus.n_documents),
            np.array([column.is_number for column in columns], bool),
        )
    elif isinstance(model, RespondingFamily):
        found = _of_responses(model, corpus)
    else:
        raise ValueError(f"{model.label}: expected a model with labels or responses, found one without")
    if not found.names:
        raise ValueError(f"{model.label}: expected a corpus with labels, found none")
    return found


def _of_responses(model: RespondingFamily, corpus: Corpus) -> Labels:
    """Return a label for each linear predictor."""
    names, has, is_number = [], [], []
    values = model.values_of(corpus, corpus.n_documents)
    for response, own in zip(model.responses(corpus), values.T, strict=True):
        if response.is_number:
            names.append(response.name)
            has.append(np.zeros(len(own)))
        for category in response.predicted:
            names.append(f"{response.name}: {category}")
            has.append(own == response.values.index(category))
        is_number += [response.is_number] * response.n_predictors
    has = np.reshape(has, (len(names), corpus.n_documents)).T
    return Labels(names, sparse.csr_array(has.astype(float)), np.array(is_number, bool))


def topics_by_label(
    fit: xr.DataTree | MatchedTopics, n_words: int = 8, *, interval: float = 0.9
) -> pd.DataFrame:
    """Topics of each label, the largest first.

    Parameters
    ----------
    fit : DataTree or MatchedTopics
        Of a model whose documents have labels, or responses.
    n_words : int
        Most words of each topic.
    interval : float
        Posterior probability of the intervals.

    Returns
    -------
    DataFrame
        A row for each ``label`` and ``topic``: its ``share`` of the tokens of documents that have the label,
        mean over draws, with interval ``share_low`` to ``share_high``; where the model is a regression, its
        ``coefficient`` in the same way; and its ``words``. A label that is a number has no share, and its
        topics are in the order of their coefficients.

    Raises
    ------
    ValueError
        The model has no labels, or the corpus of the fit has none.
    """
    matched = match_topics(fit)
    model, corpus = matched.model, matched.corpus
    names, has, is_number = labels_of(model, corpus)
    shares = np.array(list(_shares(matched, has)))
    shares[:, is_number] = np.nan
    words = [" ".join(corpus.vocabulary[ids].tolist()) for ids in rank_words(matched, n_words)]
    table = _long(shares, names, interval, "share")
    table["words"] = [words[k] for k in table["topic"]]
    if model.card.id in COEFFICIENTS:
        found = coefficients(matched, interval=interval)
        table = found.merge(table, on=["label", "topic"], how="left").drop(columns="words")
        table["words"] = [words[k] for k in table["topic"]]
    order = {name: i for i, name in enumerate([INTERCEPT, *names])}
    size = table["share"] if "coefficient" not in table else table["share"].fillna(table["coefficient"])
    return (
        table.assign(place=[order[name] for name in table["label"]], size=size)
        .sort_values(["place", "size", "topic"], ascending=[True, False, True], kind="stable")
        .drop(columns=["place", "size"])
        .reset_index(drop=True)
    )


def coefficients(fit: xr.DataTree | MatchedTopics, *, interval: float = 0.9) -> pd.DataFrame:
    """Regression coefficients of labels or responses, a row for each ``label`` and ``topic``.

    Parameters
    ----------
    fit : DataTree or MatchedTopics
    interval : float
        Posterior probability of the intervals.

    Returns
    -------
    DataFrame
        ``label``, ``topic``, ``coefficient``, its mean over the draws that have the topic,
        ``coefficient_low`` and ``coefficient_high``. Of a number in `dmr`, the change with one standard
        deviation; of one in `slda`, `shdp` and `medlda`, what it is in a document of this topic alone, less
        the intercept.

    Raises
    ------
    ValueError
        The model is no regression.
    """
    matched = match_topics(fit)
    if matched.model.card.id not in COEFFICIENTS:
        raise ValueError(
            f"{matched.model.label}: expected a regression ({', '.join(COEFFICIENTS)}), found another model"
        )
    name = COEFFICIENTS[matched.model.card.id]
    values = np.array(list(_by_topic(matched, name)))
    names = labels_of(matched.model, matched.corpus).names
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
    n_tokens = has_label @ matched.corpus.doc_lengths  # also those of topics without a match
    for z in matched.assigned:
        known = z >= 0
        cells = (np.ones(np.count_nonzero(known)), (matched.corpus.doc_of[known], z[known]))
        counts = (has_label @ sparse.csr_array(cells, shape=shape)).toarray()
        yield counts / np.maximum(n_tokens, 1.0)[:, None]


def _long(values: np.ndarray, names: list[str], interval: float, what: str) -> pd.DataFrame:
    """Mean and interval over draws of values (S, J, K), a row for each pair of name and topic.

    NaN is left out, as of a topic that a draw does not have; where all are, so are mean and interval.
    """
    n_topics, of_pair = values.shape[2], values.reshape(len(values), -1)
    seen = ~np.isnan(of_pair).all(axis=0)
    found = np.full((3, of_pair.shape[1]), np.nan)
    found[0, seen] = np.nanmean(of_pair[:, seen], axis=0)
    found[1:, seen] = np.nanquantile(of_pair[:, seen], tails(interval), axis=0)
    return pd.DataFrame(
        {
            "label": np.repeat(np.array(names, object), n_topics),
            "topic": np.tile(np.arange(n_topics), len(names)),
            what: found[0],
            f"{what}_low": found[1],
            f"{what}_high": found[2],
        }
    )

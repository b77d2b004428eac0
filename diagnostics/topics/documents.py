"""Topic proportions of a fit's own documents, and topics of their tokens."""

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
import pandas as pd
import xarray as xr

from ...zoo.corpus import Corpus
from ...zoo.toolbox.laws import doc_topic_counts
from .matching import MatchedTopics, match_topics
from .summaries import SAMPLES, Summary, tails

BLOCK = 1024
"""Documents whose draws are held at once."""


def documents(fit: xr.DataTree | MatchedTopics, *, interval: float = 0.9, seed: int = 0) -> Summary:
    """Topic proportions of the documents that a model was fitted to.

    Parameters
    ----------
    fit : DataTree or MatchedTopics
    interval : float
        Posterior probability of the intervals.
    seed : int
        Of the draws behind the intervals.

    Returns
    -------
    Summary
        Documents by topics, float (D, K). The mean is the probability that one more token of the document has
        the topic, given also what else the model knows of it, such as its labels; what is missing from a sum
        of 1 is that of topics without a match, or without any token. Intervals are of the proportions, θ.
    """
    return joined(document_blocks(fit, interval=interval, seed=seed))


def document_blocks(
    fit: xr.DataTree | MatchedTopics, *, interval: float = 0.9, seed: int = 0
) -> Iterator[Summary]:
    """Yield what `documents` returns, some documents at a time, so that no table of all need be held.

    Parameters
    ----------
    fit, interval, seed
        As for `documents`.
    """
    matched = match_topics(fit)
    corpus, n_topics = matched.corpus, matched.n_topics
    names = document_names(corpus)
    drawn = list(matched.proportions())
    samples = -(-SAMPLES // len(drawn))
    rng = np.random.default_rng(seed)
    for start in range(0, corpus.n_documents, BLOCK):
        here = slice(start, min(start + BLOCK, corpus.n_documents))
        mean = np.zeros((here.stop - start, n_topics))
        theta = np.zeros((len(drawn), samples, *mean.shape))
        for s, (labels, law) in enumerate(drawn):
            mean += relabelled(law.mean(here), labels, n_topics)
            theta[s] = relabelled(law.draw(here, samples, rng), labels, n_topics)
        ends = np.quantile(theta.reshape(-1, *mean.shape), tails(interval), axis=0)
        yield summary_of_documents(mean / len(drawn), ends[0], ends[1], names[here])


def joined(blocks: Iterable[Summary]) -> Summary:
    """One summary of all documents."""
    return Summary(*(pd.concat(tables) for tables in zip(*blocks, strict=True)))


def relabelled(values: np.ndarray, labels: np.ndarray, n_topics: int) -> np.ndarray:
    """Columns of `values` at the numbers of their topics, (…, K); zero where a topic is missing."""
    out = np.zeros((*values.shape[:-1], n_topics))
    out[..., labels[labels >= 0]] = values[..., : labels.size][..., labels >= 0]
    return out


def summary_of_documents(mean: np.ndarray, low: np.ndarray, high: np.ndarray, index: pd.Index) -> Summary:
    """Tables of documents by topics."""
    columns = pd.RangeIndex(mean.shape[1], name="topic")
    return Summary(*(pd.DataFrame(values, index=index, columns=columns) for values in (mean, low, high)))


def document_names(corpus: Corpus) -> pd.Index:
    """Index of the documents: their files where the corpus knows them, else their numbers."""
    files = corpus.covariates.get("file")
    if isinstance(files, np.ndarray) and files.ndim == 1 and files.dtype.kind == "U":
        return pd.Index(files.tolist(), name="document")
    return pd.RangeIndex(corpus.n_documents, name="document")


def tokens(fit: xr.DataTree | MatchedTopics) -> pd.DataFrame:
    """Topic of each token.

    Returns
    -------
    DataFrame
        A row a token, in the order of the corpus: its ``document``, its ``word``, the ``topic`` that it has
        most often, -1 for one without a match, and in what part of the kept draws, ``probability``.
    """
    matched = match_topics(fit)
    corpus = matched.corpus
    in_order = np.sort(matched.assigned, axis=0)
    run = np.ones(corpus.n_tokens, np.int64)
    topic, longest = in_order[0].copy(), run.copy()
    for before, now in pairwise(in_order):
        run = np.where(now == before, run + 1, 1)
        topic = np.where(run > longest, now, topic)
        longest = np.maximum(run, longest)
    return pd.DataFrame(
        {
            "document": document_names(corpus).to_numpy()[corpus.doc_of],
            "word": corpus.vocabulary[corpus.words],
            "topic": topic,
            "probability": longest / len(in_order),
        }
    )


def representatives(
    fit: xr.DataTree | MatchedTopics, n_documents: int = 3, *, interval: float = 0.9
) -> pd.DataFrame:
    """Documents that are surely about a topic: those with the highest lower ends of its intervals.

    By the mean alone, a document of two words would do.

    Returns
    -------
    DataFrame
        Columns ``topic``, ``document``, ``mean``, ``low`` and ``high``; most representative first.
    """
    matched = match_topics(fit)
    found = documents(matched, interval=interval)
    low, mean = found.low.to_numpy(), found.mean.to_numpy()
    rows = [
        (topic, document)
        for topic in range(matched.n_topics)
        for document in np.lexsort((-mean[:, topic], -low[:, topic]))[:n_documents]
    ]
    names = found.mean.index
    return pd.DataFrame(
        [(k, names[d], found.mean.iat[d, k], found.low.iat[d, k], found.high.iat[d, k]) for k, d in rows],
        columns=["topic", "document", "mean", "low", "high"],
    )


def correlations(fit: xr.DataTree | MatchedTopics) -> pd.DataFrame:
    """Correlations of topics over documents.

    Returns
    -------
    DataFrame
        Topics by topics: Pearson's correlation of their shares of a document's tokens, the mean over kept
        draws in which both vary; NaN where there is none.
    """
    matched = match_topics(fit)
    corpus, n_topics = matched.corpus, matched.n_topics
    filled = corpus.doc_lengths > 0
    drawn = np.full((len(matched.labels), n_topics, n_topics), np.nan)
    for s, (labels, z) in enumerate(matched.draws()):
        counts = relabelled(doc_topic_counts(z, corpus, labels.size), labels, n_topics)
        shares = counts[filled] / corpus.doc_lengths[filled][:, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            drawn[s] = np.corrcoef(shares, rowvar=False).reshape(n_topics, n_topics)
    known = np.isfinite(drawn)
    total = np.where(known, drawn, 0.0).sum(axis=0)
    mean = np.divide(total, known.sum(axis=0), out=np.full(total.shape, np.nan), where=known.any(axis=0))
    axis = pd.RangeIndex(n_topics, name="topic")
    return pd.DataFrame(mean, index=axis, columns=axis)

"""Topics and their words as tables: posterior means with intervals."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from ...zoo.arguments import whole_number
from ...zoo.contract import FrozenTopics
from ...zoo.corpus import Corpus
from ...zoo.memory import require_memory
from ..coherence import top_words
from .matching import MatchedTopics, match_topics
from .own_labels import own_labels

ORDERS = ("probability", "relevance", "lift")
"""What words of a topic can be ranked by."""


SAMPLES = 200
"""Draws behind an interval, at least."""


class Summary(NamedTuple):
    """Posterior means, and the ends of intervals of equal tails; three tables with the same axes."""

    mean: pd.DataFrame
    low: pd.DataFrame
    high: pd.DataFrame


def tails(interval: float) -> tuple[float, float]:
    """Probabilities of the two ends of an interval; ValueError unless `interval` is in (0, 1)."""
    if not 0.0 < interval < 1.0:
        raise ValueError(f"interval: expected a probability between 0 and 1, found {interval}")
    return (1.0 - interval) / 2.0, (1.0 + interval) / 2.0


def topics(
    fit: xr.DataTree | MatchedTopics, n_words: int = 10, *, by: str = "probability", interval: float = 0.9
) -> pd.DataFrame:
    """Topics of a fit, the largest first.

    Parameters
    ----------
    fit : DataTree or MatchedTopics
    n_words : int
        Most words of each topic.
    by : {"probability", "relevance", "lift"}
        What ranks the words; see `rank_words`.
    interval : float
        Posterior probability of the intervals.

    Returns
    -------
    DataFrame
        A row a topic, by number: ``tokens`` and ``documents`` that have it, means over draws; its ``share``
        of the tokens with interval ``share_low`` to ``share_high``; ``found``, the part of the kept draws
        that have it; ``stability`` over chains (see `MatchedTopics.stability`); and its ``words``. First its
        ``label``, where labels have topics of their own.
    """
    matched = match_topics(fit)
    low, high = np.quantile(matched.sizes, tails(interval), axis=0) / matched.corpus.n_tokens
    order = rank_words(matched, n_words, by=by)
    vocabulary, labels = matched.corpus.vocabulary, own_labels(matched)
    return pd.DataFrame(
        ({} if labels is None else {"label": labels})
        | {
            "tokens": matched.sizes.mean(axis=0),
            "share": matched.sizes.mean(axis=0) / matched.corpus.n_tokens,
            "share_low": low,
            "share_high": high,
            "documents": _documents_with(matched),
            "found": matched.found.mean(axis=0),
            "stability": matched.stability(),
            "words": [" ".join(vocabulary[ids].tolist()) for ids in order],
        },
        index=pd.RangeIndex(matched.n_topics, name="topic"),
    )


def _documents_with(matched: MatchedTopics) -> np.ndarray:
    """Mean number of documents with a token of each topic, float (K,)."""
    n_documents, n_topics = matched.corpus.n_documents, matched.n_topics
    total = np.zeros(n_topics)
    for z in matched.assigned:
        cells = np.unique(matched.corpus.doc_of[z >= 0] * n_topics + z[z >= 0])
        total += np.bincount(cells % n_topics, minlength=n_topics)
    return total / len(matched.assigned) if n_documents else total


def topic_words(fit: xr.DataTree | MatchedTopics, *, interval: float = 0.9) -> Summary:
    """Probability of words under topics.

    Returns
    -------
    Summary
        Topics by words. The mean is the probability that one more token of the topic is the word; where
        groups have versions of a topic, the mean over its tokens. For intervals see `word_intervals`.
    """
    matched = match_topics(fit)
    every = np.broadcast_to(np.arange(matched.corpus.n_words), (matched.n_topics, matched.corpus.n_words))
    ends = word_intervals(matched, every, interval)
    names = matched.corpus.vocabulary
    return Summary(*(_table(values, names) for values in (word_probabilities(matched), *ends)))


def word_intervals(
    matched: MatchedTopics, ids: np.ndarray, interval: float = 0.9, *, seed: int = 0
) -> np.ndarray:
    """Intervals of the probabilities of some words of each topic.

    Where topics are Dirichlet given the topics of the tokens, intervals are of the posterior of their words:
    a word's is a mixture of beta distributions, one for each kept draw that has the topic. Elsewhere they
    are of the mean given each draw, and somewhat short.

    Parameters
    ----------
    matched : MatchedTopics
    ids : int (n_topics, n)
        Words; those of the first topics.
    interval : float
    seed : int
        Of the draws from these mixtures.

    Returns
    -------
    float (2, n_topics, n)
    """
    ends = tails(interval)
    n_draws, (n_topics, n) = len(matched.labels), ids.shape
    repeats = -(-SAMPLES // n_draws)
    require_memory(8 * n_draws * n_topics * n, f"intervals of {n:,} words of {n_topics:,} topics")
    mean, total = np.full((n_draws, n_topics, n), np.nan), np.full((n_draws, n_topics), np.inf)
    for s, (labels, z, frozen) in enumerate(matched.frozen()):
        words = _over_groups(frozen, z, matched.corpus)
        for row, k in enumerate(labels):
            if 0 <= k < n_topics:
                mean[s, k] = words[row, ids[k]]
                if frozen.concentration is not None:
                    total[s, k] = frozen.concentration[row]
    rng = np.random.default_rng(seed)
    out = np.empty((2, n_topics, n))
    for k in range(n_topics):
        drawn, scale = mean[matched.found[:, k], k], total[matched.found[:, k], k, None]
        if np.isfinite(scale).all():
            rest = np.maximum((1.0 - drawn) * scale, np.finfo(float).tiny)  # none, where there is one word
            drawn = rng.beta(drawn * scale, rest, (repeats, *drawn.shape)).reshape(-1, n)
        out[:, k] = np.quantile(drawn, ends, axis=0)
    return out


def _table(values: np.ndarray, words: np.ndarray) -> pd.DataFrame:
    index = pd.RangeIndex(len(values), name="topic")
    return pd.DataFrame(values, index=index, columns=pd.Index(words.tolist(), name="word"))


def word_probabilities(fit: xr.DataTree | MatchedTopics) -> np.ndarray:
    """Posterior mean probability of each word under each topic, float (K, V); see `topic_words`."""
    matched = match_topics(fit)
    total = np.zeros((matched.n_topics, matched.corpus.n_words))
    for labels, words in words_of_draws(matched):
        total[labels[labels >= 0]] += words[labels >= 0]
    return total / matched.found.sum(axis=0)[:, None]


def words_of_draws(matched: MatchedTopics) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield labels and word distributions (K_s, V) of each draw."""
    for labels, z, frozen in matched.frozen():
        yield labels, _over_groups(frozen, z, matched.corpus)[: labels.size]


def _over_groups(frozen: FrozenTopics, z: np.ndarray, corpus: Corpus) -> np.ndarray:
    """Word distributions of the topics, the mean over their tokens where groups have their own, (K, V)."""
    if frozen.words.ndim == 2:
        return frozen.words
    n_groups, n_topics = frozen.words.shape[:2]
    tokens = np.zeros((n_groups, n_topics))
    np.add.at(tokens, (corpus.group_of_doc[corpus.doc_of], z), 1.0)
    tokens[:, ~tokens.any(axis=0)] = 1.0
    return np.einsum("gk,gkv->kv", tokens / tokens.sum(axis=0), frozen.words)


def rank_words(
    fit: xr.DataTree | MatchedTopics, n_words: int = 10, *, by: str = "probability", weight: float = 0.6
) -> np.ndarray:
    """Ids of the first words of each topic, int (K, n).

    Parameters
    ----------
    fit : DataTree or MatchedTopics
    n_words : int
    by : {"probability", "relevance", "lift"}
        Lift is the probability of a word in the topic over that in the corpus; relevance the mean of the
        logarithms of probability and lift (Sievert & Shirley 2014, eq. 1).
    weight : float
        Of the probability in the relevance, λ in [0, 1].

    Raises
    ------
    ValueError
        `by` is none of these, `weight` is out of range, or `n_words` below 1.
    """
    if by not in ORDERS:
        raise ValueError(f"by: expected one of {', '.join(ORDERS)}, found {by!r}")
    if not 0.0 <= weight <= 1.0:
        raise ValueError(f"weight: expected a number from 0 to 1, found {weight}")
    whole_number("n_words", n_words, 1)
    matched = match_topics(fit)
    probability = word_probabilities(matched)
    weight = {"probability": 1.0, "relevance": weight, "lift": 0.0}[by]
    return top_words(relevance(probability, matched.corpus, weight), n_words)


def ranked_words(
    fit: xr.DataTree | MatchedTopics, n_words: int = 10, *, by: str = "probability", interval: float = 0.9
) -> pd.DataFrame:
    """First words of each topic.

    Returns
    -------
    DataFrame
        Columns ``topic``, ``rank`` from 1, ``word``, its ``probability`` with interval ``low`` to ``high``
        (see `word_intervals`), and its ``lift``; see `rank_words`.
    """
    matched = match_topics(fit)
    order = rank_words(matched, n_words, by=by)
    low, high = word_intervals(matched, order, interval)
    probability = word_probabilities(matched)
    lift = np.exp(relevance(probability, matched.corpus, 0.0))
    topic = np.repeat(np.arange(len(order)), order.shape[1])
    ids = order.ravel()
    return pd.DataFrame(
        {
            "topic": topic,
            "rank": np.tile(np.arange(1, order.shape[1] + 1), len(order)),
            "word": matched.corpus.vocabulary[ids],
            "probability": probability[topic, ids],
            "low": low.ravel(),
            "high": high.ravel(),
            "lift": lift[topic, ids],
        }
    )


def relevance(probability: np.ndarray, corpus: Corpus, weight: float) -> np.ndarray:
    """Relevance of words to topics (K, V), ``λ log φ_kw + (1 - λ) log(φ_kw / p_w)``.

    Parameters
    ----------
    probability : float (K, V)
        φ.
    corpus : Corpus
        Its word frequencies are p; 1 for words that it does not hold, which come last.
    weight : float
        λ.
    """
    frequency = np.bincount(corpus.words, minlength=corpus.n_words) / corpus.n_tokens
    return np.log(probability) - (1.0 - weight) * np.log(np.where(frequency > 0, frequency, 1.0))


def number_of_topics(fit: xr.DataTree) -> pd.DataFrame:
    """Posterior of the number of topics that have tokens, over all draws.

    Returns
    -------
    DataFrame
        A row a number, from the smallest to the largest drawn: its probability in all chains together, column
        ``probability``, and in each of them, ``chain 0``, ….
    """
    drawn = fit["posterior"].dataset["n_topics"].transpose("chain", "draw").values.astype(int)
    numbers = np.arange(drawn.min(), drawn.max() + 1)
    columns = {"probability": drawn.ravel()} | {f"chain {c}": own for c, own in enumerate(drawn)}
    return pd.DataFrame(
        {name: [np.mean(own == n) for n in numbers] for name, own in columns.items()},
        index=pd.Index(numbers, name="topics"),
    )

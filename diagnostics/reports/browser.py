"""A topic browser: one HTML file with what a fit found, to be explored without network."""

from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.spatial.distance import pdist, squareform

from ...zoo.corpus import Corpus
from ...zoo.wording import counted
from ..coherence import top_words
from ..compare import compare, labelled
from ..topics import MatchedTopics, documents, match_topics, number_of_topics, tokens, topics
from ..topics.summaries import tails, word_intervals, word_probabilities
from .fits import check_page
from .pages import WordNumbers, inert_json, rounded, write_explorer

_MOST_TOPICS, _MOST_WORDS, _MOST_BARS, _VERSION_WORDS = 100, 60, 20, 10
_WORDS, _DOCUMENTS, _TOKENS = 5_000, 240, 25_000
_DOCUMENTS_OF_TOPIC, _LONGEST_TEXT, _LONGEST_WORD = 20, 1_500, 300
_ACROSS, _DOWN = (10.0, 90.0), (9.0, 61.0)


def write_browser(path: str | Path, fit: xr.DataTree | MatchedTopics, *, interval: float = 0.9) -> None:
    """Write a page on which the topics of a fit can be explored.

    Topics as a map and a list, their words by relevance [1]_, documents with their topics, and groups side by
    side, all with intervals; and first, as in a report, whether the chains agree. The page is at most 500 kB,
    more only if there are thousands of groups. It loads nothing, and runs no script but its own: its content
    security policy names that by its hash, so that no text of the corpus can become another.

    Parameters
    ----------
    path : path
        The HTML file; replaced where it exists.
    fit : DataTree or MatchedTopics
        As `sample` returns it, with group ``latents``.
    interval : float
        Posterior probability of the intervals.

    Raises
    ------
    ValueError
        The fit has no kept draw, `interval` is out of range, or `path` is not the name of a page.

    References
    ----------
    .. [1] C. Sievert, K. Shirley (2014). LDAvis: a method for visualizing and interpreting topics. Workshop
       on Interactive Language Learning, Visualization, and Interfaces.
    """
    check_page(path)
    matched = match_topics(fit)
    corpus, found = matched.corpus, _Found(matched, interval)
    write_explorer(
        path,
        "browser",
        matched,
        found.content,
        heading=f"{counted(matched.n_topics, 'topic')} of {counted(corpus.n_documents, 'document')}",
        facts=_facts(matched),
        comparison=compare(labelled([matched.fit])),
        interval=f"{100.0 * interval:.3g}%",
        has_groups=corpus.n_groups > 1,
        n_omitted=matched.n_topics - found.n_topics,
        documents_note=_documents_note(corpus),
    )


class _Found:
    """What the page can tell of a fit; `content` chooses from it what it has room for."""

    def __init__(self, matched: MatchedTopics, interval: float):
        self.corpus = matched.corpus
        self.n_topics = min(matched.n_topics, _MOST_TOPICS)
        self.frequency = np.bincount(self.corpus.words, minlength=self.corpus.n_words)
        self.probability = word_probabilities(matched)[: self.n_topics]
        self.words = top_words(np.where(self.frequency > 0, self.probability, 0.0), _MOST_WORDS)
        self.word_ends = word_intervals(matched, self.words, interval)
        self.topics = topics(matched, interval=interval).iloc[: self.n_topics]
        self.proportions = documents(matched, interval=interval)
        self.tokens = tokens(matched)
        self.numbers = number_of_topics(matched.fit)
        self.places = _map(self.probability)
        self.groups = _shares_of_groups(matched, interval)
        self.versions = _versions(matched)

    def content(self, scale: float) -> str:
        """JSON of the page's data, of a size that goes with `scale`."""
        n_words = max(10, int(scale * _WORDS / self.n_topics))
        words = WordNumbers()
        content = {
            "topics": [self._topic(k, n_words, words) for k in range(self.n_topics)],
            "documents": [self._document(d, has_text, words) for d, has_text in self._documents(scale)],
            "groups": [] if self.corpus.group_names is None else self.corpus.group_names.tolist(),
            "numbers": _bars(self.numbers),
            "tokens": self.corpus.n_tokens,
        }
        vocabulary = {
            "words": [_shortened(word) for word in self.corpus.vocabulary[words.ids].tolist()],
            "frequency": self.frequency[words.ids].tolist(),
        }
        return inert_json(content | vocabulary)

    def _topic(self, k: int, n_words: int, words: "WordNumbers") -> dict[str, Any]:
        row = self.topics.iloc[k]
        low, high = self.word_ends[:, k]
        return {
            "share": rounded([row["share"], row["share_low"], row["share_high"]]),
            "stability": None if np.isnan(row["stability"]) else rounded(row["stability"]),
            "found": rounded(row["found"]),
            "place": rounded(self.places[k]),
            "words": [
                [words[w], *rounded([self.probability[k, w], a, b])]
                for w, a, b in islice(zip(self.words[k], low, high, strict=True), n_words)
                if self.frequency[w] > 0
            ],
            "groups": rounded(self.groups[:, k].tolist()) if len(self.groups) else [],
            "versions": self._versions_of(k, words),
        }

    def _versions_of(self, k: int, words: "WordNumbers") -> list[list[int]] | None:
        return None if self.versions is None else [[words[w] for w in own] for own in self.versions[k]]

    def _document(self, d: int, has_text: bool, words: "WordNumbers") -> dict[str, Any]:
        mean, low, high = (table.to_numpy()[d, : self.n_topics] for table in self.proportions)
        large = [k for k in np.argsort(-mean, kind="stable")[:8] if mean[k] >= 0.01]
        name = self.proportions.mean.index[d]
        return {
            "name": name if isinstance(name, str) else f"document {name}",
            "length": int(self.corpus.doc_lengths[d]),
            "group": None if self.corpus.group is None else int(self.corpus.group_of_doc[d]),
            "topics": [[int(k), *rounded([mean[k], low[k], high[k]])] for k in large],
            "text": self._text(d, words) if has_text else None,
        }

    def _text(self, d: int, words: "WordNumbers") -> list[list[float]]:
        """Word, topic and certainty of each token: in reading order, or else by topic."""
        here = slice(self.corpus.doc_ptr[d], self.corpus.doc_ptr[d + 1])
        found = self.tokens.iloc[here].assign(word=self.corpus.words[here])
        if not self.corpus.in_order:
            found = found.sort_values(["topic", "word"], kind="stable")
        topic = np.where(found["topic"] < self.n_topics, found["topic"], -1)
        rows = zip(found["word"], topic.tolist(), found["probability"].round(2), strict=True)
        return [[words[w], k, p] for w, k, p in rows]

    def _documents(self, scale: float) -> Iterator[tuple[int, bool]]:
        """Documents surely about a topic, for each topic in turn, and whether there is room for the text."""
        low = self.proportions.low.to_numpy()[:, : self.n_topics]
        ranked = np.argsort(-low, axis=0, kind="stable")
        in_turn = dict.fromkeys(d for row in ranked[:_DOCUMENTS_OF_TOPIC].tolist() for d in row)
        room = scale * _TOKENS
        for d in islice(in_turn, max(1, int(scale * _DOCUMENTS))):
            length = int(self.corpus.doc_lengths[d])
            has_text = length <= min(room, _LONGEST_TEXT)
            room -= length if has_text else 0
            yield d, has_text


def _bars(table: pd.DataFrame) -> list[list[float]]:
    """First and last number of each bar, and its probability: few bars, all as wide, and none left out."""
    numbers = table.index.to_numpy(int)
    widths = (step * 10**power for power in count() for step in (1, 2, 5))
    width = next(w for w in widths if numbers.max() // w - numbers.min() // w < _MOST_BARS)
    bars = numbers // width
    found = np.bincount(bars - bars.min(), table["probability"])
    return [[bar * width, (bar + 1) * width - 1, rounded(p)] for bar, p in enumerate(found, int(bars.min()))]


def _shortened(word: str) -> str:
    """Word, or the beginning of what is longer than any: such as addresses, or what is coded in letters."""
    return word if len(word) <= _LONGEST_WORD else f"{word[: _LONGEST_WORD - 1]}…"


def _map(probability: np.ndarray) -> np.ndarray:
    """Places of topics (K, V), float (K, 2), such that those with similar words are close.

    Principal coordinates of the Jensen-Shannon distances, as in LDAvis (Gower 1966).
    """
    squared = squareform(pdist(probability, "jensenshannon")) ** 2
    centred = squared - squared.mean(axis=0)
    values, vectors = np.linalg.eigh(-0.5 * (centred - centred.mean(axis=1, keepdims=True)))
    places = np.zeros((len(probability), 2))
    axes = np.argsort(-values)[:2]
    places[:, : axes.size] = vectors[:, axes] * np.sqrt(np.maximum(values[axes], 0.0))
    return np.column_stack([_stretched(places[:, 0], *_ACROSS), _stretched(places[:, 1], *_DOWN)])


def _stretched(x: np.ndarray, low: float, high: float) -> np.ndarray:
    """Copy of `x` from `low` to `high`; in the middle where all are equal."""
    width = np.ptp(x)
    return low + (x - x.min()) * (high - low) / width if width > 1e-9 else np.full(x.size, (low + high) / 2)


def _shares_of_groups(matched: MatchedTopics, interval: float) -> np.ndarray:
    """Shares of groups' tokens that topics have, with intervals, float (G, K, 3); none for one group."""
    corpus = matched.corpus
    if corpus.n_groups == 1:
        return np.zeros((0, matched.n_topics, 3))
    group = corpus.group_of_doc[corpus.doc_of]
    size = np.maximum(np.bincount(group, minlength=corpus.n_groups), 1)[:, None]
    drawn = np.zeros((len(matched.assigned), corpus.n_groups, matched.n_topics))
    for counts, z in zip(drawn, matched.assigned, strict=True):
        np.add.at(counts, (group[z >= 0], z[z >= 0]), 1.0)
        counts /= size
    return np.stack([drawn.mean(axis=0), *np.quantile(drawn, tails(interval), axis=0)], axis=-1)


def _versions(matched: MatchedTopics) -> np.ndarray | None:
    """Most probable words of topics by group, int (K, G, n), where groups have versions of them."""
    if not matched.model.has_versions or matched.corpus.n_groups == 1:
        return None
    total = np.zeros((matched.corpus.n_groups, matched.n_topics, matched.corpus.n_words))
    for labels, _, frozen in matched.frozen():
        total[:, labels[labels >= 0]] += frozen.words[:, : labels.size][:, labels >= 0]
    return np.stack([top_words(own, _VERSION_WORDS) for own in total], axis=1)


def _facts(matched: MatchedTopics) -> dict[str, str]:
    corpus = matched.corpus
    facts = {
        "documents": f"{corpus.n_documents:,}",
        "tokens": f"{corpus.n_tokens:,}",
        "vocabulary": f"{corpus.n_words:,}",
        "chains": str(matched.fit["posterior"].sizes["chain"]),
        "draws matched": str(len(matched.labels)),
    }
    return facts | ({"groups": str(corpus.n_groups)} if corpus.n_groups > 1 else {})


def _documents_note(corpus: Corpus) -> str:
    order = "in reading order" if corpus.in_order else "by topic, as the corpus does not have their order"
    return f"Open one for its words, {order}; words that are not in the vocabulary are not shown."

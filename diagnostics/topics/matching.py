"""Topics matched across draws and chains, by the tokens that they share.

The numbers of topics mean nothing: two chains that agree number the same topics differently, and one chain
renumbers its own. But all draws speak of the same tokens. So topics of two draws are matched such that as
many tokens as possible stay in their topic, which is a problem of optimal assignment [1]_.

References
----------
.. [1] D. F. Crouse (2016). On implementing 2D rectangular assignment algorithms. IEEE Transactions on
   Aerospace and Electronic Systems 52(4):1679-1696. `scipy.optimize.linear_sum_assignment`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import xarray as xr
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from ...zoo.contract import FrozenTopics, Model
from ...zoo.corpus import Corpus
from ...zoo.families.labels.own_topics import OwnTopicsFamily
from ...zoo.families.lda.seeded import Seeded
from ...zoo.inference.results import ResultsError, corpus_of, latents_of, model_of
from ...zoo.predictive import NewProportions, Proportions
from ...zoo.toolbox.new_documents import DirichletOfNew


@dataclass(frozen=True, eq=False)
class MatchedTopics:
    """Topics of all kept draws of a fit under one numbering, the largest first; see `match_topics`.

    The topics are those of a reference draw. A topic of another draw has the number of its match, or -1 where
    it has none. Sizes: S kept draws of all chains, C chains, K topics, N tokens, V words.

    Attributes
    ----------
    fit : DataTree
    model : Model
    corpus : Corpus
    chain : int (S,)
        Chain of each draw.
    labels : tuple of int (K_s,)
        Number of each topic of each draw.
    n_topics : int
        K.
    """

    fit: xr.DataTree
    model: Model
    corpus: Corpus
    chain: np.ndarray
    labels: tuple[np.ndarray, ...]
    n_topics: int

    def draws(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the labels (K_s,) of the topics of each draw, and ``z`` (N,)."""
        for labels, (_, _, latents) in zip(self.labels, latents_of(self.fit), strict=True):
            yield labels, latents["z"]

    def frozen(self) -> Iterator[tuple[np.ndarray, np.ndarray, FrozenTopics]]:
        """Yield labels, ``z`` and the frozen topics of each draw, of which the first have labels."""
        for labels, (_, _, latents) in zip(self.labels, latents_of(self.fit), strict=True):
            yield labels, latents["z"], self.model.frozen_topics(latents, self.corpus)

    def new_proportions(self) -> Iterator[tuple[np.ndarray, NewProportions]]:
        """Yield labels and the law of new documents' topic proportions of each draw."""
        for labels, (_, _, latents) in zip(self.labels, latents_of(self.fit), strict=True):
            law = self.model.new_proportions(latents, self.corpus)
            yield labels, DirichletOfNew(law) if isinstance(law, FrozenTopics) else law

    def proportions(self) -> Iterator[tuple[np.ndarray, Proportions]]:
        """Yield labels and the law of the documents' topic proportions of each draw."""
        for labels, (_, _, latents) in zip(self.labels, latents_of(self.fit), strict=True):
            yield labels, self.model.own_proportions(latents, self.corpus)

    @cached_property
    def assigned(self) -> np.ndarray:
        """Topic of each token at each draw, int32 (S, N); -1 for a topic without a match."""
        return np.array([labels[z] for labels, z in self.draws()], np.int32)

    @cached_property
    def found(self) -> np.ndarray:
        """Whether a draw has a topic, bool (S, K)."""
        topics = np.arange(self.n_topics)
        return np.array([np.isin(topics, labels) for labels in self.labels])

    @cached_property
    def sizes(self) -> np.ndarray:
        """Tokens of each topic at each draw, int (S, K)."""
        return np.array([np.bincount(z[z >= 0], minlength=self.n_topics) for z in self.assigned])

    def stability(self) -> np.ndarray:
        """How alike the chains' versions of a topic are, float (K,); NaN where there is one chain.

        The part of its words that a topic has in common in two chains, ``sum_w min(p_w, q_w)``, where p and q
        are the words of the tokens that have it in the draws of each chain; the mean over pairs of chains. It
        is 1 where the chains have the same words in the same proportions, and 0 where they share none, or
        where only one of the two has the topic.
        """
        chains = np.unique(self.chain)
        if chains.size < 2:
            return np.full(self.n_topics, np.nan)
        words = [self._words_in(self.assigned[self.chain == c]) for c in chains]
        common = [a.minimum(b).sum(axis=1) for a, b in combinations(words, 2)]
        return np.mean(common, axis=0)

    def _words_in(self, assigned: np.ndarray) -> sparse.csr_array:
        """Distribution of the words of the tokens of each topic in some draws, (K, V)."""
        words = np.broadcast_to(self.corpus.words, assigned.shape)[assigned >= 0]
        topics = assigned[assigned >= 0]
        counts = sparse.csr_array(
            (np.ones(words.size), (topics, words)), shape=(self.n_topics, self.corpus.n_words)
        )
        totals = np.maximum(counts.sum(axis=1), 1.0)
        return sparse.csr_array(counts.multiply(1.0 / totals[:, None]))


def match_topics(fit: xr.DataTree | MatchedTopics) -> MatchedTopics:
    """Match the topics of all kept draws of a fit.

    The reference is the last kept draw of the chain whose last draw agrees best with those of the others, so
    that an odd chain does not decide what topics there are; of two chains, the more probable one. Where the
    number of topics is fixed, every topic has a match. Else a topic and its match share at least half of the
    tokens of the smaller of the two. Topics with seeds are their own matches, and keep the numbers that the
    model gives them; the others have those that are left, the largest first. Where labels have topics of
    their own, a topic and its match belong to the same label.

    Parameters
    ----------
    fit : DataTree
        As `sample` returns it, with group ``latents``. Matched topics are returned as they are.

    Raises
    ------
    ResultsError
        The fit has no kept draw.
    """
    if isinstance(fit, MatchedTopics):
        return fit
    model, corpus = model_of(fit), corpus_of(fit)
    label = model.label_of_topic(model.n_alphas(corpus)) if isinstance(model, OwnTopicsFamily) else None
    drawn = [
        (chain, _Partition(latents["z"], model.n_topics_of(latents), label))
        for chain, _, latents in latents_of(fit)
    ]
    if not drawn:
        raise ResultsError(
            "topics: expected a fit with kept draws, found none; sample with keep of at least 1"
        )
    chain = np.array([c for c, _ in drawn])
    partitions = [partition for _, partition in drawn]
    reference = _most_typical(dict(drawn), fit["posterior"].dataset["log_joint"].mean("draw").to_numpy())
    is_fixed = model.kernel().with_room is None
    named = _named_topics(model)
    labels = [reference.labels_of(partition, is_fixed, named) for partition in partitions]
    sizes = np.zeros(reference.n_topics)
    for own, partition in zip(labels, partitions, strict=True):
        np.add.at(sizes, own[own >= 0], partition.sizes[own >= 0])
    rank = np.empty(reference.n_topics, np.int64)
    rank[named] = named
    others = np.setdiff1d(np.arange(reference.n_topics), named)
    rank[others[np.argsort(-sizes[others], kind="stable")]] = others
    ordered = tuple(np.where(own >= 0, rank[own], -1) for own in labels)
    # topics that masks have on, and no token has at any draw, are in no draw's labels
    n_topics = reference.n_topics if is_fixed else int(np.count_nonzero(sizes))
    return MatchedTopics(fit, model, corpus, chain, ordered, n_topics)


def _named_topics(model: Model) -> list[int]:
    """Topics that the model itself tells apart: those with seeds."""
    side = getattr(model, "topics", None)
    seeds = side.seeds if isinstance(side, Seeded) else ()
    return [k for k, words in enumerate(seeds) if words]


class _Partition:
    """Tokens of one draw by topic; topics may belong to labels, which are the same in all draws."""

    def __init__(self, z: np.ndarray, n_topics: int, label: np.ndarray | None = None):
        self.z, self.n_topics, self.label = z, n_topics, label
        self.sizes = np.bincount(z, minlength=n_topics)

    def shared_with(self, other: "_Partition") -> np.ndarray:
        """Tokens in topic k here and in topic l there, int (K, L); less than none where labels differ."""
        cells = self.z * other.n_topics + other.z
        shared = np.bincount(cells, minlength=self.n_topics * other.n_topics).reshape(self.n_topics, -1)
        if self.label is not None:
            shared[self.label[:, None] != other.label] = -self.z.size - 1
        return shared

    def agreement(self, other: "_Partition") -> int:
        """Tokens that stay in their topic when topics are matched."""
        shared = self.shared_with(other)
        return int(shared[linear_sum_assignment(shared, maximize=True)].sum())

    def labels_of(self, other: "_Partition", is_fixed: bool, named: Sequence[int] = ()) -> np.ndarray:
        """Topic here of each topic there, int (L,); -1 where it has no match. Those `named` are their own."""
        shared = self.shared_with(other)
        for k in named:
            shared[k, k] += self.z.size + 1  # worth more than all else together
        here, there = linear_sum_assignment(shared, maximize=True)
        smaller = np.minimum(self.sizes[here], other.sizes[there])
        is_match = is_fixed | (2 * shared[here, there] >= np.maximum(smaller, 1))
        labels = np.full(other.n_topics, -1)
        labels[there[is_match]] = here[is_match]
        return labels


def _most_typical(last: dict[int, _Partition], log_joint: np.ndarray) -> _Partition:
    """Of the chains' last draws, the one that agrees most with all others; of equals, by `log_joint` (C,)."""
    total = dict.fromkeys(last, 0)
    for a, b in combinations(last, 2):
        agreement = last[a].agreement(last[b])
        total[a] += agreement
        total[b] += agreement
    return last[max(total, key=lambda c: (total[c], log_joint[c]))]

"""Topics that are proposed and accepted, where the sparse sweep weighs them: what it gains with many topics.

    python -m benchmarks.proposals [--tokens 10000000] [--topics 1000 10000] [--seconds 60]

LightLDA and WarpLDA (Yuan et al. 2015; Chen et al. 2016) draw a token's topic in constant time: from those of
its document, then from those of its word, each accepted as Metropolis and Hastings say. What they propose
from is some time old, and was made with the token's own topic in it, so that the steps leave no posterior
alone. Here they do: documents are cut into shards, and while those of one shard move, proposals are made from
the topics of the others, which stand still. Fixed hyperparameters; `lda` for comparison.

``speed``: million tokens per CPU-second from the topics that made the corpus. ``mixing``: the log joint
density after so many CPU-seconds, from topics drawn at random. Prints what it finds, on corpora of
`benchmarks.scale`; it first checks the sampler against an enumerated posterior.
"""

import argparse
import itertools
import time
from typing import Any, NamedTuple

import bnpzoo
import numba
import numpy as np
from scipy.stats import chi2

from .scale import ETA, MASS, conditions, zipf_corpus

SHARDS = 8
"""Of documents. A proposal does not know of the topics in a shard, one part in so many of all."""

ROOM = 4
"""Slots of a word in the table of counts for each of its tokens: half are free at the end of a sweep."""

FALSE_ALARM_RATE = 1e-5


class WordTopics(NamedTuple):
    """Counts of words in topics, a hash table a word, or a row of all topics where that is smaller.

    Attributes
    ----------
    start : int64 (V + 1,)
        Slots of word w are ``start[w]:start[w + 1]``: as many as there are topics, or a power of two.
    topic : int32 (S,)
        Of a slot; -1 where it is free.
    count, outside : int32 (S,)
        Tokens, and those of them outside of the shard whose tokens move.
    """

    start: np.ndarray
    topic: np.ndarray
    count: np.ndarray
    outside: np.ndarray


class Chain(NamedTuple):
    """Tokens, their topics, and what is counted of them.

    Attributes
    ----------
    words, topic : int32 (N,)
    doc_ptr : int64 (D + 1,)
    by_word : int32 (N,)
        Tokens in the order of their words.
    word_ptr : int64 (V + 1,)
    counts : WordTopics
    total : int64 (K,)
    """

    words: np.ndarray
    topic: np.ndarray
    doc_ptr: np.ndarray
    by_word: np.ndarray
    word_ptr: np.ndarray
    counts: WordTopics
    total: np.ndarray


def chain_of(corpus: Any, z: np.ndarray, n_topics: int) -> Chain:
    """Make a chain that starts with topics `z` (N,)."""
    words, sizes = corpus.words.astype(np.int32), np.bincount(corpus.words, minlength=corpus.n_words)
    room = np.minimum(2 ** np.ceil(np.log2(ROOM * np.maximum(sizes, 1))).astype(np.int64), n_topics)
    start = np.concatenate([[0], np.cumsum(room)])
    counts = WordTopics(
        start, np.full(start[-1], -1, np.int32), np.zeros(start[-1], np.int32), np.zeros(start[-1], np.int32)
    )
    for w in np.flatnonzero(room == n_topics):
        counts.topic[start[w] : start[w + 1]] = np.arange(n_topics)
    order = np.argsort(words, kind="stable").astype(np.int32)
    word_ptr = np.concatenate([[0], np.cumsum(sizes)])
    total = np.bincount(z, minlength=n_topics)
    chain = Chain(words, z.astype(np.int32), corpus.doc_ptr, order, word_ptr, counts, total)
    _count(chain)
    return chain


@numba.njit
def _count(chain):
    for i in range(chain.words.size):
        at = _slot(chain.counts, chain.words[i], chain.topic[i], chain.total.size, True)
        chain.counts.count[at] += 1
        chain.counts.outside[at] += 1


@numba.njit
def _slot(counts, word, topic, n_topics, takes):
    """Slot of a word and a topic; -1 where there is none, unless it `takes` one."""
    first, room = counts.start[word], counts.start[word + 1] - counts.start[word]
    if room == n_topics:
        return first + topic
    at = (topic * 0x9E3779B1) & (room - 1)
    while counts.topic[first + at] != topic:
        if counts.topic[first + at] < 0:
            if not takes:
                return -1
            counts.topic[first + at] = topic
        else:
            at = (at + 1) & (room - 1)
    return first + at


@numba.njit
def _tidy(counts, n_topics, spare):
    """Free the slots without tokens."""
    for w in range(counts.start.size - 1):
        first, last, n = counts.start[w], counts.start[w + 1], 0
        if last - first == n_topics:
            continue
        for at in range(first, last):
            if counts.count[at] > 0:
                spare[n, 0], spare[n, 1] = counts.topic[at], counts.count[at]
                n += 1
            counts.topic[at], counts.count[at], counts.outside[at] = -1, 0, 0
        for j in range(n):
            at = _slot(counts, w, spare[j, 0], n_topics, True)
            counts.count[at] = counts.outside[at] = spare[j, 1]


@numba.njit(error_model="numpy", boundscheck=False)
def sweep(rng, chain, alpha, eta, shards):
    """Move every token's topic twice: by a proposal of its document, then by one of its word."""
    words, topic, doc_ptr, by_word, word_ptr, counts, total = chain
    n_topics, n_words, n_documents = total.size, word_ptr.size - 1, doc_ptr.size - 1
    _tidy(counts, n_topics, np.empty((n_topics, 2), np.int32))
    mass, in_document = eta * n_words, np.zeros(n_topics, np.int32)
    before, inside = np.zeros(n_words, np.int32), np.zeros(n_words, np.int32)
    for s in range(shards):
        first, end = s * n_documents // shards, (s + 1) * n_documents // shards
        for i in range(doc_ptr[first], doc_ptr[end]):
            counts.outside[_slot(counts, words[i], topic[i], n_topics, False)] -= 1
            inside[words[i]] += 1
        for d in range(first, end):
            others = doc_ptr[d + 1] - doc_ptr[d] - 1
            for i in range(doc_ptr[d], doc_ptr[d + 1]):
                in_document[topic[i]] += 1
            for i in range(doc_ptr[d], doc_ptr[d + 1]):
                w, k = words[i], topic[i]
                at = _slot(counts, w, k, n_topics, False)
                counts.count[at] -= 1
                in_document[k] -= 1
                total[k] -= 1
                n, outside = counts.count[at], counts.outside[at]
                # One of the document's other tokens, or any topic: proposed by n_dk + alpha.
                u = rng.random() * (others + n_topics * alpha)
                if u < others:
                    j = doc_ptr[d] + int(u)
                    new = topic[j + 1 if j >= i else j]
                else:
                    new = min(int((u - others) / alpha), n_topics - 1)
                if new != k:
                    at = _slot(counts, w, new, n_topics, False)
                    n_new = counts.count[at] if at >= 0 else 0
                    ratio = (n_new + eta) * (total[k] + mass) / ((n + eta) * (total[new] + mass))
                    if rng.random() < ratio:
                        k, n, outside = new, n_new, counts.outside[at] if at >= 0 else 0
                # One of the word's tokens in other shards, or any topic: by their n_kw + eta.
                elsewhere = word_ptr[w + 1] - word_ptr[w] - inside[w]
                u = rng.random() * (elsewhere + n_topics * eta)
                if u < elsewhere:
                    j = int(u)
                    j += inside[w] if j >= before[w] else 0
                    new = topic[by_word[word_ptr[w] + j]]
                else:
                    new = min(int((u - elsewhere) / eta), n_topics - 1)
                if new != k:
                    at = _slot(counts, w, new, n_topics, False)
                    n_new = counts.count[at] if at >= 0 else 0
                    outside_new = counts.outside[at] if at >= 0 else 0
                    ratio = (n_new + eta) * (in_document[new] + alpha) * (total[k] + mass) * (outside + eta)
                    ratio /= (n + eta) * (in_document[k] + alpha) * (total[new] + mass) * (outside_new + eta)
                    if rng.random() < ratio:
                        k = new
                counts.count[_slot(counts, w, k, n_topics, True)] += 1
                in_document[k] += 1
                total[k] += 1
                topic[i] = k
            for i in range(doc_ptr[d], doc_ptr[d + 1]):
                in_document[topic[i]] = 0
        for i in range(doc_ptr[first], doc_ptr[end]):
            counts.outside[_slot(counts, words[i], topic[i], n_topics, True)] += 1
            if inside[words[i]] > 0:
                before[words[i]] += inside[words[i]]
                inside[words[i]] = 0


class Proposing:
    """A chain of the sampler of this file."""

    def __init__(self, corpus: Any, z: np.ndarray, n_topics: int):
        self.chain, self.rng = chain_of(corpus, z, n_topics), np.random.default_rng(1)

    def sweep(self) -> None:
        """Move all tokens."""
        sweep(self.rng, self.chain, MASS / self.chain.total.size, ETA, SHARDS)

    @property
    def topic(self) -> np.ndarray:
        """Topic of each token."""
        return self.chain.topic


class Weighing:
    """A chain of the default sampler of `lda`."""

    def __init__(self, corpus: Any, z: np.ndarray, n_topics: int):
        self.model = bnpzoo.get("lda", n_topics=n_topics, alpha=MASS / n_topics, eta=ETA)
        self.kernel, self.rng = self.model.kernel(), np.random.default_rng(1)
        self.state = self.kernel.load(self.model.start_at(z, corpus, self.rng), corpus, self.model)

    def sweep(self) -> None:
        """Move all tokens."""
        self.state = self.kernel.step(self.rng, self.state)

    @property
    def topic(self) -> np.ndarray:
        """Topic of each token."""
        return self.state.tokens.topic


SAMPLERS = {"proposals": Proposing, "sparse": Weighing}


def check(n_chains: int = 10_000, sweeps: int = 20) -> None:
    """Compare a long chain with the posterior of five tokens, by a test that fails one time in 100,000."""
    corpus = bnpzoo.Corpus([0, 1, 0, 1, 1], [0, 2, 3, 5], n_words=2)
    alpha, eta = 0.7, 0.5
    model = bnpzoo.get("lda", n_topics=2, alpha=alpha, eta=eta)
    places = [np.array(z) for z in itertools.product(range(2), repeat=5)]
    fixed = {"alpha": np.array(alpha), "eta": np.array(eta)}
    law = np.exp([model.log_joint({"z": z} | fixed, corpus) for z in places])
    law /= law.sum()
    rng, found = np.random.default_rng(0), np.zeros(law.size)
    for _ in range(n_chains):  # each from the posterior, so that draws are independent
        chain = chain_of(corpus, places[rng.choice(law.size, p=law)], 2)
        for _ in range(sweeps):
            sweep(rng, chain, alpha, eta, 2)
        found[int("".join(map(str, chain.topic)), 2)] += 1
    statistic = float(np.sum((found - n_chains * law) ** 2 / (n_chains * law)))
    p = float(chi2.sf(statistic, law.size - 1))
    print(f"check: {n_chains:,} chains of {sweeps} sweeps against {law.size} states, p = {p:.2g}")
    if p < FALSE_ALARM_RATE:
        raise AssertionError("the sampler does not leave the posterior alone")


def speed(n_tokens: int, n_topics: int, sweeps: int) -> None:
    """Tokens per CPU-second of both; sweeps take turns, so that noise hits both."""
    corpus, z = zipf_corpus(n_tokens, n_topics=n_topics)
    chains = {name: sampler(corpus, z, n_topics) for name, sampler in SAMPLERS.items()}
    found = {name: [] for name in chains}
    for _ in range(sweeps + 1):
        for name, chain in chains.items():
            started = time.process_time()
            chain.sweep()
            found[name].append(n_tokens / (time.process_time() - started) / 1e6)
    for name, speeds in found.items():
        print(f"K = {n_topics:,}, {name}: {np.median(speeds[1:]):.2f} million tokens per CPU-second")


def mixing(n_tokens: int, n_topics: int, seconds: float) -> None:
    """Log joint density after as many CPU-seconds, from random topics."""
    corpus, z = zipf_corpus(n_tokens, n_topics=n_topics)
    model = bnpzoo.get("lda", n_topics=n_topics, alpha=MASS / n_topics, eta=ETA)
    fixed = {"alpha": np.array(MASS / n_topics), "eta": np.array(ETA)}
    start = np.random.default_rng(2).integers(n_topics, size=n_tokens)
    made = model.log_joint({"z": z} | fixed, corpus)
    print(f"{n_tokens:,} tokens, K = {n_topics:,}: log joint {made:.5g} of the topics that made it")
    for name, sampler in SAMPLERS.items():
        chain, spent, n, told = sampler(corpus, start, n_topics), 0.0, 0, []
        for mark in (seconds / 4, seconds / 2, seconds):
            while spent < mark:
                started = time.process_time()
                chain.sweep()
                spent, n = spent + time.process_time() - started, n + 1
            told.append(f"{model.log_joint({'z': chain.topic} | fixed, corpus):.5g} after {n} sweeps")
        print(f"  {name}, {seconds / 4:.0f}, {seconds / 2:.0f} and {seconds:.0f} s: {', '.join(told)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=10_000_000)
    parser.add_argument("--topics", type=int, nargs="*", default=[1000, 10_000])
    parser.add_argument("--sweeps", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    check()
    for n_topics in options.topics:
        speed(options.tokens, n_topics, options.sweeps)
        mixing(options.tokens // 10, n_topics, options.seconds)
    print(conditions())


if __name__ == "__main__":
    main()

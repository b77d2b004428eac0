"""Time of a sweep on machines that nobody has asked yet, from cells that were measured here.

    python -m benchmarks.cluster [--tokens 10000000] [--gigabits 10]

Cells of `lda`'s parallel sampler are timed on the corpus of `benchmarks.scale`, cut into several numbers of
blocks. A cell's time goes by its tokens, the more the larger the lists of its words are, and by the tokens of
the documents that it enters, which are counted anew. A simulation then follows a sweep from event to event:
threads take cells, machines wait for each other at the end of a diagonal, blocks of words go on to the next
machine, shares are drawn. What it says of one machine with one thread and with two is compared with runs.
Prints what it finds; see docs/scale.md.

Such a cluster is no part of the package: there chains have threads on one machine.
"""

import argparse
import heapq
import os
import time
from typing import Any, NamedTuple
from unittest.mock import patch

import numba
import numpy as np
from bnpzoo.kernels.lda import parallel
from bnpzoo.kernels.toolbox import blocked
from bnpzoo.kernels.toolbox.blocked import enter, leave
from bnpzoo.kernels.toolbox.sides import scratch as empty_scratch
from bnpzoo.kernels.toolbox.threads import threads_a_sweep

from .scale import LENGTH, N_TOPICS, Sweeper, conditions, zipf_corpus

BLOCKS = (64, 32, 16, 8)
BYTES_A_TOKEN = 60
"""At the peak of a chain: measured in docs/scale.md with 100 million tokens."""

BYTES_AN_ENTRY = 8
"""Of the list of a word: a topic and how many of its tokens have it."""

LATENCY = 1e-4
"""Seconds until a message between machines begins to arrive."""


class Rates(NamedTuple):
    """Seconds of a thread.

    Attributes
    ----------
    entries, token : float (n,)
        For a token of a cell, by the entries of the lists of its block, in ascending order.
    entered : float
        For a token of a document that a cell enters.
    cell, share : float
        For a cell, whatever is in it, and for the share of a topic in a block.
    """

    entries: np.ndarray
    token: np.ndarray
    entered: float
    cell: float
    share: float

    def of_cells(self, cut: "Cut") -> np.ndarray:
        """Seconds of all cells (B, B)."""
        inside = np.interp(np.log(cut.entries / len(cut.tokens)), np.log(self.entries), self.token)
        return inside * cut.tokens + self.entered * cut.entered + self.cell


class Cut(NamedTuple):
    """A corpus in cells: tokens (B, B) of each, and of the documents it enters; entries of all lists."""

    tokens: np.ndarray
    entered: np.ndarray
    entries: float


class Cluster(NamedTuple):
    """Machines, with threads each, and bytes a second between two of them."""

    machines: int
    threads: int
    bandwidth: float


def cut_of(chain: Sweeper, corpus: Any) -> Cut:
    """Cells as the sampler has them."""
    cells, n_blocks = chain.state.topics.cells, len(chain.state.topics.share)
    tokens, entered = np.diff(cells.cell_ptr, axis=1), np.zeros((n_blocks, n_blocks))
    for shard in range(n_blocks):
        for block in range(n_blocks):
            inside = cells.order[cells.cell_ptr[shard, block] : cells.cell_ptr[shard, block + 1]]
            entered[shard, block] = LENGTH * np.unique(inside // LENGTH).size
    return Cut(tokens, entered, float(chain.state.topics.n_listed.sum()))


def timed_cells(chain: Sweeper, sweeps: int) -> np.ndarray:
    """Seconds of each cell (B, B), median over sweeps in one thread."""
    n_blocks, whole = len(chain.state.topics.share), parallel.cell_pass
    found = np.zeros((sweeps, n_blocks, n_blocks))
    for sweep in range(sweeps):

        def timed(*arguments: Any, seconds: np.ndarray = found[sweep]) -> None:
            started = time.perf_counter()
            whole(*arguments)
            seconds[arguments[-2:]] = time.perf_counter() - started

        with patch.object(parallel, "cell_pass", timed):
            chain.seconds()
    return np.median(found, axis=0)


def share_seconds(chain: Sweeper) -> float:
    """Seconds of one thread for the share of a topic in a block."""
    topics = chain.state.topics
    started = time.perf_counter()
    blocked.draw_shares(chain.rng, topics)
    return (time.perf_counter() - started) / topics.share.size


@numba.njit(nogil=True)
def enter_all(tokens, level, prior, scratch):
    """Enter all documents, as cells do, and leave them."""
    mass = 0.0
    for d in range(tokens.doc_ptr.size - 1):
        n_doc_topics, mass = enter(tokens, level, prior, scratch, d, mass)
        mass = leave(level, prior, scratch, n_doc_topics, mass)
    return mass


def entered_seconds(chain: Sweeper) -> float:
    """Seconds of one thread for a token of a document that is entered."""
    level, prior = np.ones(N_TOPICS), chain.state.documents.prior[0]
    for _ in range(2):  # the first one compiles
        started = time.perf_counter()
        enter_all(chain.state.tokens, level, prior, empty_scratch(N_TOPICS + 1))
        found = time.perf_counter() - started
    return found / chain.n_tokens


def cell_seconds() -> float:
    """Seconds of one thread for a cell with next to nothing in it."""
    corpus, z = zipf_corpus(LENGTH)
    return float(np.median(timed_cells(Sweeper(corpus, z, "parallel"), 20)))


def rates_of(chains: list[Sweeper], cuts: list[Cut], seconds: list[np.ndarray]) -> Rates:
    """Rates from all cells of all cuts, whose blocks have ever more words."""
    entered, cell = entered_seconds(chains[0]), cell_seconds()
    token = [
        (np.sum(took) - entered * cut.entered.sum() - cell * took.size) / cut.tokens.sum()
        for cut, took in zip(cuts, seconds, strict=True)
    ]
    entries = np.array([cut.entries / len(cut.tokens) for cut in cuts])
    return Rates(entries, np.array(token), entered, cell, share_seconds(chains[0]))


def simulated_sweep(cut: Cut, rates: Rates, cluster: Cluster, n_topics: int) -> tuple[float, float]:
    """Seconds of a sweep, and those of them in which all wait for messages.

    Machine m has the shards ``m B / M`` to ``(m + 1) B / M``. Between diagonals each shard hands its block on
    to the shard before it, which for one shard a machine is on another machine.
    """
    n_blocks, clock, waiting = len(cut.tokens), 0.0, 0.0
    per_machine = n_blocks // cluster.machines
    message = cut.entries / n_blocks * BYTES_AN_ENTRY + 8 * n_topics
    hops = int(np.ceil(np.log2(cluster.machines)))
    takes = rates.of_cells(cut)
    for diagonal in blocked.diagonals(n_blocks):
        drawing = rates.share * n_topics * np.ceil(per_machine / cluster.threads)
        if (
            cluster.machines > 1
        ):  # sums of the gamma variates of a topic, up a tree and down; then blocks go on
            exchange = 2 * hops * (LATENCY + 8 * n_topics / cluster.bandwidth)
            exchange += LATENCY + message / cluster.bandwidth
            waiting += exchange
            clock += exchange
        ends = []
        for machine in range(cluster.machines):
            free = [0.0] * cluster.threads  # when each thread can take the next cell
            for cell in diagonal[machine * per_machine : (machine + 1) * per_machine]:
                heapq.heapreplace(free, free[0] + takes[cell])
            ends.append(max(free))
        clock += drawing + max(ends)
    return clock, waiting


def cut_like(cut: Cut, n_tokens: float, n_words: int, length: float, n_blocks: int, n_topics: int) -> Cut:
    """Cut a larger corpus into cells as uneven as those of `cut`.

    It has documents of `length` tokens, and words by Zipf's law. A cell enters those that have a token of
    its block.
    """
    rng = np.random.default_rng(0)
    spread = (cut.tokens / cut.tokens.mean()).ravel()
    tokens = n_tokens / n_blocks**2 * rng.choice(spread, (n_blocks, n_blocks))
    enters = 1.0 - (1.0 - 1.0 / n_blocks) ** length
    zipf = 1.0 / np.arange(101, n_words + 101)
    entries = np.minimum(n_tokens * zipf / zipf.sum(), n_topics).sum()
    return Cut(tokens, np.full_like(tokens, n_tokens / n_blocks * enters), float(entries))


def compare(chain: Sweeper, cut: Cut, rates: Rates, sweeps: int) -> None:
    """Print what the simulation says of this machine beside runs on it."""
    for n_threads in range(1, (os.cpu_count() or 1) + 1):
        with threads_a_sweep(n_threads):
            found = np.median([chain.seconds()[1] for _ in range(sweeps)])
        said, _ = simulated_sweep(cut, rates, Cluster(1, n_threads, np.inf), N_TOPICS)
        print(f"{n_threads} threads: simulated {said:.3f} s a sweep, run {found:.3f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=10_000_000)
    parser.add_argument("--sweeps", type=int, default=5)
    parser.add_argument("--gigabits", type=float, default=10.0, help="a second between two machines")
    options = parser.parse_args()
    corpus, z = zipf_corpus(options.tokens)
    chains, cuts, seconds = [], [], []
    for n_blocks in BLOCKS:
        with (
            patch.object(blocked, "FEWEST_BLOCKS", n_blocks),
            patch.object(blocked, "MOST_BLOCKS", n_blocks),
        ):
            chains.append(Sweeper(corpus, z, "parallel"))
        cuts.append(cut_of(chains[-1], corpus))
        seconds.append(timed_cells(chains[-1], options.sweeps))
    rates = rates_of(chains, cuts, seconds)
    print("nanoseconds a token, by entries of a block:", *np.round(rates.token * 1e9), *rates.entries)
    print("nanoseconds a token entered {:.2f}, a cell {:.0f}, a share {:.0f}".format(
        *(1e9 * rate for rate in rates[2:])
    ))  # fmt: skip
    for chain, cut in zip(chains, cuts, strict=True):
        print(f"{len(cut.tokens)} blocks")
        compare(chain, cut, rates, options.sweeps)
    for name, n_tokens, n_words, length in (("PubMed", 7.68e8, 141_043, 94), ("10^10", 1e10, 500_000, 100)):
        for machines, threads in ((1, 1), (1, 16), (4, 16), (16, 16)):
            n_blocks = max(16, machines * threads)
            cluster = Cluster(machines, threads, options.gigabits / 8 * 1e9)
            cut = cut_like(cuts[0], n_tokens, n_words, length, n_blocks, N_TOPICS)
            clock, waiting = simulated_sweep(cut, rates, cluster, N_TOPICS)
            memory = (n_tokens * BYTES_A_TOKEN + cut.entries * BYTES_AN_ENTRY) / machines / 2**30
            print(
                f"{name}: {machines} machines of {threads} threads, {n_blocks} blocks: {clock:.1f} s "
                f"a sweep, {waiting:.1f} s of them for messages; {memory:.0f} GiB a machine"
            )
    print(conditions())


if __name__ == "__main__":
    main()

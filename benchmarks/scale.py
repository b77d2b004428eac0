"""Sweeps in blocks against the sparse sweep: speed out of cache, what a second thread gains, and mixing.

    python -m benchmarks.scale [--tokens 10000000] [--parts speed peer threads model quantities mixing]

``speed``: million tokens per CPU-second of one thread, `lda` or, with ``--model hdp``, `hdp`,
hyperparameters fixed, on a synthetic corpus of `N_WORDS` words by Zipf's law, from the topics that made
it. ``peer``: tomotopy's LDA there. ``threads``: wall time of the same sweeps in one thread and in two.
``model``: what more threads would gain if the time of a cell went by its tokens, and memory were as fast for
many as for one. ``quantities``: what the test quantities of a draw cost beside its sweep. ``mixing``:
effective sample size of global quantities per CPU-second, all hyperparameters sampled, on simulated corpora,
chains from the topics that made them. Prints what it finds.
"""

import argparse
import os
import time
from typing import Any
from unittest.mock import patch

import bnpzoo
import numpy as np
from bnpzoo.kernels.lda import parallel
from bnpzoo.kernels.toolbox import blocked
from bnpzoo.kernels.toolbox.sides import State
from bnpzoo.kernels.toolbox.threads import threads_a_sweep
from bnpzoo.zoo.contract import Design, Probes
from bnpzoo.zoo.inference.convergence import ess, rhat

from .mixing import NOWHERE
from .speed import processor

N_WORDS, N_TOPICS, LENGTH = 90_000, 500, 100
ALPHA, ETA = 0.1, 0.01
MASS = 5.0
"""Of the law of the topics of a document, over all topics together."""

FIXED = {
    "lda": {"n_topics": N_TOPICS, "alpha": ALPHA, "eta": ETA},
    "hdp": {"gamma": 50.0, "alpha": ALPHA * N_TOPICS, "eta": ETA},
}
VARIANTS = ("sparse", "parallel")
PARTS = ("speed", "peer", "threads", "model", "quantities", "mixing")
GLOBAL = ("log_joint", "log_likelihood", "alpha", "eta")


def zipf_corpus(n_tokens: int, seed: int = 0, n_topics: int = N_TOPICS) -> tuple[Any, np.ndarray]:
    """Corpus of documents of `LENGTH` tokens, and the topics of these, Dirichlet with `MASS`.

    Words follow Zipf's law once the first hundred are left out, as stop words are; those of a topic are
    Dirichlet about it.
    """
    rng = np.random.default_rng(seed)
    zipf = 1.0 / np.arange(101, N_WORDS + 101)
    zipf /= zipf.sum()
    n_documents = n_tokens // LENGTH
    urns = rng.integers(n_topics, size=(n_documents, LENGTH), dtype=np.int32)
    for i in range(1, LENGTH):  # Pólya's urn: one more of a topic for each token that has it
        again = np.flatnonzero(rng.random(n_documents) >= MASS / (MASS + i))
        urns[again, i] = urns[again, rng.integers(i, size=again.size)]
    z = urns.ravel()
    words = np.empty(z.size, np.int32)
    by_topic = np.split(np.argsort(z, kind="stable"), np.cumsum(np.bincount(z, minlength=n_topics))[:-1])
    for tokens in by_topic:
        phi = np.cumsum(rng.standard_gamma(300.0 * zipf))
        words[tokens] = np.searchsorted(phi, rng.random(tokens.size) * phi[-1])
    return bnpzoo.Corpus(words, np.arange(0, z.size + 1, LENGTH), n_words=N_WORDS), z


class Sweeper:
    """A chain of one variant of a model on a corpus, from the topics that made it."""

    def __init__(self, corpus: Any, z: np.ndarray, variant: str, model: str = "lda"):
        self.model = bnpzoo.get(model, **FIXED[model])
        self.kernel, self.rng = self.model.kernel(variant), np.random.default_rng(1)
        self.state = self.kernel.load(self.model.start_at(z, corpus, self.rng), corpus, self.model)
        self.n_tokens = corpus.n_tokens
        self.seconds()

    def seconds(self) -> tuple[float, float]:
        """Sweep once; return CPU and wall seconds."""
        cpu, wall = time.process_time(), time.perf_counter()
        self.state = self.kernel.step(self.rng, self.state)
        return time.process_time() - cpu, time.perf_counter() - wall


def speed(n_tokens: int, sweeps: int, model: str) -> None:
    """Tokens per CPU-second of each variant in one thread; sweeps take turns, so that noise hits both."""
    corpus, z = zipf_corpus(n_tokens)
    chains = {variant: Sweeper(corpus, z, variant, model) for variant in VARIANTS}
    found = {variant: [] for variant in VARIANTS}
    for _ in range(sweeps):
        for variant, chain in chains.items():
            found[variant].append(n_tokens / chain.seconds()[0] / 1e6)
    n_blocks = len(chains["parallel"].state.topics.cells.word_ptr) - 1
    for variant, speeds in found.items():
        print(f"{variant}: {np.median(speeds):.2f} million tokens per CPU-second, best {max(speeds):.2f}")
    print(f"{model}, {n_tokens:,} tokens, {n_blocks} blocks, {sweeps} sweeps each, {conditions()}")


def threads(n_tokens: int, sweeps: int, model: str) -> None:
    """Wall time of blocked sweeps in one thread and in two, which take turns."""
    corpus, z = zipf_corpus(n_tokens)
    chain, found = Sweeper(corpus, z, "parallel", model), {1: [], 2: []}
    for _ in range(sweeps):
        for n_threads, seconds in found.items():
            with threads_a_sweep(n_threads):
                seconds.append(chain.seconds())
    cpu, wall = ({n: np.median([pair[i] for pair in pairs]) for n, pairs in found.items()} for i in (0, 1))
    print(
        f"{model}, two threads: {wall[1] / wall[2]:.2f} times one in wall time, "
        f"{cpu[2] / cpu[1]:.2f} in CPU time"
    )
    print(f"one thread has {cpu[1] / wall[1]:.2f} of a core, two {cpu[2] / wall[2]:.2f}; {conditions()}")


def model(n_tokens: int, sweeps: int) -> None:
    """Predicted gain of 2 to 16 threads, hyperparameters fixed and sampled."""
    corpus, z = zipf_corpus(n_tokens)
    for n_blocks in (8, 16):
        with patch.object(blocked, "FEWEST_BLOCKS", n_blocks):
            chain = Sweeper(corpus, z, "parallel")
        whole = np.median([chain.seconds()[0] for _ in range(sweeps)])
        sizes = np.diff(chain.state.topics.cells.cell_ptr, axis=1)
        print(f"{n_blocks} blocks: {n_tokens / whole / 1e6:.2f} million tokens per CPU-second")
        serial_seconds(chain, np.ones(2))  # so that no figure has the compiling of moves in it
        for name, priors in {"fixed": (0.0, 0.0), "sampled": (1.0, 1.0)}.items():
            serial = serial_seconds(chain, np.array(priors))
            in_parts = whole - serial_seconds(chain, np.zeros(2)) + tally_seconds(chain) * priors[0]
            gains = [
                (serial + in_parts) / (serial + in_parts * longest(sizes, n) / n_tokens)
                for n in (2, 4, 8, 16)[: 2 + n_blocks // 8]
            ]
            print(
                f"  hyperparameters {name}: serial {serial:.3f} s of {serial + in_parts:.2f}; predicted",
                *np.round(gains, 2),
            )
    print(conditions())


def serial_seconds(chain: Sweeper, prior: np.ndarray) -> float:
    """CPU seconds of what is neither in cells nor tallied in parts, with hyperparameters under `prior`."""
    tokens, documents, topics, scratch = chain.state
    sides = documents._replace(alpha_prior=prior), topics._replace(eta_prior=prior)
    found = iter(tallies(chain))
    with patch.object(parallel, "tally_in_threads", lambda *of: next(found)):
        started = time.process_time()
        for _ in range(len(topics.share)):
            blocked.draw_shares(chain.rng, topics)
        parallel.move_hyperparameters(chain.rng, State(tokens, *sides, scratch))
        return time.process_time() - started


def tallies(chain: Sweeper) -> list[np.ndarray]:
    """Return what alpha and eta look at, in this order."""
    tokens, documents, topics, _ = chain.state
    n_topics, cells = documents.prior.shape[1], topics.cells
    return [
        parallel.tally_in_threads(
            lambda *part: parallel.tally_documents(tokens, n_topics, *part), cells.document_ptr
        ),
        parallel.tally_in_threads(lambda *part: parallel.tally_words(topics, *part), cells.word_ptr),
    ]


def tally_seconds(chain: Sweeper) -> float:
    """CPU seconds of the tallies, in one thread."""
    tallies(chain)
    started = time.process_time()
    tallies(chain)
    return time.process_time() - started


def longest(sizes: np.ndarray, n_threads: int) -> int:
    """Tokens of the busiest thread, summed over diagonals, where each thread takes the next cell."""
    out = 0
    for diagonal in blocked.diagonals(len(sizes)):
        busy = np.zeros(n_threads, np.int64)
        for cell in diagonal:
            busy[np.argmin(busy)] += sizes[cell]
        out += int(busy.max())
    return out


def peer(n_tokens: int, sweeps: int) -> None:
    """Speed of tomotopy's LDA in one thread, and wall time of its two, whose sweeps are not exact."""
    import tomotopy

    corpus, _ = zipf_corpus(n_tokens)
    theirs = tomotopy.LDAModel(k=N_TOPICS, alpha=ALPHA, eta=ETA, seed=1, min_cf=0, rm_top=0)
    theirs.optim_interval = 0
    names = [str(word) for word in range(N_WORDS)]
    for start in range(0, n_tokens, LENGTH):
        theirs.add_doc([names[word] for word in corpus.words[start : start + LENGTH]])
    found = {}
    for n_threads in (1, 2):
        theirs.train(1, workers=n_threads, parallel=tomotopy.ParallelScheme.PARTITION)
        cpu, wall = time.process_time(), time.perf_counter()
        theirs.train(sweeps, workers=n_threads, parallel=tomotopy.ParallelScheme.PARTITION)
        found[n_threads] = (time.process_time() - cpu) / sweeps, (time.perf_counter() - wall) / sweeps
    print(
        f"tomotopy {tomotopy.__version__}: {n_tokens / found[1][0] / 1e6:.2f} million tokens per CPU-second; "
        f"two threads {found[1][1] / found[2][1]:.2f} times one in wall time; {conditions()}"
    )


def quantities(n_tokens: int, sweeps: int, model: str) -> None:
    """CPU time of the quantities of a draw, copying its latents included, as a share of a sweep's."""
    corpus, z = zipf_corpus(n_tokens)
    probes = Probes.of(corpus)
    for variant in VARIANTS:
        chain, found = Sweeper(corpus, z, variant, model), []
        for _ in range(sweeps):
            sweep, _ = chain.seconds()
            started = time.process_time()
            latents, counts = chain.kernel.snapshot(chain.state), chain.kernel.counted(chain.state)
            chain.model.quantities(latents, corpus, probes, counts)
            found.append((time.process_time() - started, sweep))
        draw, sweep = np.median(found, axis=0)
        print(f"{model}, {variant}: quantities {draw:.3f} s of a sweep's {sweep:.2f} s, {draw / sweep:.1%}")
    print(conditions())


def mixing(draws: int, chains: int = 4) -> None:
    """ESS of global quantities per CPU-second, on corpora simulated from the model."""
    for design, n_topics in (
        (Design(np.full(400, 50), 1000), 10),
        (Design(np.full(2000, 100), 5000), 20),
    ):
        model = bnpzoo.get("lda", n_topics=n_topics)
        truth = model.replaced(alpha=0.2, eta=0.05).simulate(design, np.random.default_rng(0))
        found = {variant: run_chains(model, truth, variant, draws, chains) for variant in VARIANTS}
        print(f"{truth.corpus.n_tokens:,} tokens, {n_topics} topics, {chains} chains of {draws} draws")
        for name in GLOBAL:
            sizes = {}
            for variant, (values, seconds) in found.items():
                size = ess(values[name])
                sizes[variant] = size / values[name].size, size / seconds
                print(
                    f"  {variant:8} {name:15} mean {values[name].mean():.5g} "
                    f"R-hat {rhat([values[name]]):.3f} ESS {size:.0f}"
                )
            each, second = np.divide(sizes["parallel"], sizes["sparse"])
            print(f"  {name}: parallel has {each:.2f} times the ESS a sweep, {second:.2f} times a CPU-second")
    print(conditions())


def run_chains(
    model: Any, truth: Any, variant: str, draws: int, chains: int
) -> tuple[dict[str, np.ndarray], float]:
    """Global quantities (chains, draws) of chains from the truth, after a quarter more, and CPU seconds."""
    kernel, corpus, seconds = model.kernel(variant), truth.corpus, 0.0
    found = {name: np.empty((chains, draws)) for name in GLOBAL}
    for c in range(chains):
        rng = np.random.default_rng([1, c])
        state = kernel.load(truth.latents, corpus, model)
        for draw in range(-draws // 4, draws):
            started = time.process_time()
            state = kernel.step(rng, state)
            if draw >= 0:
                seconds += time.process_time() - started
                latents, counts = kernel.snapshot(state), kernel.counted(state)
                now = model.quantities(latents, corpus, NOWHERE, counts)
                for name, values in found.items():
                    values[c, draw] = now[name]
    return found, seconds


def conditions() -> str:
    """Say what else the figures depend on."""
    return f"{processor()}, {os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=10_000_000)
    parser.add_argument("--sweeps", type=int, default=7)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--model", choices=FIXED, default="lda")
    parser.add_argument("--parts", nargs="*", default=PARTS, choices=PARTS)
    options = parser.parse_args()
    if "speed" in options.parts:
        speed(options.tokens, options.sweeps, options.model)
    if "peer" in options.parts:
        peer(options.tokens, options.sweeps)
    if "threads" in options.parts:
        threads(options.tokens, options.sweeps, options.model)
    if "model" in options.parts:
        model(options.tokens, options.sweeps)
    if "quantities" in options.parts:
        quantities(options.tokens, options.sweeps, options.model)
    if "mixing" in options.parts:
        mixing(options.draws)


if __name__ == "__main__":
    main()

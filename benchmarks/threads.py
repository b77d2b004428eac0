"""What a second thread gains in the sweeps of the Poisson models that are called parallel.

    python -m benchmarks.threads [--corpus PATH] [--threads 1 2] [--sweeps 21]

Wall seconds a sweep, and million tokens per CPU-second, on the training part of a corpus: `N_TOPICS` topics,
all hyperparameters sampled, after `WARMUP` sweeps by each number of threads. Sweeps of one chain have one
thread and more in turn, so that noise hits all alike. Nothing else should run meanwhile.
"""

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bnpzoo
import numpy as np
from bnpzoo.kernels.toolbox.threads import threads_a_sweep

from .scale import conditions
from .speed import CORPUS, TAG_MY_NEWS

N_TOPICS, WARMUP = 100, 30


def models() -> Iterator[tuple[str, Any]]:
    """Models by name; layers of a belief network have as many topics as the tokens."""
    for model_id in ("pfa", "metalda", "gbn"):
        yield model_id, bnpzoo.get(model_id, n_topics=N_TOPICS)
    for layers in (1, 3):
        topics = bnpzoo.BeliefNetwork(layers=layers, width=N_TOPICS)
        yield f"pfa × belief-network:{layers}", bnpzoo.get("pfa", topics=topics, n_topics=N_TOPICS)


def measure(model: Any, corpus: Any, threads: list[int], sweeps: int) -> np.ndarray:
    """Median CPU and wall seconds of a sweep by number of threads, float (threads, 2)."""
    kernel, rng = model.kernel("parallel"), np.random.default_rng(1)
    state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
    found = np.empty((WARMUP + sweeps, len(threads), 2))
    for seconds in found:
        for j, n_threads in enumerate(threads):
            with threads_a_sweep(n_threads):
                cpu, wall = time.process_time(), time.perf_counter()
                state = kernel.step(rng, state)
                seconds[j] = time.process_time() - cpu, time.perf_counter() - wall
    return np.median(found[WARMUP:], axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, default=CORPUS.with_name(TAG_MY_NEWS))
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--sweeps", type=int, default=21)
    parser.add_argument("--models", nargs="*", help="such as gbn; all of them unless given")
    options = parser.parse_args()
    corpus = bnpzoo.read_corpus(options.corpus)
    if "is_test" in corpus.covariates:
        corpus, _ = corpus.split()
    print(f"{corpus.n_tokens:,} tokens, {corpus.n_words:,} words, {conditions()}")
    print("| model | threads | seconds a sweep | times as fast | million tokens per CPU-second |")
    print("|---|--:|--:|--:|--:|")
    for name, model in models():
        if options.models and name.partition(" ")[0] not in options.models:
            continue
        found = measure(model, corpus, options.threads, options.sweeps)
        for n_threads, (cpu, wall) in zip(options.threads, found, strict=True):
            speed = corpus.n_tokens / cpu / 1e6
            gain = found[0, 1] / wall
            print(f"| {name} | {n_threads} | {wall:.4f} | {gain:.2f} | {speed:.2f} |", flush=True)
    print(f"load average {os.getloadavg()[0]:.1f} in the end")


if __name__ == "__main__":
    main()

"""The sandwich: whether HDP chains from two sides agree, with and without moves of tables and topics.

    python -m benchmarks.mixing simulated:20 web_snippets:40

Of each sampler of `hdp` there are four chains, two from one topic and two from a topic a document, each of so
many CPU-seconds; what they say is taken from the second half of these. On real corpora hyperparameters are
sampled under their default priors. ``simulated`` is the exact start of ``docs/models/hdp.md``: 20,000 tokens,
hyperparameters fixed at those that made them. Prints tables and writes them to ``benchmarks/mixing.md``.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import bnpzoo
import numpy as np
from bnpzoo.diagnostics.heldout.scores import document_completion
from bnpzoo.zoo.contract import Design, Probes
from bnpzoo.zoo.inference.convergence import LOCAL, ess, rhat
from joblib import Parallel, delayed

from .speed import CORPUS, processor

RESULTS = Path(__file__).with_name("mixing.md")
SIMULATED = "simulated"
STARTS = {"one topic": "one", "a topic a document": "documents"}
SAMPLERS = ("sparse", "whole-tables")
SEEDS = (1, 2)
LOOKS = 400
"""Most draws of a chain whose quantities are kept."""

DRAWS = 5
"""Of a chain, for held-out documents."""

NOWHERE = Probes(np.zeros((0, 2), np.int64), np.zeros(0, np.int64), np.zeros((0, 2), np.int64))


type Line = tuple[str, ...]
type Lines = list[Line]


class Data(NamedTuple):
    """A corpus, documents held out of it or None, and the model."""

    model: Any
    corpus: Any
    held_out: Any


class Chain(NamedTuple):
    """What a chain did: seconds and global quantities at evenly spaced times, sweeps, held-out perplexity."""

    seconds: np.ndarray
    quantities: dict[str, np.ndarray]
    sweeps: int
    perplexity: float


def data_of(name: str) -> Data:
    """Corpus of a name, and `hdp` for it."""
    model = bnpzoo.get("hdp")
    if name == SIMULATED:
        values = model.set_to("benchmark").hyperparameters()
        model = model.replaced(**{key: values[key] for key in model.sampled()})
        return Data(model, model.simulate(Design(np.full(400, 50), 2000), np.random.default_rng(0))[1], None)
    corpus = bnpzoo.read_corpus(CORPUS.with_stem(name))
    return Data(model, *(corpus.split() if "is_test" in corpus.covariates else (corpus, None)))


def run(name: str, sampler: str, start: str, seed: int, budget: float) -> Chain:
    """One chain of `budget` CPU-seconds, without those for compiling and for looking at it."""
    data = data_of(name)
    run_on(Data(data.model, data.corpus.take([0, 1]), None), sampler, "one", 1, 0.1)  # compiles
    return run_on(data, sampler, start, seed, budget)


def run_on(data: Data, sampler: str, start: str, seed: int, budget: float) -> Chain:
    """See `run`."""
    model, corpus, held_out = data
    rng, kernel = np.random.default_rng(seed), model.kernel(sampler)
    labels = corpus.doc_of if start == "documents" else np.zeros(corpus.n_tokens, np.int64)
    state = kernel.load(model.start_at(labels, corpus, rng), corpus, model)
    spent, sweeps, seconds, found, draws = 0.0, 0, [], [], []
    while spent < budget:
        begin = time.thread_time()
        state = kernel.step(rng, state)
        spent, sweeps = spent + time.thread_time() - begin, sweeps + 1
        if spent >= len(seconds) * budget / LOOKS:
            now = model.quantities(kernel.snapshot(state), corpus, NOWHERE, kernel.counted(state))
            found.append({key: float(x) for key, x in now.items() if key not in LOCAL and np.ndim(x) == 0})
            seconds.append(spent)
        if held_out is not None and spent >= budget * (0.5 + 0.5 * (len(draws) + 1) / DRAWS):
            draws.append(model.predictive(kernel.snapshot(state), corpus))
    score = document_completion(draws, held_out).perplexity if draws else np.nan
    quantities = {key: np.array([one[key] for one in found]) for key in found[0]}
    return Chain(np.array(seconds), quantities, sweeps, score)


def agreement(chains: list[Chain], budget: float) -> tuple[float, str, float, str, float]:
    """Spread of the log joint, worst R-hat, and least ESS a CPU-second, of the second halves of chains."""
    halves = [
        {key: x[chain.seconds >= budget / 2] for key, x in chain.quantities.items()} for chain in chains
    ]
    length = min(half["log_joint"].size for half in halves)
    apart, size = {}, {}
    for key in halves[0]:
        values = np.array(
            [half[key][np.linspace(0, half[key].size - 1, length).astype(int)] for half in halves]
        )
        if np.ptp(values) > 0.0:
            apart[key], size[key] = rhat([values]), ess(values) / (len(chains) * budget / 2)
    means = [half["log_joint"].mean() for half in halves]
    worst, least = max(apart, key=lambda key: apart[key]), min(size, key=lambda key: size[key])
    return float(np.ptp(means)), worst, apart[worst], least, size[least]


def rows(name: str, budget: float, samplers: list[str], jobs: int) -> Iterator[tuple[Lines, Line]]:
    """For each sampler, lines on its chains and one on how they agree."""
    for sampler in samplers:
        plans = list(product(STARTS.items(), SEEDS))
        tasks = (delayed(run)(name, sampler, start, seed, budget) for (_, start), seed in plans)
        chains: list[Chain] = list(Parallel(n_jobs=jobs)(tasks))
        lines = []
        for ((title, _), _), chain in zip(plans, chains, strict=True):
            topics, log_joint = (
                chain.quantities[key][chain.seconds >= budget / 2].mean() for key in ("n_topics", "log_joint")
            )
            score = "–" if np.isnan(chain.perplexity) else f"{chain.perplexity:.0f}"
            lines.append(
                (name, sampler, title, f"{chain.sweeps:,}", f"{topics:,.0f}", f"{log_joint:,.0f}", score)
            )
            print(*lines[-1], file=sys.stderr, flush=True)
        spread, worst, apart, least, size = agreement(chains, budget)
        summary = (f"{spread:,.0f}", f"{apart:.3f}", worst, f"{size:.3g}", least)
        print(*summary, file=sys.stderr, flush=True)
        yield lines, (name, sampler, f"{budget:g}", *summary)


def table(head: tuple[str, ...], n_words: int, lines: Lines) -> str:
    """Table whose columns after the first `n_words` hold numbers."""
    rule = ("---",) * n_words + ("--:",) * (len(head) - n_words)
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *lines))


def page(told: str, chains: Lines, agreements: Lines) -> str:
    """All of ``mixing.md``; `told` are the arguments of the command."""
    return f"""# Chains from two sides

Written by `{("python -m benchmarks.mixing " + told).strip()}` on {date.today()}; do not edit.

`hdp`, four chains a sampler, two from one topic and two from a topic a document, each of so many CPU-seconds.
What is said of them is of the second half of these.

The spread is that of the chains' mean log joint; R-hat is that of the worst global quantity; and ESS, of all
chains together, is that of the worst, by a CPU-second.

{table(("corpus", "sampler", "CPU-seconds", "spread", "R-hat", "of", "ESS / s", "of"), 2, agreements)}

Topics and log joint are means. Perplexity is that of held-out documents by completion, from {DRAWS} draws.

{table(("corpus", "sampler", "start", "sweeps", "topics", "log joint", "perplexity"), 3, chains)}

{processor()}.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "corpora", nargs="*", default=[f"{SIMULATED}:20", f"{CORPUS.stem}:40"], metavar="NAME:SECONDS"
    )
    parser.add_argument("--samplers", nargs="+", default=list(SAMPLERS), choices=SAMPLERS)
    parser.add_argument("--jobs", type=int, default=1, help="chains at once")
    options = parser.parse_args()
    told, words, budgets = " ".join(sys.argv[1:]), options.corpora, {}
    for word in words:
        name, _, seconds = word.partition(":")
        budgets[name] = float(seconds or 60)
    chains: Lines = []
    agreements: Lines = []
    for name, budget in budgets.items():
        for lines, summary in rows(name, budget, options.samplers, options.jobs):
            chains += lines
            agreements.append(summary)
            RESULTS.write_text(page(told, chains, agreements), encoding="utf-8")


if __name__ == "__main__":
    main()

"""How far HDP chains of one corpus come from two sides, with and without moves of whole tables.

    python -m benchmarks.mixing web_snippets movie_reviews

Chains of `hdp` with default priors start with all tokens in one topic, and with a topic a document; each
runs for the same CPU-seconds in a process of its own. Prints a table and writes it to
``benchmarks/mixing.md``.
"""

import argparse
import json
import subprocess
import sys
import time
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

import bnpzoo
import numpy as np

from .speed import CORPUS, processor

RESULTS = Path(__file__).with_name("mixing.md")
STARTS = ("one topic", "a topic a document")
VARIANTS = ("sparse", "whole-tables")


def started(model: Any, corpus: Any, start: str, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Latents at which a chain starts."""
    labels = corpus.doc_of if start == STARTS[1] else np.zeros(corpus.n_tokens, np.int64)
    return model.start_at(labels, corpus, rng)


def trace(path: Path, variant: str, start: str, marks: list[float]) -> list[dict[str, float]]:
    """Sweeps, topics and log joint of one chain after `marks` CPU-seconds, in this process."""
    corpus = bnpzoo.read_corpus(path)
    if "is_test" in corpus.covariates:
        corpus, _ = corpus.split()
    model, rng = bnpzoo.get("hdp"), np.random.default_rng(1)
    kernel = model.kernel(variant)
    few = corpus.take([0])
    kernel.step(rng, kernel.load(started(model, few, STARTS[0], rng), few, model))  # compiles
    state = kernel.load(started(model, corpus, start, rng), corpus, model)
    found, seconds, sweeps = [], 0.0, 0
    for mark in marks:
        while seconds < mark:
            begin = time.process_time()
            state = kernel.step(rng, state)
            seconds, sweeps = seconds + time.process_time() - begin, sweeps + 1
        latents = kernel.snapshot(state)
        log_joint = model.log_likelihood(latents, corpus) + model.log_assignments(latents, corpus)
        found.append({"sweeps": sweeps, "topics": model.n_topics_of(latents), "log_joint": log_joint})
    return found


def traced_apart(*arguments: Any) -> list[dict[str, float]]:
    """Return `trace` of a fresh process."""
    command = [sys.executable, "-m", "benchmarks.mixing", "--trace", json.dumps([str(a) for a in arguments])]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def page(rows: list[tuple[str, ...]]) -> str:
    """All of ``mixing.md``."""
    head = ("corpus", "sampler", "start", "CPU-seconds", "sweeps", "topics", "log joint")
    lines = [head, ("---",) * 3 + ("--:",) * 4, *rows]
    return f"""# Chains from two sides

Written by `python -m benchmarks.mixing` on {date.today()}; do not edit.

`hdp`, hyperparameters sampled under their default priors; the log joint is that of words and topics given
the rest.

{"\n".join(f"| {' | '.join(line)} |" for line in lines)}

{processor()}.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "corpora", nargs="*", default=[CORPUS.stem], help="names of files beside the default one"
    )
    parser.add_argument("--marks", default="15,60,300", help="CPU-seconds after which to look")
    parser.add_argument("--trace", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.trace:
        path, variant, start, marks = json.loads(options.trace)
        print(json.dumps(trace(Path(path), variant, start, [float(mark) for mark in marks.split(",")])))
        return
    rows = []
    for name, start, variant in product(options.corpora, STARTS, VARIANTS):
        found = traced_apart(CORPUS.with_stem(name), variant, start, options.marks)
        for mark, at in zip(options.marks.split(","), found, strict=True):
            numbers = (mark, f"{at['sweeps']:,}", f"{at['topics']:,}", f"{at['log_joint']:,.0f}")
            rows.append((name, variant, start, *numbers))
            print(*rows[-1], file=sys.stderr)
    RESULTS.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()

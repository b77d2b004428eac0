"""How much of what a model predicts of held-out documents is due to documents that occur twice.

    python -m benchmarks.doubles [CORPUS.npz] [--seconds 60]

A test document has a double if a training document has its words, or half of all words that either has. Of
each model one chain of so many CPU-seconds, from its usual start and under its default priors; then
document completion, by five draws of the second half, of all test documents, of those with a double and of
those without. Prints a table.
"""

import argparse
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import bnpzoo
import numpy as np
from bnpzoo.diagnostics.heldout.scores import HeldOut, document_completion

from .speed import CORPUS, processor

MODELS = {"hdp": {}, "lda": {"n_topics": 100}}
DRAWS = 5
ALIKE = 0.5
"""Share of the words of two documents that both have, from which on one is a double of the other."""


def nearest(train: Any, test: Any) -> np.ndarray:
    """Jaccard index of each test document's set of words and of the nearest training document's."""
    present = [np.zeros((part.n_documents, part.n_words), np.float32) for part in (train, test)]
    for part, rows in zip((train, test), present, strict=True):
        rows[part.doc_of, part.words] = 1.0
    both = present[1] @ present[0].T
    either = present[1].sum(axis=1)[:, None] + present[0].sum(axis=1) - both
    return (both / np.maximum(either, 1.0)).max(axis=1)


def completion(model: Any, train: Any, test: Any, seconds: float) -> HeldOut:
    """Document completion by a chain of so many CPU-seconds, once it is compiled."""
    kernel, rng, draws = model.kernel(), np.random.default_rng(1), []
    state = kernel.step(rng, kernel.load(model.initial_latents(train, rng), train, model))
    begin = time.process_time()
    while len(draws) < DRAWS:
        state = kernel.step(rng, state)
        if time.process_time() - begin >= seconds * (0.5 + 0.5 * (len(draws) + 1) / DRAWS):
            draws.append(model.predictive(kernel.snapshot(state), train))
    return document_completion(draws, test)


def of_documents(score: HeldOut, which: np.ndarray) -> HeldOut:
    """Score of some of the documents."""
    return replace(score, log_probability=score.log_probability[which], n_scored=score.n_scored[which])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", nargs="?", type=Path, default=CORPUS)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    train, test = bnpzoo.read_corpus(options.corpus).split()
    alike = nearest(train, test)
    parts = {"all": alike >= 0.0, "with a double": alike >= ALIKE, "without": alike < ALIKE}
    print(f"{np.mean(alike == 1.0):.1%} have the words of a training document")
    print("| test documents | number |", " | ".join(MODELS), "|")
    scores = [
        completion(bnpzoo.get(name, **arguments), train, test, options.seconds)
        for name, arguments in MODELS.items()
    ]
    for title, which in parts.items():
        found = [f"{of_documents(score, which).perplexity:.0f}" for score in scores]
        print(f"| {title} | {which.sum():,} |", " | ".join(found), "|")
    print(f"{options.corpus.stem}, {options.seconds:g} CPU-seconds a chain, {processor()}")


if __name__ == "__main__":
    main()

"""What a learned test would add to the ladder: classifiers against the mutants that other rungs judge.

    python -m benchmarks.learned_test lda 14

As in the sequential test, latents and data from the joint law are compared with such that have made a few
transitions. Two classifiers learn to tell them apart, from all test quantities and from which pairs of tokens
share a topic, so that they could see what no single quantity shows. They bet on each pair of draws before
they learn from it. If the sampler is right, each member of a pair is as likely to be the moved one, so the
wealth of a bettor is a martingale, and reaches 1 / alpha with probability alpha at most, whenever one stops
(Pandeva, Bakker, Naesseth, Forré 2024, E-valuating classifier two-sample tests, TMLR).

It is not in the ladder. Of twelve mutants of `lda` it rejects five, all of which the sequential test rejects,
with three others, as cheaply; calibration rejects four of the five and one more.

Each test has a false alarm rate of 1e-5. Prints a table, and writes it to ``benchmarks/learned_test.md``.
"""

import argparse
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import bnpzoo
import numpy as np
from bnpzoo.diagnostics.laboratory.ladder import Case, CaseSubject
from bnpzoo.diagnostics.laboratory.mutants.registry import mutants_of
from bnpzoo.diagnostics.laboratory.sbc import sbc
from bnpzoo.diagnostics.laboratory.sequential import sequential
from bnpzoo.diagnostics.laboratory.subject import Bench
from bnpzoo.diagnostics.laboratory.verdict import FALSE_ALARM_RATE
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .speed import processor

RESULTS = Path(__file__).with_name("learned_test.md")
TRANSITIONS = 5
BATCH, MOST = 50, 700
"""Pairs of draws that are bet on before the classifiers learn from them, and how many there are at most."""

STRENGTHS = np.array([0.25, 0.5, 1.0])
"""Of bets: of how much of the difference in log odds that a classifier finds."""


def features(bench: Bench, latents: Any, data: Any) -> np.ndarray:
    """All test quantities, and which tokens share a topic."""
    z = np.asarray(latents["z"])
    together = (z[:, None] == z)[np.triu_indices(z.size, 1)]
    return np.concatenate([bench.measure(latents, data), together, [together.sum(), np.unique(z).size]])


def draw_pair(bench: Bench, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Features of a draw from the joint law, and of another after some transitions."""
    untouched = features(bench, *bench.draw_joint(rng))
    latents, data = bench.draw_joint(rng)
    return untouched, features(bench, bench.after(TRANSITIONS, rng, latents, data), data)


def learned(subject: CaseSubject, seed: int) -> tuple[bool, int]:
    """Whether the classifiers' wealth reaches one over the false alarm rate, and after how many pairs."""
    rng, bench = np.random.default_rng(seed), Bench(subject)
    ridge = make_pipeline(StandardScaler(), LogisticRegression(C=0.05, max_iter=500))
    trees = HistGradientBoostingClassifier(max_iter=60, max_leaf_nodes=8, min_samples_leaf=15)
    log_wealth = np.zeros((2, STRENGTHS.size))
    seen = np.empty((0, 2, 0))
    for _ in range(MOST // BATCH):
        pairs = np.array([draw_pair(bench, rng) for _ in range(BATCH)])
        for wealth, classifier in zip(log_wealth, (ridge, trees), strict=True):
            if seen.size:
                odds = [classifier.decision_function(pairs[:, side]) for side in (0, 1)]
                bets = np.outer(odds[1] - odds[0], STRENGTHS)
                wealth += np.sum(np.log(2.0) - np.logaddexp(0.0, -bets), axis=0)
        seen = np.concatenate([seen, pairs]) if seen.size else pairs
        if np.logaddexp.reduce(log_wealth.ravel()) - np.log(log_wealth.size) >= -np.log(FALSE_ALARM_RATE):
            return True, len(seen)
        for classifier in (ridge, trees):
            classifier.fit(np.concatenate([seen[:, 0], seen[:, 1]]), np.repeat([0, 1], len(seen)))
    return False, len(seen)


def timed(judge: Callable[[], tuple[bool, int]]) -> str:
    """Tell what a test finds, from how many draws, in how many CPU-seconds."""
    begin = time.process_time()
    rejects, draws = judge()
    return f"{'†' if rejects else '–'} {draws:,} ({time.process_time() - begin:.1f} s)"


def row(model_id: str, variant: str, mutant: str) -> list[str]:
    """Put a sampler before the three tests."""
    subject = CaseSubject(Case(model_id, variant, "sequential", mutant=mutant))

    def by_sequence() -> tuple[bool, int]:
        verdict = sequential(subject, transitions=TRANSITIONS, seed=1)
        return not verdict.passed, int(verdict.figures["samples"])

    def by_ranks() -> tuple[bool, int]:
        return not sbc(subject, replications=100, draws=15, seed=3).passed, 100

    tests = (by_sequence, lambda: learned(subject, 2), by_ranks)
    return [f"`{mutant}`" if mutant else "none", *map(timed, tests)]


def main() -> None:
    """Put the right sampler and some mutants of a model before the tests."""
    parser = argparse.ArgumentParser(description="Compare a learned test with two rungs of the ladder.")
    parser.add_argument("model", help="a model whose latents have a z")
    parser.add_argument("mutants", type=int, help="how many, at random")
    told = parser.parse_args()
    model = bnpzoo.get(told.model)
    default = next(iter(model.kernels))
    mutants = mutants_of(model)
    chosen = [mutants[i] for i in np.random.default_rng(5).permutation(len(mutants))[: told.mutants]]
    lines = [
        "| mutant | sequential: draws in the last round | learned: pairs | sbc: replications |",
        "|---|---|---|---|",
    ]
    for mutant, variant in [("", default), *((m.id, m.variant or default) for m in chosen)]:
        lines.append(f"| {' | '.join(row(told.model, variant, mutant))} |")
        print(lines[-1], flush=True)
    head = f"`{told.model}`, {date.today().isoformat()}, {processor()}. † rejected, – not; in brackets CPU-s."
    RESULTS.write_text("\n".join([head, "", *lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()

"""NUTS on the NumPyro programs: a GPU, where JAX finds one, against the processor beside it.

    python -m benchmarks.references

Each run has a process of its own, whose platform ``JAX_PLATFORMS`` names. Prints a table and writes it to
``benchmarks/references.md``.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

import bnpzoo
import numpy as np
from bnpzoo.zoo.contract import Design

from .mixing import table
from .speed import processor

RESULTS = Path(__file__).with_name("references.md")
PLATFORMS = ("cuda", "cpu")


@dataclass(frozen=True)
class Case:
    """A model, simulated documents of one length, and how long how many chains run."""

    model: str
    options: dict[str, int]
    truncation: int
    n_documents: int
    length: int
    n_words: int
    iterations: int
    chains: int

    def __str__(self) -> str:
        size = f"truncation {self.truncation}" if not self.options else f"{self.options['n_topics']} topics"
        return f"`{self.model}`, {size}, {self.n_documents * self.length:,} tokens"


LDA = Case("lda", {"n_topics": 5}, 5, 20, 22, 30, 100, 1)
HDP = Case("hdp", {}, 20, 200, 100, 1000, 30, 1)
CASES = [Case(**asdict(case) | {"chains": n}) for case, many in ((LDA, 16), (HDP, 4)) for n in (1, many)]


def measure(case: Case) -> dict[str, Any]:
    """Wall seconds, with compiling and without, and leapfrog steps, of NUTS where JAX computes by default."""
    import jax
    from bnpzoo.zoo.inference import nuts

    model = bnpzoo.get(case.model, **case.options)
    values = model.set_to("benchmark").hyperparameters()
    truth = model.replaced(**{name: values[name] for name in model.sampled()})
    design = Design(np.full(case.n_documents, case.length), case.n_words)
    corpus = truth.simulate(design, np.random.default_rng(0)).corpus
    begin, half = time.perf_counter(), case.iterations // 2
    tuned = begin

    def note_tuned(chain: int, done: int, total: int, stage: str) -> None:
        nonlocal tuned
        if done <= half:
            tuned = time.perf_counter()

    found = nuts.run(model, corpus, case.truncation, case.chains, half, case.iterations - half, 0, note_tuned)
    end = time.perf_counter()
    return {
        "device": jax.devices()[0].device_kind if jax.default_backend() == "gpu" else processor(),
        "version": found["backend_version"],
        "seconds": end - begin,
        "after_tuning": end - tuned,
        "steps": int(found["stats"]["n_steps"].sum()),
    }


def measured(platform: str, number: int) -> dict[str, Any] | None:
    """Run `measure` in a process of its own; return None where there is no such platform."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.references", "--case", str(number)],
        env=os.environ | {"JAX_PLATFORMS": platform},
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        print(f"{platform}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def page(rows: list[tuple[str, ...]], version: str) -> str:
    """All of ``references.md``."""
    head = ("model and corpus", "device", "chains", "iterations", "seconds", "steps", "steps / s")
    return f"""# NUTS on the NumPyro programs

Written by `python -m benchmarks.references` on {date.today()}; do not edit.

Wall seconds, with compiling, of as many iterations of each chain, half of them warm-up; and after it the
leapfrog steps of all chains, and these by a second.

{table(head, 2, rows)}

{version}; one run each.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case is not None:
        print(json.dumps(measure(CASES[options.case])))
        return
    rows, versions = [], []
    for number, case in enumerate(CASES):
        for platform in PLATFORMS:
            found = measured(platform, number)
            if found is None:
                continue
            rate = found["steps"] / found["after_tuning"]
            figures = (f"{found['seconds']:.0f}", f"{found['steps']:,}", f"{rate:,.0f}")
            rows.append((str(case), found["device"], str(case.chains), str(case.iterations), *figures))
            versions.append(found["version"])
            print(*rows[-1], file=sys.stderr, flush=True)
            RESULTS.write_text(page(rows, versions[0]), encoding="utf-8")


if __name__ == "__main__":
    main()

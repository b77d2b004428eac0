"""Burn-in or law: how far chains are from the truth after so many sweeps, from the truth and from a start.

    python -m benchmarks.burn_in gbn --set n_layers=3 --variant dense --quantity mean_log_prior
    python -m benchmarks.burn_in hdp --chains 400 --sweeps 100 1000

Calibration rejects a sampler that does not leave its posterior as it is, and one that is slow to come to it.
Here each chain has latents and data of its own, drawn as calibration draws them. If the sampler is right, one
that begins at these latents has their law after any number of sweeps; one that begins where fits begin comes
to it in time. Prints quantiles of a quantity over the chains, and p-values of two-sample tests of these
against the truth.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
from bnpzoo.cli.settings import parse_settings
from bnpzoo.diagnostics.laboratory.ladder import Case, CaseSubject
from bnpzoo.diagnostics.laboratory.subject import Bench
from bnpzoo.zoo.models import get
from scipy.stats import ks_2samp

SEED = 7
LEVELS = (0.01, 0.1, 0.5, 0.9, 0.99)


def measured(bench: Bench, chain: int, sweeps: Sequence[int], *, at_truth: bool) -> Iterator[np.ndarray]:
    """Measure the latents that made the data, then a chain after each number of sweeps."""
    rng = np.random.default_rng([SEED, chain])
    latents, data = bench.draw_joint(rng)
    yield bench.measure(latents, data)
    data = bench.copy_of(data)
    begin = latents if at_truth else bench.start(rng, data)
    for j, moved in enumerate(islice(bench.transitions(rng, begin, data), max(sweeps)), start=1):
        if j in sweeps:
            yield bench.measure(moved, data)


def table(values: np.ndarray, sweeps: Sequence[int]) -> Iterator[str]:
    """Rows of quantiles of one quantity, float (chains, 1 + sweeps): the truth first."""
    yield "| sweeps | " + " | ".join(f"{100 * level:.0f} %" for level in LEVELS) + " | p-value |"
    yield "|--:|" + "--:|" * (len(LEVELS) + 1)
    for j, n in enumerate(["truth", *sweeps]):
        row = " | ".join(f"{x:,.4g}" for x in np.quantile(values[:, j], LEVELS))
        p_value = f"{ks_2samp(values[:, 0], values[:, j], method='asymp').pvalue:.2g}" if j else ""
        yield f"| {n} | {row} | {p_value} |"


def furthest(values: np.ndarray, names: Sequence[str]) -> str:
    """Name of the quantity of which the last measurement is furthest from the truth."""
    p_values = [ks_2samp(x[:, 0], x[:, -1], method="asymp").pvalue for x in np.moveaxis(values, 2, 0)]
    return names[int(np.argmin(p_values))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--variant", help="the kernel's first unless given")
    parser.add_argument("--topics", default="", help="kind of topics; the model's own unless given")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="of the model")
    parser.add_argument("--quantity", help="the one that is furthest from the truth at the end unless given")
    parser.add_argument("--chains", type=int, default=1000)
    parser.add_argument("--sweeps", type=int, nargs="+", default=[20, 100, 400])
    asked = parser.parse_args()
    options = json.dumps(parse_settings(asked.set)) if asked.set else ""
    variant = asked.variant or next(iter(get(asked.model, topics=asked.topics or None).kernels))
    case = Case(asked.model, variant, "sbc", topics=asked.topics, options=options)
    sweeps = sorted(asked.sweeps)
    for start, at_truth in {"the truth": True, "the usual start": False}.items():
        bench = Bench(CaseSubject(case))
        values = np.array([list(measured(bench, i, sweeps, at_truth=at_truth)) for i in range(asked.chains)])
        name = asked.quantity or furthest(values, bench.names)
        print(f"\n{case.subject}, {asked.chains} chains from {start}: {name}\n")
        print(*table(values[:, :, bench.names.index(name)], sweeps), sep="\n")


if __name__ == "__main__":
    main()

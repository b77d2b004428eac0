"""The sandwich: whether chains from two sides agree, with and without moves of tables and topics.

    python -m benchmarks.mixing simulated:20 web_snippets:40
    python -m benchmarks.mixing web_snippets:60 --models mt_hdp focused hpyp --to siblings.md
    python -m benchmarks.mixing movie_reviews:300 --samplers whole-tables whole-tables:16 whole-tables:cool

Of each sampler of a model there are four chains, two from one topic and two from a topic a document, as far
as it has so many, each of so many CPU-seconds; what they say is taken from the second half of these. On real
corpora hyperparameters are sampled under their default priors, unless ``--set`` says else; groups are the
classes, where a corpus has no others. ``simulated`` is the exact start of ``docs/models/hdp.md``: 20,000
tokens, hyperparameters fixed at those that made them. A sampler with a number, such as ``whole-tables:16``,
burns in on one in so many documents first, as `bnpzoo.grow` does, and one with ``:cool`` as `bnpzoo.cool`
does, with as many sweeps at each eta as ``:cool:100`` says, if it does, and from the eta that ``:cool:100:3``
says; both in the time of the chain. Prints tables and writes them to ``benchmarks/mixing.md``.
"""

import argparse
import sys
import time
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import bnpzoo
import numpy as np
from bnpzoo.cli.settings import parse_settings
from bnpzoo.diagnostics.heldout.scores import document_completion
from bnpzoo.zoo.contract import Design, Probes
from bnpzoo.zoo.inference.convergence import LOCAL, ess, rhat
from bnpzoo.zoo.inference.starts import MOST_TOPICS, StartingPoint, starting_points
from joblib import Parallel, delayed

from .speed import CORPUS, corpus_for, processor

FOLDER = Path(__file__).parent
SIMULATED = "simulated"
STARTS = {"one topic": "one", "a topic a document": "documents"}
WITHOUT_MOVES = {"whole-tables": "sparse", "exchange": "forced"}
"""What is put beside samplers that move whole topics: the same without those moves."""

COOL = "cool"
"""What a burn-in is called that cools."""

COOLING = {"sweeps": (int, "{} each"), "hottest": (float, "from {}")}
"""What may follow, each after a colon; what it is, and how tables say it."""

SEEDS = (1, 2)
TOPICS = 100
"""Where their number is fixed."""

MET = 1.05
"""R-hat of chains that have met, of all global quantities."""

CHECKS = 20
"""Times at which it is seen whether chains have met."""

LOOKS = 400
"""Most draws of a chain whose quantities are kept."""

FEW_LOOKS = 20
"""What fewer draws of each chain say of R-hat and ESS is nothing."""

DRAWS = 5
"""Of a chain, for held-out documents."""

MAY_BE_OFF = ("focused",)
"""Models with topics that may be off in a new document, which completion does not score."""

NOWHERE = Probes(np.zeros((0, 2), np.int64), np.zeros(0, np.int64), np.zeros((0, 2), np.int64))


type Line = tuple[str, ...]
type Lines = list[Line]


class Plan(NamedTuple):
    """What is run: a corpus, a model, settings of it as ``bnpzoo fit`` takes them, and a sampler.

    With its burn-in: ``cool``, ``cool:100`` of so many sweeps at each eta, ``cool:100:3`` from such an eta,
    or one in how many documents it begins with; empty where there is none of its own.
    """

    corpus: str
    model: str
    settings: tuple[str, ...]
    sampler: str
    burn_in: str = ""


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


def model_of(plan: Plan) -> Any:
    """Model of a plan; hyperparameters that it does not set are sampled."""
    model = bnpzoo.get(plan.model)
    if "n_topics" in model.arguments() and plan.corpus != SIMULATED:
        model = model.replaced(n_topics=TOPICS)
    return model.replaced(**parse_settings(plan.settings))


def samplers_of(model_id: str) -> list[str]:
    """Samplers of a model to compare."""
    default = next(iter(bnpzoo.get(model_id).kernels))
    return [WITHOUT_MOVES[default], default] if default in WITHOUT_MOVES else [default]


def data_of(plan: Plan) -> Data:
    """Corpus of a plan, and the model for it."""
    model = model_of(plan)
    if plan.corpus == SIMULATED:
        values = model.set_to("benchmark").hyperparameters()
        model = model.replaced(**{key: values[key] for key in model.sampled()})
        design = Design(np.full(400, 50), 2000, group=np.arange(400) % 2)
        return Data(model, model.simulate(design, np.random.default_rng(0))[1], None)
    corpus = bnpzoo.read_corpus(CORPUS.with_stem(plan.corpus))
    if plan.model != "hdp":
        corpus = corpus_for(plan.model, corpus)
    corpus, held_out = corpus.split() if "is_test" in corpus.covariates else (corpus, None)
    return Data(model, corpus, None if plan.model in MAY_BE_OFF else held_out)


def run(plan: Plan, start: str, seed: int, budget: float) -> Chain:
    """One chain of `budget` CPU-seconds, without those for compiling and for looking at it."""
    data = data_of(plan)
    small = Data(data.model, data.corpus.take([0, 1]), None)
    run_on(small, plan._replace(burn_in=""), "one", 1, 0.1)  # compiles
    return run_on(data, plan, start, seed, budget)


def starting_point(data: Data, plan: Plan, start: str, seed: int) -> tuple[StartingPoint, float]:
    """Where the sweeps of all documents start, and the CPU-seconds that it took to get there."""
    model, corpus, _ = data
    if not plan.burn_in:
        return starting_points(start, model, corpus)[0], 0.0
    begin = time.process_time()
    how: dict[str, Any] = {"variant": plan.sampler, "chains": 1, "seed": seed, "start": start, "workers": 1}
    kind, *numbers = plan.burn_in.split(":")
    if kind == COOL:
        cooling = {name: of(x) for (name, (of, _)), x in zip(COOLING.items(), numbers, strict=False)}
        fit = bnpzoo.cool(model, corpus, **cooling, **how)
    else:
        fit = bnpzoo.grow(model, corpus, int(kind), **how)
    return starting_points(fit, model, corpus)[0], time.process_time() - begin


def run_on(data: Data, plan: Plan, start: str, seed: int, budget: float) -> Chain:
    """See `run`."""
    model, corpus, held_out = data
    rng, kernel = np.random.default_rng(seed), model.kernel(plan.sampler)
    point, spent = starting_point(data, plan, start, seed)
    state = kernel.load(point.latents(rng, 0), corpus, model)
    sweeps, seconds, found, draws = 0, [], [], []
    while spent < budget:
        begin = time.thread_time()
        state = kernel.step(rng, state)
        spent, sweeps = spent + time.thread_time() - begin, sweeps + 1
        if not seconds or spent >= seconds[-1] + budget / LOOKS:
            now = model.quantities(kernel.snapshot(state), corpus, NOWHERE, kernel.counted(state))
            found.append({key: float(x) for key, x in now.items() if key not in LOCAL and np.ndim(x) == 0})
            seconds.append(spent)
        if held_out is not None and spent >= budget * (0.5 + 0.5 * (len(draws) + 1) / DRAWS):
            draws.append(model.predictive(kernel.snapshot(state), corpus))
    score = document_completion(draws, held_out).perplexity if draws else np.nan
    quantities = {key: np.array([one[key] for one in found]) for key in found[0]}
    return Chain(np.array(seconds), quantities, sweeps, score)


def between(chains: list[Chain], begin: float, end: float) -> dict[str, np.ndarray]:
    """Global quantities of all chains from one time to another, by chain, at as many times each."""
    parts = [(chain, np.flatnonzero((chain.seconds >= begin) & (chain.seconds <= end))) for chain in chains]
    length = min(found.size for _, found in parts)
    taken = [(chain, found[np.linspace(0, found.size - 1, length).astype(int)]) for chain, found in parts]
    return {key: np.array([chain.quantities[key][at] for chain, at in taken]) for key in chains[0].quantities}


def apart(quantities: dict[str, np.ndarray]) -> dict[str, float]:
    """R-hat of all quantities that move; infinite where chains are too short."""
    if quantities["log_joint"].shape[1] < FEW_LOOKS:
        return dict.fromkeys(quantities, np.inf)
    return {key: rhat([x]) for key, x in quantities.items() if np.ptp(x) > 0.0}


def time_to_meet(chains: list[Chain], budget: float) -> float | None:
    """CPU-seconds of a chain after which R-hat of the second half so far stays at `MET` and below."""
    met = None
    for end in np.linspace(0.0, budget, CHECKS + 1)[1:]:
        worst = max(apart(between(chains, end / 2, end)).values(), default=np.inf)
        met = (met or float(end)) if worst <= MET else None
    return met


class Agreement(NamedTuple):
    """How chains agree: spread of the log joint, R-hat, ESS a CPU-second, and when they have met."""

    spread: float
    worst: tuple[str, float]
    least: tuple[str, float]
    met: float | None


def agreement(chains: list[Chain], budget: float) -> Agreement:
    """How the second halves of chains agree."""
    quantities = between(chains, budget / 2, np.inf)
    found = apart(quantities)
    seconds = len(chains) * budget / 2
    sizes = {key: ess(quantities[key]) / seconds if np.isfinite(x) else 0.0 for key, x in found.items()}
    worst, least = max(found, key=lambda key: found[key]), min(sizes, key=lambda key: sizes[key])
    spread = float(np.ptp(quantities["log_joint"].mean(1)))
    return Agreement(spread, (worst, found[worst]), (least, sizes[least]), time_to_meet(chains, budget))


def told_of(burn_in: str) -> list[str]:
    """Return what tables say of a burn-in."""
    kind, *numbers = burn_in.split(":")
    if kind == COOL:
        return ["cooled", *(told.format(x) for (_, told), x in zip(COOLING.values(), numbers, strict=False))]
    return [f"grown from 1/{kind}"] if kind else []


def rows(plan: Plan, budget: float, jobs: int) -> tuple[Lines, Line]:
    """Lines on the chains of a plan, and one on how they agree."""
    starts = list(product(STARTS.items(), SEEDS))
    tasks = (delayed(run)(plan, start, seed, budget) for (_, start), seed in starts)
    chains: list[Chain] = list(Parallel(n_jobs=jobs)(tasks))
    sampler = ", ".join([plan.sampler, *told_of(plan.burn_in)])
    name = (plan.corpus, ", ".join([plan.model, *plan.settings]), sampler)
    lines = []
    for ((title, _), _), chain in zip(starts, chains, strict=True):
        topics, log_joint = (
            f"{chain.quantities[key][chain.seconds >= budget / 2].mean():,.0f}"
            for key in ("n_topics", "log_joint")
        )
        score = "–" if np.isnan(chain.perplexity) else f"{chain.perplexity:.0f}"
        lines.append((*name, title, f"{chain.sweeps:,}", topics, log_joint, score))
        print(*lines[-1], file=sys.stderr, flush=True)
    spread, (worst, rhat_of_it), (least, size), met = agreement(chains, budget)
    when = "not yet" if met is None else f"{met:.0f} s"
    summary = (f"{spread:,.0f}", f"{rhat_of_it:.3f}", worst, when, f"{size:.3g}", least)
    print(*summary, file=sys.stderr, flush=True)
    return lines, (*name, f"{budget:g}", *summary)


def table(head: tuple[str, ...], n_words: int, lines: Lines) -> str:
    """Table whose columns after the first `n_words` hold numbers."""
    rule = ("---",) * n_words + ("--:",) * (len(head) - n_words)
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *lines))


def page(told: str, chains: Lines, agreements: Lines) -> str:
    """All of a file of results; `told` are the arguments of the command."""
    about = ("corpus", "model", "sampler")
    return f"""# Chains from two sides

Written by `{("python -m benchmarks.mixing " + told).strip()}` on {date.today()}; do not edit.

Four chains a sampler, two from one topic and two from a topic a document (of {MOST_TOPICS:,} at most, and on
real text {TOPICS} where their number is fixed), each of so many CPU-seconds. What is said of them is of the
second half of these. Sweeps are of the whole corpus, without those of a burn-in that grows or cools.

The spread is that of the chains' mean log joint; R-hat is that of the worst global quantity. Chains have met
when R-hat of the second half so far stays at {MET} and below, looked at {CHECKS} times. ESS, of all chains
together, is that of the worst quantity, by a CPU-second, from {LOOKS // 2} draws of a chain at most. Where a
chain has fewer than {FEW_LOOKS}, R-hat is inf and ESS 0: nothing is known.

{table((*about, "CPU-seconds", "spread", "R-hat", "of", "met after", "ESS / s", "of"), 3, agreements)}

Topics and log joint are means. Perplexity is that of held-out documents by completion, from {DRAWS} draws.

{table((*about, "start", "sweeps", "topics", "log joint", "perplexity"), 4, chains)}

{processor()}.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "corpora", nargs="*", default=[f"{SIMULATED}:20", f"{CORPUS.stem}:40"], metavar="NAME:SECONDS"
    )
    parser.add_argument("--models", nargs="+", default=["hdp"], metavar="MODEL")
    parser.add_argument(
        "--samplers",
        nargs="+",
        help="those to compare, of every model",
        metavar="SAMPLER[:PARTS|:cool[:SWEEPS[:ETA]]]",
    )
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", dest="settings")
    parser.add_argument("--jobs", type=int, default=1, help="chains at once")
    parser.add_argument("--to", default="mixing.md", metavar="FILE", help="in benchmarks/")
    options = parser.parse_args()
    told, words, chains, agreements = " ".join(sys.argv[1:]), options.corpora, [], []
    for word, model in product(words, options.models):
        name, _, seconds = word.partition(":")
        for sampler in options.samplers or samplers_of(model):
            sampler, _, burn_in = sampler.partition(":")
            plan = Plan(name, model, tuple(options.settings), sampler, burn_in)
            lines, summary = rows(plan, float(seconds or 60), options.jobs)
            chains += lines
            agreements.append(summary)
            (FOLDER / options.to).write_text(page(told, chains, agreements), encoding="utf-8")


if __name__ == "__main__":
    main()

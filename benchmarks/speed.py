"""Speed of the samplers, and of tomotopy's in the same run.

Tokens per CPU-second of one thread on the training part of a corpus, hyperparameters fixed, after 100 sweeps.
Each sampler runs in a process of its own, so that its peak memory is its own. Prints a table and writes it to
``benchmarks/results.md``. Figures of a machine that does other work at the same time are too low.
"""

import argparse
import importlib.util
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import bnpzoo
import numpy as np
from bnpzoo.zoo.corpus.associate import associations_of, cooccurrence
from bnpzoo.zoo.designs import TransferContinuum
from bnpzoo.zoo.models import MODELS

CORPUS = Path(__file__).parents[2] / "shared" / "data" / "web_snippets.npz"
RESULTS = Path(__file__).with_name("results.md")
WARMUP = 100
ALPHA, ETA, GAMMA = 0.1, 0.01, 1.5
"""Of tomotopy's models: those of the settings of `lda` and `hdp`."""
HDP_TOPICS = 100
SYNTHETIC = {"alpha": 5.0, "epsilon": 0.01, "a1": 5.0, "a2": 0.1, "eta": 0.05}
"""Hyperparameters on the synthetic corpus."""


class Case(NamedTuple):
    """One sampler and the bar that it should clear, in million tokens per CPU-second.

    With `synthetic`, the corpus is not that of the command line but one of 768 tokens in ten tasks; the bar
    is then 5 ms a sweep. `variant` is the default one of the model unless given. `layers` are those of topics
    under a belief network; `corpus` is a file beside that of the command line, where the bar is for that.
    """

    software: str
    model: str
    n_topics: int
    bar: float | None = None
    synthetic: bool = False
    topics: str | None = None
    variant: str | None = None
    layers: int | None = None
    corpus: str | None = None


TAG_MY_NEWS = "tag_my_news.npz"
"""Where the program of the authors of belief networks makes 0.084 million by one layer, 0.028 by three."""

BARS = (
    Case("bnpzoo", "lda", 100, 15.0),
    Case("tomotopy", "lda", 100),
    Case("bnpzoo", "lda", 500, 10.0),
    Case("tomotopy", "lda", 500),
    Case("bnpzoo", "hdp", HDP_TOPICS, 8.0, variant="sparse"),
    Case("tomotopy", "hdp", HDP_TOPICS),
    Case("bnpzoo", "hdp", HDP_TOPICS),
    Case("bnpzoo", "mt_hdp", HDP_TOPICS, variant="sparse"),
    Case("bnpzoo", "sparse_transfer", 50, 1.0),
    Case("bnpzoo", "sparse_transfer", 10, 768 / 5e-3 / 1e6, synthetic=True),
    Case("bnpzoo", "focused", 10),
    Case("bnpzoo", "hdsp", 100, 1.5),
    Case("bnpzoo", "labeled_lda", 12, 15.0),
    Case("tomotopy", "labeled_lda", 12),
    Case("bnpzoo", "partially_labeled_lda", 100, 15.0),
    Case("tomotopy", "partially_labeled_lda", 100),
    Case("bnpzoo", "dmr", 100, 1.65),
    Case("tomotopy", "dmr", 100),
    Case("bnpzoo", "slda", 100, 4.0),
    Case("tomotopy", "slda", 100),
    Case("bnpzoo", "was", 50, 0.5),
    Case("bnpzoo", "hpyp", 100, 3.0),
    Case("bnpzoo", "tpyp", 100, 1.0),
    Case("bnpzoo", "hdp", HDP_TOPICS, 3.0, topics="pitman-yor"),
    Case("bnpzoo", "lda", 100, 3.0, topics="pitman-yor"),
    Case("bnpzoo", "pfa", 100, corpus=TAG_MY_NEWS),
    Case("bnpzoo", "pfa", 100, variant="parallel", corpus=TAG_MY_NEWS),
    Case("bnpzoo", "metalda", 100, corpus=TAG_MY_NEWS),
    Case("bnpzoo", "gbn", 100, corpus=TAG_MY_NEWS),
    Case("bnpzoo", "pfa", 100, 30 * 0.084, topics="belief-network", layers=1, corpus=TAG_MY_NEWS),
    Case("bnpzoo", "pfa", 100, 30 * 0.028, topics="belief-network", layers=3, corpus=TAG_MY_NEWS),
)
CASES = (*BARS, *(Case("bnpzoo", name, 100) for name in MODELS if name not in {case.model for case in BARS}))

type Sweeps = Callable[[int], None]
type Topics = Callable[[], int]


def bnpzoo_sampler(case: Case, corpus: Any) -> tuple[Sweeps, Topics]:
    model = benchmark_model(case)
    if case.model in ("slda", "shdp"):
        model = model.replaced(response="label:number")
    if case.synthetic:
        model = model.replaced(**SYNTHETIC)
    else:
        corpus = corpus_for(case.model, corpus)
    kernel = model.kernel(case.variant)
    rng = np.random.default_rng(1)
    state = kernel.load(model.initial_latents(corpus, rng), corpus, model)

    def sweep(n: int) -> None:
        nonlocal state
        for _ in range(n):
            state = kernel.step(rng, state)

    return sweep, lambda: np.unique(kernel.snapshot(state)["z"]).size


def corpus_for(model_id: str, corpus: Any) -> Any:
    """Corpus with what models want: groups, which are the classes if there are any, and associations."""
    if "label" in corpus.covariates:
        corpus = corpus.grouped("label")
    if model_id == "tpyp":
        strength = cooccurrence(corpus, corpus, window=None)
        corpus = replace(corpus, associations=associations_of(strength, corpus.n_groups))
    return corpus


def benchmark_model(case: Case) -> Any:
    """Model of a case, its hyperparameters fixed as its settings say."""
    of_topics = {} if case.layers is None else {"layers": case.layers}
    model = bnpzoo.get(case.model, topics=case.topics, **of_topics).set_to("benchmark")
    if case.layers is not None:  # of as many topics each
        model = replace(model, topics=replace(model.topics, width=case.n_topics))
    return model.replaced(n_topics=case.n_topics) if "n_topics" in model.arguments() else model


def tomotopy_sampler(case: Case, corpus: Any) -> tuple[Sweeps, Topics]:
    import tomotopy

    common = {"eta": ETA, "seed": 1, "min_cf": 0, "rm_top": 0}
    match case.model:
        case "lda":
            peer = tomotopy.LDAModel(k=case.n_topics, alpha=ALPHA, **common)
        case "labeled_lda":
            peer = tomotopy.LLDAModel(k=case.n_topics, alpha=ALPHA, **common)
        case "partially_labeled_lda":
            per_label, latent = divmod(case.n_topics, len(corpus.covariate_names["label"]))
            peer = tomotopy.PLDAModel(latent_topics=latent, topics_per_label=per_label, alpha=ALPHA, **common)
        case "dmr":  # its regression is a part of its sweeps
            peer = tomotopy.DMRModel(k=case.n_topics, **common)
        case "slda":
            peer = tomotopy.SLDAModel(k=case.n_topics, vars="l", alpha=ALPHA, **common)
        case _:
            alpha = ALPHA * case.n_topics
            peer = tomotopy.HDPModel(initial_k=case.n_topics, alpha=alpha, gamma=GAMMA, **common)
    if case.model != "dmr":
        peer.optim_interval = 0
    for d, words in enumerate(np.split(corpus.words, corpus.doc_ptr[1:-1])):
        if words.size:
            peer.add_doc([str(word) for word in words], **labels_for(case, corpus, d))
    topics = (lambda: peer.live_k) if case.model == "hdp" else (lambda: case.n_topics)
    return (lambda n: peer.train(n, workers=1)), topics


def labels_for(case: Case, corpus: Any, d: int) -> dict[str, Any]:
    """Return what tomotopy is told of the label of a document."""
    match case.model:
        case "labeled_lda" | "partially_labeled_lda":
            return {"labels": [str(corpus.covariates["label"][d])]}
        case "dmr":
            return {"metadata": str(corpus.covariates["label"][d])}
        case "slda":
            return {"y": [float(corpus.covariates["label"][d])]}
        case _:
            return {}


def synthetic_corpus() -> Any:
    """Ten tasks a quarter of the way from shared to random topics."""
    rng = np.random.default_rng(0)
    return TransferContinuum().draw(rng).at(0.25, rng).train.corpus


def measure(case: Case, path: Path, sweeps: int, repeats: int) -> dict[str, Any]:
    """Speeds of one case, in this process."""
    path = path.with_name(case.corpus) if case.corpus else path
    corpus = synthetic_corpus() if case.synthetic else bnpzoo.read_corpus(path)
    if "is_test" in corpus.covariates:
        corpus, _ = corpus.split()
    sweeps *= max(1, 50_000 // corpus.n_tokens)  # so that the clock's resolution does not matter
    make = bnpzoo_sampler if case.software == "bnpzoo" else tomotopy_sampler
    sweep, topics = make(case, corpus)
    sweep(WARMUP)
    speeds = []
    for _ in range(repeats):
        start = time.process_time()
        sweep(sweeps)
        speeds.append(sweeps * corpus.n_tokens / (time.process_time() - start) / 1e6)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "best": max(speeds),
        "median": statistics.median(speeds),
        "topics": int(topics()),
        "mebibytes": peak / 2 ** (20 if sys.platform == "darwin" else 10),
        "n_tokens": corpus.n_tokens,
    }


def measure_apart(number: int, options: argparse.Namespace) -> dict[str, Any]:
    """Speeds of one case, in a fresh process of one thread."""
    command = [sys.executable, __file__, "--case", str(number), "--corpus", str(options.corpus)]
    command += ["--sweeps", str(options.sweeps), "--repeats", str(options.repeats)]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env={**os.environ, **threads})
    return json.loads(done.stdout)


def table(results: dict[Case, dict[str, Any]]) -> str:
    """Markdown table; the ratio is to tomotopy's same model and number of topics, best to best."""
    head = ("model", "software", "topics", "best", "median", "bar", "times tomotopy", "peak RSS, MiB")
    rows = [head, ("---",) * 2 + ("--:",) * 6]
    for case, found in results.items():
        peer = results.get(case._replace(software="tomotopy", bar=None, variant=None))
        ratio = f"{found['best'] / peer['best']:.1f}" if peer and case.software == "bnpzoo" else ""
        bar = f"{case.bar:.3g} {'met' if found['best'] >= case.bar else 'missed'}" if case.bar else ""
        speeds = (f"{found['best']:.3g}", f"{found['median']:.3g}")
        memory = f"{found['mebibytes']:.0f}"
        model = f"{case.model}, synthetic" if case.synthetic else case.model
        model += f" × {case.topics}" if case.topics else ""
        model += f" of {case.layers}" if case.layers else ""
        model += f", {Path(case.corpus).stem}" if case.corpus else ""
        model += f", {case.variant}" if case.variant else ""
        rows.append((model, case.software, str(found["topics"]), *speeds, bar, ratio, memory))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def page(results: dict[Case, dict[str, Any]], options: argparse.Namespace) -> str:
    """All of ``results.md``."""
    n_tokens = next(iter(results.values()))["n_tokens"]
    n_synthetic = next(found["n_tokens"] for case, found in results.items() if case.synthetic)
    packages = ("bnpzoo", "numpy", "numba", "tomotopy")
    versions = [f"{p} {metadata.version(p)}" for p in packages if importlib.util.find_spec(p)]
    return f"""# Speed

Written by `make bench` on {date.today()}; do not edit.

Million tokens per CPU-second, one thread, {options.corpus.stem} ({n_tokens} tokens), after {WARMUP} sweeps:
best and median of {options.repeats} repeats of {options.sweeps} sweeps. Hyperparameters are fixed:

{hyperparameters()}

`tpyp` has ten associations a word, from documents. Tasks and groups are the classes. The number of topics is
the one reached; the two HDPs do not sample the same law (`docs/tomotopy.md`). Memory is that of the whole
process, Python and its imports included.

*Synthetic*: {n_synthetic} tokens in ten tasks, a quarter of the way along the continuum of the experiment
`transfer-continuum`, with its hyperparameters and eta = 0.05; the bar is 5 ms a sweep.

{table(results)}

{processor()}, {os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f} after the run;
Python {platform.python_version()}, {", ".join(versions)}.
"""


def hyperparameters() -> str:
    """One line a model."""
    values = {name: benchmark_model(Case("bnpzoo", name, 100)).spelled() for name in MODELS}
    return "\n".join(
        f"- `{name}`: "
        + ", ".join(f"{key} = {value}" for key, value in of_model.items() if key != "n_topics")
        for name, of_model in values.items()
    )


def processor() -> str:
    """Name of the processor, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, default=Path(os.environ.get("BNPZOO_BENCH_CORPUS", CORPUS)))
    parser.add_argument("--sweeps", type=int, default=20, help="sweeps a repeat")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--case", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.corpus.exists():
        print(f"{options.corpus}: no such corpus; name one by --corpus or BNPZOO_BENCH_CORPUS.")
        return
    if options.case is not None:
        print(json.dumps(measure(CASES[options.case], options.corpus, options.sweeps, options.repeats)))
        return
    has_peer = importlib.util.find_spec("tomotopy") is not None
    if not has_peer:
        print("tomotopy is not installed (extra `peers`): measured without it.")
    results = {}
    for number, case in enumerate(CASES):
        if case.software == "bnpzoo" or has_peer:
            print(f"{case.software} {case.model} {case.n_topics} …", file=sys.stderr)
            results[case] = measure_apart(number, options)
    text = page(results, options)
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()

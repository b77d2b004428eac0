"""What converting and sampling a large corpus take of memory and time, each in a process of its own.

    python -m benchmarks.store FOLDER [--tokens 10000000] [--topics 100] [--sweeps 5] [--variant parallel]
                               [--parts convert read sweep fit memory:1000 disk:1000 …]

Writes to FOLDER a synthetic corpus as UCI bag of words, unless it is there: documents of `LENGTH` tokens,
words by Zipf's law without its first hundred. Converts it to a folder of arrays, reads it whole for
comparison, sweeps a chain of `lda` on the arrays, and fits `lda` to them: as many sweeps of one chain, one
draw, into a folder of Zarr, with checkpoints. ``memory:N`` and ``disk:N`` are N draws given a small corpus.
Peaks are of resident memory, mapped files included.
"""

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from .scale import LENGTH, N_WORDS, conditions

PARTS = ("convert", "read", "sweep", "fit", *(f"{w}:{n}" for n in (1000, 20_000) for w in ("memory", "disk")))

LINES = 20_000
"""Documents that are written at once."""


def write_uci(path: Path, n_tokens: int) -> None:
    """Write documents of independent words; what topics there are does not matter here."""
    rng = np.random.default_rng(0)
    zipf = np.cumsum(1.0 / np.arange(101, N_WORDS + 101))
    n_documents, n_rows = n_tokens // LENGTH, 0
    body = path.with_suffix(".body")
    with body.open("w") as file:
        for start in range(0, n_documents, LINES):
            n = min(LINES, n_documents - start)
            words = np.searchsorted(zipf, rng.random((n, LENGTH)) * zipf[-1])
            cells, counts = np.unique(words + N_WORDS * np.arange(n)[:, None], return_counts=True)
            rows = zip(cells // N_WORDS + start + 1, cells % N_WORDS + 1, counts, strict=True)
            file.writelines(f"{d} {w} {c}\n" for d, w, c in rows)
            n_rows += counts.size
    with path.open("w") as file, body.open() as rest:
        file.write(f"{n_documents}\n{N_WORDS}\n{n_rows}\n")
        for block in iter(lambda: rest.read(2**24), ""):
            file.write(block)
    body.unlink()


def convert(source: Path, arrays: Path) -> None:
    from bnpzoo.zoo.formats import convert_corpus

    convert_corpus(source, arrays)


def read(source: Path) -> None:
    from bnpzoo.zoo.formats import read_corpus

    read_corpus(source)


def sweep(arrays: Path, n_topics: int, n_sweeps: int, variant: str) -> None:
    """Start a chain and sweep, as `bnpzoo.sample` does, without drawing."""
    import bnpzoo
    from bnpzoo.zoo.formats import read_corpus

    corpus = read_corpus(arrays)
    model = bnpzoo.get("lda", n_topics=n_topics, alpha=0.1, eta=0.01)
    kernel, rng = model.kernel(variant), np.random.default_rng(0)
    state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
    for _ in range(n_sweeps):
        started = time.process_time()
        state = kernel.step(rng, state)
        speed = corpus.n_tokens / (time.process_time() - started) / 1e6
        print(f"  {speed:.2f} million tokens per CPU-second, {peak():,.0f} MiB", flush=True)


def fit(arrays: Path, n_topics: int, n_sweeps: int, variant: str) -> None:
    """Draw once; go on from checkpoints, if there are any."""
    import bnpzoo
    from bnpzoo.zoo.formats import read_corpus
    from bnpzoo.zoo.inference import stream

    def report(chain: int, done: int, total: int, note: str) -> None:
        print(f"  sweep {done} of {total}, {peak():,.0f} MiB", flush=True)

    saved = arrays.with_suffix(".saved")
    model = bnpzoo.get("lda", n_topics=n_topics, alpha=0.1, eta=0.01)
    stream(
        arrays.with_suffix(".zarr"), model, read_corpus(arrays), variant=variant, chains=1, tune=0, draws=1,
        thin=n_sweeps, keep=1, checkpoint=saved, resume=saved.exists(), progress=report,
    )  # fmt: skip


def many_draws(where: str, n_draws: int) -> None:
    """Draw from a posterior given 1,000 tokens, into memory or onto disk."""
    import bnpzoo
    from bnpzoo.zoo.inference import stream

    rng = np.random.default_rng(0)
    corpus = bnpzoo.Corpus(rng.integers(100, size=1000), np.arange(0, 1001, 50), n_words=100)
    model, run = bnpzoo.get("lda", n_topics=3), {"chains": 1, "tune": 0, "draws": n_draws}
    if where == "memory":
        bnpzoo.sample(model, corpus, **run)
    else:
        with TemporaryDirectory() as folder:
            stream(Path(folder) / "fit.zarr", model, corpus, **run)


def peak() -> float:
    """Largest resident memory of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tokens", type=int, default=10_000_000)
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--sweeps", type=int, default=5)
    parser.add_argument("--variant", default="parallel")
    parser.add_argument("--parts", nargs="*", default=PARTS)
    parser.add_argument("--part", help="only this, in this process")
    options = parser.parse_args()
    source = options.folder / f"docword.zipf{options.tokens}"
    arrays = options.folder / f"zipf{options.tokens}.arrays"
    if options.part is None:
        options.folder.mkdir(exist_ok=True)
        if not source.exists():
            write_uci(source, options.tokens)
        for part in options.parts:
            command = [sys.executable, "-m", "benchmarks.store", *sys.argv[1:], "--part", part]
            subprocess.run(command, check=True)
        print(conditions())
        return
    started, cpu = time.perf_counter(), time.process_time()
    if options.part == "convert":
        convert(source, arrays)
    elif options.part == "read":
        read(source)
    elif ":" in options.part:
        where, _, n_draws = options.part.partition(":")
        many_draws(where, int(n_draws))
    else:
        work = {"sweep": sweep, "fit": fit}[options.part]
        work(arrays, options.topics, options.sweeps, options.variant)
    wall, cpu = time.perf_counter() - started, time.process_time() - cpu
    tokens = "" if ":" in options.part else f"{options.tokens:,} tokens, "
    print(f"{options.part}: {tokens}{wall:.0f} s, {cpu:.0f} CPU-s, peak {peak():,.0f} MiB")


if __name__ == "__main__":
    main()

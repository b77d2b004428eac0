"""Variational inference of scaling processes: its distance, and what printed updates lose.

    python -m benchmarks.variational

*Distance.* Two documents of three tokens with labels, hyperparameters fixed: the probability that pairs of
tokens share a topic, by a long run of the exact sampler and by the best of twelve starts of variational
inference. And of 60 documents of 30 tokens that the model made: means and standard deviations.

*Losses.* On the same 60 documents, the bound after 250 iterations of the corrected updates, and what a
printed update in the place of its corrected twin takes off it, at once and after 100 more iterations.

Prints tables and writes them to ``benchmarks/variational.md``. Some minutes on one core.
"""

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import bnpzoo
import numpy as np
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.families.scaling.bound import bound
from bnpzoo.zoo.families.scaling.printed import documents_37, documents_48, sticks_30, sticks_38
from scipy import sparse

from .speed import processor

RESULTS = Path(__file__).with_name("variational.md")
MICRO_HYPER = {"gamma": 1.0, "alpha": 1.5, "eta": 0.5}
HYPER = {"gamma": 2.0, "alpha": 3.0, "eta": 0.1}
PAIRS = ((0, 1), (0, 2), (0, 3), (2, 5))
STARTS, ITERATIONS, FURTHER = 12, 250, 100
QUANTITIES = ("n_topics", "log_likelihood", "mean_root", "mean_log_scale")
PRINTED = {
    "hdsp": {"30": ("sticks", sticks_30), "48": ("documents", documents_48)},
    "whdsp": {"38": ("sticks", sticks_38), "37": ("documents", documents_37)},
}


def micro(name: str) -> Any:
    """Two documents of three tokens, the second with a label more, or with a number of the other sign."""
    words, ends = [0, 0, 1, 2, 2, 1], [0, 3, 6]
    tags = sparse.csr_array(np.array([[1, 0], [1, 1]]))
    covariates = {"tags": tags} if name == "hdsp" else {"rating": np.array([0.0, 1.0])}
    return bnpzoo.Corpus(words, ends, n_words=3, covariates=covariates)


def simulated(name: str) -> Any:
    """Draw 60 documents of 30 tokens from the model, with three categories and, for `whdsp`, a number."""
    rng = np.random.default_rng(1)
    covariates: dict[str, Any] = {"kind": rng.integers(3, size=60)}
    if name == "whdsp":
        covariates["rating"] = rng.normal(size=60)
    names = {"kind": np.array(["a", "b", "c"])}
    design = Design(np.full(60, 30), n_words=50, covariates=covariates, covariate_names=names)
    return bnpzoo.get(name, n_topics=8, **HYPER).simulate(design, rng).corpus


def ascent(model: Any, corpus: Any, seed: int, iterations: int = ITERATIONS) -> Any:
    """Iterate by the corrected updates."""
    run = model.require_variational().begin(corpus, 0, np.random.default_rng(seed), "mean-field")
    for _ in range(iterations):
        run.advance()
    return run


def best(model: Any, corpus: Any) -> Any:
    """Where the bound is highest of some starts."""
    return max(
        (ascent(model, corpus, seed) for seed in range(STARTS)), key=lambda run: bound(run.q, run.problem)
    )


def pair_rows() -> Iterator[str]:
    """Yield how often tokens share their topic, exactly and by variational inference."""
    for name in PRINTED:
        corpus = micro(name)
        for n_topics in (2, 3):
            model = bnpzoo.get(name, n_topics=n_topics, **MICRO_HYPER)
            exact = exact_draws(model, corpus, 20_000, lambda z, _: [z[i] == z[j] for i, j in PAIRS])
            run, rng = best(model, corpus), np.random.default_rng(0)
            z = np.array([run.draw(rng)["z"] for _ in range(4000)])
            found = [float(np.mean(z[:, i] == z[:, j])) for i, j in PAIRS]
            cells = [f"{a:.3f}, {b:.3f}" for a, b in zip(exact.mean(axis=0), found, strict=True)]
            yield f"| `{name}`, {n_topics} topics | " + " | ".join(cells) + " |"


def exact_draws(model: Any, corpus: Any, sweeps: int, look: Callable[..., Any]) -> np.ndarray:
    """Return what `look` finds in the draws of the exact sampler after a tenth of them."""
    rng, kernel = np.random.default_rng(0), model.kernel()
    state, out = kernel.load(model.initial_latents(corpus, rng), corpus, model), []
    for _ in range(sweeps):
        state = kernel.step(rng, state)
        latents = kernel.snapshot(state)
        out.append(look(latents["z"], latents))
    return np.array(out[sweeps // 10 :], float)


def quantity_rows() -> Iterator[str]:
    """Yield means and standard deviations of test quantities, exactly and by variational inference."""
    for name in PRINTED:
        corpus = simulated(name)
        model = bnpzoo.get(name, n_topics=8, **HYPER)

        def look(_: np.ndarray, latents: Any, model: Any = model, corpus: Any = corpus) -> list[float]:
            found = model.quantities(latents, corpus)
            return [float(found[quantity]) for quantity in QUANTITIES]

        exact = exact_draws(model, corpus, 4000, look)
        run, rng = best(model, corpus), np.random.default_rng(0)
        near = np.array([look(np.zeros(0), run.draw(rng)) for _ in range(400)])
        for j, quantity in enumerate(QUANTITIES):
            told = [f"{draws[:, j].mean():.4g} ± {draws[:, j].std():.2g}" for draws in (exact, near)]
            yield f"| `{name}` | `{quantity}` | {told[0]} | {told[1]} |"


def loss_rows() -> Iterator[str]:
    """Yield what each printed update takes off the bound."""
    for name, printed in PRINTED.items():
        corpus = simulated(name)
        model = bnpzoo.get(name, n_topics=8, **HYPER)
        for equation, (part, update) in printed.items():
            run = ascent(model, corpus, 0)
            top = bound(run.q, run.problem)
            try:
                first = bound(update(run.q, run.problem), run.problem) - top
                run.updates = run.updates | {part: update}
                later = min(run.advance() for _ in range(FURTHER)) - top
                losses = f"{first:.2f} | {later:.1f}"
            except (ValueError, FloatingPointError):
                losses = "no law: rates below zero | –"
            yield f"| `{name}` | {equation} | {top:.1f} | {losses} |"


def main() -> None:
    """Make all tables."""
    np.seterr(all="ignore")
    lines = [f"{date.today().isoformat()}, {processor()}.", ""]
    tables: list[tuple[str, str, Callable[[], Iterator[str]]]] = [
        (
            "P(two tokens share a topic): posterior, variational",
            "| model | 1, 2 | 1, 3 | 1, 4 | 3, 6 |\n|---|---|---|---|---|",
            pair_rows,
        ),
        (
            "60 documents: mean ± standard deviation",
            "| model | quantity | posterior | variational |\n|---|---|---|---|",
            quantity_rows,
        ),
        (
            "Printed updates: change of the bound",
            "| model | equation | bound before | at once | lowest in 100 iterations |\n|---|---|---|---|---|",
            loss_rows,
        ),
    ]
    for title, head, rows in tables:
        lines += [title, "", head]
        for row in rows():
            print(row, flush=True)
            lines.append(row)
        lines.append("")
    RESULTS.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()

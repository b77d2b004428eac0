"""The exact sampler of `was` beside the one that takes each token for the last: speed and mixing.

    python -m benchmarks.sentences

prints, for two corpora drawn from the model, tokens a CPU-second, and for the number of dishes of a document
and the log joint density their means and effective sample sizes a CPU-second. Hyperparameters are fixed;
chains start at what was drawn.
"""

import time
from typing import NamedTuple

import arviz as az
import numpy as np
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.models import get


class Setting(NamedTuple):
    """Size of a corpus, and of a run."""

    documents: int
    sentences: int
    tokens: int
    n_topics: int
    n_words: int
    sweeps: int


SETTINGS = (Setting(1, 10, 10, 5, 20, 20_000), Setting(20, 10, 20, 50, 200, 1500))
VARIANTS = ("blocked", "as_if_last")


def traces(setting: Setting, variant: str) -> tuple[dict[str, np.ndarray], float, int]:
    """Return dishes of a document and log joint after each sweep, CPU-seconds, and tokens."""
    design = Design(np.full(setting.documents, setting.sentences * setting.tokens), setting.n_words)
    hyper = {"a": 1.0, "b": 1.0, "zeta": 1.0, "kappa": 0.3, "eta": 0.1}
    model = get("was", n_topics=setting.n_topics, window=setting.tokens, **hyper)
    latents, corpus = model.simulate(design, np.random.default_rng(1))
    kernel, rng = model.kernels[variant], np.random.default_rng(2)
    state = kernel.load(latents, corpus, model)
    for _ in range(setting.sweeps // 5):
        state = kernel.step(rng, state)
    dishes, log_joint, seconds = np.zeros(setting.sweeps), np.zeros(setting.sweeps), 0.0
    for i in range(setting.sweeps):
        start = time.process_time()
        state = kernel.step(rng, state)
        seconds += time.process_time() - start
        latents = kernel.snapshot(state)
        dishes[i] = np.maximum.reduceat(latents["dish"], corpus.doc_ptr[:-1]).mean() + 1.0
        log_joint[i] = model.log_joint(latents, corpus)
    return {"dishes of a document": dishes, "log joint": log_joint}, seconds, corpus.n_tokens


def main() -> None:
    """Print a line a sampler and quantity."""
    for setting in SETTINGS:
        print(setting)
        for variant in VARIANTS:
            found, seconds, n_tokens = traces(setting, variant)
            print(f"  {variant}: {setting.sweeps * n_tokens / seconds / 1e3:,.0f} k tokens a CPU-second")
            for name, values in found.items():
                ess = float(np.asarray(az.ess(values[None])))
                print(f"    {name}: mean {values.mean():.2f}, {ess / seconds:.0f} effective a CPU-second")


if __name__ == "__main__":
    main()

"""Runs one Stan program through PyStan, in a process of its own.

PyStan forks its chains, which is not safe beside JAX's threads, needs an event loop that a notebook already
has, and prints as it goes. So `stan.py` starts this file as a script: ``job.json`` in, ``draws.npz`` out.
"""

import json
import re
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

ELAPSED = re.compile(r"([0-9.eE+-]+) seconds \(Total\)")


def main(directory: Path) -> None:
    """Do the job in `directory`."""
    # PyStan's dependencies warn as they are imported.
    warnings.simplefilter("ignore")
    import stan

    job = json.loads((directory / "job.json").read_text(encoding="utf-8"))
    posterior = stan.build(job["program"], data=job["data"], random_seed=job["seed"])
    fit = posterior.sample(**job["settings"])
    if fit is None:  # interrupted
        sys.exit(130)
    chains = job["settings"]["num_chains"]
    shapes = dict(zip(fit.param_names, fit.dims, strict=True))
    out = {name: _by_chain(fit[name], shapes.get(name, ()), chains) for name in job["names"]}
    # What Stan itself has measured also holds for a fit that PyStan finds in its cache.
    out["seconds"] = np.array([float(ELAPSED.findall(text.decode())[-1]) for text in fit.stan_outputs])
    with (directory / "draws.npz").open("wb") as file:
        np.savez(file, allow_pickle=False, **out)


def _by_chain(values: np.ndarray, shape: Sequence[int], chains: int) -> np.ndarray:
    """From (*shape, draws x chains) to (chains, draws, *shape)."""
    return np.moveaxis(values.reshape(*shape, -1, chains), (-1, -2), (0, 1))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""The Stan back end: NUTS on a model's Stan program, through CmdStan or PyStan."""

import importlib.resources
import re
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from ..contract import Model
from ..corpus import Corpus
from .interrupt import held_signals
from .progress import Report, silent
from .stan_chains import Chains, read_chain
from .stan_engines import Job, draws_of, find_stan

STATISTICS = ("divergent__", "n_leapfrog__", "accept_stat__")


def run(
    model: Model,
    corpus: Corpus,
    truncation: int,
    chains: int,
    tune: int,
    draws: int,
    seed: int,
    progress: Report = silent,
) -> dict[str, Any]:
    """Draw from the reference posterior of `model` given `corpus`; see `nuts.run`, which this mirrors.

    The first run of a program compiles it, which takes a minute or so; later runs find it in the cache.
    After Ctrl-C or SIGTERM there is what each chain has drawn; where none has, KeyboardInterrupt goes on.

    Raises
    ------
    StanError
        Stan is missing, or the program cannot be compiled or run.
    """
    engine = find_stan()
    reference = model.require_reference()
    data = reference.stan_data(corpus, truncation)
    job = Job(
        program=program_text(reference.stan_program, reference.stan_includes),
        data={name: np.asarray(value).tolist() for name, value in data.items()},
        names=(*reference.parameters, *STATISTICS),
        chains=chains,
        tune=tune,
        draws=draws,
        seed=seed % (2**31 - 1) + 1,
    )
    for chain in range(chains):
        progress(chain, 0, tune + draws, "compiling")
    with held_signals() as stop, tempfile.TemporaryDirectory(prefix="bnpzoo-") as directory:
        folder = Path(directory)
        start = time.perf_counter()
        with stop.raised():
            compiled = engine.compile(job.program)
        compile_seconds = time.perf_counter() - start
        engine.prepare(job, folder)
        commands = [engine.command(compiled, job, folder, chain) for chain in range(chains)]
        seconds = Chains(commands, progress, stop).run()
        found = [read_chain(draws_of(folder, chain), job.names) for chain in range(chains)]
    if not any(found):
        raise KeyboardInterrupt
    stacked = {name: _stacked([values[name] if values else None for values in found]) for name in job.names}
    return {
        "draws": {name: stacked[name] for name in reference.parameters},
        "stats": {
            "diverging": stacked["divergent__"] != 0,
            "n_steps": stacked["n_leapfrog__"].astype(np.int64),
            "acceptance_rate": stacked["accept_stat__"],
        },
        "lengths": [len(values[STATISTICS[0]]) if values else 0 for values in found],
        "seconds": np.array(seconds),
        "compile_seconds": compile_seconds,
        "backend_version": str(engine),
    }


def _stacked(chains: list[np.ndarray | None]) -> np.ndarray:
    """Put together what chains have drawn, zeros behind it where others have drawn more."""
    of_draws = [values for values in chains if values is not None]
    out = np.zeros((len(chains), max(map(len, of_draws)), *of_draws[0].shape[1:]))
    for own, values in zip(out, chains, strict=True):
        if values is not None:
            own[: len(values)] = values
    return out


def program_text(name: str, includes: tuple[str, ...] = ()) -> str:
    """Source of ``stan/<name>.stan`` with its includes in place, which PyStan cannot do.

    Parameters
    ----------
    name : str
    includes : tuple of str
        Folders of ``stan/`` where includes are looked for, after that one.
    """
    root = importlib.resources.files("bnpzoo") / "stan"
    folders = [root, *(root.joinpath(*folder.split("/")) for folder in includes)]

    def source_of(path: str) -> str:
        found = (folder.joinpath(*path.split("/")) for folder in folders)
        source = next(file for file in found if file.is_file()).read_text(encoding="utf-8")
        return re.sub(
            r"^[ ]*#include (\S+)$",
            lambda match: source_of(match[1]).rstrip(),
            source,
            flags=re.MULTILINE,
        )

    return source_of(f"{name}.stan")

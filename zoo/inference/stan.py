"""The Stan back end: NUTS on a model's Stan program, through CmdStanPy or PyStan."""

import hashlib
import importlib.metadata
import importlib.resources
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..contract import Model
from ..corpus import Corpus
from .progress import Report, silent

TARGET_ACCEPT = 0.9
INIT_RADIUS = 1
STATISTICS = {"divergent__": "diverging", "n_leapfrog__": "n_steps", "accept_stat__": "acceptance_rate"}

type Draws = dict[str, np.ndarray]
"""Arrays (chains, draws, …) by name, and ``seconds`` (chains,)."""


class StanMissing(RuntimeError):
    """Neither CmdStan nor PyStan with a C++ compiler is there."""


@dataclass(frozen=True)
class Job:
    """What is to be run.

    Attributes
    ----------
    program : str
        Stan source without includes.
    data : dict
    names : tuple of str
        Variables and sampler statistics to return.
    chains, tune, draws, seed : int
    """

    program: str
    data: dict[str, Any]
    names: tuple[str, ...]
    chains: int
    tune: int
    draws: int
    seed: int


@dataclass(frozen=True)
class Engine:
    """A way to run Stan programs."""

    name: str
    version: str
    run: Callable[[Job, Report], Draws]


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

    Raises
    ------
    StanMissing
        Names the two ways to get Stan.
    """
    engine = find_stan()
    reference = model.require_reference()
    parameters = reference.parameters
    data = reference.stan_data(corpus, truncation)
    job = Job(
        program=program_text(reference.stan_program, reference.stan_includes),
        data={name: np.asarray(value).tolist() for name, value in data.items()},
        names=(*parameters, *STATISTICS),
        chains=chains,
        tune=tune,
        draws=draws,
        seed=seed % (2**31 - 1) + 1,
    )
    found = engine.run(job, progress)
    stats = {ours: found[theirs] for theirs, ours in STATISTICS.items()}
    return {
        "draws": {name: found[name] for name in parameters},
        "stats": stats | {"diverging": stats["diverging"] != 0, "n_steps": stats["n_steps"].astype(np.int64)},
        "seconds": found["seconds"],
        "backend_version": f"{engine.name} {engine.version}",
    }


def find_stan() -> Engine:
    """Choose how Stan programs are run: CmdStanPy where CmdStan is found, else PyStan.

    Raises
    ------
    StanMissing
        Where there is neither.
    """
    cmdstan = _cmdstan_version()
    if cmdstan is not None:
        return Engine("cmdstan", cmdstan, _run_cmdstan)
    pystan = _installed("pystan")
    if pystan is not None and shutil.which(os.environ.get("CXX", "g++").split()[0]):
        return Engine("pystan", pystan, _run_pystan)
    raise StanMissing(
        "Stan not found: install CmdStan (`pip install cmdstanpy`, then `install_cmdstan`), "
        "or PyStan (`pip install pystan`) with g++ on the PATH"
    )


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


def _installed(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _cmdstan_version() -> str | None:
    """Version of the CmdStan that CmdStanPy finds."""
    try:
        import cmdstanpy

        directory = cmdstanpy.cmdstan_path()
    except (ImportError, ValueError):
        return None
    return Path(directory).name.removeprefix("cmdstan-")


def _run_cmdstan(job: Job, progress: Report) -> Draws:
    """Run `job` through CmdStanPy."""
    import cmdstanpy

    logging.getLogger("cmdstanpy").setLevel(logging.WARNING)
    _report_all(progress, job, 0.0)
    model = cmdstanpy.CmdStanModel(stan_file=_cached_source(job.program))
    with tempfile.TemporaryDirectory(prefix="bnpzoo-") as directory:
        fit = model.sample(
            data=job.data,
            chains=job.chains,
            iter_warmup=job.tune,
            iter_sampling=job.draws,
            seed=job.seed,
            inits=INIT_RADIUS,
            adapt_delta=TARGET_ACCEPT,
            show_progress=False,
            output_dir=directory,
        )
        statistics = fit.method_variables()
        found = {name: statistics[name].T for name in STATISTICS}
        for name in set(job.names) - set(STATISTICS):
            values = fit.stan_variable(name)
            found[name] = values.reshape(job.chains, job.draws, *values.shape[1:])
        found["seconds"] = np.array([chain["total"] for chain in fit.time])
    _report_all(progress, job, 1.0)
    return found


def _cached_source(program: str) -> str:
    """Write `program` where CmdStanPy leaves its executable beside it, and finds it the next time."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bnpzoo" / "stan"
    path = root / f"program_{hashlib.sha256(program.encode()).hexdigest()[:16]}.stan"
    if not path.exists():
        root.mkdir(parents=True, exist_ok=True)
        beside = path.with_suffix(f".{os.getpid()}")
        beside.write_text(program, encoding="utf-8")
        beside.replace(path)
    return str(path)


def _run_pystan(job: Job, progress: Report) -> Draws:
    """Run `job` through PyStan, in another process; see `pystan_worker`."""
    order = {
        "program": job.program,
        "data": job.data,
        "names": job.names,
        "seed": job.seed,
        "settings": {
            "num_chains": job.chains,
            "num_warmup": job.tune,
            "num_samples": job.draws,
            "init_radius": INIT_RADIUS,
            "delta": TARGET_ACCEPT,
        },
    }
    _report_all(progress, job, 0.0)
    with tempfile.TemporaryDirectory(prefix="bnpzoo-") as directory:
        (Path(directory) / "job.json").write_text(json.dumps(order), encoding="utf-8")
        script = Path(__file__).with_name("pystan_worker.py")
        # -P: this directory holds a stan.py too, which must not be taken for PyStan.
        command = [sys.executable, "-P", str(script), directory]
        messages = _listen(command, lambda done: _report_all(progress, job, done))
        result = Path(directory) / "draws.npz"
        if not result.exists():
            raise RuntimeError(f"PyStan: {messages[-1] if messages else 'stopped without a message'}")
        with np.load(result, allow_pickle=False) as draws:
            found = {name: draws[name] for name in draws.files}
    _report_all(progress, job, 1.0)
    return found


def _listen(command: list[str], report: Callable[[float], None]) -> list[str]:
    """Run `command`; pass on how far it says it is; return the other lines that it prints."""
    messages = []
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "encoding": "utf-8", "errors": "replace"}
    with subprocess.Popen(command, **pipe) as process:
        try:
            for line in process.stdout or ():
                counts = re.search(r"\((\d+)/(\d+)\)", line)
                if counts:
                    report(int(counts[1]) / int(counts[2]))
                elif line.strip():
                    messages.append(line.strip())
        except BaseException:
            process.terminate()
            raise
    return messages


def _report_all(progress: Report, job: Job, done: float) -> None:
    """Report the same for all chains: Stan's own reports do not tell them apart."""
    total = job.tune + job.draws
    for chain in range(job.chains):
        progress(chain, round(done * total), total)

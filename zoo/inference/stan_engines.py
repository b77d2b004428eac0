"""Ways to run Stan: CmdStan, or PyStan made to look like it."""

import fcntl
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, override

from ..files import replace_on_success
from .stan_chains import StanError, end, start

TARGET_ACCEPT = 0.9
INIT_RADIUS = 1
MAX_TREE_DEPTH = 10

WORKER = Path(__file__).with_name("pystan_worker.py")
# -P: the folder of the worker holds a stan.py too, which must not be taken for PyStan.
PYTHON = [sys.executable, "-P", "-W", "ignore"]


class StanMissing(StanError):
    """Neither CmdStan nor PyStan with a C++ compiler is there."""


@dataclass(frozen=True)
class Job:
    """What is to be run.

    Attributes
    ----------
    program : str
        Stan source without includes.
    data : dict
        In JSON's types.
    names : tuple of str
        Variables and sampler statistics that are wanted.
    chains, tune, draws, seed : int
    """

    program: str
    data: dict[str, Any]
    names: tuple[str, ...]
    chains: int
    tune: int
    draws: int
    seed: int

    @property
    def refresh(self) -> int:
        """Iterations from one report of a chain to its next."""
        return max(1, (self.tune + self.draws) // 100)


@dataclass(frozen=True)
class Engine(ABC):
    """A way to run Stan programs."""

    version: str
    name: ClassVar[str]
    suffix: ClassVar[str] = ""

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    def compile(self, program: str) -> Path:
        """Compile `program`, or find it in the cache.

        Of processes that want the same program one compiles it and the others wait.

        Raises
        ------
        StanError
            Says in one line why it does not compile.
        """
        digest = hashlib.sha256("\n".join((program, *self._fingerprint())).encode()).hexdigest()[:16]
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bnpzoo" / "stan"
        target = cache / f"{self.name}-{self.version}-{digest}{self.suffix}"
        if not target.exists():
            cache.mkdir(parents=True, exist_ok=True)
            with _locked(cache / self._lock_of(target)):
                if not target.exists():
                    self._compile_to(target, program)
        return target

    def _compile_to(self, target: Path, program: str) -> None:
        with tempfile.TemporaryDirectory(prefix="bnpzoo-") as directory:
            source = Path(directory) / "program.stan"
            source.write_text(program, encoding="utf-8")
            compiled = self._build(source)
            with replace_on_success(target) as temporary:
                shutil.copy(compiled, temporary)

    def _lock_of(self, target: Path) -> str:
        """Name of the file that is locked while `target` is made."""
        return "lock"

    @abstractmethod
    def _build(self, source: Path) -> Path:
        """Compile `source`, in the folder that it is in."""

    @abstractmethod
    def _fingerprint(self) -> tuple[str, ...]:
        """Return what a compiled program depends on, besides its source."""

    @abstractmethod
    def prepare(self, job: Job, folder: Path) -> None:
        """Write to `folder` what the chains of `job` read."""

    @abstractmethod
    def command(self, compiled: Path, job: Job, folder: Path, chain: int) -> list[str]:
        """Command that runs `chain` of `job` and writes its draws to `draws_of(folder, chain)`."""


@dataclass(frozen=True)
class CmdStan(Engine):
    """CmdStan in a folder."""

    folder: Path
    name = "cmdstan"

    @classmethod
    def find(cls) -> "CmdStan | None":
        """Return the CmdStan that CmdStanPy finds, if it has been built."""
        try:
            import cmdstanpy

            folder = Path(cmdstanpy.cmdstan_path()).resolve()
            makefile = (folder / "makefile").read_text(encoding="utf-8", errors="replace")
        except (ImportError, ValueError, LookupError, OSError):
            return None
        version = re.search(r"^CMDSTAN_VERSION\s*:?=\s*(\S+)", makefile, re.MULTILINE)
        stanc = folder / "bin" / "stanc"
        return cls(version[1], folder) if version and os.access(stanc, os.X_OK) else None

    def _fingerprint(self) -> tuple[str, ...]:
        return (self.version, str(self.folder))

    def _build(self, source: Path) -> Path:
        compiled = source.with_suffix("")
        _call([os.environ.get("MAKE", "make"), str(compiled)], self.folder)
        return compiled

    def prepare(self, job: Job, folder: Path) -> None:
        """Write the data."""
        (folder / "data.json").write_text(json.dumps(job.data), encoding="utf-8")

    def command(self, compiled: Path, job: Job, folder: Path, chain: int) -> list[str]:
        """Command line of the compiled program, in the order that CmdStan wants."""
        data, draws = folder / "data.json", draws_of(folder, chain)
        # With 18 significant digits a double that is read is the one that was written.
        return [
            str(compiled), f"id={chain + 1}", "random", f"seed={job.seed}", "data", f"file={data}",
            f"init={INIT_RADIUS}", "output", f"file={draws}", f"refresh={job.refresh}", "sig_figs=18",
            "method=sample", f"num_samples={job.draws}", f"num_warmup={job.tune}",
            "algorithm=hmc", "engine=nuts", f"max_depth={MAX_TREE_DEPTH}",
            "adapt", f"engaged={int(job.tune > 0)}", f"delta={TARGET_ACCEPT}",
        ]  # fmt: skip


@dataclass(frozen=True)
class PyStan(Engine):
    """PyStan, of which `pystan_worker` makes executables like CmdStan's."""

    name = "pystan"
    suffix = ".so"

    @classmethod
    def find(cls) -> "PyStan | None":
        """Return PyStan, where it is installed and a C++ compiler is there."""
        version = _installed("pystan")
        compiler = shutil.which(os.environ.get("CXX", "g++").split()[0])
        return cls(version) if version is not None and compiler is not None else None

    def _fingerprint(self) -> tuple[str, ...]:
        libraries = importlib.util.find_spec("httpstan")  # a compiled program looks for them where they were
        return (self.version, str(_installed("httpstan")), sys.version, str(libraries and libraries.origin))

    @override
    def _lock_of(self, target: Path) -> str:
        """One a program: compilations do not share files, as those of CmdStan do."""
        return f"{target.name}.lock"

    def _build(self, source: Path) -> Path:
        _call([*PYTHON, str(WORKER), "build", str(source)], source.parent)
        return source.with_suffix(self.suffix)

    def prepare(self, job: Job, folder: Path) -> None:
        """Write the job."""
        order = {
            "data": job.data,
            "names": job.names,
            "settings": {
                "random_seed": job.seed,
                "num_warmup": job.tune,
                "num_samples": job.draws,
                "refresh": job.refresh,
                "init_radius": INIT_RADIUS,
                "delta": TARGET_ACCEPT,
                "max_depth": MAX_TREE_DEPTH,
            },
        }
        (folder / "job.json").write_text(json.dumps(order), encoding="utf-8")

    def command(self, compiled: Path, job: Job, folder: Path, chain: int) -> list[str]:
        """Command line of the worker."""
        order, draws = folder / "job.json", draws_of(folder, chain)
        return [*PYTHON, str(WORKER), "sample", str(compiled), str(order), str(chain + 1), str(draws)]


def engines() -> list[Engine]:
    """Return all ways to run Stan that are there, the best first."""
    return [engine for engine in (CmdStan.find(), PyStan.find()) if engine is not None]


def find_stan() -> Engine:
    """Choose how Stan programs are run: CmdStan where CmdStanPy finds it, else PyStan.

    Raises
    ------
    StanMissing
        Where there is neither.
    """
    found = engines()
    if not found:
        raise StanMissing(
            "Stan not found: install CmdStan (`pip install cmdstanpy`, then `install_cmdstan`), "
            "or PyStan (`pip install pystan`) with g++ on the PATH"
        )
    return found[0]


def draws_of(folder: Path, chain: int) -> Path:
    """File that a chain writes its draws to."""
    return folder / f"chain-{chain}.csv"


def _installed(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock `path`, which one process at a time can."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _call(command: list[str], folder: Path) -> None:
    """Run a compiler to its end; if that is cut short, so is the compiler."""
    process = start(command, folder)
    with process:
        try:
            output, _ = process.communicate()
        except BaseException:
            end(process)
            raise
    if process.returncode != 0:
        raise StanError(f"Stan: the program does not compile: {_telling_line(output)}")


def _telling_line(output: str) -> str:
    """Line of a compiler's messages that says most: the first that speaks of an error, else the last."""
    lines = [line.strip() for line in output.splitlines() if line.strip()] or ["the compiler said nothing"]
    return next((line for line in lines if re.search(r"\berror\b", line, re.IGNORECASE)), lines[-1])

"""Runs trials of a blind audit: each in a process of its own, with a copy of the program."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import CancelledError
from pathlib import Path
from typing import IO, NamedTuple

from .changes import Mutation
from .targets import Target
from .trial import Trial

STOPPED = -1
"""Exit code of what ran past its time."""

PATIENCE = 20.0
"""What waits without computing is stopped after so many times its seconds of one core."""


class Ended(NamedTuple):
    """A trial that is over.

    Attributes
    ----------
    code : int
        Exit code, or `STOPPED`.
    said : list of str
        The last lines that it printed.
    seconds : float
        Of one core, which do not depend on what else runs.
    """

    code: int
    said: list[str]
    seconds: float


class Runner:
    """Runs trials, in as many threads as want some, until it is told to stop."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[str]] = set()
        self._is_stopped = False
        self._lock = threading.Lock()

    def stop(self) -> None:
        """End all trials, of which nothing is known then; further ones do not begin."""
        with self._lock:
            self._is_stopped = True
            for process in self._running:
                _kill(process)

    def run(self, target: Target, trial: Trial, mutation: Mutation | None, limit: float) -> Ended:
        """Put a program before a trial, for at most `limit` seconds of one core.

        Raises
        ------
        CancelledError
            The runner was told to stop.
        """
        with tempfile.TemporaryDirectory(prefix="bnpzoo-blind-", ignore_cleanup_errors=True) as temporary:
            folder = Path(temporary)
            root = target.copy(folder)
            environment = target.environment(folder)
            if mutation is not None:
                file = root / mutation.file
                file.write_bytes(mutation.apply(file.read_bytes()))
                shutil.rmtree(file.parent / "__pycache__", ignore_errors=True)
                if file.suffix == ".stan":  # the cache of compiled programs is not for mutants
                    environment["XDG_CACHE_HOME"] = str(folder / ".cache")
            limited = ["sh", "-c", 'ulimit -t "$0" && exec "$@"', f"{limit:.0f}"]
            log = folder / "told"
            code, seconds = self._run(
                [*limited, sys.executable, *trial.arguments], root, environment, log, limit
            )
            if code in (-signal.SIGKILL, -signal.SIGXCPU):
                return Ended(STOPPED, [f"stopped after {seconds:.0f} s"], seconds)
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        return Ended(code, [line[:300] for line in lines if line.strip()][-20:], seconds)

    def _run(
        self, command: list[str], root: Path, environment: dict[str, str], log: Path, limit: float
    ) -> tuple[int, float]:
        """Exit code of a command, and its seconds of one core."""
        with (
            log.open("w", encoding="utf-8") as told,
            self._begun(command, root, environment, told) as process,
        ):
            watch = threading.Timer(PATIENCE * limit, _kill, [process])
            watch.start()
            try:
                _, status, used = os.wait4(process.pid, 0)
                code = process.returncode = os.waitstatus_to_exitcode(status)
            finally:
                watch.cancel()
                if process.returncode is None:
                    _kill(process)
                with self._lock:
                    self._running.discard(process)
        if self._is_stopped:  # what was killed has not failed
            raise CancelledError
        return code, used.ru_utime + used.ru_stime

    def _begun(
        self, command: list[str], root: Path, environment: dict[str, str], told: IO[str]
    ) -> "subprocess.Popen[str]":
        with self._lock:
            if self._is_stopped:
                raise CancelledError
            process = subprocess.Popen(
                command,
                cwd=root,
                env=environment,
                stdout=told,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,  # so that what it has started can be ended with it
            )
            self._running.add(process)
        return process


def _kill(process: "subprocess.Popen[str]") -> None:
    """End a process and all that it has started; the thread that waits for it is the one to learn of it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)

"""Stan's chains: a process each, how far they are, what they have written when they are stopped."""

import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import suppress
from itertools import chain as concatenated
from pathlib import Path

import numpy as np

from .interrupt import Stop
from .progress import Report

ITERATION = re.compile(r"Iteration:\s*(\d+)\s*/\s*(\d+).*\((Warmup|Sampling)\)")


class StanError(RuntimeError):
    """Stan is not there, or cannot compile or run a program; the message is one line."""


class Chains:
    """Processes that sample, one a chain, as many at a time as there are cores.

    CmdStanPy could run them too, but it keeps nothing of an interrupted run and leaves its chains behind.

    Parameters
    ----------
    commands : sequence of list of str
        One a chain. Each says how far it is as CmdStan does.
    report : Report
    stop : Stop
        Whether the user asks to stop.
    """

    def __init__(self, commands: Sequence[list[str]], report: Report, stop: Stop):
        self._commands = commands
        self._report = report
        self._stop = stop
        self._running: dict[int, subprocess.Popen[str]] = {}
        self._ended = False
        self._lock = threading.Lock()

    def run(self) -> list[float]:
        """Run all chains to their end, or until the user asks to stop.

        Returns
        -------
        list of float
            CPU seconds of each chain.

        Raises
        ------
        StanError
            A chain fails; the others are stopped.
        """
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            futures = [pool.submit(self._follow, *item) for item in enumerate(self._commands)]
            # Signals are heard between two waits; one without a timeout would not end on every platform.
            while wait(futures, timeout=0.2, return_when=FIRST_EXCEPTION).not_done:
                if self._stop.asked or any(future.done() and future.exception() for future in futures):
                    self._end_all()
        return [future.result() for future in futures]

    def _follow(self, chain: int, command: list[str]) -> float:
        """Run one chain and report how far it is."""
        with self._lock:
            if self._ended:
                return 0.0
            process = self._running[chain] = start(command)
        try:
            last = self._listen(chain, process)
        except BaseException:
            end(process)
            raise
        finally:
            _, status, resources = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            with self._lock:
                del self._running[chain]
        with self._lock:
            if process.returncode != 0 and not self._ended:
                raise StanError(f"Stan: chain {chain} ended with status {process.returncode}: {last}")
        return resources.ru_utime + resources.ru_stime

    def _listen(self, chain: int, process: "subprocess.Popen[str]") -> str:
        """Report how far a chain says it is; return the last else that it says."""
        last = "no message"
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                iteration = ITERATION.search(line)
                if iteration:
                    note = "tuning" if iteration[3] == "Warmup" else ""
                    self._report(chain, int(iteration[1]), int(iteration[2]), note)
                elif line.strip():
                    last = line.strip()
        return last

    def _end_all(self) -> None:
        with self._lock:
            self._ended = True
            for process in self._running.values():
                end(process)


def start(command: list[str], folder: Path | None = None) -> "subprocess.Popen[str]":
    """Start `command` in `folder`, in a session of its own, which Ctrl-C on the terminal does not reach."""
    try:
        return subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise StanError(f"Stan: cannot run {command[0]}: {error.strerror}") from None


def end(process: "subprocess.Popen[str]") -> None:
    """End `process` and all that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)


def read_chain(path: Path, names: Iterable[str]) -> dict[str, np.ndarray] | None:
    """Read what a chain has written so far, in the format of CmdStan.

    Parameters
    ----------
    path : Path
        The last line may be cut short.
    names : iterable of str
        Variables to read.

    Returns
    -------
    dict of array (draws, …) or None
        None where there is no draw yet.
    """
    if not path.exists():
        return None
    with path.open(encoding="ascii") as file:
        lines = (line for line in file if line.endswith("\n") and not line.startswith("#"))
        header, first = next(lines, ""), next(lines, None)
        if first is None:
            return None
        columns: dict[str, list[int]] = {name: [] for name in names}
        elements = header.strip().split(",")
        for column, element in enumerate(elements):
            columns.get(element.partition(".")[0], []).append(column)
        wanted = list(concatenated(*columns.values()))
        table = np.loadtxt(concatenated([first], lines), delimiter=",", usecols=wanted, ndmin=2)
    found, at = {}, 0
    for name, own in columns.items():
        shape = map(int, elements[own[-1]].split(".")[1:])  # indices of the last element
        found[name] = table[:, at : at + len(own)].reshape(len(table), *shape, order="F")
        at += len(own)
    return found

"""Progress of a run, told apart from the sampling: a callback, and one that draws bars."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


class Report(Protocol):
    """What a back end calls as it goes, from any thread."""

    def __call__(self, chain: int, done: int, total: int, note: str = "") -> None:
        """Chain `chain` has done `done` of `total` sweeps."""
        ...


def silent(chain: int, done: int, total: int, note: str = "") -> None:
    """Report nothing."""


def displayed(progress: bool | Report, chains: int) -> AbstractContextManager[Report]:
    """Show progress as `sample` is told to: on bars, by a callback or not at all; ValueError for another."""
    if not (isinstance(progress, bool) or callable(progress)):
        raise ValueError(f"progress: expected True, False or a function, found {progress!r}")
    return bars(chains) if progress is True else nullcontext(progress or silent)


def compiling(progress: bool | Report) -> AbstractContextManager[object]:
    """Say on the terminal, where bars are shown, that kernels are compiled, which can take half a minute."""
    if progress is not True:
        return nullcontext()
    return Console(stderr=True).status("compiling the sampler, unless that was done before")


def told(progress: bool | Report, text: str) -> None:
    """Say something on the terminal, where bars are shown."""
    if progress is True:
        Console(stderr=True, highlight=False).print(text, markup=False)


@contextmanager
def bars(chains: int, console: Console | None = None) -> Iterator[Report]:
    """Draw one bar a chain on the terminal, on standard error by default."""
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=28),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
        console=console or Console(stderr=True),
    )
    tasks = [progress.add_task(f"chain {c}", total=None, note="") for c in range(chains)]

    def report(chain: int, done: int, total: int, note: str = "") -> None:
        progress.update(tasks[chain], completed=done, total=total, note=note)

    with progress:
        yield report

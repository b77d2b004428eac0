"""What every command shares: where it prints, how it fails, what its exit code means."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

from ..zoo.wording import printable

if TYPE_CHECKING:
    from pandas import DataFrame


VERDICTS = {
    "agree": "green",
    "constant": "dim",
    "inconclusive": "yellow",
    "disagree": "red",
    "passed": "green",
    "rejected": "red",
    "broken": "red",
}
"""Colour of each verdict."""


WHOLE = 20
"""Words of a table of up to this many characters are never broken, where two columns of them have room."""

GAP = 2
"""Characters between the columns of a table."""


class ExitCode(IntEnum):
    """Exit codes of every command."""

    OK = 0
    DISAGREEMENT = 1
    BAD_INPUT = 2
    INCONCLUSIVE = 3
    INTERRUPTED = 130
    CLOSED_PIPE = 141


class Output(Console):
    """Console that a command ends with when its reader has gone, as in ``bnpzoo … | head``."""

    def on_broken_pipe(self) -> None:
        """Exit with a code that says so; that of Rich is 1, which says that fits disagree."""
        with suppress(SystemExit):
            super().on_broken_pipe()
        raise SystemExit(ExitCode.CLOSED_PIPE)


out = Output(emoji=False)  # a name such as :one: is no picture
"""Standard output: results."""

err = Output(stderr=True, emoji=False)
"""Standard error: progress, remarks and errors, so that results can be piped."""


def fail(message: str) -> NoReturn:
    """Print one red line and exit with `ExitCode.BAD_INPUT`."""
    say(f"error: {' '.join(message.split())}", "red", err)
    raise typer.Exit(ExitCode.BAD_INPUT)


def say(text: str, style: str | None = None, console: Console = out) -> None:
    """Print `text` literally, as one line however narrow the terminal."""
    console.print(printable(text), style=style, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def resumable(folder: Path) -> Iterator[None]:
    """Let Ctrl-C say how to go on with the block, which keeps what it has done in `folder`.

    So do signals that would end this process at once, and leave the processes that it has started behind.
    """
    from ..zoo.inference import interrupted_by_any

    try:
        with interrupted_by_any():
            yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"what is done is in {folder}, and the same command goes on") from None


def with_error(value: float, error: float, spec: str) -> str:
    """Return an estimate with its standard error, or alone where one data set or document gives none."""
    return f"{value:{spec}}" if math.isnan(error) else f"{value:{spec}} ± {error:{spec.removeprefix('+')}}"


def print_json(value: Any) -> None:
    """Print `value` as JSON; see `as_json_text`."""
    typer.echo(as_json_text(value, indent=2))


def as_json_text(value: Any, indent: int | None = None) -> str:
    """Write `value` as JSON; NumPy numbers and arrays become plain ones, NaN and infinities null."""
    return json.dumps(_plain(value), indent=indent, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value if value is None or isinstance(value, (bool, int, float)) else str(value)


def check_csv(path: Path | None) -> None:
    """Raise ValueError unless `path` is the name of a table, or None."""
    if path is not None and path.suffix.lower() != ".csv":
        raise ValueError(f"{path}: expected a name that ends in .csv, which is what the table is")


def write_csv(table: "DataFrame", path: Path, *, index: bool = False) -> None:
    """Write a table, whole or not at all, and say so."""
    with csv_in_parts(path) as write:
        write(table, index=index)


@contextmanager
def csv_in_parts(path: Path) -> Iterator[Callable[..., None]]:
    """Yield what appends rows to a table, which is there whole or not at all; say so when it is.

    It takes a DataFrame, and ``index`` as `write_csv` does.
    """
    from ..zoo.files import replace_on_success

    with replace_on_success(path) as temporary:

        def write(table: "DataFrame", *, index: bool = False) -> None:
            table.to_csv(temporary, mode="a", index=index, header=not temporary.exists())

        yield write
    say(f"Wrote {path}", console=err)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table; numbers stand to the right, text is taken literally.

    Columns for which there is no room stand below, with the first one again.
    """
    out.print(Text(printable(title), "table.title"), soft_wrap=True)
    told = [[_cell(value) for value in row] for row in rows]
    shown = [_column(name, [row[j] for row in told]) for j, name in enumerate(columns)]
    for block in _blocks([column.min_width or 0 for column in shown]):
        table = Table(
            *_fitted([shown[j] for j in block]),
            box=SIMPLE_HEAD,
            show_edge=False,
            padding=(0, 1, 0, 0),
            pad_edge=False,
        )
        for row in told:
            table.add_row(*(row[j][0] for j in block))
        out.print(table, "")


def _column(name: str, cells: Sequence[tuple[str, bool]]) -> Column:
    """Column of a table, no narrower than its longest word, and no wider than its longest line."""
    is_numeric = all(is_number for _, is_number in cells)
    name = escape(printable(name))
    name = name.replace(" ", "\n") if is_numeric else name  # as narrow as the numbers allow
    told = [Text.from_markup(text, emoji=False).plain for text in (name, *(text for text, _ in cells))]
    return Column(
        name,
        justify="right" if is_numeric else "left",
        overflow="fold",
        min_width=_longest_word(told),
        max_width=max((cell_len(line) for text in told for line in text.splitlines()), default=1),
    )


def _fitted(columns: Sequence[Column]) -> Iterator[Column]:
    """Yield copies of columns that have room beside each other, with their widths.

    The widest are narrowed, all to one width, but not below their longest words. Rich does not heed these,
    and cuts off what is then too wide.
    """
    room, width = out.width - GAP * (len(columns) - 1), out.width
    ends = [(column.min_width or 1, column.max_width or 1) for column in columns]
    while sum(max(least, min(most, width)) for least, most in ends) > room and width > 1:
        width -= 1
    for column, (least, most) in zip(columns, ends, strict=True):
        fitted = column.copy()
        fitted.width = max(least, min(most, width))
        yield fitted


def _blocks(widths: Sequence[int]) -> Iterator[list[int]]:
    """Columns that stand beside each other: the first in every block, and those that there is room for."""
    block, used = [0], widths[0]
    for column, width in enumerate(widths[1:], 1):
        if used + GAP + width > out.width and len(block) > 1:
            yield block
            block, used = [0], widths[0]
        block.append(column)
        used += GAP + width
    yield block


def _longest_word(texts: Iterable[str]) -> int:
    """Characters of the longest word that is not to be broken."""
    most = min(WHOLE, (out.width - GAP) // 2)
    sizes = (cell_len(word) for text in texts for word in text.split())
    return max((size for size in sizes if size <= most), default=1)


def _cell(value: Any) -> tuple[str, bool]:
    """Text of a cell, and whether it is a number."""
    if isinstance(value, bool):
        return ("yes" if value else "no"), False
    if isinstance(value, int):
        return f"{value:,}", True
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.4g}", True
    style = VERDICTS.get(value)
    text = escape(printable(str(value)))
    return (f"[{style}]{text}[/]" if style else text), False


@contextmanager
def one_bar(what: str = "", *, starts_anew: bool = False) -> Iterator[Callable[..., None]]:
    """Draw one bar, for what is going on now, on standard error.

    Yields what moves it, called as ``move(done, total)`` or ``move(done, total, what)``. Where it
    `starts_anew`, the time of something else is counted from its own beginning.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(bar_width=28), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=err, transient=True) as bars:
        task = bars.add_task(what, total=None)
        current = what

        def move(done: int, total: int, what: str = what) -> None:
            nonlocal current
            if starts_anew and what != current:
                bars.reset(task)
            current = what
            bars.update(task, description=what, completed=done, total=total)

        yield move

"""What the experiments share: their options, and how one is run and shown."""

import math
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..console import one_bar, print_json, print_table, resumable, say, with_error

if TYPE_CHECKING:
    from ...diagnostics.experiments.runner import Experiment

experiment = typer.Typer(
    no_args_is_help=True,
    help="Do an experiment of a paper again: all methods over all settings, with figure and numbers.\n\n"
    "Each finished run is kept in the folder, so that the same command goes on where it was stopped.",
)


class Size(StrEnum):
    """Choices of ``--size``."""

    SMALL = "small"
    PAPER = "paper"


def positive(value: float) -> float:
    """Check the value of an option."""
    if not 0.0 < value < math.inf:
        raise typer.BadParameter(f"expected a positive number, found {value}")
    return value


SizeOption = Annotated[Size, typer.Option(help="small: minutes; paper: the paper's sizes, hours or days.")]
Replicates = Annotated[int, typer.Option(min=1, max=10_000, help="Data sets for each setting.")]
Eta = Annotated[
    float,
    typer.Option(
        callback=positive,
        help="Dirichlet parameter of topics. The paper's, 5e-5, does not mix: see the docs.",
    ),
]
Jobs = Annotated[int, typer.Option(min=1, help="Processes; results do not depend on it.")]
Out = Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of results; out/NAME by default.")]
Corpus = Annotated[str, typer.Argument(metavar="CORPUS", help="A corpus file.", show_default=False)]
Documents = Annotated[
    int, typer.Option(min=5, help="Documents taken at random, at size small; all at size paper.")
]
Splits = Annotated[int, typer.Option(min=1, max=10_000, help="Splits into training and test documents.")]


def sized(size: Size, small: Any, paper: Any, replicates: int) -> Any:
    """Choose an experiment by its size, with that many replicates."""
    return replace(paper if size is Size.PAPER else small, replicates=replicates)


def run(chosen: "Experiment", out: Path | None, jobs: int, as_json: bool, dask: str | None = None) -> None:
    """Run an experiment; write and print what it found."""
    from ...diagnostics.experiments.runner import plot_experiment, run_experiment, summary

    folder = out or Path("out") / chosen.name
    with resumable(folder), one_bar(chosen.name) as progress:
        results = run_experiment(chosen, folder, jobs, progress, dask)
    table = summary(chosen, results)
    figure = folder / f"{chosen.name}.png"
    plot_experiment(chosen, results, figure)
    if as_json:
        print_json({"experiment": chosen.name, "summary": table.to_dict("records"), "figure": figure})
        return
    gain = [
        with_error(mean, se, "+.3f") for mean, se in zip(table["gain_mean"], table["gain_se"], strict=True)
    ]
    means = [name for name in table.columns if name.endswith("_mean") and name != "gain_mean"]
    kept = table[[*chosen.settings_shown, "method", *means]].round(4).assign(gain=gain)
    print_table(
        f"{chosen.name}: {chosen.labels[chosen.measure]}; gain over {chosen.baseline} ± standard error",
        [name.removeprefix(f"{chosen.measure}_").removesuffix("_mean") for name in kept.columns],
        kept.to_numpy(object).tolist(),
    )
    say(f"Numbers: {folder / 'results.csv'}. Figure: {figure}.")

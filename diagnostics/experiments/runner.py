"""A grid of settings, methods and replications: done in parallel, kept as it comes, taken up again."""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from joblib import delayed

from ...zoo.files import claim, replace_on_success
from ..engine import unordered

if TYPE_CHECKING:
    from distributed import Client


class Cell(NamedTuple):
    """One run of one method.

    Attributes
    ----------
    setting : dict
        What is varied, by name; numbers or short words.
    method : str
    replicate : int
        Methods with the same setting and replicate see the same data.
    """

    setting: dict[str, Any]
    method: str
    replicate: int

    @property
    def name(self) -> str:
        """Name of its file."""
        return ",".join([*(f"{k}={v}" for k, v in self.setting.items()), self.method, str(self.replicate)])


@dataclass(frozen=True)
class Sampling:
    """How the posterior is drawn from.

    Parameters
    ----------
    tune, draws, thin : int
        Sweeps before the first draw; draws a chain; sweeps a draw.
    """

    tune: int
    draws: int
    thin: int = 1


class Experiment(ABC):
    """What is varied, and what is measured: a frozen dataclass, whose fields determine all results.

    A replicate does not depend on how many `replicates` there are.

    Attributes
    ----------
    name : str
    x : str
        The setting on the horizontal axis of the figure.
    panel : str
        The setting with a panel for each of its values; empty for one panel.
    measure : str
        The figure on the vertical axis.
    baseline : str
        The method that others are compared with.
    difference : str
        What the measure minus that of the baseline is, in words that end before the name of the baseline.
    labels : mapping of str to str
        What to write at an axis or in a legend, for settings, measures and methods.
    """

    name: str
    methods: tuple[str, ...]
    replicates: int
    x: ClassVar[str]
    panel: ClassVar[str] = ""
    measure: ClassVar[str]
    baseline: ClassVar[str]
    difference: ClassVar[str] = "gain over"
    labels: ClassVar[Mapping[str, str]]

    @property
    def settings_shown(self) -> list[str]:
        """Settings that results are told apart by: that of the panels, if any, and that of the axis."""
        return [name for name in (self.panel, self.x) if name]

    @abstractmethod
    def settings(self) -> Iterator[dict[str, Any]]:
        """List what is varied, besides method and replicate."""

    @abstractmethod
    def run(self, cell: Cell) -> dict[str, float]:
        """Figures of one cell; depends on the cell and the fields of the experiment alone."""

    @abstractmethod
    def check(self) -> None:
        """Raise ValueError where a cell cannot be run; `run_experiment` asks before it writes anything."""

    def cells(self) -> list[Cell]:
        """List the whole grid; a replicate is finished before the next begins."""
        return [
            Cell(setting, method, replicate)
            for replicate in range(self.replicates)
            for setting in self.settings()
            for method in self.methods
        ]


def run_experiment(
    experiment: Experiment,
    folder: Path,
    n_jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
    cluster: "str | Client | None" = None,
) -> pd.DataFrame:
    """Run the cells that `folder` does not hold yet.

    Parameters
    ----------
    experiment : Experiment
    folder : Path
        Gets a file for each cell when that is finished, so that nothing is lost when the run is interrupted;
        and at the end ``results.csv``, ``summary.csv``.
    n_jobs : int
        Processes; results do not depend on it.
    progress : (done, total) -> None, optional
    cluster : str or distributed.Client, optional
        Of Dask, as for `sample`: runs the cells in place of processes. Files that cells read must be there
        by the same name; `folder` need not.

    Returns
    -------
    DataFrame
        A row a cell: its setting, method and replicate, and its figures.

    Raises
    ------
    ValueError
        A cell cannot be run, or `folder` holds another experiment, or this one with other fields than
        `replicates`.
    """
    experiment.check()
    claim(folder, _identity(experiment))
    cells = experiment.cells()
    missing = [cell for cell in cells if _read(folder, cell) is None]
    done = len(cells) - len(missing)
    if progress is not None:
        progress(done, len(cells))
    tasks = (delayed(_run_cell)(experiment, cell, folder if cluster is None else None) for cell in missing)
    for cell, figures in unordered(tasks, min(n_jobs, max(len(missing), 1)), cluster if missing else None):
        if cluster is not None:
            _write(folder, cell, figures)
        done += 1
        if progress is not None:
            progress(done, len(cells))
    rows = []
    for cell in cells:
        figures = _read(folder, cell)
        assert figures is not None
        rows.append(cell.setting | {"method": cell.method, "replicate": cell.replicate} | figures)
    results = pd.DataFrame(rows)
    _write_csv(results, folder / "results.csv")
    _write_csv(summary(experiment, results), folder / "summary.csv")
    return results


def summary(experiment: Experiment, results: pd.DataFrame) -> pd.DataFrame:
    """Summarise every figure over replicates, a row a setting and method.

    Returns
    -------
    DataFrame
        Mean (``NAME_mean``) and standard deviation (``NAME_std``) of each figure; and of the measure minus
        that of the baseline on the same data, mean (``gain_mean``) and its standard error (``gain_se``).
    """
    settings = experiment.settings_shown
    by = [*settings, "method"]
    figures = [name for name in results.columns if name not in (*by, "replicate")]
    table = results.groupby(by, sort=False)[figures].agg(["mean", "std"])
    table.columns = ["_".join(names) for names in table.columns]
    table.insert(0, "replicates", results.groupby(by, sort=False).size())
    pairs = [*settings, "replicate"]
    baseline = results.loc[results["method"] == experiment.baseline].set_index(pairs)[experiment.measure]
    gain = results.set_index(pairs)[experiment.measure] - baseline.reindex(results.set_index(pairs).index)
    gains = results.assign(gain=gain.to_numpy()).groupby(by, sort=False)["gain"].agg(["mean", "sem"])
    table["gain_mean"], table["gain_se"] = gains["mean"], gains["sem"]
    return table.reset_index()


def plot_experiment(experiment: Experiment, results: pd.DataFrame, path: Path) -> None:
    """Draw the measure over the setting `x`, and below it what methods gain over the baseline.

    Above: mean over replicates, and one standard deviation up and down. Data sets differ by far more than
    methods do on the same one; below, therefore, the mean of the differences from the baseline, replicate by
    replicate, and two standard errors up and down.

    Parameters
    ----------
    experiment : Experiment
    results : DataFrame
        From `run_experiment`.
    path : Path
        Of the picture; its suffix says which kind.
    """
    from matplotlib.figure import Figure

    table = summary(experiment, results)
    panels = [None] if not experiment.panel else list(dict.fromkeys(table[experiment.panel]))
    figure = Figure(figsize=(2.0 + 3.2 * len(panels), 5.8), layout="constrained")
    axes = figure.subplots(2, len(panels), sharex=True, sharey="row", squeeze=False)
    baseline = experiment.labels.get(experiment.baseline, experiment.baseline)
    for column, panel in zip(axes.T, panels, strict=True):
        shown = table if panel is None else table.loc[table[experiment.panel] == panel]
        _draw_lines(
            column[0], experiment, shown, f"{experiment.measure}_mean", f"{experiment.measure}_std", 1.0
        )
        _draw_lines(column[1], experiment, shown, "gain_mean", "gain_se", 2.0)
        column[1].set_xlabel(experiment.labels[experiment.x])
        if panel is not None:
            column[0].set_title(f"{experiment.labels[experiment.panel]} {panel}", fontsize=10)
    axes[0, 0].set_ylabel(f"{experiment.labels[experiment.measure]}\n(± 1 sd of data sets)")
    axes[1, 0].set_ylabel(f"{experiment.difference}\n{baseline}\n(± 2 standard errors)")
    handles = axes[0, 0].get_legend_handles_labels()
    figure.legend(
        *handles, loc="outside lower center", ncols=1 + (len(panels) > 1), frameon=False, fontsize=9
    )
    with replace_on_success(path) as temporary:
        figure.savefig(temporary, dpi=160)


def _draw_lines(
    axis: Any, experiment: Experiment, table: pd.DataFrame, centre: str, bar: str, times: float
) -> None:
    values = list(dict.fromkeys(table[experiment.x]))
    width = min(b - a for a, b in pairwise(values)) if len(values) > 1 else 1.0
    apart = min(0.06, 0.4 / len(experiment.methods)) * width  # bars side by side can be told apart
    for j, method in enumerate(experiment.methods):
        own = table[table["method"] == method]
        shift = apart * (j - (len(experiment.methods) - 1) / 2)
        axis.errorbar(
            own[experiment.x] + shift,
            own[centre],
            times * np.nan_to_num(own[bar]),
            label=experiment.labels.get(method, method),
            marker="osD^vPX*"[j % 8],
            linestyle="-" if j < 10 else "--",  # there are ten colours
            markersize=4,
            capsize=2,
            linewidth=1.2,
        )
    axis.set_xticks(values)
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)


def _identity(experiment: Experiment) -> dict[str, Any]:
    """All that cells depend on. Not how many replicates there are, so that more can be added."""
    fields = asdict(experiment)  # type: ignore[call-overload]
    del fields["replicates"]
    return {"experiment": type(experiment).__name__, **fields}


def _run_cell(experiment: Experiment, cell: Cell, folder: Path | None) -> tuple[Cell, dict[str, float]]:
    """Run a cell and, where there is the folder, write what came of it."""
    figures = {name: float(value) for name, value in experiment.run(cell).items()}
    if folder is not None:
        _write(folder, cell, figures)
    return cell, figures


def _write(folder: Path, cell: Cell, figures: Mapping[str, float]) -> None:
    with replace_on_success(_path(folder, cell)) as temporary:
        temporary.write_text(json.dumps({k: v if math.isfinite(v) else str(v) for k, v in figures.items()}))


def _read(folder: Path, cell: Cell) -> dict[str, float] | None:
    path = _path(folder, cell)
    if not path.exists():
        return None
    return {name: float(value) for name, value in json.loads(path.read_text()).items()}


def _path(folder: Path, cell: Cell) -> Path:
    return folder / f"{cell.name}.json"


def _write_csv(table: pd.DataFrame, path: Path) -> None:
    with replace_on_success(path) as temporary:
        table.to_csv(temporary, index=False)

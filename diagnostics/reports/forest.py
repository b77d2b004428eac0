"""Forest plots: estimates with their intervals, a row each, side by side for several labels."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from ...zoo.files import replace_on_success
from ...zoo.wording import printable
from .differences import check_picture
from .plots import colour

PANEL, ROW = 2.4, 0.22
"""Inches: width of a panel, height of a row."""


class Panel(NamedTuple):
    """Estimates of one label, or of one response.

    Attributes
    ----------
    title : str
    mean, low, high : float (K,)
        NaN where there is none.
    """

    title: str
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray


def plot_forest(panels: Sequence[Panel], rows: Sequence[str], path: Path, what: str = "coefficient") -> None:
    """Draw estimates as points on their intervals, a panel a label and a row a topic; zero is a line.

    Parameters
    ----------
    panels : sequence of Panel
        One or more.
    rows : sequence of str
        What each row is called, K of them.
    path : Path
        Of the picture; its suffix says which kind.
    what : str
        That is estimated.
    """
    check_picture(path)
    size = (PANEL * (len(panels) + 1), ROW * len(rows) + 0.9)
    figure = Figure(figsize=size, layout="constrained")
    every = figure.subplots(1, len(panels), sharey=True, sharex=True, squeeze=False)[0]
    at = np.arange(len(rows))
    for i, (axes, panel) in enumerate(zip(every, panels, strict=True)):
        axes.axvline(0.0, color="0.6", linewidth=0.8, zorder=0)
        axes.hlines(at, panel.low, panel.high, color=colour(i), linewidth=1.6)
        axes.plot(panel.mean, at, "o", color=colour(i), markersize=3.5)
        axes.set_title(printable(panel.title), fontsize=8, parse_math=False)
        axes.tick_params(labelsize=7)
        axes.set_xlabel(what, fontsize=8)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    every[0].set_yticks(at, [printable(row) for row in rows], parse_math=False)
    every[0].set_ylim(len(rows) - 0.5, -0.5)
    with replace_on_success(path) as temporary:
        figure.savefig(temporary, dpi=160)

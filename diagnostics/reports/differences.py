"""A picture of topics side by side in all groups, in the manner of Chen et al. (2015), Figure 4."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from ...zoo.files import replace_on_success
from ...zoo.wording import printable
from ..differences import AlignedTopic, Version
from .plots import colour

COLUMN, ROW = 3.0, 1.5
"""Inches of a group and of a topic."""

LEAST = 0.55
"""Side of the smallest box, as a part of the largest."""


def check_picture(path: Path) -> None:
    """Raise ValueError unless the suffix of `path` is that of a picture that can be written."""
    kinds = Figure().canvas.get_supported_filetypes()
    if path.suffix.lower().removeprefix(".") not in kinds:
        raise ValueError(f"{path}: expected a name that ends in .png, .svg, .pdf or another of a picture")


def plot_differences(topics: list[AlignedTopic], path: Path) -> None:
    """Draw the versions of topics as boxes, a column a group, with an arc between neighbours.

    The area of a box grows with the topic's share of the group's tokens, the size of a word with its
    probability, the width of an arc, with the number at it, with the likeness of two versions. The
    concentration b of a topic stands at the left, where the model has one.

    Parameters
    ----------
    topics : list of AlignedTopic
        As many as the picture has rows.
    path : Path
        Of the picture; its suffix says which kind.
    """
    check_picture(path)
    n_groups = len(topics[0].versions)
    figure = Figure(figsize=(COLUMN * n_groups, ROW * len(topics) + 0.4), layout="constrained")
    axes = figure.subplots()
    axes.set_axis_off()
    axes.set(xlim=(-0.55, n_groups - 0.45), ylim=(len(topics) - 0.45, -0.75))
    largest = max(version.share for topic in topics for version in topic.versions)
    for g, version in enumerate(topics[0].versions):
        axes.text(
            g, -0.6, printable(version.group), ha="center", va="center", fontweight="bold", parse_math=False
        )
    for row, topic in enumerate(topics):
        sides = [LEAST + (1.0 - LEAST) * np.sqrt(version.share / largest) for version in topic.versions]
        for g, (version, side) in enumerate(zip(topic.versions, sides, strict=True)):
            _draw_box(axes, g, row, 0.74 * side, 0.84 * side, version, colour(g))
        for g in range(n_groups - 1):
            ends = (g + 0.37 * sides[g], row), (g + 1 - 0.37 * sides[g + 1], row)
            _draw_arc(axes, *ends, float(topic.pairwise[g, g + 1]))
        if not np.isnan(topic.concentration):
            axes.text(-0.5, row, f"b = {topic.concentration:,.3g}", ha="right", va="center", fontsize=8)
    with replace_on_success(path) as temporary:
        figure.savefig(temporary, dpi=160)


def _draw_box(
    axes: Any, x: float, y: float, width: float, height: float, version: Version, shade: str
) -> None:
    axes.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - height / 2), width, height, boxstyle="round,pad=0,rounding_size=0.04",
            facecolor=shade, edgecolor=shade, alpha=0.18,
        )
    )  # fmt: skip
    words = version.words[:6]
    heights = np.array([0.5 + 0.5 * np.sqrt(w.probability / words[0].probability) for w in words])
    inches = heights / heights.sum() * height * ROW * 0.9
    at = y - 0.45 * height
    for word, size in zip(words, inches, strict=True):
        at += size / ROW
        longest = width * COLUMN * 0.95 / max(len(word.word), 1)  # a letter is about 0.6 em wide
        points = 72.0 * min(0.8 * size, longest / 0.6)
        axes.text(
            x, at - size / ROW / 2, printable(word.word), ha="center", va="center", fontsize=points,
            parse_math=False,
        )  # fmt: skip


def _draw_arc(axes: Any, start: tuple[float, float], end: tuple[float, float], likeness: float) -> None:
    arc = FancyArrowPatch(
        start, end, connectionstyle="arc3,rad=-0.25", arrowstyle="-", linewidth=0.5 + 5.0 * likeness,
        color="0.5", alpha=0.7, shrinkA=0, shrinkB=0,
    )  # fmt: skip
    axes.add_patch(arc)
    axes.text((start[0] + end[0]) / 2, start[1] + 0.12, f"{likeness:.2f}", ha="center", fontsize=7)

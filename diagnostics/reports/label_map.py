"""A picture of topics and labels side by side, in the manner of Kim and Oh, Figures 6 and 7."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from ...zoo.files import replace_on_success
from ...zoo.wording import printable
from ..topics.expected import ABOVE_MEAN, TopicsUnderLabels, map_of
from .differences import check_picture
from .plots import colour

_LARGEST = 8.0  # inches


def draw_map(found: TopicsUnderLabels, path: Path, n_topics: int = 20, n_words: int = 3) -> None:
    """Draw labels, in colour, and topics, as their first words, where `map_of` places them.

    Parameters
    ----------
    found : TopicsUnderLabels
        Of each label alone.
    path : Path
        Of the picture; its suffix says which kind.
    n_topics : int
        The largest ones.
    n_words : int

    Raises
    ------
    ValueError
        There is no label, or `path` is not the name of a picture.
    """
    check_picture(path)
    if len(found.rows) < 2 or not found.words:
        raise ValueError("expected a fit with labels and topics to draw, found none")
    topics = np.arange(min(n_topics, len(found.words)))
    of_labels, of_topics = map_of(found, topics)
    size = min(3.2 + 0.7 * np.sqrt(len(of_labels) + len(of_topics)), _LARGEST)
    figure = Figure(figsize=(size, size), layout="constrained")
    axes = figure.subplots()
    axes.set_title("Labels are near the topics that they make likely", fontsize=9)
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="datalim")
    axes.scatter(*of_labels.T, s=18, marker="s", color=colour(1), label=_about_labels(found))
    about_topics = f"one of the {topics.size} largest topics" if topics.size < len(found.words) else "topic"
    axes.scatter(*of_topics.T, s=8, color="0.6", label=f"{about_topics}, by its first words")
    figure.legend(loc="outside lower left", fontsize=7, frameon=False)
    for k, place in zip(topics, of_topics, strict=True):
        words = ", ".join(found.words[k].split()[:n_words])
        axes.annotate(
            printable(words), place, (0, 4), textcoords="offset points", ha="center", fontsize=7, color="0.3",
            parse_math=False,
        )  # fmt: skip
    for name, place in zip(found.rows[1:], of_labels, strict=True):
        axes.annotate(
            printable(name), place, (0, -10), textcoords="offset points", ha="center", fontsize=9,
            fontweight="bold", color=colour(1), parse_math=False,
        )  # fmt: skip
    with replace_on_success(path) as temporary:
        figure.savefig(temporary, dpi=160)


def _about_labels(found: TopicsUnderLabels) -> str:
    has_numbers = any(name.endswith(ABOVE_MEAN) for name in found.rows)
    return f"label{f';{ABOVE_MEAN}: one standard deviation above its mean' if has_numbers else ''}"

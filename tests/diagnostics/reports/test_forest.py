"""Forest plots of labels and topics that have any names."""

from xml.etree import ElementTree

import numpy as np
from bnpzoo.diagnostics.reports.forest import Panel, plot_forest


def test_names_with_control_characters_leave_the_picture_whole(tmp_path):
    path = tmp_path / "forest.svg"
    plot_forest([Panel("mood: \x1b[31m", *np.zeros((3, 1)))], ["a\x07b <i> --> $x$"], path)
    assert "mood: \ufffd[31m" in path.read_text(encoding="utf-8")
    ElementTree.parse(path)

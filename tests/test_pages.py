"""What pages of the documentation are made of, as far as it can be told without Sphinx."""

import re
import runpy
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from bnpzoo.cli.app import app
from bnpzoo.zoo.models import MODELS
from typer.main import get_command

DOCS = Path(__file__).parents[1] / "docs"
plates = SimpleNamespace(**runpy.run_path(str(DOCS / "_extensions" / "plates.py")))


@pytest.mark.parametrize("model_id", plates.DIAGRAMS)
def test_plate_diagrams_are_of_models_and_have_their_words(model_id):
    assert model_id in MODELS
    diagram = ElementTree.fromstring(plates.plate_diagram(model_id))
    shaded = [node for node in diagram.iter("circle") if node.get("fill-opacity")]
    assert len(shaded) == 1
    assert {"documents", "tokens", "topics"} <= {text.text for text in diagram.iter("text")}
    assert ", " not in diagram.get("aria-label").partition("Arrows: ")[2]


def test_a_model_without_a_diagram_has_none():
    assert plates.plate_diagram("no model") == ""


@pytest.mark.parametrize("path", ["index.md", "coming_from.md", "tutorials/own_texts.md"])
def test_commands_that_pages_name_are_there(path):
    known = set(get_command(app).commands)
    named = set(re.findall(r"bnpzoo ([a-z]+)(?= )", (DOCS / path).read_text(encoding="utf-8")))
    assert named <= known | {"itself"}

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

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in DOCS.rglob("*.md") if "_build" not in path.parts)
MADE = {"command_line", "index", *MODELS}
"""Pages that are made when the documentation is built."""
plates = SimpleNamespace(**runpy.run_path(str(DOCS / "_extensions" / "plates.py")))


def test_plate_diagrams_are_of_models():
    assert plates.DIAGRAMS.keys() == MODELS.keys()


@pytest.mark.parametrize("model_id", MODELS)
def test_plate_diagrams_have_the_words_of_their_model(model_id):
    diagram = ElementTree.fromstring(plates.plate_diagram(model_id))
    shaded = [node for node in diagram.iter("circle") if node.get("fill-opacity")]
    assert len(shaded) == 1 + ("y_d" in plates.DIAGRAMS[model_id])  # words, and responses
    assert {"documents", "tokens", "topics"} <= {text.text for text in diagram.iter("text")}
    assert ", " not in diagram.get("aria-label").partition("Arrows: ")[2]


@pytest.mark.parametrize("path", ["index.md", "coming_from.md", "tutorials/own_texts.md"])
def test_commands_that_pages_name_are_there(path):
    known = set(get_command(app).commands)
    named = set(re.findall(r"bnpzoo ([a-z]+)(?= )", (DOCS / path).read_text(encoding="utf-8")))
    assert named <= known | {"itself"}


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", *PAGES])
def test_links_within_the_project_lead_somewhere(page):
    """Sphinx sees to links between its pages; nobody else to those of pages that it does not build."""
    path = ROOT / page
    text = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        file = target.partition("#")[0]
        if file and "://" not in target and not target.startswith("mailto:"):
            is_made = (path.parent / file).resolve().is_relative_to(DOCS) and Path(file).stem in MADE
            found = [path.parent / file, (path.parent / file).with_suffix(".md")]
            assert is_made or any(candidate.exists() for candidate in found), target

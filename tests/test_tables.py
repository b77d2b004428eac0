"""Lists that are made from the registry of models."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

tables = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "tools" / "write_tables.py")))


@pytest.mark.parametrize("path", tables.LISTS, ids=lambda path: path.name)
def test_the_list_of_models_is_that_of_the_registry(path):
    assert path.read_text("utf-8") == tables.written(path), "run `python tools/write_tables.py`"

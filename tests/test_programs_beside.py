"""What stands beside the package (benchmarks, tools, examples) finds in it all that it asks for by name."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAMS = sorted(path for folder in ("benchmarks", "tools") for path in (ROOT / folder).glob("*.py"))
PROGRAMS += sorted((ROOT / "examples").glob("*.py"))


def names_asked_for(source):
    """Pairs of a module of the package and a name in it, from all imports, also within functions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "bnpzoo":
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((a.name, None) for a in node.names if a.name.split(".")[0] == "bnpzoo")
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "bnpzoo":
            yield "bnpzoo", node.attr


def is_there(module, name):
    """Whether it is, or cannot be told, as another package is not installed."""
    try:
        if name is None or hasattr(import_module(module), name):
            return True
        import_module(f"{module}.{name}")
    except ModuleNotFoundError as error:
        return not (error.name or "").startswith("bnpzoo")
    return True


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_names_are_there(path):
    assert [pair for pair in names_asked_for(path.read_text()) if not is_there(*pair)] == []


def test_a_name_that_has_moved_is_noticed():
    source = "def f():\n    from bnpzoo.cli.inputs import parse_settings\n    return bnpzoo.smaple"
    assert [is_there(*pair) for pair in names_asked_for(source)] == [False, False]

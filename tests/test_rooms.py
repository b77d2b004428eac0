"""A room imports only from rooms below it, and nothing imports in a circle."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FLOORS = {
    "": (("kernels",), ("zoo",), ("diagnostics",), ("cli", "estimators")),
    "kernels": (("toolbox",), (...,), ("pitman_yor", "segments", "responses", "labels")),
    "zoo": (
        ("memory", "arguments", "files", "wording"),
        ("priors", "folders", "corpus"),
        ("settings", "predictive", "probes"),
        ("contract", "formats"),
        ("toolbox",),
        ("families", "designs"),
        ("models",),
        ("inference",),
    ),
}
"""Rooms from the lowest floor up, of the package and inside two of its rooms; ``...`` is all not named."""


def modules():
    """Path of each module by its dotted name in the package; a folder's is that of its ``__init__``."""
    names = [room for floor in FLOORS[""] for room in floor]
    paths = [path for room in names for path in (ROOT / room).rglob("*.py")]
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in paths
    }


def imports_of(name, path, known):
    """Modules of the package that a module imports anywhere in it, for its types too."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = ".".join(
                [*package[: len(package) - node.level + 1], *(node.module or "").split(".")]
            ).strip(".")
            for alias in node.names:
                inside = f"{base}.{alias.name}".strip(".")
                found.add(inside if inside in known else base)
    return found & set(known)


KNOWN = modules()
GRAPH = {name: imports_of(name, path, KNOWN) for name, path in KNOWN.items()}


def between_rooms(graph, house=""):
    """Which of the rooms of a house import which others."""
    depth = house.count(".") + 1 if house else 0
    rooms = {}
    for name, imported in graph.items():
        if house and not name.startswith(f"{house}."):
            continue
        room = name.split(".")[depth]
        inside = {other.split(".")[depth] for other in imported if not house or other.startswith(f"{house}.")}
        rooms.setdefault(room, set()).update(inside - {room})
    return rooms


def upward(rooms, floors):
    """Imports from the same floor or from a higher one."""
    level = {room: i for i, floor in enumerate(floors) for room in floor}

    def of(room):
        return level.get(room, level.get(...))

    return [(room, other) for room in rooms for other in rooms[room] if of(other) >= of(room)]


def circle(graph):
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return None


@pytest.mark.parametrize("house", FLOORS)
def test_rooms_import_downwards(house):
    rooms = between_rooms(GRAPH, house)
    named = {room for floor in FLOORS[house] for room in floor}
    assert named - {...} <= set(rooms)
    assert ... in named or set(rooms) <= named
    assert upward(rooms, FLOORS[house]) == []


def test_no_module_imports_in_a_circle():
    assert circle(GRAPH) is None


@pytest.mark.parametrize("house", ["kernels", "zoo", "zoo.families", "diagnostics"])
def test_no_rooms_import_in_a_circle(house):
    assert circle(between_rooms(GRAPH, house)) is None


def test_wrong_houses_are_seen():
    wrong = {
        "zoo.priors": {"zoo.models.lda"},
        "zoo.models.lda": {"zoo.families.lda.family"},
        "zoo.families.lda.family": set(),
    }
    assert upward(between_rooms(wrong, "zoo"), FLOORS["zoo"]) == [("priors", "models")]
    assert circle({"a": {"b"}, "b": {"a"}}) is not None
    assert "zoo.corpus.corpus" in GRAPH["zoo.corpus"]
    assert "kernels.toolbox.sides" in GRAPH["kernels.lda.documents"]

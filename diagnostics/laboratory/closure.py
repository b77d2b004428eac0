"""What a result depends on: the definitions of the package that can have a part in it.

From the source alone. A definition (a function, a method, a class, a constant) is reached if one that is
reached names it, through whatever imports; a member of a class or of a module that is passed around is
reached if its name is that of an attribute in anything that is reached; an implementation that is chosen by
the class of an argument if that class and what it implements are reached, wherever it lies. So what is found
is never less than what runs, and seldom much more. Comments, docstrings, hints of types and places are no
part of a definition.
"""

import ast
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from . import definitions
from .definitions import (
    Function,
    Module,
    Name,
    acting,
    implemented_by,
    is_of_class,
    module_named,
    resolved,
)

ROOMS = ("kernels", "zoo", "diagnostics")
"""Folders of what results depend on."""


class _References(ast.NodeVisitor):
    """Names that a definition uses, and names of attributes."""

    def __init__(self, module: Module):
        self.module = module
        self.names: set[Name] = set()
        self.attributes: set[str] = set()
        self.local: dict[str, Name] = {}

    def of(self, nodes: Sequence[ast.AST]) -> "_References":
        for node in nodes:
            for inner in ast.walk(node):
                if isinstance(inner, ast.ImportFrom):
                    self.local |= self.module.imports_of(inner)
            self.visit(node)
        return self

    def _found(self, name: str) -> Name | None:
        if name in self.local:
            return resolved(self.local[name])
        return resolved(Name(self.module.name, name))

    def visit_Name(self, node: ast.Name) -> None:
        found = self._found(node.id)
        if found is not None:
            self.names.add(found)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.value, ast.Name):
            base = self._found(node.value.id)
            if base is not None and not base.name:
                inside = resolved(Name(base.module, node.attr))
                if inside is not None:
                    self.names.add(inside)
                    return
        self.attributes.add(node.attr)
        self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        match node:
            case ast.Call(ast.Name("getattr" | "hasattr"), [_, ast.Constant(str(name)), *_]):
                self.attributes.add(name)
        self.generic_visit(node)

    def _visit_function(self, node: Function) -> None:
        own = node.args
        others = (decorator for decorator in node.decorator_list if not implemented_by(decorator, node))
        parts = [*others, *own.defaults, *filter(None, own.kw_defaults), *acting(node.body)]
        for part in parts:
            self.visit(part)

    visit_FunctionDef = visit_AsyncFunctionDef = _visit_function

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)


@cache
def _references(name: Name) -> tuple[frozenset[Name], frozenset[str]]:
    module = module_named(name.module)
    assert module is not None
    found = _References(module).of(module.definitions[name.name].nodes)
    return frozenset(found.names), frozenset(found.attributes)


@cache
def implementations() -> Sequence[tuple[Name, frozenset[Name]]]:
    """Find what is chosen by the class of an argument, each with that class and with what it implements.

    Classes that are not of the package are taken as reached.
    """
    found: list[tuple[Name, frozenset[Name]]] = []
    for path in sorted(path for room in ROOMS for path in (definitions.PACKAGE / room).rglob("*.py")):
        file = path.parent if path.name == "__init__.py" else path.with_suffix("")
        module = module_named(".".join(file.relative_to(definitions.PACKAGE).parts))
        assert module is not None
        for name, *needs in module.implementations:
            found.append((Name(module.name, name), frozenset(_References(module).of(needs).names)))
    return found


@cache
def closure(roots: tuple[Any, ...], without: tuple[Name, ...] = ()) -> frozenset[Name]:
    """Find all definitions that can have a part in what `roots` do.

    Parameters
    ----------
    roots : tuple of classes and functions
    without : tuple of Name
        Not followed: tables from which something is chosen that is a root, or counts by its value.
    """
    waiting = [Name.of(thing) for thing in roots]
    reached: set[Name] = set()
    attributes: set[str] = set()
    members: dict[str, set[Name]] = {}  # of all that is open, by their names
    while waiting := waiting or _chosen(reached, without):
        name = waiting.pop()
        if name in reached or name in without:
            continue
        reached.add(name)
        module = module_named(name.module)
        assert module is not None, f"no module {name.module}"
        waiting += [Name(name.module, effect) for effect in module.effects]
        opened = _members(module, name)
        for attribute, member in opened:
            members.setdefault(attribute, set()).add(member)
            if attribute in attributes:
                waiting.append(member)
        if name.name:
            names, found = _references(name)
            waiting += names
            for attribute in found - attributes:
                waiting += members.get(attribute, ())
            attributes |= found
    return frozenset(name for name in reached if name.name)


def _chosen(reached: set[Name], without: tuple[Name, ...]) -> list[Name]:
    """Return implementations that are not reached yet, although all that has them chosen is."""
    known = reached.union(without)
    return [name for name, needs in implementations() if needs <= reached and name not in known]


def _members(module: Module, name: Name) -> Iterator[tuple[str, Name]]:
    if name.name:
        yield from module.definitions[name.name].members.items()
        return
    for own in [*module.definitions, *module.imported]:
        target = resolved(Name(module.name, own))
        if target is not None and "." not in own:
            yield own, target


@cache
def digest_of(name: Name) -> str:
    """Hash of what a definition does, whatever is written beside it."""
    module = module_named(name.module)
    assert module is not None
    told = repr([_plain(node) for node in module.definitions[name.name].nodes])
    return hashlib.sha256(told.encode()).hexdigest()


@cache
def digest(names: frozenset[Name]) -> str:
    """Hash of definitions, wherever they lie."""
    told = sorted((name.name, digest_of(name)) for name in names)
    return hashlib.sha256(repr(told).encode()).hexdigest()


IGNORED: Mapping[type[ast.AST], frozenset[str]] = {
    ast.FunctionDef: frozenset({"returns", "type_params"}),
    ast.arg: frozenset({"annotation"}),
}
"""Fields of syntax trees that change nothing; with `ctx`, which follows from the rest."""


def _plain(node: Any) -> Any:
    """Syntax tree as tuples, the same under every version of Python: what is empty is left out."""
    if isinstance(node, ast.AST):
        ignored = IGNORED.get(type(node), frozenset())
        if isinstance(node, ast.AnnAssign) and not is_of_class(node.annotation):
            ignored = {"annotation"}  # which makes a field, whatever its type
        fields = (
            (field, acting(value) if field == "body" and isinstance(value, list) else value)
            for field, value in ast.iter_fields(node)
            if field not in ignored and field not in ("ctx", "kind", "type_comment")
        )
        return (
            type(node).__name__,
            *((field, _plain(value)) for field, value in fields if value is not None and value != []),
        )
    if isinstance(node, list):
        return [_plain(part) for part in node]
    return node

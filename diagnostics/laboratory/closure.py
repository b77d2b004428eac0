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
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE = Path(__file__).parents[2]
ROOMS = ("kernels", "zoo", "diagnostics")
"""Folders of what results depend on."""
NOT_FOLLOWED = frozenset({"card", "topic_sides"})
"""Class variables that only tell of the class, or that something was chosen from, which counts by itself."""
IMPLEMENTS = frozenset({"implement", "register"})
"""Methods of functions that are chosen by type; see `chosen_by_type` and `functools.singledispatch`."""

type Function = ast.FunctionDef | ast.AsyncFunctionDef


class Name(NamedTuple):
    """Name of a definition.

    Attributes
    ----------
    module : str
        As it is imported, without the name of the package.
    name : str
        ``f``, ``Class`` or ``Class.method``; empty for the module itself, as a value.
    """

    module: str
    name: str

    @classmethod
    def of(cls, thing: Any) -> "Name":
        """Name of a class or function of the package."""
        return cls(thing.__module__.partition(".")[2], thing.__qualname__)


class Definition(NamedTuple):
    """Where a name comes about.

    Attributes
    ----------
    nodes : tuple of ast.AST
        What it is made of; a class without its members, which have names of their own.
    members : mapping of str to Name
        Of a class.
    """

    nodes: tuple[ast.AST, ...]
    members: Mapping[str, Name]


class Module:
    """A parsed file of the package.

    Attributes
    ----------
    definitions : dict of str to Definition
        Of the module and of its classes, by name.
    imported : dict of str to Name
        What it imports from the package, by the name that it has here.
    effects : list of str
        Definitions that act when the module is imported, whether or not anybody names them.
    implementations : list of (str, ast.expr, ast.expr)
        Definitions that are chosen by the class of an argument, what each implements, and a class.
    """

    def __init__(self, name: str, source: str, is_package: bool):
        self.name, self.is_package = name, is_package
        self.definitions: dict[str, Definition] = {}
        self.imported: dict[str, Name] = {}
        self.effects: list[str] = []
        self.implementations: list[tuple[str, ast.expr, ast.expr]] = []
        for statement in ast.parse(source).body:
            self._add(statement)

    def _add(self, statement: ast.stmt) -> None:
        match statement:
            case ast.ImportFrom():
                self.imported |= self.imports_of(statement)
            case ast.Import() | ast.Expr(value=ast.Constant()):
                pass
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                pass
            case ast.ClassDef():
                self._add_class(statement)
            case ast.FunctionDef():
                self._add_function(statement)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.TypeAlias():
                for name in _targets(statement):
                    self._bind(name, statement)
            case _:
                self.effects.append(f"<{len(self.effects)}>")
                self._bind(self.effects[-1], statement)

    def _bind(self, name: str, node: ast.AST) -> None:
        before = self.definitions.get(name, Definition((), {}))
        self.definitions[name] = Definition((*before.nodes, node), before.members)

    def _add_function(self, statement: ast.FunctionDef) -> None:
        name = statement.name
        chosen = [
            pair for decorator in statement.decorator_list for pair in _implements(decorator, statement)
        ]
        if chosen and name == "_":  # as several in a module may be called
            name = ", ".join(f"{ast.unparse(declared)}({ast.unparse(cls)})" for declared, cls in chosen)
        self._bind(name, statement)
        self.implementations += [(name, declared, cls) for declared, cls in chosen]
        if not chosen and any(_registers(decorator) for decorator in statement.decorator_list):
            self.effects.append(name)

    def _add_class(self, statement: ast.ClassDef) -> None:
        members: dict[str, Name] = {}
        core: list[ast.stmt] = []
        for part in statement.body:
            names = _member_names(part)
            for name in names:
                if name not in NOT_FOLLOWED:
                    members[name] = Name(self.name, f"{statement.name}.{name}")
                    self._bind(f"{statement.name}.{name}", part)
            if not names:
                core.append(part)
        own = ast.ClassDef(
            statement.name,
            statement.bases,
            statement.keywords,
            core,
            statement.decorator_list,
            type_params=[],
        )
        self.definitions[statement.name] = Definition((own,), members)

    def imports_of(self, statement: ast.ImportFrom) -> dict[str, Name]:
        """Return what an import from the package binds."""
        if statement.level == 0:
            return {}
        package = self.name.split(".") if self.is_package else self.name.split(".")[:-1]
        base = package[: len(package) - statement.level + 1]
        source = ".".join([*base, *filter(None, [statement.module])])
        return {alias.asname or alias.name: Name(source, alias.name) for alias in statement.names}


def _registers(decorator: ast.expr) -> bool:
    """Whether a decorator is such as ``@app.command()``, which leaves the function with another."""
    return isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Attribute)


def _implements(decorator: ast.expr, function: Function) -> list[tuple[ast.expr, ast.expr]]:
    """Return what a function implements for a class, by ``@declared.implement(cls)`` or ``.register``."""
    match decorator:
        case ast.Call(func=ast.Attribute(declared, method), args=[cls]) if method in IMPLEMENTS:
            return [(declared, cls)]
        case ast.Attribute(declared, "register"):
            first = [*function.args.posonlyargs, *function.args.args][:1]
            told = (argument.annotation for argument in first if argument.annotation is not None)
            return [(declared, cls) for annotation in told for cls in _alternatives(annotation)]
    return []


def _alternatives(annotation: ast.expr) -> list[ast.expr]:
    """Classes of a union."""
    match annotation:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return [*_alternatives(left), *_alternatives(right)]
    return [annotation]


def _targets(statement: ast.Assign | ast.AnnAssign | ast.AugAssign | ast.TypeAlias) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else None
    if targets is None:
        targets = [statement.name if isinstance(statement, ast.TypeAlias) else statement.target]  # type: ignore[union-attr]
    return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]


def _member_names(part: ast.stmt) -> list[str]:
    """Names of a statement of a class, if they are looked up; fields and magic methods always count."""
    match part:
        case ast.FunctionDef(name=name):
            return [] if name.startswith("__") else [name]
        case ast.Assign():
            return _targets(part)
        case ast.AnnAssign(annotation=annotation) if _is_of_class(annotation):
            return _targets(part)
    return []


@cache
def module_named(name: str) -> Module | None:
    """Return the module or package of that name in the package; None where there is none."""
    path = PACKAGE.joinpath(*name.split("."))
    is_package = path.is_dir()
    file = path / "__init__.py" if is_package else path.with_suffix(".py")
    return Module(name, file.read_text(encoding="utf-8"), is_package) if file.is_file() else None


def path_of(name: str) -> str:
    """File of a module, from the root of the package."""
    module = module_named(name)
    assert module is not None
    return name.replace(".", "/") + ("/__init__.py" if module.is_package else ".py")


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
        others = (decorator for decorator in node.decorator_list if not _implements(decorator, node))
        parts = [*others, *own.defaults, *filter(None, own.kw_defaults), *_told(node.body)]
        for part in parts:
            self.visit(part)

    visit_FunctionDef = visit_AsyncFunctionDef = _visit_function

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)


def resolved(name: Name) -> Name | None:
    """Where a name of a module is defined, through all imports; None if it is nothing of the package."""
    module = module_named(name.module)
    if module is None:
        return None
    if not name.name:
        return name
    if name.name.partition(".")[0] in module.definitions:
        return name if name.name in module.definitions else None
    if name.name in module.imported:
        return resolved(module.imported[name.name])
    inside = f"{name.module}.{name.name}".strip(".")
    return Name(inside, "") if module.is_package and module_named(inside) else None


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
    for path in sorted(path for room in ROOMS for path in (PACKAGE / room).rglob("*.py")):
        file = path.parent if path.name == "__init__.py" else path.with_suffix("")
        module = module_named(".".join(file.relative_to(PACKAGE).parts))
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


def _told(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements that do something."""
    return [
        part for part in body if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
    ]


IGNORED: Mapping[type[ast.AST], frozenset[str]] = {
    ast.FunctionDef: frozenset({"returns", "type_params"}),
    ast.arg: frozenset({"annotation"}),
}
"""Fields of syntax trees that change nothing; with `ctx`, which follows from the rest."""


def _is_of_class(annotation: ast.expr) -> bool:
    match annotation:
        case ast.Subscript(value=ast.Name(id="ClassVar")) | ast.Name(id="ClassVar"):
            return True
    return False


def _plain(node: Any) -> Any:
    """Syntax tree as tuples, the same under every version of Python: what is empty is left out."""
    if isinstance(node, ast.AST):
        ignored = IGNORED.get(type(node), frozenset())
        if isinstance(node, ast.AnnAssign) and not _is_of_class(node.annotation):
            ignored = {"annotation"}  # which makes a field, whatever its type
        fields = (
            (field, _told(value) if field == "body" and isinstance(value, list) else value)
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

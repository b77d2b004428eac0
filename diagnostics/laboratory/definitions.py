"""The source of the package, taken apart into definitions: functions, methods, classes and constants."""

import ast
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE = Path(__file__).parents[2]
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
        name, chosen = name_of(statement), implemented(statement)
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


def name_of(function: Function) -> str:
    """Name of a function; for one of the many called ``_``, what it implements, and of which class."""
    chosen = implemented(function)
    if function.name != "_" or not chosen:
        return function.name
    return ", ".join(f"{ast.unparse(declared)}({ast.unparse(cls)})" for declared, cls in chosen)


def implemented(function: Function) -> list[tuple[ast.expr, ast.expr]]:
    """Return what a function implements, and for which classes."""
    return [pair for decorator in function.decorator_list for pair in implemented_by(decorator, function)]


def _registers(decorator: ast.expr) -> bool:
    """Whether a decorator is such as ``@app.command()``, which leaves the function with another."""
    return isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Attribute)


def implemented_by(decorator: ast.expr, function: Function) -> list[tuple[ast.expr, ast.expr]]:
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
        case ast.AnnAssign(annotation=annotation) if is_of_class(annotation):
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


def acting(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements that do something."""
    return [
        part for part in body if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
    ]


def is_of_class(annotation: ast.expr) -> bool:
    """Whether an annotation makes a variable of a class one that its objects share."""
    match annotation:
        case ast.Subscript(value=ast.Name(id="ClassVar")) | ast.Name(id="ClassVar"):
            return True
    return False

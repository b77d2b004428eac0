"""Which definitions of somebody's own file a sampler needs."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence

CALLED = ("draw_latents", "draw_data", "transition", "transitions", "start", "extend")
"""Methods of a subject that the laboratory calls, beside its test quantities."""

type Definitions = Mapping[str, Sequence[ast.AST]]
"""What functions, classes, methods and constants are made of, by name; of a class all but its methods."""


def needed_by(names: set[str], module: ast.Module) -> set[str]:
    """Names of the functions, classes and constants of a module that some of them need, and their own."""
    definitions = _gathered((own, [statement]) for own, statement in _of_module(module))
    return _reached(names & definitions.keys(), definitions, {})


def needed_but_for(method: str, names: set[str], module: ast.Module) -> set[str]:
    """Return the same, and methods as ``Class.method``, without a method, if any, and what it alone calls."""
    definitions = _gathered(_with_methods(module))
    without = {own for own in definitions if own.endswith(f".{method}")}
    only_there = {own for own in _reached(without, definitions, {}) if own.rpartition(".")[2] not in CALLED}
    members: dict[str, set[str]] = {}
    for own in definitions.keys() - only_there:
        members.setdefault(own.rpartition(".")[0], set()).add(own)
    return _reached(names & definitions.keys(), definitions, members)


def imported_by(names: set[str], module: ast.Module) -> dict[str, set[str]]:
    """Find what definitions, such as ``f`` or ``Class.method``, use of each module that theirs imports."""
    parts = [part for own, parts in _with_methods(module) if own in names for part in parts]
    nodes = [node for part in parts for node in ast.walk(part)]
    plain = {node.id for node in nodes if isinstance(node, ast.Name)}
    found: dict[str, set[str]] = {}
    for statement in ast.walk(module):
        match statement:
            case ast.ImportFrom(module=str(origin), names=aliases, level=0):
                own = {alias.name for alias in aliases if (alias.asname or alias.name) in plain}
                anything = plain if any(alias.name == "*" for alias in aliases) else set()
                found.setdefault(origin, set()).update(own, anything)
            case ast.Import(names=aliases):
                for alias in aliases:
                    of_it = _attributes_of(alias.asname or alias.name, nodes)
                    found.setdefault(alias.name, set()).update(of_it)
    return found


def _attributes_of(name: str, nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=attribute) if owner == name:
                yield attribute


def blocks_of(statement: ast.stmt) -> list[list[ast.stmt]]:
    """Statements that a compound one holds, block by block."""
    match statement:
        case ast.If() | ast.For() | ast.While():
            return [statement.body, statement.orelse]
        case ast.With():
            return [statement.body]
        case ast.Try() | ast.TryStar():
            handlers = [handler.body for handler in statement.handlers]
            return [statement.body, *handlers, statement.orelse, statement.finalbody]
        case ast.Match():
            return [case.body for case in statement.cases]
    return []


def statements_of(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a module and those below them; but for what runs only where it is no module."""
    for statement in body:
        match statement:
            case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
                continue
        yield statement
        for block in blocks_of(statement):
            yield from statements_of(block)


def names_bound_by(statement: ast.Assign | ast.AnnAssign) -> list[str]:
    """Names that an assignment gives to something."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    nodes = [node for target in targets for node in ast.walk(target)]
    return [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]


def _gathered(pairs: Iterable[tuple[str, Sequence[ast.AST]]]) -> Definitions:
    found: dict[str, list[ast.AST]] = {}
    for own, nodes in pairs:
        found.setdefault(own, []).extend(nodes)
    return found


def _of_module(module: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    for statement in statements_of(module.body):
        match statement:
            case ast.FunctionDef(name=own) | ast.ClassDef(name=own):
                yield own, statement
            case ast.Assign() | ast.AnnAssign():
                yield from ((own, statement) for own in names_bound_by(statement))


def _with_methods(module: ast.Module) -> Iterator[tuple[str, Sequence[ast.AST]]]:
    for own, statement in _of_module(module):
        if not isinstance(statement, ast.ClassDef):
            yield own, [statement]
            continue
        parts = [part for part in statement.body if isinstance(part, ast.FunctionDef)]
        methods = [part for part in parts if not part.name.startswith("__")]
        yield from ((f"{own}.{method.name}", [method]) for method in methods)
        yield own, [node for node in ast.iter_child_nodes(statement) if node not in methods]


def _reached(waiting: set[str], definitions: Definitions, members: Mapping[str, set[str]]) -> set[str]:
    """Names of definitions that some of them name, or have as members, and so on."""
    reached: set[str] = set()
    while waiting:
        reached |= waiting
        named = {name for own in waiting for node in definitions[own] for name in _named(node, definitions)}
        waiting = named.union(*(members.get(own, set()) for own in waiting)) - reached
    return reached


def _named(definition: ast.AST, definitions: Definitions) -> Iterator[str]:
    """Definitions that one names; a method by its last name, as nobody knows of which class it is."""
    for node in ast.walk(definition):
        match node:
            case ast.Name(id=name) if name in definitions:
                yield name
            case ast.Attribute(attr=name):
                yield from (own for own in definitions if own.endswith(f".{name}"))

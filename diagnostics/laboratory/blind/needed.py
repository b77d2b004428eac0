"""Which definitions of somebody's own file a sampler needs."""

import ast
from collections.abc import Iterator, Mapping, Sequence

CALLED = ("draw_latents", "draw_data", "transition", "transitions", "start", "extend")
"""Methods of a subject that the laboratory calls, beside its test quantities."""

type Definitions = Mapping[str, Sequence[ast.AST]]
"""What functions, classes, methods and constants are made of, by name; of a class all but its methods."""


def needed_by(name: str, module: ast.Module) -> set[str]:
    """Names of the functions, classes and constants of a module that one of them needs, itself among them."""
    definitions = {own: [statement] for own, statement in _of_module(module)}
    return _reached({name} & definitions.keys(), definitions, {})


def needed_but_for(method: str, name: str, module: ast.Module) -> set[str]:
    """Return the same, and methods as ``Class.method``, without a method and what nothing else calls."""
    definitions = dict(_with_methods(module))
    without = {own for own in definitions if own.endswith(f".{method}")}
    only_there = {own for own in _reached(without, definitions, {}) if own.rpartition(".")[2] not in CALLED}
    members: dict[str, set[str]] = {}
    for own in definitions.keys() - only_there:
        members.setdefault(own.rpartition(".")[0], set()).add(own)
    return _reached({name} & definitions.keys(), definitions, members)


def _of_module(module: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    for statement in module.body:
        match statement:
            case ast.FunctionDef(name=own) | ast.ClassDef(name=own):
                yield own, statement
            case ast.Assign(targets=[ast.Name(id=own)]):
                yield own, statement


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

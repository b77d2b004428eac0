"""Single-point changes of a Python program: all there are, to draw from.

Operators, operands and names are swapped, constants and bounds are off by one, branches and statements are
dropped. What cannot change a law is left as it is: messages, hints of types, checks that only raise.
"""

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, chain
from typing import Any, NamedTuple

from ..definitions import name_of
from .needed import blocks_of, names_bound_by, statements_of


class Mutation(NamedTuple):
    """A change at one point of one file.

    Attributes
    ----------
    file : str
        Path from the root of the package, or of the folder of a user's file.
    definition : str
        Function, method or constant that is changed; the name of the block for Stan.
    line : int
        From 1 on.
    text : str
        The line, as it is.
    kind : str
    before, after : str
        What is replaced, and by what.
    start, end : int
        Where it stands in the file, in bytes.
    place : int
        Which it is of the changes of its line that read alike, from 1 on.
    """

    file: str
    definition: str
    line: int
    text: str
    kind: str
    before: str
    after: str
    start: int
    end: int
    place: int = 1

    @property
    def key(self) -> str:
        """How it is known in the file of equivalent mutants, though lines may move."""
        place = f" (place {self.place})" if self.place > 1 else ""
        return f"{self.file}: {self.definition}: {self.text}: {self.before} -> {self.after}{place}"

    def apply(self, source: bytes) -> bytes:
        """Return the source of the file with the change in it."""
        return source[: self.start] + self.after.encode() + source[self.end :]


type Site = list[Mutation]
"""All changes of one node or token."""

SWAPPED: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}
NOT_COMMUTATIVE = (ast.Sub, ast.Div, ast.FloorDiv, ast.Pow, ast.MatMult)


def python_sites(file: str, source: bytes, wanted: Callable[[str], bool] = lambda name: True) -> list[Site]:
    """All sites of a Python file.

    Parameters
    ----------
    file : str
    source : bytes
        UTF-8.
    wanted : (name) -> bool
        Whether a definition, such as ``f`` or ``Class.method``, may be changed.
    """
    texts = source.splitlines(keepends=True)
    lines = [0, *accumulate(map(len, texts))]
    sites: list[Site] = []
    for name, statement in _definitions(ast.parse(source), wanted):
        for node, kind, new in _Changes(statement):
            start = lines[node.lineno - 1] + node.col_offset
            end = lines[node.end_lineno - 1] + node.end_col_offset
            before = source[start:end].decode()
            text = texts[node.lineno - 1].decode().strip()
            made = [
                Mutation(file, name, node.lineno, text, kind, before, after, start, end)
                for after in dict.fromkeys(new)
                if after != before
            ]
            if made:
                sites.append(made)
    return with_places(sites)


def with_places(sites: Sequence[Site]) -> list[Site]:
    """Return the same, with a number for what reads alike; see `Mutation.place`."""
    starts: defaultdict[tuple[int, str], set[int]] = defaultdict(set)
    for mutation in chain.from_iterable(sites):
        starts[mutation.line, mutation.key].add(mutation.start)
    return [
        [m._replace(place=1 + sorted(starts[m.line, m.key]).index(m.start)) for m in site] for site in sites
    ]


def _definitions(module: ast.Module, wanted: Callable[[str], bool]) -> Iterator[tuple[str, ast.stmt]]:
    for statement in statements_of(module.body):
        match statement:
            case ast.FunctionDef():
                if wanted(name_of(statement)):
                    yield name_of(statement), statement
            case ast.ClassDef(name=owner, body=body):
                for part in body:
                    if isinstance(part, ast.FunctionDef):
                        # magic methods are no definitions of their own
                        full = f"{owner}.{part.name}"
                        if wanted(owner if part.name.startswith("__") else full):
                            yield full, part
            case ast.Assign() | ast.AnnAssign():
                name = next(filter(wanted, names_bound_by(statement)), None)
                if name is not None:
                    yield name, statement


class _Changes:
    """Iterates over the nodes of a definition that can be changed, with the kind and the texts of changes."""

    def __init__(self, definition: ast.stmt):
        self.definition = definition
        self.kinds = _kinds_of_names(definition)

    def __iter__(self) -> Iterator[tuple[Any, str, list[str]]]:
        if isinstance(self.definition, ast.FunctionDef):
            for default in [*self.definition.args.defaults, *filter(None, self.definition.args.kw_defaults)]:
                yield from self._expression(default)
            yield from self._block(self.definition.body)
        elif isinstance(self.definition, ast.Assign | ast.AnnAssign) and self.definition.value is not None:
            yield from self._expression(self.definition.value)

    def _block(self, body: Sequence[ast.stmt]) -> Iterator[tuple[Any, str, list[str]]]:
        for statement in body:
            yield from self._statement(statement)

    def _statement(self, node: ast.stmt) -> Iterator[tuple[Any, str, list[str]]]:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Raise() | ast.Assert():
                return
            case ast.If(body=[ast.Raise()], orelse=[]):
                return  # a check
            case ast.Expr(value=ast.Call(func=ast.Name(id=name))) if name.startswith(("check", "require")):
                return
            case ast.FunctionDef():
                yield from self._block(node.body)
            case ast.If() | ast.While():
                is_loop = isinstance(node, ast.While)  # which without an end would only be stopped
                yield node.test, "branch", ["(False)"] if is_loop else ["(True)", "(False)"]
                yield from self._expression(node.test)
            case ast.For():
                yield from self._expression(node.iter)
            case ast.Match():
                yield from self._expression(node.subject)
                for guard in filter(None, (case.guard for case in node.cases)):
                    yield from self._expression(guard)
            case ast.Assign() | ast.Expr():
                # what only binds names is wanted by what follows: to drop it is a crash
                if isinstance(node, ast.Expr) or not all(map(_is_name, node.targets)):
                    yield node, "statement dropped", ["pass"]
                if isinstance(node, ast.Assign):
                    for target in node.targets:
                        yield from self._target(target)
                yield from self._expression(node.value)
            case ast.AugAssign():
                others = SWAPPED.get(type(node.op), ())
                texts = [
                    ast.unparse(ast.AugAssign(node.target, op(), node.value))  # type: ignore[arg-type]
                    for op in others
                ]
                yield node, "operator", texts
                yield node, "statement dropped", ["pass"]
                yield from self._target(node.target)
                yield from self._expression(node.value)
            case ast.AnnAssign() | ast.Return() if node.value is not None:
                yield from self._expression(node.value)
            case ast.Break() | ast.Continue():
                yield node, "statement dropped", ["pass"]
        for block in blocks_of(node):
            yield from self._block(block)

    def _alike(self, one: ast.expr, other: ast.expr) -> bool:
        """Whether two arguments may well be of one type."""
        kinds = [
            self.kinds.get(node.id) if isinstance(node, ast.Name) else type(node).__name__
            for node in (one, other)
        ]
        return kinds[0] == kinds[1] not in (None, "Starred", "Tuple", "List", "Lambda")

    def _target(self, node: ast.expr) -> Iterator[tuple[Any, str, list[str]]]:
        if isinstance(node, ast.Subscript):
            yield from self._index(node.slice)

    def _index(self, node: ast.expr) -> Iterator[tuple[Any, str, list[str]]]:
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        for part in parts:
            bounds = [part.lower, part.upper] if isinstance(part, ast.Slice) else [part]
            for bound in filter(None, bounds):
                if not isinstance(bound, ast.Constant | ast.JoinedStr):
                    yield bound, "bound off by one", _off_by_one(bound)
                if bound is part and _is_zero(bound):  # -1 is the same in an array of one, as many are
                    yield bound, "constant", ["(1)"]
                else:
                    yield from self._expression(bound)

    def _expression(self, node: ast.expr) -> Iterator[tuple[Any, str, list[str]]]:
        match node:
            case ast.JoinedStr() | ast.Constant(value=str()):
                return
            case ast.Constant(value=bool(value)):
                yield node, "constant", [str(not value)]
            case ast.Constant(value=int(value)):
                yield node, "constant", [f"({value + 1})", f"({value - 1})"]
            case ast.Constant(value=float(value)):
                others = {value + 1.0, 2.0 * value, -value} - {value}
                yield node, "constant", [f"({other!r})" for other in sorted(others)]
            case ast.BinOp():
                others = SWAPPED.get(type(node.op), ())
                swapped = [_text(ast.BinOp(node.left, op(), node.right)) for op in others]  # type: ignore[arg-type]
                yield node, "operator", swapped
                operands = [_text(node.left), _text(node.right)]
                if isinstance(node.op, NOT_COMMUTATIVE):
                    operands.append(_text(ast.BinOp(node.right, node.op, node.left)))
                yield node, "operand", operands
            case ast.BoolOp():
                (other,) = SWAPPED[type(node.op)]
                yield node, "operator", [_text(ast.BoolOp(other(), node.values))]  # type: ignore[arg-type]
                yield node, "operand", [_text(value) for value in node.values]
            case ast.Compare(ops=[op]) if type(op) in SWAPPED:
                yield (
                    node,
                    "comparison",
                    [
                        _text(ast.Compare(node.left, [other()], node.comparators))  # type: ignore[list-item]
                        for other in SWAPPED[type(op)]
                    ],
                )
            case ast.UnaryOp():
                yield node, "operator", [_text(node.operand)]
            case ast.Name(ctx=ast.Load()) if node.id in self.kinds:
                yield node, "name", [n for n, kind in self.kinds.items() if kind == self.kinds[node.id]]
            case ast.Call(func=ast.Name("range")):
                for bound in node.args:
                    yield bound, "bound off by one", _off_by_one(bound)
            case ast.Call(args=[first, second, *rest]) if self._alike(first, second):
                call = ast.Call(node.func, [second, first, *rest], node.keywords)
                yield node, "operand", [ast.unparse(call)]
            case ast.IfExp():
                yield node, "branch", [_text(node.body), _text(node.orelse)]
            case ast.Subscript():
                yield from self._index(node.slice)
                yield from self._expression(node.value)
                return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.comprehension):
                for part in (child.iter, *child.ifs):
                    yield from self._expression(part)
            elif isinstance(child, ast.keyword):
                if child.arg != "strict":  # a check, of `zip`
                    yield from self._expression(child.value)
            elif isinstance(child, ast.expr) and not (isinstance(node, ast.Call) and child is node.func):
                yield from self._expression(child)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield from self._expression(node.func.value)


def _text(node: ast.expr) -> str:
    return f"({ast.unparse(node)})"


def _off_by_one(node: ast.expr) -> list[str]:
    return [f"({ast.unparse(node)} + 1)", f"({ast.unparse(node)} - 1)"]


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0 and not isinstance(node.value, bool)


def _is_name(target: ast.expr) -> bool:
    return all(isinstance(part, ast.Name) for part in getattr(target, "elts", [target]))


def _kinds_of_names(definition: ast.stmt) -> dict[str, str]:
    """Kind of each local name, by its use: only names of one kind are swapped, all else is a mere crash."""
    nodes = list(ast.walk(definition))
    stored = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    names = dict.fromkeys([*(node.arg for node in nodes if isinstance(node, ast.arg)), *stored])
    kinds = dict.fromkeys(names, "number")
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id=name)):
                kinds[name] = f"with {node.attr}"
            case ast.Subscript(value=ast.Name(id=name)):
                kinds[name] = "array"
    return {name: kinds[name] for name in names if name not in ("self", "cls", "rng", "_")}

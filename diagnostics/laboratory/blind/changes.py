"""Single-point changes of a program, of Python and of Stan: all there are, to draw from.

Operators, operands and names are swapped, constants and bounds are off by one, branches and statements are
dropped. What cannot change a law is left as it is: messages, hints of types, checks that only raise.
"""

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple


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
    kind : str
    before, after : str
        What is replaced, and by what.
    start, end : int
        Where it stands in the file, in bytes.
    """

    file: str
    definition: str
    line: int
    kind: str
    before: str
    after: str
    start: int
    end: int

    @property
    def key(self) -> str:
        """How it is known in the file of equivalent mutants: lines may move."""
        return f"{self.file}: {self.definition}: {self.before} -> {self.after}"

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
    lines = [0]
    for line in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    sites: list[Site] = []
    for name, statement in _definitions(ast.parse(source), wanted):
        for node, kind, new in _Changes(statement):
            start = lines[node.lineno - 1] + node.col_offset
            end = lines[node.end_lineno - 1] + node.end_col_offset
            before = source[start:end].decode()
            made = [
                Mutation(file, name, node.lineno, kind, before, after, start, end)
                for after in dict.fromkeys(new)
                if after != before
            ]
            if made:
                sites.append(made)
    return sites


def _definitions(module: ast.Module, wanted: Callable[[str], bool]) -> Iterator[tuple[str, ast.stmt]]:
    for statement in module.body:
        match statement:
            case ast.FunctionDef(name=name):
                if wanted(name):
                    yield name, statement
            case ast.ClassDef(name=owner, body=body):
                for part in body:
                    if isinstance(part, ast.FunctionDef):
                        # magic methods are no definitions of their own
                        full = f"{owner}.{part.name}"
                        if wanted(owner if part.name.startswith("__") else full):
                            yield full, part
            case ast.Assign(targets=[ast.Name(id=name)]):
                if wanted(name):
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
        elif isinstance(self.definition, ast.Assign):
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
            case ast.FunctionDef():
                yield from self._block(node.body)
            case ast.If() | ast.While():
                constants = ["(True)", "(False)"] if isinstance(node, ast.If) else []
                yield node.test, "branch", [*constants, f"(not ({ast.unparse(node.test)}))"][:2]
                yield from self._expression(node.test)
                yield from self._block([*node.body, *node.orelse])
            case ast.For():
                yield from self._expression(node.iter)
                yield from self._block([*node.body, *node.orelse])
            case ast.With() | ast.Try():
                yield from self._block(node.body)
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
                yield node, "constant", [f"({value + 1.0!r})", f"({2.0 * value!r})", f"({-value!r})"]
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
                yield from self._expression(child.value)
            elif isinstance(child, ast.expr) and not (isinstance(node, ast.Call) and child is node.func):
                yield from self._expression(child)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield from self._expression(node.func.value)


def _text(node: ast.expr) -> str:
    return f"({ast.unparse(node)})"


def _off_by_one(node: ast.expr) -> list[str]:
    return [f"({ast.unparse(node)} + 1)", f"({ast.unparse(node)} - 1)"]


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


STAN_TOKEN = re.compile(
    r'"[^"]*"|\d+\.\d+|\d+|[A-Za-z_]\w*|\+=|<=|>=|==|!=|&&|\|\||\.\*|\./|[-+*/<>;{}()\[\],=~|:^!?\'%]'
)
STAN_SWAPPED = {
    "+": "-", "-": "+", "*": "/", "/": "*", ".*": "./", "./": ".*", "==": "!=", "!=": "==",
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&",
}  # fmt: skip
STAN_TYPES = frozenset({
    "int", "real", "vector", "row_vector", "matrix", "array", "simplex", "void", "lower", "upper", "data",
    "parameters", "transformed", "model", "generated", "quantities", "functions", "for", "in", "if", "else",
    "while", "return", "target",
})  # fmt: skip


def stan_sites(file: str, source: bytes) -> list[Site]:
    """All sites of a Stan file: operators, whole numbers, names, and statements that add to the density."""
    text = source.decode()
    code = re.sub(r"//[^\n]*|/\*.*?\*/|#include[^\n]*", lambda m: " " * len(m[0]), text, flags=re.DOTALL)
    tokens = list(STAN_TOKEN.finditer(code))
    known = sorted({token[0] for i, token in enumerate(tokens) if _is_stan_name(tokens, i)})
    sites: list[Site] = []

    def add(start: int, end: int, kind: str, texts: list[str]) -> None:
        line = text.count("\n", 0, start) + 1
        where = [len(text[:position].encode()) for position in (start, end)]
        before = text[start:end]
        sites.append(
            [Mutation(file, file.rpartition("/")[2], line, kind, before, new, *where) for new in texts]
        )

    for i, token in enumerate(tokens):
        word = token[0]
        inside_angles = _declares_bounds(code, token.start())
        if word in STAN_SWAPPED and not inside_angles:
            add(*token.span(), "operator", [STAN_SWAPPED[word]])
        elif word.isdigit() and not inside_angles:
            add(*token.span(), "constant", [str(int(word) + 1), str(max(int(word) - 1, 0))])
        elif word == "target" and i + 1 < len(tokens) and tokens[i + 1][0] == "+=":
            add(token.start(), code.index(";", token.start()) + 1, "statement dropped", [";"])
        elif _is_stan_name(tokens, i) and word in known and len(known) > 1:
            add(*token.span(), "name", [name for name in known if name != word])
    return [site for site in sites if site]


def _is_stan_name(tokens: Sequence[re.Match[str]], i: int) -> bool:
    """Whether a token is a variable that is used: neither declared here nor called."""
    word = tokens[i][0]
    if not re.fullmatch(r"[A-Za-z_]\w*", word) or word in STAN_TYPES:
        return False
    after = tokens[i + 1][0] if i + 1 < len(tokens) else ""
    before = tokens[i - 1][0] if i else ""
    is_declared = before in STAN_TYPES - {"in", "return", "if", "else"} or before in (">", "]")
    return after != "(" and not is_declared


def _declares_bounds(code: str, position: int) -> bool:
    """Whether a position is in the bounds of a declaration, such as ``<lower=0>``."""
    line = code[code.rfind("\n", 0, position) + 1 : code.find("\n", position)]
    return bool(re.match(r"\s*(?:array\[[^\]]*\]\s*)?(?:real|int|vector|matrix|simplex)\s*[<\[]", line)) and (
        "=" not in line or "lower" in line
    )

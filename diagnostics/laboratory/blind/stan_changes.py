"""Single-point changes of a Stan program, by its tokens."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from .changes import Mutation, Site, with_places

TOKEN = re.compile(
    r'"[^"]*"|\d+\.\d+|\d+|[A-Za-z_]\w*|\+=|<=|>=|==|!=|&&|\|\||\.\*|\./|[-+*/<>;{}()\[\],=~|:^!?\'%]'
)
SWAPPED = {
    "+": "-", "-": "+", "*": "/", "/": "*", ".*": "./", "./": ".*", "==": "!=", "!=": "==",
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&",
}  # fmt: skip
TYPES = frozenset({
    "int", "real", "vector", "row_vector", "matrix", "array", "simplex", "void", "lower", "upper", "data",
    "parameters", "transformed", "model", "generated", "quantities", "functions", "for", "in", "if", "else",
    "while", "return", "target",
})  # fmt: skip

FUNCTION = re.compile(r"\b([A-Za-z_]\w*)\s*\([^()]*\)\s*\{")
CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
OF_DENSITY = re.compile(r"_l(?:u?pdf|u?pmf|cdf|ccdf)$")
"""What Stan's ``~`` leaves away of the name of a density."""


def called_functions(sources: Iterable[str]) -> set[str]:
    """Names of the functions that a Stan program calls, itself or by others; of densities their first part.

    Parameters
    ----------
    sources : iterable of str
        The program, and what it includes.
    """
    bodies: dict[str, list[str]] = {}
    waiting = []
    for code in map(_code, sources):
        begin = 0
        for name, start, end in _functions(code):
            bodies.setdefault(_stem(name), []).append(code[start:end].partition("{")[2])
            waiting.append(code[begin:start])
            begin = end
        waiting.append(code[begin:])
    found: set[str] = set()
    while waiting:
        called = {_stem(name) for name in _mentioned(waiting.pop())} - found
        found |= called
        waiting += chain.from_iterable(bodies.get(name, []) for name in called)
    return found


def _mentioned(code: str) -> set[str]:
    """Names that are called, or that something is distributed as."""
    return {*CALL.findall(code), *re.findall(r"~\s*(\w+)", code)} - TYPES


def _stem(name: str) -> str:
    return OF_DENSITY.sub("", name)


def _code(text: str) -> str:
    """Text with blanks in the place of comments and of what is included."""
    return re.sub(r"//[^\n]*|/\*.*?\*/|#include[^\n]*", lambda m: " " * len(m[0]), text, flags=re.DOTALL)


def _functions(code: str) -> Iterator[tuple[str, int, int]]:
    """Name of each function that is defined in some code, and where it starts and ends."""
    end = 0
    for found in FUNCTION.finditer(code):
        if found[1] in TYPES or found.start() < end:
            continue
        end, depth = found.end(), 1
        while depth and end < len(code):
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            end += 1
        yield found[1], found.start(), end


def stan_sites(file: str, source: bytes, wanted: Callable[[str], bool] = lambda name: True) -> list[Site]:
    """All sites of a Stan file: operators, whole numbers, names, and statements that add to the density.

    Without those of functions that are not `wanted`, by the names that `called_functions` has.
    """
    text = source.decode()
    code = _code(text)
    for name, start, end in _functions(code):
        if not wanted(_stem(name)):
            code = code[:start] + " " * (end - start) + code[end:]
    tokens = list(TOKEN.finditer(code))
    known = sorted({token[0] for i, token in enumerate(tokens) if _is_stan_name(tokens, i)})
    sites: list[Site] = []

    def add(start: int, end: int, kind: str, texts: list[str]) -> None:
        number = text.count("\n", 0, start) + 1
        line = text.splitlines()[number - 1].strip()
        own = (file, file.rpartition("/")[2], number, line, kind, text[start:end])
        where = [len(text[:position].encode()) for position in (start, end)]
        sites.append([Mutation(*own, new, *where) for new in texts])

    for i, token in enumerate(tokens):
        word = token[0]
        inside_angles = _declares_bounds(code, token.start())
        if word in SWAPPED and not inside_angles:
            add(*token.span(), "operator", [SWAPPED[word]])
        elif word.isdigit() and not inside_angles:
            add(*token.span(), "constant", [str(n) for n in (int(word) + 1, int(word) - 1) if n >= 0])
        elif word == "target" and i + 1 < len(tokens) and tokens[i + 1][0] == "+=":
            add(token.start(), code.index(";", token.start()) + 1, "statement dropped", [";"])
        elif _is_stan_name(tokens, i) and word in known and len(known) > 1:
            add(*token.span(), "name", [name for name in known if name != word])
    return with_places([site for site in sites if site])


def _is_stan_name(tokens: Sequence[re.Match[str]], i: int) -> bool:
    """Whether a token is a variable that is used: neither declared here nor called."""
    word = tokens[i][0]
    if not re.fullmatch(r"[A-Za-z_]\w*", word) or word in TYPES:
        return False
    after = tokens[i + 1][0] if i + 1 < len(tokens) else ""
    before = tokens[i - 1][0] if i else ""
    is_declared = before in TYPES - {"in", "return", "if", "else"} or before in (">", "]")
    return after != "(" and not is_declared


def _declares_bounds(code: str, position: int) -> bool:
    """Whether a position is in the bounds of a declaration, such as ``<lower=0>``."""
    line = code[code.rfind("\n", 0, position) + 1 : code.find("\n", position)]
    return bool(re.match(r"\s*(?:array\[[^\]]*\]\s*)?(?:real|int|vector|matrix|simplex)\s*[<\[]", line)) and (
        "=" not in line or "lower" in line
    )

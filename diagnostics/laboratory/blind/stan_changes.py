"""Single-point changes of a Stan program, by its tokens."""

import re
from collections.abc import Sequence

from .changes import Mutation, Site

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


def stan_sites(file: str, source: bytes) -> list[Site]:
    """All sites of a Stan file: operators, whole numbers, names, and statements that add to the density."""
    text = source.decode()
    code = re.sub(r"//[^\n]*|/\*.*?\*/|#include[^\n]*", lambda m: " " * len(m[0]), text, flags=re.DOTALL)
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
    return [site for site in sites if site]


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

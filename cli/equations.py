"""Equations for a terminal: TeX as plain text with Greek letters."""

import re
import unicodedata

SYMBOLS = {
    "sim": "~", "propto": "∝", "circ": "∘", "cdot": "·", "top": "ᵀ", "prod": "∏", "sum": "∑", "log": "log",
    "exp": "exp", "mid": "|", "in": "∈", "le": "≤", "ge": "≥", "neq": "≠", "infty": "∞",
    "ell": "ℓ", "times": "×", "to": "→", "ldots": "…", "dots": "…", "max": "max", "min": "min", "left": "",
    "right": "", "bigl": "", "bigr": "", "Bigl": "", "Bigr": "", "approx": "≈", "notin": "∉", "cup": "∪",
    "geq": "≥", "leq": "≤", "int": "∫", "varphi": "φ",
}  # fmt: skip
_GROUP = r"\{([^{}]*)\}"  # an innermost one
_WRAPPED = re.compile(r"\\(?:mathrm|mathbf|mathcal|text|operatorname|boldsymbol)" + _GROUP)
_INDEX = re.compile(r"([_^])" + _GROUP)
_FRACTION = re.compile(r"\\[dt]?frac" + _GROUP + _GROUP)
_CHOOSE = re.compile(r"\\binom" + _GROUP + _GROUP)
_ROOT = re.compile(r"\\sqrt" + _GROUP)
_BAR = re.compile(r"\\bar" + _GROUP)
_SPACE = re.compile(r"\\[,;:! ]")
_QUAD = re.compile(r"\\q?quad(?![a-z])")
_COMMAND = re.compile(r"\\([A-Za-z]+)")


def readable(latex: str) -> str:
    """Return an equation as plain text; what it does not know stays as it is."""
    before, text = "", latex.replace(r"\{", "❴").replace(r"\}", "❵")  # braces that are shown
    text = _QUAD.sub("  ", text)  # before it stands beside what is unwrapped
    while text != before:  # from the inside out
        before = text
        text = _INDEX.sub(lambda found: found[1] + _bracketed(found[2], "_, "), _WRAPPED.sub(r"\1", text))
        text = _FRACTION.sub(
            lambda found: " / ".join(_bracketed(part, "+- ") for part in found.groups()), text
        )
        text = _CHOOSE.sub(r"choose(\1, \2)", text)
        text = _BAR.sub("\\1\u0304", _ROOT.sub(r"√(\1)", text))
    text = _COMMAND.sub(lambda found: _symbol(found[1]), _SPACE.sub(" ", text))
    return text.replace("❴", "{").replace("❵", "}").strip()


def _bracketed(part: str, signs: str) -> str:
    """Put a part in brackets where it holds one of `signs`."""
    return f"({part})" if any(sign in part.strip() for sign in signs) else part.strip()


def _symbol(name: str) -> str:
    if name in SYMBOLS:
        return SYMBOLS[name]
    case = "SMALL" if name[0].islower() else "CAPITAL"
    letter = {"lambda": "lamda", "varepsilon": "epsilon"}.get(name.lower(), name.lower())
    try:
        return unicodedata.lookup(f"GREEK {case} LETTER {letter}")
    except KeyError:
        return f"\\{name}"

"""Formulas as MathML, written when the pages are built: they need neither network nor script."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

TILDE, SIMILAR = "<mi>&#x0007E;</mi>", "<mo>&#x0223C;</mo>"
"""What the library makes of ``\\sim``, and what it is: a relation, with space on either side."""


def mathml(formula: str, display: str = "inline") -> str:
    """Return a formula of LaTeX as MathML."""
    return convert(formula, display=display).replace(TILDE, SIMILAR)


def _visit_inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def _visit_display(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="formula">{mathml(node.astext(), "block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer; ``html_math_renderer = "mathml"`` chooses it."""
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Plate diagrams as SVG, from one line a model.

``α > θ_d > z_di > w_di; η > φ_k > w_di`` are arrows; the letters of a subscript are the plates of a variable.
Words, which are observed, are shaded; lengths of documents, which two models explain too, are left out.
"""

import html
from collections.abc import Iterable
from math import hypot

DIAGRAMS = {
    "lda": "α > θ_d > z_di > w_di; η > φ_k > w_di",
    "group_lda": "α_g > θ_gd > z_gdi > w_gdi; η > φ_gk > w_gdi",
    "hdp": "γ > β > θ_d > z_di > w_di; α > θ_d; η > φ_k > w_di",
    "mt_hdp": "γ > β > π_c > θ_cd > z_cdi > w_cdi; α₀ > π_c; α_c > θ_cd; η > φ_k > w_cdi",
    "hdsp": "γ > p > θ_d > z_di > w_di; α > θ_d; r_d > θ_d; s_k > θ_d; η > φ_k > w_di",
    "whdsp": "γ > p > θ_d > z_di > w_di; α > θ_d; r_d > θ_d; s_k > θ_d; η > φ_k > w_di",
    "labeled_lda": "α > θ_d > z_di > w_di; r_d > θ_d; η > φ_k > w_di",
    "partially_labeled_lda": "α > θ_d > z_di > w_di; r_d > θ_d; η > φ_k > w_di",
    "dmr": "τ > λ_k > θ_d > z_di > w_di; τ₀ > λ_k; r_d > θ_d; η > φ_k > w_di",
    "author_topic": "α > θ_a > z_di > w_di; r_d > x_di > z_di; η > φ_k > w_di",
    "dp_mrm": "α > θ_d > z_di > w_di; γ > G_j > θ_d; τ > λ_d > θ_d; r_d > λ_d; η > φ_k > w_di",
    "slda": "α > θ_d > z_di > w_di; z_di > y_d; b_k > y_d; δ > y_d; τ > b_k; η > φ_k > w_di",
    "shdp": "γ > β > θ_d > z_di > w_di; α > θ_d; z_di > y_d; b_k > y_d; δ > y_d; τ > b_k; η > φ_k > w_di",
    "medlda": "α > θ_d > z_di > w_di; z_di > y_d; b_k > y_d; τ > b_k; η > φ_k > w_di",
    "pfa": "γ > r_k > θ_d > z_di > w_di; c > r_k; p_d > θ_d; η > φ_k > w_di",
    "bgg": "γ > r_k > θ_d > z_di > w_di; c > r_k; p_k > θ_d; η > φ_k > w_di",
    "metalda": "λ_k > θ_d > z_di > w_di; f_d > θ_d; η > φ_k > w_di",
    "gbn": "γ > r_k > θ²_d > θ_d > z_di > w_di; c > r_k; c³_d > θ²_d; Φ_k > θ_d; p_d > θ_d; η > φ_k > w_di",
    "sparse_transfer": "α > b_ck > θ_cd > z_cdi > w_cdi; ε > ψ_ck > θ_cd; γ_k > φ_ck > θ_cd; η > β_k > w_cdi",
    "focused": "α > π_k > b_dk > θ_d > z_di > w_di; γ > φ_k > θ_d; η > β_k > w_di",
    "cclda": "α_g > θ_gd > z_gdi > s_gdi > w_gdi; ψ_gk > s_gdi; δ > σ_gk > w_gdi; η > φ_k > w_gdi",
    "tpyp": "α_g > θ_gd > z_gdi > w_gdi; η > φ⁰_k > φ_gk > w_gdi; a > φ_gk; b_k > φ_gk; P_g > φ_gk",
    "hpyp": "α_g > θ_gd > z_gdi > w_gdi; η > φ⁰_k > φ_gk > w_gdi; a > φ_gk; b_k > φ_gk",
    "pyp": "α_g > θ_gd > z_gdi > w_gdi; η > φ⁰_gk > φ_gk > w_gdi; a > φ_gk; b_k > φ_gk",
    "was": "ζ > c_di > z_di > w_di; a > c_di; b > c_di; κ > φ_d > z_di; η > λ_k > w_di",
    "ordered_sbp": "a > c_di > z_di > w_di; b > c_di; κ > φ_d > z_di; η > λ_k > w_di",
    "sbp": "a > c_di > z_di > w_di; b > c_di; κ > φ_d > z_di; η > λ_k > w_di",
    "tjb_hdp": "α > G_d > c_di > z_di > w_di; γ > c_di; κ > φ_d > z_di; η > λ_k > w_di",
    "icd": "α > b_d > c_di > z_di > w_di; γ > g_d > c_di; κ > φ_d > z_di; η > λ_k > w_di",
    "mqr_hdp": "α > c_di > z_di > w_di; ε > c_di; κ > φ_d > z_di; η > λ_k > w_di",
}
"""Arrows of each model."""

PLATES = {
    "g": "groups",
    "c": "groups",
    "d": "documents",
    "a": "authors",
    "i": "tokens",
    "j": "labels",
    "k": "topics",
}
OBSERVED, GIVEN = {"w", "y"}, {"P", "r", "f"}
RADIUS, ACROSS, DOWN, MARGIN = 19, 92, 78, 12

type Places = dict[str, tuple[int, int]]


def plate_diagram(model_id: str) -> str:
    """SVG of a model's diagram."""
    arrows = [
        (a.strip(), b.strip())
        for chain in DIAGRAMS[model_id].split(";")
        for a, b in zip(chain.split(">"), chain.split(">")[1:], strict=False)
    ]
    places = _places(arrows)
    at = {node: (MARGIN + 40 + ACROSS * x, MARGIN + 44 + DOWN * y) for node, (x, y) in places.items()}
    width = max(x for x, _ in at.values()) + 62
    height = max(y for _, y in at.values()) + 62
    lines = [_arrow(at[a], at[b], [at[n] for n in at if n not in (a, b)]) for a, b in arrows]
    parts = [*_plates(at), *lines, *(_node(n, at[n]) for n in at)]
    about = html.escape("; ".join(f"{a} to {b}" for a, b in arrows))
    return (
        f'<svg class="plate" role="img" aria-label="Plate diagram. Arrows: {about}" width="{width}"'
        f' viewBox="0 0 {width} {height}" font-family="serif" font-size="17">\n'
        + "\n".join(parts)
        + "\n</svg>"
    )


def _on(node: str) -> set[str]:
    """Plates that a variable is on."""
    return {PLATES[letter] for letter in node.partition("_")[2]}


def _places(arrows: Iterable[tuple[str, str]]) -> Places:
    """Column and row of each variable: columns by the longest way to an end, rows by plates.

    So the rows of documents, of authors and what groups or documents have of topics, and of topics lie under
    each other, and every plate is a rectangle.
    """
    children: dict[str, list[str]] = {}
    for a, b in arrows:
        children.setdefault(a, []).append(b)
        children.setdefault(b, [])

    def steps(node: str) -> int:
        return max((1 + steps(child) for child in children[node]), default=0)

    def row(node: str) -> int:
        plates = _on(node)
        if not plates:
            return 0 if any("topics" not in _on(child) for child in children[node]) else 4
        if plates == {"topics"}:
            return 3
        return 2 if plates & {"topics", "authors", "labels"} else 1

    taken: dict[tuple[int, int], str] = {}
    for node in sorted(children, key=lambda node: (steps(node), row(node))):
        x = -steps(node)
        while (x, row(node)) in taken:
            x -= 1
        taken[x, row(node)] = node
    left = min(x for x, _ in taken)
    rows = sorted({y for _, y in taken})
    return {node: (x - left, rows.index(y)) for (x, y), node in taken.items()}


def _plates(at: dict[str, tuple[int, int]]) -> list[str]:
    """Rectangles round the variables on each plate, the widest first."""
    found = []
    for name, room in (("groups", 44), ("documents", 37), ("authors", 37), ("tokens", 30), ("topics", 40)):
        inside = [place for node, place in at.items() if name in _on(node)]
        if inside:
            left, right = (f(x for x, _ in inside) for f in (min, max))
            top, bottom = (f(y for _, y in inside) for f in (min, max))
            x, anchor = (left - room + 5, "start") if name == "documents" else (right + room - 5, "end")
            found.append(
                f'<rect x="{left - room}" y="{top - room + 6}" width="{right - left + 2 * room}" rx="6"'
                f' height="{bottom - top + 2 * room - 2}" fill="none" stroke="currentColor" opacity="0.45"/>'
                f'<text x="{x}" y="{bottom + room - 1}" font-size="10" text-anchor="{anchor}"'
                f' fill="currentColor" fill-opacity="0.75">{name}</text>'
            )
    return found


def _arrow(start: tuple[int, int], end: tuple[int, int], others: Iterable[tuple[int, int]]) -> str:
    """An arrow, bent where it would run through another variable."""
    (x, y), (u, v) = start, end
    length = hypot(u - x, v - y)
    across = ((v - y) / length, (x - u) / length)
    bend = 60 if any(_is_between(start, end, other) for other in others) else 0
    control = ((x + u) / 2 + bend * across[0], (y + v) / 2 + bend * across[1])
    from_edge, tip = _towards(start, control, RADIUS), _towards(end, control, RADIUS)
    back = _towards(end, control, RADIUS + 8)
    a, b = (tip[0] - back[0]) / 8, (tip[1] - back[1]) / 8
    return (
        f'<path stroke="currentColor" fill="none" d="M{from_edge[0]:.1f} {from_edge[1]:.1f}'
        f'Q{control[0]:.1f} {control[1]:.1f} {back[0]:.1f} {back[1]:.1f}"/>'
        f'<path fill="currentColor" d="M{tip[0]:.1f} {tip[1]:.1f}'
        f"L{back[0] - 3.5 * b:.1f} {back[1] + 3.5 * a:.1f}"
        f'L{back[0] + 3.5 * b:.1f} {back[1] - 3.5 * a:.1f}Z"/>'
    )


def _towards(place: tuple[float, float], goal: tuple[float, float], steps: float) -> tuple[float, float]:
    part = steps / hypot(goal[0] - place[0], goal[1] - place[1])
    return place[0] + part * (goal[0] - place[0]), place[1] + part * (goal[1] - place[1])


def _is_between(start: tuple[int, int], end: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether a straight arrow would touch the circle of another variable."""
    (x, y), (u, v), (p, q) = start, end, other
    squared = (u - x) ** 2 + (v - y) ** 2
    along = ((p - x) * (u - x) + (q - y) * (v - y)) / squared
    return 0 < along < 1 and hypot(p - x - along * (u - x), q - y - along * (v - y)) < RADIUS


def _node(name: str, place: tuple[int, int]) -> str:
    """A circle, shaded where observed; what is given without a distribution has none."""
    (x, y), (symbol, _, letters) = place, name.partition("_")
    label = html.escape(symbol) + (f'<tspan dy="4" font-size="11">{letters}</tspan>' if letters else "")
    fill = ' fill="currentColor" fill-opacity="0.22"' if symbol in OBSERVED else ' fill="none"'
    circle = f'<circle cx="{x}" cy="{y}" r="{RADIUS}" stroke="currentColor"{fill}/>'
    text = f'<text x="{x}" y="{y + 5}" text-anchor="middle" font-style="italic" fill="currentColor">'
    return ("" if symbol in GIVEN else circle) + f"{text}{label}</text>"

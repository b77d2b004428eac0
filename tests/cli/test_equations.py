import re

import pytest
from bnpzoo.cli.equations import readable
from bnpzoo.zoo.models import MODELS


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\theta_d \sim \mathrm{Dir}_K(\alpha_{g(d)})", "θ_d ~ Dir_K(α_g(d))"),
        (
            r"p(z_i = k) \propto (n_{dk} + \alpha\beta_k)\,\frac{n_{kw} + \eta}{n_k + V\eta}",
            "p(z_i = k) ∝ (n_dk + αβ_k) (n_kw + η) / (n_k + Vη)",
        ),
        (r"\prod_k \left\{ \frac{\Gamma(V)}{(b|a)_{T_{gk}}} \right\}", "∏_k { Γ(V) / (b|a)_(T_gk) }"),
        (r"\lambda \unknown x", "λ \\unknown x"),
        (r"\bar{z}_{dk} \geq \varphi", "z\u0304_dk ≥ φ"),
        (r"\int_0^\infty \frac{1}{\sqrt{2\pi\lambda}}\quad f", "∫_0^∞ 1 / √(2πλ) f"),
    ],
)
def test_equations_are_plain_text(latex, text):
    assert " ".join(readable(latex).split()) == text


def test_no_card_has_tex_left():
    told = [readable(equation.latex) for model in MODELS.values() for equation in model.card.equations]
    assert not [text for text in told if "\\" in text]


def test_no_space_of_a_card_runs_into_a_letter():
    """As it does where a piece of text ends with one: TeX reads ``\\quadH`` as another command."""
    told = [equation.latex for model in MODELS.values() for equation in model.card.equations]
    assert not [latex for latex in told if re.search(r"\\q?quad[A-Za-z]", latex)]
